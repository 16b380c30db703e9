use replay_engine::topology::{NodeId, PairDistances, Topology};

/// Computes lower bounds of the pairwise L1 sum of a job, indexed by job size from 0 to the whole machine.
///
/// Let C(r) be the number of processors within distance r of the processor in the middle, including this processor. No
/// processor has more than C(r) processors within distance r. For a job of k processors, the sum of the distances from
/// one processor to the others is therefore at least the sum over r >= 0 of max(0, k - C(r)). The bound for the whole
/// job is k times the sum for one processor, divided by 2 because each pair is counted twice. No closed form is known
/// for the best shape of each job size; the bound does not require this shape. The value for the whole machine is
/// exact. On trees, on blocks and on machines of several tori, all values are 0.
pub fn least_pairwise_l1(topology: &Topology) -> Vec<u64> {
    let processors = topology.processors();
    if let Topology::MultiTorus(_) | Topology::Hierarchy(_) = topology {
        // On trees, on blocks and on machines of several tori, no single processor has the most processors within every
        // distance.
        return vec![0; processors + 1];
    }
    let middle = middle(topology);
    let mut at_distance: Vec<u64> = Vec::new();
    for node in topology.nodes() {
        let distance = topology.hops(middle, node) as usize;
        if at_distance.len() <= distance {
            at_distance.resize(distance + 1, 0);
        }
        at_distance[distance] += 1;
    }
    let mut within = at_distance;
    for r in 1..within.len() {
        within[r] += within[r - 1];
    }
    let mut least: Vec<u64> = (0..=processors as u64)
        .map(|k| {
            let from_one: u64 = within.iter().map(|&within| k.saturating_sub(within)).sum();
            (k * from_one).div_ceil(2)
        })
        .collect();
    let all: Vec<NodeId> = topology.nodes().collect();
    if let Some(whole) = least.last_mut() {
        *whole = PairDistances::new(topology).sum(&all);
    }
    least
}

/// Returns a processor that has, for every distance, the most processors within this distance. On a grid, this
/// processor is in the middle of each axis, because distances add up over the axes. On a hypercube, all processors are
/// equivalent.
fn middle(topology: &Topology) -> NodeId {
    match topology.grid() {
        Some(grid) => grid.node(grid.axes().map(|axis| axis.extent / 2)),
        None => NodeId(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_jobs_and_whole_machines_are_exact() {
        let least = least_pairwise_l1(&"10x10".parse().expect("a mesh"));
        // The bound is exact for one, two and three processors. The four processors with the smallest sum of distances
        // form a block; the sum is 8.
        assert_eq!(&least[..5], [0, 0, 1, 3, 6]);
        assert_eq!(least[100], 33_000);
        assert_eq!(least.len(), 101);
    }

    proptest! {
        #[test]
        fn bound_is_not_above_any_set(
            machine in proptest::sample::select(vec!["5x6", "3x10", "torus:6x5", "torus[y]:4x7", "3x4x3", "hypercube:5"]),
            members in proptest::collection::vec(any::<bool>(), 64),
            block in 1u32..30,
        ) {
            let topology: Topology = machine.parse().expect("a machine");
            let least = least_pairwise_l1(&topology);
            let any: Vec<_> = topology.nodes().filter(|n| members[n.index()]).collect();
            // For the set of processors that are nearest to a centre, the sum of distances is close to the minimum.
            let mut near: Vec<_> = topology.nodes().collect();
            let centre = middle(&topology);
            near.sort_by_key(|&node| topology.hops(centre, node));
            near.truncate(block as usize);
            for set in [any, near] {
                prop_assert!(least[set.len()] <= PairDistances::new(&topology).sum(&set));
            }
        }
    }
}
