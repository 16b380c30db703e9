use std::collections::HashSet;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use super::candidate::Candidate;
use replay_core::allocator::centre::{Slack, TieVector};

/// Search space: vectors with nonnegative integer factors, and slacks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Space {
    /// Scan radii (SR) in shells; at least 1, because 0 breaks no tie.
    pub scan_radii: Range,
    /// Values of AF, WF and BF on the exhaustive grid.
    pub factors: Range,
    /// Largest factor for strategies that choose ratios freely.
    pub largest: u32,
    /// Slacks in ascending order; at least one.
    pub slacks: Vec<Slack>,
}

impl Space {
    /// Brute-force search of Johnson, Bunde, Leung (section III): SR 1 to 9, factors 0 to 10, exact ties. Their
    /// supplementary search uses factors up to 90; here they go up to 100.
    pub fn johnson() -> Self {
        Self {
            scan_radii: Range { low: 1, high: 9 },
            factors: Range { low: 0, high: 10 },
            largest: 100,
            slacks: vec![Slack::NONE],
        }
    }

    /// All candidates of the grid that break ties, one reduced vector per ratio; slacks are outermost, then SR, and
    /// BF is innermost.
    pub fn grid(&self) -> Vec<Candidate> {
        let vectors = self.vectors();
        let of = |&slack: &Slack| vectors.iter().map(move |&vector| Candidate { vector, slack });
        self.slacks.iter().flat_map(of).collect()
    }

    fn vectors(&self) -> Vec<TieVector> {
        let mut seen = HashSet::new();
        let vectors = self.scan_radii.iter().flat_map(|scan_radius| {
            let factors = || self.factors.iter().map(|factor| factor as i32);
            factors().flat_map(move |available| {
                factors().flat_map(move |wall| {
                    factors().map(move |border| TieVector { scan_radius, available, wall, border })
                })
            })
        });
        vectors
            .filter(|vector| !vector.is_indifferent())
            .map(TieVector::reduced)
            .filter(|vector| seen.insert(*vector))
            .collect()
    }

    /// Number of candidates of the grid before equal ratios are merged, saturating at `u64::MAX`.
    pub fn grid_points(&self) -> u64 {
        let factors = self.factors.len().saturating_pow(3);
        factors.saturating_mul(self.scan_radii.len()).saturating_mul(self.slacks.len() as u64)
    }

    /// Index of a slack in [`Space::slacks`]; for other values, of the next smaller one, or 0.
    pub fn slack_index(&self, slack: Slack) -> usize {
        self.slacks.partition_point(|&other| other <= slack).saturating_sub(1)
    }
}

/// Integers from `low` to `high`, both included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// Smallest integer.
    pub low: u32,
    /// Largest integer, not below `low`.
    pub high: u32,
}

impl Range {
    /// The integers in ascending order.
    pub fn iter(self) -> RangeInclusive<u32> {
        self.low..=self.high
    }

    /// Number of integers; at least one, so there is no `is_empty`.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(self) -> u64 {
        u64::from(self.high - self.low) + 1
    }

    /// Whether a number is in the range.
    pub fn contains(self, number: u32) -> bool {
        self.iter().contains(&number)
    }
}

/// Error from parsing a range.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("range \"{0}\": write A..B such as 1..9 with A <= B, or one number, all at least 0")]
pub struct RangeError(String);

impl FromStr for Range {
    type Err = RangeError;

    /// Parses `1..9`, both ends included; `5` is read as `5..5`.
    fn from_str(text: &str) -> Result<Self, RangeError> {
        let error = || RangeError(text.to_string());
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| error());
        let (low, high) = text.split_once("..").unwrap_or((text, text));
        let range = Range { low: number(low)?, high: number(high)? };
        if range.low <= range.high { Ok(range) } else { Err(error()) }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.low, self.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grid_of_the_paper_has_each_ratio_once() {
        let grid = Space::johnson().grid();
        // 1,331 factors, without the one of no effect and with one vector per ratio.
        assert_eq!((Space::johnson().grid_points(), grid.len()), (11_979, 9 * 1033));
        let all: HashSet<_> = grid.iter().map(|one| one.reduced()).collect();
        assert_eq!(all.len(), grid.len());
        for text in ["2,1,1,1", "9,0,0,1", "1,10,9,7", "4,10,1,0"] {
            assert!(grid.contains(&text.parse().expect("a vector")), "{text}");
        }
        assert!(!grid.contains(&"2,2,2,2".parse().expect("a vector")));
    }

    #[test]
    fn grid_combines_every_vector_with_every_slack() {
        let slack = |text: &str| text.parse::<Slack>().expect("a slack");
        let slacks = ["0", "0.05", "0.2"].map(slack).to_vec();
        let space = Space { slacks, ..Space::johnson() };
        let grid = space.grid();
        assert_eq!((space.grid_points(), grid.len()), (3 * 11_979, 3 * 9 * 1033));
        assert_eq!(grid[..9 * 1033], Space::johnson().grid());
        let vast = Range { low: 0, high: 262_143 };
        let vast =
            Space { scan_radii: Range { low: 1, high: 1024 }, factors: vast, ..space.clone() };
        assert_eq!(vast.grid_points(), u64::MAX);
        assert!(grid.contains(&"4,10,1,0@0.2".parse().expect("a candidate")));
        assert_eq!(
            ["0", "0.05", "0.1", "1"].map(|text| space.slack_index(slack(text))),
            [0, 1, 1, 2]
        );
    }

    #[test]
    fn parses_and_formats_ranges() {
        assert_eq!("1..9".parse(), Ok(Range { low: 1, high: 9 }));
        assert_eq!(" 5 ".parse(), Ok(Range { low: 5, high: 5 }));
        assert_eq!("0..10".parse::<Range>().map(|range| range.to_string()).as_deref(), Ok("0..10"));
        for bad in ["", "9..1", "-1..3", "1..", "1...3", "a"] {
            assert!(bad.parse::<Range>().is_err(), "{bad}");
        }
    }
}
