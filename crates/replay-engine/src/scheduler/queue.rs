//! A queue of waiting jobs with a search for the first job that may start.

mod corners;
mod index;

use super::{QueueOrder, QueuedJob, Rejection};
use index::Index;

/// A waiting job with its position in the queue.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// The job.
    pub job: QueuedJob,
    /// Rank in the queue order, and position in the order of arrival, which decides between jobs of equal rank.
    rank: (i128, u64),
    /// The event after which the job may be tried again; `None` if the job was not refused.
    pub refused: Option<Until>,
}

/// The event after which a refused job may be tried again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Until {
    /// A job completes or the machine changes.
    Completion,
    /// A job starts or completes, or the machine changes.
    Change,
    /// A job starts or completes, the machine changes, or time passes.
    Instant,
}

impl Until {
    /// Returns the event after which a job may be tried again if it was rejected with `rejection`.
    pub fn of(rejection: Rejection) -> Self {
        match rejection {
            Rejection::Refused { lasts: true } => Until::Completion,
            Rejection::Refused { lasts: false }
            | Rejection::Postponed { .. }
            | Rejection::TakesReserved { lasts: true } => Until::Change,
            Rejection::TakesReserved { lasts: false } => Until::Instant,
        }
    }
}

/// The bounds of a search for a job.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Maximum number of requested processors.
    pub size: u32,
    /// Maximum estimate; a job that takes at most `extra` processors may have a longer estimate.
    pub estimate: i64,
    /// Maximum value of [`QueuedJob::takes`] for jobs with an estimate above the maximum.
    pub extra: u32,
}

impl Bounds {
    fn admit(&self, waiting: &Waiting) -> bool {
        let job = &waiting.job;
        let within = job.estimate <= self.estimate || job.takes <= self.extra;
        job.size <= self.size && within && waiting.refused.is_none()
    }
}

/// Position of a job; valid until the queue changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Index in the list.
    Listed(usize),
    /// Slot in the [`Index`].
    Indexed(usize),
}

/// Waiting jobs in queue order.
///
/// A short queue is a list, which is searched linearly. In a long queue, the list contains only the latest arrivals,
/// and an [`Index`] contains all other jobs. An arrival, a removal or a search in a long queue costs O(log n), provided
/// that the sizes and estimates of the jobs allow subtrees to be skipped.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    order: QueueOrder,
    list: Vec<Waiting>,
    index: Index,
    /// One flag for each [`Until`]: true if any job is refused until this event.
    any_refused: [bool; 3],
}

/// Length of the list beyond which its jobs are moved to an empty index; the limit grows with the index.
const LIST_LENGTH: usize = 128;

impl Queue {
    /// Creates an empty queue.
    pub fn new(order: QueueOrder) -> Self {
        Self { order, ..Self::default() }
    }

    /// Returns the number of jobs.
    pub fn len(&self) -> usize {
        self.list.len() + self.index.len()
    }

    /// Adds a job.
    pub fn arrive(&mut self, job: QueuedJob) {
        let rank = (self.order.rank(&job), job.turn);
        let at = self.list.partition_point(|other| other.rank < rank);
        self.list.insert(at, Waiting { job, rank, refused: None });
        // The limit grows with the index, because rebuilding the index takes time proportional to its length.
        if self.list.len() > LIST_LENGTH + 2 * self.index.len().isqrt() {
            self.index.absorb(&mut self.list);
        }
    }

    /// Returns the first job.
    pub fn head(&self) -> Option<(Place, &Waiting)> {
        let listed = self.list.first().map(|waiting| (Place::Listed(0), waiting));
        let indexed = self.index.head().map(|(slot, waiting)| (Place::Indexed(slot), waiting));
        earlier(listed, indexed)
    }

    /// Returns the first job within `bounds`. Jobs that wait for a retry are skipped.
    pub fn first(&self, bounds: &Bounds) -> Option<(Place, &Waiting)> {
        let at = self.list.iter().position(|waiting| bounds.admit(waiting));
        let listed = at.map(|at| (Place::Listed(at), &self.list[at]));
        let indexed = self.index.first(bounds);
        earlier(listed, indexed.map(|(slot, waiting)| (Place::Indexed(slot), waiting)))
    }

    /// Returns the first job in queue order that `admits` accepts. Jobs that wait for a retry are skipped. Visits every
    /// job.
    pub fn first_that(
        &self,
        mut admits: impl FnMut(&QueuedJob) -> bool,
    ) -> Option<(Place, &Waiting)> {
        let mut listed = self.list.iter().enumerate().peekable();
        let mut indexed = self.index.iter().peekable();
        loop {
            let (at, from) = (listed.peek().copied(), indexed.peek().copied());
            let (place, waiting) = earlier(
                at.map(|(at, waiting)| (Place::Listed(at), waiting)),
                from.map(|(slot, waiting)| (Place::Indexed(slot), waiting)),
            )?;
            if waiting.refused.is_none() && admits(&waiting.job) {
                return Some((place, waiting));
            }
            match place {
                Place::Listed(_) => drop(listed.next()),
                Place::Indexed(_) => drop(indexed.next()),
            }
        }
    }

    /// Removes a job.
    pub fn remove(&mut self, place: Place) {
        match place {
            Place::Listed(at) => {
                self.list.remove(at);
            }
            Place::Indexed(slot) => self.index.remove(slot),
        }
    }

    /// Marks a job as refused: it is skipped until [`retry`](Self::retry).
    pub fn refuse(&mut self, place: Place, until: Until) {
        self.any_refused[until as usize] = true;
        match place {
            Place::Listed(at) => self.list[at].refused = Some(until),
            Place::Indexed(slot) => self.index.refuse(slot, until),
        }
    }

    /// Makes refused jobs available again if they were refused until this event.
    pub fn retry(&mut self, until: Until) {
        if !std::mem::take(&mut self.any_refused[until as usize]) {
            return;
        }
        let over = self.list.iter_mut().filter(|waiting| waiting.refused == Some(until));
        over.for_each(|waiting| waiting.refused = None);
        self.index.retry(until);
    }
}

fn earlier<'a>(
    a: Option<(Place, &'a Waiting)>,
    b: Option<(Place, &'a Waiting)>,
) -> Option<(Place, &'a Waiting)> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if a.1.rank < b.1.rank { a } else { b }),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests;
