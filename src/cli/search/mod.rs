//! `replay search`: searches for good tie vectors.

mod args;
mod output;
mod progress;
mod shard;
mod task;

use std::ffi::OsString;
use std::sync::Mutex;
use std::time::Instant;

pub use args::SearchArgs;
pub use shard::merge;

use args::StrategyArg;
use output::Findings;
use progress::{Progress, summary_line};
use task::{SearchTask, Start, failure};

use super::eta::EtaReporter;
use super::exit::{Exit, Failure, eprint_line};
use super::journal::{PLAN_FILE, PlanFile, of_journal};
use super::refused_options::hide_outage_options;
use super::resolved_grid::ResolvedGrid;
use super::result_kind::Kind;
use super::results::{Results, Tally};
use super::resumable_run::JournalHandle;
use super::session::Session;
use replay_core::cancel::CancelToken;
use replay_core::number::grouped;
use replay_core::table::Records;
use replay_experiment::RunContext;
use replay_experiment::journal::Journal;
use replay_experiment::search::strategy::{External, List, Local, Random, SearchStrategy};
use replay_experiment::search::{
    Archive, Control, End, Evaluation, EvaluationCache, Found, GIVEN, Portability, Problem, Space,
    search, width,
};
use replay_output::report::page::searched;

/// Default number of evaluations of strategies that do not end by themselves.
const RANDOM_EVALUATIONS: u64 = 500;
const LOCAL_EVALUATIONS: u64 = 1000;

/// Runs the search, or a shard of it.
pub fn run(args: &SearchArgs, command: &[OsString]) -> Result<Exit, Failure> {
    let session = Session::begin(Kind::Search, &args.output, command)?;
    match args.shard.filter(|shard| !shard.is_whole()) {
        Some(shard) => shard::run(args, session, shard, command),
        None => search_all(args, session, None),
    }
}

/// Searches and reports the best vectors. Evaluations of `shards` are read from their journals.
fn search_all(
    args: &SearchArgs,
    mut session: Session,
    shards: Option<&Merged<'_>>,
) -> Result<Exit, Failure> {
    let begin = Instant::now();
    let quiet = args.output.process.quiet;
    let sorting = args.sort.of()?;
    let stop = CancelToken::new();
    let reporter = EtaReporter::new(quiet);
    let forecast = |forecast| reporter.update_on_stderr(forecast);
    let task =
        SearchTask::resolve(args, RunContext { forecast: &forecast, ..RunContext::new(&stop) })?;
    session.reads(task.train.inputs());
    session.reads(task.test.iter().flat_map(ResolvedGrid::inputs));
    session.configure(&output::identity(args, &task)?)?;
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
    let mut overdue = false;
    let mut archives = Vec::new();
    let (mut given, mut equal_ratios, mut ended) = (Vec::new(), Vec::new(), Vec::new());
    // A failure does not discard earlier results.
    let mut failure = None;
    for (done, problem) in task.searches.iter().enumerate() {
        // The remaining time is divided equally among the remaining searches.
        let searches = (task.searches.len() - done) as u32;
        let share = args.time.map(|time| time.saturating_sub(begin.elapsed()) / searches);
        let own = match share {
            Some(share) => stop.until(Instant::now() + share),
            None => stop.clone(),
        };
        let watch = RunContext { forecast: &forecast, ..RunContext::new(&own) };
        let memory = EvaluationCache::new(problem, journals, grows);
        let search = Search { args, task: &task, problem, memory: &memory, watch };
        let mut archive = Archive::default();
        let outcome = search.run(&mut archive);
        overdue |= own.is_raised() && !stop.is_raised();
        let equal = outcome.as_ref().map_or(0, |(equal, _)| *equal);
        let why = match &outcome {
            Ok((_, end)) => why_ended(args, *end, stop.is_raised()),
            Err(_) => "an evaluation failed".to_string(),
        };
        // A search ends regularly when the grid is exhausted or the external program ends.
        let is_complete = matches!(args.strategy, StrategyArg::Exhaustive | StrategyArg::External);
        let is_reported = match outcome {
            Ok((_, End::Exhausted)) => !is_complete || args.time.is_some(),
            Ok((_, End::Evaluations | End::Halted)) => true,
            Err(_) => false,
        };
        if is_reported && !quiet {
            eprint_line(format_args!("{}: the search ended: {why}", problem.name()));
        }
        ended.push(why);
        if !quiet {
            eprint_line(summary_line(&problem.name(), &archive, problem.decisions(), equal));
            if archive.best().is_some_and(|best| !best.is_feasible()) {
                eprint_line(format_args!(
                    "{}: no vector satisfies the constraints",
                    problem.name()
                ));
            }
        }
        // Evaluate the given vectors after the search and without the limits of the search, so that their results do
        // not affect the search.
        let mut references = Archive::default();
        let search = Search { watch: RunContext { stop: &stop, ..watch }, ..search };
        let referred = search.ask(&mut List::new(task.given.clone()), &mut references, None, None);
        if let Some(error) = memory.write_error() {
            session.print_line(format_args!("replay: {error}; the results are complete"));
        }
        given.push(references);
        archives.push(archive);
        equal_ratios.push(equal);
        failure = outcome.map(drop).and(referred.map(drop)).err();
        if failure.is_some() {
            break;
        }
    }
    if let Some(kept) = &kept {
        kept.open().sync().map_err(of_journal)?;
    }
    let evaluations: usize = archives.iter().map(|archive| archive.evaluations().len()).sum();
    let portability = match failure {
        _ if evaluations == 0 && stop.is_raised() => return Err(Failure::interrupted()),
        Some(failure) if evaluations == 0 => return Err(failure),
        Some(_) => None,
        None => portability(args, &task, &archives, &stop).unwrap_or_else(|error| {
            failure = Some(error);
            None
        }),
    };
    let findings = Findings {
        args,
        task: &task,
        archives: &archives,
        given: &given,
        equal_ratios: &equal_ratios,
        ended: &ended,
        portability: portability.as_ref(),
    };
    let tally = Tally::done("evaluations", evaluations, stop.is_raised());
    if failure.is_some() {
        session.keep_journal_beside_results();
    }
    let mut rows = findings.rows(sorting);
    if !quiet {
        rows.as_good().iter().for_each(eprint_line);
    }
    // Use the order of the search, not the order of --sort.
    let first = searched(&Records::of(rows.rows()));
    let exit = session.publish(&mut rows, &tally)?;
    if !quiet {
        first.iter().for_each(eprint_line);
    }
    if let (Exit::Done, Some(failure)) = (exit, failure) {
        return Err(failure);
    }
    if overdue && !quiet {
        eprint_line("replay: --time is up; the results depend on the speed of the computer");
    }
    Ok(exit)
}

