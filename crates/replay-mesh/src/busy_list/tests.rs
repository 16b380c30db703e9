use crate::busy_list::cases::{busy, grid, is_free, meshes, nodes, unit, units};
use crate::busy_list::*;
use proptest::prelude::*;
use replay_engine::allocator::submesh::permutations;

impl BusyListAllocator {
    /// Adds allocated sub-meshes in the given order. The sub-meshes must be inside the mesh,
    /// disjoint, and busy on the machine.
    fn holding(mut self, units: &[SubMesh]) -> Self {
        units.iter().for_each(|&unit| self.placer.enter(unit));
        self
    }
}

const ENGINES: [Engine; 2] = [Engine::Fast, Engine::Literal];

fn allocator(grid: &Grid, turning: bool, engine: Engine) -> BusyListAllocator {
    BusyListAllocator::new(grid, BusyListOptions { turning, rule: ShapeRule::Factors, engine })
}

fn shaped(sides: [u16; 3]) -> Request {
    Request::shaped(volume(sides) as u32, Some(sides))
}

/// Allocates the shapes one after another on an empty machine and returns their sub-meshes.
fn sequence(machine: &str, turning: bool, shapes: &[[u16; 3]]) -> Vec<Option<SubMesh>> {
    let grid = grid(machine);
    let run = |engine| {
        let mut allocator = allocator(&grid, turning, engine);
        let mut machine = busy(&grid, &[]);
        let place = |&sides: &[u16; 3]| {
            let mut chosen = Vec::new();
            allocator.allocate(&machine, shaped(sides), &mut chosen).ok()?;
            machine.occupy(&chosen);
            let unit = SubMesh::spanning(grid.coord(chosen[0]), grid.coord(*chosen.last()?));
            assert_eq!(nodes(&grid, &unit), chosen);
            Some(unit)
        };
        shapes.iter().map(place).collect::<Vec<_>>()
    };
    let [fast, literal] = ENGINES.map(run);
    assert_eq!(fast, literal);
    fast
}

/// Worked example of section 3.3.
#[test]
fn worked_example_of_three_3d_requests() {
    let shapes = [[2, 4, 4], [2, 1, 2], [1, 2, 1]];
    let expected = [[0, 0, 0, 1, 3, 3], [2, 0, 0, 3, 0, 1], [2, 0, 2, 2, 1, 2]];
    for turning in [false, true] {
        assert_eq!(sequence("4x4x4", turning, &shapes), expected.map(|a| Some(unit(&a))));
    }
}

/// Example of Figure 2.7: the second request fits only if it is rotated.
#[test]
fn turning_finds_rotated_frames() {
    let shapes = [[2, 3, 2], [3, 2, 1]];
    let first = Some(unit(&[0, 0, 0, 1, 2, 1]));
    assert_eq!(sequence("3x3x2", false, &shapes), [first, None]);
    assert_eq!(sequence("3x3x2", true, &shapes), [first, Some(unit(&[2, 0, 0, 2, 2, 1]))]);
}

#[test]
fn figure_4_3_has_one_free_position_for_2x4() {
    let grid = grid("6x6");
    let held = [[1, 4, 5, 5], [0, 2, 1, 3], [4, 3, 5, 3], [5, 2, 5, 2]].map(|a| unit(&a));
    let machine = busy(&grid, &held);
    let place = |sides, turning| {
        let mut chosen = Vec::new();
        allocator(&grid, turning, Engine::Fast)
            .holding(&held)
            .allocate(&machine, shaped(sides), &mut chosen)
            .map(|()| chosen)
    };
    assert_eq!(place([2, 4, 1], false), Ok(nodes(&grid, &unit(&[2, 0, 3, 3]))));
    assert_eq!(place([6, 2, 1], false), Ok(nodes(&grid, &unit(&[0, 0, 5, 1]))));
    assert_eq!(place([8, 2, 1], true), Err(Refusal::Fragmented));
    assert_eq!(place([2, 6, 1], false), Err(Refusal::Fragmented));
    assert_eq!(place([2, 6, 1], true), Ok(nodes(&grid, &unit(&[0, 0, 5, 1]))));
    assert_eq!(place([5, 4, 1], true), Err(Refusal::TooFewFree));
}

#[test]
fn pieces_of_a_plane_are_followed_separately() {
    let grid = grid("3x3x3");
    let held = [unit(&[0, 2, 2, 1, 2, 2]), unit(&[0, 0, 0, 1, 1, 1])];
    for engine in ENGINES {
        let mut chosen = Vec::new();
        allocator(&grid, false, engine)
            .holding(&held)
            .allocate(&busy(&grid, &held), shaped([2, 2, 1]), &mut chosen)
            .expect("there is one");
        assert_eq!(chosen, nodes(&grid, &unit(&[0, 0, 2, 1, 1, 2])));
    }
}

