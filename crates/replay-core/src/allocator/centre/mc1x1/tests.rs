use super::*;
use crate::allocator::centre::cases::{agrees, grids, machine, options, partly_down, wide_grids};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn agrees_with_the_definition(
        grid in grids(),
        options in options(),
        busy in 0.0..0.95f64,
        seed: u64,
        shares in proptest::collection::vec(0.0..1.0f64, 3),
    ) {
        let machine = machine(&grid, busy, seed);
        agrees(&mut Mc1x1::new(&grid, options), &Mc1x1::rule(options), &grid, machine.clone(), &shares)?;
        let mut wide = Mc1x1::<u32>::counting(&grid, options);
        agrees(&mut wide, &Mc1x1::rule(options), &grid, machine, &shares)?;
    }

    /// With processors out of service, which may be walls to their neighbours, and later back again.
    #[test]
    fn agrees_with_the_definition_beside_what_is_down(
        grid in grids(),
        options in options(),
        busy in 0.0..0.8f64,
        seed: u64,
        share in 2u32..6,
        walls: bool,
        shares in proptest::collection::vec(0.0..1.0f64, 3),
    ) {
        let (mut machine, down) = partly_down(machine(&grid, busy, seed), share, walls);
        let mut mc1x1 = Mc1x1::new(&grid, options);
        agrees(&mut mc1x1, &Mc1x1::rule(options), &grid, machine.clone(), &shares)?;
        mc1x1.begin(&RunSetup::default()).expect("it works");
        machine.restore(&down[down.len() / 2..]);
        agrees(&mut mc1x1, &Mc1x1::rule(options), &grid, machine, &shares)?;
    }

    /// Whatever vectors the processor has, the centre is that of the portable code.
    #[test]
    fn wider_vectors_change_nothing(
        grid in grids(),
        options in options(),
        busy in 0.0..0.95f64,
        seed: u64,
        share in 0.0..1.0f64,
    ) {
        let machine = machine(&grid, busy, seed);
        prop_assume!(machine.free_count() > 1);
        let size = 1 + ((machine.free_count() - 2) as f64 * share) as u32;
        let mut mc1x1 = Mc1x1::new(&grid, options);
        let times = Times { now: 100, limit: Some(60) };
        let portable = mc1x1.best_centre_portable(&machine, size, times);
        prop_assert!(portable.is_some());
        prop_assert_eq!(mc1x1.best_centre(&machine, size, times), portable);
    }
}

