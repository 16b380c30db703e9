//! `replay search`: searches for good tie vectors.

mod args;
mod output;
mod progress;
mod shard;
mod task;

use std::sync::Mutex;

pub use args::SearchArgs;
pub use shard::merge;

use output::Findings;
use progress::Progress;
use task::{ResolvedSearch, failure};

use super::args::hide_outage_options;
use super::eta::{EtaReporter, First};
use super::exit::{Exit, Failure, eprint_line, eprint_warning};
use super::journal::{PlanFile, of_journal};
use super::print::Sorting;
use super::program::Invocation;
use super::result_kind::Kind;
use super::results::{Results, Tally};
use super::resumable_run::JournalHandle;
use super::session::Session;
use replay_engine::cancel::CancelToken;
use replay_engine::number::grouped;
use replay_engine::registries::Registries;
use replay_experiment::RunContext;
use replay_experiment::journal::Journal;
use replay_experiment::search::{Evaluation, SearchRow, SearchTask, run_search};
use replay_output::report::page as report;
use replay_results::ResultTable;

/// Runs the search, or a shard of it.
pub fn run(
    registries: &Registries,
    args: &SearchArgs,
    command: Invocation<'_>,
) -> Result<Exit, Failure> {
    let session = Session::begin(Kind::Search, &args.output, command)?;
    match args.shard.shard() {
        Some(shard) => shard::run(registries, args, session, shard),
        None => search_all(ResolvedSearch::of(registries, args)?, args.sort.of()?, session, None),
    }
}

/// Searches and reports the best vectors. Evaluations of `shards` are read from their journals.
fn search_all(
    search: ResolvedSearch,
    sorting: Option<Sorting<SearchRow>>,
    mut session: Session,
    shards: Option<&Merged<'_>>,
) -> Result<Exit, Failure> {
    let quiet = session.is_quiet();
    let stop = CancelToken::new();
    let reporter = EtaReporter::of(First::Started, quiet);
    let watch = RunContext { stop: &stop, watch: &reporter };
    let task = search.load(&mut session, watch)?;
    session.configure(&output::identity(&task)?)?;
    let merged = shards.map(|shards| shards(&task)).transpose()?;
    let kept = match merged {
        Some(_) => None,
        None => kept(&mut session, &task)?,
    };
    let (journals, grows) = match (&merged, &kept) {
        (Some(merged), _) => (&merged[..], false),
        (None, Some(kept)) => (std::slice::from_ref(&kept.journal), true),
        (None, None) => (&[][..], false),
    };
    let progress = Progress::new(quiet, &task.spec, &reporter);
    let mut searched = run_search(&task.spec, &task.problems, journals, grows, &stop, &progress);
    if let Some(kept) = &kept {
        kept.open().sync().map_err(of_journal)?;
    }
    // A failure does not discard earlier results.
    let failure = searched.error.take().map(failure);
    let evaluations = searched.evaluations();
    match failure {
        _ if evaluations == 0 && stop.is_raised() => return Err(Failure::interrupted()),
        Some(failure) if evaluations == 0 => return Err(failure),
        _ => {}
    }
    let findings = Findings { task: &task, searched: &searched };
    let tally = Tally::done("evaluations", evaluations, stop.is_raised());
    if failure.is_some() {
        session.keep_journal_beside_results();
    }
    let mut rows = findings.rows(sorting);
    if !quiet {
        rows.as_good().iter().for_each(eprint_line);
    }
    // Use the order of the search, not the order of --sort.
    let ranked = ResultTable::of(rows.rows()).map_err(|e| Failure::output("results", e))?;
    let first = report::searched(&ranked);
    let exit = session.publish(&mut rows, &tally)?;
    if !quiet {
        first.iter().for_each(eprint_line);
    }
    if let (Exit::Done, Some(failure)) = (exit, failure) {
        return Err(failure);
    }
    if searched.overdue && !quiet {
        eprint_warning("--time is up; the results depend on the speed of the computer");
    }
    Ok(exit)
}

/// Journals of evaluations.
type Journals = Vec<Mutex<Journal<Evaluation>>>;

/// Function that opens the journals of shards and checks that they are complete.
type Merged<'a> = dyn Fn(&SearchTask) -> Result<Journals, Failure> + 'a;

/// Opens the journal of a search; `None` without a folder.
fn kept(
    session: &mut Session,
    task: &SearchTask,
) -> Result<Option<JournalHandle<Evaluation>>, Failure> {
    let mut plan = PlanFile::new(Kind::Search, session.build())?;
    plan.evaluated = Some(output::evaluated(task)?);
    let kept = JournalHandle::begin(session, plan, None, None)?;
    if let Some(done) = kept.as_ref().map(|kept| kept.open().len()).filter(|&done| done > 0) {
        session
            .print_line(format_args!("search: {} evaluations done before", grouped(done as u64)));
    }
    Ok(kept)
}

/// Adapts the help of shared options to this command.
pub fn adapted(command: clap::Command) -> clap::Command {
    hide_outage_options(command)
        .mut_arg("trace", |arg| arg.visible_alias("train"))
        .mut_arg("tie", |arg| {
            arg.help("Show this vector in addition to the vectors found; may be repeated").long_help(
                "Show this vector in addition to the vectors found; may be repeated.\n\nThe vector is evaluated after the search.",
            )
        })
        .mut_arg("shard", |arg| {
            arg.long_help(
                "Run one of N parts (1/N to N/N); replay merge combines the parts.\n\nA part evaluates a block of \
                 vectors that are likely to make the same decisions. Only a search with the strategy exhaustive, or with random and --spare 0, can be divided, \
                 because the other strategies choose vectors by the results of earlier vectors.",
            )
        })
        .mut_arg("seed", |arg| {
            let help = "Seed all random draws [default: 0]";
            arg.long_help(format!("{help}.\n\nA search takes one seed."))
        })
        .mut_arg("alloc", |arg| {
            arg.long_help(
                "Set the allocator [default: mc1x1].\n\nA search takes \
                 one allocator, which must break ties by a vector.",
            )
        })
}
