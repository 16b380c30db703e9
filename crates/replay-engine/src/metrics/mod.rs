//! Metrics of jobs, runs and systems, with units and sources.
//!
//! | module | content |
//! |---|---|
//! | [`measure`] | the trait of the measures of runs |
//! | [`run`] | the list of the measures of runs |
//! | [`locality`] | distances, diameter, dispersal and components of one allocation |
//! | [`hierarchy`] | leaves, blocks and levels of one allocation on trees and blocks |
//! | [`job`] | metrics of jobs |
//! | [`by_size`] | means by job size, and the improvement of one run over another |
//! | [`comparable`] | the runs that a distance metric can rank |
//! | [`robust`] | median, percentile and trimmed mean, which are insensitive to outliers |
//! | [`allocations`] | the processors of each job |
//! | [`correlation`] | correlation coefficients |
//! | [`estimate`] | means over replications, with confidence intervals |
//! | `series` | busy processors and queue length over time |
//! | [`system`] | the list of the measures of coupled runs |
//! | [`times`] | arrivals, starts and completions of a coupled run |
//!
//! All other modules are measures of runs: one file for each measure.
//!
//! # How to add a metric
//!
//! Add one line to the `measures!` block of a measure: name, type, unit, meaning, and the expression that computes the
//! metric. The line defines the field, the name, the column in every file and format, the documentation, and the entry
//! in listings. [`Needs`] of the measure decides whether the metric is also an objective of searches. If the expression
//! requires a sum that is not recorded yet, add the sum to the state of the measure, in the same file.
//!
//! A new measure is a new file with a type that implements [`Measure`], and one line in the list of [`run`], or of
//! [`system`] if only coupled runs have the measure. [`SizeRow`] contains the metrics of job sizes, and [`JobMeasures`]
//! the metrics of jobs. `stream::Metric` of `replay-experiment` contains the metrics of replicated streams.

pub mod allocations;
pub mod block_fragmentation;
pub mod blocks;
pub mod by_size;
mod candidates;
pub mod comparable;
pub mod correlation;
pub mod estimate;
pub mod folding;
pub mod fragmentation;
pub mod groups;
pub mod hierarchy;
pub mod job;
pub mod leaves;
pub mod locality;
pub mod measure;
pub mod outages;
pub mod pairwise;
pub mod promises;
pub mod requests;
pub mod robust;
pub mod run;
pub mod schedule;
mod series;
pub mod shape;
pub mod sharing;
pub mod system;
pub mod ties;
pub mod times;
pub mod units;

pub use allocations::Allocation;
pub use by_size::{SizeChange, SizeRow};
pub use folding::FoldingMetrics;
pub use fragmentation::FragmentationMetrics;
pub use groups::GroupRow;
pub use hierarchy::{HierarchyPlacement, HierarchySeries};
pub use job::{JobMeasures, Submitted};
pub use leaves::HierarchyMetrics;
pub use locality::{Locality, Placement};
pub use measure::{Measure, Needs};
pub use outages::OutageMetrics;
pub use pairwise::PairwiseMetrics;
pub use run::{Measures, RunMetrics};
pub use schedule::ScheduleMetrics;
pub use series::{DeferredSeries, Series};
pub use shape::PlacementMetrics;
pub use system::{SystemMetrics, SystemRecorder};
pub use ties::{TieMetrics, TieStatistics};
pub use units::UnitMetrics;
