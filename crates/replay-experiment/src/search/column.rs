//! Columns of the table of runs that depend on the tie vector.

use std::sync::LazyLock;

pub use replay_engine::metrics::Needs;

use crate::RunResult;
use replay_engine::metrics::{RunMetrics, SystemMetrics};
use replay_engine::naming::nearest;
use replay_engine::table::{Column, Table};

/// A column that can be an objective or a constraint.
#[derive(Debug)]
pub struct SearchColumn {
    /// The column.
    pub column: Column<RunMetrics>,
    /// Measurements required for the column.
    pub needs: Needs,
}

/// All columns with values that depend on the tie vector.
static SOUGHT: LazyLock<Vec<SearchColumn>> = LazyLock::new(|| {
    let groups = RunMetrics::groups().into_iter();
    let groups = groups.filter(|(needs, _)| !matches!(needs, Needs::Schedule | Needs::System));
    let search_column = groups.flat_map(|(needs, columns)| {
        columns.into_iter().map(move |column| SearchColumn { column, needs })
    });
    search_column.collect()
});

/// Error from looking up a column that cannot be searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SearchColumnError {
    /// The column depends only on the schedule.
    #[error("the column depends on the schedule alone, so tie vectors do not affect the column")]
    Scheduled,
    /// Only strategies without a tie vector have the column.
    #[error("only strategies that may refuse jobs or allocate units provide this column")]
    System,
    /// The column is unknown, but a column with a similar name exists.
    #[error("unknown column; did you mean \"{0}\"?")]
    Misspelt(&'static str),
    /// The column is unknown.
    #[error("unknown column; the columns are {}", SearchColumn::names().collect::<Vec<_>>().join(", "))]
    Unknown,
}

impl SearchColumn {
    /// Names of all columns.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        SOUGHT.iter().map(|search_column| search_column.column.name.text())
    }

    /// Looks up a column by name. A `-` in the name is read as `_`.
    ///
    /// # Errors
    /// [`SearchColumnError`] with the reason if the column cannot be searched.
    pub fn by_name(name: &str) -> Result<&'static Self, SearchColumnError> {
        let name = name.trim().to_ascii_lowercase().replace('-', "_");
        if let Some(search_column) =
            SOUGHT.iter().find(|search_column| search_column.column.name.text() == name)
        {
            return Ok(search_column);
        }
        let system = SystemMetrics::columns().iter().any(|column| column.name.text() == name);
        let number =
            |column: &Column<RunResult>| column.name.text() == name && column.kind().is_number();
        Err(match nearest(&name, Self::names()) {
            _ if system => SearchColumnError::System,
            _ if RunResult::columns().iter().any(number) => SearchColumnError::Scheduled,
            Some(near) => SearchColumnError::Misspelt(near),
            None => SearchColumnError::Unknown,
        })
    }

    /// Returns the value of the column; `None` if it was not measured.
    pub fn value(&self, metrics: &RunMetrics) -> Option<f64> {
        self.column.value(metrics).number()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use replay_engine::metrics::HierarchyMetrics;
    use replay_engine::metrics::PlacementMetrics;

    #[test]
    fn finds_names_or_explains_the_error() {
        let name = SearchColumn::by_name("mean-Components")
            .map(|search_column| search_column.column.name.text());
        assert_eq!(name, Ok("mean_components"));
        let problem = |name| {
            SearchColumn::by_name(name).err().map(|problem| problem.to_string()).unwrap_or_default()
        };
        for scheduled in ["mean_wait", "utilization", "jobs", "processors", "seed"] {
            assert!(problem(scheduled).contains("schedule alone"), "{scheduled}");
        }
        assert!(problem("refusals").contains("may refuse"));
        assert!(problem("mean_pairwise_11").contains("did you mean \"mean_pairwise_l1\""));
        assert!(problem("zzz").contains("the columns are mean_pairwise_l1, total"));
    }

    #[test]
    fn shares_in_one_place_improve_when_larger() {
        let rising: Vec<_> =
            SOUGHT.iter().map(|s| &s.column).filter(|c| c.rises).map(|c| c.name).collect();
        assert_eq!(
            rising,
            [
                PlacementMetrics::contiguous_percent,
                HierarchyMetrics::one_leaf_percent,
                HierarchyMetrics::one_leaf_fitting_percent
            ]
        );
    }
}
