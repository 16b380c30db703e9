use crate::busy_list::cases::{busy, grid, is_free, meshes, unit, units};
use crate::busy_list::detect::*;
use proptest::prelude::*;
use replay_engine::allocator::submesh::SubMesh;
use replay_engine::topology::Grid;

fn list(grid: &Grid, units: &[SubMesh]) -> BusyList {
    let mut list = BusyList::new(grid);
    units.iter().for_each(|&unit| list.insert(unit));
    list
}

/// Returns the planes that the search finds, as upright coordinates (x,y,z,x',y',z').
fn found(machine: &str, addresses: &[&[u16]], sides: [u16; 3]) -> Vec<[u16; 6]> {
    let units: Vec<_> = addresses.iter().map(|a| unit(a)).collect();
    let list = list(&grid(machine), &units);
    let mut detector = Detector::default();
    let planes = detector.all(&list, sides).to_vec();
    let first = planes.first().map(|plane| list.upright(lowest(plane)));
    assert_eq!(detector.first(&list, sides), first);
    planes.iter().map(|p| [p.x, p.y.low, p.z.low, p.x, p.y.high, p.z.high]).collect()
}

/// Worked example of section 3.3: requests of 2x4x4, 2x1x2 and 1x2x1 on a mesh of 4x4x4.
#[test]
fn worked_example_of_three_3d_requests() {
    let b1: &[u16] = &[0, 0, 0, 1, 3, 3];
    let b2: &[u16] = &[2, 0, 0, 3, 0, 1];
    assert_eq!(found("4x4x4", &[], [2, 4, 4]), [[0, 0, 0, 0, 0, 0]]);
    assert_eq!(found("4x4x4", &[b1], [2, 1, 2]), [[2, 0, 0, 2, 3, 2]]);
    let planes = [[2, 0, 2, 2, 2, 3], [2, 1, 0, 2, 2, 1]];
    assert_eq!(found("4x4x4", &[b1, b2], [1, 2, 1]), planes);
}

/// Worked example of section 4.2: a request for 2x4 in the state of Figure 4.3.
#[test]
fn worked_example_of_figure_4_3() {
    let held: [&[u16]; 4] = [&[1, 4, 5, 5], &[0, 2, 1, 3], &[4, 3, 5, 3], &[5, 2, 5, 2]];
    // In upright coordinates, the result is the line (2,0, 2,0).
    assert_eq!(found("6x6", &held, [2, 4, 1]), [[2, 0, 0, 2, 0, 0]]);
    assert_eq!(found("6x6", &held, [8, 2, 1]), [[0u16; 6]; 0]);
}

/// If nothing remains of one piece, the other pieces of its plane must still be followed.
#[test]
fn pieces_are_followed_separately() {
    let held: [&[u16]; 2] = [&[0, 2, 2, 1, 2, 2], &[0, 0, 0, 1, 1, 1]];
    assert_eq!(found("3x3x3", &held, [2, 2, 1])[0], [0, 0, 2, 0, 0, 2]);
}

/// A sub-mesh at the right wall has no right border plane.
#[test]
fn a_unit_at_the_right_wall_has_no_right_border() {
    assert_eq!(found("4x4", &[&[3, 0, 3, 3]], [1, 4, 1]), [[0, 0, 0, 0, 0, 0]]);
    assert_eq!(found("4x4x4", &[&[0, 0, 0, 3, 3, 3]], [1, 1, 1]), [[0u16; 6]; 0]);
}

#[test]
fn subtractions_are_counted() {
    let grid = grid("6x6");
    let held = [unit(&[1, 4, 5, 5]), unit(&[0, 2, 1, 3]), unit(&[4, 3, 5, 3]), unit(&[5, 2, 5, 2])];
    let list = list(&grid, &held);
    let mut detector = Detector::default();
    // Two regions, b1 and b2, are subtracted from the left wall; nothing remains. Four regions are
    // subtracted from the line at x = 2. The other border planes are outside the mesh.
    detector.first(&list, [2, 4, 1]);
    assert_eq!(detector.subtractions, 2 + 4);
    detector.subtractions = 0;
    // For a request of six processors in a row, the subtraction of region b1 keeps the part of the
    // left wall below y = 4, and the subtraction of region b2 keeps the part below y = 2. The
    // regions b3 and b4 are above this part.
    detector.first(&list, [6, 1, 1]);
    assert_eq!(detector.subtractions, 4);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// The planes found by the search contain exactly the bases of those free frames that touch the
    /// left wall or the right face of an entry. The search finds a plane iff at least one frame is
    /// free. The test checks both properties by examining every processor of every frame.
    #[test]
    fn finds_every_base_at_a_border(
        grid in meshes(),
        attempts in 0usize..40,
        longest in 1u16..5,
        seed: u64,
        sides in [1u16..6, 1u16..6, 1u16..4],
    ) {
        let sides = if grid.dimensions() == 2 { [sides[0], sides[1], 1] } else { sides };
        let held = units(&grid, attempts, longest, seed);
        let (list, machine) = (list(&grid, &held), busy(&grid, &held));
        let mut detector = Detector::default();
        let planes = detector.all(&list, sides).to_vec();
        let literal = detector.subtractions;
        detector.subtractions = 0;
        prop_assert_eq!(detector.first(&list, sides), planes.first().map(|p| list.upright(lowest(p))));
        prop_assert!(detector.subtractions <= literal);

        let mut any = false;
        for base in grid.coords() {
            let free = is_free(&machine, &grid, base, sides);
            any |= free;
            let frame = SubMesh { base, sides };
            // If the frame is moved one step to the left, it leaves the mesh or overlaps an entry.
            let is_blocked = base[0] == 0 || {
                let left = SubMesh { base: [base[0] - 1, base[1], base[2]], sides };
                held.iter().any(|unit| unit.end()[0] + 1 == base[0] && unit.overlaps(&left))
            };
            let [x, y, z] = list.upright(frame.base);
            let found = planes.iter().any(|p| {
                p.x == x && (p.y.low..=p.y.high).contains(&y) && (p.z.low..=p.z.high).contains(&z)
            });
            prop_assert_eq!(found, free && is_blocked, "{:?}", base);
        }
        prop_assert_eq!(planes.is_empty(), !any);
    }
}
