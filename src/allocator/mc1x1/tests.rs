use super::*;
use crate::allocator::centre::{TieVector, WallRule};
use crate::topology::{Axis, Topology};
use proptest::prelude::*;

/// A grid of up to 120 processors, each dimension wrapped or not.
fn grids() -> impl Strategy<Value = Grid> {
    let axis =
        |max| (1u16..max, any::<bool>()).prop_map(|(extent, wrapped)| Axis { extent, wrapped });
    prop_oneof![
        3 => proptest::collection::vec(axis(12), 2),
        1 => proptest::collection::vec(axis(6), 3),
        1 => (axis(3), axis(40)).prop_map(|(a, b)| vec![a, b]),
    ]
    .prop_map(|axes| Grid::new(&axes).expect("small"))
}

fn options() -> impl Strategy<Value = CentreOptions> {
    let vector = (0u32..6, 0i32..15, -3i32..25, 0i32..9).prop_map(
        |(scan_radius, available, wall, border)| TieVector { scan_radius, available, wall, border },
    );
    (
        proptest::option::weighted(0.8, vector),
        proptest::sample::select(WallRule::ALL.to_vec()),
        proptest::sample::select(ShellOrder::ALL.to_vec()),
        proptest::sample::select(vec![0.0, 0.0, 0.1]),
    )
        .prop_map(|(tie, wall, order, slack)| CentreOptions { tie, wall, order, slack })
}

/// Nothing but the sets: two candidates are one if they hold the same processors.
fn sorted(mut nodes: Vec<NodeId>) -> Vec<NodeId> {
    nodes.sort();
    nodes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn agrees_with_the_definition(
        grid in grids(),
        options in options(),
        busy in proptest::collection::vec(0.0..1.0f64, 0..4),
        occupied in proptest::collection::vec(any::<bool>(), 600),
        sizes in proptest::collection::vec(0.0..1.0f64, 3),
    ) {
        let mut machine = Machine::new(Topology::Grid(grid.clone()));
        let mut fast = Mc1x1::new(&grid, options);
        let rule = Mc1x1::rule(options);
        let taken: Vec<_> = machine.topology().nodes()
            .filter(|n| !busy.is_empty() && occupied[n.index()]).collect();
        machine.occupy(&taken);
        for share in sizes {
            let free = machine.free_count();
            if free < 2 { break; }
            let size = 1 + ((free - 1) as f64 * share) as usize;
            let request = Request::of_size(size as u32);
            let mut chosen = Vec::new();
            fast.allocate(&machine, request, &mut chosen).expect("enough are free");
            if size < free {
                let expected = rule.choose(&machine, &grid, size).expect("there are candidates");
                prop_assert_eq!(sorted(chosen.clone()), sorted(expected.nodes));
                prop_assert_eq!(fast.tied_sets(&machine, request), Some(rule.tied_sets(&machine, &grid, size)));
            }
            // The next decision follows on the state this one leaves.
            machine.occupy(&chosen);
        }
    }
}
