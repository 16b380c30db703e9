//! The state of a machine's processors, and counts of free processors in boxes and balls.
//!
//! [`Machine`] is the state of a machine. Every allocator reads this state, and only the simulation
//! changes the state. `BoxCounts` counts the free processors within L-infinity distance r of a
//! processor in constant time. `BallCounts` counts the free processors within L1 distance r on any
//! grid. `DiamondCounts` counts the free processors within L1 distance r on 2D meshes.

mod ball_counts;
mod box_counts;
mod count;
mod diamond_counts;
mod free_ranks;
mod state;

pub(crate) use ball_counts::BallCounts;
pub(crate) use box_counts::{BoxCounts, LANES, Row};
pub(crate) use count::Count;
pub(crate) use diamond_counts::{DiamondCounts, Shorts};
pub(crate) use free_ranks::FreeRanks;
pub use state::Machine;
