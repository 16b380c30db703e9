use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::SearchError;
use super::candidate::Candidate;
use super::problem::{Evaluation, Problem};
use crate::journal::{CellId, Journal, JournalError, Outcome};

/// Cache of the evaluations of a problem, which are stored in journals.
#[derive(Debug)]
pub struct EvaluationCache<'a> {
    /// Digest of the problem, see [`Problem::identity`].
    problem: String,
    journals: &'a [Mutex<Journal<Evaluation>>],
    /// Whether new evaluations are appended to the first journal.
    grows: bool,
    /// First error that occurred while evaluations were appended; `None` if there was none.
    write_error: Mutex<Option<JournalError>>,
}

/// Key of an evaluation in the cache.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Question {
    /// The reduced candidate.
    pub candidate: Candidate,
    /// Threshold in percent: the evaluation may stop if the improvement is certain to be smaller than the threshold.
    pub threshold: Option<f64>,
}

impl Question {
    /// Creates the key of a whole evaluation.
    pub fn whole(candidate: Candidate) -> Self {
        Self { candidate: candidate.reduced(), threshold: None }
    }

    /// Returns the id of the evaluation in the journal of a problem with this [identity](Problem::identity).
    pub fn id(&self, problem: &str) -> CellId {
        let Self { candidate, threshold } = self;
        let threshold = threshold.map_or(String::new(), |threshold| threshold.to_string());
        CellId::of(&format!("replay evaluation 1\n{problem}\n{candidate}\n1\n{threshold}\n"))
    }
}

impl<'a> EvaluationCache<'a> {
    /// Creates a cache for a problem from these journals. If `grows` is set, new evaluations are appended to the first
    /// journal.
    pub fn new(problem: &Problem, journals: &'a [Mutex<Journal<Evaluation>>], grows: bool) -> Self {
        let write_error = Mutex::new(None);
        Self { problem: problem.identity(), journals, grows, write_error }
    }

    /// Returns the id of an evaluation in the journals.
    pub fn id(&self, question: &Question) -> CellId {
        question.id(&self.problem)
    }

    /// Looks up known evaluations. Returns the evaluations that are found in the journals, indexed by candidate.
    ///
    /// # Errors
    /// [`SearchError::Journal`] if a journal cannot be read.
    pub(super) fn look_up(
        &self,
        questions: impl Iterator<Item = Question>,
    ) -> Result<HashMap<Candidate, Evaluation>, SearchError> {
        let mut journals: Vec<_> = self.journals.iter().map(open).collect();
        let mut known = HashMap::new();
        for question in questions {
            let id = self.id(&question);
            for journal in journals.iter_mut() {
                if let Some(Outcome::Done(done)) = journal.read(id)? {
                    known.insert(question.candidate, *done);
                    break;
                }
            }
        }
        Ok(known)
    }

    /// Appends evaluations to the journal. After the first error, for example from a full disk, no further evaluation
    /// is appended, and the search continues.
    pub(super) fn append<'b>(&self, answers: impl Iterator<Item = (Question, &'b Evaluation)>) {
        let Some(journal) = self.journals.first().filter(|_| self.grows) else { return };
        let mut write_error = open(&self.write_error);
        if write_error.is_some() {
            return;
        }
        let mut journal = open(journal);
        let mut append = |(question, evaluation): (Question, &Evaluation)| {
            journal.append(self.id(&question), Ok(evaluation))
        };
        *write_error = answers.into_iter().try_for_each(&mut append).err();
    }

    /// Whether appending has failed.
    pub fn has_write_error(&self) -> bool {
        open(&self.write_error).is_some()
    }

    /// Returns the first error that occurred while evaluations were appended, if there was one.
    pub fn write_error(self) -> Option<JournalError> {
        self.write_error.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

fn open<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panicking thread may have written an incomplete line. In that case, the next call of `open` removes this line.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
