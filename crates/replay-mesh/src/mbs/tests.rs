mod list_implementation;

use self::list_implementation::ListImplementation;
use crate::mbs::*;
use proptest::prelude::*;
use replay_contract::{Bench, check_names, starts_and_ends};
use replay_engine::topology::Coord;

/// Base and longest side.
type Unit = (Coord, u16);

/// Starts a job and returns its blocks. `sides` are the expected sides of the blocks, in order.
fn bases(bench: &mut Bench<Mbs>, size: u32, sides: &[u16]) -> (Vec<Unit>, Vec<NodeId>) {
    let nodes = bench.serve(Request::of_size(size));
    assert_eq!(bench.census().blocks as usize, sides.len());
    let mut rest = nodes.as_slice();
    let mut units = Vec::new();
    for &side in sides {
        let (unit, others) = rest.split_at(usize::from(side).pow(2));
        units.push((bench.grid().coord(unit[0]), side));
        rest = others;
    }
    (units, nodes)
}

fn free(mbs: &Mbs) -> Vec<Vec<Unit>> {
    let class = |class| mbs.records.free_blocks(class).map(|a| (a.base, a.sides[0])).collect();
    (0..mbs.records.forest().classes()).map(class).collect()
}

fn nodes(bench: &Bench<Mbs>, area: SubMesh) -> Vec<NodeId> {
    let mut nodes = Vec::new();
    area.append_to(bench.grid(), &mut nodes);
    nodes
}

/// Takes the processors of an area, for a job of another strategy, and returns them.
fn carve(bench: &mut Bench<Mbs>, area: SubMesh) -> Vec<NodeId> {
    let nodes = nodes(bench, area);
    bench.allocator.carve(area, nodes[0]);
    bench.machine.occupy(&nodes);
    nodes
}

fn both(machine: &str) -> [Bench<Mbs>; 2] {
    Splitting::ALL.map(|(_, splitting)| {
        Bench::on_grid(machine, |grid| {
            Mbs::new(grid, Division::Corners, ListOrder::RowMajor, splitting)
        })
    })
}

fn squares<const N: usize>(squares: [(u16, u16, u16); N]) -> Vec<Unit> {
    squares.into_iter().map(|(side, x, y)| ([x, y, 0], side)).collect()
}

/// Vector V-MBS1 of the specification.
#[test]
fn worked_example_on_8x8() {
    for mut bench in both("8x8") {
        let (first, a) = bases(&mut bench, 10, &[2, 2, 1, 1]);
        assert_eq!(first, squares([(2, 0, 0), (2, 2, 0), (1, 0, 2), (1, 1, 2)]));
        let (second, b) = bases(&mut bench, 16, &[4]);
        assert_eq!(second, squares([(4, 4, 0)]));
        let (third, c) = bases(&mut bench, 9, &[2, 2, 1]);
        assert_eq!(third, squares([(2, 2, 2), (2, 0, 4), (1, 0, 3)]));
        assert_eq!(bench.census().busy_list, 8);
        for nodes in [b, a, c] {
            bench.end(&nodes);
        }
        assert_eq!(free(&bench.allocator), [vec![], vec![], vec![], squares([(8, 0, 0)])]);
        assert_eq!(bench.census().busy_list, 0);
    }
}

/// Vector V-MBS2 of the specification.
#[test]
fn worked_example_on_16x16() {
    for mut bench in both("16x16") {
        let (first, _) = bases(&mut bench, 72, &[8, 2, 2]);
        assert_eq!(first, squares([(8, 0, 0), (2, 8, 0), (2, 10, 0)]));
        assert_eq!(bench.start(Request::of_size(256)), Err(Refusal::TooFewFree));
        let (second, _) = bases(&mut bench, 184, &[8, 8, 4, 4, 4, 2, 2]);
        let expected =
            [(8, 0, 8), (8, 8, 8), (4, 12, 0), (4, 8, 4), (4, 12, 4), (2, 8, 2), (2, 10, 2)];
        assert_eq!(second, squares(expected));
        assert_eq!(bench.machine.free_count(), 0);
    }
}

/// Vector V-MBS3 of the specification: the job is dispersed although a strip of 2 x 8 is free.
#[test]
fn a_job_of_16_gets_four_squares() {
    for mut bench in both("8x8") {
        let expected = squares([(2, 0, 0), (2, 6, 0), (2, 6, 2), (2, 2, 4), (2, 6, 4), (2, 6, 6)]);
        for (x, y) in (0..4).flat_map(|y| (0..4).map(move |x| (2 * x, 2 * y))) {
            if !expected.contains(&([x, y, 0], 2)) {
                carve(&mut bench, SubMesh { base: [x, y, 0], sides: [2, 2, 1] });
            }
        }
        assert_eq!(free(&bench.allocator), [vec![], expected.clone(), vec![], vec![]]);
        let (units, _) = bases(&mut bench, 16, &[2, 2, 2, 2]);
        assert_eq!(units, expected[..4]);
    }
}

