use super::*;
use crate::topology::Axis;
use proptest::prelude::*;

fn mesh(extents: &[u16]) -> Grid {
    let axes: Vec<_> = extents.iter().map(|&extent| Axis { extent, wrapped: false }).collect();
    Grid::new(&axes).expect("small")
}

fn first(curve: Curve, x: u16, y: u16, count: usize) -> Vec<(u16, u16)> {
    let grid = mesh(&[x, y]);
    curve.order(&grid).iter().take(count).map(|&n| grid.coord(n)).map(|[x, y, _]| (x, y)).collect()
}

/// Extents x and y of each grid, and the ranks of all its positions, row by row in order of
/// decreasing y.
const HILBERT: [(u16, u16, &str); 3] = [
    (4, 8, "21 22 25 26 20 23 24 27 19 18 29 28 16 17 30 31 15 12 11 10 14 13 8 9 1 2 7 6 0 3 4 5"),
    (8, 4, "5 6 9 10 21 22 25 26 4 7 8 11 20 23 24 27 3 2 13 12 19 18 29 28 0 1 14 15 16 17 30 31"),
    (
        8,
        8,
        "21 22 25 26 37 38 41 42 20 23 24 27 36 39 40 43 19 18 29 28 35 34 45 44 16 17 30 31 32 33 46 47 \
         15 12 11 10 53 52 51 48 14 13 8 9 54 55 50 49 1 2 7 6 57 56 61 62 0 3 4 5 58 59 60 63",
    ),
];

#[test]
fn truncated_hilbert_agrees_with_the_rank_tables() {
    for (x, y, table) in HILBERT {
        let grid = mesh(&[x, y]);
        let mut rank = vec![0; grid.processors()];
        for (i, node) in Curve::Hilbert.order(&grid).into_iter().enumerate() {
            rank[node.index()] = i;
        }
        let ours: Vec<_> = (0..y)
            .rev()
            .flat_map(|y| (0..x).map(move |x| [x, y, 0]))
            .map(|c| rank[grid.node(c).index()].to_string())
            .collect();
        assert_eq!(ours, table.split_whitespace().collect::<Vec<_>>(), "{x}x{y}");
    }
}

/// The truncated curve visits the cells of the grid in the order of the curve of the enclosing
/// square.
#[test]
fn truncated_hilbert_keeps_the_order_of_the_enclosing_square() {
    let (inside, square) = (mesh(&[10, 10]), mesh(&[16, 16]));
    let enclosing = Curve::Hilbert.order(&square).into_iter().map(|n| square.coord(n));
    let expected: Vec<_> = enclosing.filter(|c| c[0] < 10 && c[1] < 10).collect();
    let ours: Vec<_> = Curve::Hilbert.order(&inside).iter().map(|&n| inside.coord(n)).collect();
    assert_eq!(ours, expected);
}

#[test]
fn hilbert_begins_as_specified() {
    let order = first(Curve::Hilbert, 4, 4, 9);
    assert_eq!(order, [(0, 0), (1, 0), (1, 1), (0, 1), (0, 2), (0, 3), (1, 3), (1, 2), (2, 2)]);
}

#[test]
fn plain_orders_begin_as_specified() {
    assert_eq!(first(Curve::RowMajor, 3, 2, 4), [(0, 0), (1, 0), (2, 0), (0, 1)]);
    assert_eq!(first(Curve::Snake, 3, 2, 4), [(0, 0), (1, 0), (2, 0), (2, 1)]);
    assert_eq!(first(Curve::ShuffledRowMajor, 4, 4, 5), [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0)]);
    assert_eq!(first(Curve::ShuffledSnake, 4, 4, 5), [(0, 0), (1, 0), (1, 1), (0, 1), (2, 0)]);
}

proptest! {
    /// Both sorting methods, by array and by comparison, order the processors by rank.
    #[test]
    fn processors_are_ordered_by_rank(
        sides in prop_oneof![
            prop::collection::vec(1u16..20, 2..=3),
            (20u16..90, 1u16..3, 1u16..3).prop_map(|(x, y, z)| vec![x, y, z]),
        ],
    ) {
        let grid = mesh(&sides);
        type Rank = fn(&Grid, Coord) -> u64;
        let ranks: [(Curve, Rank); 5] = [
            (Curve::RowMajor, plain::row_major),
            (Curve::Snake, plain::snake),
            (Curve::ShuffledRowMajor, plain::shuffled_row_major),
            (Curve::ShuffledSnake, plain::shuffled_snake),
            (Curve::Hilbert, hilbert::rank),
        ];
        for (curve, rank) in ranks {
            let mut sorted: Vec<_> = (0..grid.processors() as u32).map(NodeId).collect();
            sorted.sort_by_key(|&node| rank(&grid, grid.coord(node)));
            prop_assert_eq!(curve.order(&grid), sorted, "{:?}", curve);
        }
    }
}

/// Returns the number of pairs of consecutive processors that are not neighbours.
fn jumps(curve: Curve, grid: &Grid) -> usize {
    let order = curve.order(grid);
    order.windows(2).filter(|w| grid.l1(grid.coord(w[0]), grid.coord(w[1])) != 1).count()
}

#[test]
fn hilbert_on_powers_of_two_is_continuous() {
    for sides in [&[16, 16][..], &[32, 32], &[2, 2, 2], &[8, 8, 8], &[16, 16, 16]] {
        assert_eq!(jumps(Curve::Hilbert, &mesh(sides)), 0, "{sides:?}");
    }
}

proptest! {
    #[test]
    fn every_curve_visits_every_processor_once(extents in proptest::collection::vec(1u16..14, 2..=3)) {
        let grid = mesh(&extents);
        for curve in Curve::ALL {
            let mut order = curve.order(&grid);
            order.sort();
            let all: Vec<_> = (0..grid.processors() as u32).map(NodeId).collect();
            prop_assert_eq!(order, all, "{}", curve.name());
        }
    }

    #[test]
    fn snake_is_continuous(extents in proptest::collection::vec(1u16..14, 2..=3)) {
        prop_assert_eq!(jumps(Curve::Snake, &mesh(&extents)), 0);
    }

    #[test]
    fn gilbert_jumps_at_most_once_in_two_dimensions(x in 1u16..40, y in 1u16..40) {
        // One diagonal step remains if the long side is odd and the short side is even.
        prop_assert!(jumps(Curve::Gilbert, &mesh(&[x, y])) <= 1);
    }
}
