//! Utilization, fragmentation and refusals of a coupled run.

use serde::{Deserialize, Serialize};

use super::measure::{Coupled, Finished, Measure, Needs, Setup};
use crate::allocator::Refusal;
use crate::simulation::{Observer, Shared, State};
use crate::table::{Column, measures};
use crate::workload::JobId;

/// The state of the system, integrated over time, and the refusals.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fragmentation {
    /// Time in which a waiting job had been refused although enough processors were free.
    fragmented: i64,
    /// Blocked part of the menu of boxes, integrated over time, and the maximum of the blocked part; `None` without a
    /// menu.
    blocked: Option<(i128, u64)>,
    refusals: u64,
    fragmented_refusals: u64,
    postponed_refusals: u64,
}

impl Observer for Fragmentation {
    #[inline]
    fn passed(&mut self, from: i64, to: i64, state: &State) {
        self.fragmented += i64::from(state.fragmented) * (to - from);
        if let Some([blocked, most]) = state.blocked {
            let before = self.blocked.map_or(0, |(sum, _)| sum);
            self.blocked = Some((before + i128::from(blocked) * i128::from(to - from), most));
        }
    }

    #[inline]
    fn refused(&mut self, _job: JobId, refusal: Refusal) {
        self.refusals += 1;
        self.fragmented_refusals += u64::from(refusal == Refusal::Fragmented);
        self.postponed_refusals += u64::from(matches!(refusal, Refusal::Postponed { .. }));
    }
}

/// The recorded state and the run.
struct Recorded<'a> {
    state: &'a Fragmentation,
    run: &'a Coupled<'a>,
}

impl Recorded<'_> {
    /// Returns the processor time that jobs requested and used.
    fn useful(&self) -> f64 {
        self.run.overhead.shared.map_or(self.run.requested as f64, |shared| shared.computed)
    }

    /// Returns the processor time that jobs held, including processors that they did not request.
    fn allocated(&self) -> f64 {
        let held = self.run.held as f64;
        let of_shared =
            |shared: Shared| shared.computed * held / (self.run.requested as f64).max(1.0);
        self.run.overhead.shared.map_or(held, of_shared)
    }

    fn internal_fragmentation_percent(&self) -> f64 {
        match self.run.held {
            0 => 0.0,
            held => 100.0 * (held - self.run.requested) as f64 / held as f64,
        }
    }

    fn blocked_menu(&self) -> Option<f64> {
        let (sum, most) = self.state.blocked?;
        Some(100.0 * sum as f64 / (most.max(1) as f64 * self.run.span()))
    }

    /// Returns the count on trees and blocks, which alone have the columns of refusals by reason.
    fn of_hierarchy(&self, count: u64) -> Option<u64> {
        self.run.is_hierarchy.then_some(count)
    }
}

measures! {
    /// Utilization and fragmentation as defined by Lo et al. and Bani-Mohammad 2008 (equations 2.2 and 2.3, weighted by
    /// time), and refusals.
    #[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
    pub struct FragmentationMetrics, from recorded: Recorded<'_> {
        allocated_utilization: f64 ["share", rising] "utilization including processors lost to internal \
            fragmentation; null, like all following columns, for strategies that neither refuse jobs nor allocate \
            whole units" = recorded.allocated() / recorded.run.capacity();
        internal_fragmentation_percent: f64 ["%"] "processor-time allocated to jobs beyond their request, as a share of all allocated processor-time" = recorded.internal_fragmentation_percent();
        refusals: u64 ["refusals"] "refused attempts for which enough processors were free; if the strategy folds \
            jobs, the smallest number to which the strategy would then fold the job is enough" = recorded.state.refusals;
        fragmented_refusals: u64 ["refusals"] "refusals because there was no placement (external fragmentation)" = recorded.state.fragmented_refusals;
        too_few_free_refusals: Option<u64> ["refusals"] "refusals because fewer nodes were free than the job needs; \
            the column refusals does not include these refusals; null on machines other than trees and blocks" = recorded.of_hierarchy(recorded.run.overhead.too_few_free);
        switches_refusals: Option<u64> ["refusals"] "refusals because the place was on more leaves than the number of \
            leaves for which the job waits; null on machines other than trees and blocks" = recorded.of_hierarchy(recorded.state.postponed_refusals);
        fragmented_time_percent: f64 ["%"] "share of the time in which at least one job waited after it had been refused because there was no placement" = 100.0 * recorded.state.fragmented as f64 / recorded.run.span();
        blocked_menu_percent: Option<f64> ["%"] "time average of the share of positions of the menu's boxes that are not entirely free, weighted by the size of the box; null for strategies without a menu of boxes" = recorded.blocked_menu();
        no_such_size_jobs: Option<u64> ["jobs"] "jobs excluded from the run because the strategy has no place for their size on the idle machine: no box of the menu has this size, or the rule of a tree or of blocks finds no placement; null for strategies that accept every size" = recorded.run.turned_away;
    }
    with {
        /// Time from the origin of time to the last completion.
        finish_time: i64 = recorded.run.end - recorded.run.origin;
        /// Share of the machine's processor time that jobs requested and held; processors beyond
        /// the request do not count. If jobs share processors, only the time in which jobs compute
        /// counts, because a job also holds a processor while other jobs use it.
        utilization: f64 = recorded.useful() / recorded.run.capacity();
    }
}

impl Measure for Fragmentation {
    type Metrics = FragmentationMetrics;
    const NEEDS: Needs = Needs::System;

    fn new(_: &Setup<'_>) -> Option<Self> {
        Some(Self::default())
    }

    fn columns() -> Vec<Column<FragmentationMetrics>> {
        FragmentationMetrics::columns()
    }

    fn finish(&self, run: &Finished<'_>) -> FragmentationMetrics {
        run.coupled
            .map(|run| FragmentationMetrics::of(Recorded { state: self, run: &run }))
            .unwrap_or_default()
    }
}
