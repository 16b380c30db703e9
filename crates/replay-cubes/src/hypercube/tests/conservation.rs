//! Checks that each processor is in exactly one list or job after every event.

use proptest::prelude::*;

use crate::hypercube::auxiliary::{Auxiliary, Release};
use crate::hypercube::cubic::Cubic;
use crate::hypercube::free_list::FreeList;
use crate::hypercube::lists::CubeLists;
use crate::hypercube::non_cubic::NonCubic;
use crate::hypercube::tests::agreement::releases;
use crate::hypercube::tests::cubic_strategies;
use replay_engine::allocator::subcube::SidesRule;
use replay_engine::allocator::{Allocator, MachineEvent, Refusal, Request, RunSetup};
use replay_engine::machine::Machine;
use replay_engine::topology::{Hypercube, NodeId, Topology};

/// Adds to `times`, for each processor, the number of listed cubes that contain it.
fn add_lists(times: &mut [u32], lists: &CubeLists, n: u32) {
    for cube in (0..=n).flat_map(|dimension| lists.of(dimension)) {
        cube.nodes().for_each(|node| times[node.index()] += 1);
    }
}

/// Runs a history of requests and ends through an allocator. Checks after every event that the
/// lists and the running jobs together contain each processor exactly once; `count` counts the
/// processors in the lists. After all jobs have ended, one job gets the whole machine.
fn run_and_count<A: Allocator>(
    n: u32,
    allocator: &mut A,
    history: &[(f64, f64, bool)],
    count: impl Fn(&A, &Machine, &mut [u32]),
) -> Result<(), TestCaseError> {
    let cube = Hypercube::new(n as u8).expect("a hypercube");
    let mut machine = Machine::new(Topology::Hypercube(cube));
    let mut held: Vec<Vec<NodeId>> = vec![];
    for &(share, place, end) in history {
        if end && !held.is_empty() {
            let nodes = held.swap_remove((place * held.len() as f64) as usize);
            machine.release(&nodes);
            allocator.on_event(&machine, MachineEvent::Released(&nodes));
        } else {
            let side = |share: f64| 1 + (share * share * f64::from(1 << (n / 2 + 1))) as u16;
            let shape = [side(share), side(place), 1];
            let size = shape.iter().map(|&side| u32::from(side)).product();
            let shape = (share > 0.3).then_some(shape);
            let mut nodes = vec![];
            match allocator.allocate(&machine, Request::shaped(size, shape), &mut nodes) {
                Ok(()) => {
                    prop_assert!(nodes.len() >= size as usize);
                    let largest = allocator.bounds(Request::shaped(size, shape)).max_processors;
                    prop_assert!(nodes.len() as u64 <= largest);
                    // Panics if a processor is not free or occurs twice.
                    machine.occupy(&nodes);
                    held.push(nodes);
                }
                Err(Refusal::TooFewFree) => prop_assert!(nodes.is_empty()),
                Err(Refusal::Postponed { .. }) => unreachable!("no size is postponed"),
                Err(Refusal::Cancelled(_)) => prop_assert!(false, "the run was not cancelled"),
                Err(Refusal::Fragmented) => {
                    prop_assert!(nodes.is_empty());
                    prop_assert!(size as usize <= machine.free_count());
                }
            }
        }
        let mut times = vec![0; 1 << n];
        count(allocator, &machine, &mut times);
        held.iter().flatten().for_each(|node| times[node.index()] += 1);
        prop_assert!(times.iter().all(|&times| times == 1), "{times:?}");
    }
    for nodes in held {
        machine.release(&nodes);
        allocator.on_event(&machine, MachineEvent::Released(&nodes));
    }
    prop_assert_eq!(allocator.stats().census.map(|census| census.busy_list), Some(0));
    let mut nodes = vec![];
    prop_assert_eq!(allocator.allocate(&machine, Request::of_size(1 << n), &mut nodes), Ok(()));
    allocator.begin(&RunSetup::default()).expect("it works");
    Ok(())
}

