//! Jobs of sizes for which an allocator has no box. These jobs are reported when all runs are done.

use std::collections::BTreeMap;

use super::exit::eprint_line;
use replay_core::number::grouped;
use replay_experiment::{Cell, RejectedSize, RejectedSizes, RunKey, size_left_out};

/// Advice about skipped jobs.
const HELP: &str = "fit=up gives a job the next larger box, if there is one";

/// Maximum number of lines of the report.
const LINES: usize = 10;

/// Returns a message that the job with this number received no processors in a run, and the reason.
pub fn why_not_started(cell: &Cell, number: i64) -> String {
    let name = &cell.trace.workload.name;
    match size_left_out(cell, number) {
        Some(size) => format!(
            "--job {number}: {} leaves out this job of {name}: no permitted box has the size of the job, {} ({HELP})",
            cell.key().strategy(),
            grouped(size),
        ),
        None => {
            format!("--job {number}: no job of {name} has this number and received processors")
        }
    }
}

/// Descriptions of skipped jobs, by trace, machine and sizes, with the strategies that skip them.
#[derive(Debug, Default)]
pub struct SkippedJobs(BTreeMap<(String, String), Vec<String>>);

impl SkippedJobs {
    /// Adds the jobs that a run skipped. Runs on perturbed copies skip the same jobs as the run on the trace and are
    /// not added.
    pub fn add(&mut self, key: &RunKey, away: &[RejectedSize]) {
        if away.is_empty() || key.copy > 0 {
            return;
        }
        let place = format!("{} on {}", key.trace, key.topology);
        let strategies = self.0.entry((place, RejectedSizes(away).to_string())).or_default();
        let strategy = key.strategy();
        if !strategies.contains(&strategy) {
            strategies.push(strategy);
        }
    }

    /// Prints the skipped jobs on standard error.
    pub fn report(&self) {
        for ((place, sizes), strategies) in self.0.iter().take(LINES) {
            let strategies = match &strategies[..] {
                [one] => one.clone(),
                [one, others @ ..] => format!("{one} and {} more", others.len()),
                [] => continue,
            };
            eprint_line(format_args!("{place}, {strategies}: left out {sizes} ({HELP})"));
        }
        if let more @ 1.. = self.0.len().saturating_sub(LINES) {
            eprint_line(format_args!("and {more} more; the column no_such_size_jobs counts them"));
        }
    }
}
