//! Host lists of node names.

/// A sequence of names that differ only in the number at their end.
struct Run<'a> {
    prefix: &'a str,
    /// Digits of the first and the last number.
    ends: [&'a str; 2],
}

/// Splits a name into a prefix and the digits at its end.
fn split(name: &str) -> (&str, &str) {
    name.split_at(name.trim_end_matches(|c: char| c.is_ascii_digit()).len())
}

/// Returns whether, in a range of a host list, `digits` is the number that follows `before`. Within a range, numbers
/// with leading zeros must have the same width.
fn follows(before: &str, digits: &str) -> bool {
    let [value, next] = [before, digits].map(str::parse::<u64>);
    let padded = |digits: &str| digits.len() > 1 && digits.starts_with('0');
    let same_form = before.len() == digits.len() || !padded(before) && !padded(digits);
    same_form
        && matches!((value, next), (Ok(value), Ok(next)) if value.checked_add(1) == Some(next))
}

/// Formats names as a host list: `n[1-3,7],login`. The order of the names is kept.
pub fn host_list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut runs: Vec<Run<'a>> = Vec::new();
    for name in names {
        let (prefix, digits) = split(name);
        match runs.last_mut() {
            Some(run) if run.prefix == prefix && follows(run.ends[1], digits) => {
                run.ends[1] = digits
            }
            _ => runs.push(Run { prefix, ends: [digits; 2] }),
        }
    }
    let range = |run: &Run<'_>| match run.ends {
        [first, last] if first == last => first.to_string(),
        [first, last] => format!("{first}-{last}"),
    };
    let items = runs
        .chunk_by(|a, b| a.prefix == b.prefix && !a.ends[0].is_empty() && !b.ends[0].is_empty());
    let items = items.map(|runs| match runs {
        [Run { prefix, ends: [first, last] }] if first == last => format!("{prefix}{first}"),
        _ => {
            let ranges: Vec<String> = runs.iter().map(range).collect();
            format!("{}[{}]", runs[0].prefix, ranges.join(","))
        }
    });
    items.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::host_list;
    use crate::workload::nodes;

    #[test]
    fn formats_names_that_can_be_read_again() {
        for (names, expected) in [
            ("n1 n2 n3 n7 login", "n[1-3,7],login"),
            ("n9 n10 n11", "n[9-11]"),
            ("n09 n10 n011", "n[09-10,011]"),
            ("a1 b1 b2 c c", "a1,b[1-2],c,c"),
            ("node032 node033", "node[032-033]"),
            ("7 8 12", "[7-8,12]"),
        ] {
            let names: Vec<&str> = names.split(' ').collect();
            let list = host_list(names.iter().copied());
            assert_eq!(list, expected);
            if list.starts_with(char::is_alphabetic) {
                assert_eq!(nodes::names(&list, 99).expect("a list"), names);
            }
        }
    }
}
