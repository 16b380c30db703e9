//! Dimensions of requests, and the mean dimension of all requests in the system.

use replay_engine::allocator::Request;
use replay_engine::topology::Topology;

/// Returns the dimension of the smallest cube that can hold the request. For a request with a shape
/// on a hypercube, the result is the dimension of the cube in which the shape is embedded. In all
/// other cases, the result is the dimension of the smallest cube with at least the requested number
/// of processors.
pub fn dimension(request: Request, topology: &Topology) -> u32 {
    match (request.shape, topology) {
        (Some(sides), Topology::Hypercube(_)) => sides.iter().map(|&side| log2(side.into())).sum(),
        _ => log2(request.size),
    }
}

fn log2(processors: u32) -> u32 {
    processors.next_power_of_two().ilog2()
}

/// Dimensions of the requests of all waiting and running jobs.
#[derive(Clone, Copy, Debug, Default)]
pub struct InSystem {
    jobs: u64,
    dimensions: u64,
}

impl InSystem {
    /// Adds a job that joins the queue.
    pub fn add(&mut self, dimension: u32) {
        self.jobs += 1;
        self.dimensions += u64::from(dimension);
    }

    /// Removes a job that has ended.
    pub fn remove(&mut self, dimension: u32) {
        self.jobs -= 1;
        self.dimensions -= u64::from(dimension);
    }

    /// Returns the mean dimension, rounded to the nearest integer; halves are rounded up.
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
    fn the_mean_covers_all_jobs_in_the_system() {
        let mut system = InSystem::default();
        assert_eq!(system.mean(), 0);
        [5, 2, 2].into_iter().for_each(|dimension| system.add(dimension));
        assert_eq!(system.mean(), 3);
        system.remove(5);
        assert_eq!(system.mean(), 2);
        system.add(3);
        system.add(3);
        assert_eq!(system.mean(), 3);
    }
}
