//! Number formatting: with thousands separators for readers, and without them for machine-readable
//! formats. The module also parses the digits of dates and times.

use std::borrow::Cow;

/// Formats an integer with thousands separators: `28,489`.
pub fn grouped(value: impl Into<i128>) -> String {
    let value = value.into();
    let digits = separated(&value.unsigned_abs().to_string());
    if value < 0 { format!("-{digits}") } else { digits }
}

/// Formats a count and its noun. If the count is not 1, an `s` is appended to the noun: `1 job`,
/// `2,000 jobs`.
pub fn counted(count: impl Into<i128>, what: &str) -> String {
    let count = count.into();
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// Formats a duration in seconds for people, in its two largest units, truncated: `45 s`, `12 min 05 s`, `2 h 03 min`,
/// `3 d 04 h`.
pub fn duration(seconds: i64) -> String {
    let (sign, time) = (if seconds < 0 { "-" } else { "" }, seconds.unsigned_abs());
    let units = [(86_400, "d"), (3600, "h"), (60, "min"), (1, "s")];
    let text = units.windows(2).find(|pair| time >= pair[0].0).map(|pair| {
        let [(unit, name), (part, part_name)] = [pair[0], pair[1]];
        let (count, rest) = (grouped(time / unit), time % unit / part);
        format!("{count} {name} {rest:02} {part_name}")
    });
    sign.to_string() + &text.unwrap_or_else(|| format!("{time} s"))
}

/// Formats a duration in seconds for people, followed by its exact value: `2 h 03 min (7,412 s)`, `45 s`.
pub fn exact_duration(seconds: i64) -> String {
    match seconds.unsigned_abs() {
        0..60 => duration(seconds),
        _ => format!("{} ({} s)", duration(seconds), grouped(seconds)),
    }
}

/// Formats a real number with `decimals` decimal places and thousands separators: `210,296.609`. A
/// value that rounds to zero has no sign.
pub fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    let sign = if value < 0.0 && !zero { "-" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{fraction}", separated(whole))
}

/// Formats a real number so that parsing returns the same value: `0.05`, `4241`. Values outside
/// 1e-6..1e15 are written with a power of ten: `1e300`.
pub fn plain(value: f64) -> String {
    let size = value.abs();
    match (1e-6..1e15).contains(&size) || size == 0.0 || !size.is_finite() {
        true => value.to_string(),
        false => format!("{value:e}"),
    }
}

fn separated(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.char_indices() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Removes the thousands separators of a number, which [`grouped`] and [`fixed`] write: `28,489` becomes `28489`. Returns
/// any other text unchanged.
///
/// ```
/// use replay_workload::number::ungrouped;
///
/// assert_eq!(["-1,014,123", "210,296.609"].map(ungrouped), ["-1014123", "210296.609"]);
/// assert_eq!(["1,00", "1,0000", "0,500", ",100", "2,13,20,6"].map(ungrouped), ["1,00", "1,0000", "0,500", ",100", "2,13,20,6"]);
/// ```
pub fn ungrouped(text: &str) -> Cow<'_, str> {
    let number = text.trim();
    let unsigned = number.strip_prefix(['-', '+']).unwrap_or(number);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    let begins = (1..=3).contains(&first.len()) && is_digits(first) && !first.starts_with('0');
    let mut rest = groups.peekable();
    let is_grouped = begins && rest.peek().is_some() && is_digits(fraction);
    match is_grouped && rest.all(|group| group.len() == 3 && is_digits(group)) {
        true => Cow::Owned(number.replace(',', "")),
        false => Cow::Borrowed(text),
    }
}

/// Parses a text of 1 to 18 decimal digits; `None` for any other text.
pub fn digits(text: &str) -> Option<i64> {
    let good = (1..=18).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if good { text.parse().ok() } else { None }
}

/// Parses exactly two decimal digits, as in a clock time; `None` otherwise.
pub fn pair(text: &str) -> Option<i64> {
    digits(text).filter(|_| text.len() == 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_have_two_units() {
        for (seconds, text) in [
            (0, "0 s"),
            (59, "59 s"),
            (60, "1 min 00 s"),
            (725, "12 min 05 s"),
            (7412, "2 h 03 min"),
            (86_399, "23 h 59 min"),
            (273_600, "3 d 04 h"),
            (86_400_000_000, "1,000,000 d 00 h"),
            (-7412, "-2 h 03 min"),
        ] {
            assert_eq!(duration(seconds), text);
        }
        assert_eq!(exact_duration(7412), "2 h 03 min (7,412 s)");
        assert_eq!(exact_duration(59), "59 s");
    }

    proptest! {
        #[test]
        fn a_plain_number_parses_to_the_same_value(value in proptest::num::f64::ANY) {
            let text = plain(value);
            prop_assert!(text.len() <= 25, "{text}");
            let read: f64 = text.parse().expect("a number");
            prop_assert!(read == value || value.is_nan(), "{text}");
        }
    }

    #[test]
    fn plain_numbers_use_exponents_only_when_very_large_or_small() {
        let written = [0.0, 0.05, 4241.0, 1e6, -0.5, 1e300, 2.5e-9, f64::INFINITY].map(plain);
        assert_eq!(written, ["0", "0.05", "4241", "1000000", "-0.5", "1e300", "2.5e-9", "inf"]);
    }

    #[test]
    fn a_count_of_one_is_singular() {
        let texts = [0, 1, 2, 1000].map(|count| counted(count, "job"));
        assert_eq!(texts, ["0 jobs", "1 job", "2 jobs", "1,000 jobs"]);
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!([0, 999, 1000, 100_000].map(grouped), ["0", "999", "1,000", "100,000"]);
        assert_eq!(grouped(-1_234_567), "-1,234,567");
        assert_eq!(fixed(210296.60891, 3), "210,296.609");
        assert_eq!((fixed(-0.5, 1), fixed(-0.04, 1)), ("-0.5".to_string(), "0.0".to_string()));
        assert_eq!(
            (fixed(999.9999, 2), fixed(12.0, 0)),
            ("1,000.00".to_string(), "12".to_string())
        );
    }
}
