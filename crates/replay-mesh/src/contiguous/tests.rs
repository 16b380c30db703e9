//! Worked examples of the contiguous strategies.

use crate::contiguous::reference::{self, bases, figure_4_3, grid};
use crate::contiguous::scan::Scan;
use crate::contiguous::*;
use replay_contract::{Bench, check_names};
use replay_engine::naming::NameError;
use replay_engine::topology::Topology;

mod properties;

fn build(name: &str, topology: &Topology) -> Box<dyn Allocator> {
    let spec = crate::allocator(name).expect("a legal name");
    spec.build(topology, 0).expect("a legal machine")
}

fn try_build(name: &str, topology: &str) -> Result<Box<dyn Allocator>, String> {
    let spec = crate::allocator(name).map_err(|e: NameError| e.to_string())?;
    spec.build(&topology.parse().expect("a machine"), 0).map_err(|e| e.to_string())
}

fn request(sides: [u16; 3]) -> Request {
    Request::shaped(volume(sides) as u32, Some(sides))
}

/// Returns a bench on which the busy processors of this machine belong to no job.
fn on(name: &str, machine: &Machine) -> Bench<dyn Allocator> {
    Bench::boxed(machine.clone(), build(name, machine.topology()))
}

/// Returns a bench on an empty machine.
fn on_empty(name: &str, machine: &str) -> Bench<dyn Allocator> {
    on(name, &Machine::new(machine.parse().expect("a machine")))
}

/// Starts a job and returns its sub-mesh.
fn serve(bench: &mut Bench<dyn Allocator>, sides: [u16; 3]) -> Option<SubMesh> {
    let chosen = bench.start(request(sides)).ok()?;
    let grid = bench.grid();
    let [base, last] = [chosen[0], chosen[chosen.len() - 1]].map(|node| grid.coord(node));
    let side = |i: usize| {
        let extent = grid.axes()[i].extent;
        (last[i] + extent - base[i]) % extent + 1
    };
    let sides = [0, 1, 2].map(side);
    assert_eq!(chosen, reference::nodes(grid, base, sides), "row-major from the base");
    Some(SubMesh { base, sides })
}

fn choice(name: &str, machine: &Machine, sides: [u16; 3]) -> Option<(Coord, [u16; 3])> {
    let place = serve(&mut on(name, machine), sides)?;
    Some((place.base, place.sides))
}

/// Returns a machine on which the processors at these positions are busy.
fn with_busy(topology: &str, busy: &[Coord]) -> Machine {
    let mut machine = Machine::new(topology.parse().expect("a machine"));
    let busy: Vec<_> = busy.iter().map(|&coord| grid(&machine).node(coord)).collect();
    machine.occupy(&busy);
    machine
}

const MESH_STRATEGIES: [&str; 8] = [
    "first-fit",
    "turning-first-fit",
    "best-fit",
    "best-fit[measure=surroundings]",
    "best-fit[measure=smallest-box]",
    "turning-best-fit",
    "frame-sliding",
    "adaptive-scan",
];

#[test]
fn fills_an_empty_mesh_from_the_origin_and_refuses_on_a_full_one() {
    for (machine, whole) in [("6x5", [6, 5, 1]), ("3x4x2", [3, 4, 2])] {
        for name in MESH_STRATEGIES {
            let mut bench = on_empty(name, machine);
            for sides in [[2, 3, 1], [1, 1, 1]] {
                assert_eq!(choice(name, &bench.machine, sides), Some(([0; 3], sides)), "{name}");
            }
            for _ in 0..2 {
                bench.serve(request(whole));
                assert_eq!((bench.machine.free_count(), bench.units()), (0, (1, 1)), "{name}");
                assert_eq!(bench.start(request([1; 3])), Err(Refusal::TooFewFree));
                bench.end_all();
            }
        }
    }
}

/// Bani-Mohammad 2008, section 4.3: the state of Fig. 4.3.
#[test]
fn first_fit_on_figure_4_3() {
    let machine = figure_4_3();
    assert_eq!(machine.free_count(), 19);
    assert_eq!(choice("first-fit", &machine, [2, 4, 1]), Some(([2, 0, 0], [2, 4, 1])));
    assert_eq!(choice("first-fit", &machine, [6, 2, 1]), Some(([0, 0, 0], [6, 2, 1])));
    assert_eq!(choice("first-fit", &machine, [8, 2, 1]), None);
    let mut bench = on("first-fit", &machine);
    assert_eq!(bench.start(request([8, 2, 1])), Err(Refusal::Fragmented));
    assert_eq!(bench.start(request([5, 4, 1])), Err(Refusal::TooFewFree));
}

