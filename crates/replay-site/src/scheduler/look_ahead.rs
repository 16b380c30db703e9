//! When and where a job could run if running jobs end at their time limits (`job_test.c:_will_run_test`,
//! `_future_run_test`).
//!
//! Ends within one to two half minutes, and later ends within doubling spans, are seen together. The nodes chosen may
//! therefore be those of a job that ends later than necessary.

use super::{Controller, JobState, RunningJob};
use crate::node_set::NodeSet;

/// First span, in seconds, within which ends are seen together.
const SPAN: i64 = 30;

/// A question of the backfill.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Number of nodes.
    pub size: u32,
    /// Nodes that the job may use.
    pub allowed: &'a NodeSet,
    /// The present instant.
    pub now: i64,
    /// Earliest start.
    pub from: i64,
    /// Running jobs that end later are not considered; `None` for no such bound.
    pub until: Option<i64>,
    /// Whether only a start at `now` is of interest.
    pub now_only: bool,
}

impl Controller<'_> {
    /// Returns the earliest start that Slurm finds, which may be before `from`, and the nodes. `running` is in the order of
    /// ends.
    pub(super) fn look_ahead(
        &mut self,
        question: Question<'_>,
        running: &[RunningJob],
    ) -> Option<(i64, NodeSet)> {
        let Question { size, allowed, now, from, until, now_only } = question;
        let mut free = self.free.clone();
        free.intersect(allowed);
        if from <= now {
            if let Some(nodes) = self.choice.choose(&free, size) {
                return Some((now, nodes));
            }
            if now_only {
                return None;
            }
        }
        let states = &self.states;
        let gone = running.partition_point(|running| running.end <= from);
        let mut is_changed = from > now;
        for running in &running[..gone] {
            is_changed |= give(&mut free, states, *running, allowed);
        }
        if is_changed && let Some(nodes) = self.choice.choose(&free, size) {
            return Some((now, nodes));
        }
        let running = &running[gone..];
        let (mut next, mut span) = (0, SPAN);
        let mut first_end = None;
        let mut removed: Vec<RunningJob> = Vec::new();
        loop {
            let mut is_last = true;
            while let Some(&one) = running.get(next) {
                if until.is_some_and(|until| one.end > until) {
                    break;
                }
                next += 1;
                if !give(&mut free, states, one, allowed) {
                    continue;
                }
                removed.push(one);
                let end = *first_end.get_or_insert((one.end.div_euclid(SPAN) + 1) * SPAN);
                if running.get(next).is_some_and(|after| after.end > end + span) {
                    is_last = false;
                    break;
                }
            }
            if let Some(nodes) = self.choice.choose(&free, size) {
                let held = |one: &&RunningJob| {
                    let start = states[one.job].start.as_ref();
                    start.is_some_and(|start| start.nodes.intersects(&nodes))
                };
                let latest = removed.iter().rev().find(held).or(removed.last());
                return latest.map(|one| (one.end, nodes));
            }
            if is_last {
                return None;
            }
            let (end, after) = (first_end.unwrap_or(now), running[next].end);
            loop {
                span *= 2;
                if after <= end + span {
                    break;
                }
            }
        }
    }
}

/// Adds the nodes of a running job that are allowed to the free nodes; returns whether there are any.
fn give(free: &mut NodeSet, states: &[JobState], running: RunningJob, allowed: &NodeSet) -> bool {
    let Some(start) = &states[running.job].start else { return false };
    if !start.nodes.intersects(allowed) {
        return false;
    }
    free.unite_part(&start.nodes, allowed);
    true
}
