/// A number with thousands separated by commas: `28,489`.
pub fn grouped(value: impl Into<i128>) -> String {
    let value = value.into();
    let digits = value.unsigned_abs().to_string();
    let mut text = String::from(if value < 0 { "-" } else { "" });
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with `decimals` places and its whole part grouped: `210,296.609`.
pub fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    let text = format!("{value:.decimals$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let sign = if whole.starts_with('-') { "-" } else { "" };
    let whole = grouped(whole.trim_start_matches('-').parse::<i128>().unwrap_or(0));
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(-1_234_567), "-1,234,567");
        assert_eq!(fixed(210296.60891, 3), "210,296.609");
        assert_eq!(fixed(-0.5, 1), "-0.5");
        assert_eq!(fixed(999.9999, 2), "1,000.00");
        assert_eq!(fixed(12.0, 0), "12");
    }
}
