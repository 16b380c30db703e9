//! The trait of all measures of runs, and what a measure is given.

use super::{HierarchySeries, Placement, ScheduleMetrics, SizeRow};
use crate::allocator::{Reduction, Refusal};
use crate::simulation::{Decision, Observer, Overhead, State, Timeline};
use crate::table::Column;
use crate::topology::{Hierarchy, NodeId};
use crate::workload::{Job, JobId};

/// The measurement that a column in the table of runs requires. It decides where the column can be used:
///
/// | value | objective or constraint of a search | excludes runs that fold jobs from rankings |
/// |---|---|---|
/// | `Schedule` | no: a tie vector does not change the schedule | no |
/// | `Pairwise` | yes, computed from the pairwise L1 sums alone | yes |
/// | `Placements` | yes | yes |
/// | `Ties` | yes | no |
/// | `System` | no: strategies with tie vectors never refuse a job | no |
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Needs {
    /// Start and end times. If an allocator never refuses a job, the times of starts and ends do not depend on the
    /// allocator.
    Schedule,
    /// Pairwise L1 sums. The sums never decrease during a run. Only [`PairwiseMetrics`](super::PairwiseMetrics) has this
    /// value: searches replay many vectors together and compute its columns without a call of [`Measure::placed`].
    Pairwise,
    /// All metrics of allocations.
    Placements,
    /// Counts of ties. Counting ties makes decisions several times as expensive.
    Ties,
    /// The state of the system over time. Used only if the allocator may refuse jobs.
    System,
}

/// A measure of runs: it observes a run and contributes columns to the table of runs. Each measure is one file, which
/// contains its state, its metrics and its tests. [`RunMetrics`](super::RunMetrics) lists the measures.
pub trait Measure: Observer + Sized {
    /// The metrics of a run. The default value is the value of a run without this measure.
    type Metrics: Default + 'static;

    /// The measurement that the columns require.
    const NEEDS: Needs;

    /// Creates the measure before a run; `None` if its metrics are not wanted, or if the run cannot have them.
    fn new(setup: &Setup<'_>) -> Option<Self>;

    /// Returns the columns in the table of runs.
    fn columns() -> Vec<Column<Self::Metrics>>;

    /// Records that a job got processors. The method [`Observer::started`] may have been called before.
    #[inline]
    fn placed(&mut self, placed: &Placed<'_>) {
        let _ = placed;
    }

    /// Records that an allocation does not count, because its job was interrupted and runs again later.
    fn withdrawn(&mut self, placed: &Placed<'_>) {
        let _ = placed;
    }

    /// Adds the sums of another replay. A measure with a state must implement this method, unless it cannot observe
    /// [`Scope::Allocations`].
    fn add(&mut self, other: &Self) {
        let _ = other;
    }

    /// Returns the metrics after the run.
    fn finish(&self, run: &Finished<'_>) -> Self::Metrics;

    /// Sets the columns of this measure in a row of the table by job size.
    fn complete_row(&self, row: &mut SizeRow) {
        let _ = row;
    }

    /// Sets the values of this measure for figures.
    fn complete_series(&self, series: &mut HierarchySeries) {
        let _ = series;
    }
}

/// The events that a measure observes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Only [`Measure::placed`] and [`Measure::withdrawn`]; no method of [`Observer`] is called. Searches, shared
    /// replays and comparisons with the log have this scope.
    Allocations,
    /// A replay of a timeline.
    Timeline,
    /// A [coupled](crate::simulation::Simulation::is_coupled) run.
    Coupled {
        /// Whether processors are out of service during the run.
        outages: bool,
    },
}

/// The run that is about to begin.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The tree or the blocks of the machine; `None` on other machines.
    pub hierarchy: Option<&'a Hierarchy>,
    /// Number of jobs.
    pub jobs: usize,
    /// First submission, in the time unit of the jobs.
    pub origin: i64,
    /// Whether all metrics of allocations are wanted, not only the pairwise L1.
    pub placements: bool,
    /// The events that the measures observe.
    pub scope: Scope,
}

/// An allocation and its measurements.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    /// Number of processors that the job requested.
    pub size: u32,
    /// Sum of hop distances over unordered pairs of the job's processors.
    pub pairwise_l1: u64,
    /// All metrics of the allocation; `None` if not measured.
    pub placement: Option<&'a Placement>,
    /// Number of distinct processor sets that share the best score; `None` if not counted.
    pub tied: Option<u32>,
}

/// A finished run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Finished<'a> {
    /// Metrics of the schedule; `None` if not computed.
    pub schedule: Option<&'a ScheduleMetrics>,
    /// Results of a coupled run; `None` for other runs.
    pub coupled: Option<Coupled<'a>>,
}

