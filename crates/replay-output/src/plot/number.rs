use replay_engine::number::fixed;

/// Formats a number with commas between thousands and a typographic minus sign, such as `−12,345.60`.
pub fn grouped(value: f64, decimals: usize) -> String {
    fixed(value, decimals).replace('-', "\u{2212}")
}

/// Formats a number with about four significant digits, for labels at data points.
pub fn significant(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 1e9 => return power(value, 2),
        v if v >= 1000.0 => 0,
        v if v >= 100.0 => 1,
        v if v >= 10.0 || v == 0.0 => 2,
        v if v >= 0.001 => 3,
        _ => return power(value, 2),
    };
    grouped(value, if value == 0.0 { 0 } else { decimals })
}

/// Formats a multiple of `step` with the smallest number of digits that distinguishes adjacent multiples.
pub fn stepped(value: f64, step: f64) -> String {
    let place = step.log10().floor();
    if value == 0.0 {
        grouped(0.0, if (-6.0..0.0).contains(&place) { -place as usize } else { 0 })
    } else if place < -6.0 || value.abs() >= 1e9 {
        power(value, (value.abs().log10().floor() - place).clamp(0.0, 9.0) as usize)
    } else {
        grouped(value, (-place).max(0.0) as usize)
    }
}

/// Formats a number as digits and a power of ten, such as `3×10⁻⁵`, or `10⁶` for an exact power.
pub fn power(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$e}");
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    let raised: String = exponent
        .chars()
        .map(|c| match c {
            '-' => '\u{207B}',
            '1' => '\u{B9}',
            '2' => '\u{B2}',
            '3' => '\u{B3}',
            '0' | '4'..='9' => char::from_u32(0x2070 + u32::from(c) - u32::from('0')).unwrap_or(c),
            _ => c,
        })
        .collect();
    match digits.replace('-', "\u{2212}").as_str() {
        "1" => format!("10{raised}"),
        digits => format!("{digits}×10{raised}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_thousands_and_drops_the_sign_of_zero() {
        assert_eq!(grouped(1234567.25, 2), "1,234,567.25");
        assert_eq!(grouped(-999.6, 0), "\u{2212}1,000");
        assert_eq!(grouped(-0.004, 2), "0.00");
        assert_eq!(grouped(100.0, 0), "100");
    }

    #[test]
    fn formats_labels_with_four_digits_or_a_power_of_ten() {
        assert_eq!(significant(564.8649), "564.9");
        assert_eq!(significant(210310.8), "210,311");
        assert_eq!(significant(0.25), "0.250");
        assert_eq!(significant(0.0), "0");
        assert_eq!((power(1e6, 0), power(2e-7, 0)), ("10⁶".to_string(), "2×10⁻⁷".to_string()));
    }

    #[test]
    fn tick_labels_differ_for_any_step() {
        assert_eq!((stepped(0.4, 0.2), stepped(0.0, 0.2)), ("0.4".to_string(), "0.0".to_string()));
        assert_eq!(stepped(-2.1e-8, 1e-9), "\u{2212}2.1×10⁻⁸");
        assert_eq!(stepped(1.25e12, 5e10), "1.25×10¹²");
        assert_eq!(
            (stepped(3e-300, 1e-300), stepped(0.0, 1e-300)),
            ("3×10⁻³⁰⁰".to_string(), "0".to_string())
        );
    }
}
