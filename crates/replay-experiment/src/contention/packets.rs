//! Estimates the number of packets of a simulation before the simulation runs.
//!
//! The cost of a run grows with the number of packets, because every flit is simulated. If the scale is too large, even
//! the first job would take years.

use std::collections::BTreeMap;

use super::Messages;
use super::alone::Alone;
use super::compact::{PlacementKey, compact, scaled};
use super::input::{ContentionInput, TraceError};
use replay_engine::workload::Job;

/// Largest accepted number of packets of one simulation; the simulation of this number of packets takes about an hour
/// on one thread. On windows of KTH-SP2 (300 to 1,000 jobs, all-to-all and n-body, scales 1 to 10), `contend` simulates
/// 160,000 to 360,000 packets per second on one thread, including the simulations of single jobs. At this rate,
/// `contend` simulates 6e8 to 1.3e9 packets per hour.
pub const MOST_SENT: f64 = 1e9;

/// Number of packets per process in the short simulation from which the packet rate of a job is estimated.
const PER_PROCESS: u64 = 4;
/// Smallest number of packets in the short simulation of a job.
const FEWEST: u64 = 64;
/// Largest number of packets in the short simulation of a job.
const MOST: u64 = 4096;

/// Estimated number of packets of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EstimatedPackets {
    /// Number of packets of all jobs.
    pub packets: f64,
    /// Whether the number is an upper bound instead of an approximation.
    pub is_upper_bound: bool,
}

/// Estimates the number of packets in one run of a trace with `scale` cycles per second. Returns an upper bound, which
/// needs no simulation, if the bound is at most [`MOST_SENT`]. If the bound is larger, a short job of each size and
/// shape is simulated alone, and the estimate is computed from the packet rates.
///
/// # Errors
/// [`TraceError`] if the machine has no network, the times exceed [`LONGEST`](super::LONGEST), the estimate exceeds
/// [`MOST_SENT`], or a simulation fails.
pub fn estimated_packets(
    input: ContentionInput<'_>,
    scale: f64,
    seed: u64,
) -> Result<EstimatedPackets, TraceError> {
    let jobs = scaled(input.jobs, scale)?;
    check(input, &Alone::new(input, seed)?, &jobs, scale)
}

/// Returns the estimate for scaled jobs. Fails if the jobs send more than [`MOST_SENT`] packets.
pub(super) fn check(
    input: ContentionInput<'_>,
    alone: &Alone<'_>,
    jobs: &[Job],
    scale: f64,
) -> Result<EstimatedPackets, TraceError> {
    match estimate(input, alone, jobs)? {
        EstimatedPackets { packets, .. } if packets > MOST_SENT => {
            Err(TraceError::Packets { scale, packets })
        }
        estimate => Ok(estimate),
    }
}

fn estimate(
    input: ContentionInput<'_>,
    alone: &Alone<'_>,
    jobs: &[Job],
) -> Result<EstimatedPackets, TraceError> {
    let ContentionInput { messages, topology, .. } = input;
    // For each placement, the sum of the cycles of its jobs. Jobs without receivers are excluded.
    let mut cycles: BTreeMap<PlacementKey, f64> = BTreeMap::new();
    for job in jobs.iter().filter(|job| messages.program.iteration(job.size) > 0) {
        let place = PlacementKey { size: job.size, shape: job.shape };
        *cycles.entry(place).or_default() += messages.simulated_cycles(job.run as u64) as f64;
    }
    // A processor injects at most one flit per cycle.
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

/// Returns the number of packets of jobs with random quotas, as in a replication of a stream. The job at index i is job
/// number i of the stream.
pub fn stream_packets(messages: &Messages, jobs: &[Job], seed: u64) -> f64 {
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
    use replay_engine::cancel::CancelToken;
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

    fn with_input<T>(
        jobs: &[Job],
        window: Option<u64>,
        act: impl Fn(ContentionInput<'_>) -> T,
    ) -> T {
        let topology = "8x8".parse().expect("a machine");
        let pattern = "all-to-all".parse().expect("a pattern");
        let messages = Messages { window, ..Messages::new(Preset::Lo, pattern).expect("no file") };
        let stop = CancelToken::new();
        act(ContentionInput {
            jobs,
            topology: &topology,
            messages: &messages,
            watch: RunContext::new(&stop),
        })
    }

    #[test]
    fn packets_are_bounded_before_jobs_are_measured() {
        let error = with_input(&jobs(1000), None, |input| isolate(input, 1e9, 0).err());
        match error {
            Some(TraceError::Packets { packets, .. }) => assert!(packets > MOST_SENT),
            other => panic!("{other:?}"),
        }
        for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = with_input(&jobs(1000), None, |input| isolate(input, scale, 0).err());
            assert!(matches!(error, Some(TraceError::Incompatible(_))), "{scale}: {error:?}");
        }
        // If only a window of each job is simulated, there are few packets.
        assert!(with_input(&jobs(1000), Some(1000), |input| isolate(input, 1e9, 0).is_ok()));
    }

    /// The upper bound and the estimate differ from the number of sent packets by a small factor.
    #[test]
    fn estimates_have_the_magnitude_of_the_quotas() {
        let (jobs, sent) = (jobs(20_000), |input: ContentionInput<'_>| {
            let isolation = isolate(input, 1.0, 0).expect("it runs");
            isolation.quotas.iter().sum::<u64>() as f64
        });
        let sent = with_input(&jobs, None, sent);
        let estimate = |scale: f64| {
            with_input(&jobs, None, |input| {
                let jobs = scaled(input.jobs, scale).expect("short jobs");
                let alone = Alone::new(input, 0).expect("a network");
                super::estimate(input, &alone, &jobs).expect("one")
            })
        };
        let EstimatedPackets { packets: bound, is_upper_bound } = estimate(1.0);
        assert!(is_upper_bound && bound >= sent && bound < 20.0 * sent, "{bound} {sent}");
        // If the scale is ten million times larger, the number of packets is ten million times larger.
        let large = estimate(1e7);
        let ratio = large.packets / 1e7 / sent;
        assert!(!large.is_upper_bound && (0.5..2.0).contains(&ratio), "{ratio}");
    }
}