/// Bani-Mohammad 2008, Fig. 2.7: the fifth permutation fits.
#[test]
fn the_second_job_fits_after_rotation() {
    let mut turning = on_empty("turning-first-fit", "3x3x2");
    let first = serve(&mut turning, [2, 3, 2]);
    assert_eq!(first, Some(SubMesh::spanning([0, 0, 0], [1, 2, 1])));
    assert_eq!(choice("first-fit", &turning.machine, [3, 2, 1]), None);
    let second = serve(&mut turning, [3, 2, 1]);
    assert_eq!(second, Some(SubMesh::spanning([2, 0, 0], [2, 2, 1])));
}

/// Bani-Mohammad 2008, Fig. 3.6: three jobs on a 4 x 4 x 4 mesh.
#[test]
fn worked_example_of_three_3d_jobs() {
    for name in ["first-fit", "turning-first-fit"] {
        let mut bench = on_empty(name, "4x4x4");
        let expected = [
            ([2, 4, 4], SubMesh::spanning([0, 0, 0], [1, 3, 3])),
            ([2, 1, 2], SubMesh::spanning([2, 0, 0], [3, 0, 1])),
            ([1, 2, 1], SubMesh::spanning([2, 0, 2], [2, 1, 2])),
        ];
        for (sides, place) in expected {
            assert_eq!(serve(&mut bench, sides), Some(place), "{name}");
        }
        assert_eq!(bench.census().busy_list, 3);
    }
}

#[test]
fn frame_sliding_misses_free_frames() {
    let machine = with_busy("6x5", &[[0, 0, 0], [3, 1, 0], [2, 3, 0]]);
    let sides = [3, 2, 1];
    assert_eq!(bases(&machine, sides, Scan::RowMajor), [[0, 1, 0], [3, 2, 0], [3, 3, 0]]);
    assert_eq!(choice("first-fit", &machine, sides), Some(([0, 1, 0], sides)));
    // All rows begin at x = 1, so the bases are (1, 0) and (1, 2).
    let mut sliding = build("frame-sliding[rows=first]", machine.topology());
    let refused = sliding.allocate(&machine, request(sides), &mut Vec::new());
    assert_eq!(refused, Err(Refusal::Fragmented));
    // The operations are 6 packed rows, 6 combined words for each of three steps (two along x and one along y), and the
    // two frames at (1, 0) and (1, 2).
    assert_eq!(sliding.stats().census.expect("units").operations, 6 + 3 * 6 + 2);
    // Rows extend from wall to wall: the bases are (1, 0), (3, 0), (0, 2), (3, 2).
    assert_eq!(choice("frame-sliding", &machine, sides), Some(([3, 2, 0], sides)));
}

#[test]
fn best_fit_chooses_the_tightest_position() {
    // A free area of 2 x 2 at (2, 2), surrounded by busy processors.
    let busy: Vec<Coord> = (0..6)
        .flat_map(|x| (0..6).map(move |y| [x, y, 0]))
        .filter(|&[x, y, _]| {
            (1..5).contains(&x)
                && (1..5).contains(&y)
                && !((2..4).contains(&x) && (2..4).contains(&y))
        })
        .collect();
    let machine = with_busy("6x6", &busy);
    let pocket = Some(([2, 2, 0], [2, 2, 1]));
    for measure in ["surroundings", "candidates", "smallest-box"] {
        let name = format!("best-fit[measure={measure}]");
        assert_eq!(choice(&name, &machine, [2, 2, 1]), pocket, "{name}");
    }
}

