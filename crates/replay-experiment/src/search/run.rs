use std::sync::Mutex;
use std::time::Instant;

use super::strategy::{External, List, Local, Random, SearchStrategy};
use super::{
    Archive, Control, End, Evaluation, EvaluationCache, Found, GIVEN, Portability, Problem,
    Problems, RANDOM_EVALUATIONS, SearchError, SearchSpec, Space, Start, Strategy, search, width,
};
use crate::journal::{Journal, JournalError};
use crate::{RunContext, Watch};
use replay_engine::cancel::CancelToken;

/// Receives the progress of a whole search. By default, nothing happens.
pub trait SearchWatch: Watch {
    /// Called before the search of a problem.
    fn begins(&self, _problem: &Problem, _expected: Option<Expected>) {}

    /// Called before a phase of a search; `evaluations` is the number of evaluations of the search after the phase, if it
    /// is known.
    fn phase_begins(&self, _problem: &Problem, _evaluations: Option<u64>) {}

    /// Called after every block of evaluations.
    fn evaluated(&self, _archive: &Archive) {}

    /// Called after a phase of a search.
    fn phase_ends(&self) {}

    /// Called after the search of a problem.
    fn ends(&self, _problem: &Problem, _ended: &Ended, _archive: &Archive, _equal_ratios: u64) {}

    /// Called if evaluations cannot be written to the journal; the results are complete.
    fn unwritten(&self, _error: &JournalError) {}
}

impl SearchWatch for () {}

/// The largest number of evaluations of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Expected {
    /// The evaluations of the starts; `None` for a strategy without starts.
    pub starts: Option<u64>,
    /// The evaluations after the starts; `None` if time limits them.
    pub more: Option<u64>,
}

/// The reason why the search of a problem ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// The strategy has no more vectors.
    Exhausted,
    /// The limit of evaluations was reached: [`SearchSpec::evaluations`], or the default of the strategy.
    Evaluations,
    /// The time was up.
    Time,
    /// The search was cancelled.
    Interrupted,
    /// An evaluation failed.
    Failed,
}

/// What a search found, by problem in the order of [`Problems::searches`]. A failed or cancelled search lacks the
/// problems that it did not reach.
#[derive(Debug, Default)]
pub struct Searched {
    /// The evaluations.
    pub archives: Vec<Archive>,
    /// The evaluations of the given vectors.
    pub given: Vec<Archive>,
    /// The number of grid vectors that have the same ratio as another vector.
    pub equal_ratios: Vec<u64>,
    /// Why the search ended.
    pub ended: Vec<Ended>,
    /// The best vectors on all traces; `None` with one trace or after a failure.
    pub portability: Option<Portability>,
    /// Whether a time limit was reached, so that the results depend on the speed of the computer.
    pub overdue: bool,
    /// The error that ended the search. The results before the error are complete.
    pub error: Option<SearchError>,
}

impl Searched {
    /// Returns the number of evaluations of all problems.
    pub fn evaluations(&self) -> usize {
        self.archives.iter().map(|archive| archive.evaluations().len()).sum()
    }
}

/// Searches all problems of the settings. The time of the settings is divided equally among the problems that remain.
/// Evaluations in `journals` are not repeated; with `grows`, new evaluations are appended to the first journal.
///
/// Given vectors are evaluated after the search of a problem and without its limits, so that they do not affect the
/// search.
pub fn run_search(
    spec: &SearchSpec,
    problems: &Problems,
    journals: &[Mutex<Journal<Evaluation>>],
    grows: bool,
    stop: &CancelToken,
    watch: &dyn SearchWatch,
) -> Searched {
    let begin = Instant::now();
    let mut all = Searched::default();
    for (done, problem) in problems.searches.iter().enumerate() {
        let left = (problems.searches.len() - done) as u32;
        let share = spec.time.map(|time| time.saturating_sub(begin.elapsed()) / left);
        let own = match share {
            Some(share) => stop.until(Instant::now() + share),
            None => stop.clone(),
        };
        let memory = EvaluationCache::new(problem, journals, grows);
        let one = OneSearch { spec, problems, problem, memory: &memory, stop: &own, watch };
        watch.begins(problem, one.expected());
        let mut archive = Archive::default();
        let outcome = one.run(&mut archive);
        all.overdue |= own.is_raised() && !stop.is_raised();
        let equal = outcome.as_ref().map_or(0, |(equal, _)| *equal);
        let ended = match outcome {
            Ok((_, End::Exhausted)) => Ended::Exhausted,
            Ok((_, End::Evaluations)) => Ended::Evaluations,
            Ok((_, End::Halted)) if stop.is_raised() => Ended::Interrupted,
            Ok((_, End::Halted)) => Ended::Time,
            Err(_) => Ended::Failed,
        };
        watch.ends(problem, &ended, &archive, equal);
        let mut given = Archive::default();
        let one = OneSearch { stop, ..one };
        let referred = one.ask(&mut List::new(spec.given.clone()), &mut given, None, None);
        if let Some(error) = memory.write_error() {
            watch.unwritten(&error);
        }
        all.archives.push(archive);
        all.given.push(given);
        all.equal_ratios.push(equal);
        all.ended.push(ended);
        all.error = outcome.map(drop).and(referred.map(drop)).err();
        if all.error.is_some() {
            return all;
        }
    }
    if all.evaluations() > 0 || !stop.is_raised() {
        match portability(spec, problems, &all.archives, stop) {
            Ok(portability) => all.portability = portability,
            Err(error) => all.error = Some(error),
        }
    }
    all
}

