//! The set of jobs over which runs are compared with their log.
//!
//! A run that repeats a log lacks some jobs: jobs without a recorded start, and jobs for which too few processors are
//! free at their recorded start. If the run also repeats placements, jobs without a recorded placement are excluded
//! from its distance metrics. All other runs schedule all jobs. All runs, including the runs that repeat the log, are
//! measured a second time without the missing jobs, so that the runs are compared over the same set of jobs.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::Trace;
use super::placements::Placements;
use replay_engine::cancel::CancelToken;
use replay_engine::metrics::by_size::by_size_of;
use replay_engine::metrics::measure::Finished;
use replay_engine::metrics::schedule::Installed;
use replay_engine::metrics::{RunMetrics, ScheduleMetrics, SizeRow};
use replay_engine::simulation::{Timeline, TimelineError};
use replay_engine::workload::Job;

/// Number of jobs excluded from a comparison with the log, by reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LeftOut {
    /// Jobs without a recorded start.
    #[serde(default)]
    pub no_wait: u64,
    /// Jobs for which too few processors are free at their recorded start.
    pub full: u64,
    /// Jobs without a recorded placement, which are excluded only from distances.
    pub nowhere: u64,
}

/// The jobs of a trace that are part of the run that repeats its log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogJobs {
    /// One flag per job: `true` if the job gets processors in the run that repeats the log.
    pub placed: Vec<bool>,
    /// One flag per job: `true` if the job gets processors in the run that repeats the log, and the positions of these
    /// processors are known.
    pub known: Vec<bool>,
    /// Number of jobs that are excluded, by reason.
    pub left_out: LeftOut,
}

impl LogJobs {
    /// Returns the jobs of a trace that are included in the run that repeats its log. Returns `None` if the run
    /// includes all jobs of the trace, or if no cell of the trace repeats the log.
    ///
    /// # Errors
    /// [`TimelineError`] under the conditions of [`Trace::recorded`].
    pub(super) fn of(trace: &Trace, stop: &CancelToken) -> Result<Option<Self>, TimelineError> {
        if !trace.is_recorded() {
            return Ok(None);
        }
        let places = trace.places();
        let (timeline, _) = match places {
            Some(_) => trace.recorded_in_processors(stop)?,
            None => trace.recorded(stop)?,
        };
        let jobs = &trace.workload.jobs;
        let mut placed = vec![true; jobs.len()];
        for id in timeline.unplaced() {
            placed[id.index()] = false;
        }
        let has_placement = |job| places.is_none_or(|places| places.nodes.of(job).is_some());
        let known: Vec<bool> =
            placed.iter().zip(jobs).map(|(placed, job)| *placed && has_placement(job)).collect();
        let count = |of: &[bool]| of.iter().filter(|is| **is).count() as u64;
        let (with_processors, with_places) = (count(&placed), count(&known));
        let waits = &trace.workload.waits;
        let no_wait = jobs.iter().filter(|job| waits.of(job).is_none()).count() as u64;
        let left_out = LeftOut {
            no_wait,
            full: jobs.len() as u64 - no_wait - with_processors,
            nowhere: with_processors - with_places,
        };
        Ok((left_out != LeftOut::default()).then_some(Self { placed, known, left_out }))
    }

    /// Returns a text that identifies the set of jobs. Equal sets give equal texts.
    pub fn identity(&self) -> String {
        let letter = |(placed, known): (&bool, &bool)| match (placed, known) {
            (_, true) => 'k',
            (true, false) => 'p',
            (false, false) => '-',
        };
        self.placed.iter().zip(&self.known).map(letter).collect()
    }
}

/// The metrics of a run, computed only over the [`LogJobs`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OverLogJobs {
    /// Metrics over these jobs.
    pub metrics: RunMetrics,
    /// Means by job size, in ascending order of size.
    pub by_size: Vec<SizeRow>,
    /// Number of jobs that are included in distance metrics.
    pub known: u64,
    /// For each row of `by_size`, the number of jobs that are included in distance metrics.
    pub known_by_size: Vec<u64>,
    /// Number of jobs of the trace that are excluded, by reason.
    pub left_out: LeftOut,
}

impl OverLogJobs {
    /// Computes the metrics of a run after all jobs of its timeline have been placed. Returns `None` if the run that
    /// repeats the log includes all jobs of the trace.
    pub(super) fn of(
        placements: &Placements<'_>,
        jobs: &[Job],
        timeline: &Timeline,
        installed: impl Into<Installed>,
    ) -> Option<Self> {
        let (log, measures) = placements.over_log()?;
        // If a run repeats the log but assigns whole points, jobs that have processors in the log may have no
        // processors in the run.
        let mut has = log.placed.clone();
        timeline.unplaced().iter().for_each(|id| has[id.index()] = false);
        let chosen: Vec<usize> = (0..jobs.len()).filter(|&index| has[index]).collect();
        let own: Vec<Job> = chosen.iter().map(|&index| jobs[index]).collect();
        let starts: Vec<i64> = chosen.iter().map(|&index| timeline.starts()[index]).collect();
        let sum = |&index: &usize| log.known[index].then(|| placements.pairwise[index]);
        let pairwise: Vec<Option<u64>> = chosen.iter().map(sum).collect();
        let (mut known, mut of_size) = (0, HashMap::<u32, u64>::new());
        for (job, _) in own.iter().zip(&pairwise).filter(|(_, sum)| sum.is_some()) {
            known += 1;
            *of_size.entry(job.size).or_default() += 1;
        }
        let by_size = by_size_of(&own, &starts, pairwise);
        let schedule = ScheduleMetrics::new(&own, &starts, installed);
        let known_of = |row: &SizeRow| of_size.get(&row.size).copied().unwrap_or(0);
        Some(Self {
            metrics: measures.finish(&Finished { schedule: Some(&schedule), coupled: None }),
            known_by_size: by_size.iter().map(known_of).collect(),
            by_size,
            known,
            left_out: log.left_out,
        })
    }
}