/// On an empty torus every centre has the same score, and the first wins: the cube around it.
#[test]
fn more_points_than_sixteen_bits_count() {
    let topology: crate::topology::Topology = "torus:60x60x60".parse().expect("a torus");
    let grid = topology.grid().expect("a grid").clone();
    assert!(!Mc1x1::<u16>::takes(&grid) && Mc1x1::<u32>::takes(&grid));
    let mut mc1x1 = Mc1x1::<u32>::counting(&grid, CentreOptions::default());
    let (machine, mut chosen) = (Machine::new(topology), Vec::new());
    mc1x1.allocate(&machine, Request::of_size(41 * 41 * 41), &mut chosen).expect("all are free");
    let centre = grid.coord(NodeId(0));
    assert_eq!(chosen.len(), 68_921);
    assert!(chosen.iter().all(|&node| grid.linf(centre, grid.coord(node)) <= 20));
    let narrow: crate::topology::Topology = "65535x16".parse().expect("a mesh");
    assert!(!Mc1x1::<u32>::takes(narrow.grid().expect("a grid")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn agrees_with_the_definition_where_sums_are_wide(
        grid in wide_grids(),
        mut options in options(),
        seed: u64,
        share in 0.1..1.0f64,
    ) {
        if options.order == ShellOrder::Greedy {
            options.order = ShellOrder::Carried;
        }
        let machine = machine(&grid, 0.93, seed);
        agrees(&mut Mc1x1::new(&grid, options), &Mc1x1::rule(options), &grid, machine, &[share])?;
    }
}

/// Times around 1000, some unknown; levels of all kinds occur.
fn times() -> impl Strategy<Value = Times> {
    let limit = proptest::option::weighted(0.9, 1u32..2000);
    (0i64..2000, limit).prop_map(|(now, limit)| Times { now, limit })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// With EF, on machines whose processors jobs of all kinds hold.
    #[test]
    fn ends_agree_with_the_definition(
        grid in grids(),
        mut options in options(),
        factor in -3i32..12,
        busy in 0.0..0.95f64,
        seed: u64,
        running in proptest::collection::vec(times(), 1..6),
        new in proptest::collection::vec((times(), 0.0..1.0f64), 3),
    ) {
        if let Some(vector) = &mut options.tie {
            vector.ends = factor;
        }
        let mut machine = machine(&grid, busy, seed);
        let mut mc1x1 = Mc1x1::new(&grid, options);
        for node in machine.topology().nodes().filter(|&node| !machine.is_free(node)) {
            let job = running[node.index() / 3 % running.len()];
            mc1x1.ends.iter_mut().for_each(|ends| ends.start(&[node], job));
        }
        for (times, share) in new {
            let free = machine.free_count();
            if free < 2 {
                break;
            }
            let size = 1 + ((free - 2) as f64 * share) as usize;
            let expected = mc1x1.rule_now(times).choose(&machine, &grid, size).expect("enough");
            let request = Request { times, ..Request::of_size(size as u32) };
            let mut chosen = Vec::new();
            prop_assert_eq!(mc1x1.allocate(&machine, request, &mut chosen), Ok(()));
            machine.occupy(&chosen);
            if let Some(ends) = &mc1x1.ends {
                // Who starts is known from now on; 0 apart from itself, the level is the highest.
                let level = ends.level(chosen[0], times);
                prop_assert_eq!(level, if times.limit.is_some() { HIGHEST_LEVEL } else { 0 });
            }
            let sorted = |mut nodes: Vec<NodeId>| { nodes.sort_unstable(); nodes };
            prop_assert_eq!(sorted(chosen), sorted(expected.nodes));
        }
    }
}

/// Two places are alike but for the neighbour: with EF the job goes to the one that ends with it,
/// and when nobody says when that is, to the first.
#[test]
fn the_neighbour_that_ends_together_is_better() {
    let grid = "1x9".parse::<crate::topology::Topology>().expect("a mesh");
    let grid = grid.grid().expect("a mesh");
    let tie = Some("1,0,0,0,1".parse().expect("a vector"));
    let places = |first: Option<u32>, second: Option<u32>| {
        let mut mc1x1 = Mc1x1::new(grid, CentreOptions { tie, ..CentreOptions::default() });
        let mut machine = Machine::new(crate::topology::Topology::Grid(grid.clone()));
        for (nodes, limit) in [([2, 3], first), ([5, 6], second)] {
            let nodes = nodes.map(NodeId);
            machine.occupy(&nodes);
            let ends = mc1x1.ends.as_mut().expect("the vector has EF");
            ends.start(&nodes, Times { now: 0, limit });
        }
        let times = Times { now: 50, limit: Some(50) };
        let request = Request { times, ..Request::of_size(2) };
        let mut chosen = Vec::new();
        mc1x1.allocate(&machine, request, &mut chosen).expect("four are free");
        chosen.sort_unstable();
        chosen
    };
    let (left, right) = ([0, 1].map(NodeId), [7, 8].map(NodeId));
    assert_eq!(places(Some(100), Some(1000)), left);
    assert_eq!(places(Some(1000), Some(100)), right);
    assert_eq!(places(Some(1000), Some(1000)), left);
    assert_eq!(places(None, None), left);
}

/// Where EF decides nothing no end of a job is kept: neither memory nor a look at it per decision.
#[test]
fn without_ef_no_ends_are_kept() {
    let grid = "8x8".parse::<crate::topology::Topology>().expect("a mesh");
    let grid = grid.grid().expect("a mesh");
    let ends = |tie: Option<&str>| {
        let tie = tie.map(|tie| tie.parse().expect("a vector"));
        Mc1x1::new(grid, CentreOptions { tie, ..CentreOptions::default() }).ends
    };
    for without in [None, Some("2,13,20,6"), Some("2,13,20,6,0"), Some("0,0,0,0,3")] {
        assert_eq!(ends(without), None, "{without:?}");
    }
    assert_eq!(ends(Some("2,13,20,6,3")), Some(Ends::new(64)));
}
