//! Bad text in messages.

use std::borrow::Cow;

/// Characters of a bad text that a message shows.
const SHOWN: usize = 40;

/// The mark of UTF-8 that some programs put at the beginning of a file.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// The beginning of a text, without characters that a terminal would act on.
pub fn shown(text: &str) -> String {
    let mut chars = text.chars();
    let mut shown: String =
        chars.by_ref().take(SHOWN).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if chars.next().is_some() {
        shown.push_str("...");
    }
    shown
}

/// A message without characters that a terminal would act on, but for the ends of its lines.
pub fn printable(message: &str) -> Cow<'_, str> {
    let acts = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    match message.contains(acts) {
        true => message.replace(acts, "\u{fffd}").into(),
        false => message.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_acts_on_a_terminal() {
        assert_eq!(printable("a\tb\nc"), "a\tb\nc");
        assert_eq!(printable("a\u{1b}[31m\u{9b}\r"), "a\u{fffd}[31m\u{fffd}\u{fffd}");
    }
}
