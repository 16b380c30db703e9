//! Property tests with outages. Every strategy that supports outages keeps the contract, and a strategy with a plain
//! definition serves a request exactly if a search of all free processors finds that it can be served.

use proptest::prelude::*;

use replay_contract::{Bench, Expected, MACHINE_KINDS, history, machine_for, pick};
use replay_engine::allocator::Request;
use replay_engine::machine::Machine;
use replay_engine::topology::{Coord, Grid};
use replay_strategies::standard;

/// Requests that a strategy must serve on a plane mesh. The [contract](replay_contract) covers strategies that keep the
/// schedule.
#[derive(Clone, Copy, Debug)]
enum Serves {
    /// Every request for which a frame of the requested shape is free; the flag allows rotation.
    Frame(bool),
    /// Every request for which an aligned square is free. The side of the square is the smallest sufficient power of
    /// two.
    Square,
    /// Every request that the free pages of side 2 can hold.
    Pages,
}

/// Returns the plain definition of a strategy, if it has one.
fn definition(name: &str) -> Option<Serves> {
    match name {
        "busy-list" | "first-fit" | "best-fit" => Some(Serves::Frame(false)),
        "turning-busy-list" | "turning-first-fit" | "turning-best-fit" => Some(Serves::Frame(true)),
        "paging[size=1]" => Some(Serves::Pages),
        "buddy" => Some(Serves::Square),
        _ => None,
    }
}

/// Strategies with parameters, in addition to the registered names.
const VARIANTS: [&str; 11] = [
    "mc1x1[tie=auto,shadows=2,every=16]",
    "mc1x1[tie=2,13,20,6]",
    "mbs[splitting=on-demand]",
    "paging[size=1]",
    "afl[release=owner]",
    "afl[release=heir]",
    "placements[tie=slurm]",
    "placements[tie=1,1,1,1,1,1]",
    "slurm-torus3d[tie=2,1,3,0,1,2]",
    "rsr[inner=buddy]",
    "rsr[inner=placements]",
];

/// Returns whether the frame at this base is inside the grid and free.
fn is_free(grid: &Grid, machine: &Machine, base: Coord, [w, h]: [u16; 2]) -> bool {
    let inside =
        usize::from(base[0] + w) <= grid.extent(0) && usize::from(base[1] + h) <= grid.extent(1);
    let mut cells = (0..w).flat_map(|x| (0..h).map(move |y| [base[0] + x, base[1] + y, 0]));
    inside && cells.all(|at| machine.is_free(grid.node(at)))
}

fn bases(grid: &Grid, step: usize) -> impl Iterator<Item = Coord> + use<> {
    let [w, h] = [grid.extent(0), grid.extent(1)];
    let places = move |extent: usize| (0..extent).step_by(step).map(|at| at as u16);
    places(w).flat_map(move |x| places(h).map(move |y| [x, y, 0]))
}

/// Tries all positions and returns whether the strategy can serve the request.
fn plain(serves: Serves, grid: &Grid, machine: &Machine, request: Request) -> bool {
    let [w, h, _] = request.shape.unwrap_or([1; 3]);
    let frame = |sides: [u16; 2]| bases(grid, 1).any(|base| is_free(grid, machine, base, sides));
    match serves {
        Serves::Frame(turns) => frame([w, h]) || turns && frame([h, w]),
        Serves::Square => {
            let of_size = (1..).find(|side: &u16| u32::from(*side).pow(2) >= request.size);
            let side = of_size.unwrap_or(1).max(w).max(h).next_power_of_two();
            bases(grid, side.into()).any(|base| is_free(grid, machine, base, [side; 2]))
        }
        Serves::Pages => {
            let cut = |extent: usize, at: u16| (extent as u16 - at).min(2);
            let page = |base: Coord| [cut(grid.extent(0), base[0]), cut(grid.extent(1), base[1])];
            let free = bases(grid, 2).filter(|&base| is_free(grid, machine, base, page(base)));
            free.map(|base| u32::from(page(base)[0] * page(base)[1])).sum::<u32>() >= request.size
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// No job gets processors out of service. After all processors have returned to service, the whole machine can be
    /// allocated again. A strategy that does not support the drawn machine runs on the first machine that it supports.
    #[test]
    fn strategies_follow_outages(
        machine in proptest::sample::select(vec!["8x8", "12x10", "7x9", "torus:4x4x2", "hypercube:5"]),
        history in history(1..60),
    ) {
        for name in standard().allocators.names().chain(VARIANTS) {
            let spec = replay_strategies::allocator(name).expect("a strategy");
            if spec.recorded() { continue; }
            let machines = [machine].into_iter().chain(MACHINE_KINDS.map(|kind| kind.small));
            let (_, topology) = machine_for(&spec, machines);
            let allocator = spec.build(&topology, 1).expect("a supported machine");
            if !allocator.capabilities().supports_outages { continue; }
            let grid = topology.grid().cloned();
            let plane = grid.clone().filter(|grid| grid.dimensions() == 2 && !grid.is_wrapped());
            let definition = plane.zip(definition(name));
            let request = |_: &Machine, a: f64, b: f64| {
                let [w, h] = [a, b].map(|share| 1 + pick(share * share, 6) as u16);
                let is_shaped = definition.is_some() || (16.0 * b).fract() < 0.7;
                Request::shaped(u32::from(w) * u32::from(h), is_shaped.then_some([w, h, 1]))
            };
            let mut bench = Bench::boxed(Machine::new(topology), allocator).named(&spec).with_oracle(
                |machine: &Machine, request: Request| match &definition {
                    Some((grid, serves)) => plain(*serves, grid, machine, request).into(),
                    None => Expected::Anything,
                },
            );
            bench.run(&history, request, |_| ());
            bench.gets_whole(grid.map(|grid| grid.axes().map(|axis| axis.extent)));
        }
    }
}
