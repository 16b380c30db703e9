use crate::buddy::*;
use proptest::prelude::*;
use replay_contract::{Bench, Expected, starts_and_ends};
use replay_engine::allocator::submesh::SubMesh;

fn on(machine: &str) -> Bench<Buddy> {
    Bench::on_grid(machine, |grid| Buddy::new(grid).expect("a square"))
}

fn shaped(w: u16, h: u16) -> Request {
    Request::shaped(u32::from(w) * u32::from(h), Some([w, h, 1]))
}

/// Test vector V-2DBS of the specification: a job of 2 x 1 uses only half of its square of four
/// processors.
#[test]
fn a_job_gets_the_square_of_its_longer_side() {
    for (request, processors) in [
        (shaped(2, 1), 4),
        (Request::of_size(2), 4),
        (shaped(3, 1), 16),
        (Request::of_size(3), 4),
        (Request::of_size(5), 16),
        (shaped(1, 1), 1),
        (shaped(8, 8), 64),
    ] {
        let mut bench = on("8x8");
        assert_eq!(bench.serve(request).len(), processors, "{request:?}");
        assert_eq!(bench.units(), (1, 1));
    }
}

/// Lo et al., figure 3: the squares <0,0,2>, <4,0,1> and <4,4,1> are busy. A job of five
/// processors gets the square <0,4,4>. A further job of sixteen processors is refused although 42
/// processors are free.
#[test]
fn fragmentation_is_internal_and_external() {
    let mut bench = on("8x8");
    for (base, side) in [([0, 0, 0], 2), ([4, 0, 0], 1), ([4, 4, 0], 1)] {
        let area = SubMesh { base, sides: [side, side, 1] };
        let mut nodes = Vec::new();
        area.append_to(bench.grid(), &mut nodes);
        bench.allocator.records.carve(area);
        bench.machine.occupy(&nodes);
    }
    let nodes = bench.serve(Request::of_size(5));
    assert_eq!((nodes.len(), bench.coords(&nodes)[0]), (16, [0, 4, 0]));
    assert_eq!(bench.machine.free_count(), 42);
    assert_eq!(bench.start(Request::of_size(16)), Err(Refusal::Fragmented));
}

#[test]
fn refusals_have_the_right_reason() {
    let mut bench = on("4x4");
    let first = bench.serve(Request::of_size(1));
    // Fifteen processors are free, but the job needs a square of sixteen.
    assert_eq!(bench.start(Request::of_size(15)), Err(Refusal::TooFewFree));
    assert_eq!(bench.start(shaped(5, 1)), Err(Refusal::Fragmented));
    bench.end(&first);
    bench.serve(Request::of_size(16));
    bench.begin();
    bench.serve(Request::of_size(16));
}

#[test]
fn refuses_if_free_processors_form_no_square() {
    let mut bench = on("4x4");
    let held: Vec<_> = (0..16).map(|_| bench.serve(Request::of_size(1))).collect();
    // Releases one processor in every quarter.
    for nodes in held {
        if bench.coords(&nodes)[0][..2].iter().all(|position| position % 2 == 0) {
            bench.end(&nodes);
        }
    }
    assert_eq!(bench.machine.free_count(), 4);
    assert_eq!(bench.start(Request::of_size(4)), Err(Refusal::Fragmented));
}

#[test]
fn rejects_other_machines() {
    let builds = |machine: &str| {
        let topology: Topology = machine.parse().expect("a machine");
        BuddyOptions.build(&topology, 0).is_ok()
    };
    for machine in ["8x4", "6x6", "4x4x4", "hypercube:4"] {
        assert!(!builds(machine), "{machine}");
    }
    assert!(builds("torus:8x8"));
}

/// Returns the first of the smallest free squares that can serve the request. Free squares of one size that are not part
/// of a larger free square come first.
fn first_square(machine: &Machine, request: Request) -> Expected {
    let grid = machine.topology().grid().expect("a grid");
    let [w, h, _] = request.shape.expect("a shape");
    let nodes = |side: u16, x: u16, y: u16| {
        let mut nodes = Vec::new();
        SubMesh { base: [x, y, 0], sides: [side, side, 1] }.append_to(grid, &mut nodes);
        nodes
    };
    let is_free = |side, x, y| nodes(side, x, y).iter().all(|&node| machine.is_free(node));
    let maximal = |side: u16| {
        let steps = move || (0..16).step_by(usize::from(side));
        let parent = |at: u16| at / (2 * side) * 2 * side;
        steps().flat_map(|y| steps().map(move |x| (x, y))).find(|&(x, y)| {
            is_free(side, x, y) && (side == 16 || !is_free(2 * side, parent(x), parent(y)))
        })
    };
    let side = w.max(h).next_power_of_two();
    let square = [1u16, 2, 4, 8, 16].into_iter().filter(|&larger| larger >= side).find_map(maximal);
    square.map(|(x, y)| nodes(side, x, y)).into()
}

proptest! {
    /// A request succeeds iff an aligned free square of its size exists. The request gets the first
    /// of the smallest free squares that can serve the request. Releasing all squares restores the
    /// machine.
    #[test]
    fn finds_aligned_free_squares(history in starts_and_ends(1..120)) {
        let mut bench = on("16x16").with_oracle(first_square);
        let side = |share: f64| 1 + (8.0 * share) as u16;
        bench.run(&history, |_, a, b| shaped(side(a), side(b)), |bench| {
            assert_eq!(bench.census().busy_list as usize, bench.running());
        });
        bench.end_all();
        assert_eq!(bench.allocator.records.free(4), 1);
    }
}
