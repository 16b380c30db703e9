//! `replay --trace ...`: the main job.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::args::RunArgs;
use super::exit::{Exit, Failure, tell};
use super::output::Output;
use super::plan::Plan;
use super::progress::Progress;
use crate::experiment::{Measure, run_cells};

/// A flag that Ctrl-C raises: running cells end, no further ones start. A second Ctrl-C
/// ends the program at once.
pub fn interruption() -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = flag.clone();
    let handler = move || {
        if raised.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    };
    ctrlc::set_handler(handler).map_err(Failure::usage)?;
    Ok(flag)
}

/// Runs the main job.
pub fn run(args: &RunArgs, command: &[OsString]) -> Result<Exit, Failure> {
    let quiet = args.output.process.quiet;
    let mut output = Output::open(args, command)?;
    let plan = Plan::resolve(&args.grid, quiet)?;
    let cells = plan.cells();
    let measure = Measure {
        ties: args.ties,
        placements: args.output.out.is_some(),
        jobs: args.output.out.is_some() && !args.no_jobs,
    };
    let jobs = cells.iter().map(|cell| cell.trace.workload.jobs.len() as u64).sum();
    let progress = Progress::new(quiet, cells.len(), jobs);
    output.begin(&plan)?;
    let interrupted = interruption()?;
    let mut failure = None;
    let mut failed = Vec::new();
    run_cells(&cells, measure, |outcome| {
        match outcome {
            Ok(result) => {
                progress.advance(result.metrics.jobs);
                if let Err(error) = output.take(result) {
                    failure = Some(error);
                }
            }
            Err(error) => {
                progress.say(&format!("replay: cell failed: {error}"));
                failed.push(error.to_string());
            }
        }
        failure.is_none() && !interrupted.load(Ordering::Relaxed)
    });
    progress.finish();
    if let Some(error) = failure {
        return Err(error);
    }
    let exit = if interrupted.load(Ordering::Relaxed) {
        tell("replay: interrupted; what was done is written");
        Exit::Interrupted
    } else if failed.is_empty() {
        Exit::Done
    } else {
        Exit::Differs
    };
    output.finish(&plan, failed)?;
    Ok(exit)
}
