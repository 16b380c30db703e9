use super::*;
use crate::allocator::centre::{TieVector, WallRule};
use crate::topology::{Axis, Topology};
use proptest::prelude::*;

/// A grid, each dimension wrapped or not; half of them 2D meshes, some long enough for a
/// shell of more processors than a byte counts.
fn grids() -> impl Strategy<Value = Grid> {
    let axis =
        |max| (1u16..max, any::<bool>()).prop_map(|(extent, wrapped)| Axis { extent, wrapped });
    let open = |max| (1u16..max).prop_map(|extent| Axis { extent, wrapped: false });
    prop_oneof![
        4 => proptest::collection::vec(open(20), 2),
        1 => (open(4), open(150)).prop_map(|(a, b)| vec![a, b]),
        1 => (open(150), open(4)).prop_map(|(a, b)| vec![a, b]),
        3 => proptest::collection::vec(axis(12), 2),
        2 => proptest::collection::vec(axis(6), 3),
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
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn agrees_with_the_definition(
        grid in grids(),
        product: bool,
        options in options(),
        // Hardly any busy: complete diamonds are alike, and scored once.
        busy in prop_oneof![1 => Just(0.0), 1 => 0.0..0.03f64, 6 => 0.0..0.95f64],
        occupied in proptest::collection::vec(0.0..1.0f64, 600),
        sizes in proptest::collection::vec(0.0..1.0f64, 3),
    ) {
        let mut machine = Machine::new(Topology::Grid(grid.clone()));
        let mut fast = if product { Centred::mm(&grid, options) } else { Centred::gen_alg(&grid, options) };
        let rule = if product { Centred::mm_rule(options) } else { Centred::gen_alg_rule(options) };
        let taken: Vec<_> = machine.topology().nodes()
            .filter(|n| occupied[n.index()] < busy).collect();
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
