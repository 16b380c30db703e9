//! Strategies with books of the machine, beside processors that leave it and return: what they serve and
//! refuse is what a look at the free processors says.

use proptest::prelude::*;

use super::spec::AllocatorSpec;
use super::*;
use crate::topology::{Coord, Grid};

/// What a strategy must serve.
#[derive(Clone, Copy, Debug)]
enum Serves {
    /// Whatever is free, exactly.
    All,
    /// A frame of the shape, if one is free; turned as well?
    Frame(bool),
    /// The least aligned square with a power of two as side.
    Square,
    /// Whole pages of side 2.
    Pages,
}

const STRATEGIES: [(&str, Serves); 11] = [
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

/// Whether a frame at this place is free.
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

/// Whether the strategy can serve the request, by trying all places.
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// On hypercubes, and under Slurm's rule, nobody gets what is out of service, jobs share nothing, and what returns is
    /// whole again.
    #[test]
    fn subcubes_follow_what_leaves_and_returns(
        name in proptest::sample::select(vec![
            "cube-free-list", "cube-buddy", "gray-code", "multiple-gray-code", "modified-buddy", "maximal-set",
            "non-cubic", "afl", "afl[release=owner]", "afl[release=heir]", "slurm-torus3d",
        ]),
        history in proptest::collection::vec((0u8..5, 0.0..1.0f64, 0.0..1.0f64), 1..60),
    ) {
        let machine = if name == "slurm-torus3d" { "torus:4x4x2" } else { "hypercube:5" };
        let topology: crate::topology::Topology = machine.parse().expect("a machine");
        let spec: AllocatorSpec = name.parse().expect("a strategy");
        let mut allocator = spec.build(&topology, 1).expect("it works there");
        prop_assert!(allocator.takes_outages());
        let mut machine = Machine::new(topology);
        let (mut held, mut down): (Vec<Vec<NodeId>>, Vec<NodeId>) = Default::default();
        let pick = |share: f64, of: usize| (share * of as f64) as usize;
        for (what, a, b) in history {
            match what {
                0 if !held.is_empty() => {
                    let nodes = held.swap_remove(pick(a, held.len()));
                    machine.release(&nodes);
                    allocator.released(&machine, &nodes);
                }
                1 => {
                    let free: Vec<NodeId> = machine.free_nodes().collect();
                    let from = pick(a, free.len());
                    let leave = free[from..free.len().min(from + 1 + pick(b, 4))].to_vec();
                    machine.withdraw(&leave);
                    allocator.withdrawn(&machine, &leave);
                    down.extend(leave);
                }
                2 if !down.is_empty() => {
                    let back = down.split_off(pick(a, down.len()));
                    machine.restore(&back);
                    allocator.restored(&machine, &back);
                }
                _ => {
                    let sides = [1 + pick(a * a, 4) as u16, 1 + pick(b * b, 4) as u16, 1];
                    let size = sides.iter().map(|&side| u32::from(side)).product();
                    let mut chosen = Vec::new();
                    let request = Request::shaped(size, Some(sides));
                    if allocator.allocate(&machine, request, &mut chosen).is_ok() {
                        prop_assert!(chosen.len() >= size as usize);
                        prop_assert!(chosen.iter().all(|&node| machine.is_free(node)), "{}", name);
                        machine.occupy(&chosen);
                        held.push(chosen);
                    }
                }
            }
        }
        for nodes in held {
            machine.release(&nodes);
            allocator.released(&machine, &nodes);
        }
        machine.restore(&down);
        allocator.restored(&machine, &down);
        let mut all = Vec::new();
        let sides = if name == "slurm-torus3d" { [4, 4, 2] } else { [8, 4, 1] };
        prop_assert_eq!(allocator.allocate(&machine, Request::shaped(32, Some(sides)), &mut all), Ok(()));
        prop_assert_eq!(all.len(), 32);
    }

    #[test]
    fn books_follow_what_leaves_and_returns(
        (name, serves) in proptest::sample::select(STRATEGIES.to_vec()),
        mesh in proptest::sample::select(vec!["8x8", "12x10", "7x9"]),
        history in proptest::collection::vec((0u8..5, 0.0..1.0f64, 0.0..1.0f64), 1..60),
    ) {
        // Squares with a power of two as side come on such machines only.
        let mesh = if matches!(serves, Serves::Square) { "8x8" } else { mesh };
        let topology: crate::topology::Topology = mesh.parse().expect("a mesh");
        let grid = topology.grid().expect("a grid").clone();
        let spec: AllocatorSpec = name.parse().expect("a strategy");
        let mut allocator = spec.build(&topology, 1).expect("it works there");
        prop_assert!(allocator.takes_outages());
        let mut machine = Machine::new(topology);
        let (mut held, mut down): (Vec<Vec<NodeId>>, Vec<NodeId>) = Default::default();
        let pick = |share: f64, of: usize| (share * of as f64) as usize;
        for (what, a, b) in history {
            match what {
                0 if !held.is_empty() => {
                    let nodes = held.swap_remove(pick(a, held.len()));
                    machine.release(&nodes);
                    allocator.released(&machine, &nodes);
                }
                1 => {
                    let free: Vec<NodeId> = machine.free_nodes().collect();
                    let from = pick(a, free.len());
                    let leave = free[from..free.len().min(from + 1 + pick(b, 8))].to_vec();
                    machine.withdraw(&leave);
                    allocator.withdrawn(&machine, &leave);
                    down.extend(leave);
                }
                2 if !down.is_empty() => {
                    let back = down.split_off(pick(a, down.len()));
                    machine.restore(&back);
                    allocator.restored(&machine, &back);
                }
                _ => {
                    let [w, h] = [a, b].map(|share| 1 + pick(share * share, 6) as u16);
                    let shape = matches!(serves, Serves::Frame(_) | Serves::Square).then_some([w, h, 1]);
                    let request = Request::shaped(u32::from(w) * u32::from(h), shape);
                    let mut chosen = Vec::new();
                    let served = allocator.allocate(&machine, request, &mut chosen).is_ok();
                    prop_assert_eq!(served, plain(serves, &grid, &machine, request), "{} {:?}", name, request);
                    if served {
                        prop_assert!(chosen.len() >= request.size as usize);
                        prop_assert!(chosen.iter().all(|&node| machine.is_free(node)));
                        machine.occupy(&chosen);
                        held.push(chosen);
                    }
                }
            }
        }
        // When all have come back the machine is whole.
        for nodes in held {
            machine.release(&nodes);
            allocator.released(&machine, &nodes);
        }
        machine.restore(&down);
        allocator.restored(&machine, &down);
        let [w, h] = [grid.extent(0) as u16, grid.extent(1) as u16];
        let mut all = Vec::new();
        let request = Request::shaped(u32::from(w) * u32::from(h), Some([w, h, 1]));
        prop_assert_eq!(allocator.allocate(&machine, request, &mut all), Ok(()));
        prop_assert_eq!(all.len(), machine.processors());
    }
}
