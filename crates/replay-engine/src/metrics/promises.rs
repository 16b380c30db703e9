//! Guaranteed starts of the jobs at the head of the queue in a coupled run.

use serde::{Deserialize, Serialize};

use super::measure::{Coupled, Finished, Measure, Needs, Setup};
use crate::simulation::Observer;
use crate::table::{Column, measures};

/// The guarantees, which the scheduler counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GuaranteedStarts;

impl Observer for GuaranteedStarts {}

measures! {
    /// Numbers of guaranteed starts; `None` for schedulers without guarantees.
    #[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
    pub struct PromiseMetrics, from run: &Coupled<'_> {
        promised_heads: Option<u64> ["jobs"] "jobs that waited at the head of the queue and got a guaranteed latest \
            start; a head gets a guarantee only if a later job could overtake the head; null for schedulers without \
            guarantees" = run.overhead.promises.map(|promises| promises.given);
        late_heads: Option<u64> ["jobs"] "heads with a guaranteed start that started later than their first \
            guarantee" = run.overhead.promises.map(|promises| promises.broken);
        latest_head: Option<u64> ["s"] "largest delay of a job at the head of the queue beyond its first guaranteed start" = run.overhead.promises.map(|promises| promises.worst.unsigned_abs());
    }
}

impl Measure for GuaranteedStarts {
    type Metrics = PromiseMetrics;
    const NEEDS: Needs = Needs::System;

    fn new(_: &Setup<'_>) -> Option<Self> {
        Some(Self)
    }

    fn columns() -> Vec<Column<PromiseMetrics>> {
        PromiseMetrics::columns()
    }

    fn finish(&self, run: &Finished<'_>) -> PromiseMetrics {
        run.coupled.map(|run| PromiseMetrics::of(&run)).unwrap_or_default()
    }
}
