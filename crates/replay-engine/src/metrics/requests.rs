//! Requests of the scheduler for processors in a coupled run.

use serde::{Deserialize, Serialize};

use super::measure::{Coupled, Finished, Measure, Needs, Setup};
use crate::simulation::Observer;
use crate::table::{Column, measures};

/// The requests, which the simulation counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Requests;

impl Observer for Requests {}

measures! {
    /// Numbers of requests, allocator calls and operations.
    #[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
    pub struct RequestMetrics, from run: &Coupled<'_> {
        attempts_per_job: f64 ["attempts"] "number of requests of the scheduler for processors per job, including refused requests" = run.per_job(run.overhead.attempts);
        asked_per_job: f64 ["attempts"] "number of these requests per job that called the allocator; the results of \
            the other requests followed from earlier refusals" = run.per_job(run.overhead.allocator_calls);
        operations_per_job: f64 ["operations"] "number of elementary operations of the allocator per job; 0 if the allocator does not count operations" = run.per_job(run.overhead.operations);
    }
}

impl Measure for Requests {
    type Metrics = RequestMetrics;
    const NEEDS: Needs = Needs::System;

    fn new(_: &Setup<'_>) -> Option<Self> {
        Some(Self)
    }

    fn columns() -> Vec<Column<RequestMetrics>> {
        RequestMetrics::columns()
    }

    fn finish(&self, run: &Finished<'_>) -> RequestMetrics {
        run.coupled.map(|run| RequestMetrics::of(&run)).unwrap_or_default()
    }
}
