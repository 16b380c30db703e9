//! Jobs on fewer processors than they request: rules for the next smaller size of a job (Chang and Mohapatra,
//! section 3.2), and the result.

use crate::allocator::Request;
use crate::allocator::submesh::ShapeRule;
use crate::topology::{Grid, Topology};
use crate::workload::Job;

/// Smaller request that a folded job gets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reduction {
    /// The request that is served.
    pub request: Request,
    /// Number of folding steps.
    pub folds: u32,
    /// Run time divided by the run time at the requested size.
    pub stretch: f64,
}

impl Reduction {
    /// Returns the folded job: with fewer processors, and with longer run time and estimate, rounded up to whole ticks.
    pub fn of(&self, job: Job) -> Job {
        let longer = |ticks: i64| (ticks as f64 * self.stretch).ceil() as i64;
        let Request { size, shape, .. } = self.request;
        Job { size, shape, run: longer(job.run), estimate: longer(job.estimate), ..job }
    }
}

/// Rule that makes a request smaller by one step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Folding {
    /// The longer side is halved and rounded up. A job without shape is first given the shape of
    /// exactly its size that is nearest to a square. On a hypercube, a job without shape gets a
    /// cube with one dimension less than the smallest cube that can hold it.
    Side,
    /// The next smaller square of side 2^i, with a quarter of the processors.
    Square,
    /// Half of the processors, rounded up, at any positions.
    Count,
}

/// A smaller request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Folded {
    /// The smaller request.
    pub request: Request,
    /// Number of processes of the larger request per processor of the smaller request.
    pub ratio: u32,
}

impl Folding {
    /// Returns the request that results from one folding step; `None` if the request cannot be made
    /// smaller.
    pub fn fold(self, request: Request, topology: &Topology) -> Option<Folded> {
        let request = match self {
            Folding::Square => return square(request),
            Folding::Side => match (request.shape, topology) {
                (Some(sides), _) => of_sides(halved(sides)?),
                (None, Topology::Grid(grid)) => match sides(request.size, grid) {
                    Some(sides) => of_sides(halved(sides)?),
                    // The job requests more processors than the machine has.
                    None => count(request.size)?,
                },
                (None, Topology::Hypercube(_)) => subcube(request.size)?,
                (None, _) => count(request.size)?,
            },
            Folding::Count => match (request.shape, topology) {
                (Some(sides), _) => of_sides(halved(sides)?),
                (None, Topology::Hypercube(_)) => subcube(request.size)?,
                (None, _) => count(request.size)?,
            },
        };
        Some(Folded { request, ratio: 2 })
    }
}

/// Halves the first of the longest sides.
fn halved(mut sides: [u16; 3]) -> Option<[u16; 3]> {
    let longest = *sides.iter().max()?;
    let side = sides.iter_mut().find(|side| **side == longest && longest > 1)?;
    *side = side.div_ceil(2);
    Some(sides)
}

fn of_sides(sides: [u16; 3]) -> Request {
    let size = sides.iter().map(|&side| u32::from(side)).product();
    Request::shaped(size, Some(sides))
}

fn sides(size: u32, grid: &Grid) -> Option<[u16; 3]> {
    ShapeRule::Factors.shape(size, grid)
}

/// Returns a request for a subcube with one dimension less than the smallest subcube that can hold
/// the job.
fn subcube(size: u32) -> Option<Request> {
    let dimension = size.next_power_of_two().ilog2().checked_sub(1)?;
    Some(Request::of_size(1 << dimension))
}

fn count(size: u32) -> Option<Request> {
    (size > 1).then(|| Request::of_size(size.div_ceil(2)))
}

