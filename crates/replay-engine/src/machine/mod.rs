//! The state of a machine's processors.
//!
//! [`Machine`] is the state of a machine. Every allocator reads this state, and only the simulation changes the state.
//! [`BoxCounts`] counts the free processors within L-infinity distance r of a processor in constant time. [`Slots`]
//! records which job is in each slot of a cluster.

mod box_counts;
mod count;
mod slots;
mod state;

pub use box_counts::{BoxCounts, LANES, Row, load};
pub use count::Count;
pub use slots::{Resident, Slots};
pub use state::Machine;