/// Lo et al., figure 3 (a): a job of five processors gets the blocks <2,0,2> and <5,0,1>.
#[test]
fn a_job_of_five_gets_two_blocks() {
    for mut bench in both("8x8") {
        for (base, side) in [([0, 0, 0], 2), ([4, 0, 0], 1), ([4, 4, 0], 1)] {
            carve(&mut bench, SubMesh { base, sides: [side, side, 1] });
        }
        let (units, _) = bases(&mut bench, 5, &[2, 1]);
        assert_eq!(units, squares([(2, 2, 0), (1, 5, 0)]));
    }
}

/// One square is free at (6, 6), and a job requests two squares. With splitting ahead, both squares
/// come from the split square. With splitting on demand, the free square is taken first.
#[test]
fn splitting_ahead_considers_new_buddies_first() {
    let [mut ahead, mut on_demand] = both("8x8");
    for bench in [&mut ahead, &mut on_demand] {
        for (base, side) in [([4, 0, 0], 4), ([0, 4, 0], 4), ([4, 4, 0], 2), ([6, 4, 0], 2)] {
            bench.allocator.records.carve(SubMesh { base, sides: [side, side, 1] });
        }
        bench.allocator.records.carve(SubMesh { base: [4, 6, 0], sides: [2, 2, 1] });
        let busy = bench
            .grid()
            .coords()
            .into_iter()
            .filter(|&[x, y, _]| (x >= 4 || y >= 4) && !(x >= 6 && y >= 6));
        let busy: Vec<_> = busy.map(|c| bench.grid().node(c)).collect();
        bench.machine.occupy(&busy);
    }
    assert_eq!(bases(&mut ahead, 8, &[2, 2]).0, squares([(2, 0, 0), (2, 2, 0)]));
    assert_eq!(bases(&mut on_demand, 8, &[2, 2]).0, squares([(2, 6, 6), (2, 0, 0)]));
}

#[test]
fn begin_resets_the_allocator() {
    let mut bench = Bench::on_grid("12x10", Mbs::classic);
    let first = bench.serve(Request::of_size(77));
    bench.serve(Request::of_size(20));
    bench.begin();
    assert_eq!(bench.serve(Request::of_size(77)), first);
    bench.gets_whole(None);
    assert_eq!(bench.census().blocks, 9, "the initial blocks");
}

#[test]
fn cubes_divide_into_octets() {
    let mut bench = Bench::on_grid("4x4x4", Mbs::classic);
    let nodes = bench.serve(Request::of_size(10));
    let coords = bench.coords(&nodes);
    assert_eq!(bench.census().blocks, 3);
    assert_eq!(coords[..3], [[0, 0, 0], [1, 0, 0], [0, 1, 0]]);
    assert_eq!(coords[7..], [[1, 1, 1], [2, 0, 0], [3, 0, 0]]);
}