/// Halves the side of the smallest square of side 2^i that can hold the job. The side of a narrow
/// job is halved repeatedly, until the square has fewer processors than the job requests.
fn square(request: Request) -> Option<Folded> {
    let of_size = request.size.saturating_sub(1).isqrt() + 1;
    let of_shape = request.shape.map_or(1, |[width, height, _]| u32::from(width.max(height)));
    let mut side = of_size.max(of_shape).next_power_of_two() / 2;
    while side * side >= request.size && side > 0 {
        side /= 2;
    }
    let side = u16::try_from(side).ok().filter(|&side| side > 0)?;
    Some(Folded { request: of_sides([side, side, 1]), ratio: 4 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the size of a request and the sizes after each folding step.
    fn steps(folding: Folding, request: Request, machine: &str) -> Vec<u32> {
        let topology = machine.parse().expect("a machine");
        let next = |last: &Request| Some(folding.fold(*last, &topology)?.request);
        std::iter::successors(Some(request), next).map(|request| request.size).collect()
    }

    fn shaped(sides: [u16; 3]) -> Request {
        of_sides(sides)
    }

    #[test]
    fn the_longer_side_is_halved_and_rounded_up() {
        let topology = "32x32".parse().expect("a mesh");
        let folded = Folding::Side.fold(shaped([9, 5, 1]), &topology).expect("it can be folded");
        assert_eq!((folded.request.shape, folded.ratio), (Some([5, 5, 1]), 2));
        // If sides are equal, the first side is halved.
        let again = Folding::Side.fold(folded.request, &topology).expect("it can be folded");
        assert_eq!(again.request, Request::shaped(15, Some([3, 5, 1])));
        assert_eq!(steps(Folding::Side, shaped([1, 1, 1]), "32x32"), [1]);
        // A job without a shape is folded from 6 x 4 to 3 x 4, 3 x 2, 2 x 2, 1 x 2 and 1 x 1.
        assert_eq!(steps(Folding::Side, Request::of_size(24), "32x32"), [24, 12, 6, 4, 2, 1]);
        assert_eq!(steps(Folding::Count, Request::of_size(7), "32x32"), [7, 4, 2, 1]);
    }

    #[test]
    fn a_square_loses_three_quarters() {
        let topology = "32x32".parse().expect("a mesh");
        // 17 x 17 needs a square of side 32.
        let folded =
            Folding::Square.fold(shaped([17, 17, 1]), &topology).expect("it can be folded");
        assert_eq!((folded.request.shape, folded.ratio), (Some([16, 16, 1]), 4));
        assert_eq!(steps(Folding::Square, shaped([17, 17, 1]), "32x32"), [289, 256, 64, 16, 4, 1]);
        assert_eq!(steps(Folding::Square, Request::of_size(3), "32x32"), [3, 1]);
    }

    #[test]
    fn requests_larger_than_the_machine_are_halved() {
        assert_eq!(
            steps(Folding::Side, Request::of_size(100), "4x4"),
            [100, 50, 25, 13, 8, 4, 2, 1]
        );
        assert_eq!(steps(Folding::Side, Request::of_size(100), "hypercube:4")[..3], [100, 64, 32]);
    }

    #[test]
    fn a_subcube_loses_a_dimension() {
        let cube = "hypercube:10";
        assert_eq!(steps(Folding::Side, Request::of_size(600), cube)[..3], [600, 512, 256]);
        assert_eq!(steps(Folding::Side, Request::of_size(8), cube), [8, 4, 2, 1]);
        // The shorter side of a mesh does not change, and the cube of the mesh loses one dimension.
        assert_eq!(steps(Folding::Side, shaped([20, 30, 1]), cube)[..3], [600, 300, 150]);
    }

    proptest! {
        #[test]
        fn every_reduction_ends_at_one_processor(sides in [1..33u16, 1..33u16, 1..2u16], by_shape in any::<bool>()) {
            let mut request = shaped(sides);
            if !by_shape {
                request.shape = None;
            }
            for folding in [Folding::Side, Folding::Square, Folding::Count] {
                for machine in ["32x32", "hypercube:10", "cluster:1024"] {
                    let sizes = steps(folding, request, machine);
                    prop_assert!(sizes.windows(2).all(|pair| pair[1] < pair[0]), "{sizes:?}");
                    prop_assert_eq!(sizes.last(), Some(&1));
                }
            }
        }
    }
}