/// Returns the reason why a search ended.
fn why_ended(args: &SearchArgs, end: End, interrupted: bool) -> String {
    match end {
        End::Exhausted => "the strategy has no more vectors".to_string(),
        End::Evaluations => {
            let before = if args.time.is_some() { ", before --time is up" } else { "" };
            match args.evaluations {
                Some(most) => format!("--evaluations {most} is reached{before}"),
                None => format!(
                    "the strategy's default of {} evaluations is reached{before} (--evaluations allows more)",
                    usual_evaluations(args.strategy)
                ),
            }
        }
        End::Halted if interrupted => "interrupted".to_string(),
        End::Halted => "--time is up".to_string(),
    }
}

/// Returns the default of `--evaluations` for strategies that do not end by themselves.
fn usual_evaluations(strategy: StrategyArg) -> u64 {
    match strategy {
        StrategyArg::Local => LOCAL_EVALUATIONS,
        _ => RANDOM_EVALUATIONS,
    }
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
    let mut plan = PlanFile::of(Kind::Search).map_err(|e| Failure::output(PLAN_FILE, e))?;
    plan.evaluated = Some(output::evaluated(task)?);
    let kept = JournalHandle::begin(session, plan)?;
    if let Some(done) = kept.as_ref().map(|kept| kept.open().len()).filter(|&done| done > 0) {
        session
            .print_line(format_args!("search: {} evaluations done before", grouped(done as u64)));
    }
    Ok(kept)
}

/// Returns the number of best vectors that early stopping must keep; `None` if no evaluation is stopped early.
pub fn keep(args: &SearchArgs) -> Option<usize> {
    let usual = match args.strategy {
        StrategyArg::Random => 10,
        // With the other strategies, every value is printed or used.
        _ => 0,
    };
    let keep = args.spare.unwrap_or(usual) as usize;
    (keep > 0).then_some(keep.max(args.top as usize))
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
        .mut_arg("seed", |arg| {
            let help = "Seed all random draws [default: 0]";
            arg.long_help(format!("{help}.\n\nA search takes one seed."))
        })
        .mut_arg("alloc", |arg| {
            arg.long_help(
                "Set the allocator (replay list allocators) [default: mc1x1].\n\nA search takes \
                 one allocator, which must break ties by a vector.",
            )
        })
}

/// The search for the best vectors of one problem.
struct Search<'a> {
    args: &'a SearchArgs,
    task: &'a SearchTask,
    problem: &'a Problem,
    memory: &'a EvaluationCache<'a>,
    watch: RunContext<'a>,
}

