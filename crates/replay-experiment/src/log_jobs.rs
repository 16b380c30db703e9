//! The jobs over which runs are set against their log.
//!
//! A run that repeats a log lacks jobs: those of which the log does not tell when they started, those for which
//! too few processors are free when it starts them, and, where it repeats placements too, the distances of those of
//! which nothing tells where they ran. A run beside it has them all, and schedules them all. Both are measured once more without them, so that a comparison is over one set of
//! jobs.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::Trace;
use super::placements::Placements;
use replay_core::cancel::CancelToken;
use replay_core::metrics::by_size::by_size_of;
use replay_core::metrics::run::Installed;
use replay_core::metrics::{RunMetrics, ScheduleMetrics, SizeRow};
use replay_core::simulation::{Timeline, TimelineError};
use replay_core::workload::Job;

/// Jobs that a comparison with the log is not over, by why.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LeftOut {
    /// The log does not tell when they started.
    #[serde(default)]
    pub no_wait: u64,
    /// Too few processors are free when the log starts them.
    pub full: u64,
    /// Nothing tells where they ran. They are left out of distances alone.
    pub nowhere: u64,
}

/// The jobs of a trace that the run has which repeats its log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogJobs {
    /// By job, whether it has processors there.
    pub placed: Vec<bool>,
    /// By job, whether it has, and somebody knows which.
    pub known: Vec<bool>,
    /// The others.
    pub left_out: LeftOut,
}

impl LogJobs {
    /// Those of a trace of which cells repeat the log; `None` if they are all its jobs, or no cell does.
    ///
    /// # Errors
    /// As [`Trace::recorded`].
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
        let tells = |job| places.is_none_or(|places| places.nodes.of(job).is_some());
        let known: Vec<bool> =
            placed.iter().zip(jobs).map(|(placed, job)| *placed && tells(job)).collect();
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

    /// What tells these jobs from others, as text.
    pub fn identity(&self) -> String {
        let letter = |(placed, known): (&bool, &bool)| match (placed, known) {
            (_, true) => 'k',
            (true, false) => 'p',
            (false, false) => '-',
        };
        self.placed.iter().zip(&self.known).map(letter).collect()
    }
}

/// What a run comes to over such jobs alone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OverLogJobs {
    /// Its metrics.
    pub metrics: RunMetrics,
    /// Means by job size, ascending.
    pub by_size: Vec<SizeRow>,
    /// Jobs that distances are over.
    pub known: u64,
    /// The same by job size.
    pub known_by_size: Vec<u64>,
    /// The jobs of the trace that are not among them.
    pub left_out: LeftOut,
}

impl OverLogJobs {
    /// Of a run on a timeline, once all its jobs are placed; `None` if the log lacks no job.
    pub(super) fn of(
        placements: &Placements<'_>,
        jobs: &[Job],
        timeline: &Timeline,
        installed: impl Into<Installed>,
    ) -> Option<Self> {
        let (log, ties, means) = placements.over_log()?;
        // Of these, a run that repeats the log in whole points may lack some.
        let mut has = log.placed.clone();
        timeline.unplaced().iter().for_each(|id| has[id.index()] = false);
        let chosen: Vec<usize> = (0..jobs.len()).filter(|&index| has[index]).collect();
        let own: Vec<Job> = chosen.iter().map(|&index| jobs[index]).collect();
        let starts: Vec<i64> = chosen.iter().map(|&index| timeline.starts()[index]).collect();
        let sum = |&index: &usize| log.known[index].then(|| placements.pairwise[index]);
        let pairwise: Vec<Option<u64>> = chosen.iter().map(sum).collect();
        let (mut total, mut known, mut of_size) = (0, 0, HashMap::<u32, u64>::new());
        for (job, sum) in own.iter().zip(&pairwise) {
            let Some(sum) = sum else { continue };
            total += sum;
            known += 1;
            *of_size.entry(job.size).or_default() += 1;
        }
        let by_size = by_size_of(&own, &starts, pairwise);
        let schedule = ScheduleMetrics::new(&own, &starts, installed);
        let ties = (ties.decisions > 0).then_some(ties);
        let metrics = RunMetrics::new(&schedule, total, means, ties, None);
        let known_of = |row: &SizeRow| of_size.get(&row.size).copied().unwrap_or(0);
        Some(Self {
            metrics: RunMetrics { mean_pairwise_l1: total as f64 / known.max(1) as f64, ..metrics },
            known_by_size: by_size.iter().map(known_of).collect(),
            by_size,
            known,
            left_out: log.left_out,
        })
    }
}
