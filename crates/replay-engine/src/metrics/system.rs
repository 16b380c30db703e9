//! The measures of coupled runs, in which the allocator can change the schedule.

use serde::{Deserialize, Serialize};

use super::folding::Folding;
use super::fragmentation::Fragmentation;
use super::measure::{
    Coupled, Finished, Measure, Needs, Scope, Setup, measure_list, observe, optional,
};
use super::promises::GuaranteedStarts;
use super::requests::Requests;
use super::sharing::HeldSlots;
use super::times::Times;
pub use super::times::as_served;
use super::units::Units;
use crate::simulation::Overhead;
use crate::table::Column;

measure_list! {
    /// Metrics of a coupled run.
    #[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
    pub struct SystemMetrics;

    /// The measures that observe a coupled run, in the order of the columns.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct SystemMeasures {
        #[serde(flatten)]
        fragmentation: Fragmentation;
        #[serde(flatten)]
        units: Units;
        #[serde(flatten)]
        requests: Requests;
        #[serde(flatten)]
        promises: GuaranteedStarts;
        #[serde(flatten)]
        sharing: HeldSlots;
        #[serde(flatten)]
        folding: Folding;
    }
}

impl Measure for SystemMeasures {
    type Metrics = Option<SystemMetrics>;
    const NEEDS: Needs = Needs::System;

    fn new(setup: &Setup<'_>) -> Option<Self> {
        matches!(setup.scope, Scope::Coupled { .. }).then(|| Self::new(setup))
    }

    fn columns() -> Vec<Column<Option<SystemMetrics>>> {
        optional(SystemMetrics::columns())
    }

    fn finish(&self, run: &Finished<'_>) -> Option<SystemMetrics> {
        Some(self.finish(run))
    }
}

/// An observer that records the times of the jobs and the metrics of a coupled simulation. Times have the unit of the
/// jobs' times (trace seconds, ticks or cycles).
#[derive(Clone, PartialEq, Debug)]
pub struct SystemRecorder {
    times: Times,
    measures: SystemMeasures,
}

observe! { SystemRecorder: times measures }

impl SystemRecorder {
    /// Creates a recorder for `jobs` jobs.
    pub fn new(jobs: usize) -> Self {
        let scope = Scope::Coupled { outages: false };
        let setup = Setup { hierarchy: None, jobs, origin: 0, placements: false, scope };
        Self { times: Times::new(jobs), measures: SystemMeasures::new(&setup) }
    }

    /// Returns the arrival time of each job.
    pub fn arrivals(&self) -> &[i64] {
        self.times.arrivals()
    }

    /// Returns the start time of each job.
    pub fn starts(&self) -> &[i64] {
        self.times.starts()
    }

    /// Returns the completion time of each job.
    pub fn ends(&self) -> &[i64] {
        self.times.ends()
    }

    /// Computes the metrics between `origin` and the last completion, on a machine with `processors` processors, one
    /// per point.
    pub fn metrics(&self, origin: i64, processors: usize, overhead: &Overhead) -> SystemMetrics {
        let coupled = Coupled {
            jobs: self.times.starts().len(),
            origin,
            end: self.times.end(origin),
            processors,
            per_point: 1,
            held: self.times.held(),
            requested: self.times.requested(),
            turned_away: None,
            is_hierarchy: false,
            overhead,
        };
        self.measures.finish(&Finished { schedule: None, coupled: Some(coupled) })
    }
}

impl AsRef<Times> for SystemRecorder {
    fn as_ref(&self) -> &Times {
        &self.times
    }
}
