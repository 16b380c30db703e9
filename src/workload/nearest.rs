//! Which known names are near a mistyped one.

/// Up to `count` of `known` nearest to `name`, nearest first; names too far off are left out.
///
/// Near is: within a third of the name's length in edits (at least 2), or the one contains the other.
/// Case does not matter. Equally near names keep their order.
pub(super) fn nearest<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    count: usize,
) -> Vec<&'a str> {
    let name = name.to_lowercase();
    let reach = (name.chars().count() / 3).max(2);
    let mut near: Vec<(usize, &str)> = Vec::new();
    for candidate in known {
        let lower = candidate.to_lowercase();
        let contained = name.len() >= 3 && (lower.contains(&name) || name.contains(&lower));
        let distance = edits(&name, &lower);
        if distance <= reach || contained {
            near.push((if contained { distance.min(reach) } else { distance }, candidate));
        }
    }
    near.sort_by_key(|&(distance, _)| distance);
    near.dedup_by_key(|&mut (_, candidate)| candidate);
    near.into_iter().take(count).map(|(_, candidate)| candidate).collect()
}

/// Levenshtein distance in characters.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("same", "same"), 0);
    }

    #[test]
    fn near_names_come_first_and_far_ones_not() {
        let known = ["KTH-SP2", "CTC-SP2", "LANL-CM5", "KTH-SP2-1996-2"];
        assert_eq!(nearest("kth-sp", known, 2), ["KTH-SP2", "KTH-SP2-1996-2"]);
        assert!(nearest("quarks", known, 3).is_empty());
    }
}
