//! The strategies make the same choices as the reference implementations.

use proptest::prelude::*;

use crate::hypercube::auxiliary::{Auxiliary, Release};
use crate::hypercube::cubic::{Cubic, Subcubes};
use crate::hypercube::free_list::FreeList;
use crate::hypercube::lists::CubeLists;
use crate::hypercube::non_cubic::NonCubic;
use crate::hypercube::tests::{cubic_strategies, reference};
use replay_engine::allocator::subcube::Cube;
use replay_engine::allocator::subcube::SidesRule;
use replay_engine::allocator::{Allocator, MachineEvent, Request, RunSetup};
use replay_engine::machine::Machine;
use replay_engine::topology::{Hypercube, NodeId, Topology};

fn reference_strategy(name: &str, n: u32) -> Box<dyn Subcubes> {
    match name {
        "buddy" => Box::new(reference::Ordered::buddy(n)),
        "gray-code" => Box::new(reference::Ordered::gray_code(n)),
        "modified-buddy" => Box::new(reference::Ordered::modified_buddy(n)),
        "three-gray-codes" => Box::new(reference::Ordered::three_gray_codes(n)),
        "multiple-gray-code" => Box::new(reference::Ordered::multiple_gray_code(n)),
        "free-list" => Box::new(reference::FreeList::new(n)),
        "maximal-set" => Box::new(reference::MaximalSet::new(n)),
        _ => panic!("{name} has no reference implementation"),
    }
}

/// Generates a history. Each step has two numbers in 0..1 that select a size and a job (small sizes
/// are more frequent), and a flag that is set if a job ends first.
fn history(steps: usize) -> impl Strategy<Value = Vec<(f64, f64, bool)>> {
    proptest::collection::vec((0.0..1.0, 0.0..1.0, any::<bool>()), 1..steps)
}

fn lists_of(lists: &CubeLists, n: u32) -> Vec<Vec<Cube>> {
    (0..=n).map(|dimension| lists.of(dimension).collect()).collect()
}

pub fn releases() -> impl Strategy<Value = Release> {
    proptest::sample::select(Release::ALL.map(|(_, release)| release).to_vec())
}

fn pick(share: f64, count: usize) -> usize {
    (share * count as f64) as usize
}

