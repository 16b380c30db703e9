//! Node lists in Slurm's notation.
//!
//! ```text
//! list  = item { "," item }                        -- blanks around an item are ignored
//! item  = text with any number of groups           -- a comma inside brackets does not end an item
//! group = "[" part { "," part } "]"
//! part  = digits | digits "-" digits               -- leading zeros set the width
//! ```
//!
//! The last group of an item varies fastest: `r[1-2]n[1-2]` is r1n1, r1n2, r2n1, r2n2. If the names of nodes are
//! numbers, a list may consist of numbers and ranges without brackets, such as `0-127,256` ([`ranges`]). The first
//! number of a range must not exceed the last.

use crate::sanitize::excerpt;

/// Largest number of nodes in a list.
const MOST: u64 = 1 << 32;

/// Error: a text is not a node list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{}\": {problem}", excerpt(text))]
pub struct NodeListError {
    /// Byte offset of the invalid part in the list.
    pub at: usize,
    /// The invalid part.
    pub text: String,
    /// The error.
    pub problem: NodeListProblem,
}

/// The reason why a text is not a node list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NodeListProblem {
    /// A name or a number is missing.
    #[error("an empty name")]
    Empty,
    /// A name contains a blank.
    #[error("a blank in a name")]
    Blank,
    /// A bracket is inside another bracket.
    #[error("a bracket inside a bracket")]
    Nested,
    /// A closing bracket has no opening bracket.
    #[error("a closing bracket without an opening bracket")]
    Unopened,
    /// A bracket is not closed.
    #[error("a bracket that is not closed")]
    Unclosed,
    /// A number contains characters other than digits.
    #[error("not a number")]
    NotANumber,
    /// The first number of a range is greater than the last.
    #[error("a range that runs backwards")]
    Backwards,
    /// The list has more nodes than this limit.
    #[error("more than {0} nodes")]
    TooMany(u64),
}

/// Counts the nodes in a list.
///
/// # Errors
/// [`NodeListError`] if the text is not a node list, or names more than 2^32 nodes.
///
/// ```
/// use replay_workload::workload::nodes::count;
///
/// assert_eq!(count("n[001-004,007],m1"), Ok(6));
/// assert_eq!(count("rack[1-2]n[0-3]"), Ok(8));
/// assert!(count("n[4-1]").is_err() && count("2,1-0").is_err());
/// ```
pub fn count(list: &str) -> Result<u64, NodeListError> {
    let mut total = 0u64;
    for_items(list, |item| {
        let mut nodes = 1u64;
        for_groups(item, |group| {
            let mut all = 0u64;
            for part in group.split(',') {
                let Part { first, last, .. } = Part::read(list, part)?;
                all = all.saturating_add(last - first + 1);
            }
            nodes = nodes.saturating_mul(all);
            Ok(())
        })?;
        total = total.saturating_add(nodes);
        if total > MOST { Err(bad(list, item, NodeListProblem::TooMany(MOST))) } else { Ok(()) }
    })?;
    Ok(total)
}

/// Returns the names of the nodes in a list, in order.
///
/// # Errors
/// [`NodeListError`] under the conditions of [`count`], or if the list has more than `most` nodes.
///
/// ```
/// use replay_workload::workload::nodes::names;
///
/// assert_eq!(names("n[009-010],m1", 9).unwrap(), ["n009", "n010", "m1"]);
/// assert_eq!(names("r[1-2]n[1-2]", 9).unwrap(), ["r1n1", "r1n2", "r2n1", "r2n2"]);
/// ```
pub fn names(list: &str, most: u64) -> Result<Vec<String>, NodeListError> {
    if count(list)? > most {
        return Err(bad(list, list, NodeListProblem::TooMany(most)));
    }
    let mut all = Vec::new();
    for_items(list, |item| {
        let mut names = vec![String::new()];
        let mut rest = if is_part(item) { "" } else { item };
        for_groups(item, |group| {
            let (before, after) = rest.split_once('[').unwrap_or((rest, ""));
            rest = after.split_once(']').map_or("", |(_, after)| after);
            let mut longer = Vec::new();
            for name in &names {
                for part in group.split(',') {
                    let Part { first, last, width } = Part::read(list, part)?;
                    let number = |number: u64| format!("{name}{before}{number:0width$}");
                    longer.extend((first..=last).map(number));
                }
            }
            names = longer;
            Ok(())
        })?;
        all.extend(names.into_iter().map(|name| name + rest));
        Ok(())
    })?;
    Ok(all)
}

/// Returns the first and last number of each part of a list of numbers and ranges: `0-127,256`.
///
/// # Errors
/// [`NodeListError`] if a part is not a number or a range.
///
/// ```
/// use replay_workload::workload::nodes::ranges;
///
/// assert_eq!(ranges("17,20-22"), Ok(vec![(17, 17), (20, 22)]));
/// assert!(ranges("n17").is_err());
/// ```
pub fn ranges(list: &str) -> Result<Vec<(u64, u64)>, NodeListError> {
    let mut all = Vec::new();
    for part in list.split(',').map(str::trim) {
        let Part { first, last, .. } = Part::read(list, part)?;
        all.push((first, last));
    }
    Ok(all)
}

/// Returns an error that locates `part`, a slice of `list`.
#[cold]
fn bad(list: &str, part: &str, problem: NodeListProblem) -> NodeListError {
    let at = (part.as_ptr() as usize).saturating_sub(list.as_ptr() as usize).min(list.len());
    NodeListError { at, text: part.to_string(), problem }
}

