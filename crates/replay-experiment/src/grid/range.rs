//! Ranges of numbers: `FIRST..LAST` or `FIRST..LAST:STEP`, both ends included.
//!
//! Decimal fractions are computed as integers in units of their last digit: `0..0.3:0.1` has exactly the values 0,
//! 0.1, 0.2 and 0.3, without binary rounding.

/// Maximum number of values of a range. A larger range is probably a typing error, because a grid with so many cells
/// could not be run.
const MOST_VALUES: i128 = 1_000_000;

/// Maximum number of digits after the decimal point.
const MOST_DECIMALS: usize = 9;

/// Returns the numbers of a range as text. Returns `None` if the text does not contain `..`.
///
/// # Errors
/// A description of the error if a text with `..` is not a valid range.
pub(super) fn expand(text: &str) -> Option<Result<Vec<String>, String>> {
    let (first, rest) = text.split_once("..")?;
    Some(expand_parts(first, rest))
}

fn expand_parts(first: &str, rest: &str) -> Result<Vec<String>, String> {
    let whole = |part: &str| !part.contains('.');
    let by_ones = !rest.contains(':');
    if by_ones && (!whole(first) || !whole(rest)) {
        // With the default step of 1, a range of fractions would contain only one or a few values, which is not
        // intended.
        return Err("a range of fractions needs a step: FIRST..LAST:STEP".to_string());
    }
    let (last, step) = rest.split_once(':').unwrap_or((rest, "1"));
    let parts = [first, last, step].map(|part| Decimal::parse(part.trim()));
    let [Some(first), Some(last), Some(step)] = parts else {
        return Err("a range is FIRST..LAST or FIRST..LAST:STEP, all numbers".to_string());
    };
    let decimals = first.decimals.max(last.decimals).max(step.decimals);
    let [first, last, step] = [first, last, step].map(|part| part.scaled(decimals));
    if step <= 0 {
        return Err("the step of a range must be above 0".to_string());
    }
    if first > last {
        return Err("the range is empty: its first value is above its last".to_string());
    }
    let values = (last - first) / step + 1;
    if values > MOST_VALUES {
        return Err(format!("the range has {values} values, more than {MOST_VALUES}"));
    }
    Ok((0..values).map(|i| format_decimal(first + i * step, decimals)).collect())
}

/// A decimal number, stored as an integer in units of its last digit; `decimals` is the number of digits after the
/// decimal point.
#[derive(Clone, Copy)]
struct Decimal {
    digits: i128,
    decimals: usize,
}

impl Decimal {
    fn parse(text: &str) -> Option<Self> {
        let (negative, magnitude) = match text.strip_prefix('-') {
            Some(magnitude) => (true, magnitude),
            None => (false, text),
        };
        let (whole, fraction) = magnitude.split_once('.').unwrap_or((magnitude, ""));
        let plain = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        let sized = (1..=18).contains(&whole.len()) && fraction.len() <= MOST_DECIMALS;
        if !sized || !plain(whole) || !plain(fraction) || magnitude.ends_with('.') {
            return None;
        }
        let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
        Some(Self { digits: if negative { -digits } else { digits }, decimals: fraction.len() })
    }

    fn scaled(self, decimals: usize) -> i128 {
        self.digits * 10i128.pow((decimals - self.decimals) as u32)
    }
}

/// Formats a number without trailing zeros after the decimal point.
fn format_decimal(value: i128, decimals: usize) -> String {
    let unit = 10u128.pow(decimals as u32);
    let (whole, fraction) = (value.unsigned_abs() / unit, value.unsigned_abs() % unit);
    let sign = if value < 0 { "-" } else { "" };
    if fraction == 0 {
        return format!("{sign}{whole}");
    }
    format!("{sign}{whole}.{}", format!("{fraction:0decimals$}").trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(text: &str) -> Vec<String> {
        expand(text).expect("a range").expect("a good one")
    }

    #[test]
    fn includes_both_ends() {
        assert_eq!(values("1..4"), ["1", "2", "3", "4"]);
        assert_eq!(values("-2..3:2"), ["-2", "0", "2"]);
        assert_eq!(values(" 7 .. 7 "), ["7"]);
    }

    #[test]
    fn computes_fractions_exactly() {
        assert_eq!(values("0..0.3:0.1"), ["0", "0.1", "0.2", "0.3"]);
        assert_eq!(values("-0.5..0.5:0.25"), ["-0.5", "-0.25", "0", "0.25", "0.5"]);
    }

    #[test]
    fn rejects_other_texts() {
        let fractions = expand("0..0.2").expect("a range").expect_err("no step");
        assert!(fractions.contains("needs a step"), "{fractions}");
        assert!(expand("2,13,20,6").is_none() && expand("scan").is_none());
        for bad in ["..", "1..", "..9", "9..1", "1..9:0", "1..9:-1", "a..b", "1..2..3", "1...3"] {
            assert!(expand(bad).is_some_and(|range| range.is_err()), "{bad}");
        }
        assert!(expand("1..9999999999").is_some_and(|range| range.is_err()));
    }

    proptest! {
        #[test]
        fn counts_like_a_loop(first in -500i64..500, length in 0i64..300, step in 1i64..40) {
            let expected: Vec<String> =
                (first..=first + length).step_by(step as usize).map(|v| v.to_string()).collect();
            prop_assert_eq!(values(&format!("{first}..{}:{step}", first + length)), expected);
        }

        #[test]
        fn accepts_any_text(text in "[-0-9.:]{0,14}") {
            let _ = expand(&text);
        }
    }
}
