//! Queues by dimension: of the least cube that holds a job, log2 of its processors rounded up.

use std::collections::VecDeque;

use super::QueuedJob;

/// A queue for each dimension, each in order of arrival.
#[derive(Clone, Debug, Default)]
pub struct ByDimension {
    queues: Vec<VecDeque<QueuedJob>>,
    waiting: usize,
}

/// The dimension of the least cube with so many processors.
pub fn dimension(processors: u32) -> usize {
    processors.next_power_of_two().ilog2() as usize
}

impl ByDimension {
    /// A job joins its queue at its turn: the end, unless it comes back.
    pub fn push(&mut self, job: QueuedJob) {
        let dimension = dimension(job.size);
        if self.queues.len() <= dimension {
            self.queues.resize_with(dimension + 1, VecDeque::new);
        }
        let queue = &mut self.queues[dimension];
        let at = queue.partition_point(|other| other.turn < job.turn);
        queue.insert(at, job);
        self.waiting += 1;
    }

    /// The head of a queue.
    pub fn head(&self, dimension: usize) -> Option<&QueuedJob> {
        self.queues.get(dimension)?.front()
    }

    /// Takes the head of a queue away.
    pub fn pop(&mut self, dimension: usize) -> Option<QueuedJob> {
        let job = self.queues.get_mut(dimension)?.pop_front()?;
        self.waiting -= 1;
        Some(job)
    }

    /// Puts a job back to the front of its queue.
    pub fn put_back(&mut self, job: QueuedJob) {
        self.queues[dimension(job.size)].push_front(job);
        self.waiting += 1;
    }

    /// Jobs in a queue.
    pub fn len(&self, dimension: usize) -> usize {
        self.queues.get(dimension).map_or(0, VecDeque::len)
    }

    /// Number of queues: dimensions from 0.
    pub fn dimensions(&self) -> usize {
        self.queues.len()
    }

    /// Jobs in all queues.
    pub fn waiting(&self) -> usize {
        self.waiting
    }
}
