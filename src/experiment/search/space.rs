use std::collections::HashSet;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::allocator::centre::TieVector;

/// The vectors a search may try: whole factors that are never negative.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Space {
    /// SR, in shells; at least 1, for 0 breaks no tie.
    pub scan_radii: Range,
    /// AF, WF and BF of the exhaustive grid.
    pub factors: Range,
    /// The largest factor of a strategy that moves freely among ratios.
    pub largest: u32,
}

impl Space {
    /// The brute force of Johnson, Bunde, Leung (section III): SR 1 to 9, factors 0 to
    /// 10. Their supplementary search knows factors up to 90; here up to 100.
    pub const JOHNSON: Space = Space {
        scan_radii: Range { low: 1, high: 9 },
        factors: Range { low: 0, high: 10 },
        largest: 100,
    };

    /// Every vector of the grid that breaks a tie, each ratio once, reduced: SR outermost,
    /// BF innermost.
    pub fn grid(&self) -> Vec<TieVector> {
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

    /// Vectors of the grid before those of one ratio are made one.
    pub fn grid_points(&self) -> u64 {
        self.scan_radii.len() * self.factors.len().pow(3)
    }
}

/// Whole numbers from `low` to `high`, both included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// The first.
    pub low: u32,
    /// The last, not below the first.
    pub high: u32,
}

impl Range {
    /// The numbers in order.
    pub fn iter(self) -> RangeInclusive<u32> {
        self.low..=self.high
    }

    /// How many they are; at least one, so there is no `is_empty`.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(self) -> u64 {
        u64::from(self.high - self.low) + 1
    }

    /// Whether a number is among them.
    pub fn contains(self, number: u32) -> bool {
        self.iter().contains(&number)
    }
}

/// A range that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("range \"{0}\": write A..B such as 1..9, or one number; the first must not be larger")]
pub struct RangeError(String);

impl FromStr for Range {
    type Err = RangeError;

    /// `1..9`, both included; `5` is `5..5`.
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
    fn the_papers_grid_has_each_ratio_once() {
        let grid = Space::JOHNSON.grid();
        // 1,331 factors: the indifferent one goes, and of each ratio all but one.
        assert_eq!((Space::JOHNSON.grid_points(), grid.len()), (11_979, 9 * 1033));
        let all: HashSet<_> = grid.iter().map(|vector| vector.reduced()).collect();
        assert_eq!(all.len(), grid.len());
        for text in ["2,1,1,1", "9,0,0,1", "1,10,9,7", "4,10,1,0"] {
            assert!(grid.contains(&text.parse().expect("a vector")), "{text}");
        }
        assert!(!grid.contains(&"2,2,2,2".parse().expect("a vector")));
    }

    #[test]
    fn ranges_are_read_and_printed() {
        assert_eq!("1..9".parse(), Ok(Range { low: 1, high: 9 }));
        assert_eq!(" 5 ".parse(), Ok(Range { low: 5, high: 5 }));
        assert_eq!("0..10".parse::<Range>().map(|range| range.to_string()).as_deref(), Ok("0..10"));
        for bad in ["", "9..1", "-1..3", "1..", "1...3", "a"] {
            assert!(bad.parse::<Range>().is_err(), "{bad}");
        }
    }
}
