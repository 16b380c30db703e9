//! Ids of jobs that were seen, so that a job that comes again is told.
//!
//! Memory is bounded: ids that are numbers, which mostly follow each other, take a bit each in blocks,
//! others a number of eight bytes. Of a log with more of them than fit, the rest is not compared.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

use super::value::digits;

/// Words of a block: 4,096 ids.
const WORDS: usize = 64;

/// Blocks at most: 32 MiB.
const BLOCKS: usize = 1 << 16;

/// Ids at most that are no numbers: 36 MiB.
const TEXTS: usize = 1 << 21;

/// What is known of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It is new.
    New,
    /// It came before.
    Again,
    /// It is not compared.
    Full,
}

/// Ids.
pub(super) struct Seen {
    numbers: HashMap<u64, Box<[u64; WORDS]>>,
    texts: HashSet<u64>,
    blocks: usize,
    most: usize,
}

impl Default for Seen {
    fn default() -> Seen {
        Seen::bounded(BLOCKS, TEXTS)
    }
}

/// Where a number stands: its block, the word there, and its bit.
fn place(number: u64) -> (u64, usize, u64) {
    (number >> 12, (number >> 6) as usize % WORDS, 1 << (number % 64))
}

fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

impl Seen {
    fn bounded(blocks: usize, most: usize) -> Seen {
        Seen { numbers: HashMap::new(), texts: HashSet::new(), blocks, most }
    }

    /// Whether an id came before.
    pub fn has(&self, id: &str) -> bool {
        match digits(id) {
            Some(number) => {
                let (block, word, bit) = place(number as u64);
                self.numbers.get(&block).is_some_and(|words| words[word] & bit != 0)
            }
            None => !self.texts.is_empty() && self.texts.contains(&hash(id)),
        }
    }

    /// Takes an id.
    pub fn take(&mut self, id: &str) -> Known {
        let is_new = match digits(id) {
            Some(number) => {
                let (block, word, bit) = place(number as u64);
                if self.numbers.len() >= self.blocks && !self.numbers.contains_key(&block) {
                    return Known::Full;
                }
                let words = self.numbers.entry(block).or_insert_with(|| Box::new([0; WORDS]));
                let is_new = words[word] & bit == 0;
                words[word] |= bit;
                is_new
            }
            None => {
                let id = hash(id);
                if self.texts.len() >= self.most && !self.texts.contains(&id) {
                    return Known::Full;
                }
                self.texts.insert(id)
            }
        };
        if is_new { Known::New } else { Known::Again }
    }

    /// Takes all ids of another.
    pub fn absorb(&mut self, other: Seen) {
        for (block, words) in other.numbers {
            if self.numbers.len() >= self.blocks && !self.numbers.contains_key(&block) {
                continue;
            }
            let own = self.numbers.entry(block).or_insert_with(|| Box::new([0; WORDS]));
            own.iter_mut().zip(*words).for_each(|(own, word)| *own |= word);
        }
        let room = self.most.saturating_sub(self.texts.len());
        self.texts.extend(other.texts.into_iter().take(room));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// As a set of texts says; `7` and `07` are one number.
        #[test]
        fn ids_come_again_when_they_did(ids in proptest::collection::vec("[0-9]{1,6}|[a-c]{1,2}", 0..80), cut in 0usize..80) {
            let name = |id: &String| id.parse::<u64>().map_or(id.clone(), |id| id.to_string());
            let (mut seen, mut earlier) = (Seen::default(), Seen::default());
            let mut plain = BTreeSet::new();
            for (at, id) in ids.iter().enumerate() {
                if at == cut {
                    earlier.absorb(std::mem::take(&mut seen));
                }
                let again = earlier.has(id) || seen.take(id) == Known::Again;
                prop_assert_eq!(again, !plain.insert(name(id)));
            }
        }
    }

    #[test]
    fn more_than_fit_are_not_compared() {
        let mut seen = Seen::bounded(1, 1);
        for (id, known) in [
            ("7", Known::New),
            ("4095", Known::New),
            ("4096", Known::Full),
            ("7", Known::Again),
            ("a", Known::New),
            ("b", Known::Full),
            ("a", Known::Again),
        ] {
            assert_eq!(seen.take(id), known, "{id}");
        }
    }
}