/// The results of a coupled run.
#[derive(Clone, Copy, Debug)]
pub struct Coupled<'a> {
    /// Number of jobs.
    pub jobs: usize,
    /// First submission.
    pub origin: i64,
    /// Last completion; the first submission if no job completed.
    pub end: i64,
    /// Number of processors of the machine.
    pub processors: usize,
    /// Number of processors per point. Observers count points.
    pub per_point: u32,
    /// Processor time that the jobs held, including processors that they did not request.
    pub held: i128,
    /// Processor time that the jobs requested and held.
    pub requested: i128,
    /// Number of jobs that were excluded from the run because of their size; `None` if the strategy accepts every size.
    pub turned_away: Option<u64>,
    /// Whether the machine is a tree or consists of blocks.
    pub is_hierarchy: bool,
    /// Cost of allocation.
    pub overhead: &'a Overhead,
}

impl Coupled<'_> {
    /// Returns the time from the first submission to the last completion, but at least 1.
    pub fn span(&self) -> f64 {
        (self.end - self.origin).max(1) as f64
    }

    /// Returns the processor time of the machine.
    pub fn capacity(&self) -> f64 {
        self.span() * self.processors as f64
    }

    /// Returns processor time from an integral of points over time.
    pub fn processor_time(&self, points: i128) -> i128 {
        points * i128::from(self.per_point)
    }

    /// Returns a count per job.
    pub fn per_job(&self, count: u64) -> f64 {
        count as f64 / self.jobs.max(1) as f64
    }
}

/// Returns the columns of metrics that a run may lack.
pub fn optional<Metrics: 'static>(columns: Vec<Column<Metrics>>) -> Vec<Column<Option<Metrics>>> {
    columns.into_iter().map(|column| column.of(Option::as_ref)).collect()
}

/// Implements [`Observer`] for a type whose fields are observers: each event is forwarded to the fields in order.
// Frequent events are always inlined, so that measures that ignore them cost nothing.
macro_rules! observe {
    ($Type:ty: $($field:ident)*) => {
        // Methods that are added to `Observer` must be forwarded here.
        #[deny(clippy::missing_trait_methods)]
        impl $crate::simulation::Observer for $Type {
            fn is_done(&self) -> bool {
                false
            }

            fn scheduled(&mut self, timeline: &$crate::simulation::Timeline) {
                $(self.$field.scheduled(timeline);)*
            }

            #[inline(always)]
            fn passed(&mut self, from: i64, to: i64, state: &$crate::simulation::State) {
                $(self.$field.passed(from, to, state);)*
            }

            #[inline(always)]
            fn arrived(&mut self, job: $crate::workload::JobId, now: i64) {
                $(self.$field.arrived(job, now);)*
            }

            #[inline(always)]
            fn refused(&mut self, job: $crate::workload::JobId, refusal: $crate::allocator::Refusal) {
                $(self.$field.refused(job, refusal);)*
            }

            fn reduced(
                &mut self,
                job: $crate::workload::JobId,
                requested: &$crate::workload::Job,
                reduction: &$crate::allocator::Reduction,
            ) {
                $(self.$field.reduced(job, requested, reduction);)*
            }

            fn took(&mut self, job: $crate::workload::JobId, now: i64, slots: &[$crate::topology::NodeId]) {
                $(self.$field.took(job, now, slots);)*
            }

            #[inline(always)]
            fn started(&mut self, decision: $crate::simulation::Decision<'_>) {
                $(self.$field.started(decision);)*
            }

            fn cut_off(
                &mut self,
                job: $crate::workload::JobId,
                now: i64,
                nodes: &[$crate::topology::NodeId],
                again: bool,
            ) {
                $(self.$field.cut_off(job, now, nodes, again);)*
            }

            #[inline(always)]
            fn completed(&mut self, job: $crate::workload::JobId, now: i64) {
                $(self.$field.completed(job, now);)*
            }
        }
    };
}
pub(super) use observe;

/// Forwards events to an observer that a run may lack.
// Methods that are added to `Observer` must be forwarded here.
#[deny(clippy::missing_trait_methods)]
impl<O: Observer> Observer for Option<O> {
    fn is_done(&self) -> bool {
        self.as_ref().is_none_or(O::is_done)
    }

    fn scheduled(&mut self, timeline: &Timeline) {
        self.iter_mut().for_each(|observer| observer.scheduled(timeline));
    }

    #[inline(always)]
    fn passed(&mut self, from: i64, to: i64, state: &State) {
        self.iter_mut().for_each(|observer| observer.passed(from, to, state));
    }

    #[inline(always)]
    fn arrived(&mut self, job: JobId, now: i64) {
        self.iter_mut().for_each(|observer| observer.arrived(job, now));
    }

    #[inline(always)]
    fn refused(&mut self, job: JobId, refusal: Refusal) {
        self.iter_mut().for_each(|observer| observer.refused(job, refusal));
    }

