//! Bad text in messages.

/// Characters of a bad text that a message shows.
const SHOWN: usize = 40;

/// The mark of UTF-8 that some programs put at the beginning of a file.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// The beginning of a text, without characters that a terminal would act on.
pub fn excerpt(text: &str) -> String {
    let mut chars = text.chars();
    let mut shown: String =
        chars.by_ref().take(SHOWN).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if chars.next().is_some() {
        shown.push_str("...");
    }
    shown
}
