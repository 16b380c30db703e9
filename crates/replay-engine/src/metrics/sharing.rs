//! Slots of a cluster, on which several jobs share processors.

use serde::{Deserialize, Serialize};

use super::measure::{Coupled, Finished, Measure, Needs, Setup};
use crate::simulation::Observer;
use crate::table::{Column, measures};

/// The slots that jobs hold, which all coupled runs record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HeldSlots;

impl Observer for HeldSlots {}

/// Returns the share of the slots that jobs held, in percent; `None` on machines other than clusters.
fn held_percent(run: &Coupled<'_>) -> Option<f64> {
    let shared = run.overhead.shared?;
    Some(100.0 * run.held as f64 / (run.span() * shared.slots as f64))
}

measures! {
    /// Use of the slots; `None` on machines other than clusters.
    #[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
    pub struct SharingMetrics, from run: &Coupled<'_> {
        slots_held_percent: Option<f64> ["%"] "time average of the share of cluster slots that jobs held, including jobs that waited for the processor because of lower priority; null on other machines" = held_percent(run);
    }
}

impl Measure for HeldSlots {
    type Metrics = SharingMetrics;
    const NEEDS: Needs = Needs::System;

    fn new(_: &Setup<'_>) -> Option<Self> {
        Some(Self)
    }

    fn columns() -> Vec<Column<SharingMetrics>> {
        SharingMetrics::columns()
    }

    fn finish(&self, run: &Finished<'_>) -> SharingMetrics {
        run.coupled.map(|run| SharingMetrics::of(&run)).unwrap_or_default()
    }
}