impl Search<'_> {
    /// Runs the starts, then the strategy. Returns the number of grid vectors that have the same ratio as another
    /// vector, and the reason why the search ended.
    fn run(&self, archive: &mut Archive) -> Result<(u64, End), Failure> {
        let Self { args, task, .. } = *self;
        let grid = || task.grid.grid();
        let left_out = |grid: &Space| grid.grid_points() - grid.grid().len() as u64;
        let usual = || Some(args.evaluations.unwrap_or(usual_evaluations(args.strategy)));
        let (free, seed) = (task.free.clone(), task.seed);
        match args.strategy {
            StrategyArg::Exhaustive => {
                let all = grid();
                let count = all.len() as u64;
                if let Some(most) = args.evaluations.filter(|&most| most < count) {
                    let (most, count) = (grouped(most), grouped(count));
                    eprint_line(format_args!(
                        "--evaluations {most}: only this number of the {count} ratios is evaluated"
                    ));
                }
                let end = self.phase(&mut List::new(all), archive, args.evaluations)?;
                Ok((left_out(&task.grid), end))
            }
            StrategyArg::Random => {
                Ok((0, self.phase(&mut Random::new(free, seed), archive, usual())?))
            }
            StrategyArg::External => {
                let command = args.ask_command.as_deref().unwrap_or_default();
                let program = External::start(
                    command,
                    self.problem,
                    &free,
                    args.evaluations,
                    seed,
                    self.watch.stop,
                );
                let mut program = program.map_err(failure)?;
                Ok((0, self.phase(&mut program, archive, args.evaluations)?))
            }
            StrategyArg::Local => {
                let mut equal = 0;
                for start in &task.starts {
                    match start {
                        Start::Candidate(one) => {
                            self.phase(&mut List::new(vec![*one]), archive, None)?;
                        }
                        Start::Random => {
                            let mut random = Random::new(free.clone(), seed);
                            self.phase(&mut random, archive, Some(RANDOM_EVALUATIONS))?;
                        }
                        Start::Exhaustive => {
                            self.phase(&mut List::new(grid()), archive, None)?;
                            equal = left_out(&task.grid);
                        }
                    }
                }
                // The default number of evaluations applies only without --time.
                let evaluations = match args.time {
                    Some(_) => args.evaluations,
                    None => usual(),
                };
                let end = self.phase(&mut Local::new(free, seed), archive, evaluations)?;
                Ok((equal, end))
            }
        }
    }

    /// Runs a strategy with early stopping as chosen by the options.
    fn phase(
        &self,
        strategy: &mut dyn SearchStrategy,
        archive: &mut Archive,
        evaluations: Option<u64>,
    ) -> Result<End, Failure> {
        self.ask(strategy, archive, evaluations, keep(self.args))
    }

    /// Runs a strategy. Early stopping does not stop the evaluations of the `keep` best vectors.
    fn ask(
        &self,
        strategy: &mut dyn SearchStrategy,
        archive: &mut Archive,
        evaluations: Option<u64>,
        keep: Option<usize>,
    ) -> Result<End, Failure> {
        let expected = evaluations.map(|more| archive.evaluations().len() as u64 + more);
        let quiet = self.args.output.process.quiet;
        let watched = Progress::new(quiet, expected, self.problem.decisions());
        let jobs_done = |jobs| watched.decided(jobs);
        let control = Control {
            evaluations,
            keep,
            cache: Some(self.memory),
            watch: RunContext { jobs_done: &jobs_done, ..self.watch },
            progress: &|archive| watched.show(archive),
        };
        let end = search(self.problem, strategy, archive, control).map_err(failure);
        watched.finish();
        end
    }
}

/// Evaluates the best candidates on every trace: the printed candidates of a single search, or the best candidate of
/// each of several searches. Returns `None` if there is only one trace, or if the evaluation was cancelled.
fn portability(
    args: &SearchArgs,
    task: &SearchTask,
    archives: &[Archive],
    stop: &CancelToken,
) -> Result<Option<Portability>, Failure> {
    if task.singles.len() < 2 {
        return Ok(None);
    }
    let most = if task.searches.len() > 1 { 1 } else { args.top as usize };
    let mut all: Vec<Found> = Vec::new();
    for (problem, archive) in task.searches.iter().zip(archives) {
        let width = args.scale_sr.then(|| width(&problem.parts[0].trace.topology));
        for one in archive.ranked().into_iter().take(most) {
            all.push(Found { candidate: one.candidate, on: problem.name(), width });
        }
    }
    for candidate in task.given.iter().map(|one| one.reduced()) {
        let known = all.iter().any(|found| found.candidate == candidate);
        if !candidate.vector.is_indifferent() && !known {
            all.push(Found { candidate, on: GIVEN.to_string(), width: None });
        }
    }
    Portability::new(all, &task.singles, stop).map_err(failure)
}
