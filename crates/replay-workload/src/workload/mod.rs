//! Traces and jobs: cleaning policies, windows, trace lookup and synthetic workloads.
//!
//! A [`Workload`] is the input of a replay. A workload contains [`Job`]s sorted by submit time, the trace's header, a
//! digest of the trace's text and a [`CleaningReport`]. Jobs with equal submit times are in the order of the file.
//!
//! Different SWF readers treat incomplete records differently, and few readers report how they treat these records. In
//! this module, a [`Policy`] has one switch for each decision about the treatment of a record. The named policies are
//! constants in a table ([`Policy::ALL`]), and a single function applies any policy ([`Policy::apply`]). The report
//! counts every drop and every change by reason.
//!
//! ```text
//! name --SearchPath--> file --swf::Reader--> records --Policy--> jobs --Window--> Workload
//! ```
//!
//! [`shake`] perturbs the times of a trace, for error bars; [`lublin`] and [`stochastic`] generate jobs without
//! a trace; [`synthetic`] writes the generated jobs as traces.

mod clean;
mod dependencies;
mod error;
pub mod estimates;
mod extra_fields;
mod job;
mod job_ids;
mod load;
mod locate;
pub mod lublin;
mod manifest;
pub mod midplanes;
pub mod nodes;
mod notation;
mod oversize;
mod partitions;
mod policy;
mod presets;
mod recorded_placements;
mod recorded_values;
mod report;
mod scale;
pub mod shake;
pub mod sidecar;
pub mod stochastic;
pub mod synthetic;
mod trace_time;
mod window;

#[cfg(test)]
mod tests;

pub use clean::Cleaner;
pub use dependencies::{
    Chains, Dependencies, DependenciesError, DependencyCounts, Follows, Ignored, Links, Repeated,
};
pub use error::{AnyField, CleaningError, LoadError, Problem};
pub use extra_fields::{Descriptor, Extra, ExtraFields};
pub use job::{Job, JobId};
pub use job_ids::{JobIds, JobIdsError};
pub use load::Workload;
pub use locate::{NotFound, SearchPath, TRACES_VARIABLE};
pub use manifest::{KnownTrace, Manifest, ManifestError};
pub use notation::Notation;
pub use oversize::fit_to_machine;
pub use partitions::{
    PartitionDefinition, PartitionField, UnknownPartition, minutes, partition_definitions, whole,
};
pub use policy::{
    EstimateRule, Oversize, Policy, PolicyRow, Repair, Rounding, SizeSource, UnknownOversize,
};
pub use recorded_placements::{
    RecordedPlacements, RecordedPlacementsError, UnmatchedPlacements, Unreadable,
};
pub use recorded_values::{JobLabels, RecordedLabels, RecordedValues};
pub use report::{Change, CleaningReport, DropReason};
pub use scale::{Scaled, offered_load, scale_load, scaled_name, unscaled_name};
pub use shake::{Shake, ShakeError};
pub use trace_time::{NoStart, TraceTime, TraceTimeError};
pub use window::{Outside, Start, Window, WindowError};
pub use window::{civil, days_since_1970};
