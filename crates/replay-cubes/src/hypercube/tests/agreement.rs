//! The strategies make the same choices as the reference implementations.

use std::collections::HashMap;

use proptest::prelude::*;

use crate::hypercube::auxiliary::{Auxiliary, Release};
use crate::hypercube::cubic::{Cubic, Subcubes};
use crate::hypercube::free_list::FreeList;
use crate::hypercube::lists::CubeLists;
use crate::hypercube::non_cubic::NonCubic;
use crate::hypercube::tests::{cubic_strategies, on, reference};
use replay_contract::{Event, history, pick, starts_and_ends};
use replay_engine::allocator::Request;
use replay_engine::allocator::subcube::{Cube, SidesRule};
use replay_engine::machine::Machine;
use replay_engine::topology::{Hypercube, NodeId};

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

fn lists_of(lists: &CubeLists, n: u32) -> Vec<Vec<Cube>> {
    (0..=n).map(|dimension| lists.of(dimension).collect()).collect()
}

pub fn releases() -> impl Strategy<Value = Release> {
    proptest::sample::select(Release::ALL.map(|(_, release)| release).to_vec())
}

/// Runs a history through a strategy and its reference implementation. A processor goes out of service as a cube of its
/// own; a part of a cube can be returned like a whole cube.
fn run_both<F: Subcubes + ?Sized, R: Subcubes + ?Sized>(
    n: u32,
    (fast, reference): (&mut F, &mut R),
    history: &[Event],
    check: impl Fn(&F, &R),
) {
    let mut held: Vec<Cube> = vec![];
    for &event in history {
        match event {
            Event::End(share) | Event::Up(share) if !held.is_empty() => {
                let mut cube = held.swap_remove(pick(share, held.len()));
                if (16.0 * share).fract() < 0.3 && cube.dimension() > 0 {
                    let (low, high) = cube.split();
                    held.push(low);
                    cube = high;
                }
                fast.give(cube);
                reference.give(cube);
            }
            Event::Down(share, _) => {
                let is_free = |node: &u32| !held.iter().any(|cube| cube.contains(*node));
                let free: Vec<u32> = (0..1 << n).filter(is_free).collect();
                if let Some(&base) = free.get(pick(share, free.len())) {
                    let node = Cube { stars: 0, base };
                    fast.withdraw(node);
                    reference.withdraw(node);
                    held.push(node);
                }
            }
            Event::Start(share, _) => {
                let k = pick(share * share, n as usize + 1) as u32;
                let cube = fast.take(k);
                assert_eq!(cube, reference.take(k), "{k}");
                held.extend(cube);
            }
            Event::End(_) | Event::Up(_) => {}
        }
        check(fast, reference);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn cubic_strategies_agree_with_the_reference(n in 0u32..=7, history in history(1..60)) {
        for (name, mut fast) in cubic_strategies(n) {
            let mut reference = reference_strategy(name, n);
            run_both(n, (fast.as_mut(), reference.as_mut()), &history, |_, _| ());
            fast.clear();
            prop_assert_eq!(fast.take(n), Some(Cube::whole(n)), "{}", name);
        }
    }

    #[test]
    fn free_lists_agree_with_the_reference(n in 0u32..=7, history in history(1..120)) {
        let (mut fast, mut reference) = (FreeList::new(n), reference::FreeList::new(n));
        run_both(n, (&mut fast, &mut reference), &history, |fast, reference| {
            assert_eq!(lists_of(fast.lists(), n), reference.lists);
        });
    }

    #[test]
    fn auxiliary_lists_agree_with_the_reference(n in 0u32..=7, release in releases(), history in starts_and_ends(1..80)) {
        let allocator = |cube: &Hypercube| Auxiliary::new(cube, SidesRule::Exact, release, FreeList::new(n));
        let mut bench = on(n, allocator).with_oracle(reference::Auxiliary::new(n, release));
        let request = |_: &Machine, a: f64, b: f64| {
            let side = |share: f64| 1 + pick(share * share, 1 << (n / 2 + 1)) as u16;
            let sides = [side(a), side(b), 1];
            Request::shaped(u32::from(sides[0]) * u32::from(sides[1]), Some(sides))
        };
        bench.run(&history, request, |bench| {
            let (fast, reference) = (&bench.allocator, &bench.oracle);
            assert_eq!(lists_of(fast.subcubes.lists(), n), reference.base.lists);
            let running = |owner: NodeId| {
                reference.jobs.iter().position(|job| job.running && job.host.base == owner.0)
            };
            let owned = |cube| {
                let owner = fast.owner(cube).expect("an owner");
                (cube, running(owner).expect("the owner runs"))
            };
            let owned: Vec<Vec<(Cube, usize)>> =
                (0..=n).map(|dimension| fast.lists.of(dimension).map(owned).collect()).collect();
            assert_eq!(owned, reference.lists);
        });
    }

    #[test]
    fn non_cubic_allocations_agree_with_the_reference(
        n in 0u32..=6,
        cubes in 1u32..5,
        adjacent in any::<bool>(),
        history in starts_and_ends(1..60),
    ) {
        let base = reference::FreeList::new(n);
        let reference = reference::NonCubic { base, cubes, adjacent, held: HashMap::new() };
        let bench = on(n, |cube| NonCubic::new(cube, cubes, adjacent));
        let size = |_: &Machine, share: f64, _| Request::of_size(1 + pick(share * share, 1 << n) as u32);
        bench.with_oracle(reference).run(&history, size, |bench| {
            if let Some((_, Ok(nodes))) = bench.decisions.last()
                && let Some(taken) = bench.oracle.held.get(&nodes[0])
            {
                assert_eq!(bench.census().blocks as usize, taken.len());
            }
            assert_eq!(lists_of(bench.allocator.list.lists(), n), bench.oracle.base.lists);
        });
    }
}

/// A cubic strategy allocates the processors of its subcube; the processors of the mesh come first.
#[test]
fn cubic_allocations_begin_with_their_mesh() {
    let mut bench = on(5, |cube| Cubic::new(cube, SidesRule::Exact, FreeList::new(5)));
    let request = Request::shaped(6, Some([3, 2, 1]));
    let first = bench.serve(request);
    let numbers: Vec<u32> = first.iter().map(|node| node.0).collect();
    // The high bits are the codewords 00, 01 and 11 of x; the lowest bit is the codeword 0 or 1 of
    // y.
    assert_eq!(numbers, [0b000, 0b010, 0b110, 0b001, 0b011, 0b111, 0b100, 0b101]);
    let second = bench.serve(Request::of_size(5));
    assert_eq!((second.len(), second[0]), (8, NodeId(8)));
    bench.end(&first);
    bench.begin();
    assert_eq!(bench.serve(request), first);
}