#[test]
fn a_job_can_have_the_whole_machine_repeatedly() {
    for (machine, whole) in [("5x4", [5, 4, 1]), ("3x4x2", [3, 4, 2])] {
        let grid = grid(machine);
        let mut machine = busy(&grid, &[]);
        let mut allocator = allocator(&grid, true, Engine::Fast);
        for _ in 0..2 {
            let mut chosen = Vec::new();
            assert_eq!(allocator.allocate(&machine, shaped(whole), &mut chosen), Ok(()));
            // The processors are listed from the lowest corner; x varies fastest.
            let origin = SubMesh { base: [0, 0, 0], sides: whole };
            assert_eq!(chosen, nodes(&grid, &origin));
            assert_eq!(
                (
                    allocator.stats().census.expect("units").blocks,
                    allocator.stats().census.expect("units").busy_list
                ),
                (1, 1)
            );
            machine.occupy(&chosen);
            let refused = allocator.allocate(&machine, Request::of_size(1), &mut Vec::new());
            assert_eq!(refused, Err(Refusal::TooFewFree));
            machine.release(&chosen);
            allocator.on_event(&machine, MachineEvent::Released(&chosen));
            assert_eq!(allocator.stats().census.expect("units").busy_list, 0);
        }
    }
}

#[test]
fn a_job_without_shape_gets_a_shape() {
    let grid = grid("4x3");
    let machine = busy(&grid, &[]);
    let taken = |rule, size| {
        let options = BusyListOptions { rule, ..BusyListOptions::default() };
        let mut chosen = Vec::new();
        let served = BusyListAllocator::new(&grid, options).allocate(
            &machine,
            Request::of_size(size),
            &mut chosen,
        );
        served.map(|()| chosen.len())
    };
    assert_eq!(taken(ShapeRule::Factors, 4), Ok(4));
    // A row of seven processors does not fit, so the shape becomes 4 x 2 (eight processors).
    assert_eq!(taken(ShapeRule::Factors, 7), Ok(8));
    // A job of eleven processors would get all twelve processors.
    assert_eq!(taken(ShapeRule::Factors, 11), Ok(12));
    assert_eq!(taken(ShapeRule::NearSquare, 4), Ok(4));
    assert_eq!(taken(ShapeRule::NearSquare, 13), Err(Refusal::TooFewFree));
}

#[test]
fn refuses_a_3d_shape_on_a_2d_mesh() {
    let grid = grid("8x8");
    let solid = allocator(&grid, true, Engine::Fast).allocate(
        &busy(&grid, &[]),
        shaped([2, 2, 2]),
        &mut Vec::new(),
    );
    assert_eq!(solid, Err(Refusal::Fragmented));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Busy List serves a request iff the box is free at any position. Turning Busy List serves a
    /// request iff any permutation of the box is free.
    #[test]
    fn finds_every_free_frame(
        grid in meshes(),
        attempts in 0usize..40,
        longest in 1u16..5,
        seed: u64,
        sides in [1u16..6, 1u16..6, 1u16..4],
    ) {
        let dimensions = grid.dimensions();
        let sides = if dimensions == 2 { [sides[0], sides[1], 1] } else { sides };
        let held = units(&grid, attempts, longest, seed);
        let machine = busy(&grid, &held);
        let exists = |sides| grid.coords().into_iter().any(|base| is_free(&machine, &grid, base, sides));
        let expected = |turning: bool| match turning {
            false => exists(sides),
            true => permutations(sides, dimensions).any(exists),
        };
        for turning in [false, true] {
            let serve = |engine| {
                let mut allocator = allocator(&grid, turning, engine).holding(&held);
                let mut chosen = Vec::new();
                let served = allocator.allocate(&machine, shaped(sides), &mut chosen);
                (served, chosen)
            };
            let [(served, chosen), literal] = ENGINES.map(serve);
            prop_assert_eq!(served.is_ok(), expected(turning));
            prop_assert!(chosen.iter().all(|&node| machine.is_free(node)));
            prop_assert_eq!(chosen.len() as u64, if served.is_ok() { volume(sides) } else { 0 });
            let enough = volume(sides) <= machine.free_count() as u64;
            prop_assert_eq!(served == Err(Refusal::TooFewFree), !enough);
            prop_assert_eq!((served, chosen), literal);
        }
    }

    /// During any history, the list contains exactly the busy units of the machine. At the end, the
    /// list and the machine are empty.
    #[test]
    fn the_list_is_empty_after_all_jobs_end(
        grid in meshes(),
        history in proptest::collection::vec(([1u16..5, 1u16..5, 1u16..4], any::<prop::sample::Index>(), any::<bool>()), 1..40),
        turning: bool,
    ) {
        let mut allocator = allocator(&grid, turning, Engine::Fast);
        let mut machine = busy(&grid, &[]);
        let mut jobs: Vec<Vec<NodeId>> = Vec::new();
        for (sides, which, end) in history {
            if end && !jobs.is_empty() {
                let job = jobs.swap_remove(which.index(jobs.len()));
                machine.release(&job);
                allocator.on_event(&machine, MachineEvent::Released(&job));
            }
            let mut chosen = Vec::new();
            if allocator.allocate(&machine, shaped(sides), &mut chosen).is_ok() {
                // `occupy` panics if a processor is busy.
                machine.occupy(&chosen);
                jobs.push(chosen);
            }
            prop_assert_eq!(allocator.stats().census.expect("units").busy_list as usize, jobs.len());
        }
        for job in jobs {
            machine.release(&job);
            allocator.on_event(&machine, MachineEvent::Released(&job));
        }
        prop_assert_eq!(allocator.stats().census.expect("units").busy_list, 0);
        prop_assert_eq!(machine.free_count(), machine.processors());
    }
}
