//! Lists of hosts, as Slurm writes them.
//!
//! Names are separated by commas; each may hold bracketed groups of numbers and ranges:
//! `n[001-004,7]` is n001, n002, n003, n004, n7. With several groups the last runs fastest.
//! Ranges keep the width that was written.

/// The names of a list, in the order written.
///
/// # Errors
/// A sentence on what is wrong; also if there are more than `most` names.
pub fn expand(list: &str, most: usize) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for item in split(list)? {
        let room = most - names.len();
        names.extend(one(item, room).map_err(|problem| format!("\"{item}\": {problem}"))?);
    }
    Ok(names)
}

/// Splits at the commas outside brackets.
fn split(list: &str) -> Result<Vec<&str>, String> {
    let (mut items, mut begin, mut open) = (Vec::new(), 0, false);
    for (at, letter) in list.char_indices() {
        match letter {
            '[' if open => return Err("a bracket inside a bracket".to_string()),
            ']' if !open => return Err("a closing bracket without an opening one".to_string()),
            '[' | ']' => open = letter == '[',
            ',' if !open => {
                items.push(list[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    if open {
        return Err("a bracket is not closed".to_string());
    }
    items.push(list[begin..].trim());
    match items.iter().any(|item| item.is_empty()) {
        true => Err("an empty name".to_string()),
        false => Ok(items),
    }
}

/// All names of one item.
fn one(item: &str, most: usize) -> Result<Vec<String>, String> {
    let mut names = vec![String::new()];
    let mut rest = item;
    while let Some((before, after)) = rest.split_once('[') {
        // `split` has paired the brackets.
        let (group, after) = after.split_once(']').unwrap_or((after, ""));
        let numbers = numbers(group, most)?;
        if names.len().saturating_mul(numbers.len()) > most {
            return Err(too_many(most));
        }
        let with = |name: &String| {
            let number = |number: &String| format!("{name}{before}{number}");
            numbers.iter().map(number).collect::<Vec<_>>()
        };
        names = names.iter().flat_map(with).collect();
        rest = after;
    }
    if names.len() > most {
        return Err(too_many(most));
    }
    names.iter_mut().for_each(|name| name.push_str(rest));
    Ok(names)
}

/// The numbers of a group, padded as written.
fn numbers(group: &str, most: usize) -> Result<Vec<String>, String> {
    let number = |text: &str| match text.parse::<u64>() {
        Ok(number) if text.bytes().all(|b| b.is_ascii_digit()) => Ok(number),
        _ => Err(format!("\"{text}\" is not a number")),
    };
    let mut all = Vec::new();
    for part in group.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (low, high, width) = (number(first)?, number(last)?, first.len());
        if high < low {
            return Err(format!("the range {part} runs backwards"));
        }
        if high - low >= (most - all.len()) as u64 {
            return Err(too_many(most));
        }
        all.extend((low..=high).map(|number| format!("{number:0width$}")));
    }
    Ok(all)
}

fn too_many(most: usize) -> String {
    format!("more than {most} hosts")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_multiply_and_the_last_runs_fastest() {
        let names = |list| expand(list, 1000).expect(list).join(" ");
        assert_eq!(names("n[001-004,7]"), "n001 n002 n003 n004 n7");
        assert_eq!(
            names("rack[1-2]n[0-3]"),
            "rack1n0 rack1n1 rack1n2 rack1n3 rack2n0 rack2n1 rack2n2 rack2n3"
        );
        assert_eq!(names("a, b[9-11]x,c"), "a b9x b10x b11x c");
        assert_eq!(names("n[08-10]"), "n08 n09 n10");
    }

    #[test]
    fn what_is_no_list_is_told_and_no_list_is_endless() {
        let problem = |list| expand(list, 1000).expect_err(list);
        assert!(problem("a[1-").contains("not closed"));
        assert!(problem("a]1").contains("without an opening"));
        assert!(problem("a[[1]]").contains("inside a bracket"));
        assert!(problem("a,,b").contains("an empty name"));
        assert!(problem("").contains("an empty name"));
        assert!(problem("a[3-1]").contains("runs backwards"));
        assert!(problem("a[x]").contains("\"x\" is not a number"));
        assert!(problem("a[-1]").contains("\"\" is not a number"));
        assert!(problem("a[+1]").contains("not a number"));
        assert!(problem("a[0-18446744073709551615]").contains("more than 1000 hosts"));
        assert!(problem("a[0-99][0-99]").contains("more than 1000 hosts"));
    }
}
