//! Lists of nodes as Slurm writes them.
//!
//! ```text
//! list  = item { "," item }
//! item  = text with any number of groups           -- a comma inside brackets splits no item
//! group = "[" part { "," part } "]"
//! part  = digits | digits "-" digits               -- leading zeros keep their width
//! ```
//!
//! The last group of an item varies fastest: `r[1-2]n[1-2]` is r1n1, r1n2, r2n1, r2n2. A list of
//! parts alone, `0-127,256`, names nodes that are numbers.

/// Why a text is no list: the place in it, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadList(pub usize);

/// How many nodes a list names.
///
/// # Errors
/// [`BadList`], also for more than 2^32 nodes.
///
/// ```
/// use replay::workload::nodes::count;
///
/// assert_eq!(count("n[001-004,007],m1"), Ok(6));
/// assert_eq!(count("rack[1-2]n[0-3]"), Ok(8));
/// assert!(count("n[4-1]").is_err());
/// ```
pub fn count(list: &str) -> Result<u64, BadList> {
    let mut total = 0u64;
    let mut rest = list;
    while !rest.is_empty() {
        let at = list.len() - rest.len();
        let item = first_item(rest).ok_or(BadList(at))?;
        let mut nodes = 1u64;
        for_groups(item, |group| {
            let of_part = |part| part_of(part).map_or(0, |(from, to, _)| to - from + 1);
            let parts: Vec<u64> = group.split(',').map(of_part).collect();
            if parts.contains(&0) {
                nodes = 0;
            }
            let all = parts.iter().fold(0u64, |sum, &part| sum.saturating_add(part));
            nodes = nodes.saturating_mul(all);
        });
        total = total.saturating_add(nodes);
        if nodes == 0 || total > 1 << 32 {
            return Err(BadList(at));
        }
        rest = after(rest, item).ok_or(BadList(list.len() - 1))?;
    }
    Ok(total)
}

/// The names that a list stands for, in order.
///
/// # Errors
/// [`BadList`], as [`count`], and for more than `most` nodes.
///
/// ```
/// use replay::workload::nodes::names;
///
/// assert_eq!(names("n[009-010],m1", 9).unwrap(), ["n009", "n010", "m1"]);
/// assert_eq!(names("r[1-2]n[1-2]", 9).unwrap(), ["r1n1", "r1n2", "r2n1", "r2n2"]);
/// ```
pub fn names(list: &str, most: u64) -> Result<Vec<String>, BadList> {
    if count(list)? > most {
        return Err(BadList(0));
    }
    let mut all = Vec::new();
    let mut rest = list;
    while let Some(item) = first_item(rest).filter(|item| !item.is_empty()) {
        let mut names = vec![String::new()];
        let mut text = item;
        while let Some((before, group)) = text.split_once('[') {
            let (group, after) = group.split_once(']').unwrap_or((group, ""));
            let parts = group.split(',').filter_map(part_of).flat_map(|(from, to, width)| {
                (from..=to).map(move |number| format!("{number:0width$}"))
            });
            let parts: Vec<String> = parts.collect();
            let longer = names
                .iter()
                .flat_map(|name| parts.iter().map(move |part| format!("{name}{before}{part}")));
            names = longer.collect();
            text = after;
        }
        // Parts alone are numbers.
        match (item.contains('['), part_of(item)) {
            (false, Some((from, to, width))) => {
                all.extend((from..=to).map(|number| format!("{number:0width$}")));
            }
            _ => all.extend(names.into_iter().map(|name| name + text)),
        }
        rest = after(rest, item).unwrap_or("");
    }
    Ok(all)
}

/// The text up to a comma outside brackets; `None` if brackets do not match.
fn first_item(text: &str) -> Option<&str> {
    let mut open = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' if open => return None,
            b'[' => open = true,
            b']' if !open => return None,
            b']' => open = false,
            b',' if !open => return (at > 0).then_some(&text[..at]),
            _ if byte.is_ascii_whitespace() => return None,
            _ => {}
        }
    }
    (!open).then_some(text)
}

/// What comes after the comma behind an item; `None` if nothing does although there is one.
fn after<'a>(text: &'a str, item: &str) -> Option<&'a str> {
    match text[item.len()..].strip_prefix(',') {
        Some("") => None,
        Some(rest) => Some(rest),
        None => Some(""),
    }
}

/// Each group of an item, or the item itself if it is a range of numbers.
fn for_groups(item: &str, mut see: impl FnMut(&str)) {
    if !item.contains('[') {
        if part_of(item).is_some() {
            see(item);
        }
        return;
    }
    let mut text = item;
    while let Some((_, rest)) = text.split_once('[') {
        let (group, after) = rest.split_once(']').unwrap_or((rest, ""));
        see(group);
        text = after;
    }
}

/// First and last number of a part, and the width of its digits.
fn part_of(part: &str) -> Option<(u64, u64, usize)> {
    let number = |text: &str| crate::number::digits(text).map(|number| number as u64);
    match part.split_once('-') {
        None => number(part).map(|one| (one, one, part.len())),
        Some((from, to)) => {
            let (first, last) = (number(from)?, number(to)?);
            (first <= last).then_some((first, last, from.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists() {
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
        for list in ["n[", "n]", "n[[1]]", "n[]", "n[1-]", "n[a]", "n1,", ",n1", "n1,,n2", "n 1"] {
            assert!(count(list).is_err(), "{list}");
        }
        assert!(count("n[0-999999999999]").is_err() && names("n[1-9]", 8).is_err());
        assert_eq!(names("n[08-10]x", 9).unwrap(), ["n08x", "n09x", "n10x"]);
    }

    proptest! {
        #[test]
        fn any_text_is_a_list_or_not(text in "[a-c0-9,\\[\\]-]{0,20}") {
            if let Ok(nodes) = count(&text)
                && nodes < 10_000
            {
                prop_assert_eq!(names(&text, nodes).unwrap().len() as u64, nodes);
            }
        }
    }
}
