//! Values that are chosen by a word, among few.

use super::exit::Failure;
use replay_core::naming::advice;
use replay_core::sanitize::excerpt;

/// The value of a word.
pub fn one<T: Copy>(option: &str, word: &str, all: &[(&'static str, T)]) -> Result<T, Failure> {
    let found = all.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let names = || all.iter().map(|(name, _)| *name);
        let known = || format!("there are {}", names().collect::<Vec<_>>().join(", "));
        let advice = advice(word, names(), known);
        Failure::usage_message(format!("{option} \"{}\": unknown; {advice}", excerpt(word)))
    })
}

/// The values of some words.
pub fn some<T: Copy>(
    option: &str,
    words: &[String],
    all: &[(&'static str, T)],
) -> Result<Vec<T>, Failure> {
    words.iter().map(|word| one(option, word.trim(), all)).collect()
}