fn variants() -> Vec<(Division, ListOrder, Splitting)> {
    vec![
        (Division::Corners, ListOrder::RowMajor, Splitting::Ahead),
        (Division::Corners, ListOrder::RowMajor, Splitting::OnDemand),
        (Division::Corners, ListOrder::ByNumber, Splitting::Ahead),
        (Division::Corners, ListOrder::ByNumber, Splitting::OnDemand),
        (Division::Halves, ListOrder::ByNumber, Splitting::OnDemand),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    /// Every variant makes the same choices as the list implementation. If enough processors are
    /// free, every variant serves a request with exactly the requested number of processors. The
    /// recorded blocks are the maximal free blocks. When all jobs have ended, exactly the initial
    /// blocks are free.
    #[test]
    fn agrees_with_the_list_implementation(
        machine in proptest::sample::select(vec!["8x8", "12x10", "torus:7x9", "16x16", "1x13", "4x4x4", "6x5x7", "8x2x3"]),
        (division, order, splitting) in proptest::sample::select(variants()),
        history in starts_and_ends(1..60),
    ) {
        let bench = Bench::on_grid(machine, |grid| Mbs::new(grid, division, order, splitting));
        let lists = ListImplementation::new(bench.grid(), division, order, splitting);
        let whole = lists.free.clone();
        let mut bench = bench.with_oracle(lists);
        let size = |machine: &Machine, share: f64, _| {
            Request::of_size(1 + (machine.free_count().saturating_sub(1) as f64 * share * share) as u32)
        };
        bench.run(&history, size, |bench| {
            let (records, lists) = (&bench.allocator.records, &bench.oracle);
            if let Some((_, Ok(nodes))) = bench.decisions.last()
                && let Some(units) = lists.held.get(&nodes[0])
            {
                assert_eq!(bench.census().blocks as usize, units.len());
            }
            let units: usize = lists.held.values().map(Vec::len).sum();
            assert_eq!(bench.census().busy_list as usize, units);
            for class in 0..records.forest().classes() {
                let list = lists.free.get(&records.forest().volume(class));
                let expected: Vec<_> = list.into_iter().flat_map(|list| list.values().copied()).collect();
                assert_eq!(records.free_blocks(class).collect::<Vec<_>>(), expected);
            }
        });
        bench.end_all();
        bench.oracle.free.retain(|_, list| !list.is_empty());
        prop_assert!(bench.oracle.free.iter().eq(whole.iter().filter(|(_, list)| !list.is_empty())));
        let records = &bench.allocator.records;
        let free: usize = (0..records.forest().classes()).map(|class| records.free(class)).sum();
        prop_assert_eq!(free, records.forest().initial().len());
    }

    /// A block is recorded iff all its processors are free and not all processors of its parent are
    /// free. The rule for recorded blocks also holds after areas of any shape have been carved.
    #[test]
    fn records_are_the_maximal_free_blocks(
        machine in proptest::sample::select(vec!["9x14", "16x16", "5x6x7"]),
        division in proptest::sample::select(vec![Division::Corners, Division::Halves]),
        areas in proptest::collection::vec(((0u16..16, 0u16..16, 0u16..7), (1u16..9, 1u16..9, 1u16..5), any::<bool>()), 1..25),
    ) {
        let mut bench = Bench::on_grid(machine, |grid| {
            Mbs::new(grid, division, ListOrder::RowMajor, Splitting::Ahead)
        });
        let mut held: Vec<Vec<NodeId>> = Vec::new();
        for ((x, y, z), (w, d, h), end) in areas {
            if end && !held.is_empty() {
                let nodes = held.swap_remove(usize::from(x) % held.len());
                bench.machine.release(&nodes);
                bench.allocator.on_event(&bench.machine, MachineEvent::Released(&nodes));
            }
            let extents = bench.grid().axes().map(|axis| axis.extent);
            let base = [x % extents[0], y % extents[1], z % extents[2]];
            let sides = [w, d, h];
            let sides = std::array::from_fn(|i| sides[i].min(extents[i] - base[i]));
            let area = SubMesh { base, sides };
            let is_free = |bench: &Bench<Mbs>, area: SubMesh| {
                nodes(bench, area).into_iter().all(|node| bench.machine.is_free(node))
            };
            if is_free(&bench, area) {
                held.push(carve(&mut bench, area));
            }
            let free = |area: SubMesh| is_free(&bench, area);
            let forest = bench.allocator.records.forest();
            for class in 0..forest.classes() {
                let blocks = (0..forest.len(class)).map(|number| forest.block(class, number));
                let maximal = blocks.filter(|&block| free(forest.area(block))
                    && forest.parent(block).is_none_or(|parent| !free(forest.area(parent))));
                let expected: Vec<_> = maximal.map(|block| forest.area(block)).collect();
                prop_assert_eq!(bench.allocator.records.free_blocks(class).collect::<Vec<_>>(), expected);
            }
            prop_assert_eq!(bench.census().busy_list as usize, held.len());
        }
    }
}

#[test]
fn names_and_machines_are_checked() {
    assert!(table().names().eq(["mbs", "granular-mbs", "octet-mbs"]));
    let canonical =
        [("mbs[splitting=ahead]", "mbs"), ("mbs[splitting=on-demand]", "mbs[splitting=on-demand]")];
    let invalid = [
        ("mbs[splitting=late]", "ahead, on-demand"),
        ("granular-mbs[splitting=ahead]", "unknown parameter"),
    ];
    check_names(crate::allocator, &canonical, &invalid);
    let builds = |name: &str, machine: &str| {
        let topology: Topology = machine.parse().expect("a machine");
        crate::allocator(name).expect("known").build(&topology, 0).is_ok()
    };
    assert!(builds("mbs", "torus:5x7") && builds("granular-mbs", "5x7"));
    assert!(builds("octet-mbs", "torus:4x4x4") && !builds("octet-mbs", "8x8"));
    assert!(!builds("mbs", "hypercube:4"));
}
