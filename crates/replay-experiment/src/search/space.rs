use std::collections::HashSet;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use super::candidate::Candidate;
use crate::grid::{ValueError, Values};
use replay_engine::allocator::ties::{Slack, TieVector};

/// Search space: vectors with nonnegative integer factors, and slacks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Space {
    /// Scan radii (SR) in shells. All radii are at least 1, because a radius of 0 breaks no tie.
    pub scan_radii: Numbers,
    /// Values of the factors AF, WF and BF on the exhaustive grid.
    pub factors: [Numbers; 3],
    /// Largest factor for strategies that choose ratios freely.
    pub largest: u32,
    /// Slacks in ascending order. There is at least one slack.
    pub slacks: Vec<Slack>,
}

impl Space {
    /// Returns the space of the brute-force search of Johnson, Bunde, Leung (section III): SR 1 to 9, factors 0 to 10,
    /// exact ties. The supplementary search in the paper allows factors up to 90; this space allows factors up to 100.
    pub fn johnson() -> Self {
        Self {
            scan_radii: (1..=9).collect(),
            factors: std::array::from_fn(|_| (0..=10).collect()),
            largest: 100,
            slacks: vec![Slack::NONE],
        }
    }

    /// Returns all candidates of the grid that break ties, with one reduced vector for each ratio. The order is by
    /// slack, SR, AF, WF and BF; BF varies fastest.
    pub fn grid(&self) -> Vec<Candidate> {
        let vectors = self.vectors();
        let of = |&slack: &Slack| vectors.iter().map(move |&vector| Candidate { vector, slack });
        self.slacks.iter().flat_map(of).collect()
    }

    fn vectors(&self) -> Vec<TieVector> {
        let mut seen = HashSet::new();
        let vectors = self.scan_radii.iter().flat_map(|scan_radius| {
            let [available, wall, border] =
                self.factors.each_ref().map(|list| move || list.iter().map(|one| one as i32));
            available().flat_map(move |available| {
                wall().flat_map(move |wall| {
                    border().map(move |border| TieVector { scan_radius, available, wall, border })
                })
            })
        });
        vectors
            .filter(|vector| !vector.is_indifferent())
            .map(TieVector::reduced)
            .filter(|vector| seen.insert(*vector))
            .collect()
    }

    /// Returns the number of candidates of the grid before vectors with equal ratios are merged. The number saturates
    /// at `u64::MAX`.
    pub fn grid_points(&self) -> u64 {
        let lists = self.factors.iter().chain([&self.scan_radii]).map(Numbers::len);
        lists.fold(self.slacks.len() as u64, u64::saturating_mul)
    }

    /// Returns the index of a slack in [`Space::slacks`]. If the slack is not in the list, returns the index of the
    /// next smaller slack, or 0 if there is no smaller slack.
    pub fn slack_index(&self, slack: Slack) -> usize {
        self.slacks.partition_point(|&other| other <= slack).saturating_sub(1)
    }
}

/// A list of distinct integers in ascending order. The list is not empty.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Numbers(Vec<u32>);

impl Numbers {
    /// Returns the numbers in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().copied()
    }

    /// Returns the number of integers in the list. There is no `is_empty`, because the list is never empty.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// Returns the smallest and the largest number of the list.
    pub fn ends(&self) -> [u32; 2] {
        [self.0[0], self.0[self.0.len() - 1]]
    }

    /// Returns whether a number is in the list.
    pub fn contains(&self, number: u32) -> bool {
        self.0.binary_search(&number).is_ok()
    }

    /// Returns the number at a position of the list. Positions are counted from 0.
    ///
    /// # Panics
    /// Panics if the position is not below the length of the list.
    pub fn get(&self, position: u64) -> u32 {
        self.0[position as usize]
    }

    /// Returns the number that is `steps` positions after `number` in the list, or before `number` if `steps` is
    /// negative. Returns `None` if this position is beyond an end of the list. If `number` is not in the list but
    /// `number + steps` is in the list, returns `number + steps`.
    pub fn neighbour(&self, number: u32, steps: i64) -> Option<u32> {
        match self.0.binary_search(&number) {
            Ok(position) => {
                let position = usize::try_from(position as i64 + steps).ok()?;
                self.0.get(position).copied()
            }
            Err(_) => {
                let near = u32::try_from(i64::from(number) + steps).ok()?;
                self.contains(near).then_some(near)
            }
        }
    }

    /// Returns the distance between two numbers, counted in positions of the list. If one of the numbers is not in the
    /// list, returns the absolute difference of the numbers.
    pub fn distance(&self, one: u32, other: u32) -> u32 {
        match (self.0.binary_search(&one), self.0.binary_search(&other)) {
            (Ok(one), Ok(other)) => one.abs_diff(other) as u32,
            _ => one.abs_diff(other),
        }
    }
}

