//! Weights of the terms, and the filter of candidates.

use std::fmt;
use std::str::FromStr;

/// Weights of the terms, written in the order `LF,EQ,NF,WF,EF,DL`; trailing zeros may be omitted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct TermWeights {
    /// Weight of LF.
    pub larger: i64,
    /// Weight of EQ.
    pub equal: i64,
    /// Weight of NF.
    pub contact: i64,
    /// Weight of WF.
    pub wall: i64,
    /// Weight of EF.
    pub ends: i64,
    /// Weight of DL.
    pub delay: i64,
}

impl TermWeights {
    /// Maximum magnitude of a weight.
    pub const MAX: i64 = 1_000_000;

    /// The names of the terms in the order of their weights, each with a flag that is `true` if the term is subtracted.
    pub const TERMS: [(&str, bool); 6] =
        [("LF", false), ("EQ", false), ("NF", true), ("WF", true), ("EF", true), ("DL", false)];

    /// Returns weights that are 1 for one term and 0 for all other terms.
    pub fn only(term: usize) -> Self {
        Self::of(std::array::from_fn(|i| i64::from(i == term)))
    }

    /// Creates weights from a list in the order LF, EQ, NF, WF, EF, DL.
    pub fn of([larger, equal, contact, wall, ends, delay]: [i64; 6]) -> Self {
        Self { larger, equal, contact, wall, ends, delay }
    }

    /// Returns the factors of the terms in the sum, in the order LF, EQ, NF, WF, EF, DL. The factors of the terms that
    /// are subtracted are negated.
    pub(crate) fn signed(self) -> [i64; 6] {
        let mut factors = self.entries();
        for (factor, (_, is_less)) in factors.iter_mut().zip(Self::TERMS) {
            *factor = if is_less { -*factor } else { *factor };
        }
        factors
    }

    /// Returns the weights in the order LF, EQ, NF, WF, EF, DL.
    pub fn entries(self) -> [i64; 6] {
        let Self { larger, equal, contact, wall, ends, delay } = self;
        [larger, equal, contact, wall, ends, delay]
    }
}

/// Error of parsing weights.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "expected one to six integers from -1,000,000 to 1,000,000 (LF,EQ,NF,WF,EF,DL, such as 0,0,0,0,0,1)"
)]
pub struct TermWeightsError;

impl FromStr for TermWeights {
    type Err = TermWeightsError;

    fn from_str(text: &str) -> Result<Self, TermWeightsError> {
        let mut entries = [0i64; 6];
        let mut left = entries.iter_mut();
        for part in text.split(',') {
            let entry = left.next().ok_or(TermWeightsError)?;
            *entry = part.trim().parse().map_err(|_| TermWeightsError)?;
            if entry.unsigned_abs() > Self::MAX as u64 {
                return Err(TermWeightsError);
            }
        }
        Ok(Self::of(entries))
    }
}

impl fmt::Display for TermWeights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.entries();
        // Trailing zeros are omitted, but the first entry is always kept.
        let last = entries.iter().rposition(|&entry| entry != 0).unwrap_or(0);
        let texts: Vec<String> = entries[..=last].iter().map(i64::to_string).collect();
        f.write_str(&texts.join(","))
    }
}

/// Determines which free boxes of a size are compared.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum CandidateFilter {
    /// All orientations and shapes.
    #[default]
    All,
    /// The first orientation or shape that fits, in the order of Slurm's scan.
    First,
    /// Compact boxes. Let d be the sum of distances over all pairs of cells of a box. A box is compared if its d is at
    /// most (1 + this value) times the minimum of d among the free boxes of the size.
    Compact(f64),
}

/// Returns the nearness of two ends for a job of duration `limit`; `apart` is the time between the ends. The nearness
/// is 4 if `8 * apart <= limit`, 3 if `4 * apart <= limit`, 2 if `2 * apart <= limit`, 1 if `apart <= limit`, else 0.
#[inline]
pub(crate) fn nearness(apart: u64, limit: u64) -> u32 {
    // Division avoids overflow.
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
    fn weights_parse_and_print() {
        for (text, expected) in
            [("1", "1"), ("0,0,0,0,0,1", "0,0,0,0,0,1"), ("1,-2,0", "1,-2"), ("0,0", "0")]
        {
            assert_eq!(text.parse::<TermWeights>().expect(text).to_string(), expected);
        }
        for bad in ["", "1,2,3,4,5,6,7", "x", "1,,2", "1000001", "1.5"] {
            assert!(bad.parse::<TermWeights>().is_err(), "{bad}");
        }
    }
}