fn history() -> impl Strategy<Value = Vec<(f64, f64, bool)>> {
    proptest::collection::vec((0.0..1.0, 0.0..1.0, any::<bool>()), 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn processors_are_in_the_free_list_or_a_job(n in 0u32..=8, history in history()) {
        let cube = Hypercube::new(n as u8).expect("a hypercube");
        let mut allocator = Cubic::new(&cube, SidesRule::Exact, FreeList::new(n));
        run_and_count(n, &mut allocator, &history, |allocator, _, times| {
            add_lists(times, allocator.subcubes.lists(), n);
        })?;
    }

    #[test]
    fn processors_are_in_one_of_two_lists_or_a_job(n in 0u32..=8, release in releases(), history in history()) {
        let cube = Hypercube::new(n as u8).expect("a hypercube");
        let mut allocator = Auxiliary::new(&cube, SidesRule::Exact, release, FreeList::new(n));
        run_and_count(n, &mut allocator, &history, |allocator, _, times| {
            add_lists(times, allocator.subcubes.lists(), n);
            add_lists(times, &allocator.lists, n);
        })?;
    }

    #[test]
    fn processors_are_in_the_list_or_in_cubes_of_a_job(
        n in 0u32..=8,
        cubes in 1u32..6,
        adjacent in any::<bool>(),
        history in history(),
    ) {
        let cube = Hypercube::new(n as u8).expect("a hypercube");
        let mut allocator = NonCubic::new(&cube, cubes, adjacent);
        run_and_count(n, &mut allocator, &history, |allocator, _, times| {
            add_lists(times, allocator.list.lists(), n);
        })?;
    }

    /// Most cubic strategies keep no lists. The test therefore checks that no processor is
    /// allocated twice and that the whole hypercube can be allocated at the end. Each strategy is
    /// also used under an auxiliary list.
    #[test]
    fn strategies_lose_no_processors(n in 0u32..=7, history in history()) {
        let cube = Hypercube::new(n as u8).expect("a hypercube");
        for (_, subcubes) in cubic_strategies(n) {
            let mut allocator = Cubic::new(&cube, SidesRule::Compact, subcubes);
            run_and_count(n, &mut allocator, &history, count_free)?;
        }
        for (_, subcubes) in cubic_strategies(n) {
            let mut allocator = Auxiliary::new(&cube, SidesRule::Row, Release::Literal, subcubes);
            run_and_count(n, &mut allocator, &history, count_free)?;
        }
    }
}

/// Counts the free processors of the machine, for strategies whose lists cannot be counted.
fn count_free<A>(_: &A, machine: &Machine, times: &mut [u32]) {
    machine.free_nodes().for_each(|node| times[node.index()] += 1);
}

/// An empty machine serves every size in adjacent cubes, even if jobs have run on it before.
#[test]
fn an_empty_machine_serves_every_size() {
    for n in 0..=7u32 {
        let cube = Hypercube::new(n as u8).expect("a hypercube");
        let mut machine = Machine::new(Topology::Hypercube(cube));
        let mut allocator = NonCubic::new(&cube, u32::MAX, true);
        for size in (1..=1u32 << n).chain((1..=1 << n).rev()) {
            let mut nodes = vec![];
            let request = Request::of_size(size);
            assert_eq!(allocator.allocate(&machine, request, &mut nodes), Ok(()), "{n} {size}");
            assert_eq!(nodes.len(), size as usize);
            machine.occupy(&nodes);
            machine.release(&nodes);
            allocator.on_event(&machine, MachineEvent::Released(&nodes));
        }
    }
}

/// A mesh that needs more dimensions than the hypercube has is refused.
#[test]
fn refuses_meshes_that_cannot_be_embedded() {
    let cube = Hypercube::new(10).expect("a hypercube");
    let machine = Machine::new(Topology::Hypercube(cube));
    let mut allocator =
        Auxiliary::new(&cube, SidesRule::Exact, Release::Literal, FreeList::new(10));
    // 20 x 33 has 660 processors and needs eleven dimensions.
    for shape in [[20, 33, 1], [1, 1024, 2], [u16::MAX, u16::MAX, u16::MAX], [0, 4, 1]] {
        let size = shape.iter().map(|&side| u64::from(side)).product::<u64>().clamp(1, 2048) as u32;
        let mut nodes = vec![];
        let request = Request::shaped(size, Some(shape));
        assert_eq!(allocator.allocate(&machine, request, &mut nodes), Err(Refusal::TooFewFree));
    }
    let request = Request::shaped(1024, Some([1, 1024, 1]));
    assert_eq!(allocator.allocate(&machine, request, &mut vec![]), Ok(()));
}
