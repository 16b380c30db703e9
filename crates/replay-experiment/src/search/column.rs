//! The columns of the table of runs that a tie vector can change.

use std::sync::LazyLock;

pub use replay_core::metrics::run::Needs;

use crate::RunResult;
use replay_core::metrics::{RunMetrics, SystemMetrics};
use replay_core::naming::nearest;
use replay_core::table::{Column, Table};

/// A column that can be sought or constrained.
#[derive(Debug)]
pub struct Sought {
    /// The column.
    pub column: Column<RunMetrics>,
    /// What must be measured for it.
    pub needs: Needs,
}

/// The columns that a tie vector can change.
static SOUGHT: LazyLock<Vec<Sought>> = LazyLock::new(|| {
    let groups = RunMetrics::groups().into_iter();
    let groups = groups.filter(|(needs, _)| !matches!(needs, Needs::Schedule | Needs::System));
    let sought = groups.flat_map(|(needs, columns)| {
        columns.into_iter().map(move |column| Sought { column, needs })
    });
    sought.collect()
});

/// Why a name is that of no column that can be sought.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotSought {
    /// The column depends on the schedule.
    #[error("it follows from the schedule alone; no tie vector changes it")]
    Scheduled,
    /// The column is about other strategies.
    #[error("only strategies that may refuse or hand out units have it")]
    System,
    /// There is no such column, but one like it.
    #[error("unknown column; did you mean \"{0}\"?")]
    Misspelt(&'static str),
    /// There is no such column.
    #[error("unknown column; it is one of {}", Sought::names().collect::<Vec<_>>().join(", "))]
    Unknown,
}

impl Sought {
    /// The names of all.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        SOUGHT.iter().map(|sought| sought.column.name.text())
    }

    /// The column of a name; `-` reads as `_`.
    ///
    /// # Errors
    /// [`NotSought`].
    pub fn by_name(name: &str) -> Result<&'static Self, NotSought> {
        let name = name.trim().to_ascii_lowercase().replace('-', "_");
        if let Some(sought) = SOUGHT.iter().find(|sought| sought.column.name == name) {
            return Ok(sought);
        }
        let system = SystemMetrics::columns().iter().any(|column| column.name == name);
        let number = |column: &Column<RunResult>| column.name == name && column.kind().is_number();
        Err(match nearest(&name, Self::names()) {
            _ if system => NotSought::System,
            _ if RunResult::columns().iter().any(number) => NotSought::Scheduled,
            Some(near) => NotSought::Misspelt(near),
            None => NotSought::Unknown,
        })
    }

    /// Its value; `None` if it was not measured.
    pub fn value(&self, metrics: &RunMetrics) -> Option<f64> {
        self.column.value(metrics).number()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_or_explained() {
        let name = Sought::by_name("mean-Components").map(|sought| sought.column.name.text());
        assert_eq!(name, Ok("mean_components"));
        let problem = |name| {
            Sought::by_name(name).err().map(|problem| problem.to_string()).unwrap_or_default()
        };
        for scheduled in ["mean_wait", "utilization", "jobs", "processors", "seed"] {
            assert!(problem(scheduled).contains("schedule alone"), "{scheduled}");
        }
        assert!(problem("refusals").contains("may refuse"));
        assert!(problem("mean_pairwise_11").contains("did you mean \"mean_pairwise_l1\""));
        assert!(problem("zzz").contains("one of mean_pairwise_l1, total"));
    }

    #[test]
    fn only_what_is_better_when_larger_rises() {
        let rising: Vec<_> =
            SOUGHT.iter().map(|s| &s.column).filter(|c| c.rises).map(|c| c.name).collect();
        assert_eq!(rising, ["contiguous_percent"]);
    }
}
