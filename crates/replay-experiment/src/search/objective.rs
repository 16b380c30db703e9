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

use replay_core::table::name;
use std::fmt;
use std::str::FromStr;

use super::column::{Needs, Sought};
use super::space::Range;
use replay_core::naming::{Entry, NameError, StrategyName, Table, kind};

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

impl Goal {
    const ALL: [(&'static str, Goal); 2] = [("min", Goal::Min), ("max", Goal::Max)];

    fn usual(sought: &Sought) -> Self {
        if sought.column.rises { Goal::Max } else { Goal::Min }
    }
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

/// What can be said of a column.
#[derive(Clone, PartialEq)]
struct Wanted {
    goal: Goal,
    weights: Weights,
}

fn table(sought: &'static Sought) -> Table<Wanted> {
    let name = sought.column.name;
    let usual = Wanted { goal: Goal::usual(sought), weights: Weights::Jobs };
    let entry = Entry::new(name.text(), usual)
        .param("goal", kind::one_of(&Goal::ALL), "whether small or large values are wanted", |w| {
            &mut w.goal
        })
        .param("weights", kind::told("jobs|size|A..B:WEIGHT,..."), "what a job counts", |w| {
            &mut w.weights
        })
        .check(move |w| match w.weights {
            Weights::Size | Weights::Classes(_) if name != name::mean_pairwise_l1 => {
                Err("only mean_pairwise_l1 takes weights".to_string())
            }
            _ => Ok(()),
        });
    Table::new(KIND, [entry])
}

impl FromStr for Objective {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let name = StrategyName::read(KIND, text)?;
        let sought =
            Sought::by_name(&name.name).map_err(|problem| name.error(KIND, problem.to_string()))?;
        let own = StrategyName { name: sought.column.name.to_string(), ..name };
        let Wanted { goal, weights } = table(sought).parse(&own)?;
        Ok(Self { sought, goal, weights })
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wanted = Wanted { goal: self.goal, weights: self.weights.clone() };
        table(self.sought).name(&wanted).fmt(f)
    }
}

impl FromStr for Weights {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let class = |part: &str| {
            let error = || {
                format!(
                    "weights: \"{part}\" is not RANGE:WEIGHT such as 2..16:1 (or write jobs, size)"
                )
            };
            let (sizes, weight) = part.split_once(':').ok_or_else(error)?;
            let weight = weight.trim().parse::<u64>().map_err(|_| error())?;
            if weight > LARGEST_WEIGHT {
                return Err(format!("weights: \"{part}\": at most {LARGEST_WEIGHT}"));
            }
            Ok((sizes.parse::<Range>().map_err(|_| error())?, weight))
        };
        match text {
            "jobs" => Ok(Weights::Jobs),
            "size" => Ok(Weights::Size),
            classes => {
                classes.split(',').map(class).collect::<Result<_, _>>().map(Weights::Classes)
            }
        }
    }
}

impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Weights::Jobs => f.write_str("jobs"),
            Weights::Size => f.write_str("size"),
            Weights::Classes(classes) => {
                let class = |(sizes, weight): &(Range, u64)| format!("{sizes}:{weight}");
                f.write_str(&classes.iter().map(class).collect::<Vec<_>>().join(","))
            }
        }
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
