//! `replay sweep` and `replay plan`: large grids that can be resumed and divided into shards.

mod args;
mod estimate;
mod folder;
mod grid;
mod list;
mod merge;
mod results;
mod run;

pub use args::{ListArgs, PlanArgs, SweepArgs};
pub use grid::of_flags;
pub use list::run as plan;
pub use merge::merge;
pub use run::run as sweep;
