//! The whole units, such as sub-meshes, blocks or pages, that an allocator allocates in a coupled run.

use serde::{Deserialize, Serialize};

use super::measure::{Coupled, Finished, Measure, Needs, Setup};
use crate::simulation::{Decision, Observer, State};
use crate::table::{Column, measures};

/// Counts of the units of all jobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Units {
    /// Number of allocated units, integrated over time.
    busy_list: i128,
    units: u64,
    /// Number of jobs that got whole units.
    jobs: u64,
    in_one_unit: u64,
    searches: u64,
}

impl Observer for Units {
    #[inline]
    fn passed(&mut self, from: i64, to: i64, state: &State) {
        let units = state.census.map_or(0, |census| census.busy_list);
        self.busy_list += i128::from(units) * i128::from(to - from);
    }

    #[inline]
    fn started(&mut self, Decision { census, .. }: Decision<'_>) {
        let Some(census) = census else { return };
        self.units += u64::from(census.blocks);
        self.jobs += 1;
        self.in_one_unit += u64::from(census.blocks == 1);
        self.searches = census.searches;
    }
}

impl Units {
    /// Returns `sum` divided by the number of jobs that got whole units; `None` if no job got whole units.
    fn per_job(&self, sum: u64) -> Option<f64> {
        (self.jobs > 0).then(|| sum as f64 / self.jobs as f64)
    }
}

measures! {
    /// Metrics of the units; `None` for strategies that do not allocate whole units.
    #[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
    pub struct UnitMetrics, from of: (&Units, &Coupled<'_>) {
        mean_blocks: Option<f64> ["units"] "mean number of sub-meshes, blocks or pages per job" = of.0.per_job(of.0.units);
        one_block_percent: Option<f64> ["%", rising] "share of jobs in one unit" = of.0.per_job(100 * of.0.in_one_unit);
        mean_busy_list: Option<f64> ["units"] "time average of the number of allocated units (m)" = (of.0.jobs > 0).then(|| of.0.busy_list as f64 / of.1.span());
        mean_searches: Option<f64> ["searches"] "mean number of searches per job beyond the first (b)" = of.0.per_job(of.0.searches);
    }
}

impl Measure for Units {
    type Metrics = UnitMetrics;
    const NEEDS: Needs = Needs::System;

    fn new(_: &Setup<'_>) -> Option<Self> {
        Some(Self::default())
    }

    fn columns() -> Vec<Column<UnitMetrics>> {
        UnitMetrics::columns()
    }

    fn finish(&self, run: &Finished<'_>) -> UnitMetrics {
        run.coupled.map(|run| UnitMetrics::of((self, &run))).unwrap_or_default()
    }
}
