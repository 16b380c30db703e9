//! Which processors of a machine are free, and how many of them lie in a box.
//!
//! [`Machine`] is the state every allocator reads and only the simulation changes.
//! [`BoxCounts`] answers "how many free processors lie within L-infinity distance r of
//! this one" in constant time; [`BallCounts`] tells the same of L1 balls on any grid, and
//! [`DiamondCounts`] on 2D meshes.

mod ball_counts;
mod box_counts;
mod count;
mod diamond_counts;
mod free_ranks;
mod state;

pub use ball_counts::BallCounts;
pub use box_counts::{BoxCounts, LANES, Row};
pub use count::Count;
pub use diamond_counts::{Bytes, DiamondCounts, Shorts};
pub use free_ranks::FreeRanks;
pub use state::Machine;
