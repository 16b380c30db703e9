//! Arrivals of jobs. A job with predecessors arrives after all of them have ended.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::workload::{Follows, Job, JobId};

/// The jobs in the order of their arrival times. Jobs with the same arrival time are in the order
/// of their lines in the file.
pub struct Arrivals<'a> {
    jobs: &'a [Job],
    /// Predecessors of each job; empty if no job has a predecessor.
    follows: &'a [Vec<Follows>],
    /// The first job that has not arrived, among the jobs without a predecessor.
    next: usize,
    /// Jobs with a predecessor, sorted by predecessor: (predecessor, job).
    followers: Vec<(JobId, JobId)>,
    /// Number of predecessors of each job that have not ended.
    pending: Vec<usize>,
    /// Latest arrival time of each job by its predecessors that have ended.
    times: Vec<i64>,
    /// Jobs that have not arrived although their predecessors have ended: arrival time, line, job.
    released: BinaryHeap<Reverse<(i64, u32, JobId)>>,
}

impl<'a> Arrivals<'a> {
    /// Creates the arrivals of `jobs`, which must be in order of submission. `follows` contains the predecessors of
    /// each job, without cycles, or is empty.
    pub fn new(jobs: &'a [Job], follows: &'a [Vec<Follows>]) -> Self {
        let edges = follows.iter().zip((0..).map(JobId));
        let mut followers: Vec<_> = edges
            .flat_map(|(follows, id)| follows.iter().map(move |follows| (follows.job, id)))
            .collect();
        followers.sort_unstable();
        let pending = follows.iter().map(Vec::len).collect();
        let times = vec![i64::MIN; follows.len()];
        let released = BinaryHeap::new();
        let mut arrivals = Self { jobs, follows, next: 0, followers, pending, times, released };
        arrivals.skip();
        arrivals
    }

    /// Skips jobs with a predecessor.
    fn skip(&mut self) {
        while self.follows.get(self.next).is_some_and(|follows| !follows.is_empty()) {
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

    /// Sets the arrival times of the successors of a job that has ended, if their other predecessors have ended.
    pub fn completed(&mut self, id: JobId, end: i64) {
        let first = self.followers.partition_point(|&(followed, _)| followed < id);
        for &(_, follower) in self.followers[first..].iter().take_while(|edge| edge.0 == id) {
            let at = follower.index();
            let edges = self.follows[at].iter().filter(|follows| follows.job == id);
            let time = edges.map(|follows| follows.arrival(end)).max().unwrap_or(i64::MIN);
            self.times[at] = self.times[at].max(time);
            self.pending[at] = self.pending[at].saturating_sub(1);
            if self.pending[at] == 0 {
                self.released.push(Reverse((self.times[at], self.jobs[at].line, follower)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(line: u32, submit: i64) -> Job {
        Job { line, ..Job::exact(submit, 1, 1) }
    }

    #[test]
    fn arrivals_are_in_order_of_time_then_of_the_file() {
        let jobs = [job(3, 0), job(4, 5), job(1, 7), job(2, 7)];
        let after = |job, earliest, lag| vec![Follows { job: JobId(job), earliest, lag }];
        let follows = [vec![], after(0, 0, 4), vec![], after(0, 0, 4)];
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
    fn a_job_arrives_after_all_its_predecessors() {
        let jobs = [job(1, 0), job(2, 0), job(3, 0), job(4, 1)];
        let after = |job, lag| Follows { job: JobId(job), earliest: 1, lag };
        let follows = [vec![], vec![], vec![], vec![after(0, 9), after(1, 0), after(2, 0)]];
        let mut arrivals = Arrivals::new(&jobs, &follows);
        assert_eq!(std::iter::from_fn(|| arrivals.arrived(0)).count(), 3);
        // The latest bound is that of the predecessor that ends first.
        arrivals.completed(JobId(0), 5);
        arrivals.completed(JobId(2), 7);
        assert_eq!(arrivals.next_time(), None);
        arrivals.completed(JobId(1), 8);
        assert_eq!(arrivals.arrived(14), Some((JobId(3), 14)));
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
