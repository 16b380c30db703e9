use crate::contiguous::frames::*;
use crate::contiguous::reference;
use proptest::prelude::*;

proptest! {
    #[test]
    fn finds_every_free_frame(
        machine in proptest::sample::select(vec![
            "7x6", "torus:6x7", "torus[x]:5x8", "torus[y]:4x9", "3x70", "torus:3x130",
            "3x4x5", "torus:4x3x5", "torus[xz]:3x4x4", "torus[y]:2x5x66",
        ]),
        density in 0.0..0.6f64,
        noise in proptest::collection::vec(0.0..1.0f64, 700),
        sides in proptest::array::uniform3(1u16..6),
        long in any::<bool>(),
    ) {
        let busy: Vec<_> = noise.iter().map(|&n| n < density * density).collect();
        let machine = reference::machine(machine, &busy);
        let grid = reference::grid(&machine);
        let mut sides = if grid.dimensions() == 2 { [sides[0], sides[1], 1] } else { sides };
        let lane = grid.dimensions() - 1;
        if long {
            // Frames with these sides extend from one word into the next word.
            sides[lane] = grid.axes()[lane].extent * sides[lane] / 6;
        }
        sides[lane] = sides[lane].max(1);
        let mut frames = Frames::new(grid);
        frames.read(machine.free_map());
        frames.find(sides);
        let expected = reference::bases(&machine, sides, Scan::ColumnMajor);
        prop_assert_eq!(frames.bases().collect::<Vec<_>>(), expected.clone());
        for scan in [Scan::RowMajor, Scan::ColumnMajor] {
            let expected = reference::bases(&machine, sides, scan).first().copied();
            prop_assert_eq!(frames.first(scan), expected);
            let free = reference::bases(&machine, [1, 1, 1], scan).first().copied();
            prop_assert_eq!(frames.first_free(scan), free);
        }
        for coord in grid.coords() {
            prop_assert_eq!(frames.contains(coord), expected.contains(&coord));
        }
        // Processors marked as taken are busy in the next search.
        if let Some(&base) = expected.last() {
            frames.take(&SubMesh { base, sides });
            let mut machine = machine.clone();
            let taken = reference::nodes(grid, base, sides);
            machine.occupy(&taken);
            frames.find(sides);
            let left = reference::bases(&machine, sides, Scan::ColumnMajor);
            prop_assert_eq!(frames.bases().collect::<Vec<_>>(), left);
        }
    }
}

#[test]
fn a_frame_longer_than_the_machine_is_free_nowhere() {
    for machine in ["4x4", "torus:4x4"] {
        let machine = reference::machine(machine, &[false; 16]);
        let mut frames = Frames::new(reference::grid(&machine));
        frames.read(machine.free_map());
        for sides in [[5, 1, 1], [1, 5, 1], [1, 1, 2], [u16::MAX, 1, 1]] {
            frames.find(sides);
            assert_eq!(frames.bases().next(), None, "{sides:?}");
        }
        frames.find([4, 4, 1]);
        assert_eq!(frames.first(Scan::RowMajor), Some([0, 0, 0]));
    }
}

#[test]
fn windows_grow_by_doubling() {
    assert_eq!(doublings(1).count(), 0);
    assert_eq!(doublings(7).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(doublings(8).collect::<Vec<_>>(), [1, 2, 4]);
}
