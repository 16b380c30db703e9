//! Jobs that an allocator never places because of their size. Skipped jobs are reported when all runs are done.

use std::collections::BTreeMap;

use super::exit::eprint_warning;
use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::naming::Registry;
use replay_engine::number::{counted, grouped};
use replay_engine::registries::Registries;
use replay_engine::workload::Notation;
use replay_experiment::explained::steps::steps;
use replay_experiment::{Cell, LeftOutJob, RejectedSize, RejectedSizes, RunKey, left_out_job};

/// Advice about jobs that are skipped by a strategy with the parameter `fit`.
const FIT: &str = "fit=up gives a job the next larger box, if there is one";

/// Advice about jobs that are skipped by a rule of trees and blocks.
const RULE: &str =
    "replay check-topology --alloc lists the sizes without a placement on the idle machine";

/// Maximum number of lines of the report.
const LINES: usize = 10;

/// Returns a message with the reason why the job with this number received no processors in a run.
pub fn why_not_started(cell: &Cell, number: i64, notation: &Notation) -> String {
    let name = &cell.trace.workload.name;
    let job = notation.job(number);
    match left_out_job(cell, number) {
        Some(LeftOutJob { size, explanation }) if cell.trace.topology.hierarchy().is_some() => {
            let parts: Vec<_> = explanation.into_iter().map(|part| ("allocator", part)).collect();
            let steps = steps(&parts);
            let mut lines: Vec<&str> =
                steps.iter().take(LINES).map(|step| &step.text[..]).collect();
            let more = steps.len().saturating_sub(LINES);
            let more = format!("and {} more", counted(more as u64, "line"));
            lines.extend((steps.len() > LINES).then_some(&more[..]));
            format!(
                "--job {job}: {} leaves out this job of {name}: the rule has no placement for {} on the idle machine:\n  {}",
                cell.key().strategy(),
                counted(u64::from(size), "node"),
                lines.join("\n  "),
            )
        }
        Some(LeftOutJob { size, .. }) => format!(
            "--job {job}: {} leaves out this job of {name}: no permitted box has the size of the job, {} ({FIT})",
            cell.key().strategy(),
            grouped(size),
        ),
        None => {
            format!(
                "--job {job}: in {name}, no job has this number, or the job received no processors"
            )
        }
    }
}

/// Names of the strategies that skip jobs; the key consists of the trace and machine, the skipped sizes, and the
/// advice.
pub struct SkippedJobs {
    allocators: Registry<AllocatorSpec>,
    names: BTreeMap<(String, String, &'static str), Vec<String>>,
}

impl SkippedJobs {
    /// Creates an empty list; `registries` contains the allocators of the runs.
    pub fn new(registries: &Registries) -> Self {
        Self { allocators: registries.allocators.clone(), names: BTreeMap::new() }
    }

    /// Adds the jobs that a run skipped. Runs on perturbed copies skip the same jobs as the run on the trace and are
    /// not added.
    pub fn add(&mut self, key: &RunKey, away: &[RejectedSize]) {
        if away.is_empty() || key.copy > 0 {
            return;
        }
        let place = format!("{} on {}", key.trace, key.topology);
        let sizes = RejectedSizes(away).to_string();
        let spec = self.allocators.read(&key.allocator);
        let advice = if spec.is_ok_and(|spec| spec.has_parameter("fit")) { FIT } else { RULE };
        let strategies = self.names.entry((place, sizes, advice)).or_default();
        let strategy = key.strategy();
        if !strategies.contains(&strategy) {
            strategies.push(strategy);
        }
    }

    /// Prints the skipped jobs on standard error.
    pub fn report(&self) {
        for ((place, sizes, advice), strategies) in self.names.iter().take(LINES) {
            let strategies = match &strategies[..] {
                [one] => one.clone(),
                [one, others @ ..] => format!("{one} and {} more", others.len()),
                [] => continue,
            };
            eprint_warning(format_args!("{place}, {strategies}: left out {sizes} ({advice})"));
        }
        if let more @ 1.. = self.names.len().saturating_sub(LINES) {
            eprint_warning(format_args!(
                "and {more} more; the column no_such_size_jobs counts the jobs left out"
            ));
        }
    }
}
