use crate::mbs::forest::*;
use proptest::prelude::*;
use replay_engine::topology::{Coord, Topology};
use std::collections::BTreeSet;

fn grid(machine: &str) -> Grid {
    let topology: Topology = machine.parse().expect("a machine");
    topology.grid().expect("a grid").clone()
}

fn initial(forest: &Forest) -> BTreeSet<(Coord, Coord)> {
    forest.initial().iter().map(|&block| forest.area(block)).map(|a| (a.base, a.sides)).collect()
}

/// Checks the blocks of Lo et al., figure 4, given as <x, y, side>.
#[test]
fn a_mesh_of_12_by_10_has_nine_initial_blocks() {
    let forest = Forest::new(&grid("12x10"), Division::Corners, ListOrder::RowMajor);
    let expected = [
        [0, 0, 8],
        [8, 0, 4],
        [8, 4, 4],
        [0, 8, 2],
        [2, 8, 2],
        [4, 8, 2],
        [6, 8, 2],
        [8, 8, 2],
        [10, 8, 2],
    ];
    let expected = expected.map(|[x, y, side]| ([x, y, 0], [side, side, 1]));
    assert_eq!(initial(&forest), expected.into_iter().collect());
    let list = |class: usize| -> Vec<Coord> {
        let blocks = (0..forest.len(class)).map(|number| forest.block(class, number));
        blocks.map(|block| forest.area(block).base).collect()
    };
    assert_eq!(list(2)[..3], [[0, 0, 0], [4, 0, 0], [8, 0, 0]], "row-major");
    assert_eq!(forest.classes(), 4);
    assert_eq!([0, 1, 2, 3].map(|class| forest.digit(107, class)), [3, 2, 2, 1]);
}

#[test]
fn a_mesh_of_10_by_10_has_four_initial_halves() {
    let forest = Forest::new(&grid("10x10"), Division::Halves, ListOrder::ByNumber);
    let expected = [
        ([0, 0, 0], [8, 8, 1]),
        ([0, 8, 0], [8, 2, 1]),
        ([8, 0, 0], [2, 8, 1]),
        ([8, 8, 0], [2, 2, 1]),
    ];
    assert_eq!(initial(&forest), expected.into_iter().collect());
}

#[test]
fn buddies_begin_at_the_base() {
    let corners = Forest::new(&grid("4x4"), Division::Corners, ListOrder::RowMajor);
    let bases = |forest: &Forest, block: BlockId| -> Vec<Coord> {
        forest.children(block).iter().map(|&child| forest.area(child).base).collect()
    };
    assert_eq!(
        bases(&corners, corners.initial()[0]),
        [[0, 0, 0], [2, 0, 0], [0, 2, 0], [2, 2, 0]],
        "right, upper, upper right"
    );
    let halves = Forest::new(&grid("4x4x2"), Division::Halves, ListOrder::ByNumber);
    let whole = halves.initial()[0];
    assert_eq!(bases(&halves, whole), [[0, 0, 0], [0, 2, 0]]);
    let half = halves.children(whole)[1];
    assert_eq!(bases(&halves, half), [[0, 2, 0], [2, 2, 0]]);
    let quarter = halves.children(half)[0];
    assert_eq!(bases(&halves, quarter), [[0, 2, 0], [0, 2, 1]]);
}

/// Implements the greedy rule as published: tile with the largest squares from the lower left. Then
/// treat two strips in the same way: the strip to the right of the tiles, with the height of the
/// tiles, and the strip above the tiles, with the width of the mesh. In 3D, also tile the part
/// behind the tiles.
fn greedy(base: Coord, sides: [u16; 3], flat: bool, cover: &mut BTreeSet<(Coord, Coord)>) {
    if sides.contains(&0) {
        return;
    }
    let least = if flat { sides[0].min(sides[1]) } else { sides[0].min(sides[1]).min(sides[2]) };
    let side = 1 << least.ilog2();
    let deep = if flat { 1 } else { side };
    let [nx, ny, nz] = [sides[0] / side, sides[1] / side, sides[2] / deep];
    for (x, y, z) in (0..nx)
        .flat_map(|x| (0..ny).flat_map(move |y| (0..nz).map(move |z| (x, y, z))))
        .map(|(x, y, z)| (x * side, y * side, z * deep))
    {
        cover.insert(([base[0] + x, base[1] + y, base[2] + z], [side, side, deep]));
    }
    let [w, h, d] = [nx * side, ny * side, nz * deep];
    let [x, y, z] = base;
    greedy([x + w, y, z], [sides[0] - w, h, d], flat, cover);
    greedy([x, y + h, z], [sides[0], sides[1] - h, d], flat, cover);
    greedy([x, y, z + d], [sides[0], sides[1], sides[2] - d], flat, cover);
}

