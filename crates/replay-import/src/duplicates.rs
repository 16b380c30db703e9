//! Ids of jobs that were read, to detect repeated jobs.
//!
//! Memory is bounded. A numeric id, with or without the name of a server after it, occupies one bit in a block, because
//! numeric ids are mostly consecutive. Any other id is stored as a hash of eight bytes. When a limit on the number of
//! stored ids is reached, further ids are not compared.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

use super::entry::Entry;
use super::value::digits;

/// Number of 64-bit words in a block, which holds 4,096 ids.
const WORDS: usize = 64;

/// Largest number of blocks; this many blocks occupy 32 MiB.
const BLOCKS: usize = 1 << 16;

/// Largest number of ids that are not numeric; this many ids occupy 36 MiB.
const TEXTS: usize = 1 << 21;

/// The result of adding an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// The id is new.
    New,
    /// The id is repeated.
    Again,
    /// The id is not compared, because too many ids are stored.
    Full,
}

/// The ids of jobs.
pub(super) struct Seen {
    /// Bits of numeric ids, indexed by server and block.
    numbers: HashMap<(u64, u64), Box<[u64; WORDS]>>,
    texts: HashSet<u64>,
    blocks: usize,
    most: usize,
}

impl Default for Seen {
    fn default() -> Seen {
        Seen::bounded(BLOCKS, TEXTS)
    }
}

/// Returns the index of the block that contains the number, the index of the word within this block, and a mask for the
/// bit within this word.
fn place(number: u64) -> (u64, usize, u64) {
    (number >> 12, (number >> 6) as usize % WORDS, 1 << (number % 64))
}

/// Splits a numeric id into number and server: `70.bw` is number 70 of the server `bw`; `70` has no server.
fn numbered(id: &str) -> Option<(u64, u64)> {
    let (number, server) = id.split_once('.').unwrap_or((id, ""));
    let server = match server {
        "" if number.len() < id.len() => return None,
        "" => 0,
        server => hash(server),
    };
    digits(number).map(|number| (server, number as u64))
}

fn hash(id: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

impl Seen {
    fn bounded(blocks: usize, most: usize) -> Seen {
        Seen { numbers: HashMap::new(), texts: HashSet::new(), blocks, most }
    }

    /// Returns whether an id was added before.
    pub fn has(&self, id: &str) -> bool {
        match numbered(id) {
            Some((server, number)) => {
                let (block, word, bit) = place(number);
                self.numbers.get(&(server, block)).is_some_and(|words| words[word] & bit != 0)
            }
            None => !self.texts.is_empty() && self.texts.contains(&hash(id)),
        }
    }

    /// Adds an id.
    pub fn take(&mut self, id: &str) -> Known {
        let is_new = match numbered(id) {
            Some((server, number)) => {
                let (block, word, bit) = place(number);
                let block = (server, block);
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

    /// Adds all ids of another set.
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

/// Largest number of stored rows; this many rows occupy 72 MiB.
const ROWS: usize = 1 << 22;

/// Hashes of rows, to detect rows that are repeated in another file.
#[derive(Default)]
pub(super) struct Rows {
    earlier: HashSet<u64>,
    /// Rows of the current file, stored only if another file follows.
    own: HashSet<u64>,
    keep: bool,
    any: bool,
}

impl Rows {
    /// Begins a file; `another` states whether a further file follows.
    pub fn begin(&mut self, another: bool) {
        self.earlier.extend(std::mem::take(&mut self.own));
        (self.keep, self.any) = (another, false);
    }

    /// Records that the file has a job.
    pub fn count(&mut self) {
        self.any = true;
    }

    /// Returns whether the current file has a job.
    pub fn any(&self) -> bool {
        self.any
    }

    /// Returns whether an earlier file has this row.
    pub fn has(&self, row: &Entry<'_>) -> bool {
        self.earlier.contains(&hash(row))
    }

    /// Adds a row. Returns `false` if the row should be stored but the limit on the number of stored rows has been
    /// reached.
    pub fn take(&mut self, row: &Entry<'_>) -> bool {
        let room = self.earlier.len() + self.own.len() < ROWS;
        if self.keep && room {
            self.own.insert(hash(row));
        }
        !self.keep || room
    }
}

/// Largest number of stored runs; this many runs occupy 72 MiB.
const RUNS: usize = 1 << 21;

/// The result of adding a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    /// The run is new.
    New,
    /// An earlier record describes the same run.
    Again {
        /// Number of the job in the trace.
        number: u64,
        /// Whether the earlier record names other nodes.
        elsewhere: bool,
    },
    /// The run is not compared, because too many runs are stored.
    Full,
}

/// The runs of jobs. Two records with the same id and the same start describe the same run; a job that was requeued
/// has another start.
#[derive(Default)]
pub(super) struct Runs {
    /// For the hash of id and start: number of the job, and hash of its nodes.
    numbers: HashMap<u64, (u32, u32)>,
}

impl Runs {
    /// Adds a run of the job that gets the given number unless the run is known.
    pub fn take(&mut self, id: &str, start: i64, nodes: &str, number: u64) -> Run {
        let key = hash((id, start));
        let nodes = hash(nodes) as u32;
        if let Some(&(number, other)) = self.numbers.get(&key) {
            return Run::Again { number: u64::from(number), elsewhere: nodes != other };
        }
        match u32::try_from(number) {
            Ok(number) if self.numbers.len() < RUNS => {
                self.numbers.insert(key, (number, nodes));
                Run::New
            }
            _ => Run::Full,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The function detects the same repetitions as a comparison of the texts, except that `7` and `07` are the
        /// same number.
        #[test]
        fn detects_repeated_ids(
            ids in proptest::collection::vec("[0-9]{1,6}|[a-c]{1,2}|[0-9]{1,2}[.][ab]?", 0..80),
            cut in 0usize..80,
        ) {
            let number = |id: &str| id.parse::<u64>().ok();
            let name = |id: &String| match id.split_once('.') {
                Some((at, server)) if !server.is_empty() => format!("{:?}.{server}", number(at)),
                _ => number(id).map_or(id.clone(), |id| id.to_string()),
            };
            let (mut seen, mut earlier) = (Seen::default(), Seen::default());
            let mut expected = BTreeSet::new();
            for (at, id) in ids.iter().enumerate() {
                if at == cut {
                    earlier.absorb(std::mem::take(&mut seen));
                }
                let again = earlier.has(id) || seen.take(id) == Known::Again;
                prop_assert_eq!(again, !expected.insert(name(id)));
            }
        }
    }

    #[test]
    fn ids_beyond_the_limit_are_not_compared() {
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
