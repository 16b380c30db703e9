//! The delimiter of a log of `sacct`: `|`, or any other text of one or several characters.

use crate::row::Cell;

/// Returns whether a character can be part of the name of a column.
fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns the delimiter of a header: the first character that cannot be part of a name, or, if all names are separated
/// by the same text of several characters, this text.
pub(super) fn of_header(header: &str) -> Option<&str> {
    let text = header.trim_start();
    let start = text.find(|c| !is_of_name(c))?;
    let first = text[start..].chars().next().filter(|&first| first != '"')?;
    let one = &text[start..start + first.len_utf8()];
    let end = text[start..].find(is_of_name).map_or(text.len(), |end| start + end);
    let several = text[start..end].trim_end();
    let is_name = |name: &str| !name.is_empty() && name.chars().all(is_of_name);
    let names = text.trim_end().trim_end_matches(several);
    let is_several = start > 0
        && !first.is_whitespace()
        && several.len() > one.len()
        && names.split(several).all(is_name);
    Some(if is_several { several } else { one })
}

/// Returns the texts that can be the delimiter of a line without a header, in the order of the line: characters, and runs
/// of characters, that times, numbers and names of nodes do not contain.
pub(super) fn candidates(line: &str) -> Vec<&str> {
    let is_usual = |c: char| c.is_alphanumeric() || "-:_.[]+% ".contains(c);
    let mut all: Vec<&str> = Vec::new();
    for (start, first) in line.char_indices().filter(|&(_, c)| !is_usual(c)) {
        let rest = &line[start..];
        let run = &rest[..rest.find(is_usual).unwrap_or(rest.len())];
        for one in [&rest[..first.len_utf8()], run] {
            if !all.contains(&one) {
                all.push(one);
            }
        }
    }
    all
}

/// Splits a line at the delimiter; quotes have no special meaning.
pub(super) fn split(text: &str, delimiter: &str, cells: &mut Vec<Cell>) {
    cells.clear();
    let mut start = 0;
    let mut push = |end: usize, length: usize| {
        cells.push(Cell { start, end, doubled: false });
        start = end + length;
    };
    match delimiter.as_bytes() {
        [byte] => {
            text.bytes()
                .enumerate()
                .filter(|(_, own)| own == byte)
                .for_each(|(end, _)| push(end, 1));
        }
        _ => text.match_indices(delimiter).for_each(|(end, own)| push(end, own.len())),
    }
    push(text.len(), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_delimiter_of_a_header() {
        for (header, delimiter) in [
            ("JobID|State", Some("|")),
            ("JobID|State|", Some("|")),
            ("JobID,State", Some(",")),
            ("JobID, State", Some(",")),
            ("JobID\tState", Some("\t")),
            ("JobID State", Some(" ")),
            ("JobID\u{2603}State\u{2603}", Some("\u{2603}")),
            ("JobID^|^State^|^End", Some("^|^")),
            ("JobID||State|End", Some("|")),
            ("JobID", None),
            ("\"JobID\",\"State\"", None),
        ] {
            assert_eq!(of_header(header), delimiter, "{header}");
        }
    }

    #[test]
    fn finds_candidates_in_a_line() {
        assert_eq!(candidates("1\u{2603}2024-05-01T10:00:00\u{2603}n[1,3]"), ["\u{2603}", ","]);
        assert_eq!(candidates("1^|^2"), ["^", "^|^", "|", "|^"]);
    }
}
