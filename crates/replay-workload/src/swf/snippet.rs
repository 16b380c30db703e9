//! Source lines in error messages. Each byte is shown as one character, and long lines are truncated around the
//! position of interest.

/// Maximum number of characters of a source line that a message shows.
const WIDTH: usize = 100;

/// Number of characters shown before the position of interest if the beginning of the line is omitted.
const LEAD: usize = 40;

/// Maximum number of characters of an offending text that a message quotes.
const QUOTE: usize = 40;

/// Returns the source line with its line number, and a second line with carets below the bytes `start .. start + len`
/// (0-based). There is at least one caret.
pub fn snippet(number: u64, line: &[u8], start: usize, len: usize) -> String {
    let from = if start + len.min(WIDTH / 2) > WIDTH { start.saturating_sub(LEAD) } else { 0 };
    let from = from.min(line.len());
    let to = line.len().min(from + WIDTH);
    let mut shown: String = line[from..to].iter().map(|&byte| visible(byte)).collect();
    let mut place = start.saturating_sub(from);
    if from > 0 {
        shown.insert(0, '…');
        place += 1;
    }
    if to < line.len() {
        shown.push('…');
    }
    let carets = len.clamp(1, (shown.chars().count() + 1).saturating_sub(place).max(1));
    let gutter = number.to_string().len();
    format!("  {number} | {shown}\n  {:gutter$} | {:place$}{}", "", "", "^".repeat(carets))
}

/// Returns the text in the form in which messages quote it: decoded, escaped and truncated.
pub(super) fn clip(text: &[u8]) -> String {
    let decoded = String::from_utf8_lossy(&text[..text.len().min(4 * QUOTE)]).into_owned();
    let mut quoted: String = decoded.chars().take(QUOTE).flat_map(char::escape_debug).collect();
    if text.len() > 4 * QUOTE || decoded.chars().count() > QUOTE {
        quoted.push('…');
    }
    quoted
}

/// Converts a byte to exactly one character, so that each caret is below the byte that it marks.
fn visible(byte: u8) -> char {
    match byte {
        b' '..=b'~' => char::from(byte),
        b'\t' => ' ',
        _ => '\u{b7}',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let mut line = vec![b'1'; 1000];
        line[500] = b'x';
        let text = snippet(7, &line, 500, 1);
        let (shown, carets) = text.split_once('\n').unwrap();
        assert_eq!(shown.chars().nth(carets.chars().position(|c| c == '^').unwrap()), Some('x'));
        assert!(shown.chars().count() < WIDTH + 12, "{shown}");
    }

    #[test]
    fn quotes_are_escaped_and_short() {
        assert_eq!(clip(b"a\x00\"\xff"), "a\\0\\\"\u{fffd}");
        assert_eq!(clip(&[b'9'; 300]).chars().count(), QUOTE + 1);
    }

    proptest! {
        #[test]
        fn carets_never_leave_the_line(line in proptest::collection::vec(any::<u8>(), 0..400), a in 0usize..400, b in 0usize..400) {
            let (start, end) = (a.min(b).min(line.len()), a.max(b).min(line.len()));
            let text = snippet(1, &line, start, end - start);
            let (shown, carets) = text.split_once('\n').unwrap();
            prop_assert!(carets.chars().count() <= shown.chars().count() + 1);
            prop_assert!(shown.chars().count() <= WIDTH + 8);
        }
    }
}
