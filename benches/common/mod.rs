//! Inputs and clocks that several benchmarks use. Each benchmark uses a part of this file.
#![allow(dead_code)]

use std::error::Error;
use std::path::PathBuf;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use replay::workload::stochastic::{Arrivals, StochasticStream};
use replay::workload::{Job, Manifest, SearchPath};
use rustix::time::{ClockId, clock_gettime};

pub type Failure = Box<dyn Error>;

/// Returns the arguments that are not options; `cargo bench` adds options.
pub fn words() -> Vec<String> {
    std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect()
}

/// A benchmark, which gets its arguments.
pub type Benchmark = fn(&[String]) -> Result<(), Failure>;

/// Runs the benchmark whose name is the first argument with the other arguments.
///
/// # Errors
/// The error of the benchmark, or a message if no benchmark has this name.
pub fn dispatch(benchmarks: &[(&str, Benchmark)]) -> Result<(), Failure> {
    let words = words();
    let name = words.first().map(String::as_str);
    match benchmarks.iter().find(|(known, _)| Some(*known) == name) {
        Some((_, run)) => run(&words[1..]),
        None => {
            let known: Vec<&str> = benchmarks.iter().map(|(known, _)| *known).collect();
            Err(format!("name a benchmark: {}", known.join(", ")).into())
        }
    }
}

/// Returns the CPU time of the thread in seconds, on which other processes have little effect.
pub fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// Returns the path of a trace, or reports that it is skipped. Traces are searched for in `$REPLAY_TRACES`, `traces/` and
/// `../shared/traces`.
///
/// # Errors
/// The list of known traces cannot be read.
pub fn trace(name: &str) -> Result<Option<PathBuf>, Failure> {
    let search = SearchPath::from_env().with("../shared/traces");
    match search.resolve(name, &Manifest::embedded()?) {
        Ok(path) => Ok(Some(path)),
        Err(absent) => {
            eprintln!("SKIPPED: {absent}");
            Ok(None)
        }
    }
}

/// Returns a stream that saturates a machine, of jobs whose sides are at most half the side of the machine.
///
/// # Errors
/// The machine has no extents.
pub fn saturated(extents: [u16; 3], jobs: u32) -> Result<StochasticStream, Failure> {
    let half = extents.iter().copied().max().unwrap_or(2) / 2;
    Ok(StochasticStream {
        arrivals: Arrivals::Exponential { mean: 0.01 },
        sides: format!("uniform[low=1,high={half}]").parse()?,
        jobs,
        ..StochasticStream::new(extents)
    })
}

/// Returns jobs that arrive almost at once, so that the queue is as long as the trace. Sizes and run times (10 seconds to
/// three hours) are log-uniform; estimates are one to four times the run time.
pub fn queue(processors: u32, count: u32) -> Vec<Job> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let job = |number: u32| {
        let run = (10.0 * 1000f64.powf(rng.random::<f64>())) as i64;
        Job {
            number: i64::from(number),
            submit: i64::from(number) / 100,
            run,
            estimate: (run as f64 * (1.0 + 3.0 * rng.random::<f64>())) as i64,
            size: f64::from(processors).powf(rng.random::<f64>()) as u32,
            line: 0,
            shape: None,
            limit: None,
        }
    };
    (0..count).map(job).collect()
}
