//! Placements on 3D tori: the boxes that an operator allows, and the selection of a box for a job.
//!
//! Slurm 26.05 (May 2026) ships the plugin `topology/torus3d`. For each torus, the administrator lists *placements*:
//! boxes of given sides with a grid of positions. Each position of a placement is an *anchor*. A job gets an anchor of
//! a placement with the requested number of nodes. All nodes of the anchor must be free. A fragmentation cost decides
//! between several free anchors. This module implements Slurm's rule exactly, for machines of several toruses with
//! holes. The module depends on neither traces nor schedulers. The [allocator](replay_engine::allocator) `slurm-torus3d` and
//! `replay place` use this module.
//!
//! Source: Slurm 26.05, plugin `topology/torus3d` and the manual page `topology.yaml(5)`, described in our own words.
//!
//! | term | meaning |
//! |---|---|
//! | cell | coordinates (x, y, z) of a torus; its number is x + y X + z X Y |
//! | node | a host, which occupies one cell |
//! | hole | a cell without a node |
//! | placement | a box that jobs may get, with its grid of positions |
//! | anchor | a position of a placement, and the nodes in the box at this position |
//!
//! | module | concept |
//! |---|---|
//! | `positions` | positions along an axis at which a box may begin |
//! | `torus` | a torus with its nodes and placements |
//! | [`config`] | `topology.yaml` |
//! | `free_anchors` | the free anchors, updated incrementally |
//! | [`decide`] | selection of one placement for one request |
//! | [`ties`] | comparison of boxes of all orientations by blocked boxes, contact and delay (not in Slurm) |
//! | [`segments`] | requests in several equal parts, and required nodes |
//! | `fragmentation` | the part of the placements that is blocked |
//! | `rank` | assignment of processes to nodes |
//! | [`menu`] | boxes of machines without a configuration file |
//! | [`tpu_v4`] | a published distribution of boxes |
//! | [`cases`] | decisions read from a file, for external checks |

pub mod cases;
pub mod config;
pub mod decide;
pub(crate) mod fragmentation;
pub(crate) mod free_anchors;
pub mod menu;
mod overlaps;
mod positions;
pub(crate) mod rank;
pub mod segments;
pub mod ties;
pub(crate) mod torus;
pub mod tpu_v4;

pub use torus::{Cells, Layout, Placement, Torus};

#[cfg(test)]
mod tests;
