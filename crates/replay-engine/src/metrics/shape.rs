//! The shape of allocations: diameter, dispersal and connected components.

use serde::{Deserialize, Serialize};

use super::Placement;
use super::measure::{Finished, Measure, Needs, Placed, Setup, optional};
use crate::simulation::Observer;
use crate::table::{Column, measures};

measures! {
    /// Metrics of the allocations of a run, as means over jobs.
    #[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
    pub struct PlacementMetrics, from places: &ShapeSums {
        mean_diameter: f64 ["hops"] "mean over jobs of the largest L-infinity distance between two processors, \
            including processors lost to internal fragmentation; null if not measured"
            = places.mean(places.diameter as f64);
        mean_dispersal: f64 ["share"] "mean over jobs of the share of processors in the smallest enclosing box that \
            are not held by the job; processors lost to internal fragmentation are counted as held; null if not \
            measured"
            = places.mean(places.dispersal);
        mean_weighted_dispersal: f64 ["processors"] "mean over jobs of dispersal multiplied by the number of \
            processors, \
            including processors lost to internal fragmentation; null if not measured"
            = places.mean(places.weighted_dispersal);
        mean_components: f64 ["components"] "mean over jobs of the number of connected components of its processors, \
            including processors lost to internal fragmentation; null if not measured"
            = places.mean(places.components as f64);
        contiguous_percent: f64 ["%", rising] "share of jobs in one connected component; null if not measured"
            = places.mean(100.0 * places.contiguous as f64);
    }
}

/// Sums over allocations. The sums do not depend on the number of threads, because they are sums of integers, or
/// because their values are added in job order.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ShapeSums {
    jobs: i64,
    diameter: i64,
    dispersal: f64,
    weighted_dispersal: f64,
    components: i64,
    contiguous: i64,
}

impl ShapeSums {
    /// Adds an allocation if the sign is 1; subtracts the allocation if the sign is -1.
    fn add_job(&mut self, placement: &Placement, sign: i64) {
        self.jobs += sign;
        self.diameter += sign * i64::from(placement.diameter);
        self.dispersal += sign as f64 * placement.dispersal;
        self.weighted_dispersal += sign as f64 * placement.weighted_dispersal;
        self.components += sign * i64::from(placement.components);
        self.contiguous += sign * i64::from(placement.components == 1);
    }

    fn mean(&self, sum: f64) -> f64 {
        sum / self.jobs as f64
    }
}

impl Observer for ShapeSums {}

impl Measure for ShapeSums {
    type Metrics = Option<PlacementMetrics>;
    const NEEDS: Needs = Needs::Placements;

    fn new(setup: &Setup<'_>) -> Option<Self> {
        setup.placements.then(Self::default)
    }

    fn columns() -> Vec<Column<Option<PlacementMetrics>>> {
        optional(PlacementMetrics::columns())
    }

    fn placed(&mut self, placed: &Placed<'_>) {
        placed.placement.iter().for_each(|placement| self.add_job(placement, 1));
    }

    fn withdrawn(&mut self, placed: &Placed<'_>) {
        placed.placement.iter().for_each(|placement| self.add_job(placement, -1));
    }

    fn add(&mut self, other: &Self) {
        self.jobs += other.jobs;
        self.diameter += other.diameter;
        self.dispersal += other.dispersal;
        self.weighted_dispersal += other.weighted_dispersal;
        self.components += other.components;
        self.contiguous += other.contiguous;
    }

    fn finish(&self, _: &Finished<'_>) -> Option<PlacementMetrics> {
        (self.jobs > 0).then(|| PlacementMetrics::of(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Locality;
    use crate::topology::{NodeId, Topology};

    #[test]
    fn interrupted_allocations_do_not_count() {
        let mesh: Topology = "4x4".parse().expect("a machine");
        let mut locality = Locality::new(&mesh);
        let mut placement = |nodes: &[u32]| {
            let nodes: Vec<NodeId> = nodes.iter().copied().map(NodeId).collect();
            locality.placement(&nodes, nodes.len() as u32)
        };
        let [line, corners] = [placement(&[0, 1]), placement(&[0, 15])];
        let of =
            |placement| Placed { size: 2, pairwise_l1: 0, placement: Some(placement), tied: None };
        let mut sums = ShapeSums::default();
        assert_eq!(sums.finish(&Finished::default()), None);
        [&line, &corners].into_iter().for_each(|placement| sums.placed(&of(placement)));
        let both = sums.finish(&Finished::default()).expect("metrics");
        assert_eq!(
            (both.mean_diameter, both.mean_components, both.contiguous_percent),
            (2.0, 1.5, 50.0)
        );
        sums.withdrawn(&of(&corners));
        let first = sums.finish(&Finished::default()).expect("metrics");
        assert_eq!((first.mean_diameter, first.contiguous_percent), (1.0, 100.0));
    }
}
