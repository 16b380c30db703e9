//! Dimensions of requests, and their mean over the system.

use crate::allocator::Request;
use crate::topology::Topology;

/// The dimension of the least cube that holds the request: of a mesh on a hypercube, of the cube in
/// which it is embedded side by side; elsewhere of as many processors.
pub fn dimension(request: Request, topology: &Topology) -> u32 {
    match (request.shape, topology) {
        (Some(sides), Topology::Hypercube(_)) => sides.iter().map(|&side| log2(side.into())).sum(),
        _ => log2(request.size),
    }
}

fn log2(processors: u32) -> u32 {
    processors.next_power_of_two().ilog2()
}

/// The dimensions that the jobs in the system asked for, waiting or running.
#[derive(Clone, Copy, Debug, Default)]
pub struct InSystem {
    jobs: u64,
    dimensions: u64,
}

impl InSystem {
    /// A job joins the queue.
    pub fn arrives(&mut self, dimension: u32) {
        self.jobs += 1;
        self.dimensions += u64::from(dimension);
    }

    /// A job is done.
    pub fn departs(&mut self, dimension: u32) {
        self.jobs -= 1;
        self.dimensions -= u64::from(dimension);
    }

    /// The mean, to the nearest dimension; halves upwards.
    pub fn mean(&self) -> u32 {
        let jobs = self.jobs.max(1);
        ((2 * self.dimensions + jobs) / (2 * jobs)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mesh_needs_the_cube_it_is_embedded_in() {
        let cube = "hypercube:10".parse().expect("a cube");
        let shaped = |shape| Request { shape: Some(shape), ..Request::of_size(25) };
        assert_eq!(dimension(shaped([5, 5, 1]), &cube), 6);
        assert_eq!(dimension(Request::of_size(25), &cube), 5);
        assert_eq!(dimension(shaped([5, 5, 1]), &"32x32".parse().expect("a mesh")), 5);
    }

    #[test]
    fn the_mean_is_over_all_who_wait_or_run() {
        let mut system = InSystem::default();
        assert_eq!(system.mean(), 0);
        [5, 2, 2].into_iter().for_each(|dimension| system.arrives(dimension));
        assert_eq!(system.mean(), 3);
        system.departs(5);
        assert_eq!(system.mean(), 2);
        system.arrives(3);
        system.arrives(3);
        assert_eq!(system.mean(), 3);
    }
}
