//! Arrivals of jobs. A job with a predecessor arrives after the predecessor has ended.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::workload::{Follows, Job, JobId};

/// The jobs in the order of their arrival times. Jobs with the same arrival time are in the order
/// of their lines in the file.
pub struct Arrivals<'a> {
    jobs: &'a [Job],
    /// Predecessor of each job; empty if no job has a predecessor.
    follows: &'a [Option<Follows>],
    /// The first job that has not arrived, among the jobs without a predecessor.
    next: usize,
    /// Jobs with a predecessor, sorted by predecessor: (predecessor, job).
    followers: Vec<(JobId, JobId)>,
    /// Jobs that have not arrived although their predecessor has ended: arrival time, line, job.
    released: BinaryHeap<Reverse<(i64, u32, JobId)>>,
}

impl<'a> Arrivals<'a> {
    /// Creates the arrivals of `jobs`, which must be in order of submission. `follows` contains the predecessor of each
    /// job, without cycles, or is empty.
    pub fn new(jobs: &'a [Job], follows: &'a [Option<Follows>]) -> Self {
        let edges = follows.iter().zip((0..).map(JobId));
        let mut followers: Vec<_> =
            edges.filter_map(|(follows, id)| follows.map(|follows| (follows.job, id))).collect();
        followers.sort_unstable();
        let mut arrivals = Self { jobs, follows, next: 0, followers, released: BinaryHeap::new() };
        arrivals.skip();
        arrivals
    }

    /// Skips jobs with a predecessor.
    fn skip(&mut self) {
        while matches!(self.follows.get(self.next), Some(Some(_))) {
            self.next += 1;
        }
    }

    /// Returns the time of the next known arrival.
    pub fn next_time(&self) -> Option<i64> {
        let next = self.jobs.get(self.next).map(|job| job.submit);
        let released = self.released.peek().map(|Reverse((time, ..))| *time);
        next.into_iter().chain(released).min()
    }

    /// Returns the next job with a known arrival time: arrival time, line, job.
    fn next(&self) -> Option<(i64, u32, JobId)> {
        let id = JobId(self.next as u32);
        let next = self.jobs.get(self.next).map(|job| (job.submit, job.line, id));
        let released = self.released.peek().map(|&Reverse(key)| key);
        next.into_iter().chain(released).min()
    }

    /// Removes and returns the next job with an arrival time of at most `now`, and its arrival time.
    pub fn arrived(&mut self, now: i64) -> Option<(JobId, i64)> {
        let (time, _, id) = self.next().filter(|key| key.0 <= now)?;
        if id.index() == self.next {
            self.next += 1;
            self.skip();
        } else {
            self.released.pop();
        }
        Some((id, time))
    }

    /// Sets the arrival times of the successors of a job that has ended.
    pub fn completed(&mut self, id: JobId, end: i64) {
        let first = self.followers.partition_point(|&(followed, _)| followed < id);
        for &(_, follower) in self.followers[first..].iter().take_while(|edge| edge.0 == id) {
            if let Some(follows) = self.follows[follower.index()] {
                let line = self.jobs[follower.index()].line;
                self.released.push(Reverse((follows.arrival(end), line, follower)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(line: u32, submit: i64) -> Job {
        Job { line, ..crate::simulation::job(submit, 1, 1) }
    }

    #[test]
    fn arrivals_are_in_order_of_time_then_of_the_file() {
        let jobs = [job(3, 0), job(4, 5), job(1, 7), job(2, 7)];
        let after = |job, earliest, lag| Some(Follows { job: JobId(job), earliest, lag });
        let follows = [None, after(0, 0, 4), None, after(0, 0, 4)];
        let mut arrivals = Arrivals::new(&jobs, &follows);
        assert_eq!(arrivals.arrived(0), Some((JobId(0), 0)));
        assert_eq!(arrivals.next_time(), Some(7));
        arrivals.completed(JobId(0), 3);
        assert_eq!(arrivals.next_time(), Some(7));
        assert_eq!(arrivals.arrived(6), None);
        let order: Vec<_> = std::iter::from_fn(|| arrivals.arrived(7)).collect();
        assert_eq!(order, [(JobId(2), 7), (JobId(3), 7), (JobId(1), 7)]);
        assert_eq!(arrivals.next_time(), None);
    }

    #[test]
    fn without_predecessors_arrivals_are_in_job_order() {
        let jobs = [job(9, 0), job(4, 5), job(7, 5), job(2, 5)];
        let mut arrivals = Arrivals::new(&jobs, &[]);
        let order: Vec<_> =
            std::iter::from_fn(|| arrivals.arrived(9)).map(|(id, _)| id.0).collect();
        assert_eq!(order, [0, 1, 2, 3]);
    }
}
