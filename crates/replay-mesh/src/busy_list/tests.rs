use crate::busy_list::cases::{busy, grid, is_free, meshes, nodes, unit, units};
use crate::busy_list::*;
use proptest::prelude::*;
use replay_contract::{Bench, Reference, starts_and_ends};
use replay_engine::allocator::submesh::permutations;

impl BusyListAllocator {
    /// Adds allocated sub-meshes in the given order. The sub-meshes must be inside the mesh,
    /// disjoint, and busy on the machine.
    fn holding(mut self, units: &[SubMesh]) -> Self {
        units.iter().for_each(|&unit| self.placer.enter(unit));
        self
    }
}

fn allocator(grid: &Grid, turning: bool) -> BusyListAllocator {
    BusyListAllocator::new(grid, BusyListOptions { turning, ..BusyListOptions::default() })
}

fn shaped(sides: [u16; 3]) -> Request {
    Request::shaped(volume(sides) as u32, Some(sides))
}

/// Allocates the shapes one after another on an empty machine and returns their sub-meshes.
fn sequence(machine: &str, turning: bool, shapes: &[[u16; 3]]) -> Vec<Option<SubMesh>> {
    let published = Reference(allocator(&grid(machine), turning).listing_all());
    let bench = Bench::on_grid(machine, |grid| allocator(grid, turning));
    let mut bench = bench.with_oracle(published);
    let place = |&sides: &[u16; 3]| {
        let chosen = bench.start(shaped(sides)).ok()?;
        let corners = bench.coords(&chosen);
        let unit = SubMesh::spanning(corners[0], *corners.last()?);
        assert_eq!(nodes(bench.grid(), &unit), chosen);
        Some(unit)
    };
    shapes.iter().map(place).collect()
}

/// Returns a bench on which exactly these units are allocated.
fn holding(grid: &Grid, held: &[SubMesh], turning: bool) -> Bench<BusyListAllocator> {
    Bench::new(busy(grid, held), allocator(grid, turning).holding(held))
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
    let place = |sides, turning| holding(&grid, &held, turning).start(shaped(sides));
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
    for published in [false, true] {
        let allocator = allocator(&grid, false).holding(&held);
        let allocator = if published { allocator.listing_all() } else { allocator };
        let chosen = Bench::new(busy(&grid, &held), allocator).start(shaped([2, 2, 1]));
        assert_eq!(chosen, Ok(nodes(&grid, &unit(&[0, 0, 2, 1, 1, 2]))));
    }
}

#[test]
fn a_job_can_have_the_whole_machine_repeatedly() {
    for (machine, whole) in [("5x4", [5, 4, 1]), ("3x4x2", [3, 4, 2])] {
        let mut bench = Bench::on_grid(machine, |grid| allocator(grid, true));
        for _ in 0..2 {
            // The processors are listed from the lowest corner; x varies fastest.
            let origin = nodes(bench.grid(), &SubMesh { base: [0, 0, 0], sides: whole });
            assert_eq!(bench.serve(shaped(whole)), origin);
            assert_eq!(bench.units(), (1, 1));
            assert_eq!(bench.start(Request::of_size(1)), Err(Refusal::TooFewFree));
            bench.end_all();
        }
    }
}

#[test]
fn a_job_without_shape_gets_a_shape() {
    let taken = |rule, size| {
        let options = BusyListOptions { rule, ..BusyListOptions::default() };
        let mut bench = Bench::on_grid("4x3", |grid| BusyListAllocator::new(grid, options));
        bench.start(Request::of_size(size)).map(|nodes| nodes.len())
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
    let mut bench = Bench::on_grid("8x8", |grid| allocator(grid, true));
    assert_eq!(bench.start(shaped([2, 2, 2])), Err(Refusal::Fragmented));
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
            let published = allocator(&grid, turning).holding(&held).listing_all();
            let bench = holding(&grid, &held, turning);
            let served = bench.with_oracle(Reference(published)).start(shaped(sides));
            let length = served.as_ref().map_or(0, |chosen| chosen.len() as u64);
            prop_assert_eq!(length, if expected(turning) { volume(sides) } else { 0 });
            let enough = volume(sides) <= machine.free_count() as u64;
            prop_assert_eq!(served == Err(Refusal::TooFewFree), !enough);
        }
    }

    /// During any history, the list contains exactly the busy units of the machine. At the end, the
    /// list and the machine are empty.
    #[test]
    fn the_list_is_empty_after_all_jobs_end(
        grid in meshes(),
        history in starts_and_ends(1..60),
        turning: bool,
    ) {
        let allocator = allocator(&grid, turning);
        let mut bench = Bench::new(busy(&grid, &[]), allocator);
        let side = |share: f64, longest: f64| 1 + (share * longest) as u16;
        let request = |_: &Machine, a: f64, b: f64| {
            shaped([side(a, 4.0), side(b, 4.0), side((16.0 * a).fract(), 3.0)])
        };
        bench.run(&history, request, |bench| {
            assert_eq!(bench.census().busy_list as usize, bench.running());
        });
        bench.end_all();
    }
}
