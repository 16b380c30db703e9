//! Numbers as people read them: thousands separated by commas.

/// An integer: `28,489`.
pub fn grouped(value: impl Into<i128>) -> String {
    let value = value.into();
    let digits = separated(&value.unsigned_abs().to_string());
    if value < 0 { format!("-{digits}") } else { digits }
}

/// A real number with `decimals` places: `210,296.609`. What rounds to zero has no sign.
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

#[cfg(test)]
mod tests {
    use super::*;

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