/// Occasionally selects a free processor that goes out of service.
fn node_going_down(n: u32, held: &[Cube], share: f64, place: f64) -> Option<Cube> {
    let free = |node: &u32| !held.iter().any(|cube| cube.contains(*node));
    let free: Vec<u32> = (0..1 << n).filter(free).collect();
    let node = (share > 0.8).then(|| free.get(pick(place, free.len())).copied()).flatten();
    node.map(|base| Cube { stars: 0, base })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn cubic_strategies_agree_with_the_reference(n in 0u32..=7, history in history(60)) {
        for (name, mut fast) in cubic_strategies(n) {
            let mut reference = reference_strategy(name, n);
            let mut held: Vec<Cube> = vec![];
            for &(share, place, end) in &history {
                if end && !held.is_empty() {
                    let mut cube = held.swap_remove(pick(place, held.len()));
                    // A part of a cube can be returned like a whole cube.
                    if share < 0.3 && cube.dimension() > 0 {
                        let (low, high) = cube.split();
                        held.push(low);
                        cube = high;
                    }
                    fast.give(cube);
                    reference.give(cube);
                } else if let Some(node) = node_going_down(n, &held, share, place) {
                    fast.withdraw(node);
                    reference.withdraw(node);
                    held.push(node);
                } else {
                    let k = pick(share * share, n as usize + 1) as u32;
                    let cube = fast.take(k);
                    prop_assert_eq!(cube, reference.take(k), "{} {}", name, k);
                    held.extend(cube);
                }
            }
            fast.clear();
            prop_assert_eq!(fast.take(n), Some(Cube::whole(n)), "{}", name);
        }
    }

    #[test]
    fn free_lists_agree_with_the_reference(n in 0u32..=7, history in history(120)) {
        let (mut fast, mut reference) = (FreeList::new(n), reference::FreeList::new(n));
        let mut held: Vec<Cube> = vec![];
        for (share, place, end) in history {
            if end && !held.is_empty() {
                let cube = held.swap_remove(pick(place, held.len()));
                fast.give(cube);
                reference.give(cube);
            } else if let Some(node) = node_going_down(n, &held, share, place) {
                fast.withdraw(node);
                reference.withdraw(node);
                held.push(node);
            } else {
                let k = pick(share * share, n as usize + 1) as u32;
                let cube = fast.take(k);
                prop_assert_eq!(cube, reference.take(k));
                held.extend(cube);
            }
            prop_assert_eq!(&lists_of(fast.lists(), n), &reference.lists);
        }
    }

    #[test]
    fn auxiliary_lists_agree_with_the_reference(n in 0u32..=7, release in releases(), history in history(80)) {
        let cube = Hypercube::new(n as u8).expect("a hypercube");
        let mut machine = Machine::new(Topology::Hypercube(cube));
        let mut fast = Auxiliary::new(&cube, SidesRule::Exact, release, FreeList::new(n));
        let mut reference = reference::Auxiliary::new(n, release);
        let mut held: Vec<(usize, Vec<NodeId>)> = vec![];
        for (share, place, end) in history {
            if end && !held.is_empty() {
                let (job, nodes) = held.swap_remove(pick(place, held.len()));
                machine.release(&nodes);
                fast.on_event(&machine, MachineEvent::Released(&nodes));
                reference.release(job);
            } else {
                let side = |share: f64| 1 + pick(share * share, 1 << (n / 2 + 1)) as u32;
                let sides = [side(share), side(place), 1];
                let size = sides.iter().product();
                let request = Request::shaped(size, Some(sides.map(|side| side as u16)));
                let mut nodes = vec![];
                let outcome = fast.allocate(&machine, request, &mut nodes);
                // The reference is not called if the subcube has more processors than are free.
                let mesh = replay_engine::allocator::subcube::Mesh::new(sides);
                let job = (1 << mesh.dimension() <= machine.free_count()).then(|| reference.allocate(sides)).flatten();
                prop_assert_eq!(outcome.is_ok(), job.is_some());
                if let Some(job) = job {
                    let mut expected = vec![];
                    mesh.append_to(reference.jobs[job].host, &mut expected);
                    prop_assert_eq!(&nodes, &expected);
                    machine.occupy(&nodes);
                    held.push((job, nodes));
                }
            }
            prop_assert_eq!(&lists_of(fast.subcubes.lists(), n), &reference.base.lists);
            let owned: Vec<Vec<(Cube, usize)>> = (0..=n).map(|dimension| {
                fast.lists.of(dimension).map(|cube| {
                    let owner = fast.owner(cube).expect("an owner");
                    let running = reference.jobs.iter().position(|job| job.running && job.host.base == owner.0);
                    (cube, running.expect("the owner runs"))
                }).collect()
            }).collect();
            prop_assert_eq!(&owned, &reference.lists);
        }
    }

    #[test]
    fn non_cubic_allocations_agree_with_the_reference(
        n in 0u32..=6,
        cubes in 1u32..5,
        adjacent in any::<bool>(),
        history in history(60),
    ) {
        let cube = Hypercube::new(n as u8).expect("a hypercube");
        let mut machine = Machine::new(Topology::Hypercube(cube));
        let mut fast = NonCubic::new(&cube, cubes, adjacent);
        let mut reference = reference::NonCubic { base: reference::FreeList::new(n), cubes, adjacent };
        let mut held: Vec<(Vec<Cube>, Vec<NodeId>)> = vec![];
        for (share, place, end) in history {
            if end && !held.is_empty() {
                let (cubes, nodes) = held.swap_remove(pick(place, held.len()));
                machine.release(&nodes);
                fast.on_event(&machine, MachineEvent::Released(&nodes));
                cubes.into_iter().for_each(|cube| reference.base.give(cube));
            } else {
                let size = 1 + pick(share * share, 1 << n) as u32;
                let mut nodes = vec![];
                let outcome = fast.allocate(&machine, Request::of_size(size), &mut nodes);
                // The reference is not called for more processors than are free.
                let rounded = (size..=1 << n).find(|size| size.count_ones() <= cubes);
                let possible = rounded.is_some_and(|size| size as usize <= machine.free_count());
                let taken = possible.then(|| reference.allocate(size)).flatten();
                prop_assert_eq!(outcome.is_ok(), taken.is_some());
                if let Some(taken) = taken {
                    let expected: Vec<NodeId> = taken.iter().flat_map(|cube| cube.nodes()).collect();
                    prop_assert_eq!(&nodes, &expected);
                    prop_assert_eq!(fast.stats().census.map(|census| census.blocks), Some(taken.len() as u32));
                    machine.occupy(&nodes);
                    held.push((taken, nodes));
                }
            }
            prop_assert_eq!(&lists_of(fast.list.lists(), n), &reference.base.lists);
        }
    }
}

/// A cubic strategy allocates the processors of its subcube; the processors of the mesh come first.
#[test]
fn cubic_allocations_begin_with_their_mesh() {
    let cube = Hypercube::new(5).expect("a hypercube");
    let mut machine = Machine::new(Topology::Hypercube(cube));
    let mut allocator = Cubic::new(&cube, SidesRule::Exact, FreeList::new(5));
    let mut first = vec![];
    let request = Request::shaped(6, Some([3, 2, 1]));
    assert_eq!(allocator.allocate(&machine, request, &mut first), Ok(()));
    let numbers: Vec<u32> = first.iter().map(|node| node.0).collect();
    // The high bits are the codewords 00, 01 and 11 of x; the lowest bit is the codeword 0 or 1 of
    // y.
    assert_eq!(numbers, [0b000, 0b010, 0b110, 0b001, 0b011, 0b111, 0b100, 0b101]);
    machine.occupy(&first);
    let mut second = vec![];
    assert_eq!(allocator.allocate(&machine, Request::of_size(5), &mut second), Ok(()));
    assert_eq!((second.len(), second[0]), (8, NodeId(8)));
    allocator.on_event(&machine, MachineEvent::Released(&first));
    allocator.begin(&RunSetup::default()).expect("it works");
    let mut again = vec![];
    assert_eq!(
        allocator.allocate(&Machine::new(Topology::Hypercube(cube)), request, &mut again),
        Ok(())
    );
    assert_eq!(again, first);
}
