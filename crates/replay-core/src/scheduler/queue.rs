//! Waiting jobs in queue order, and the first of them that may start.

mod corners;
mod index;

use super::{QueueOrder, QueuedJob, Rejection};
use index::Index;

/// A waiting job at its place in the queue.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// The job.
    pub job: QueuedJob,
    /// Its rank in the order, and among equals.
    rank: (i128, u64),
    /// Until when it is passed over, if it was refused.
    pub refused: Option<Until>,
}

/// Until when a refused job is passed over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Until {
    /// Others may start meanwhile, but nobody has left.
    Completion,
    /// Nobody starts.
    Change,
    /// Nobody starts, and no time passes.
    Instant,
}

impl Until {
    /// Until when a rejected job is passed over.
    pub fn of(rejection: Rejection) -> Self {
        match rejection {
            Rejection::Refused { lasts: true } => Until::Completion,
            Rejection::Refused { lasts: false } | Rejection::TakesReserved { lasts: true } => {
                Until::Change
            }
            Rejection::TakesReserved { lasts: false } => Until::Instant,
        }
    }
}

/// Bounds of the jobs that are looked for.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Most processors asked for, of any job.
    pub size: u32,
    /// Longest estimate.
    pub estimate: i64,
    /// Most processors taken of jobs with a longer estimate.
    pub beside: u32,
}

impl Bounds {
    fn admit(&self, waiting: &Waiting) -> bool {
        let job = &waiting.job;
        let within = job.estimate <= self.estimate || job.takes <= self.beside;
        job.size <= self.size && within && waiting.refused.is_none()
    }
}

/// Where a job stands; good until the queue changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// In the list.
    Listed(usize),
    /// In the index.
    Indexed(usize),
}

/// Waiting jobs in queue order.
///
/// A short list, which is searched through, holds a short queue or the latest arrivals of a
/// long one; the others stand in an [`Index`]. So a short queue costs what a list costs, and
/// in a long one an arrival, a departure and a search cost O(log n), where the sizes and
/// estimates of the jobs allow it to be told where nobody fits.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    order: QueueOrder,
    list: Vec<Waiting>,
    index: Index,
    /// By [`Until`].
    any_refused: [bool; 3],
}

/// Longest list.
const LIST: usize = 128;

impl Queue {
    /// An empty queue.
    pub fn new(order: QueueOrder) -> Self {
        Self { order, ..Self::default() }
    }

    /// Number of jobs.
    pub fn len(&self) -> usize {
        self.list.len() + self.index.len()
    }

    /// A job arrives.
    pub fn arrive(&mut self, job: QueuedJob) {
        let rank = (self.order.rank(&job), job.turn);
        let at = self.list.partition_point(|other| other.rank < rank);
        self.list.insert(at, Waiting { job, rank, refused: None });
        // Indexing anew costs as much as the index is long.
        if self.list.len() > LIST + 2 * self.index.len().isqrt() {
            self.index.absorb(&mut self.list);
        }
    }

    /// The first job.
    pub fn head(&self) -> Option<(Place, &Waiting)> {
        let listed = self.list.first().map(|waiting| (Place::Listed(0), waiting));
        let indexed = self.index.head().map(|(slot, waiting)| (Place::Indexed(slot), waiting));
        earlier(listed, indexed)
    }

    /// The first job within bounds that is not passed over.
    pub fn first(&self, bounds: &Bounds) -> Option<(Place, &Waiting)> {
        let at = self.list.iter().position(|waiting| bounds.admit(waiting));
        let listed = at.map(|at| (Place::Listed(at), &self.list[at]));
        let indexed = self.index.first(bounds);
        earlier(listed, indexed.map(|(slot, waiting)| (Place::Indexed(slot), waiting)))
    }

    /// The first job, in queue order, of those that are not passed over, that `admits`: a look at every
    /// one.
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

    /// The job leaves.
    pub fn remove(&mut self, place: Place) {
        match place {
            Place::Listed(at) => {
                self.list.remove(at);
            }
            Place::Indexed(slot) => self.index.remove(slot),
        }
    }

    /// The job was refused: it is passed over until [`retry`](Self::retry).
    pub fn refuse(&mut self, place: Place, until: Until) {
        self.any_refused[until as usize] = true;
        match place {
            Place::Listed(at) => self.list[at].refused = Some(until),
            Place::Indexed(slot) => self.index.refuse(slot, until),
        }
    }

    /// Who is passed over until then may be tried again.
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
