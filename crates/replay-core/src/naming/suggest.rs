//! Suggestions for misspelt words.

/// Maximum number of letters of a word that is compared. The comparison takes time proportional to
/// both lengths, and names are shorter.
const LONGEST_WORD: usize = 64;

/// Returns the candidate most similar to `word`, if one is similar.
pub fn nearest<'a>(word: &str, mut candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    similar(word, &mut candidates, 1).first().copied()
}

/// Returns up to `count` candidates similar to `word`, the most similar first. Two words are
/// similar if at most a third of the letters differ (one in a short word, at least two in a longer
/// one), or if one contains the other. Case is ignored; equally similar candidates keep their
/// order. A word of more than 64 letters has no similar ones.
pub fn nearest_few<'a>(
    word: &str,
    mut candidates: impl Iterator<Item = &'a str>,
    count: usize,
) -> Vec<&'a str> {
    similar(word, &mut candidates, count)
}

/// Implements [`nearest_few`] for a dynamic iterator: one instance per caller would be a twentieth of the executable.
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
    // Two different letters make a short word a different word.
    let reach = if letters <= 4 { 1 } else { (letters / 3).max(2) };
    let mut near: Vec<(usize, bool, &str)> = Vec::new();
    for candidate in candidates.filter(|candidate| candidate.len() <= 4 * LONGEST_WORD) {
        let lower = candidate.to_lowercase();
        let contained = word.len() >= 3 && (lower.contains(&word) || word.contains(&lower));
        let distance = strsim::osa_distance(&word, &lower);
        if distance <= reach || contained {
            // Of equally similar candidates, prefer one that continues the word.
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

/// Returns "; did you mean ...?" for the end of a message, or an empty text.
pub fn hint<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    nearest(word, candidates).map_or_else(String::new, |near| format!("; did you mean \"{near}\"?"))
}
