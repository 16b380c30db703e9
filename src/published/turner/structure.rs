//! Chapters 2 and 3: subcubes, and what meshes leave of them.

use super::{AFL, FL, defect, printed};
use crate::allocator::Request;
use crate::allocator::hypercube::mesh::Mesh;
use crate::allocator::registry::AllocatorSpec;
use crate::published::exchange::with_swaps;
use crate::published::{Check, Tolerance, VerifyError};
use crate::topology::Topology;

/// What these checks are about.
pub const MACHINE: &str = "hypercube";

const EXACT: Tolerance = Tolerance::Absolute(0.0);

/// The checks of both chapters.
pub fn checks() -> Result<Vec<Check>, VerifyError> {
    with_swaps(of([FL, AFL])?, [[FL, AFL]], |_| of([AFL, FL]))
}

/// The checks with these strategies as the free list and the auxiliary one.
fn of([fl, afl]: [&str; 2]) -> Result<Vec<Check>, VerifyError> {
    let ten = "hypercube:10";
    let machine: Topology = ten.parse().map_err(defect)?;
    let request = Request::shaped(600, Some([20, 30, 1]));
    let held = |name: &str| {
        let spec: AllocatorSpec = name.parse().map_err(defect)?;
        let mut allocator = spec.build(&machine, 0).map_err(defect)?;
        Ok::<f64, VerifyError>(allocator.largest_allocation(request) as f64)
    };
    let left = |x: u32, y: u32| {
        let mut cubes = Vec::new();
        Mesh::new([x, y, 1]).append_leftover(&mut cubes);
        cubes
    };
    let mut checks = vec![
        printed("section 3.1", ten, "20x30 mesh: processors held, FL", "1024", held(fl)?, EXACT)?,
        printed("section 3.1", ten, "20x30 mesh: processors held, AFL", "600", held(afl)?, EXACT)?,
    ];
    let cubes = left(20, 30);
    let nodes: usize = cubes.iter().map(|cube| cube.processors()).sum();
    let what = "20x30 mesh: processors left";
    checks.push(printed("section 3.3.1", ten, what, "424", nodes as f64, EXACT)?);
    let mut dimensions: Vec<u32> = cubes.iter().map(|cube| cube.dimension()).collect();
    dimensions.sort_unstable_by(|a, b| b.cmp(a));
    for (place, dimension) in ["8", "7", "5", "3"].iter().zip(&dimensions) {
        let what = format!("20x30 mesh: dimensions of a cube left ({} in all)", dimensions.len());
        checks.push(printed("section 3.3.1", ten, &what, place, f64::from(*dimension), EXACT)?);
    }
    let small = left(4, 6);
    let what = "4x6 mesh: dimensions of the only cube left";
    let only = match small.as_slice() {
        [cube] => f64::from(cube.dimension()),
        _ => f64::NAN,
    };
    checks.push(printed("chapter 4", "hypercube:6", what, "3", only, EXACT)?);
    let sides = || (1..=16).flat_map(|x| (1..=16).map(move |y| (x, y)));
    let largest = sides().flat_map(|(x, y)| left(x, y)).map(|cube| cube.dimension()).max();
    let what = "meshes up to 16x16: dimensions of the largest cube left";
    let largest = largest.map_or(f64::NAN, f64::from);
    checks.push(printed("section 4.1", ten, what, "6", largest, EXACT)?);
    Ok(checks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::Verdict;

    #[test]
    fn what_is_printed_is_so() {
        let checks = checks().expect("they run");
        assert_eq!(checks.len(), 9);
        for check in checks {
            assert_eq!(check.verdict(), Verdict::Same, "{}: {:?}", check.what, check.ours);
        }
    }
}
