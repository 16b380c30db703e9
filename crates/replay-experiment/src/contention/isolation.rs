//! For each job of a trace, chooses the number of packets such that the job, if it runs alone, takes as long as its run
//! time in the trace.
//!
//! The quota of a job is its number of packets, and the target is its run time in cycles. The time that a job takes
//! alone increases with its quota. [`isolate`] searches for the quota whose time is nearest to the target. For each
//! quota, [`isolate`] simulates the job alone in the most compact box, in the orientation in which the job is fastest.
//! The quota is doubled until the time exceeds the target. Then the bracket between the last two quotas is narrowed
//! until a time is within [`TOLERANCE`] of the target, or until no quota remains inside the bracket.
//!
//! Each additional packet can increase the time by the duration of a packet or of a whole step of the pattern. The
//! *granularity* of the pattern is the amount by which one more packet can increase the time. The granularity matters
//! for jobs with few packets: such a job may miss its target by more than the tolerance, but no other quota is nearer.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::alone::Alone;
use super::compact::{PlacementKey, compact, scaled};
use super::input::{ContentionInput, TraceError};
use super::packets;
use replay_engine::workload::Job;

/// Largest accepted difference between the time that a job takes alone and its target, as a share of the target.
pub const TOLERANCE: f64 = 0.01;

/// Jobs with times in cycles, the quotas of the jobs, and the time that each job takes if it runs alone.
#[derive(Clone, Debug)]
pub struct Isolation {
    /// The jobs with times in cycles. The run time of each job is its target, which is at least 1.
    pub jobs: Vec<Job>,
    /// Number of packets of each job; 0 for a job without receivers. A job without receivers holds its processors for
    /// its run time.
    pub quotas: Arc<[u64]>,
    /// Number of cycles that each job takes if it runs alone.
    pub service: Vec<u64>,
    /// Number of times that each job sends its packets. The number exceeds 1 if only a
    /// [window](super::Messages::window) of the job is simulated; the quota is then the number of packets in the
    /// window.
    times: Vec<f64>,
}

impl Isolation {
    /// Returns the number of times that a job sends its packets.
    pub fn times(&self, job: usize) -> f64 {
        self.times[job]
    }

    /// Returns the number of jobs that send packets.
    pub fn sending(&self) -> usize {
        self.quotas.iter().filter(|&&quota| quota > 0).count()
    }

    /// Returns the number of jobs that miss their target by more than [`TOLERANCE`].
    pub fn off_target(&self) -> usize {
        let times = self.jobs.iter().zip(&self.service);
        times.filter(|(job, service)| !is_near(**service, job.run as u64)).count()
    }
}

/// Returns whether the time that a job takes alone is within the tolerance of its target; both times are in cycles.
pub fn is_near(time: u64, target: u64) -> bool {
    time.abs_diff(target) as f64 <= TOLERANCE * target as f64
}

/// Properties of a job that determine its quota.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct QuotaKey {
    target: u64,
    place: PlacementKey,
    /// Index of the job if its pattern is random; `None` if equal jobs have equal quotas.
    job: Option<usize>,
}

/// Converts the jobs of a trace to jobs that send messages, with `scale` cycles per second. `seed` determines the
/// random choices that jobs make. Jobs are measured in parallel on the current rayon pool. The quota of a job does not
/// depend on other jobs.
///
/// # Errors
/// [`TraceError`] if the machine has no network, the times exceed [`LONGEST`](super::LONGEST), or the number of
/// packets exceeds [`MOST_SENT`](super::MOST_SENT).
pub fn isolate(input: ContentionInput<'_>, scale: f64, seed: u64) -> Result<Isolation, TraceError> {
    let ContentionInput { messages, watch, .. } = input;
    let jobs = scaled(input.jobs, scale)?;
    let draws = messages.program.draws();
    let key = |i: usize| QuotaKey {
        target: messages.simulated_cycles(jobs[i].run as u64),
        place: PlacementKey { size: jobs[i].size, shape: jobs[i].shape },
        job: draws.then_some(i),
    };
    let mut keys: BTreeMap<QuotaKey, u64> = BTreeMap::new();
    (0..jobs.len()).for_each(|i| *keys.entry(key(i)).or_default() += 1);
    let alone = Alone::new(input, seed)?;
    packets::check(input, &alone, &jobs, scale)?;
    let keys: Vec<(QuotaKey, u64)> = keys.into_iter().collect();
    let found = keys.into_par_iter().with_max_len(1).map(|(key, jobs)| {
        let found = quota(input, &alone, key)?;
        watch.watch.jobs_done(jobs);
        Ok((key, found))
    });
    let found: BTreeMap<QuotaKey, (u64, u64)> = found.collect::<Result<_, TraceError>>()?;
    let (quotas, simulated): (Vec<u64>, Vec<u64>) = (0..jobs.len()).map(|i| found[&key(i)]).unzip();
    let times: Vec<f64> =
        (0..jobs.len()).map(|i| jobs[i].run as f64 / key(i).target as f64).collect();
    let whole = |(&cycles, times): (&u64, &f64)| (cycles as f64 * times).round() as u64;
    let service = simulated.iter().zip(&times).map(whole).collect();
    Ok(Isolation { quotas: quotas.into(), service, times, jobs })
}

/// Returns the quota of a job, and the number of cycles that the job takes with this quota if it runs alone.
fn quota(
    input: ContentionInput<'_>,
    alone: &Alone<'_>,
    key: QuotaKey,
) -> Result<(u64, u64), TraceError> {
    if input.messages.program.iteration(key.place.size) == 0 {
        return Ok((0, key.target));
    }
    let places = compact(input.topology, key.place);
    nearest(key.target, |packets| {
        let mut fastest = u64::MAX;
        for nodes in &places {
            fastest = fastest.min(alone.time(nodes, key.job.unwrap_or(0) as u64, packets)?);
        }
        Ok(fastest)
    })
}

/// Returns the quota whose time is nearest to the target, and this time. `time` must increase with the quota. The
/// number of calls of `time` is bounded, because every third call halves the bracket.
fn nearest<E>(target: u64, mut time: impl FnMut(u64) -> Result<u64, E>) -> Result<(u64, u64), E> {
    // The first quotas are powers of two, so jobs with equal placements have their first measurements in common.
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
        // Without bisection, interpolation converges slowly if the time is a step function.
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
