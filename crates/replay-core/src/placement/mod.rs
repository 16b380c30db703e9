//! Placements on 3D tori: the boxes that an operator allows, and which of them a job gets.
//!
//! Slurm 26.05 (May 2026) ships the plugin `topology/torus3d`. Its administrator lists, for each
//! torus, *placements*: boxes of given sides with a grid of positions. A job of as many nodes as a
//! placement has gets one of its *anchors*, a position with all nodes free; a cost of
//! fragmentation decides between several. This room holds that rule to the letter, for machines
//! of several toruses with holes. It knows nothing of traces or schedulers; `slurm-torus3d` (an
//! [allocator](crate::allocator)) and `replay place` build on it.
//!
//! Source: Slurm 26.05, plugin `topology/torus3d` and its manual page `topology.yaml(5)`, told in
//! our own words.
//!
//! | word | meaning |
//! |---|---|
//! | cell | coordinates (x, y, z) of a torus; its number is x + y X + z X Y |
//! | node | the machine in a cell |
//! | hole | a cell without a node |
//! | placement | a box that jobs may have, with its grid of positions |
//! | anchor | one position of a placement, and the nodes in the box there |
//!
//! | room | concept |
//! |---|---|
//! | [`positions`] | where along an axis a box may begin |
//! | [`torus`] | a torus with its nodes and placements |
//! | [`config`] | `topology.yaml` |
//! | [`open`] | which anchors are free, kept from decision to decision |
//! | [`decide`] | one placement for one request |
//! | [`ties`] | what goes beyond Slurm: boxes of all orientations compared by what they block, touch and delay |
//! | [`segments`] | requests in several equal parts, and required nodes |
//! | [`fragmentation`] | how much of the placements is blocked |
//! | [`rank`] | which process goes to which node |
//! | [`menu`] | boxes where no file says which |
//! | [`tpu_v4`] | a published mix of boxes |
//! | [`cases`] | decisions from a file, for checks from outside |

pub mod cases;
pub mod config;
pub mod decide;
pub mod fragmentation;
pub mod menu;
mod near;
pub mod open;
pub mod positions;
pub mod rank;
pub mod segments;
pub mod ties;
pub mod torus;
pub mod tpu_v4;

pub use torus::{Cells, Layout, Placement, Torus};

#[cfg(test)]
mod tests;
