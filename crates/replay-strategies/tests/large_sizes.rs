//! Requests of more than 65,535 processors, the longest side of a machine.

use replay_contract::Bench;
use replay_engine::allocator::Request;
use replay_engine::machine::Machine;
use replay_engine::topology::Topology;
use replay_strategies::standard;

/// Machines of more than 65,535 nodes.
const MACHINES: [&str; 3] = ["512x512", "torus:64x64x64", "tree:16x64x256"];

/// Prime numbers. A box of exactly this many processors has a side longer than the longest side of a machine.
const PRIMES: [u32; 2] = [65_537, 131_071];

#[test]
fn allocators_that_never_refuse_serve_prime_sizes_above_the_longest_side() {
    for name in standard().allocators.names() {
        // `recorded` has no jobs whose processors it could repeat. `mm` and `gen-alg` decide on so many points in minutes,
        // unless the job takes the whole machine.
        let sizes: &[u32] = match name {
            "recorded" => continue,
            "mm" | "gen-alg" => &[],
            _ => &PRIMES,
        };
        let spec = replay_strategies::allocator(name).expect("a known allocator");
        for machine in MACHINES {
            let topology: Topology = machine.parse().expect("a machine");
            let Ok(built) = spec.build(&topology, 1) else { continue };
            if !built.capabilities().keeps_schedule {
                continue;
            }
            let mut bench = Bench::boxed(Machine::new(topology), built).named(name);
            for &size in sizes {
                let nodes = bench.serve(Request::of_size(size));
                bench.end(&nodes);
            }
            bench.gets_whole(None);
        }
    }
}

/// On a torus, a frame may begin after the middle and continue at the other edge. Its last position, counted from the
/// edge at which it begins, then exceeds 65,535.
#[test]
fn long_frames_wrap_around_a_torus() {
    let topology: Topology = "torus:60000x2".parse().expect("a torus");
    for name in ["first-fit", "turning-first-fit", "best-fit", "turning-best-fit"] {
        let spec = replay_strategies::allocator(name).expect("a known allocator");
        let built = spec.build(&topology, 1).expect("an allocator of tori");
        let mut bench = Bench::boxed(Machine::new(topology.clone()), built).named(name);
        let of_side = |side: u16| Request::shaped(2 * u32::from(side), Some([side, 2, 1]));
        let [first, _, last] = [20_000, 30_000, 10_000].map(|side| bench.serve(of_side(side)));
        bench.end(&first);
        bench.end(&last);
        let nodes = bench.serve(of_side(30_000));
        assert_eq!(bench.coords(&nodes)[0], [50_000, 0, 0], "{name}");
    }
}
