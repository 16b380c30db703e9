//! `replay --trace ...`: the main job. A sweep without a journal, whose results are shown as they
//! come.

use std::ffi::OsString;

use super::args::RunArgs;
use super::cells::Loaded;
use super::cost::Cost;
use super::exit::{Exit, Failure};
use super::interrupt::interruption;
use super::output::Output;
use super::progress::Progress;
use super::results::Tally;
use crate::experiment::pool::Turn;
use crate::experiment::sweep::run_plan;
use crate::experiment::{Measure, Watch};

/// Runs the main job.
pub fn run(args: &RunArgs, command: &[OsString]) -> Result<Exit, Failure> {
    let quiet = args.output.process.quiet;
    let mut output = Output::open(args, command)?;
    let measure = Measure {
        ties: args.ties,
        placements: args.output.out.is_some(),
        jobs: args.output.out.is_some() && !args.no_jobs,
    };
    let loaded = Loaded::resolve(&args.grid, args.shake.shake(), measure, quiet)?;
    let Loaded { plan, traces } = &loaded;
    let runs: Vec<u32> = (0..plan.len()).collect();
    let jobs = runs.iter().map(|&run| plan.jobs(run)).sum();
    let progress = Progress::new(quiet, runs.len(), jobs);
    output.begin(&loaded)?;
    let stop = interruption(quiet)?;
    let mut failure = None;
    let mut tally = Tally { cells: runs.len(), ..Tally::default() };
    let cost = Cost::new(quiet);
    let forecast = |forecast| cost.hear(forecast, |line| progress.say(line));
    let watch = Watch { forecast: &forecast, ..Watch::new(&stop) };
    let known = run_plan(plan, traces, &runs, Turn::InOrder, watch, |run, outcome| {
        match outcome {
            Ok(result) => {
                tally.done += 1;
                progress.advance(plan.jobs(run));
                if failure.is_none() {
                    failure = output.take(plan, result).err();
                }
            }
            Err(error) => {
                progress.say(&format!("replay: cell failed: {error}"));
                tally.failed.push(error.to_string());
            }
        }
        failure.is_none()
    });
    progress.finish();
    known.map_err(Failure::usage)?;
    match failure {
        Some(failure) => Err(failure),
        None => output.finish(&loaded, &tally),
    }
}
