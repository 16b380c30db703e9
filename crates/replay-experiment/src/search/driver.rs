use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use super::SearchError;
use super::archive::Archive;
use super::candidate::Candidate;
use super::evaluation_cache::{EvaluationCache, Question};
use super::problem::{Evaluation, Extent, Problem};
use super::strategy::{PATIENCE, SearchStrategy};
use crate::RunContext;

/// Evaluations that share one bar. It does not depend on the number of threads, so that
/// which evaluations are stopped, and where, does not either.
const BLOCK: usize = 64;

/// When a search ends, and what it may leave out.
#[derive(Clone, Copy)]
pub struct Control<'a> {
    /// Evaluations at most.
    pub evaluations: Option<u64>,
    /// Stop an evaluation as soon as it is certain not to be among so many best.
    pub keep: Option<usize>,
    /// What was evaluated before.
    pub memory: Option<&'a EvaluationCache<'a>>,
    /// Ends the search, and the evaluations that are running; told what one of them takes.
    pub watch: RunContext<'a>,
    /// RecordedDecision after every block of evaluations.
    pub progress: &'a dyn Fn(&Archive),
}

/// Why a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The strategy had no more questions.
    Exhausted,
    /// All evaluations were used.
    Evaluations,
    /// The flag of [`Control::watch`] was raised.
    Halted,
}

/// Lets a strategy ask, evaluates what it asks for on all threads of the current rayon
/// pool, and puts the answers into the archive, until something ends it. What is known
/// is not evaluated again. Unless it is halted, the outcome is the same for any number of
/// threads.
///
/// # Errors
/// [`SearchError`] if an evaluation or the strategy fails; what was done is in `archive`.
pub fn search(
    problem: &Problem,
    strategy: &mut dyn SearchStrategy,
    archive: &mut Archive,
    control: Control<'_>,
) -> Result<End, SearchError> {
    let mut left = control.evaluations.unwrap_or(u64::MAX);
    let mut in_vain = 0;
    loop {
        let candidates = strategy.ask(archive)?;
        if candidates.is_empty() || in_vain == PATIENCE {
            return Ok(End::Exhausted);
        }
        let mut fresh = fresh(archive, &candidates, control.keep.is_some());
        in_vain = if fresh.is_empty() { in_vain + 1 } else { 0 };
        let complete = fresh.len() as u64 <= left;
        fresh.truncate(usize::try_from(left).unwrap_or(usize::MAX));
        left -= fresh.len() as u64;
        // What comes out does not depend on who is evaluated together, but on the bar it may.
        let threads = rayon::current_num_threads();
        let size = control.keep.map_or(fresh.len().max(1), |_| BLOCK);
        for block in fresh.chunks(size) {
            let bar = control.keep.and_then(|keep| archive.bar(keep));
            let question = |&candidate: &Candidate| Question { candidate, bar };
            let mut known = control
                .memory
                .map_or(Ok(HashMap::new()), |memory| memory.recall(block.iter().map(question)))?;
            let mut unknown: Vec<Candidate> =
                block.iter().filter(|one| !known.contains_key(one)).copied().collect();
            // Who is like to choose the same is evaluated together, and decided for once.
            unknown.sort_by(|one, other| {
                one.place().partial_cmp(&other.place()).unwrap_or(Ordering::Equal)
            });
            // All threads have as much to do. Before a deadline it is done by small parts: those that are
            // whole when it comes are kept.
            let most = match control.watch.stop.is_timed() {
                true => problem.at_once().min(BLOCK),
                false => problem.at_once(),
            };
            let turns = unknown.len().div_ceil(most * threads).max(1);
            let together = unknown.len().div_ceil(turns * threads).max(1);
            let evaluate = |candidates: &[Candidate]| {
                let evaluations = problem.evaluate_all(candidates, bar, control.watch)?;
                if let Some(memory) = control.memory {
                    memory.note(candidates.iter().map(question).zip(&evaluations));
                }
                Ok(evaluations)
            };
            // A thread that is done takes the next part, however few are left.
            let parts = dealt(&unknown, together, threads).into_par_iter().with_max_len(1);
            let outcomes: Vec<Result<Vec<Evaluation>, _>> = parts.map(evaluate).collect();
            let mut halted = false;
            for outcome in outcomes {
                match outcome {
                    Err(SearchError::Cancelled(_)) => halted = true,
                    Err(error) => return Err(error),
                    Ok(evaluations) => {
                        known.extend(evaluations.into_iter().map(|one| (one.candidate, one)));
                    }
                }
            }
            // In the order of the questions, whoever answered them.
            let answers = block.iter().filter_map(|candidate| known.remove(candidate));
            answers.for_each(|one| archive.insert(one));
            (control.progress)(archive);
            if halted {
                return Ok(End::Halted);
            }
        }
        if control.watch.stop.is_raised() {
            return Ok(End::Halted);
        }
        if !complete || (left == 0 && !strategy.is_done(archive)) {
            return Ok(End::Evaluations);
        }
    }
}

/// Parts of so many candidates, first those for the first thread, then those for the second, and so on. They are dealt to and
/// fro: neighbours take about as long, and each a little longer or shorter than the one before.
fn dealt<T>(candidates: &[T], together: usize, threads: usize) -> Vec<&[T]> {
    let parts: Vec<_> = candidates.chunks(together).collect();
    let hand = |thread: usize| {
        parts.chunks(threads).enumerate().filter_map(move |(round, parts)| {
            parts.get(if round % 2 == 0 { thread } else { threads - 1 - thread })
        })
    };
    (0..threads).flat_map(hand).copied().collect()
}

/// The candidates that the archive does not know, reduced, each once. Those of no effect go.
/// To know that one is not among the best is enough only where that is all that is asked.
fn fresh(
    archive: &mut Archive,
    candidates: &[Candidate],
    stopped_is_enough: bool,
) -> Vec<Candidate> {
    let mut seen = HashSet::new();
    let mut fresh = Vec::new();
    for candidate in candidates.iter().map(|candidate| candidate.reduced()) {
        let known = |one: &Evaluation| stopped_is_enough || one.extent == Extent::Whole;
        if archive.get(candidate).is_some_and(known) || !seen.insert(candidate) {
            archive.repeat();
        } else if !candidate.vector.is_indifferent() {
            fresh.push(candidate);
        }
    }
    fresh
}

#[cfg(test)]
mod tests {
    use super::dealt;

    #[test]
    fn parts_are_dealt_to_and_fro() {
        let all: Vec<u32> = (0..11).collect();
        assert_eq!(
            dealt(&all, 2, 2),
            [&all[0..2], &all[6..8], &all[8..10], &all[2..4], &all[4..6], &all[10..]]
        );
        assert_eq!(dealt(&all, 4, 3), [&all[0..4], &all[4..8], &all[8..]]);
        assert_eq!(dealt(&all[..0], 1, 2), Vec::<&[u32]>::new());
    }
}
