//! Excerpts of invalid input for error messages.

/// Maximum length of an excerpt in characters.
const EXCERPT_CHARS: usize = 40;

/// The byte order mark that some programs write at the beginning of a UTF-8 file.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns the first 40 characters of `text`, and appends `...` if the text is longer. Each control
/// character is replaced by U+FFFD. The result is therefore safe to print on a terminal.
pub fn excerpt(text: &str) -> String {
    let mut chars = text.chars();
    let mut shown: String = chars
        .by_ref()
        .take(EXCERPT_CHARS)
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    if chars.next().is_some() {
        shown.push_str("...");
    }
    shown
}
