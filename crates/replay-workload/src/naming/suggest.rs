//! Suggestions for misspelt words.

/// Longer words are not compared with names; the limit is a number of letters. All names are shorter. The limit is needed because the time of
/// a comparison is proportional to the product of the lengths of the two words.
const LONGEST_WORD: usize = 64;

/// Names that an earlier version accepted. An entry has the kind of the name, the name, and what to use instead.
const RETIRED: [[&str; 3]; 3] = [
    ["option", "film", "'--film' was removed: the page of replay explore plays a run"],
    [
        "parameter",
        "engine",
        "this parameter was removed, because all engines gave the same placements: omit engine=...",
    ],
    [
        "suite",
        "tsafrir",
        "this suite was removed, because it had no verdict; --shake N measures the sensitivity that it was about",
    ],
];

/// Returns what to use instead of a name that an earlier version accepted; `None` for any other name. `kind` is
/// "option", "parameter" or "suite".
pub fn retired(kind: &str, name: &str) -> Option<&'static str> {
    let entry = RETIRED.iter().find(|[of, retired, _]| *of == kind && *retired == name);
    entry.map(|[.., instead]| *instead)
}

/// Returns the candidate most similar to `word`; `None` if no candidate is similar.
pub fn nearest<'a>(word: &str, mut candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    similar(word, &mut candidates, 1).first().copied()
}

/// Returns up to `count` candidates similar to `word`, the most similar first. Two words are similar if few letters
/// differ, or if one word contains the other. In a word of up to four letters, one letter may differ; in a longer word,
/// up to a third of the letters may differ, but always at least two. Case is ignored. Equally similar candidates keep
/// their order. A word of more than 64 letters has no similar candidates.
pub fn nearest_few<'a>(
    word: &str,
    mut candidates: impl Iterator<Item = &'a str>,
    count: usize,
) -> Vec<&'a str> {
    similar(word, &mut candidates, count)
}

/// Implements [`nearest_few`] for a dynamic iterator. A generic function with an instance per caller would increase the
/// size of the executable by a twentieth.
fn similar<'a>(
    word: &str,
    candidates: &mut dyn Iterator<Item = &'a str>,
    count: usize,
) -> Vec<&'a str> {
    let letters = word.chars().take(LONGEST_WORD + 1).count();
    if letters > LONGEST_WORD {
        return Vec::new();
    }
    let word = word.to_lowercase();
    // Two short words that differ in two letters are treated as different words.
    let reach = if letters <= 4 { 1 } else { (letters / 3).max(2) };
    let mut near: Vec<(usize, bool, &str)> = Vec::new();
    for candidate in candidates.filter(|candidate| candidate.len() <= 4 * LONGEST_WORD) {
        let lower = candidate.to_lowercase();
        let contained = word.len() >= 3 && (lower.contains(&word) || word.contains(&lower));
        let distance = strsim::osa_distance(&word, &lower);
        if distance <= reach || contained {
            // Among equally similar candidates, prefer a candidate that begins with the word.
            near.push((distance.min(reach), !lower.starts_with(&word), candidate));
        }
    }
    near.sort_by_key(|&(distance, other, _)| (distance, other));
    near.dedup_by_key(|&mut (_, _, candidate)| candidate);
    near.into_iter().take(count).map(|(_, _, candidate)| candidate).collect()
}

/// Returns "did you mean ...?", or the result of `known` if no candidate is similar.
pub fn advice<'a>(
    word: &str,
    candidates: impl Iterator<Item = &'a str>,
    known: impl FnOnce() -> String,
) -> String {
    nearest(word, candidates).map_or_else(known, |near| format!("did you mean \"{near}\"?"))
}

/// Returns "; did you mean ...?" for the end of a message, or an empty text if no candidate is similar.
pub fn hint<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    nearest(word, candidates).map_or_else(String::new, |near| format!("; did you mean \"{near}\"?"))
}
