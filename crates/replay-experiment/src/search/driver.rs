use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use super::SearchError;
use super::archive::Archive;
use super::candidate::Candidate;
use super::evaluation_cache::{EvaluationCache, Question};
use super::problem::{Evaluation, Extent, Problem};
use super::strategy::{PATIENCE, SearchStrategy};
use crate::RunContext;

/// Number of evaluations that share one stopping threshold. This number is constant. The block size is constant, so
/// that the set of stopped evaluations and their stopping points do not depend on the number of threads.
const BLOCK: usize = 64;

/// The limits and the callbacks of a search.
#[derive(Clone, Copy)]
pub struct Control<'a> {
    /// Largest number of evaluations.
    pub evaluations: Option<u64>,
    /// Number of best candidates to keep. An evaluation stops when its candidate is certain not to be among the best
    /// candidates. `None` means that evaluations do not stop.
    pub keep: Option<usize>,
    /// Earlier evaluations, which are not repeated.
    pub cache: Option<&'a EvaluationCache<'a>>,
    /// Cancels the search with its running evaluations, and reports their progress.
    pub watch: RunContext<'a>,
    /// Called after every block of evaluations.
    pub progress: &'a dyn Fn(&Archive),
}

/// The reason why a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The strategy requested no further candidates.
    Exhausted,
    /// The limit of evaluations was reached.
    Evaluations,
    /// The search was cancelled through [`Control::watch`].
    Halted,
}

/// Runs a search: evaluates the candidates that the strategy requests, using all threads of the current rayon pool, and
/// adds the results to the archive. Candidates that are already in the archive or in the cache are not evaluated again.
/// Unless the search is cancelled, the result does not depend on the number of threads.
///
/// # Errors
/// [`SearchError`] if an evaluation or the strategy fails. If an error occurs, `archive` contains the finished
/// evaluations.
pub fn search(
    problem: &Problem,
    strategy: &mut dyn SearchStrategy,
    archive: &mut Archive,
    control: Control<'_>,
) -> Result<End, SearchError> {
    let mut left = control.evaluations.unwrap_or(u64::MAX);
    let mut fruitless = 0;
    loop {
        let candidates = strategy.ask(archive)?;
        if candidates.is_empty() || fruitless == PATIENCE {
            return Ok(End::Exhausted);
        }
        let mut unknown_candidates =
            unknown_candidates(archive, &candidates, control.keep.is_some());
        fruitless = if unknown_candidates.is_empty() { fruitless + 1 } else { 0 };
        let complete = unknown_candidates.len() as u64 <= left;
        unknown_candidates.truncate(usize::try_from(left).unwrap_or(usize::MAX));
        left -= unknown_candidates.len() as u64;
        // The result of an evaluation does not depend on the candidates that are evaluated with it, but it depends on
        // the threshold.
        let threads = rayon::current_num_threads();
        let size = control.keep.map_or(unknown_candidates.len().max(1), |_| BLOCK);
        for block in unknown_candidates.chunks(size) {
            let threshold = control.keep.and_then(|keep| archive.stopping_threshold(keep));
            let question = |&candidate: &Candidate| Question { candidate, threshold };
            let mut known = control
                .cache
                .map_or(Ok(HashMap::new()), |cache| cache.look_up(block.iter().map(question)))?;
            let mut unknown: Vec<Candidate> =
                block.iter().filter(|one| !known.contains_key(one)).copied().collect();
            // Candidates that are likely to make the same decisions are evaluated together, so that shared decisions
            // are computed once.
            unknown.sort_by(Candidate::by_similarity);
            // Distribute the candidates evenly over the threads. If there is a deadline, use small parts, because only
            // finished parts are kept.
            let most = match control.watch.stop.is_timed() {
                true => problem.batch_size().min(BLOCK),
                false => problem.batch_size(),
            };
            let turns = unknown.len().div_ceil(most * threads).max(1);
            let together = unknown.len().div_ceil(turns * threads).max(1);
            let evaluate = |candidates: &[Candidate]| {
                let evaluations = problem.evaluate_all(candidates, threshold, control.watch)?;
                if let Some(cache) = control.cache {
                    cache.append(candidates.iter().map(question).zip(&evaluations));
                }
                Ok(evaluations)
            };
            // `with_max_len(1)` lets an idle thread take single parts.
            let parts =
                alternating_parts(&unknown, together, threads).into_par_iter().with_max_len(1);
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
            // Insert in the order of the requests.
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

/// Splits the candidates into parts and orders the parts by thread: the parts of the first thread, then the parts of
/// the second thread, and so on. Parts are assigned to the threads in rounds. The order of the threads is alternately
/// ascending and descending, because the duration of the parts changes gradually along the list of candidates.
fn alternating_parts<T>(candidates: &[T], together: usize, threads: usize) -> Vec<&[T]> {
    let parts: Vec<_> = candidates.chunks(together).collect();
    let parts_of_thread = |thread: usize| {
        parts.chunks(threads).enumerate().filter_map(move |(round, parts)| {
            parts.get(if round % 2 == 0 { thread } else { threads - 1 - thread })
        })
    };
    (0..threads).flat_map(parts_of_thread).copied().collect()
}

/// Returns the reduced candidates without a known evaluation. Each candidate is returned once. Vectors without effect
/// are omitted. A stopped evaluation is treated as known only if `stopped_is_enough` is set.
fn unknown_candidates(
    archive: &mut Archive,
    candidates: &[Candidate],
    stopped_is_enough: bool,
) -> Vec<Candidate> {
    let mut seen = HashSet::new();
    let mut unknown_candidates = Vec::new();
    for candidate in candidates.iter().map(|candidate| candidate.reduced()) {
        let known = |one: &Evaluation| stopped_is_enough || one.extent == Extent::Whole;
        if archive.get(candidate).is_some_and(known) || !seen.insert(candidate) {
            archive.repeat();
        } else if !candidate.vector.is_indifferent() {
            unknown_candidates.push(candidate);
        }
    }
    unknown_candidates
}

#[cfg(test)]
mod tests {
    use super::alternating_parts;

    #[test]
    fn parts_alternate_in_direction() {
        let all: Vec<u32> = (0..11).collect();
        assert_eq!(
            alternating_parts(&all, 2, 2),
            [&all[0..2], &all[6..8], &all[8..10], &all[2..4], &all[4..6], &all[10..]]
        );
        assert_eq!(alternating_parts(&all, 4, 3), [&all[0..4], &all[4..8], &all[8..]]);
        assert_eq!(alternating_parts(&all[..0], 1, 2), Vec::<&[u32]>::new());
    }
}
