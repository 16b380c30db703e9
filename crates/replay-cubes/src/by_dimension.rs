//! Queues of jobs by dimension. The dimension of a job is log2 of its number of processors, rounded
//! up. The smallest cube with enough processors for the job has the same dimension.

use std::collections::VecDeque;

use replay_engine::scheduler::QueuedJob;

/// One queue per dimension, each in order of arrival.
#[derive(Clone, Debug, Default)]
pub struct ByDimension {
    queues: Vec<VecDeque<QueuedJob>>,
    waiting: usize,
}

/// Returns the dimension of the smallest cube with at least this many processors.
pub fn dimension(processors: u32) -> usize {
    processors.next_power_of_two().ilog2() as usize
}

impl ByDimension {
    /// Adds a job to its queue in the order of arrival. A new job goes to the end of the queue; a
    /// job that returns after an interruption goes to its earlier position.
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

    /// Returns the head of a queue.
    pub fn head(&self, dimension: usize) -> Option<&QueuedJob> {
        self.queues.get(dimension)?.front()
    }

    /// Removes and returns the head of a queue.
    pub fn pop(&mut self, dimension: usize) -> Option<QueuedJob> {
        let job = self.queues.get_mut(dimension)?.pop_front()?;
        self.waiting -= 1;
        Some(job)
    }

    /// Puts a job back at the front of its queue.
    pub fn put_back(&mut self, job: QueuedJob) {
        self.queues[dimension(job.size)].push_front(job);
        self.waiting += 1;
    }

    /// Returns the number of jobs in a queue.
    pub fn len(&self, dimension: usize) -> usize {
        self.queues.get(dimension).map_or(0, VecDeque::len)
    }

    /// Returns the number of queues. The first queue is for dimension 0.
    pub fn dimensions(&self) -> usize {
        self.queues.len()
    }

    /// Returns the number of jobs in all queues.
    pub fn waiting(&self) -> usize {
        self.waiting
    }
}
