use crate::busy_list::plane::*;

/// Coordinates (x, y1, z1, x, y2, z2) of a plane.
type Address = [u16; 6];

fn plane([x, y1, z1, end, y2, z2]: Address) -> Plane {
    assert_eq!(x, end);
    Plane { x, y: Span { low: y1, high: y2 }, z: Span { low: z1, high: z2 } }
}

fn pieces(from: Plane, region: &Region) -> Vec<Plane> {
    let mut pieces = Vec::new();
    from.subtract(region, &mut pieces);
    pieces
}

/// Checks a table computed by hand: the pieces of planes outside the region (1,3,3, 4,5,5).
#[test]
fn subtracts_in_each_of_the_seventeen_cases() {
    let region = Region { low: [1, 3, 3], high: [4, 5, 5] };
    let unchanged = [
        [0, 1, 1, 0, 7, 7],
        [5, 1, 1, 5, 7, 7],
        [2, 1, 0, 2, 7, 2],
        [2, 1, 6, 2, 7, 8],
        [2, 0, 1, 2, 2, 7],
        [2, 6, 1, 2, 8, 7],
    ];
    for from in unchanged {
        assert_eq!(pieces(plane(from), &region), [plane(from)], "case 1, {from:?}");
    }
    let cases: [(u32, Address, &[Address]); 16] = [
        (2, [2, 4, 1, 2, 5, 4], &[[2, 4, 1, 2, 5, 2]]),
        (3, [2, 4, 1, 2, 7, 4], &[[2, 4, 1, 2, 7, 2], [2, 6, 3, 2, 7, 4]]),
        (4, [2, 1, 1, 2, 4, 4], &[[2, 1, 1, 2, 4, 2], [2, 1, 3, 2, 2, 4]]),
        (5, [2, 4, 4, 2, 5, 7], &[[2, 4, 6, 2, 5, 7]]),
        (6, [2, 4, 4, 2, 7, 7], &[[2, 6, 4, 2, 7, 5], [2, 4, 6, 2, 7, 7]]),
        (7, [2, 1, 4, 2, 4, 7], &[[2, 1, 4, 2, 2, 5], [2, 1, 6, 2, 4, 7]]),
        (8, [2, 4, 1, 2, 5, 7], &[[2, 4, 1, 2, 5, 2], [2, 4, 6, 2, 5, 7]]),
        (9, [2, 4, 1, 2, 7, 7], &[[2, 4, 1, 2, 5, 2], [2, 6, 1, 2, 7, 7], [2, 4, 6, 2, 5, 7]]),
        (10, [2, 1, 1, 2, 4, 7], &[[2, 1, 1, 2, 2, 7], [2, 3, 1, 2, 4, 2], [2, 3, 6, 2, 4, 7]]),
        (
            11,
            [2, 1, 1, 2, 7, 7],
            &[[2, 1, 1, 2, 2, 7], [2, 6, 1, 2, 7, 7], [2, 3, 1, 2, 5, 2], [2, 3, 6, 2, 5, 7]],
        ),
        (12, [2, 1, 4, 2, 7, 5], &[[2, 1, 4, 2, 2, 5], [2, 6, 4, 2, 7, 5]]),
        (13, [2, 1, 1, 2, 7, 4], &[[2, 1, 1, 2, 2, 4], [2, 6, 1, 2, 7, 4], [2, 3, 1, 2, 5, 2]]),
        (14, [2, 1, 4, 2, 7, 7], &[[2, 1, 4, 2, 2, 7], [2, 6, 4, 2, 7, 7], [2, 3, 6, 2, 5, 7]]),
        (15, [2, 4, 4, 2, 5, 5], &[]),
        (16, [2, 4, 4, 2, 7, 5], &[[2, 6, 4, 2, 7, 5]]),
        (17, [2, 1, 4, 2, 4, 5], &[[2, 1, 4, 2, 2, 5]]),
    ];
    for (case, from, left) in cases {
        let left: Vec<_> = left.iter().map(|&p| plane(p)).collect();
        assert_eq!(pieces(plane(from), &region), left, "case {case}");
    }
}

fn spans() -> impl Iterator<Item = Span> + Clone {
    (0..5).flat_map(|low| (low..5).map(move |high| Span { low, high }))
}

/// Returns the positions of a plane as bits, one bit for each position of a grid of five by five.
fn cells(y: Span, z: Span) -> u32 {
    let mut cells = 0;
    for y in y.low..=y.high {
        for z in z.low..=z.high {
            cells |= 1 << (5 * y + z);
        }
    }
    cells
}

/// Checks all 50,625 pairs of a plane and a region of a five by five grid.
#[test]
fn pieces_are_exactly_the_positions_outside_the_region() {
    let mut pairs = 0;
    for y in spans() {
        for z in spans() {
            for v in spans() {
                for w in spans() {
                    let region = Region { low: [0, v.low, w.low], high: [2, v.high, w.high] };
                    let from = Plane { x: 1, y, z };
                    let left = pieces(from, &region);
                    assert!(left.len() <= 4);
                    let mut union = 0;
                    for piece in &left {
                        assert!(piece.y.low <= piece.y.high && piece.z.low <= piece.z.high);
                        assert_eq!(piece.x, 1);
                        let cells = cells(piece.y, piece.z);
                        assert_eq!(cells & union, 0, "{from:?} - {region:?} overlap");
                        union |= cells;
                    }
                    assert_eq!(union, cells(y, z) & !cells(v, w), "{from:?} - {region:?}");
                    // Only the last piece can be above all later regions.
                    let above = left.iter().position(|piece| piece.is_above(&region));
                    assert!(above.is_none_or(|i| i + 1 == left.len()));
                    pairs += 1;
                }
            }
        }
    }
    assert_eq!(pairs, 50_625);
}

#[test]
fn a_region_beside_the_plane_does_not_change_it() {
    for x in [0, 4] {
        let from = plane([x, 0, 0, x, 4, 4]);
        let region = Region { low: [1, 0, 0], high: [3, 4, 4] };
        assert_eq!(pieces(from, &region), [from]);
    }
}

/// For a plane of depth one, the cases reduce to the five cases of a line segment (Figure 4.1). At
/// most one part below the region and one part above it remain.
#[test]
fn a_flat_plane_behaves_like_a_segment() {
    let flat = Span { low: 0, high: 0 };
    for z in spans() {
        for w in spans() {
            let region = Region { low: [0, 0, w.low], high: [2, 0, w.high] };
            let expected = if z.high < w.low || z.low > w.high {
                vec![z]
            } else if z.low < w.low && z.high <= w.high {
                vec![Span { low: z.low, high: w.low - 1 }]
            } else if w.low <= z.low && w.high < z.high {
                vec![Span { low: w.high + 1, high: z.high }]
            } else if z.low < w.low {
                vec![Span { low: z.low, high: w.low - 1 }, Span { low: w.high + 1, high: z.high }]
            } else {
                vec![]
            };
            let left = pieces(Plane { x: 1, y: flat, z }, &region);
            assert!(left.iter().all(|piece| piece.y == flat));
            assert_eq!(left.iter().map(|piece| piece.z).collect::<Vec<_>>(), expected);
        }
    }
}
