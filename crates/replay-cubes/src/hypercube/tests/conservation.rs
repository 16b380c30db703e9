//! Checks that each processor is in exactly one list or job after every event.

use proptest::prelude::*;

use crate::hypercube::auxiliary::{Auxiliary, Release};
use crate::hypercube::cubic::Cubic;
use crate::hypercube::free_list::FreeList;
use crate::hypercube::lists::CubeLists;
use crate::hypercube::non_cubic::NonCubic;
use crate::hypercube::tests::agreement::releases;
use crate::hypercube::tests::{cubic_strategies, on};
use replay_contract::{Bench, Event, starts_and_ends};
use replay_engine::allocator::subcube::SidesRule;
use replay_engine::allocator::{Allocator, Refusal, Request};
use replay_engine::machine::Machine;

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
    mut bench: Bench<A>,
    history: &[Event],
    count: impl Fn(&A, &Machine, &mut [u32]),
) {
    let n = bench.machine.processors().ilog2();
    let request = |_: &Machine, share: f64, place: f64| {
        let side = |share: f64| 1 + (share * share * f64::from(1 << (n / 2 + 1))) as u16;
        let shape = [side(share), side(place), 1];
        let size = shape.iter().map(|&side| u32::from(side)).product();
        Request::shaped(size, (share > 0.3).then_some(shape))
    };
    bench.run(history, request, |bench| {
        let postponed = |refusal: &Refusal| matches!(refusal, Refusal::Postponed { .. });
        let last = bench.decisions.last();
        assert!(last.is_none_or(|(_, outcome)| !outcome.as_ref().is_err_and(postponed)));
        bench.refuses_by_count();
        let mut times = vec![0; 1 << n];
        count(&bench.allocator, &bench.machine, &mut times);
        bench.held().flatten().for_each(|node| times[node.index()] += 1);
        assert!(times.iter().all(|&times| times == 1), "{times:?}");
    });
    bench.end_all();
    assert_eq!(bench.census().busy_list, 0);
    bench.gets_whole(None);
    bench.begin();
}

fn history() -> impl Strategy<Value = Vec<Event>> {
    starts_and_ends(1..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn processors_are_in_the_free_list_or_a_job(n in 0u32..=8, history in history()) {
        let bench = on(n, |cube| Cubic::new(cube, SidesRule::Exact, FreeList::new(n)));
        run_and_count(bench, &history, |allocator, _, times| {
            add_lists(times, allocator.subcubes.lists(), n);
        });
    }

    #[test]
    fn processors_are_in_one_of_two_lists_or_a_job(n in 0u32..=8, release in releases(), history in history()) {
        let bench = on(n, |cube| Auxiliary::new(cube, SidesRule::Exact, release, FreeList::new(n)));
        run_and_count(bench, &history, |allocator, _, times| {
            add_lists(times, allocator.subcubes.lists(), n);
            add_lists(times, &allocator.lists, n);
        });
    }

    #[test]
    fn processors_are_in_the_list_or_in_cubes_of_a_job(
        n in 0u32..=8,
        cubes in 1u32..6,
        adjacent in any::<bool>(),
        history in history(),
    ) {
        let bench = on(n, |cube| NonCubic::new(cube, cubes, adjacent));
        run_and_count(bench, &history, |allocator, _, times| {
            add_lists(times, allocator.list.lists(), n);
        });
    }

    /// Most cubic strategies keep no lists. The test therefore checks that no processor is
    /// allocated twice and that the whole hypercube can be allocated at the end. Each strategy is
    /// also used under an auxiliary list.
    #[test]
    fn strategies_lose_no_processors(n in 0u32..=7, history in history()) {
        for (_, subcubes) in cubic_strategies(n) {
            let bench = on(n, |cube| Cubic::new(cube, SidesRule::Compact, subcubes));
            run_and_count(bench, &history, count_free);
        }
        for (_, subcubes) in cubic_strategies(n) {
            let bench = on(n, |cube| Auxiliary::new(cube, SidesRule::Row, Release::Literal, subcubes));
            run_and_count(bench, &history, count_free);
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
        let mut bench = on(n, |cube| NonCubic::new(cube, u32::MAX, true));
        for size in (1..=1u32 << n).chain((1..=1 << n).rev()) {
            let nodes = bench.serve(Request::of_size(size));
            assert_eq!(nodes.len(), size as usize);
            bench.end(&nodes);
        }
    }
}

/// A mesh that needs more dimensions than the hypercube has is refused.
#[test]
fn refuses_meshes_that_cannot_be_embedded() {
    let mut bench =
        on(10, |cube| Auxiliary::new(cube, SidesRule::Exact, Release::Literal, FreeList::new(10)));
    // 20 x 33 has 660 processors and needs eleven dimensions.
    for shape in [[20, 33, 1], [1, 1024, 2], [u16::MAX, u16::MAX, u16::MAX], [0, 4, 1]] {
        let size = shape.iter().map(|&side| u64::from(side)).product::<u64>().clamp(1, 2048) as u32;
        assert_eq!(bench.start(Request::shaped(size, Some(shape))), Err(Refusal::TooFewFree));
    }
    bench.serve(Request::shaped(1024, Some([1, 1024, 1])));
}
