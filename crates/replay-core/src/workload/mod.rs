//! From a trace to jobs: cleaning policies, windows, and where traces are found.
//!
//! A [`Workload`] is what schedulers replay: [`Job`]s sorted by submit time (stably, so equal arrivals keep
//! their order in the file), with the trace's header, a digest of its text and a [`CleaningReport`].
//!
//! No two SWF readers of the field agree on what to do with a record that lacks something, and few say
//! what they did. Here a [`Policy`] is a value with one switch per decision; the named ones are constants in
//! one table ([`Policy::ALL`]), one function applies any of them ([`Policy::apply`]), and every drop
//! and change is counted by reason.
//!
//! ```text
//! name --SearchPath--> file --swf::Reader--> records --Policy--> jobs --Window--> Workload
//! ```
//!
//! [`shake`] makes copies of a trace whose times differ a little, for error bars;
//! [`lublin`] and [`stochastic`] make jobs without a trace; [`generated`] makes traces of them.

mod clean;
mod dependencies;
mod error;
mod extra;
pub mod generated;
mod instant;
mod job;
mod load;
mod locate;
pub mod lublin;
mod manifest;
pub mod midplanes;
mod node_map;
pub mod nodes;
mod oversize;
mod placed;
mod policy;
mod presets;
mod report;
mod scale;
pub mod shake;
pub mod sidecar;
pub mod stochastic;
mod users;
mod waits;
mod window;

#[cfg(test)]
mod tests;

pub use clean::Cleaner;
pub use dependencies::{
    Chains, Dependencies, DependenciesError, DependencyCounts, Follows, Ignored, Links, Repeated,
};
pub use error::{AnyField, CleaningError, LoadError, Problem};
pub use extra::{Descriptor, Extra, ExtraFields};
pub use instant::{Instant, InstantError, NoStart};
pub use job::{Job, JobId};
pub use load::Workload;
pub use locate::{NotFound, SearchPath, TRACES_VARIABLE};
pub use manifest::{KnownTrace, Manifest, ManifestError};
pub use node_map::NodeMap;
pub use oversize::fit_to_machine;
pub use placed::{PlacedError, PlacedNodes, UnmatchedPlacements, Unreadable};
pub use policy::{
    EstimateRule, Oversize, Policy, PolicyRow, Repair, Rounding, SizeSource, UnknownOversize,
};
pub use report::{Change, CleaningReport, DropReason};
pub use scale::{Scaled, offered_load, scale_load, scaled_name, unscaled_name};
pub use shake::{Shake, ShakeError};
pub use users::Users;
pub use waits::Waits;
pub use window::days_since_1970;
pub use window::{Outside, Start, Window, WindowError};
