use replay_engine::workload::Policy;
use replay_experiment::RunKey;

/// Converts text to a part of a file name. Letters, digits, dots and underscores are kept. The sign of a negative
/// number becomes `minus`. Any other sequence of characters becomes one hyphen. Hyphens and dots at both ends are
/// removed.
pub fn slug(text: &str) -> String {
    let mut slug = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let number = chars.peek().is_some_and(char::is_ascii_digit);
        if c == '-' && number && slug.ends_with('-') {
            slug.push_str("minus");
        } else if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') {
            slug.push(c);
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_matches(['-', '.']).to_string()
}

/// Formats a machine name for figures, such as `10×10`.
pub fn machine(topology: &str) -> String {
    let bytes = topology.as_bytes();
    let digit = |i: Option<usize>| i.and_then(|i| bytes.get(i)).is_some_and(u8::is_ascii_digit);
    let is_times = |i: usize, c: char| c == 'x' && digit(i.checked_sub(1)) && digit(Some(i + 1));
    topology.char_indices().map(|(i, c)| if is_times(i, c) { '×' } else { c }).collect()
}

/// Returns trace, machine and scheduler as subtitle clauses.
pub fn setting(key: &RunKey) -> Vec<String> {
    vec![key.trace.clone(), machine(&key.topology), key.scheduler.clone()]
}

/// Returns the seed of a run as part of a file name; `None` for the default seed.
pub fn seed(key: &RunKey) -> Option<String> {
    (key.seed != 0).then(|| format!("seed-{}", key.seed))
}

/// Returns the cleaning policy of a run as part of a file name; `None` for the default policy.
pub fn policy(key: &RunKey) -> Option<String> {
    (key.policy != Policy::DEFAULT).then(|| key.policy.clone())
}

/// Maximum number of distinct values that are listed in a file name.
const MOST_LISTED: usize = 3;

/// Joins the distinct values, in order of appearance, to a part of a file name, such as `8x8+12x12`. If there are more
/// than three distinct values, the part consists of their number and the plural noun `what`, such as `5-machines`.
pub fn joined(values: impl IntoIterator<Item = String>, what: &str) -> String {
    let mut different: Vec<String> = Vec::new();
    for value in values {
        if !different.contains(&value) {
            different.push(value);
        }
    }
    match different.len() {
        ..=MOST_LISTED => different.join("+"),
        count => format!("{count}-{what}"),
    }
}

/// Groups items in order of first appearance. An item belongs to the first group whose first item is the `same`.
pub fn groups<T>(items: impl IntoIterator<Item = T>, same: impl Fn(&T, &T) -> bool) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    for item in items {
        match groups.iter_mut().find(|group| same(&group[0], &item)) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups
}

/// Allocates unique file names.
#[derive(Default)]
pub struct FileNames {
    used: Vec<String>,
}

impl FileNames {
    /// Joins the parts to a file stem; appends a number if the stem was already used.
    pub fn unique(&mut self, parts: &[&str]) -> String {
        let parts: Vec<String> = parts.iter().map(|part| slug(part)).collect();
        let stem = parts.join("--");
        let numbered = (2..).map(|i| format!("{stem}--{i}"));
        let free = std::iter::once(stem.clone()).chain(numbered).find(|s| !self.used.contains(s));
        let free = free.unwrap_or(stem);
        self.used.push(free.clone());
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_readable_and_distinct() {
        assert_eq!(slug("mc1x1[order=scan] (2,13,20,6)"), "mc1x1-order-scan-2-13-20-6");
        assert_eq!(slug("../torus:16x16"), "torus-16x16");
        // The vectors differ only in a sign.
        assert_eq!(slug("mc1x1 (2,-13,20,6)"), "mc1x1-2-minus13-20-6");
        assert_eq!(slug("KTH-SP2-1996-2"), "KTH-SP2-1996-2");
        let mut stems = FileNames::default();
        assert_eq!(stems.unique(&["load", "a:b"]), "load--a-b");
        assert_eq!(stems.unique(&["load", "a/b"]), "load--a-b--2");
        let values =
            |count: usize| (0..2 * count).map(|i| format!("{}x1", i / 2)).collect::<Vec<_>>();
        assert_eq!(slug(&joined(values(2), "machines")), "0x1-1x1");
        assert_eq!(joined(values(4), "machines"), "4-machines");
    }

    #[test]
    fn replaces_only_an_x_between_digits_by_a_times_sign() {
        assert_eq!(machine("torus[x]:16x24"), "torus[x]:16×24");
    }
}
