//! Sweeps: grids too long for one sitting.
//!
//! A [`Plan`] numbers the cells of a [grid](super::grid) and gives each a [`CellId`], a
//! digest of what it computes. [`run_sweep`] runs the cells that have no record in the
//! [journal](super::journal) yet; run again after any interruption, it goes on where it
//! stopped. A [`Shard`] is one of n parts of a plan, for n machines that know nothing of
//! each other; a plan written as JSON lets their journals be put together without the
//! traces.
//!
//! EvaluationCache: some forty bytes per finished cell and a few per strategy; results are not held.

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
