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
        let portable = mc1x1.best_centre_portable(&machine, size);
        prop_assert!(portable.is_some());
        prop_assert_eq!(mc1x1.best_centre(&machine, size), portable);
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
