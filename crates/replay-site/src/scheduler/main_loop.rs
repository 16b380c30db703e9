//! The main loop (`job_scheduler.c:_schedule`): starts jobs in the order of the queue, and never backfills.

use super::{Attempt, Controller, Pass, Phase, StartedBy};
use crate::reason::Reason;

impl Controller<'_> {
    /// Runs a pass of the main loop at the instant `now`. A full pass looks at all records of the queue.
    pub fn main_pass(&mut self, now: i64, is_full: bool) -> Pass {
        let settings = &self.site.scheduler;
        let mut pass = Pass::default();
        let mut available = self.in_service.clone();
        let mut is_blocked = vec![false; self.site.partitions.len()];
        let mut per_partition = vec![0; self.site.partitions.len()];
        for record in self.records(now) {
            let (job, partition) = (record.job, record.partition);
            if self.states[job].phase != Phase::Waiting {
                continue;
            }
            if settings.partition_depth > 0 {
                if per_partition[partition] >= settings.partition_depth {
                    let reason = &mut self.states[job].reason;
                    if *reason == Reason::None {
                        *reason = Reason::Priority;
                    }
                    continue;
                }
                per_partition[partition] += 1;
            }
            // The first record is number 0, so a pass looks at one record more than the depth.
            if !is_full && pass.records > settings.depth {
                pass.is_cut = true;
                break;
            }
            pass.records += 1;
            if is_blocked[partition] {
                let reason = &mut self.states[job].reason;
                if matches!(reason, Reason::None | Reason::Resources) {
                    *reason = Reason::Priority;
                }
                continue;
            }
            if self.states[job].reason.is_limit() {
                let applicant = self.limits.applicant(self.site, &self.jobs[job], partition);
                if !self.passes_before(job, &applicant) {
                    continue;
                }
            }
            let nodes = &self.site.partitions[partition].nodes;
            // Nodes of blocked partitions are not available to any partition.
            let has_enough = self.jobs[job].nodes <= available.overlap(nodes);
            let attempt = match has_enough {
                true => self.attempt(record, &available, now, StartedBy::Main),
                false => Attempt::NoPlace,
            };
            match attempt {
                Attempt::Started => pass.started.push(job),
                Attempt::Refused => {}
                Attempt::NoPlace => {
                    self.states[job].reason = Reason::Resources;
                    if !has_enough || !self.is_below_reserve(record, now) {
                        is_blocked[partition] = true;
                        available.subtract(nodes);
                    }
                }
            }
        }
        pass.forgot_plans = self.forgot_plans;
        pass
    }
}
