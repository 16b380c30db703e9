//! Sweeps, which are grids that may be run in several sessions.
//!
//! A [`Plan`] numbers the cells of a [grid](super::grid). Each cell has a [`CellId`], which is a digest of everything
//! that determines its result. [`run_recorded`](crate::run_recorded) runs the cells that have no record in the
//! [journal](super::journal). If a
//! sweep is interrupted, another call runs the remaining cells. A [`Shard`] is one of n parts of a plan; the parts can
//! run on n independent machines. If the plan is saved as JSON, the journals of the parts can be merged without the
//! traces.
//!
//! A finished cell occupies about forty bytes of memory, and a strategy occupies a few bytes. Results are not kept in
//! memory.

mod configuration;
mod lazy_digest;
mod pairs;
mod plan;
mod run;
mod shard;

#[cfg(test)]
mod tests;

pub use super::journal::{CellId, CellIdError};
pub use configuration::{CellConfiguration, chains_digest, jobs_digest, text_digest};
pub use lazy_digest::LazyDigest;
pub use pairs::Pairs;
pub use plan::{Build, Plan, PlanError, PlannedTrace};
pub use shard::{Shard, ShardError};
