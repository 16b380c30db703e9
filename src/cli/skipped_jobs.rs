//! Jobs that runs left out, told when all runs are done.

use std::collections::BTreeMap;

use super::exit::tell;
use replay_core::number::grouped;
use replay_experiment::{Cell, RejectedSize, RejectedSizes, RunKey, size_left_out};

/// What helps those who are left out.
const HELP: &str = "fit=up gives a job the next larger box, if there is one";

/// So many lines are told.
const TOLD: usize = 10;

/// Why no job of this number was given processors in a run.
pub fn why_nobody(cell: &Cell, number: i64) -> String {
    let name = &cell.trace.workload.name;
    match size_left_out(cell, number) {
        Some(size) => format!(
            "--job {number}: {} leaves out this job of {name}, for no box is for its size, {} ({HELP})",
            cell.key().strategy(),
            grouped(size),
        ),
        None => {
            format!("--job {number}: no job of {name} has this number and was given processors")
        }
    }
}

/// What runs left out: in words, by where and what, with the strategies of which it is true.
#[derive(Debug, Default)]
pub struct LeftOut(BTreeMap<(String, String), Vec<String>>);

impl LeftOut {
    /// Takes in whom a run turned away. Shaken copies leave out what the trace itself does.
    pub fn take(&mut self, key: &RunKey, away: &[RejectedSize]) {
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

    /// Says what was left out.
    pub fn tell(&self) {
        for ((place, what), strategies) in self.0.iter().take(TOLD) {
            let strategies = match &strategies[..] {
                [one] => one.clone(),
                [one, others @ ..] => format!("{one} and {} more", others.len()),
                [] => continue,
            };
            tell(format_args!("{place}, {strategies}: left out {what} ({HELP})"));
        }
        if let more @ 1.. = self.0.len().saturating_sub(TOLD) {
            tell(format_args!("and {more} more; the column no_such_size_jobs counts them"));
        }
    }
}
