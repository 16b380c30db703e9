//! Two winners of searches, one that may know estimates and one that does not, judged on jobs that no search saw.

use std::fmt::Display;

use super::Source;
use crate::search::{Goal, improvement_percent};
use replay_core::table::Column;
use replay_core::workload::Job;

/// Gain below which the idea has not helped, in percent.
const WORTH: f64 = 1.0;

/// What a search of some kind finds.
pub trait Winner: Display {
    /// Whether it goes by estimates.
    fn knows(&self) -> bool;
}

/// What one source of estimates comes to on one trace. Of each pair the first is with estimates,
/// the second without.
#[derive(Clone, Debug)]
pub struct Outcome<W> {
    /// The trace.
    pub trace: String,
    /// The machine.
    pub machine: String,
    /// The scheduler.
    pub scheduler: String,
    /// Where estimates come from.
    pub source: Source,
    /// Share of all jobs that have one, in percent.
    pub known_percent: f64,
    /// Evaluations of each search.
    pub evaluations: u64,
    /// The best of all, and the best that knows no estimates.
    pub winners: [W; 2],
    /// What is compared, the less the better, on the first half.
    pub first: [f64; 2],
    /// The same of the second half's jobs.
    pub second: [f64; 2],
    /// Jobs of the second half.
    pub jobs: usize,
    /// What estimates gain on the second half, in percent: low, high.
    pub interval: [f64; 2],
    /// How many blocks the interval is drawn from, and their length in days.
    pub blocks: (usize, u32),
}

impl<W: Winner> Outcome<W> {
    /// What estimates gain on the first half, in percent of what there is without.
    pub fn first_gain(&self) -> f64 {
        improvement_percent(Goal::Min, self.first[1], self.first[0])
    }

    /// The same on the second half.
    pub fn second_gain(&self) -> f64 {
        improvement_percent(Goal::Min, self.second[1], self.second[0])
    }

    /// Whether estimates help: the winner knows them, it is at least 1 % better, and the interval is above
    /// 0. A winner that knows none owes its gain to the search. `None` without an interval.
    pub fn helps(&self) -> Option<bool> {
        judged(self.winners[0].knows(), self.second_gain(), self.interval)
    }

    /// The same as a cell of a table: `yes` or `no`.
    pub fn helps_in_words(&self) -> Option<String> {
        self.helps().map(|helps| if helps { "yes" } else { "no" }.to_string())
    }
}

/// Whether estimates help that the winner `knows`, and that gain so much on the second half.
pub(super) fn judged(knows: bool, gain: f64, interval: [f64; 2]) -> Option<bool> {
    interval[0].is_finite().then_some(knows && gain >= WORTH && interval[0] > 0.0)
}

/// A row that says an outcome, and more.
pub trait Judged: Sized + 'static {
    /// What was searched.
    type Winner: Winner;

    /// What it says.
    fn outcome(&self) -> &Outcome<Self::Winner>;
}

/// Share of jobs that have an estimate, in percent.
pub fn known_percent(jobs: &[Job]) -> f64 {
    let known = jobs.iter().filter(|job| job.limit.is_some()).count();
    100.0 * known as f64 / jobs.len() as f64
}

type C<Row> = Column<Row>;

/// Columns that say what was studied.
pub fn columns_of_the_scene<Row: Judged>() -> Vec<C<Row>> {
    vec![
        C::text("trace", "trace: its file name without .swf and .gz", |r: &Row| {
            Some(&r.outcome().trace)
        }),
        C::text("topology", "machine, such as 10x10", |r: &Row| Some(&r.outcome().machine)),
        C::text("scheduler", "scheduler", |r: &Row| Some(&r.outcome().scheduler)),
    ]
}

/// Columns about the estimates and the searches.
#[rustfmt::skip]
pub fn columns_of_the_search<Row: Judged>() -> Vec<C<Row>> {
    vec![
        C::text("estimates_from", "who says when jobs end: log; oracle, the run times; shuffled, another job of the same size; modelled", |r: &Row| Some(r.outcome().source.name())),
        C::new("known_percent", "%", "share of the jobs that have an estimate", |r: &Row| r.outcome().known_percent),
        C::new("search_evaluations", "evaluations", "of each of the two searches", |r: &Row| r.outcome().evaluations),
    ]
}

/// Columns about the second half and its blocks.
pub fn columns_of_the_blocks<Row: Judged>() -> Vec<C<Row>> {
    vec![
        C::new("second_half_jobs", "jobs", "jobs of the second half", |r: &Row| r.outcome().jobs),
        C::new("time_blocks", "", "blocks of submission time behind the interval", |r: &Row| {
            r.outcome().blocks.0
        }),
        C::new("block_days", "d", "length of a block", |r: &Row| r.outcome().blocks.1),
    ]
}