/// The values in the explanation decide: the chosen base is the first base with the lowest values.
#[test]
fn explained_values_decide_the_choice() {
    use best_fit::{Candidates, Surroundings};

    fn agrees(choice: &mut impl Choice, machine: &Machine, sides: [u16; 3]) -> usize {
        let grid = grid(machine);
        let mut frames = Frames::new(grid);
        frames.read(machine.free_map());
        let taken = choice.choose(&mut frames, machine, sides);
        let preference = choice.preference(&frames, machine, sides);
        let key = |(base, values): &(Coord, Vec<u64>)| {
            (values.clone(), Scan::default().rank(grid, *base))
        };
        let best = preference.bases.iter().min_by_key(|one| key(one)).map(|one| one.0);
        assert_eq!(best, taken, "{} {sides:?}", preference.rule);
        let columns = preference.columns.len();
        assert!(preference.bases.iter().all(|(_, values)| values.len() == columns));
        preference.bases.len()
    }

    let mut compared = 0;
    for (topology, seed) in ["9x7", "torus:8x6", "5x4x3"].into_iter().zip(1u64..) {
        let machine = Machine::new(topology.parse().expect("a machine"));
        let grid = grid(&machine);
        for round in 0..12u64 {
            // About a third of the processors, selected pseudo-randomly, are busy.
            let is_busy =
                |place: u64| (place * 2_654_435_761 + seed * 97 + round * 7919).is_multiple_of(3);
            let coords = grid.coords().into_iter().zip(0..);
            let busy: Vec<Coord> = coords
                .filter(|&(_, place)| is_busy(place * place))
                .map(|(coord, _)| coord)
                .collect();
            let machine = with_busy(topology, &busy);
            let sides = [1 + (round % 3) as u16, 1 + (round / 3 % 2) as u16, 1];
            compared += agrees(&mut Candidates::default(), &machine, sides);
            compared += agrees(&mut Surroundings::new(grid), &machine, sides);
            compared += agrees(&mut first_fit::FirstFit::default(), &machine, sides);
        }
    }
    assert!(compared > 500, "{compared} bases");
}

#[test]
fn names_have_one_canonical_form() {
    let canonical = [
        ("first-fit[rotate=true]", "turning-first-fit"),
        ("first-fit[rotate=false,scan=row-major]", "first-fit"),
        ("turning-first-fit[shape=any]", "turning-first-fit[shape=any]"),
        ("first-fit[scan=column-major]", "first-fit[scan=column-major]"),
        ("best-fit[measure=candidates,shape=near-square]", "best-fit[shape=near-square]"),
        ("best-fit[rotate=true,measure=surroundings]", "turning-best-fit[measure=surroundings]"),
        ("frame-sliding[shape=factors,rows=walls]", "frame-sliding"),
        ("frame-sliding[shape=any,rows=first]", "frame-sliding[rows=first,shape=any]"),
    ];
    let invalid = [
        ("turning-first-fit[rotate=false]", "unknown parameter"),
        ("first-fit[measure=candidates]", "unknown parameter"),
        ("best-fit[scan=row-major]", "unknown parameter"),
        ("best-fit[measure=tight]", "not one of"),
        ("frame-sliding[rotate=true]", "unknown parameter"),
    ];
    check_names(crate::allocator, &canonical, &invalid);
}

#[test]
fn strategies_defined_on_meshes_refuse_a_torus() {
    for name in ["frame-sliding", "adaptive-scan", "best-fit[measure=smallest-box]"] {
        let error = try_build(name, "torus:4x4").err().expect("not on a torus");
        assert!(error.contains("needs a mesh"), "{error}");
    }
    for name in ["first-fit", "best-fit", "turning-best-fit[measure=candidates]"] {
        assert!(try_build(name, "torus:4x4").is_ok());
        assert!(try_build(name, "hypercube:4").is_err());
    }
}

#[test]
fn shapes_are_tried_in_order() {
    // Only column x = 0 of a 3 x 4 mesh is free.
    let busy: Vec<Coord> = (0..8).map(|i| [1 + i / 4, i % 4, 0]).collect();
    let machine = with_busy("3x4", &busy);
    let serve = |name: &str, size: u32| {
        on(name, &machine).start(Request::of_size(size)).map(|nodes| nodes.len())
    };
    assert_eq!(serve("first-fit", 4), Err(Refusal::Fragmented));
    assert_eq!(serve("turning-first-fit", 4), Err(Refusal::Fragmented));
    assert_eq!(serve("first-fit[shape=any]", 4), Ok(4));
    assert_eq!(serve("first-fit", 5), Err(Refusal::TooFewFree));
    // A request of five processors becomes 3 x 2, which is more than the number of free processors.
    assert_eq!(on_empty("first-fit", "3x4").serve(Request::of_size(5)).len(), 6);
}
