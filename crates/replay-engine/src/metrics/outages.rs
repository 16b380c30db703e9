//! The effect of outages of processors.

use serde::{Deserialize, Serialize};

use super::measure::{Coupled, Finished, Measure, Needs, Scope, Setup};
use crate::simulation::{Decision, Observer, State};
use crate::table::{Column, measures};
use crate::topology::NodeId;
use crate::workload::JobId;

/// Processors out of service and interrupted runs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OutageRecorder {
    /// Last start of each job.
    starts: Vec<i64>,
    /// Points out of service, integrated over time.
    down: i128,
    killed: u64,
    requeued: u64,
    /// Time of interrupted runs, multiplied by their points.
    cut_off: i128,
}

impl Observer for OutageRecorder {
    #[inline]
    fn passed(&mut self, from: i64, to: i64, state: &State) {
        self.down += i128::from(state.down) * i128::from(to - from);
    }

    #[inline]
    fn started(&mut self, Decision { job, now, .. }: Decision<'_>) {
        self.starts[job.index()] = now;
    }

    fn cut_off(&mut self, job: JobId, now: i64, nodes: &[NodeId], again: bool) {
        let run = now - self.starts[job.index()];
        self.cut_off += i128::from(run) * nodes.len() as i128;
        match again {
            true => self.requeued += 1,
            false => self.killed += 1,
        }
    }
}

/// The recorded outages of a run.
struct Recorded<'a> {
    outages: &'a OutageRecorder,
    run: &'a Coupled<'a>,
    /// Processor time that jobs used.
    used: f64,
}

impl Recorded<'_> {
    fn up_utilization(&self) -> f64 {
        match self.run.capacity() - self.run.processor_time(self.outages.down) as f64 {
            up if up > 0.0 => self.used / up,
            _ => 0.0,
        }
    }

    /// Returns an integral of points over time as a share of the processor time of the machine.
    fn percent(&self, points: i128) -> f64 {
        100.0 * self.run.processor_time(points) as f64 / self.run.capacity()
    }
}

measures! {
    /// Metrics of a run with outages.
    #[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
    pub struct OutageMetrics, from recorded: &Recorded<'_> {
        up_utilization: f64 ["share", rising] "utilization relative to the processors in service; processors that a \
            job still holds during an outage are counted as in service" = recorded.up_utilization();
        down_percent: f64 ["%"] "processor-time out of service, as a share of the processor-time of the machine" = recorded.percent(recorded.outages.down);
        killed_jobs: u64 ["jobs"] "jobs ended by an outage; their run time ends at the outage" = recorded.outages.killed;
        requeued_jobs: u64 ["jobs"] "number of times that an outage interrupted a job, which returned to the queue to \
            run again; the start of such a job is its last start" = recorded.outages.requeued;
        cut_off_percent: f64 ["%"] "processor-time of interrupted runs, as a share of the processor-time of the \
            machine; utilization includes this time for killed jobs, but not for requeued jobs" = recorded.percent(recorded.outages.cut_off);
    }
}

impl Measure for OutageRecorder {
    type Metrics = Option<OutageMetrics>;
    const NEEDS: Needs = Needs::System;

    fn new(setup: &Setup<'_>) -> Option<Self> {
        let starts = || vec![i64::MIN; setup.jobs];
        let wanted = setup.scope == Scope::Coupled { outages: true };
        wanted.then(|| Self { starts: starts(), ..Self::default() })
    }

    /// The metrics are a table of their own.
    fn columns() -> Vec<Column<Option<OutageMetrics>>> {
        Vec::new()
    }

    fn finish(&self, run: &Finished<'_>) -> Option<OutageMetrics> {
        let (schedule, run) = (run.schedule?, run.coupled?);
        let used = schedule.utilization * run.capacity();
        Some(OutageMetrics::of(&Recorded { outages: self, run: &run, used }))
    }
}
