//! Sweeps: grids that may be run in several sessions.
//!
//! A [`Plan`] numbers the cells of a [grid](super::grid) and gives each a [`CellId`], a digest of its computation.
//! [`run_sweep`] runs the cells without a record in the [journal](super::journal); after any interruption, another
//! call continues. A [`Shard`] is one of n parts of a plan for n independent machines; with a plan saved as JSON
//! their journals can be merged without the traces.
//!
//! Memory: about forty bytes per finished cell and a few per strategy; results are not kept.

mod configuration;
mod pairs;
mod plan;
mod run;
mod shard;

#[cfg(test)]
mod tests;

pub use super::journal::{CellId, CellIdError};
pub use configuration::{CellConfiguration, chains_digest, jobs_digest, text_digest};
pub use pairs::Pairs;
pub use plan::{Build, Plan, PlanError, PlannedTrace};
pub use run::{SweepError, pending, run_plan, run_sweep};
pub use shard::{Shard, ShardError};
