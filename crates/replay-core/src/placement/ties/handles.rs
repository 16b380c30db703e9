//! What is weighed, and who competes.

use std::fmt;
use std::str::FromStr;

/// Weights of the terms: `LF,EQ,NF,WF,EF,DL`, those left out at the end being 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Handles {
    /// LF.
    pub larger: i64,
    /// EQ.
    pub equal: i64,
    /// NF.
    pub contact: i64,
    /// WF.
    pub wall: i64,
    /// EF.
    pub ends: i64,
    /// DL.
    pub delay: i64,
}

impl Handles {
    /// The largest magnitude of a weight.
    pub const MAX: i64 = 1_000_000;

    /// The names of the terms in the order in which their weights are written, and whether they are subtracted.
    pub const TERMS: [(&str, bool); 6] =
        [("LF", false), ("EQ", false), ("NF", true), ("WF", true), ("EF", true), ("DL", false)];

    /// The weights of which only one term counts, once.
    pub fn only(term: usize) -> Self {
        Self::of(std::array::from_fn(|i| i64::from(i == term)))
    }

    /// These weights, in the order in which they are written.
    pub fn of([larger, equal, contact, wall, ends, delay]: [i64; 6]) -> Self {
        Self { larger, equal, contact, wall, ends, delay }
    }

    /// The weights in the order in which they are written.
    pub fn entries(self) -> [i64; 6] {
        let Self { larger, equal, contact, wall, ends, delay } = self;
        [larger, equal, contact, wall, ends, delay]
    }
}

/// Weights that are not one to six integers in range.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "not one to six integers from -1,000,000 to 1,000,000 (LF,EQ,NF,WF,EF,DL, such as 0,0,0,0,0,1)"
)]
pub struct HandlesError;

impl FromStr for Handles {
    type Err = HandlesError;

    fn from_str(text: &str) -> Result<Self, HandlesError> {
        let mut entries = [0i64; 6];
        let mut left = entries.iter_mut();
        for part in text.split(',') {
            let entry = left.next().ok_or(HandlesError)?;
            *entry = part.trim().parse().map_err(|_| HandlesError)?;
            if entry.unsigned_abs() > Self::MAX as u64 {
                return Err(HandlesError);
            }
        }
        Ok(Self::of(entries))
    }
}

impl fmt::Display for Handles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.entries();
        // Trailing zeros are left out, but for the first entry.
        let last = entries.iter().rposition(|&entry| entry != 0).unwrap_or(0);
        let texts: Vec<String> = entries[..=last].iter().map(i64::to_string).collect();
        f.write_str(&texts.join(","))
    }
}

/// Which of the free boxes of a size compete.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum CandidateFilter {
    /// All, of whatever orientation and shape.
    #[default]
    All,
    /// Those of the first orientation or shape that fits, in the order of Slurm's scan.
    First,
    /// Those whose sum of distances over all pairs of cells is at most 1 + this times the smallest of
    /// any free box of the size.
    Compact(f64),
}

/// How near two ends are that are `apart`, for a job that takes `limit`: 4 if 8 apart <= limit, 3 if
/// 4 apart <= limit, 2 if 2 apart <= limit, 1 if apart <= limit, else 0.
#[inline]
pub fn nearness(apart: u64, limit: u64) -> u32 {
    // No product can overflow: what is further away than the limit is not near.
    match apart {
        _ if apart > limit => 0,
        _ if apart <= limit / 8 => 4,
        _ if apart <= limit / 4 => 3,
        _ if apart <= limit / 2 => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_read_and_written() {
        for (text, written) in
            [("1", "1"), ("0,0,0,0,0,1", "0,0,0,0,0,1"), ("1,-2,0", "1,-2"), ("0,0", "0")]
        {
            assert_eq!(text.parse::<Handles>().expect(text).to_string(), written);
        }
        for bad in ["", "1,2,3,4,5,6,7", "x", "1,,2", "1000001", "1.5"] {
            assert!(bad.parse::<Handles>().is_err(), "{bad}");
        }
    }
}
