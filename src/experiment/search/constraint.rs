//! What a found vector must not do.
//!
//! ```text
//! constraint = SUBJECT<=PERCENT
//! SUBJECT    = worst-class | worst-class[jobs=N,sizes=A..B] | COLUMN
//! ```
//!
//! A subject is how much worse something is than without tie-breaking, in percent; below
//! 0 it is better. `worst-class` is the job size whose mean pairwise L1 worsens most,
//! among those with at least N jobs (default 1) and within the range; one-processor and
//! whole-machine jobs never change. A `COLUMN` is one of those an objective may name.

use std::fmt;
use std::str::FromStr;

use super::column::{Needs, NotSought, Sought};
use super::space::Range;
use crate::naming::{NameError, StrategyName};

const KIND: &str = "constraint";

/// A limit on how much something may worsen.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// What.
    pub subject: Subject,
    /// By how many percent at most.
    pub most_percent: f64,
}

/// What a [`Constraint`] is about.
#[derive(Clone, Debug)]
pub enum Subject {
    /// The most worsened job size among those with so many jobs and of such sizes.
    WorstClass {
        /// Least number of jobs of the size.
        jobs: u64,
        /// Sizes that count.
        sizes: Range,
    },
    /// A column of the table of runs.
    Column(&'static Sought),
}

const ALL_SIZES: Range = Range { low: 1, high: u32::MAX };

impl Constraint {
    /// What must be measured for it.
    pub fn needs(&self) -> Needs {
        match self.subject {
            Subject::WorstClass { .. } => Needs::Pairwise,
            Subject::Column(sought) => sought.needs,
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
        let name: StrategyName =
            subject.parse().map_err(|e: NameError| NameError { kind: KIND, ..e })?;
        let subject = if name.name == "worst-class" {
            name.expect_keys(KIND, &["jobs", "sizes"])?;
            Subject::WorstClass {
                jobs: name.value(KIND, "jobs", 1)?,
                sizes: name.value(KIND, "sizes", ALL_SIZES)?,
            }
        } else {
            name.expect_keys(KIND, &[])?;
            let problem = |problem| match problem {
                NotSought::Unknown => {
                    let names: Vec<_> = Sought::names().collect();
                    format!("unknown subject; it is worst-class or one of {}", names.join(", "))
                }
                problem => problem.to_string(),
            };
            let sought = Sought::by_name(&name.name);
            Subject::Column(sought.map_err(|e| name.error(KIND, problem(e)))?)
        };
        Ok(Self { subject, most_percent })
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.subject {
            Subject::Column(sought) => StrategyName::plain(sought.column.name),
            Subject::WorstClass { jobs, sizes } => {
                let mut name = StrategyName::plain("worst-class");
                if jobs > 1 {
                    name.set("jobs", jobs.to_string());
                }
                if sizes != ALL_SIZES {
                    name.set("sizes", sizes.to_string());
                }
                name
            }
        };
        write!(f, "{name}<={}", self.most_percent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn print_and_parse_are_inverse() {
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
    fn what_cannot_be_is_refused() {
        for (text, words) in [
            ("worst-class", "write SUBJECT<=PERCENT"),
            ("worst-class<=much", "write SUBJECT<=PERCENT"),
            ("worst-class<=inf", "write SUBJECT<=PERCENT"),
            ("worst-class[job=3]<=1", "did you mean \"jobs\""),
            ("worst-class[sizes=9..2]<=1", "range \"9..2\""),
            ("zzz<=1", "it is worst-class or one of mean_pairwise_l1"),
            ("mean_wait<=1", "schedule alone"),
        ] {
            let error = text.parse::<Constraint>().expect_err(text).to_string();
            assert!(error.contains(words) && error.starts_with("constraint"), "{error}");
        }
    }
}
