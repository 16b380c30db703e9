//! Time of a decision on hypercubes of 10 and 15 dimensions.
//!
//! Jobs request square meshes. The sides of the requested meshes are uniform between 1 and half the side of the square
//! that has as many nodes as the machine. While a job is refused, random running jobs end one by one, and the job is
//! tried again after each end; the machine therefore stays full and fragmented. The measured time is the time in the
//! allocator per attempt, including the release before the attempt.

use std::time::{Duration, Instant};

use super::common::Failure;
use criterion::{Criterion, criterion_group};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use replay::allocator::{Allocator, MachineEvent, Request, RunSetup};
use replay::machine::Machine;
use replay::topology::{Hypercube, NodeId, Topology};

/// Name of each strategy in the results, and its name in the registry.
const STRATEGIES: [(&str, &str); 8] = [
    ("buddy", "cube-buddy"),
    ("gray-code", "gray-code"),
    ("modified-buddy", "modified-buddy"),
    ("multiple-gray-code", "multiple-gray-code"),
    ("free-list", "cube-free-list"),
    ("maximal-set", "maximal-set"),
    ("auxiliary", "afl"),
    ("non-cubic", "non-cubic"),
];

/// Places jobs until `attempts` requests have been tried, and returns the time in the allocator.
fn time(cube: &Hypercube, allocator: &mut dyn Allocator, attempts: u64) -> Duration {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut machine = Machine::new(Topology::Hypercube(*cube));
    allocator.begin(&RunSetup::default()).expect("the allocator can begin a run");
    let largest = 1u16 << (cube.dimensions() / 2).saturating_sub(1);
    let mut held: Vec<Vec<NodeId>> = vec![];
    let mut spare: Vec<Vec<NodeId>> = vec![];
    let mut spent = Duration::ZERO;
    let mut tried = 0;
    while tried < attempts {
        let side = random.random_range(1..=largest);
        let request = Request::shaped(u32::from(side) * u32::from(side), Some([side, side, 1]));
        let mut nodes = spare.pop().unwrap_or_default();
        loop {
            tried += 1;
            let begin = Instant::now();
            let outcome = allocator.allocate(&machine, request, &mut nodes);
            spent += begin.elapsed();
            if outcome.is_ok() {
                machine.occupy(&nodes);
                held.push(nodes);
                break;
            }
            let mut ended = held.swap_remove(random.next_u32() as usize % held.len());
            machine.release(&ended);
            let begin = Instant::now();
            allocator.on_event(&machine, MachineEvent::Released(&ended));
            spent += begin.elapsed();
            ended.clear();
            spare.push(ended);
        }
    }
    spent
}

fn decisions(criterion: &mut Criterion) {
    for dimensions in [10, 15] {
        let Some(cube) = Hypercube::new(dimensions) else { continue };
        let mut group = criterion.benchmark_group(format!("hypercube:{dimensions}"));
        for (name, strategy) in STRATEGIES {
            let spec = replay::strategies::allocator(strategy).expect("a strategy");
            let machine = Topology::Hypercube(cube);
            let mut allocator = spec.build(&machine, 0).expect("the strategy supports hypercubes");
            group.bench_function(name, |bencher| {
                bencher.iter_custom(|attempts| {
                    // This number of attempts is enough to fill the machine.
                    let rounds = attempts.max(20_000);
                    time(&cube, allocator.as_mut(), rounds).mul_f64(attempts as f64 / rounds as f64)
                });
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).measurement_time(Duration::from_secs(2));
    targets = decisions
}

/// Measures all strategies.
pub fn run(_: &[String]) -> Result<(), Failure> {
    benches();
    Criterion::default().configure_from_args().final_summary();
    Ok(())
}
