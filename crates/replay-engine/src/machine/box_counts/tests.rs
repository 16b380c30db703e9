use super::*;
use crate::topology::Topology;
use proptest::prelude::*;

fn count_directly(
    machine: &Machine,
    grid: &Grid,
    subset: &[bool],
    centre: NodeId,
    radius: u32,
) -> u32 {
    let near = |n: &NodeId| grid.linf(grid.coord(centre), grid.coord(*n)) <= radius;
    machine.free_nodes().filter(|n| subset[n.index()] && near(n)).count() as u32
}

#[test]
fn counts_a_million_processors() {
    let machine = Machine::new("128x64x128".parse().expect("a mesh"));
    let mut counts = BoxCounts::<u32>::new(machine.topology().grid().expect("a grid"));
    counts.update(&machine);
    assert_eq!(counts.lanes(Row(0), 127, 0)[0], 1 << 20);
    assert_eq!(counts.lane_cells(Row(0), 127, 0)[0], 1 << 20);
}

proptest! {
    #[test]
    fn agrees_with_direct_counting(
        extents in proptest::collection::vec(1u16..20, 2..=3),
        wraps in any::<[bool; 3]>(),
        seeds in proptest::collection::vec(any::<u64>(), 3),
        whole: bool,
    ) {
        let axes: Vec<_> = extents.iter().zip(wraps)
            .map(|(&extent, wrapped)| Axis { extent, wrapped }).collect();
        let grid = Grid::new(&axes).expect("small");
        prop_assume!(grid.processors() <= 600);
        let mut machine = Machine::new(Topology::Grid(grid.clone()));
        let subset: Vec<_> = machine.topology().nodes()
            .map(|n| whole || grid.walls(grid.coord(n)) > 0).collect();
        let mut counts: BoxCounts = if whole { BoxCounts::new(&grid) } else { BoxCounts::of_subset(&grid, subset.clone()) };
        let mut wide: BoxCounts<u32> = BoxCounts::of_subset(&grid, subset.clone());
        for seed in seeds {
            // Change the state of a pseudo-random quarter of the machine and count again.
            let turn: Vec<_> = machine.topology().nodes()
                .filter(|n| (u64::from(n.0) + 1).wrapping_mul(seed | 1) >> 32 & 3 == 0).collect();
            let (free, busy): (Vec<_>, Vec<_>) = turn.iter().partition(|&&n| machine.is_free(n));
            machine.release(&busy);
            machine.occupy(&free);
            counts.update(&machine);
            wide.update(&machine);
            for centre in machine.topology().nodes() {
                for radius in [0, 1, 2, 3, 5, 9, 30] {
                    let expected = count_directly(&machine, &grid, &subset, centre, radius);
                    let length = grid.extent(grid.dimensions() - 1);
                    let (row, lane) = (centre.index() / length, centre.index() % length);
                    let lanes = counts.lanes(Row(row), radius, lane / LANES * LANES);
                    prop_assert_eq!(u32::from(lanes[lane % LANES]), expected);
                    let lanes = wide.lanes(Row(row), radius, lane / LANES * LANES);
                    prop_assert_eq!(lanes[lane % LANES], expected);
                    let c = grid.coord(centre);
                    let spans = [0, 1, 2].map(|i| grid.axes()[i].interval(c[i], radius));
                    prop_assert_eq!(counts.count_box(spans), expected);
                    let cells = machine.topology().nodes()
                        .filter(|&n| grid.linf(c, grid.coord(n)) <= radius).count();
                    let lanes = counts.lane_cells(Row(row), radius, lane / LANES * LANES);
                    prop_assert_eq!(usize::from(lanes[lane % LANES]), cells);
                    let lanes = wide.lane_cells(Row(row), radius, lane / LANES * LANES);
                    prop_assert_eq!(lanes[lane % LANES] as usize, cells);
                }
            }
        }
    }
}
