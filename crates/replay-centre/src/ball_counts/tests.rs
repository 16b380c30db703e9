use crate::ball_counts::*;
use proptest::prelude::*;
use replay_engine::topology::{NodeId, Topology};

fn grids() -> impl Strategy<Value = Grid> {
    let axis =
        |most| (1u16..most, any::<bool>()).prop_map(|(extent, wrapped)| Axis { extent, wrapped });
    prop_oneof![
        proptest::collection::vec(axis(7), 3),
        proptest::collection::vec(axis(20), 2),
        (axis(4), axis(40)).prop_map(|(a, b)| vec![a, b]),
    ]
    .prop_map(|axes| Grid::new(&axes).expect("small"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn agrees_with_direct_counting(
        grid in grids(), seeds in proptest::collection::vec(any::<u64>(), 2),
    ) {
        let coords = grid.coords();
        let mut machine = Machine::new(Topology::Grid(grid.clone()));
        let mut counts = BallCounts::new(&grid).expect("small");
        let diameter: u32 = grid.axes().iter().map(|axis| u32::from(axis.diameter())).sum();
        for seed in seeds {
            let turn: Vec<_> = machine.topology().nodes()
                .filter(|n| (u64::from(n.0) + 1).wrapping_mul(seed | 1) >> 32 & 3 == 0).collect();
            let (free, busy): (Vec<_>, Vec<_>) = turn.into_iter().partition(|&n| machine.is_free(n));
            machine.occupy(&free);
            machine.release(&busy);
            counts.update(&machine, &coords);
            for radius in [0, 1, diameter / 2, diameter.saturating_sub(1), diameter, diameter + 2] {
                counts.reach(radius as usize);
                for (node, &centre) in coords.iter().enumerate() {
                    let at = counts.at(centre);
                    let (row, lane) = (at / counts.pitch(), at % counts.pitch());
                    let (from, i) = (at / LANES * LANES, at % LANES);
                    let count = |in_plane: &dyn Fn(Coord) -> bool| machine.free_nodes()
                        .map(|n| coords[n.index()])
                        .filter(|&c| in_plane(c) && grid.l1(centre, c) <= radius).count() as u16;
                    let radius = radius as usize;
                    prop_assert_eq!(counts.is_free(at), machine.is_free(NodeId(node as u32)));
                    prop_assert_eq!(counts.within(radius, from)[i], count(&|_| true));
                    let [one, two, lanes] = counts.dimensions();
                    let same = |d: usize| move |c: Coord| c[d] == centre[d];
                    prop_assert_eq!(counts.within_plane(0, radius, from)[i], count(&same(one)));
                    prop_assert_eq!(counts.within_plane(1, radius, from)[i], count(&same(two)));
                    let across = count(&same(lanes));
                    prop_assert_eq!(counts.within_layer(radius, row, lane as isize)[0], across);
                    if counts.axes()[2].wrapped {
                        let other = lane as isize - (counts.extent(2) / 2) as isize;
                        let place = other.rem_euclid(counts.extent(2) as isize);
                        prop_assert_eq!(
                            counts.within_layer(radius, row, other)[0],
                            counts.within_layer(radius, row, place)[0],
                        );
                    }
                }
            }
        }
    }
}