/// Calls `visit` with each item of a list; an empty list has no items.
fn for_items<'a>(
    list: &'a str,
    mut visit: impl FnMut(&'a str) -> Result<(), NodeListError>,
) -> Result<(), NodeListError> {
    if list.is_empty() {
        return Ok(());
    }
    let (mut begin, mut open) = (0, false);
    for (at, byte) in list.bytes().enumerate() {
        match byte {
            b'[' if open => return Err(bad(list, &list[at..], NodeListProblem::Nested)),
            b']' if !open => return Err(bad(list, &list[at..], NodeListProblem::Unopened)),
            b'[' | b']' => open = byte == b'[',
            b',' if !open => {
                visit(whole_item(list, &list[begin..at])?)?;
                begin = at + 1;
            }
            _ => {}
        }
    }
    let last = &list[begin..];
    if open {
        return Err(bad(list, last.trim(), NodeListProblem::Unclosed));
    }
    visit(whole_item(list, last)?)
}

/// Trims the blanks around an item, and rejects an item that is empty or contains blanks.
fn whole_item<'a>(list: &str, item: &'a str) -> Result<&'a str, NodeListError> {
    let trimmed = item.trim();
    match trimmed {
        "" => Err(bad(list, item, NodeListProblem::Empty)),
        _ if trimmed.contains(char::is_whitespace) => {
            Err(bad(list, trimmed, NodeListProblem::Blank))
        }
        _ => Ok(trimmed),
    }
}

/// Calls `visit` with the content of each bracket of an item, or with the item itself if it is a number or a range.
fn for_groups<'a>(
    item: &'a str,
    mut visit: impl FnMut(&'a str) -> Result<(), NodeListError>,
) -> Result<(), NodeListError> {
    if is_part(item) {
        return visit(item);
    }
    let mut text = item;
    while let Some((_, rest)) = text.split_once('[') {
        let (group, after) = rest.split_once(']').unwrap_or((rest, ""));
        visit(group)?;
        text = after;
    }
    Ok(())
}

/// Returns whether an item consists of digits, or of digits, a dash and digits.
fn is_part(item: &str) -> bool {
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (first, last) = item.split_once('-').unwrap_or((item, item));
    are_digits(first) && are_digits(last)
}

/// A number, or a range of numbers.
struct Part {
    first: u64,
    last: u64,
    /// Number of digits of the first number.
    width: usize,
}

impl Part {
    fn read(list: &str, part: &str) -> Result<Part, NodeListError> {
        let number = |text: &str| match crate::number::digits(text) {
            Some(number) => Ok(number as u64),
            None if text.is_empty() => Err(bad(list, part, NodeListProblem::Empty)),
            None => Err(bad(list, part, NodeListProblem::NotANumber)),
        };
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last, width) = (number(first)?, number(last)?, first.len());
        match first <= last {
            true => Ok(Part { first, last, width }),
            false => Err(bad(list, part, NodeListProblem::Backwards)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parses_lists_and_locates_errors() {
        for (list, nodes) in [
            ("n001", 1),
            ("n[001-004]", 4),
            ("n[005,007]", 2),
            ("rack[1-2]n[3]", 2),
            ("n[0011-0018,0021-0028]", 16),
            ("0-127,256", 129),
            ("a-b", 1),
            ("", 0),
        ] {
            assert_eq!(count(list), Ok(nodes), "{list}");
            assert_eq!(names(list, 1000).map(|names| names.len() as u64), Ok(nodes), "{list}");
        }
        for (list, at, problem) in [
            ("n[", 0, NodeListProblem::Unclosed),
            ("m,n[1-", 2, NodeListProblem::Unclosed),
            ("n]1", 1, NodeListProblem::Unopened),
            ("n[[1]]", 2, NodeListProblem::Nested),
            ("n[]", 2, NodeListProblem::Empty),
            ("n[1-]", 2, NodeListProblem::Empty),
            ("n[-1]", 2, NodeListProblem::Empty),
            ("n[a]", 2, NodeListProblem::NotANumber),
            ("n[+1]", 2, NodeListProblem::NotANumber),
            ("n1,", 3, NodeListProblem::Empty),
            (",n1", 0, NodeListProblem::Empty),
            ("n1,,n2", 3, NodeListProblem::Empty),
            ("n 1", 0, NodeListProblem::Blank),
            ("n[3-1]", 2, NodeListProblem::Backwards),
            ("2,1-0", 2, NodeListProblem::Backwards),
            ("n[0-18446744073709551615]", 2, NodeListProblem::NotANumber),
        ] {
            let found = count(list).expect_err(list);
            assert_eq!((found.at, found.problem), (at, problem), "{list}");
            assert_eq!(names(list, 9).expect_err(list), found);
        }
        let too_many = names("a[0-99][0-99]", 1000).expect_err("ten thousand");
        assert_eq!(too_many.to_string(), "\"a[0-99][0-99]\": more than 1000 nodes");
        assert_eq!(
            count("2,1-0").expect_err("a range").to_string(),
            "\"1-0\": a range that runs backwards"
        );
        assert!(count("n[0-999999999999]").is_err() && names("n[1-9]", 8).is_err());
        assert_eq!(names("n[08-10]x", 9).unwrap(), ["n08x", "n09x", "n10x"]);
        assert_eq!(names("a, b[9-11]x,c", 9).unwrap().join(" "), "a b9x b10x b11x c");
        assert_eq!(names("08-10", 9).unwrap(), ["08", "09", "10"]);
    }

    proptest! {
        #[test]
        fn names_agree_with_count(text in "[a-c0-9,\\[\\]-]{0,20}") {
            if let Ok(nodes) = count(&text)
                && nodes < 10_000
            {
                prop_assert_eq!(names(&text, nodes).unwrap().len() as u64, nodes);
            }
        }
    }
}
