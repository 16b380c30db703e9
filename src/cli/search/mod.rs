//! `replay search`: searches for good tie vectors.

mod args;
mod output;
mod progress;
mod shard;
mod task;

use std::sync::Mutex;
use std::time::Instant;

pub use args::SearchArgs;
pub use shard::merge;

use output::Findings;
use progress::{Progress, summary_line};
use task::{ResolvedSearch, SearchTask, failure};

use super::args::hide_outage_options;
use super::eta::{EtaReporter, First};
use super::exit::{Exit, Failure, eprint_line};
use super::journal::{PlanFile, of_journal};
use super::print::Sorting;
use super::program::Invocation;
use super::result_kind::Kind;
use super::results::{Results, Tally};
use super::resumable_run::JournalHandle;
use super::session::Session;
use replay_engine::cancel::CancelToken;
use replay_engine::number::{counted, grouped};
use replay_engine::registries::Registries;
use replay_engine::table::Records;
use replay_experiment::RunContext;
use replay_experiment::journal::Journal;
use replay_experiment::search::strategy::{External, List, Local, Random, SearchStrategy};
use replay_experiment::search::{
    Archive, Control, End, Evaluation, EvaluationCache, Found, GIVEN, Portability, Problem,
    Problems, RANDOM_EVALUATIONS, SearchRow, SearchSpec, Space, Start, Strategy, search, width,
};
use replay_output::report::page::searched;

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
    let begin = Instant::now();
    let quiet = session.is_quiet();
    let stop = CancelToken::new();
    let reporter = EtaReporter::of(First::Started, quiet);
    let watch = RunContext { stop: &stop, watch: &reporter };
    let task = search.load(&mut session, watch)?;
    let (spec, searches) = (&task.spec, &task.problems.searches);
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
    let mut overdue = false;
    let mut archives = Vec::new();
    let (mut given, mut equal_ratios, mut ended) = (Vec::new(), Vec::new(), Vec::new());
    // A failure does not discard earlier results.
    let mut failure = None;
    for (done, problem) in searches.iter().enumerate() {
        // The remaining time is divided equally among the remaining searches.
        let left = (searches.len() - done) as u32;
        let share = spec.time.map(|time| time.saturating_sub(begin.elapsed()) / left);
        let own = match share {
            Some(share) => stop.until(Instant::now() + share),
            None => stop.clone(),
        };
        let watch = RunContext { stop: &own, watch: &reporter };
        let memory = EvaluationCache::new(problem, journals, grows);
        let search = Search { task: &task, problem, memory: &memory, watch, quiet };
        let mut archive = Archive::default();
        let outcome = search.run(&mut archive);
        overdue |= own.is_raised() && !stop.is_raised();
        let equal = outcome.as_ref().map_or(0, |(equal, _)| *equal);
        let why = match &outcome {
            Ok((_, end)) => why_ended(spec, *end, stop.is_raised()),
            Err(_) => "an evaluation failed".to_string(),
        };
        // A search ends regularly if the grid is exhausted or if the external program ends.
        let is_complete = matches!(spec.strategy, Strategy::Exhaustive | Strategy::External(_));
        let is_reported = match outcome {
            Ok((_, End::Exhausted)) => !is_complete || spec.time.is_some(),
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
        let referred = search.ask(&mut List::new(spec.given.clone()), &mut references, None, None);
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
        None => portability(&task, &archives, &stop).unwrap_or_else(|error| {
            failure = Some(error);
            None
        }),
    };
    let findings = Findings {
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
fn why_ended(spec: &SearchSpec, end: End, interrupted: bool) -> String {
    match end {
        End::Exhausted => "the strategy has no more vectors".to_string(),
        End::Evaluations => {
            let before = if spec.time.is_some() { ", before --time is up" } else { "" };
            match spec.evaluations {
                Some(most) => format!("--evaluations {most} is reached{before}"),
                None => format!(
                    "the strategy's default of {} evaluations is reached{before} (--evaluations allows more)",
                    spec.strategy.usual_evaluations()
                ),
            }
        }
        End::Halted if interrupted => "interrupted".to_string(),
        End::Halted => "--time is up".to_string(),
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
                "Run one of N parts (1/N to N/N); replay merge combines the parts.\n\nA part evaluates every N-th \
                 vector. Only a search with the strategy exhaustive, or with random and --spare 0, can be divided, \
                 because the other strategies choose vectors by the results of earlier vectors.",
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
    task: &'a SearchTask,
    problem: &'a Problem,
    memory: &'a EvaluationCache<'a>,
    watch: RunContext<'a>,
    quiet: bool,
}

impl Search<'_> {
    /// Runs the strategy; the strategy `local` runs its starts first. Returns the number of grid vectors that have the
    /// same ratio as another vector, and the reason why the search ended.
    fn run(&self, archive: &mut Archive) -> Result<(u64, End), Failure> {
        if let Some(announcement) = self.announcement().filter(|_| !self.quiet) {
            eprint_line(format_args!("{}: {announcement}", self.problem.name()));
        }
        let SearchTask { spec, problems, .. } = self.task;
        let grid = || problems.grid.grid();
        let left_out = |grid: &Space| grid.grid_points() - grid.grid().len() as u64;
        let usual = || Some(spec.evaluations.unwrap_or(spec.strategy.usual_evaluations()));
        let (free, seed) = (problems.free.clone(), problems.seed);
        match &spec.strategy {
            Strategy::Exhaustive => {
                let all = grid();
                let count = all.len() as u64;
                if let Some(most) = spec.evaluations.filter(|&most| most < count) {
                    let (most, count) = (grouped(most), grouped(count));
                    eprint_line(format_args!(
                        "--evaluations {most}: only this number of the {count} ratios is evaluated"
                    ));
                }
                let end = self.phase(&mut List::new(all), archive, spec.evaluations)?;
                Ok((left_out(&problems.grid), end))
            }
            Strategy::Random => {
                Ok((0, self.phase(&mut Random::new(free, seed), archive, usual())?))
            }
            Strategy::External(command) => {
                let stop = self.watch.stop;
                let program =
                    External::start(command, self.problem, &free, spec.evaluations, seed, stop);
                let mut program = program.map_err(failure)?;
                Ok((0, self.phase(&mut program, archive, spec.evaluations)?))
            }
            Strategy::Local(_) => {
                let mut equal = 0;
                // The evaluations of the starts count toward --evaluations.
                let left = |archive: &Archive| {
                    let done = archive.evaluations().len() as u64;
                    spec.evaluations.map(|most| most.saturating_sub(done))
                };
                for start in spec.starts() {
                    let most = left(archive);
                    let end = match start {
                        Start::Candidate(one) => {
                            self.phase(&mut List::new(vec![one]), archive, most)?
                        }
                        Start::Random => {
                            let most = most.unwrap_or(u64::MAX).min(RANDOM_EVALUATIONS);
                            self.phase(&mut Random::new(free.clone(), seed), archive, Some(most))?
                        }
                        Start::Exhaustive => {
                            equal = left_out(&problems.grid);
                            self.phase(&mut List::new(grid()), archive, most)?
                        }
                    };
                    if left(archive) == Some(0) {
                        let end = if end == End::Halted { end } else { End::Evaluations };
                        return Ok((equal, end));
                    }
                }
                // The default number of evaluations applies only without --time.
                let evaluations = match (spec.time, spec.evaluations) {
                    (_, Some(_)) => left(archive),
                    (Some(_), None) => None,
                    (None, None) => Some(spec.strategy.usual_evaluations()),
                };
                let end = self.phase(&mut Local::new(free, seed), archive, evaluations)?;
                Ok((equal, end))
            }
        }
    }

    /// Returns a line with the number of evaluations that follow at most; `None` if the number is not known in advance.
    fn announcement(&self) -> Option<String> {
        let SearchTask { spec, problems, .. } = self.task;
        let most = spec.evaluations.unwrap_or(u64::MAX);
        let grid = || problems.grid.grid().len() as u64;
        let usual = spec.strategy.usual_evaluations();
        let up_to = |count: u64| format!("up to {}", counted(count, "evaluation"));
        match &spec.strategy {
            Strategy::Exhaustive => Some(up_to(grid().min(most))),
            Strategy::Random => Some(up_to(spec.evaluations.unwrap_or(usual))),
            Strategy::External(_) => spec.evaluations.map(up_to),
            Strategy::Local(_) => {
                let of_start = |start: &Start| match start {
                    Start::Candidate(_) => 1,
                    Start::Random => RANDOM_EVALUATIONS,
                    Start::Exhaustive => grid(),
                };
                let starts = spec.starts().iter().map(of_start).sum::<u64>().min(most);
                let rest = match (spec.time, spec.evaluations) {
                    (_, Some(most)) => most - starts,
                    (Some(_), None) => {
                        let starts = counted(starts, "evaluation");
                        return Some(format!(
                            "{starts} for --start, then evaluations until --time is up"
                        ));
                    }
                    (None, None) => usual,
                };
                let (total, starts) = (up_to(starts + rest), grouped(starts));
                Some(format!(
                    "{total}: {starts} for --start, {} near the best vector",
                    grouped(rest)
                ))
            }
        }
    }

    /// Runs a strategy, with early stopping if the options request it.
    fn phase(
        &self,
        strategy: &mut dyn SearchStrategy,
        archive: &mut Archive,
        evaluations: Option<u64>,
    ) -> Result<End, Failure> {
        self.ask(strategy, archive, evaluations, self.task.spec.keep())
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
        let watched =
            Progress::new(self.quiet, expected, self.problem.decisions(), self.watch.watch);
        let control = Control {
            evaluations,
            keep,
            cache: Some(self.memory),
            watch: RunContext { watch: &watched, ..self.watch },
            progress: &|archive| watched.show(archive),
        };
        let end = search(self.problem, strategy, archive, control).map_err(failure);
        watched.finish();
        end
    }
}

/// Evaluates the best candidates and the given candidates on every trace. The best candidates are the printed
/// candidates of a single search, or the best candidate of each of several searches. Returns `None` if there is only
/// one trace, or if the evaluation was cancelled.
fn portability(
    task: &SearchTask,
    archives: &[Archive],
    stop: &CancelToken,
) -> Result<Option<Portability>, Failure> {
    let SearchTask { spec, problems: Problems { searches, singles, .. }, .. } = task;
    if singles.len() < 2 {
        return Ok(None);
    }
    let most = if searches.len() > 1 { 1 } else { spec.top as usize };
    let mut all: Vec<Found> = Vec::new();
    for (problem, archive) in searches.iter().zip(archives) {
        let width = spec.scale_sr.then(|| width(&problem.parts[0].trace.topology));
        for one in archive.ranked().into_iter().take(most) {
            all.push(Found { candidate: one.candidate, on: problem.name(), width });
        }
    }
    for candidate in spec.given.iter().map(|one| one.reduced()) {
        let known = all.iter().any(|found| found.candidate == candidate);
        if !candidate.vector.is_indifferent() && !known {
            all.push(Found { candidate, on: GIVEN.to_string(), width: None });
        }
    }
    Portability::new(all, singles, stop).map_err(failure)
}
