//! Objective of a search.
//!
//! ```text
//! objective = COLUMN | COLUMN[goal=min|max,weights=jobs|size|CLASSES]
//! CLASSES   = RANGE:WEIGHT,RANGE:WEIGHT,...      RANGE = A..B or A, in processors
//! ```
//!
//! Weights apply to the jobs over which the mean `mean_pairwise_l1` is computed. The weight of a job is 1 (`jobs`), its
//! number of processors (`size`), or the weight of its size class. If several classes contain a size, the first of
//! these classes applies. If no class contains a size, jobs of this size have weight 0.

use std::fmt;
use std::str::FromStr;

use super::column::{Needs, SearchColumn};
use super::space::Range;
use replay_engine::metrics::PairwiseMetrics;
use replay_engine::naming::{Entry, NameError, StrategyName, Table, kind};

const KIND: &str = "objective";
/// Largest weight of a class.
const LARGEST_WEIGHT: u64 = 1_000_000;

/// Direction of optimization.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// Small values are better.
    Min,
    /// Large values are better.
    Max,
}

impl Goal {
    const ALL: [(&'static str, Goal); 2] = [("min", Goal::Min), ("max", Goal::Max)];

    fn usual(search_column: &SearchColumn) -> Self {
        if search_column.column.rises { Goal::Max } else { Goal::Min }
    }
}

/// Weights of jobs in the mean.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Weights {
    /// All jobs have weight 1.
    Jobs,
    /// The weight is the number of processors.
    Size,
    /// The weight of a job is the weight of the first class that contains its size; 0 if no class contains the size.
    Classes(Vec<(Range, u64)>),
}

impl Weights {
    /// Returns the weight of a job with this size.
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

/// The objective of a search: a column of the table of runs, the direction of optimization, and the weights of jobs.
#[derive(Clone, Debug)]
pub struct Objective {
    /// The column.
    pub search_column: &'static SearchColumn,
    /// Direction of optimization.
    pub goal: Goal,
    /// Weights of jobs. For all columns except `mean_pairwise_l1`, the weights are [`Weights::Jobs`].
    pub weights: Weights,
}

impl Objective {
    /// Returns whether the objective is to minimize the weighted sum of the pairwise L1 distances of the jobs. The
    /// weighted sum of the pairwise L1 distances cannot decrease as further decisions are replayed.
    pub fn is_monotonic(&self) -> bool {
        self.search_column.needs == Needs::Pairwise && self.goal == Goal::Min
    }
}

/// Parameters of an objective.
#[derive(Clone, PartialEq)]
struct Parameters {
    goal: Goal,
    weights: Weights,
}

fn table(search_column: &'static SearchColumn) -> Table<Parameters> {
    let name = search_column.column.name;
    let usual = Parameters { goal: Goal::usual(search_column), weights: Weights::Jobs };
    let entry = Entry::new(name.text(), usual)
        .param("goal", kind::one_of(&Goal::ALL), "whether small or large values are better", |w| {
            &mut w.goal
        })
        .param("weights", kind::parsed("jobs|size|A..B:WEIGHT,..."), "weight of a job", |w| {
            &mut w.weights
        })
        .check(move |w| match w.weights {
            Weights::Size | Weights::Classes(_) if name != PairwiseMetrics::mean_pairwise_l1 => {
                Err("only mean_pairwise_l1 supports weights".to_string())
            }
            _ => Ok(()),
        });
    Table::new(KIND, [entry])
}

impl FromStr for Objective {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let name = StrategyName::read(KIND, text)?;
        let search_column = SearchColumn::by_name(&name.name)
            .map_err(|problem| name.error(KIND, problem.to_string()))?;
        let own = StrategyName { name: search_column.column.name.to_string(), ..name };
        let Parameters { goal, weights } = table(search_column).parse(&own)?;
        Ok(Self { search_column, goal, weights })
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters = Parameters { goal: self.goal, weights: self.weights.clone() };
        table(self.search_column).name(&parameters).fmt(f)
    }
}

impl FromStr for Weights {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let class = |part: &str| {
            let error = || {
                format!(
                    "weights: \"{part}\" is not RANGE:WEIGHT; write, for example, 2..16:1, or one of the words jobs and size"
                )
            };
            let (sizes, weight) = part.split_once(':').ok_or_else(error)?;
            let weight = weight.trim().parse::<u64>().map_err(|_| error())?;
            if weight > LARGEST_WEIGHT {
                return Err(format!(
                    "weights: \"{part}\": the weight must be at most {LARGEST_WEIGHT}"
                ));
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
    fn formatting_and_parsing_are_inverse() {
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
    fn the_first_matching_class_applies() {
        let weights = objective("mean_pairwise_l1[weights=2..16:3,10..100:1]").weights;
        assert_eq!([1, 2, 16, 17, 101].map(|size| weights.of(size)), [0, 3, 3, 1, 0]);
        assert_eq!(objective("mean_pairwise_l1[weights=size]").weights.of(7), 7);
    }

    #[test]
    fn only_minimized_pairwise_sums_grow_monotonically() {
        let grows = |text| objective(text).is_monotonic();
        assert!(grows("mean_pairwise_l1") && grows("total_pairwise_l1"));
        assert!(!grows("mean_pairwise_l1[goal=max]") && !grows("mean_components"));
    }

    #[test]
    fn rejects_invalid_objectives() {
        for (text, words) in [
            ("", "empty"),
            ("mean_wait", "schedule alone"),
            ("mean_pairwise_l1[weight=size]", "did you mean \"weights\""),
            ("mean_pairwise_l1[goal=least]", "not one of min, max"),
            ("mean_pairwise_l1[weights=2..16]", "RANGE:WEIGHT"),
            ("mean_pairwise_l1[weights=2..16:9999999]", "at most 1000000"),
            ("mean_components[weights=size]", "only mean_pairwise_l1"),
        ] {
            let error = text.parse::<Objective>().expect_err(text).to_string();
            assert!(error.contains(words) && error.starts_with("objective"), "{error}");
        }
    }
}
