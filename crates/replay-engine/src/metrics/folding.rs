//! Jobs that run on fewer processors than requested.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::measure::{Coupled, Finished, Measure, Needs, Setup};
use crate::allocator::Reduction;
use crate::simulation::{Decision, Observer};
use crate::table::{Column, measures};
use crate::topology::NodeId;
use crate::workload::{Job, JobId};

/// The folded jobs of a coupled run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Folding {
    /// The jobs that were folded at their last start.
    folded: BTreeMap<JobId, Folded>,
    /// Additional processor time of folded jobs, compared with running on the requested processors.
    lost: f64,
}

/// A folded job.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Folded {
    /// Number of requested processors.
    requested: u32,
    /// Number of allocated processors.
    given: u32,
    /// Run time divided by the run time on the requested processors, both in whole ticks; `None` for a job of run
    /// time 0.
    stretch: Option<f64>,
    start: i64,
}

impl Observer for Folding {
    fn reduced(&mut self, job: JobId, requested: &Job, reduction: &Reduction) {
        let run = reduction.of(*requested).run;
        let stretch = (requested.run > 0).then(|| run as f64 / requested.run as f64);
        let (requested, given) = (requested.size, reduction.request.size);
        self.folded.insert(job, Folded { requested, given, stretch, start: i64::MIN });
    }

    #[inline]
    fn started(&mut self, Decision { job, now, .. }: Decision<'_>) {
        if let Some(folded) = self.folded.get_mut(&job) {
            folded.start = now;
        }
    }

    fn cut_off(&mut self, job: JobId, _now: i64, _nodes: &[NodeId], again: bool) {
        if again {
            self.folded.remove(&job);
        }
    }

    #[inline]
    fn completed(&mut self, job: JobId, now: i64) {
        if let Some(&Folded { requested, given, stretch: Some(stretch), start }) =
            self.folded.get(&job)
        {
            let run = (now - start) as f64;
            self.lost += run * (f64::from(given) - f64::from(requested) / stretch);
        }
    }
}

impl Folding {
    fn mean_stretch(&self) -> f64 {
        let stretches = self.folded.values().filter_map(|folded| folded.stretch);
        match stretches.clone().count() {
            0 => 1.0,
            jobs => stretches.sum::<f64>() / jobs as f64,
        }
    }

    fn lost_percent(&self, run: &Coupled<'_>) -> f64 {
        100.0 * self.lost / (run.requested as f64).max(1.0)
    }
}

/// Returns `value` if the strategy folds jobs; otherwise `None`.
fn of_folding(run: &Coupled<'_>, value: f64) -> Option<f64> {
    run.overhead.refused_sizes.map(|_| value)
}

measures! {
    /// Metrics of folded jobs; `None` for strategies that do not fold jobs.
    #[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
    pub struct FoldingMetrics, from of: (&Folding, &Coupled<'_>) {
        refused_sizes: Option<u64> ["sizes"] "number of job sizes that were refused for lack of processors or of a \
            placement, including the last size of each attempt; null, like all following columns, for strategies that \
            do not fold jobs" = of.1.overhead.refused_sizes;
        folded_percent: Option<f64> ["%"] "share of jobs that ran on fewer processors than requested; null if the strategy does not fold jobs" = of_folding(of.1, 100.0 * of.1.per_job(of.0.folded.len() as u64));
        mean_fold_stretch: Option<f64> [""] "mean over folded jobs with a run time above 0 of the ratio \
            (run time) / (run time on the requested processors), both as replayed; 1 without such jobs, null if the strategy does not fold jobs" = of_folding(of.1, of.0.mean_stretch());
        lost_efficiency_percent: Option<f64> ["%"] "additional processor-time of folded jobs compared with running on the requested processors, as a share of the processor-time of all jobs; null if the strategy does not fold jobs" = of_folding(of.1, of.0.lost_percent(of.1));
    }
}

impl Measure for Folding {
    type Metrics = FoldingMetrics;
    const NEEDS: Needs = Needs::System;

    fn new(_: &Setup<'_>) -> Option<Self> {
        Some(Self::default())
    }

    fn columns() -> Vec<Column<FoldingMetrics>> {
        FoldingMetrics::columns()
    }

    fn finish(&self, run: &Finished<'_>) -> FoldingMetrics {
        run.coupled.map(|run| FoldingMetrics::of((self, &run))).unwrap_or_default()
    }
}
