//! The main job, `replay --trace ...`: runs a grid without a journal and prints the results as they are computed.

use std::sync::Arc;

use super::args::RunArgs;
use super::exit::{Exit, Failure};
use super::interrupt::cancel_token;
use super::output::Runs;
use super::program::Invocation;
use super::progress::Progress;
use super::result_kind::Kind;
use super::results::Tally;
use super::session::Session;
use super::site;
use super::strategy_selection;
use replay_engine::registries::Registries;
use replay_experiment::pool::Turn;
use replay_experiment::resolve::ResolvedGrid;
use replay_experiment::{RunContext, Trace, run_experiment};

/// Runs the main job.
///
/// # Errors
/// A usage error for an invalid option; a data error for an invalid trace.
pub fn run(
    registries: &Registries,
    args: &RunArgs,
    command: Invocation<'_>,
) -> Result<Exit, Failure> {
    if site::is_site_run(args) {
        return site::run(registries, args, command);
    }
    let quiet = args.output.process.quiet;
    let mut session = Session::begin(Kind::Run, &args.output, command)?;
    let measure = args.measure();
    let mut loaded =
        strategy_selection::main_job(registries, &args.grid, args.shake.shake(), measure, quiet)?;
    // On trees and blocks, placements are measured, because the default table has columns about leaves.
    let on_hierarchy = |trace: &Arc<Trace>| trace.topology.hierarchy().is_some();
    if args.columns.is_empty() && loaded.traces.iter().any(on_hierarchy) {
        loaded.plan.grid.measure.placements = true;
    }
    session.reads(loaded.inputs());
    let ResolvedGrid { plan, .. } = &loaded;
    session.configure(&serde_json::json!({
        "plan": plan.digest().map_err(Failure::usage)?,
        "jobs": measure.jobs,
        "placements": measure.nodes,
    }))?;
    let runs: Vec<u32> = (0..plan.len()).collect();
    let progress = Progress::of_plan(quiet, plan, &runs)?;
    let mut results = Runs::begin(registries, &mut session, args, &loaded)?;
    let stop = cancel_token(quiet);
    let mut tally = Tally::of("cells", runs.len());
    let context = RunContext { stop: &stop, watch: &progress };
    let ran = run_experiment(&loaded, &runs, Turn::InOrder, context, |_, outcome| {
        match outcome {
            Ok(result) => {
                tally.done += 1;
                progress.cell_done();
                results.take(result)?;
            }
            Err(error) => {
                progress.print_line(&format!("replay: cell failed: {error}"));
                tally.failed.push(error.to_string());
            }
        }
        Ok::<_, Failure>(true)
    });
    progress.finish();
    ran?;
    results.sum_up()?;
    session.publish(&mut results, &tally)
}
