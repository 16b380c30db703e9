use crate::contiguous::reference::{self, grid};
use crate::midplane::*;
use proptest::prelude::*;
use replay_contract::Bench;
use replay_engine::naming::NameError;

fn request(sides: [u16; 3]) -> Request {
    Request::shaped(volume(sides) as u32, Some(sides))
}

fn on(machine: Machine, unit: [u16; 3], rotate: bool) -> Bench<Midplane> {
    let midplane = Midplane::new(grid(&machine), unit, Shaping::default(), rotate);
    Bench::new(machine, midplane.expect("whole units"))
}

fn on_empty(rotate: bool) -> Bench<Midplane> {
    on(Machine::new("16x16x24".parse().expect("a machine")), MIDPLANE, rotate)
}

/// Starts a job and returns the corners of its box.
fn corners(bench: &mut Bench<Midplane>, request: Request) -> [[u16; 3]; 2] {
    let chosen = bench.serve(request);
    [chosen[0], chosen[chosen.len() - 1]].map(|node| bench.grid().coord(node))
}

#[test]
fn jobs_get_whole_units() {
    let mut bench = on_empty(true);
    // 513 processors need two midplanes; a row along x is tried first.
    assert_eq!(corners(&mut bench, Request::of_size(513)), [[0, 0, 0], [15, 7, 7]]);
    assert_eq!(bench.machine.free_count(), 10 * 512);
    // A job of 8 x 9 x 20 needs 1 x 2 x 3 midplanes, but a midplane is busy at each x. If the job
    // is rotated to 9 x 8 x 20, it needs 2 x 1 x 3 midplanes, which fit at y = 1.
    assert_eq!(corners(&mut bench, request([8, 9, 20])), [[0, 8, 0], [15, 15, 23]]);
    assert_eq!(corners(&mut bench, Request::of_size(1)), [[0, 0, 8], [7, 7, 15]]);
    assert_eq!(bench.units(), (1, 3));
    // The three free midplanes form an L, so no box of three is free.
    assert_eq!(bench.start(Request::of_size(3 * 512)), Err(Refusal::Fragmented));
    // Both sizes need more than three midplanes.
    for size in [3 * 512 + 1, 4 * 512] {
        assert_eq!(bench.start(Request::of_size(size)), Err(Refusal::TooFewFree));
    }
}

#[test]
fn without_rotation_only_the_given_orientation_is_tried() {
    let mut bench = on_empty(false);
    let busy = reference::nodes(bench.grid(), [0; 3], [16, 8, 8]);
    bench.machine.occupy(&busy);
    assert_eq!(bench.start(request([8, 9, 20])), Err(Refusal::Fragmented));
}

#[test]
fn rejects_machines_without_whole_units() {
    let build = |name: &str, topology: &str| {
        let spec = crate::allocator(name).map_err(|e: NameError| e.to_string())?;
        let built = spec.build(&topology.parse().expect("a machine"), 0);
        built.map(|_| spec.to_string()).map_err(|e| e.to_string())
    };
    assert_eq!(build("midplane", "8x16x24").as_deref(), Ok("midplane"));
    assert_eq!(
        build("midplane[shape=any,rotate=false,unit=2x4x1]", "torus:8x8x3").as_deref(),
        Ok("midplane[unit=2x4x1,rotate=no,shape=any]")
    );
    for (name, topology) in [
        ("midplane", "8x8x12"),
        ("midplane", "16x16"),
        ("midplane", "hypercube:9"),
        ("midplane[unit=8x8]", "8x8x8"),
        ("midplane[unit=0x8x8]", "8x8x8"),
        ("midplane[unit=axbxc]", "8x8x8"),
        ("midplane[size=8]", "8x8x8"),
    ] {
        assert!(build(name, topology).is_err(), "{name} on {topology}");
    }
}

proptest! {
    /// Compares with First Fit on the grid of units. On a torus, boxes may wrap around the edge.
    #[test]
    fn agrees_with_first_fit_on_the_grid_of_units(
        (machine, unit, small) in proptest::sample::select(vec![
            ("6x4x6", [2, 2, 2], "3x2x3"),
            ("torus:8x6x3", [2, 2, 1], "torus:4x3x3"),
            ("4x4x5", [4, 1, 1], "1x4x5"),
        ]),
        noise in proptest::collection::vec(0.0..1.0f64, 144),
        density in 0.0..0.2f64,
        sides in proptest::array::uniform3(1u16..8),
    ) {
        let busy: Vec<_> = noise.iter().map(|&n| n < density).collect();
        let machine = reference::machine(machine, &busy);
        let units: Topology = small.parse().expect("a machine");
        let units_grid = units.grid().expect("a grid");
        let on_unit = |place: [u16; 3]| std::array::from_fn(|i| place[i] * unit[i]);
        let unit_busy: Vec<_> = units_grid.coords().into_iter()
            .map(|at| !reference::is_free(&machine, on_unit(at), unit)).collect();
        let of_units = reference::machine(small, &unit_busy);
        let boxes = replay_engine::allocator::submesh::permutations(sides, 3)
            .map(|sides| [0, 1, 2].map(|i| sides[i].div_ceil(unit[i])));
        let expected = boxes.into_iter().find_map(|sides| {
            let bases = reference::bases(&of_units, sides, Scan::ColumnMajor);
            let nodes = |&base| reference::nodes(grid(&machine), on_unit(base), on_unit(sides));
            bases.first().map(nodes)
        });
        prop_assert_eq!(on(machine, unit, true).start(request(sides)).ok(), expected);
    }
}
