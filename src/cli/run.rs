//! `replay --trace ...`: the main job.

use std::ffi::OsString;

use super::args::RunArgs;
use super::cost::Cost;
use super::exit::{Exit, Failure, tell};
use super::interrupt::interruption;
use super::output::Output;
use super::plan::Plan;
use super::progress::Progress;
use crate::experiment::{Measure, Watch, run_cells};

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
    let stop = interruption(quiet)?;
    let mut failure = None;
    let (mut done, mut failed) = (0, Vec::new());
    let cost = Cost::new(quiet);
    let forecast = |forecast| cost.hear(forecast, |line| progress.say(line));
    let watch = Watch { forecast: &forecast, ..Watch::new(&stop) };
    run_cells(&cells, measure, watch, |outcome| {
        done += 1;
        match outcome {
            Ok(result) => {
                progress.advance(result.metrics.schedule.jobs);
                if let Err(error) = output.take(result) {
                    failure = Some(error);
                }
            }
            Err(error) => {
                progress.say(&format!("replay: cell failed: {error}"));
                failed.push(error.to_string());
            }
        }
        failure.is_none()
    });
    progress.finish();
    if let Some(error) = failure {
        return Err(error);
    }
    let exit = if done < cells.len() {
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
