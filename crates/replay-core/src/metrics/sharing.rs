//! Slots of a cluster, on which several jobs share processors.

use serde::{Deserialize, Serialize};

use super::measure::{Coupled, Finished, Measure, Needs, Setup};
use crate::simulation::{Observer, State};
use crate::table::{Column, measures};

/// The number of held slots, integrated over time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HeldSlots {
    held: i128,
}

impl Observer for HeldSlots {
    fn passed(&mut self, from: i64, to: i64, state: &State) {
        self.held += i128::from(state.held) * i128::from(to - from);
    }
}

impl HeldSlots {
    fn percent(&self, run: &Coupled<'_>) -> Option<f64> {
        let shared = run.overhead.shared?;
        let held = run.processor_time(self.held);
        Some(100.0 * held as f64 / (run.span() * shared.slots as f64))
    }
}

measures! {
    /// Use of the slots; `None` on machines other than clusters.
    #[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
    pub struct SharingMetrics, from of: (&HeldSlots, &Coupled<'_>) {
        slots_held_percent: Option<f64> ["%"] "time average of the share of cluster slots that jobs held, including jobs that waited for the processor because of lower priority; null on other machines" = of.0.percent(of.1);
    }
}

impl Measure for HeldSlots {
    type Metrics = SharingMetrics;
    const NEEDS: Needs = Needs::System;

    fn new(_: &Setup<'_>) -> Option<Self> {
        Some(Self::default())
    }

    fn columns() -> Vec<Column<SharingMetrics>> {
        SharingMetrics::columns()
    }

    fn finish(&self, run: &Finished<'_>) -> SharingMetrics {
        run.coupled.map(|run| SharingMetrics::of((self, &run))).unwrap_or_default()
    }
}
