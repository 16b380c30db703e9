//! Means of runs of `replay contend`, and which runs go together.

use super::Outcome;
use crate::experiment::RunKey;
use crate::experiment::contention::{JobContention, TraceRun};

/// Means of a run. Stretch, packets and places are means over the jobs that send packets, so
/// that they go together; waits and turnarounds are over all jobs. `None` if there are no such
/// jobs.
pub struct Means {
    /// Time among the others over time alone.
    pub stretch: Option<f64>,
    /// Mean over jobs of the mean latency of their packets, cycles.
    pub latency: Option<f64>,
    /// Mean over jobs of the mean wait of their headers, cycles.
    pub blocked: Option<f64>,
    /// Mean over jobs of the mean links of their paths.
    pub hops: Option<f64>,
    /// Mean hop distance over the pairs of a job's processors.
    pub distance: Option<f64>,
    /// Sum of the hop distances over these pairs.
    pub pairwise_l1: Option<f64>,
    /// Share of its bounding box that is not the job's.
    pub dispersal: Option<f64>,
    /// From arrival to start, cycles, over all jobs.
    pub wait: Option<f64>,
    /// From arrival to end, cycles, over all jobs.
    pub turnaround: Option<f64>,
}

/// Mean over the jobs that have it.
fn mean(run: &TraceRun, of: impl Fn(&JobContention) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = run.jobs.iter().filter_map(of).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

impl Means {
    /// Those of a run.
    pub fn of(run: &TraceRun) -> Self {
        let sending = |value: fn(&JobContention) -> f64| {
            mean(run, move |job| (job.packets > 0).then(|| value(job)))
        };
        Self {
            stretch: mean(run, JobContention::stretch),
            latency: sending(|job| job.latency),
            blocked: sending(|job| job.blocked),
            hops: sending(|job| job.hops),
            distance: sending(JobContention::mean_distance),
            pairwise_l1: sending(|job| job.placement.pairwise_l1 as f64),
            dispersal: sending(|job| job.placement.dispersal),
            wait: mean(run, |job| Some(job.wait as f64)),
            turnaround: mean(run, |job| Some((job.wait + job.service) as f64)),
        }
    }
}

/// Outcomes by trace, machine, scheduler and seed, in order of first appearance.
pub fn settings(outcomes: &[Outcome]) -> Vec<Vec<&Outcome>> {
    let same = |a: &RunKey, b: &RunKey| {
        (&a.trace, &a.topology, &a.scheduler, a.seed)
            == (&b.trace, &b.topology, &b.scheduler, b.seed)
    };
    let mut groups: Vec<Vec<&Outcome>> = Vec::new();
    for outcome in outcomes {
        match groups.iter_mut().find(|group| same(&group[0].key, &outcome.key)) {
            Some(group) => group.push(outcome),
            None => groups.push(vec![outcome]),
        }
    }
    groups
}

/// Whether runs of one trace have several machines, and whether there are several seeds.
pub fn varied<'a>(keys: impl Iterator<Item = &'a RunKey> + Clone) -> (bool, bool) {
    let Some(first) = keys.clone().next() else { return (false, false) };
    let machines = keys.clone().any(|key| {
        keys.clone().any(|other| other.trace == key.trace && other.topology != key.topology)
    });
    (machines, keys.clone().any(|key| key.seed != first.seed))
}