type Area = (Coord, Coord);

/// Implements the hierarchy of granular MBS as published. Start with single processors. For x, then
/// y, then z, take the blocks in order, largest first, and join each block with the equal block
/// that follows it along the dimension. Repeat these steps until no blocks can be joined. Returns
/// the remaining blocks and all joins.
fn joined(grid: &Grid) -> (BTreeSet<Area>, BTreeSet<(Area, [Area; 2])>) {
    let mut blocks: BTreeSet<Area> = grid.coords().into_iter().map(|c| (c, [1, 1, 1])).collect();
    let mut joins = BTreeSet::new();
    loop {
        let before = joins.len();
        for axis in 0..3 {
            let volume = |area: &Area| area.1.iter().map(|&s| u32::from(s)).product::<u32>();
            let mut in_order: Vec<Area> = blocks.iter().copied().collect();
            in_order.sort_by_key(|area| (std::cmp::Reverse(volume(area)), *area));
            for first in in_order {
                let mut second = first;
                second.0[axis] += first.1[axis];
                if blocks.contains(&first) && blocks.contains(&second) {
                    let mut whole = first;
                    whole.1[axis] *= 2;
                    blocks.remove(&first);
                    blocks.remove(&second);
                    blocks.insert(whole);
                    joins.insert((whole, [first, second]));
                }
            }
        }
        if joins.len() == before {
            return (blocks, joins);
        }
    }
}

fn any_grid() -> impl Strategy<Value = Grid> {
    let two = (1u16..40, 1u16..40).prop_map(|(x, y)| format!("{x}x{y}"));
    let three = (1u16..12, 1u16..12, 1u16..12).prop_map(|(x, y, z)| format!("{x}x{y}x{z}"));
    prop_oneof![two, three].prop_map(|machine| grid(&machine))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn initial_corners_equal_the_greedy_cover(grid in any_grid()) {
        let forest = Forest::new(&grid, Division::Corners, ListOrder::RowMajor);
        let mut cover = BTreeSet::new();
        let sides = grid.axes().map(|axis| axis.extent);
        greedy([0; 3], sides, grid.dimensions() == 2, &mut cover);
        prop_assert_eq!(initial(&forest), cover);
    }

    #[test]
    fn initial_halves_equal_the_joined_blocks(grid in any_grid()) {
        let forest = Forest::new(&grid, Division::Halves, ListOrder::ByNumber);
        let (left, joins) = joined(&grid);
        prop_assert_eq!(initial(&forest), left);
        let area = |block: BlockId| (forest.area(block).base, forest.area(block).sides);
        let divisions = (1..forest.classes())
            .flat_map(|class| (0..forest.len(class)).map(move |number| (class, number)))
            .map(|(class, number)| forest.block(class, number))
            .map(|block| (area(block), [0, 1].map(|i| area(forest.children(block)[i]))));
        prop_assert_eq!(divisions.collect::<BTreeSet<_>>(), joins);
    }

    /// Numbers, parents, children and areas of every block are consistent.
    #[test]
    fn blocks_are_consistent(
        grid in any_grid(),
        division in proptest::sample::select(vec![Division::Corners, Division::Halves]),
        order in proptest::sample::select(vec![ListOrder::RowMajor, ListOrder::ByNumber]),
    ) {
        let forest = Forest::new(&grid, division, order);
        prop_assert_eq!(forest.len(0), grid.processors());
        let mut covered = 0;
        for class in 0..forest.classes() {
            let mut last = None;
            for number in 0..forest.len(class) {
                let block = forest.block(class, number);
                prop_assert_eq!((forest.class(block), forest.number(block)), (class, number));
                prop_assert_eq!(forest.area(block).volume(), forest.volume(class));
                let [x, y, z] = forest.area(block).base;
                let key = if order == ListOrder::RowMajor { [z, y, x] } else { [x, y, z] };
                prop_assert!(last < Some(key));
                last = Some(key);
                let (mut nodes, mut plain) = (Vec::new(), Vec::new());
                forest.append_to(block, &mut nodes);
                forest.area(block).append_to(&grid, &mut plain);
                prop_assert_eq!(&nodes, &plain);
                prop_assert_eq!(nodes[0], forest.base(block));
                let mut parts = Vec::new();
                for &child in forest.children(block) {
                    prop_assert_eq!(forest.parent(child), Some(block));
                    forest.append_to(child, &mut parts);
                }
                nodes.sort();
                parts.sort();
                prop_assert!(class == 0 && parts.is_empty() || parts == nodes);
                covered += if forest.parent(block).is_none() { nodes.len() } else { 0 };
            }
        }
        prop_assert_eq!(covered, grid.processors());
    }
}
