//! Subcubes of hypercubes, and meshes within subcubes.
//!
//! Subcubes are written as ternary strings such as `0**10*`, highest dimension first. A job requests a mesh: its own
//! shape, or a mesh that a [rule](SidesRule) selects. The mesh is [embedded](Mesh) in a subcube by Gray codes.

mod cube;
pub mod gray;
mod mesh;
mod sides;

pub use cube::{Cube, CubeError, deposit};
pub use mesh::Mesh;
pub use sides::{Sides, SidesRule, bits};

use super::{Refusal, Request};

/// Returns the mesh of a request on a hypercube of `n` dimensions, if its subcube has at most
/// `free` processors.
///
/// # Errors
/// [`Refusal::TooFewFree`] if the subcube has more than `free` processors, or more dimensions than
/// the hypercube.
pub fn mesh_of(sides: &mut Sides, n: u32, request: Request, free: usize) -> Result<Mesh, Refusal> {
    let sides = sides.of(request).ok_or(Refusal::TooFewFree)?;
    // A side of more than 2^n positions needs more bits than the hypercube has dimensions.
    if sides.iter().any(|&side| side > 1 << n) {
        return Err(Refusal::TooFewFree);
    }
    let mesh = Mesh::new(sides);
    if mesh.dimension() > n || 1 << mesh.dimension() > free {
        return Err(Refusal::TooFewFree);
    }
    Ok(mesh)
}
