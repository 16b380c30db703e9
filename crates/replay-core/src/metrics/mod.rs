//! Every measure with its unit and source.
//!
//! | file | measures |
//! |---|---|
//! | [`locality`] | how close together the processors of one job are |
//! | [`run`] | means, percentiles, utilization, makespan, slowdown of one run |
//! | [`by_size`] | the same means by job size, and the improvement of one run on another |
//! | [`comparable`] | which runs a distance measure can rank |
//! | [`robust`] | median, percentile and trimmed mean, which a few values cannot move |
//! | [`allocations`] | which processors jobs were given |
//! | [`correlation`] | how two measures go together |
//! | [`estimate`] | means over replications, with their confidence intervals |
//! | [`ties`] | how often and how widely the best score is shared |
//! | [`series`] | busy processors and queue length over time |
//! | [`system`] | utilization, fragmentation and busy list of a coupled simulation |
//!
//! # How to add one
//!
//! A measure is a line of the table it belongs to: name, type, unit, meaning, and what it is
//! computed from. [`RunMetrics`] and its parts are for runs, [`SystemMetrics`] for strategies that
//! refuse, [`SizeRow`] for job sizes, [`JobMeasures`] for jobs;
//! `stream::Metric` of `replay-experiment` for replicated streams. The line makes the
//! field, the column of every file and format, its documentation and listing, and, if a tie
//! vector can change it, an objective of searches. What it is computed from may need a sum more.

pub mod allocations;
pub mod blocks;
pub mod by_size;
pub mod comparable;
pub mod correlation;
pub mod estimate;
pub mod locality;
mod rivals;
pub mod robust;
pub mod run;
pub mod series;
pub mod system;
pub mod ties;

pub use allocations::Allocation;
pub use by_size::{SizeChange, SizeRow};
pub use locality::{Locality, Placement};
pub use run::{JobMeasures, PlacementMetrics, RunMetrics, ScheduleMetrics, Submitted, TieMetrics};
pub use series::Series;
pub use system::{SystemMetrics, SystemRecorder};
pub use ties::TieStatistics;
