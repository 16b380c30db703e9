//! Measures the time of a complete replay when the trace is already parsed and the timeline is already computed, as is
//! the case for each parameter vector of a sweep. Absent traces are reported and skipped.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use super::common::{Failure, trace};
use criterion::{Criterion, criterion_group};
use replay::cancel::CancelToken;
use replay::experiment::{Cell, Measure, RunContext, Trace, run_cell};
use replay::scheduler::registry::SchedulerSpec;
use replay::workload::{Policy, Window, Workload};

/// Trace, mesh and strategies of each group.
const RUNS: [(&str, &str, &[&str]); 3] = [
    (
        "lublin-10x10",
        "10x10",
        &["mc1x1", "mc1x1[tie=2,13,20,6]", "mm", "gen-alg", "hilbert-best-fit"],
    ),
    (
        "KTH-SP2",
        "10x10",
        &["mc1x1", "mc1x1[tie=2,13,20,6]", "mm", "gen-alg", "mc", "hilbert-best-fit", "random"],
    ),
    (
        "LANL-CM5",
        "32x32",
        &["mc1x1", "mc1x1[tie=12,42,41,15]", "mm", "gen-alg", "mc", "hilbert-best-fit", "random"],
    ),
];

fn replays(criterion: &mut Criterion) {
    for (name, mesh, strategies) in RUNS {
        let Some(path) = trace(name).expect("the manifest is valid") else { continue };
        let jobs = Workload::load(path, &Policy::JOHNSON, &Window::ALL, Default::default());
        let jobs = Arc::new(jobs.expect("a valid trace"));
        let topology = mesh.parse().expect("a mesh");
        let trace = Arc::new(Trace::new(jobs, topology, "johnson", &[SchedulerSpec::fcfs()]));
        let stop = CancelToken::new();
        let watch = RunContext::new(&stop);
        trace.schedule(&SchedulerSpec::fcfs(), &stop).expect("a schedule");
        let mut group = criterion.benchmark_group(format!("replay of {name}"));
        group.sample_size(10).measurement_time(Duration::from_secs(5));
        for strategy in strategies {
            let allocator = replay::strategies::allocator(strategy).expect("a strategy");
            let cell =
                Cell { trace: trace.clone(), scheduler: SchedulerSpec::fcfs(), allocator, seed: 0 };
            group.bench_function(*strategy, |bencher| {
                bencher.iter(|| {
                    black_box(run_cell(0, &cell, Measure::default(), watch).expect("a result"))
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, replays);

/// Measures all traces that are present.
pub fn run(_: &[String]) -> Result<(), Failure> {
    benches();
    Criterion::default().configure_from_args().final_summary();
    Ok(())
}
