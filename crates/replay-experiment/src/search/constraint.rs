//! Constraints on tie vectors.
//!
//! ```text
//! constraint = SUBJECT<=PERCENT
//! SUBJECT    = worst-class | worst-class[jobs=N,sizes=A..B] | COLUMN
//! ```
//!
//! The subject of a constraint measures by how many percent a quantity worsens, compared with a replay without
//! tie-breaking. Negative values are improvements. `worst-class` is the largest increase of mean pairwise L1 among the
//! job sizes that are in the range A..B and have at least N jobs (default 1). The pairwise L1 of jobs of one processor,
//! and of jobs of the whole machine, never changes. `COLUMN` is a column that can also be an objective.

use std::fmt;
use std::str::FromStr;

use super::column::{Needs, SearchColumn, SearchColumnError};
use super::space::Range;
use replay_engine::naming::{Entry, NameError, StrategyName, Table, advice, kind};

const KIND: &str = "constraint";

/// Upper limit on the worsening of a quantity.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// Constrained quantity.
    pub subject: Subject,
    /// Largest allowed increase of the measure, in percent.
    pub most_percent: f64,
}

/// Quantity of a [`Constraint`].
#[derive(Clone, Debug)]
pub enum Subject {
    /// The job size with the largest worsening, among the sizes in the range that have enough jobs.
    WorstClass {
        /// Smallest number of jobs that a size must have.
        jobs: u64,
        /// Job sizes that are considered.
        sizes: Range,
    },
    /// A column of the table of runs.
    Column(&'static SearchColumn),
}

const WORST_CLASS: &str = "worst-class";

fn worst_class() -> Table<(u64, Range)> {
    let all_sizes = Range { low: 1, high: u32::MAX };
    let entry = Entry::new(WORST_CLASS, (1, all_sizes))
        .param(
            "jobs",
            kind::integer(0..=u64::MAX),
            "minimum number of jobs of a size that is considered",
            |c| &mut c.0,
        )
        .param("sizes", kind::typed("A..B"), "job sizes considered, in processors", |c| &mut c.1);
    Table::new(KIND, [entry])
}

impl Constraint {
    /// Returns the measurements that the constraint requires.
    pub fn needs(&self) -> Needs {
        match self.subject {
            Subject::WorstClass { .. } => Needs::Pairwise,
            Subject::Column(search_column) => search_column.needs,
        }
    }
}

impl FromStr for Constraint {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let error = |problem: &str| NameError {
            kind: KIND,
            text: text.to_string(),
            problem: problem.to_string(),
        };
        let form = "write SUBJECT<=PERCENT such as worst-class[jobs=20]<=1";
        let (subject, percent) = text.split_once("<=").ok_or_else(|| error(form))?;
        let percent = percent.trim().trim_end_matches('%').trim_end().parse::<f64>();
        let most_percent = percent.ok().filter(|p| p.is_finite()).ok_or_else(|| error(form))?;
        let name = StrategyName::read(KIND, subject)?;
        let subject = if name.name == WORST_CLASS {
            let (jobs, sizes) = worst_class().parse(&name)?;
            Subject::WorstClass { jobs, sizes }
        } else {
            let problem = |problem| match problem {
                SearchColumnError::Unknown => {
                    let names = || std::iter::once(WORST_CLASS).chain(SearchColumn::names());
                    let known =
                        || format!("the subjects are {}", names().collect::<Vec<_>>().join(", "));
                    format!("unknown subject; {}", advice(&name.name, names(), known))
                }
                problem => problem.to_string(),
            };
            let search_column = SearchColumn::by_name(&name.name);
            let search_column = search_column.map_err(|e| name.error(KIND, problem(e)))?;
            // Columns have no parameters.
            Table::new(KIND, [Entry::new(&name.name[..], ())]).parse(&name)?;
            Subject::Column(search_column)
        };
        Ok(Self { subject, most_percent })
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.subject {
            Subject::Column(search_column) => StrategyName::plain(search_column.column.name.text()),
            Subject::WorstClass { jobs, sizes } => worst_class().name(&(jobs, sizes)),
        };
        write!(f, "{name}<={}", self.most_percent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formatting_and_parsing_are_inverse() {
        for text in [
            "worst-class<=0",
            "worst-class[jobs=20]<=1",
            "worst-class[jobs=5,sizes=2..16]<=-0.5",
            "mean_components<=2.5",
        ] {
            assert_eq!(text.parse::<Constraint>().map(|c| c.to_string()).as_deref(), Ok(text));
        }
        let percent = "worst_class[jobs=20] <= 1 %".parse::<Constraint>().map(|c| c.to_string());
        assert_eq!(percent.as_deref(), Ok("worst-class[jobs=20]<=1"));
    }

    #[test]
    fn rejects_invalid_constraints() {
        for (text, words) in [
            ("worst-class", "write SUBJECT<=PERCENT"),
            ("worst-class<=much", "write SUBJECT<=PERCENT"),
            ("worst-class<=inf", "write SUBJECT<=PERCENT"),
            ("worst-class[job=3]<=1", "did you mean \"jobs\""),
            ("worst-class[sizes=9..2]<=1", "range \"9..2\""),
            ("zzz<=1", "the subjects are worst-class, mean_pairwise_l1"),
            ("mean_wait<=1", "schedule alone"),
        ] {
            let error = text.parse::<Constraint>().expect_err(text).to_string();
            assert!(error.contains(words) && error.starts_with("constraint"), "{error}");
        }
    }
}
