//! What parameters that several strategies have mean.

use crate::allocator::options::grid_of;
use crate::topology::{Grid, Topology};

/// `rotate=`.
pub const ROTATE: &str =
    "also try the other permutations of the sides (two in 2D, six in 3D), as turning-... does";

/// `shape=`.
pub const SHAPE: &str = "sides of a job that comes without: exact and most nearly square, least total side length, or every exact factorisation in turn";

/// The grid of a machine for `what` is defined on meshes only.
///
/// # Errors
/// In words, if the machine is no grid or wraps around.
pub fn mesh_for<'a>(topology: &'a Topology, what: &str) -> Result<&'a Grid, String> {
    let grid = grid_of(topology)?;
    match grid.is_wrapped() {
        true => Err(format!("{what} needs a mesh, without wrap-around")),
        false => Ok(grid),
    }
}
