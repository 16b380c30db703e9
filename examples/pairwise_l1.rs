//! Replays the shipped trace under FCFS with MC1x1, and prints the mean pairwise L1 distance of its jobs.
//!
//! `cargo run --release --example pairwise_l1 [TRACE.swf]`

use std::error::Error;
use std::sync::Arc;

use replay::cancel::CancelToken;
use replay::experiment::{Cell, Measure, RunContext, Trace, run_cell};
use replay::workload::{Policy, Window, Workload};

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1);
    let file = file.unwrap_or_else(|| "traces/lublin-10x10.swf".to_string());
    let jobs = Workload::load(&file, &Policy::JOHNSON, &Window::ALL, Default::default())?;
    println!("{}", jobs.report);

    let fcfs = replay::strategies::scheduler("fcfs")?;
    let trace =
        Trace::new(Arc::new(jobs), "10x10".parse()?, "johnson", std::slice::from_ref(&fcfs));
    let trace = Arc::new(trace);
    for name in ["mc1x1", "mc1x1[tie=2,13,20,6]"] {
        let allocator = replay::strategies::allocator(name)?;
        let cell = Cell { trace: Arc::clone(&trace), scheduler: fcfs.clone(), allocator, seed: 0 };
        let result = run_cell(0, &cell, Measure::default(), RunContext::new(&CancelToken::new()))?;
        println!("{name}: {:.3} hops", result.metrics.pairwise.mean_pairwise_l1);
    }
    Ok(())
}
