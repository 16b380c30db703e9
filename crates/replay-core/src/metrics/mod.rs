//! Metrics of jobs, runs and systems, with units and sources.
//!
//! | module | content |
//! |---|---|
//! | [`locality`] | distances, diameter, dispersal and components of one allocation |
//! | `hierarchy` | leaves, blocks and levels of allocations on trees and blocks |
//! | [`run`] | means, percentiles, utilization, makespan, slowdown of one run |
//! | [`by_size`] | means by job size, and the improvement of one run over another |
//! | [`comparable`] | the runs that a distance metric can rank |
//! | [`robust`] | median, percentile and trimmed mean, which are insensitive to outliers |
//! | [`allocations`] | the processors of each job |
//! | [`correlation`] | correlation coefficients |
//! | [`estimate`] | means over replications, with confidence intervals |
//! | `ties` | frequency and size of ties for the best score |
//! | `series` | busy processors and queue length over time |
//! | [`system`] | utilization, fragmentation and allocator statistics of a coupled simulation |
//!
//! # How to add a metric
//!
//! Each metric is one line in the declaration of its table: name, type, unit, meaning, and the
//! expression that computes the metric. [`RunMetrics`] and its parts contain the metrics of runs.
//! [`SystemMetrics`] contains the metrics of strategies that refuse jobs, [`SizeRow`] the metrics
//! of job sizes, and [`JobMeasures`] the metrics of jobs. `stream::Metric` of `replay-experiment`
//! contains the metrics of replicated streams. The line of a metric defines the field, the column
//! in every file and format, the documentation, and the entry in listings. If a tie vector can
//! change the metric, the line also defines an objective of searches. If the expression requires a
//! sum that is not recorded yet, add this sum, too.

pub mod allocations;
pub mod blocks;
pub mod by_size;
mod candidates;
pub mod comparable;
pub mod correlation;
pub mod estimate;
mod hierarchy;
pub mod locality;
pub mod pairwise;
pub mod robust;
pub mod run;
mod series;
pub mod system;
mod ties;

pub use allocations::Allocation;
pub use by_size::{SizeChange, SizeRow};
pub use hierarchy::{BlockFragmentation, HierarchyMetrics, HierarchyPlacement, HierarchySeries};
pub use locality::{Locality, Placement};
pub use pairwise::PairwiseMetrics;
pub use run::{JobMeasures, PlacementMetrics, RunMetrics, ScheduleMetrics, Submitted, TieMetrics};
pub use series::Series;
pub use system::{SystemMetrics, SystemRecorder};
pub use ties::TieStatistics;
