//! Busy processors and waiting jobs over time.

use std::ops::Deref;
use std::sync::OnceLock;

use crate::workload::Job;

/// Numbers of busy processors and waiting jobs as step functions of time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Series {
    /// Times in trace seconds, ascending and distinct.
    pub times: Vec<i64>,
    /// Number of busy processors between each time and the next time.
    pub busy: Vec<u32>,
    /// Number of jobs that were submitted but have not started, between each time and the next
    /// time.
    pub waiting: Vec<u32>,
}

impl Series {
    /// Computes the series of `jobs` with the start times `starts`.
    pub fn new(jobs: &[Job], starts: &[i64]) -> Self {
        Self::of(&spans(jobs, starts))
    }

    fn of(spans: &[Span]) -> Self {
        // (time, change of busy processors, change of waiting jobs)
        let mut changes: Vec<(i64, i64, i64)> = Vec::with_capacity(3 * spans.len());
        for &Span { submit, start, end, size } in spans {
            let size = i64::from(size);
            changes.push((submit, 0, 1));
            changes.push((start, size, -1));
            changes.push((end, -size, 0));
        }
        changes.sort_unstable();
        let mut series = Self::default();
        let (mut busy, mut waiting) = (0, 0);
        for events in changes.chunk_by(|a, b| a.0 == b.0) {
            busy += events.iter().map(|change| change.1).sum::<i64>();
            waiting += events.iter().map(|change| change.2).sum::<i64>();
            series.times.push(events[0].0);
            series.busy.push(busy as u32);
            series.waiting.push(waiting as u32);
        }
        series
    }

    /// Returns time-weighted means over `buckets` equal spans: (start of the span in trace seconds,
    /// mean busy processors, mean waiting jobs).
    pub fn buckets(&self, buckets: usize) -> Vec<(f64, f64, f64)> {
        let (Some(&begin), Some(&end)) = (self.times.first(), self.times.last()) else {
            return Vec::new();
        };
        if end == begin || buckets == 0 {
            return Vec::new();
        }
        let width = (end - begin) as f64 / buckets as f64;
        let mut sums = vec![(0.0, 0.0); buckets];
        for i in 0..self.times.len() - 1 {
            let (mut from, to) =
                ((self.times[i] - begin) as f64, (self.times[i + 1] - begin) as f64);
            let mut bucket = ((from / width) as usize).min(buckets - 1);
            while from < to {
                let edge =
                    if bucket + 1 == buckets { to } else { ((bucket + 1) as f64 * width).min(to) };
                sums[bucket].0 += (edge - from) * f64::from(self.busy[i]);
                sums[bucket].1 += (edge - from) * f64::from(self.waiting[i]);
                from = edge;
                bucket = (bucket + 1).min(buckets - 1);
            }
        }
        (0..buckets)
            .map(|b| (begin as f64 + b as f64 * width, sums[b].0 / width, sums[b].1 / width))
            .collect()
    }
}

/// The times and the size of a job.
#[derive(Clone, Copy, Debug)]
struct Span {
    submit: i64,
    start: i64,
    end: i64,
    size: u32,
}

fn spans(jobs: &[Job], starts: &[i64]) -> Vec<Span> {
    let span = |(job, &start): (&Job, &i64)| {
        let &Job { submit, run, size, .. } = job;
        Span { submit, start, end: start + run, size }
    };
    jobs.iter().zip(starts).map(span).collect()
}

/// A [`Series`] that is computed when it is read for the first time. Most runs do not read it.
#[derive(Clone, Debug, Default)]
pub struct DeferredSeries {
    spans: Vec<Span>,
    computed: OnceLock<Series>,
}

impl DeferredSeries {
    /// Keeps the times and sizes of `jobs` with the start times `starts`.
    pub fn new(jobs: &[Job], starts: &[i64]) -> Self {
        Self { spans: spans(jobs, starts), computed: OnceLock::new() }
    }
}

impl Deref for DeferredSeries {
    type Target = Series;

    fn deref(&self) -> &Series {
        self.computed.get_or_init(|| Series::of(&self.spans))
    }
}

impl PartialEq for DeferredSeries {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for DeferredSeries {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Job;

    #[test]
    fn steps_and_buckets_of_two_jobs() {
        let series = Series::new(&[Job::exact(0, 10, 4), Job::exact(5, 10, 2)], &[0, 10]);
        assert_eq!(series.times, [0, 5, 10, 20]);
        assert_eq!(series.busy, [4, 4, 2, 0]);
        assert_eq!(series.waiting, [0, 1, 0, 0]);
        assert_eq!(series.buckets(2), [(0.0, 4.0, 0.5), (10.0, 2.0, 0.0)]);
    }
}