    fn reduced(&mut self, job: JobId, requested: &Job, reduction: &Reduction) {
        self.iter_mut().for_each(|observer| observer.reduced(job, requested, reduction));
    }

    fn took(&mut self, job: JobId, now: i64, slots: &[NodeId]) {
        self.iter_mut().for_each(|observer| observer.took(job, now, slots));
    }

    #[inline(always)]
    fn started(&mut self, decision: Decision<'_>) {
        self.iter_mut().for_each(|observer| observer.started(decision));
    }

    fn cut_off(&mut self, job: JobId, now: i64, nodes: &[NodeId], again: bool) {
        self.iter_mut().for_each(|observer| observer.cut_off(job, now, nodes, again));
    }

    #[inline(always)]
    fn completed(&mut self, job: JobId, now: i64) {
        self.iter_mut().for_each(|observer| observer.completed(job, now));
    }
}

/// Declares a list of measures: a struct of the metrics of a run, and a struct of the measures that observe the run. A
/// line contains the name of the field and the measure.
macro_rules! measure_list {
    (
        $(#[$metrics_attribute:meta])*
        pub struct $Metrics:ident;
        $(#[$attribute:meta])*
        pub struct $Measures:ident {
            $($(#[$field_attribute:meta])* $field:ident: $Measure:ty;)*
        }
    ) => {
        $(#[$metrics_attribute])*
        pub struct $Metrics {
            $(
                #[doc = concat!("Metrics of [`", stringify!($Measure), "`].")]
                $(#[$field_attribute])*
                pub $field: <$Measure as $crate::metrics::measure::Measure>::Metrics,
            )*
        }

        $(#[$attribute])*
        pub struct $Measures {
            $($field: Option<$Measure>,)*
        }

        impl $Measures {
            /// Creates the measures before a run.
            pub fn new(setup: &$crate::metrics::measure::Setup<'_>) -> Self {
                Self { $($field: $crate::metrics::measure::Measure::new(setup),)* }
            }

            /// Records that a job got processors.
            #[inline(always)]
            pub fn placed(&mut self, placed: &$crate::metrics::measure::Placed<'_>) {
                $(if let Some(measure) = &mut self.$field {
                    $crate::metrics::measure::Measure::placed(measure, placed);
                })*
            }

            /// Records that an allocation does not count, because its job was interrupted and runs again later.
            pub fn withdrawn(&mut self, placed: &$crate::metrics::measure::Placed<'_>) {
                $(if let Some(measure) = &mut self.$field {
                    $crate::metrics::measure::Measure::withdrawn(measure, placed);
                })*
            }

            /// Adds the sums of another replay with the same measures.
            pub fn add(&mut self, other: &Self) {
                $(if let (Some(measure), Some(other)) = (&mut self.$field, &other.$field) {
                    $crate::metrics::measure::Measure::add(measure, other);
                })*
            }

            /// Returns the metrics after the run.
            pub fn finish(&self, run: &$crate::metrics::measure::Finished<'_>) -> $Metrics {
                $(let $field = self.$field.as_ref().map(|measure| {
                    $crate::metrics::measure::Measure::finish(measure, run)
                });)*
                $Metrics { $($field: $field.unwrap_or_default(),)* }
            }

            /// Sets the columns of the measures in a row of the table by job size.
            pub fn complete_row(&self, row: &mut $crate::metrics::SizeRow) {
                $(if let Some(measure) = &self.$field {
                    $crate::metrics::measure::Measure::complete_row(measure, row);
                })*
            }

            /// Returns the values for figures.
            pub fn series(&self) -> $crate::metrics::HierarchySeries {
                let mut series = $crate::metrics::HierarchySeries::default();
                $(if let Some(measure) = &self.$field {
                    $crate::metrics::measure::Measure::complete_series(measure, &mut series);
                })*
                series
            }
        }

        impl $Metrics {
            /// Returns the columns of all metrics, grouped by measure, in the order of the tables.
            pub fn groups() -> Vec<($crate::metrics::Needs, Vec<$crate::table::Column<Self>>)> {
                vec![$({
                    let columns = <$Measure as $crate::metrics::measure::Measure>::columns();
                    let columns = columns.into_iter().map(|column| column.of(|run: &Self| Some(&run.$field)));
                    (<$Measure as $crate::metrics::measure::Measure>::NEEDS, columns.collect())
                },)*]
            }

            /// Returns the columns of all metrics.
            pub fn columns() -> Vec<$crate::table::Column<Self>> {
                Self::groups().into_iter().flat_map(|(_, columns)| columns).collect()
            }
        }

        $crate::metrics::measure::observe! { $Measures: $($field)* }
    };
}
pub(super) use measure_list;
