use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::SearchError;
use super::candidate::Candidate;
use super::problem::{Evaluation, Problem};
use crate::journal::{CellId, Journal, JournalError, Outcome};

/// Evaluations of one problem that were done before, in journals.
#[derive(Debug)]
pub struct EvaluationCache<'a> {
    /// See [`Problem::identity`].
    problem: String,
    journals: &'a [Mutex<Journal<Evaluation>>],
    /// Whether the first journal takes in what is new.
    grows: bool,
    /// Why it can no longer.
    trouble: Mutex<Option<JournalError>>,
}

/// What a search wants to know of a candidate; the answer depends on nothing else.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Question {
    /// The candidate, reduced.
    pub candidate: Candidate,
    /// The improvement in percent below which it may be stopped.
    pub bar: Option<f64>,
}

impl Question {
    /// Without a bar.
    pub fn whole(candidate: Candidate) -> Self {
        Self { candidate: candidate.reduced(), bar: None }
    }

    /// The id of its answer, of a problem of this [identity](Problem::identity).
    pub fn id(&self, problem: &str) -> CellId {
        let Self { candidate, bar } = self;
        let bar = bar.map_or(String::new(), |bar| bar.to_string());
        CellId::of(&format!("replay evaluation 1\n{problem}\n{candidate}\n1\n{bar}\n"))
    }
}

impl<'a> EvaluationCache<'a> {
    /// Of a problem, in these journals. If it `grows`, the first of them takes in what is new.
    pub fn new(problem: &Problem, journals: &'a [Mutex<Journal<Evaluation>>], grows: bool) -> Self {
        let trouble = Mutex::new(None);
        Self { problem: problem.identity(), journals, grows, trouble }
    }

    /// The id of an answer.
    pub fn id(&self, question: &Question) -> CellId {
        question.id(&self.problem)
    }

    /// The answers that are known, by candidate.
    ///
    /// # Errors
    /// [`JournalError`] of a journal that cannot be read.
    pub(super) fn recall(
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

    /// Writes answers down, as long as the journal can be written: a search that finds its disk full
    /// goes on without.
    pub(super) fn note<'b>(&self, answers: impl Iterator<Item = (Question, &'b Evaluation)>) {
        let Some(journal) = self.journals.first().filter(|_| self.grows) else { return };
        let mut trouble = open(&self.trouble);
        if trouble.is_some() {
            return;
        }
        let mut journal = open(journal);
        let mut note = |(question, evaluation): (Question, &Evaluation)| {
            journal.append(self.id(&question), Ok(evaluation))
        };
        *trouble = answers.into_iter().try_for_each(&mut note).err();
    }

    /// Whether answers could not be written down.
    pub fn is_troubled(&self) -> bool {
        open(&self.trouble).is_some()
    }

    /// Why answers could not be written down, if so.
    pub fn trouble(self) -> Option<JournalError> {
        self.trouble.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

fn open<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a thread that panicked had begun to write is cut off when the journal is opened.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
