//! What a search makes as good as can be.
//!
//! ```text
//! objective = COLUMN | COLUMN[goal=min|max,weights=jobs|size|CLASSES]
//! CLASSES   = RANGE:WEIGHT,RANGE:WEIGHT,...      RANGE = A..B or A, in processors
//! ```
//!
//! The weights are those of the jobs in the mean of `mean_pairwise_l1`: every job counts
//! the same (`jobs`), as often as it has processors (`size`), or as its size class says;
//! a size in none of the classes counts nothing, of several the first decides.

use std::fmt;
use std::str::FromStr;

use super::column::{Needs, Sought};
use super::space::Range;
use crate::naming::{NameError, StrategyName};

const KIND: &str = "objective";
/// The largest weight of a class.
const LARGEST_WEIGHT: u64 = 1_000_000;

/// Whether small or large values are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// Small ones.
    Min,
    /// Large ones.
    Max,
}

/// How much a job counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Weights {
    /// The same as every other.
    Jobs,
    /// Its number of processors.
    Size,
    /// The weight of the first class that holds its size.
    Classes(Vec<(Range, u64)>),
}

impl Weights {
    /// The weight of a job of so many processors.
    pub fn of(&self, size: u32) -> u64 {
        match self {
            Weights::Jobs => 1,
            Weights::Size => u64::from(size),
            Weights::Classes(classes) => {
                classes.iter().find(|(sizes, _)| sizes.contains(size)).map_or(0, |class| class.1)
            }
        }
    }
}

/// A column of the table of runs, what is wanted of it, and the weights of jobs.
#[derive(Clone, Debug)]
pub struct Objective {
    /// The column.
    pub sought: &'static Sought,
    /// What is wanted.
    pub goal: Goal,
    /// Weights of jobs; other than [`Weights::Jobs`] only with `mean_pairwise_l1`.
    pub weights: Weights,
}

impl Objective {
    /// Whether the objective is a weighted sum of the jobs' pairwise L1 sums that should
    /// be small: every further decision can only add to it.
    pub fn only_grows(&self) -> bool {
        self.sought.needs == Needs::Pairwise && self.goal == Goal::Min
    }
}

impl FromStr for Objective {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let name: StrategyName =
            text.parse().map_err(|e: NameError| NameError { kind: KIND, ..e })?;
        name.expect_keys(KIND, &["goal", "weights"])?;
        let sought =
            Sought::by_name(&name.name).map_err(|problem| name.error(KIND, problem.to_string()))?;
        let usual = if sought.column.rises { Goal::Max } else { Goal::Min };
        let goal = name.choice(KIND, "goal", usual, &[("min", Goal::Min), ("max", Goal::Max)])?;
        let weights = match name.get("weights") {
            None | Some("jobs") => Weights::Jobs,
            Some("size") => Weights::Size,
            Some(classes) => Weights::Classes(
                parse_classes(classes).map_err(|problem| name.error(KIND, problem))?,
            ),
        };
        if weights != Weights::Jobs && sought.column.name != "mean_pairwise_l1" {
            return Err(name.error(KIND, "only mean_pairwise_l1 takes weights"));
        }
        Ok(Self { sought, goal, weights })
    }
}

fn parse_classes(text: &str) -> Result<Vec<(Range, u64)>, String> {
    let class = |part: &str| {
        let error = || {
            format!("weights: \"{part}\" is not RANGE:WEIGHT such as 2..16:1 (or write jobs, size)")
        };
        let (sizes, weight) = part.split_once(':').ok_or_else(error)?;
        let weight = weight.trim().parse::<u64>().map_err(|_| error())?;
        if weight > LARGEST_WEIGHT {
            return Err(format!("weights: \"{part}\": at most {LARGEST_WEIGHT}"));
        }
        Ok((sizes.parse::<Range>().map_err(|_| error())?, weight))
    };
    text.split(',').map(class).collect()
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut name = StrategyName::plain(self.sought.column.name);
        if (self.goal == Goal::Max) != self.sought.column.rises {
            name.set("goal", if self.goal == Goal::Max { "max" } else { "min" });
        }
        match &self.weights {
            Weights::Jobs => {}
            Weights::Size => name.set("weights", "size"),
            Weights::Classes(classes) => {
                let class = |(sizes, weight): &(Range, u64)| format!("{sizes}:{weight}");
                name.set("weights", classes.iter().map(class).collect::<Vec<_>>().join(","));
            }
        }
        name.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objective(text: &str) -> Objective {
        text.parse().expect("an objective")
    }

    #[test]
    fn print_and_parse_are_inverse() {
        for text in [
            "mean_pairwise_l1",
            "contiguous_percent",
            "mean_components[goal=max]",
            "mean_pairwise_l1[weights=size]",
            "mean_pairwise_l1[weights=2..16:3,17..100:1]",
        ] {
            assert_eq!(objective(text).to_string(), text);
        }
        assert_eq!(objective("mean-diameter[goal=min]").to_string(), "mean_diameter");
        assert_eq!(objective("contiguous_percent").goal, Goal::Max);
    }

    #[test]
    fn the_first_class_decides() {
        let weights = objective("mean_pairwise_l1[weights=2..16:3,10..100:1]").weights;
        assert_eq!([1, 2, 16, 17, 101].map(|size| weights.of(size)), [0, 3, 3, 1, 0]);
        assert_eq!(objective("mean_pairwise_l1[weights=size]").weights.of(7), 7);
    }

    #[test]
    fn only_pairwise_sums_only_grow() {
        let grows = |text| objective(text).only_grows();
        assert!(grows("mean_pairwise_l1") && grows("total_pairwise_l1"));
        assert!(!grows("mean_pairwise_l1[goal=max]") && !grows("mean_components"));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (text, words) in [
            ("", "empty"),
            ("mean_wait", "schedule alone"),
            ("mean_pairwise_l1[weight=size]", "did you mean \"weights\""),
            ("mean_pairwise_l1[goal=least]", "none of min, max"),
            ("mean_pairwise_l1[weights=2..16]", "RANGE:WEIGHT"),
            ("mean_pairwise_l1[weights=2..16:9999999]", "at most 1000000"),
            ("mean_components[weights=size]", "only mean_pairwise_l1"),
        ] {
            let error = text.parse::<Objective>().expect_err(text).to_string();
            assert!(error.contains(words) && error.starts_with("objective"), "{error}");
        }
    }
}
