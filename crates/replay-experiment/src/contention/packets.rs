//! How many packets a simulation sends, estimated before it runs.
//!
//! Every flit is moved, so that the cost of a run grows with its packets: a scale that is too large
//! would keep even the first job busy for years.

use std::collections::BTreeMap;

use super::Messages;
use super::alone::Alone;
use super::compact::{Place, compact, scaled};
use super::stage::{Stage, TraceError};
use replay_core::workload::Job;

/// Most packets of one simulation: about an hour of one thread. `contend` on windows of KTH-SP2 (300
/// to 1,000 jobs, all-to-all and n-body, scales 1 to 10) sends 160,000 to 360,000 packets per second on one
/// thread, jobs alone included: 6e8 to 1.3e9 in an hour.
pub const MOST_SENT: f64 = 1e9;

/// Packets of a job that is simulated for the estimate: a few for each process.
const PER_PROCESS: u64 = 4;
const FEWEST: u64 = 64;
const MOST: u64 = 4096;

/// Packets of one run, estimated before it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EstimatedPackets {
    /// Packets of all jobs.
    pub packets: f64,
    /// Whether the jobs cannot send more; otherwise they send about as many.
    pub is_upper_bound: bool,
}

/// Estimates how many packets the jobs of a trace send in one run, `scale` cycles to a second: an
/// upper bound without any simulation where that is at most [`MOST_SENT`], otherwise an estimate by the
/// rate of a short job of each size and shape alone.
///
/// # Errors
/// [`TraceError`] if the machine has no such network, or the times cannot be counted.
pub fn estimated_packets(
    stage: Stage<'_>,
    scale: f64,
    seed: u64,
) -> Result<EstimatedPackets, TraceError> {
    let jobs = scaled(stage.jobs, scale)?;
    estimate(stage, &Alone::new(stage, seed)?, &jobs)
}

/// Fails where the scaled jobs send more than [`MOST_SENT`].
pub(super) fn check(
    stage: Stage<'_>,
    alone: &Alone<'_>,
    jobs: &[Job],
    scale: f64,
) -> Result<(), TraceError> {
    match estimate(stage, alone, jobs)?.packets {
        packets if packets > MOST_SENT => Err(TraceError::Packets { scale, packets }),
        _ => Ok(()),
    }
}

fn estimate(
    stage: Stage<'_>,
    alone: &Alone<'_>,
    jobs: &[Job],
) -> Result<EstimatedPackets, TraceError> {
    let Stage { messages, topology, .. } = stage;
    // Cycles of the jobs of one place. Those with nobody to send to send nothing.
    let mut cycles: BTreeMap<Place, f64> = BTreeMap::new();
    for job in jobs.iter().filter(|job| messages.program.iteration(job.size) > 0) {
        let place = Place { size: job.size, shape: job.shape };
        *cycles.entry(place).or_default() += messages.looked_at(job.run as u64) as f64;
    }
    // A processor injects a flit in a cycle at most.
    let flits = f64::from(messages.options.flits);
    let bound: f64 =
        cycles.iter().map(|(place, cycles)| cycles * f64::from(place.size) / flits).sum();
    if bound <= MOST_SENT {
        return Ok(EstimatedPackets { packets: bound, is_upper_bound: true });
    }
    let mut packets = 0.0;
    for (&place, cycles) in &cycles {
        let sent = (PER_PROCESS * u64::from(place.size)).clamp(FEWEST, MOST);
        let Some(nodes) = compact(topology, place).into_iter().next() else { continue };
        let time = alone.time(&nodes, 0, sent)?;
        packets += cycles * sent as f64 / time.max(1) as f64;
    }
    Ok(EstimatedPackets { packets, is_upper_bound: false })
}

/// Packets that jobs send whose quotas are drawn: those of a replication of a stream, its jobs in
/// order.
pub fn of_streams(messages: &Messages, jobs: &[Job], seed: u64) -> f64 {
    let quota = |(number, job): (u64, &Job)| match messages.program.iteration(job.size) {
        0 => 0.0,
        _ => messages.quota.draw(seed, number, job.size) as f64,
    };
    (0..).zip(jobs).map(quota).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunContext;
    use crate::contention::isolate;
    use replay_core::cancel::CancelToken;
    use replay_network::traffic::Preset;

    fn jobs(run: i64) -> Vec<Job> {
        let job = |i: i64| Job {
            number: i,
            submit: i,
            run,
            estimate: run,
            size: 2 + 3 * i as u32,
            line: 0,
            shape: None,
            limit: None,
        };
        (0..5).map(job).collect()
    }

    fn staged<T>(jobs: &[Job], window: Option<u64>, act: impl Fn(Stage<'_>) -> T) -> T {
        let topology = "8x8".parse().expect("a machine");
        let pattern = "all-to-all".parse().expect("a pattern");
        let messages = Messages { window, ..Messages::new(Preset::Lo, pattern).expect("no file") };
        let stop = CancelToken::new();
        act(Stage { jobs, topology: &topology, messages: &messages, watch: RunContext::new(&stop) })
    }

    #[test]
    fn packets_are_bounded_before_any_job_is_measured() {
        let error = staged(&jobs(1000), None, |stage| isolate(stage, 1e9, 0).err());
        match error {
            Some(TraceError::Packets { packets, .. }) => assert!(packets > MOST_SENT),
            other => panic!("{other:?}"),
        }
        // Of a window of each job there are few.
        assert!(staged(&jobs(1000), Some(1000), |stage| isolate(stage, 1e9, 0).is_ok()));
    }

    /// Neither bound nor estimate is far from what is sent.
    #[test]
    fn the_estimate_is_of_the_order_of_the_quotas() {
        let (jobs, sent) = (jobs(20_000), |stage: Stage<'_>| {
            let isolation = isolate(stage, 1.0, 0).expect("it runs");
            isolation.quotas.iter().sum::<u64>() as f64
        });
        let sent = staged(&jobs, None, sent);
        let estimate = |scale: f64| {
            staged(&jobs, None, |stage| estimated_packets(stage, scale, 0).expect("one"))
        };
        let EstimatedPackets { packets: bound, is_upper_bound } = estimate(1.0);
        assert!(is_upper_bound && bound >= sent && bound < 20.0 * sent, "{bound} {sent}");
        // A million times the scale, a million times the packets.
        let large = estimate(1e7);
        let ratio = large.packets / 1e7 / sent;
        assert!(!large.is_upper_bound && (0.5..2.0).contains(&ratio), "{ratio}");
    }
}