impl FromIterator<u32> for Numbers {
    /// Creates a list from the numbers of an iterator, without repetitions. If the iterator is empty, the list contains
    /// only 0.
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        let mut numbers: Vec<u32> = numbers.into_iter().collect();
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.is_empty() {
            numbers.push(0);
        }
        Self(numbers)
    }
}

impl FromStr for Numbers {
    type Err = ValueError;

    /// Parses numbers and ranges that are separated by commas, as in grid files: `1,2,5` or `1..9`.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        Ok(Values::listed(text).integers::<u32>()?.into_iter().collect())
    }
}

/// Formats successive numbers as `1..9`, and other lists as `1,2,5`.
impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [low, high] = self.ends();
        if u64::from(high - low) + 1 == self.len() {
            return write!(f, "{low}..{high}");
        }
        let numbers: Vec<String> = self.iter().map(|number| number.to_string()).collect();
        f.write_str(&numbers.join(","))
    }
}

/// The integers from `low` to `high`. Both ends are included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// Smallest integer.
    pub low: u32,
    /// Largest integer, at least `low`.
    pub high: u32,
}

impl Range {
    /// Returns the integers in ascending order.
    pub fn iter(self) -> RangeInclusive<u32> {
        self.low..=self.high
    }

    /// Returns whether a number is in the range.
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

    /// Parses a range such as `1..9`, both ends included. A single number `5` is parsed as `5..5`.
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
        // There are 1,331 combinations of factors. If the combination of zeros is removed and one vector is kept per
        // ratio, 1,033 combinations remain.
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
        let factors = std::array::from_fn(|_| (0..=262_143).collect());
        let vast = Space { scan_radii: (1..=1024).collect(), factors, ..space.clone() };
        assert_eq!(vast.grid_points(), u64::MAX);
        assert!(grid.contains(&"4,10,1,0@0.2".parse().expect("a candidate")));
        assert_eq!(
            ["0", "0.05", "0.1", "1"].map(|text| space.slack_index(slack(text))),
            [0, 1, 1, 2]
        );
    }

    #[test]
    fn a_grid_has_lists_of_numbers() {
        let list = |text: &str| text.parse::<Numbers>().expect("numbers");
        let space = Space {
            scan_radii: list("5,1,2"),
            factors: ["0,3", "0", "1"].map(list),
            ..Space::johnson()
        };
        let grid: Vec<String> = space.grid().iter().map(ToString::to_string).collect();
        assert_eq!(grid, ["1,0,0,1", "1,3,0,1", "2,0,0,1", "2,3,0,1", "5,0,0,1", "5,3,0,1"]);
        assert_eq!(space.grid_points(), 6);
        let radii = &space.scan_radii;
        assert_eq!([1, 2].map(|steps| radii.neighbour(2, steps)), [Some(5), None]);
        assert_eq!((radii.neighbour(2, -1), radii.neighbour(3, -1)), (Some(1), Some(2)));
        assert_eq!((radii.distance(1, 5), radii.distance(5, 9)), (2, 4));
        assert_eq!(
            (radii.to_string(), list("3..5,4").to_string()),
            ("1,2,5".into(), "3..5".into())
        );
        assert_eq!(list("7").to_string(), "7..7");
        for bad in ["", "9..1", "-1", "a", "1,,2"] {
            assert!(bad.parse::<Numbers>().is_err(), "{bad}");
        }
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
