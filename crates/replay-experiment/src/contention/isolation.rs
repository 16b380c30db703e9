//! How many packets a job of a trace gets: as many as keep it busy for its run time alone.
//!
//! The time that a job takes alone grows with its quota, one packet or one step of its
//! pattern at a time. [`isolate`] looks for the quota whose time comes nearest to the target,
//! which is the run time in cycles, by real simulations of the job alone in the most compact box
//! that holds it, turned the way in which it is fastest: the quota is doubled
//! until the time passes the target, then the bracket is narrowed until a time is within
//! [`TOLERANCE`] of the target or no quota is left between its ends. So a job misses its
//! target by more than that only if no quota does better: a single packet, or the step that
//! one packet more begins, is longer. That is the *granularity* of a pattern, and matters
//! where targets are of few packets.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::alone::Alone;
use super::compact::{Place, compact, scaled};
use super::packets;
use super::stage::{Stage, TraceError};
use replay_core::workload::Job;

/// A quota is good enough if the time alone differs from the target by at most this share of
/// it.
pub const TOLERANCE: f64 = 0.01;

/// Jobs in cycles, with quotas, and how long each takes by itself.
#[derive(Clone, Debug)]
pub struct Isolation {
    /// The jobs; times in cycles. The run time is the target, at least 1.
    pub jobs: Vec<Job>,
    /// Packets by job; 0 for a job that has nobody to send to and holds its processors for
    /// its run time.
    pub quotas: Arc<[u64]>,
    /// Cycles by job that it takes in isolation.
    pub service: Vec<u64>,
    /// By job, how many times over its packets are sent: 1, and more where jobs are looked at for a
    /// [window](super::Messages::window) of their time only, whose packets the quota then counts.
    times: Vec<f64>,
}

impl Isolation {
    /// How many times over a job's packets are sent.
    pub fn times(&self, job: usize) -> f64 {
        self.times[job]
    }

    /// How many jobs send packets.
    pub fn sending(&self) -> usize {
        self.quotas.iter().filter(|&&quota| quota > 0).count()
    }

    /// How many of them miss their targets by more than [`TOLERANCE`].
    pub fn off_target(&self) -> usize {
        let times = self.jobs.iter().zip(&self.service);
        times.filter(|(job, service)| !is_near(**service, job.run as u64)).count()
    }
}

/// Whether a time alone is near enough to its target.
pub fn is_near(time: u64, target: u64) -> bool {
    time.abs_diff(target) as f64 <= TOLERANCE * target as f64
}

/// What a job's quota depends on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Wish {
    target: u64,
    place: Place,
    /// Number of the job, if it draws.
    job: Option<usize>,
}

/// Turns the jobs of a trace into jobs of messages, `scale` cycles to a second. What jobs
/// draw depends on `seed`. Jobs are measured in parallel on the current rayon pool; the quota of
/// a job does not depend on others.
///
/// # Errors
/// [`TraceError`] if the machine has no such network, or the times are beyond [`LONGEST`](super::LONGEST), or the
/// packets beyond [`MOST_SENT`](super::MOST_SENT).
pub fn isolate(stage: Stage<'_>, scale: f64, seed: u64) -> Result<Isolation, TraceError> {
    let Stage { messages, watch, .. } = stage;
    let jobs = scaled(stage.jobs, scale)?;
    let draws = messages.program.draws();
    let wish = |i: usize| Wish {
        target: messages.looked_at(jobs[i].run as u64),
        place: Place { size: jobs[i].size, shape: jobs[i].shape },
        job: draws.then_some(i),
    };
    let mut wishes: BTreeMap<Wish, u64> = BTreeMap::new();
    (0..jobs.len()).for_each(|i| *wishes.entry(wish(i)).or_default() += 1);
    let alone = Alone::new(stage, seed)?;
    packets::check(stage, &alone, &jobs, scale)?;
    let wishes: Vec<(Wish, u64)> = wishes.into_iter().collect();
    let found = wishes.into_par_iter().with_max_len(1).map(|(wish, jobs)| {
        let found = quota(stage, &alone, wish)?;
        (watch.jobs_done)(jobs);
        Ok((wish, found))
    });
    let found: BTreeMap<Wish, (u64, u64)> = found.collect::<Result<_, TraceError>>()?;
    let (quotas, looked): (Vec<u64>, Vec<u64>) = (0..jobs.len()).map(|i| found[&wish(i)]).unzip();
    let times: Vec<f64> =
        (0..jobs.len()).map(|i| jobs[i].run as f64 / wish(i).target as f64).collect();
    let whole = |(&cycles, times): (&u64, &f64)| (cycles as f64 * times).round() as u64;
    let service = looked.iter().zip(&times).map(whole).collect();
    Ok(Isolation { quotas: quotas.into(), service, times, jobs })
}

/// The quota of a job, and the cycles that it takes.
fn quota(stage: Stage<'_>, alone: &Alone<'_>, wish: Wish) -> Result<(u64, u64), TraceError> {
    if stage.messages.program.iteration(wish.place.size) == 0 {
        return Ok((0, wish.target));
    }
    let places = compact(stage.topology, wish.place);
    nearest(wish.target, |packets| {
        let mut fastest = u64::MAX;
        for nodes in &places {
            fastest = fastest.min(alone.time(nodes, wish.job.unwrap_or(0) as u64, packets)?);
        }
        Ok(fastest)
    })
}

/// The quota whose time comes nearest to the target, with that time, for times that grow with
/// the quota. Bounded: the bracket is halved by every third time that is asked for.
fn nearest<E>(target: u64, mut time: impl FnMut(u64) -> Result<u64, E>) -> Result<(u64, u64), E> {
    // Powers of two, so that the first times serve all jobs of one place.
    let mut quota = 1 << (target / 1024).max(1).ilog2();
    let mut low = (0, 0);
    let mut high = loop {
        let at = (quota, time(quota)?);
        if at.1 > target {
            break at;
        }
        low = at;
        if is_near(at.1, target) {
            return Ok(low);
        }
        quota *= 2;
    };
    for round in 1.. {
        if is_near(high.1, target) {
            return Ok(high);
        }
        let ((fewest, early), (most, late)) = (low, high);
        if most - fewest < 2 {
            break;
        }
        // Where steps make the time a staircase, interpolation alone creeps.
        let share = match round % 3 {
            0 => 0.5,
            _ => (target - early) as f64 / (late - early) as f64,
        };
        let between = fewest + (share * (most - fewest) as f64).round() as u64;
        let quota = between.clamp(fewest + 1, most - 1);
        let at = (quota, time(quota)?);
        if at.1 > target {
            high = at;
        } else if is_near(at.1, target) {
            return Ok(at);
        } else {
            low = at;
        }
    }
    let low_is_nearer = low.0 > 0 && target - low.1 <= high.1 - target;
    Ok(if low_is_nearer { low } else { high })
}

#[cfg(test)]
mod tests;
