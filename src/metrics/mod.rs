//! Every measure with its unit and source.
//!
//! | file | measures |
//! |---|---|
//! | [`locality`] | how close together the processors of one job are |
//! | [`run`] | means, percentiles, utilization, makespan, slowdown of one run |
//! | [`by_size`] | the same means by job size, and the improvement of one run on another |
//! | [`correlation`] | how two measures go together |
//! | [`estimate`] | means over replications, with their confidence intervals |
//! | [`ties`] | how often and how widely the best score is shared |
//! | [`series`] | busy processors and queue length over time |
//! | [`system`] | utilization, fragmentation and busy list of a coupled simulation |

pub mod by_size;
pub mod correlation;
pub mod estimate;
pub mod locality;
pub mod run;
pub mod series;
pub mod system;
pub mod ties;

pub use by_size::{SizeChange, SizeRow};
pub use locality::{Locality, Placement};
pub use run::{JobMeasures, RunMetrics, ScheduleMetrics};
pub use series::Series;
pub use system::{SystemMetrics, SystemRecorder};
pub use ties::TieStatistics;
