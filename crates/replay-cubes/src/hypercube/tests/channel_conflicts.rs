//! Conflicts of messages: directed channels that two running jobs share if each job sends messages
//! between all pairs of its processors under e-cube routing.

use std::collections::HashSet;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{meshes::all_pairs, on};
use crate::hypercube::auxiliary::{Auxiliary, Release};
use crate::hypercube::free_list::FreeList;
use replay_engine::allocator::Request;
use replay_engine::allocator::subcube::SidesRule;
use replay_engine::topology::NodeId;

type Channels = HashSet<(u32, u32)>;

/// Counts the pairs of simultaneously running jobs that share channels. A job of 5 x 5 holds a
/// hypercube of six dimensions, and small jobs start and end in its unused parts.
fn count_conflicts(release: Release, seeds: u64) -> usize {
    let shapes = [(1, 1), (1, 2), (1, 3), (3, 1), (2, 2), (2, 3), (3, 2), (3, 3), (2, 4)];
    let mut found = 0;
    for seed in 0..seeds {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut bench =
            on(6, |cube| Auxiliary::new(cube, SidesRule::Exact, release, FreeList::new(6)));
        let mut running: Vec<(Vec<NodeId>, Channels)> = vec![];
        let mut shape = (5, 5);
        for _ in 0..300 {
            let request = Request::shaped(
                u32::from(shape.0) * u32::from(shape.1),
                Some([shape.0, shape.1, 1]),
            );
            if let Ok(nodes) = bench.start(request) {
                let own = all_pairs(&nodes.iter().map(|node| node.0).collect::<Vec<_>>());
                found += running.iter().filter(|(_, other)| !own.is_disjoint(other)).count();
                running.push((nodes, own));
            } else if running.len() > 1 {
                let (nodes, _) = running.swap_remove(random.random_range(1..running.len()));
                bench.end(&nodes);
            }
            shape = shapes[random.random_range(0..shapes.len())];
        }
    }
    found
}

/// With `Release::Heir`, jobs share no channels, as the thesis claims for the auxiliary list. The
/// claim holds neither for `Release::Literal`, which is the rule of the figure, nor for
/// `Release::Owner`.
#[test]
fn messages_conflict_unless_subcubes_return() {
    assert_eq!(count_conflicts(Release::Heir, 60), 0);
    assert!(count_conflicts(Release::Owner, 60) > 0);
    assert!(count_conflicts(Release::Literal, 6) > 10);
}