/// The search for the best vectors of one problem.
struct OneSearch<'a> {
    spec: &'a SearchSpec,
    problems: &'a Problems,
    problem: &'a Problem,
    memory: &'a EvaluationCache<'a>,
    stop: &'a CancelToken,
    watch: &'a dyn SearchWatch,
}

impl OneSearch<'_> {
    /// Runs the strategy; the strategy `local` runs its starts first. Returns the number of grid vectors that have the
    /// same ratio as another vector, and the reason why the search ended.
    fn run(&self, archive: &mut Archive) -> Result<(u64, End), SearchError> {
        let Self { spec, problems, .. } = self;
        let grid = || problems.grid.grid();
        let left_out = |grid: &Space| grid.grid_points() - grid.grid().len() as u64;
        let usual = || Some(spec.evaluations.unwrap_or(spec.strategy.usual_evaluations()));
        let (free, seed) = (problems.free.clone(), problems.seed);
        match &spec.strategy {
            Strategy::Exhaustive => {
                let end = self.phase(&mut List::new(grid()), archive, spec.evaluations)?;
                Ok((left_out(&problems.grid), end))
            }
            Strategy::Random => {
                Ok((0, self.phase(&mut Random::new(free, seed), archive, usual())?))
            }
            Strategy::External(command) => {
                let most = spec.evaluations;
                let mut program =
                    External::start(command, self.problem, &free, most, seed, self.stop)?;
                Ok((0, self.phase(&mut program, archive, most)?))
            }
            Strategy::Local(_) => {
                let mut equal = 0;
                // The evaluations of the starts count toward the limit.
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
                // The default number of evaluations applies only without a time limit.
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

    /// Returns the largest number of evaluations; `None` if it is not known in advance.
    fn expected(&self) -> Option<Expected> {
        let Self { spec, problems, .. } = self;
        let most = spec.evaluations.unwrap_or(u64::MAX);
        let grid = || problems.grid.grid().len() as u64;
        let usual = spec.strategy.usual_evaluations();
        let without_starts = |more: u64| Expected { starts: None, more: Some(more) };
        match &spec.strategy {
            Strategy::Exhaustive => Some(without_starts(grid().min(most))),
            Strategy::Random => Some(without_starts(spec.evaluations.unwrap_or(usual))),
            Strategy::External(_) => spec.evaluations.map(without_starts),
            Strategy::Local(_) => {
                let of_start = |start: &Start| match start {
                    Start::Candidate(_) => 1,
                    Start::Random => RANDOM_EVALUATIONS,
                    Start::Exhaustive => grid(),
                };
                let starts = spec.starts().iter().map(of_start).sum::<u64>().min(most);
                let more = match (spec.time, spec.evaluations) {
                    (_, Some(most)) => Some(most - starts),
                    (Some(_), None) => None,
                    (None, None) => Some(usual),
                };
                Some(Expected { starts: Some(starts), more })
            }
        }
    }

    /// Runs a strategy, with early stopping if the settings request it.
    fn phase(
        &self,
        strategy: &mut dyn SearchStrategy,
        archive: &mut Archive,
        evaluations: Option<u64>,
    ) -> Result<End, SearchError> {
        self.ask(strategy, archive, evaluations, self.spec.keep())
    }

    /// Runs a strategy. Early stopping does not stop the evaluations of the `keep` best vectors.
    fn ask(
        &self,
        strategy: &mut dyn SearchStrategy,
        archive: &mut Archive,
        evaluations: Option<u64>,
        keep: Option<usize>,
    ) -> Result<End, SearchError> {
        let expected = evaluations.map(|more| archive.evaluations().len() as u64 + more);
        self.watch.phase_begins(self.problem, expected);
        let control = Control {
            evaluations,
            keep,
            cache: Some(self.memory),
            watch: RunContext { stop: self.stop, watch: self.watch },
            progress: &|archive| self.watch.evaluated(archive),
        };
        let end = search(self.problem, strategy, archive, control);
        self.watch.phase_ends();
        end
    }
}

/// Evaluates the best candidates and the given candidates on every trace. The best candidates are the printed
/// candidates of a single search, or the best candidate of each of several searches. Returns `None` if there is only
/// one trace, or if the evaluation was cancelled.
fn portability(
    spec: &SearchSpec,
    problems: &Problems,
    archives: &[Archive],
    stop: &CancelToken,
) -> Result<Option<Portability>, SearchError> {
    let Problems { searches, singles, .. } = problems;
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
    Portability::new(all, singles, stop)
}
