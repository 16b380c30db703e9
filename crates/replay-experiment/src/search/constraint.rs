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
use replay_core::naming::{Entry, NameError, StrategyName, Table, advice, kind};

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

const WORST_CLASS: &str = "worst-class";

fn worst_class() -> Table<(u64, Range)> {
    let all_sizes = Range { low: 1, high: u32::MAX };
    let entry = Entry::new(WORST_CLASS, (1, all_sizes))
        .param("jobs", kind::integer(0..=u64::MAX), "least number of jobs of the size", |c| {
            &mut c.0
        })
        .param("sizes", kind::typed("A..B"), "sizes that count, processors", |c| &mut c.1);
    Table::new(KIND, [entry])
}

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
        let name = StrategyName::read(KIND, subject)?;
        let subject = if name.name == WORST_CLASS {
            let (jobs, sizes) = worst_class().parse(&name)?;
            Subject::WorstClass { jobs, sizes }
        } else {
            let problem = |problem| match problem {
                NotSought::Unknown => {
                    let names = || std::iter::once(WORST_CLASS).chain(Sought::names());
                    let known =
                        || format!("it is one of {}", names().collect::<Vec<_>>().join(", "));
                    format!("unknown subject; {}", advice(&name.name, names(), known))
                }
                problem => problem.to_string(),
            };
            let sought = Sought::by_name(&name.name);
            let sought = sought.map_err(|e| name.error(KIND, problem(e)))?;
            // A column can be told nothing.
            Table::new(KIND, [Entry::new(&name.name[..], ())]).parse(&name)?;
            Subject::Column(sought)
        };
        Ok(Self { subject, most_percent })
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.subject {
            Subject::Column(sought) => StrategyName::plain(&sought.column.name),
            Subject::WorstClass { jobs, sizes } => worst_class().name(&(jobs, sizes)),
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
            ("zzz<=1", "it is one of worst-class, mean_pairwise_l1"),
            ("mean_wait<=1", "schedule alone"),
        ] {
            let error = text.parse::<Constraint>().expect_err(text).to_string();
            assert!(error.contains(words) && error.starts_with("constraint"), "{error}");
        }
    }
}
