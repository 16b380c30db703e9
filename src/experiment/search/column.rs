//! The columns of the table of runs that a tie vector can change.

use crate::metrics::RunMetrics;
use crate::naming::nearest;

/// What must be measured for a column.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Needs {
    /// The pairwise L1 sums alone: they only grow, so an evaluation can be stopped early.
    Pairwise,
    /// All measures of placements.
    Placements,
    /// Counts of ties: several times the cost.
    Ties,
}

/// A column of the table of runs that depends on the tie vector.
#[derive(Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Whether larger values are better.
    pub rises: bool,
    /// What it takes.
    pub needs: Needs,
    /// Its value; `None` if nothing was measured.
    pub get: fn(&RunMetrics) -> Option<f64>,
}

/// The columns that a tie vector can change.
#[rustfmt::skip]
pub static COLUMNS: [Column; 10] = [
    Column { name: "mean_pairwise_l1", rises: false, needs: Needs::Pairwise, get: |m| Some(m.mean_pairwise_l1) },
    Column { name: "total_pairwise_l1", rises: false, needs: Needs::Pairwise, get: |m| Some(m.total_pairwise_l1 as f64) },
    Column { name: "mean_diameter", rises: false, needs: Needs::Placements, get: |m| m.mean_diameter },
    Column { name: "mean_dispersal", rises: false, needs: Needs::Placements, get: |m| m.mean_dispersal },
    Column { name: "mean_weighted_dispersal", rises: false, needs: Needs::Placements, get: |m| m.mean_weighted_dispersal },
    Column { name: "mean_components", rises: false, needs: Needs::Placements, get: |m| m.mean_components },
    Column { name: "contiguous_percent", rises: true, needs: Needs::Placements, get: |m| m.contiguous_percent },
    Column { name: "tied_decisions", rises: false, needs: Needs::Ties, get: |m| m.tied_decisions.map(|n| n as f64) },
    Column { name: "tied_percent", rises: false, needs: Needs::Ties, get: |m| m.tied_percent },
    Column { name: "mean_tied", rises: false, needs: Needs::Ties, get: |m| m.mean_tied },
];

/// Numeric columns that follow from the schedule, on which an allocator that never
/// refuses has no influence.
const SCHEDULED: [&str; 15] = [
    "jobs",
    "utilization",
    "makespan",
    "mean_wait",
    "median_wait",
    "p90_wait",
    "p99_wait",
    "max_wait",
    "mean_turnaround",
    "median_turnaround",
    "p90_turnaround",
    "p99_turnaround",
    "mean_bounded_slowdown",
    "processors",
    "seed",
];

impl Column {
    /// The column of a name; `-` reads as `_`.
    ///
    /// # Errors
    /// What is wrong with the name, in words.
    pub fn by_name(name: &str) -> Result<&'static Column, String> {
        let name = name.trim().to_ascii_lowercase().replace('-', "_");
        if let Some(column) = COLUMNS.iter().find(|column| column.name == name) {
            return Ok(column);
        }
        if SCHEDULED.contains(&name.as_str()) {
            return Err("it follows from the schedule alone; no tie vector changes it".to_string());
        }
        let names = COLUMNS.iter().map(|column| column.name);
        Err(match nearest(&name, names.clone()) {
            Some(near) => format!("unknown column; did you mean \"{near}\"?"),
            None => {
                format!("unknown column; it is one of {}", names.collect::<Vec<_>>().join(", "))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_or_explained() {
        assert_eq!(Column::by_name("mean-Components").map(|c| c.name), Ok("mean_components"));
        let problem = |name| Column::by_name(name).err().unwrap_or_default();
        assert!(problem("mean_wait").contains("schedule alone"));
        assert!(problem("mean_pairwise_11").contains("did you mean \"mean_pairwise_l1\""));
        assert!(problem("zzz").contains("one of mean_pairwise_l1, total"));
    }

    #[test]
    fn every_column_of_runs_is_known() {
        let job =
            crate::workload::Job { number: 0, submit: 0, run: 1, estimate: 1, size: 1, line: 0 };
        let schedule = crate::metrics::ScheduleMetrics::new(&[job], &[0], 1);
        let metrics = RunMetrics::new(&schedule, 0, &Default::default(), None, None);
        let value = serde_json::to_value(&metrics).expect("JSON");
        // What is measured of allocators that refuse says nothing of tie vectors.
        for name in value.as_object().expect("an object").keys().filter(|name| *name != "system") {
            let known = COLUMNS.iter().any(|column| column.name == name);
            assert!(known || SCHEDULED.contains(&name.as_str()), "{name}");
        }
    }
}
