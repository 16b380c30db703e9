//! What a misspelt word may have meant.

/// Letters of the longest word that is compared with others. The comparison takes time in
/// proportion to both lengths, and no name is as long.
const LONGEST_WORD: usize = 64;

/// The candidate most like `word`, if one is like it at all.
pub fn nearest<'a>(word: &str, mut candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    few(word, &mut candidates, 1).first().copied()
}

/// Up to `count` candidates like `word`, the most alike first. Two words are alike if at
/// most a third of the letters differ (one in a short word, two in a longer one), or if one
/// contains the other. Case does not matter; equally near candidates keep their order. A
/// word of more than 64 letters is like no other.
pub fn nearest_few<'a>(
    word: &str,
    mut candidates: impl Iterator<Item = &'a str>,
    count: usize,
) -> Vec<&'a str> {
    few(word, &mut candidates, count)
}

/// Compiled once: every table of names asks, and a sort for each is a twentieth of the program.
fn few<'a>(
    word: &str,
    candidates: &mut dyn Iterator<Item = &'a str>,
    count: usize,
) -> Vec<&'a str> {
    let letters = word.chars().take(LONGEST_WORD + 1).count();
    if letters > LONGEST_WORD {
        return Vec::new();
    }
    let word = word.to_lowercase();
    // In a short word two other letters are another word.
    let reach = if letters <= 4 { 1 } else { (letters / 3).max(2) };
    let mut near: Vec<(usize, bool, &str)> = Vec::new();
    for candidate in candidates.filter(|candidate| candidate.len() <= 4 * LONGEST_WORD) {
        let lower = candidate.to_lowercase();
        let contained = word.len() >= 3 && (lower.contains(&word) || word.contains(&lower));
        let distance = strsim::osa_distance(&word, &lower);
        if distance <= reach || contained {
            // Of two that are as near, the one that goes on where the word ends.
            near.push((distance.min(reach), !lower.starts_with(&word), candidate));
        }
    }
    near.sort_by_key(|&(distance, other, _)| (distance, other));
    near.dedup_by_key(|&mut (_, _, candidate)| candidate);
    near.into_iter().take(count).map(|(_, _, candidate)| candidate).collect()
}

/// "did you mean ...?", or what is known where nothing is near.
pub fn advice<'a>(
    word: &str,
    candidates: impl Iterator<Item = &'a str>,
    known: impl FnOnce() -> String,
) -> String {
    nearest(word, candidates).map_or_else(known, |near| format!("did you mean \"{near}\"?"))
}

/// "; did you mean ...?" at the end of a message, or nothing.
pub fn hint<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    nearest(word, candidates).map_or_else(String::new, |near| format!("; did you mean \"{near}\"?"))
}
