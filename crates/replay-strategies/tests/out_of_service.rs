//! Property tests with outages for strategies that keep state: a strategy must serve a request exactly if a search of
//! all free processors finds that it can be served.

use proptest::prelude::*;

use replay_contract::{drive, history};
use replay_engine::allocator::{Allocator, Request};
use replay_engine::machine::Machine;
use replay_engine::topology::{Coord, Grid, Topology};

/// Requests that a strategy must serve.
#[derive(Clone, Copy, Debug)]
enum Serves {
    /// Every request that does not exceed the number of free processors.
    All,
    /// Every request for which a frame of the requested shape is free; the flag allows rotation.
    Frame(bool),
    /// Every request for which an aligned square is free. The side of the square is the smallest sufficient power of
    /// two.
    Square,
    /// Every request that the free pages of side 2 can hold.
    Pages,
}

const STRATEGIES: [(&str, Serves); 12] = [
    ("mc1x1[tie=auto,shadows=2,every=16]", Serves::All),
    ("paging", Serves::All),
    ("mbs", Serves::All),
    ("mbs[splitting=on-demand]", Serves::All),
    ("granular-mbs", Serves::All),
    ("as-mb", Serves::All),
    ("gabl", Serves::All),
    ("gabl[engine=literal]", Serves::All),
    ("busy-list", Serves::Frame(false)),
    ("turning-busy-list", Serves::Frame(true)),
    ("paging[size=1]", Serves::Pages),
    ("buddy", Serves::Square),
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
        Serves::All => request.size as usize <= machine.free_count(),
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

/// Builds the strategy with this name, and its machine.
fn bench(name: &str, machine: &str) -> (Box<dyn Allocator>, Machine) {
    let topology: Topology = machine.parse().expect("a machine");
    let spec = replay_strategies::allocator(name).expect("a strategy");
    (spec.build(&topology, 1).expect("it works there"), Machine::new(topology))
}

/// Asserts that a job with these sides can get the whole machine.
fn is_whole(
    allocator: &mut dyn Allocator,
    machine: &Machine,
    sides: [u16; 3],
) -> Result<(), TestCaseError> {
    let size = machine.processors();
    let mut all = Vec::new();
    let request = Request::shaped(size as u32, Some(sides));
    prop_assert_eq!(allocator.allocate(machine, request, &mut all), Ok(()));
    prop_assert_eq!(all.len(), size);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// On hypercubes, and with boxes of a menu, no job gets processors out of service, and jobs do not share
    /// processors. After all processors have returned to service, the whole machine can be allocated again.
    #[test]
    fn subcubes_and_menu_boxes_follow_outages(
        name in proptest::sample::select(vec![
            "cube-free-list", "cube-buddy", "gray-code", "multiple-gray-code", "modified-buddy", "maximal-set",
            "non-cubic", "afl", "afl[release=owner]", "afl[release=heir]", "slurm-torus3d", "placements", "placements[tie=slurm]",
            "placements[tie=1,1,1,1,1,1]", "slurm-torus3d[tie=2,1,3,0,1,2]",
        ]),
        history in history(1..60),
    ) {
        let boxes = name.starts_with("slurm-torus3d") || name.starts_with("placements");
        let machine = if boxes { "torus:4x4x2" } else { "hypercube:5" };
        let (mut allocator, mut machine) = bench(name, machine);
        let request = |a: f64, b: f64| {
            let sides = [1 + pick(a * a, 4) as u16, 1 + pick(b * b, 4) as u16, 1];
            Request::shaped(sides.iter().map(|&side| u32::from(side)).product(), Some(sides))
        };
        drive(allocator.as_mut(), &mut machine, history, request, |_, _, _| Ok(()))?;
        is_whole(allocator.as_mut(), &machine, if boxes { [4, 4, 2] } else { [8, 4, 1] })?;
    }

    #[test]
    fn stateful_strategies_follow_outages(
        (name, serves) in proptest::sample::select(STRATEGIES.to_vec()),
        mesh in proptest::sample::select(vec!["8x8", "12x10", "7x9"]),
        history in history(1..60),
    ) {
        // Only these machines contain squares of every power-of-two side.
        let mesh = if matches!(serves, Serves::Square) { "8x8" } else { mesh };
        let (mut allocator, mut machine) = bench(name, mesh);
        let grid = machine.topology().grid().expect("a grid").clone();
        let request = |a: f64, b: f64| {
            let [w, h] = [a, b].map(|share| 1 + pick(share * share, 6) as u16);
            let shape = matches!(serves, Serves::Frame(_) | Serves::Square).then_some([w, h, 1]);
            Request::shaped(u32::from(w) * u32::from(h), shape)
        };
        let served = |machine: &Machine, request: Request, is_served: bool| {
            prop_assert_eq!(is_served, plain(serves, &grid, machine, request), "{} {:?}", name, request);
            Ok(())
        };
        drive(allocator.as_mut(), &mut machine, history, request, served)?;
        is_whole(allocator.as_mut(), &machine, [grid.extent(0) as u16, grid.extent(1) as u16, 1])?;
    }
}

fn pick(share: f64, of: usize) -> usize {
    (share * of as f64) as usize
}
