//! Time of one allocation decision on square meshes with sides from 8 to 128.
//!
//! Jobs of the Lublin-Feitelson model at load 0.8 run under FCFS. The time of the replay (allocation,
//! release, pairwise L1) is divided by the number of jobs. The number of jobs doubles until a replay takes
//! long enough to be timed.
//!
//! `cargo bench --bench allocation -- decision results/benchmarks` writes `decision.csv` and its plot into
//! that folder.

use std::path::Path;
use std::sync::Arc;

use super::common::Failure;
use replay::cancel::CancelToken;
use replay::experiment::{Cell, Measure, RunContext, Trace, run_cell};
use replay::plot::{FigureStyle, Line, Lines, Plots, Point, save};
use replay::scheduler::registry::SchedulerSpec;
use replay::workload::lublin::{LublinFeitelson, write_swf};
use replay::workload::{Policy, Window, Workload};

const SIDES: [u32; 5] = [8, 16, 32, 64, 128];
const STRATEGIES: [&str; 7] =
    ["mc1x1", "mc1x1[tie=2,13,20,6]", "mm", "gen-alg", "mc", "hilbert-best-fit", "random"];
/// Minimum time of a replay in seconds; if a replay is shorter, it is repeated with twice as many jobs.
const LONG_ENOUGH: f64 = 0.5;
const MOST_JOBS: usize = 64_000;

fn workload(side: u32, jobs: usize) -> Result<Workload, Failure> {
    let processors = side * side;
    let model = LublinFeitelson::batch_and_interactive(processors).with_load(0.8);
    let mut text = Vec::new();
    write_swf(&model.generate(jobs, 1)?, processors, &[], &mut text)?;
    let (policy, window) = (&Policy::JOHNSON, &Window::ALL);
    Ok(Workload::from_reader(text.as_slice(), "lublin.swf", policy, window, Default::default())?)
}

/// Returns the time per decision in ns, and the number of jobs of the replay.
fn measure(strategy: &str, side: u32) -> Result<(f64, usize), Failure> {
    let mut jobs = 250;
    loop {
        let topology = format!("{side}x{side}").parse()?;
        let trace = Trace::new(Arc::new(workload(side, jobs)?), topology, "johnson", &[]);
        let allocator = replay::strategies::allocator(strategy)?;
        let cell =
            Cell { trace: Arc::new(trace), scheduler: SchedulerSpec::fcfs(), allocator, seed: 0 };
        let seconds =
            run_cell(0, &cell, Measure::default(), RunContext::new(&CancelToken::new()))?.seconds;
        if seconds >= LONG_ENOUGH || jobs >= MOST_JOBS {
            return Ok((1e9 * seconds / jobs as f64, jobs));
        }
        jobs *= 2;
    }
}

/// Measures all strategies and writes table and figure into the folder, if one is given.
pub fn run(words: &[String]) -> Result<(), Failure> {
    let mut plot = Lines {
        title: "Cost of a decision against mesh side".to_string(),
        subtitle: vec![
            "square mesh, Lublin-Feitelson jobs at load 0.8, FCFS, one thread".to_string(),
        ],
        x_title: "side of the mesh (processors)".to_string(),
        y_title: "time per decision (ns)".to_string(),
        log_x: true,
        log_y: true,
        plain: false,
        lines: Vec::new(),
    };
    let mut table = String::from("strategy,side,processors,jobs,ns_per_decision\n");
    for strategy in STRATEGIES {
        let mut line = Line { name: strategy.to_string(), points: Vec::new() };
        for side in SIDES {
            let (nanoseconds, jobs) = measure(strategy, side)?;
            println!("{strategy:<22} {side:>4} {nanoseconds:>14.0} ns ({jobs} jobs)");
            let quoted =
                if strategy.contains(',') { format!("\"{strategy}\"") } else { strategy.into() };
            table += &format!("{quoted},{side},{},{jobs},{nanoseconds:.0}\n", side * side);
            line.points.push(Point { x: f64::from(side), y: nanoseconds, error: None });
        }
        plot.lines.push(line);
    }
    if let Some(dir) = words.first() {
        let dir = Path::new(dir);
        save(&Plots::new(dir, FigureStyle::default()), "decision", &plot)?;
        // Overwrites the table that the plot has written, because that table has no job counts.
        std::fs::write(dir.join("decision.csv"), table)?;
    }
    Ok(())
}
