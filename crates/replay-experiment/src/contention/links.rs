//! Contention of jobs on shared links, computed from link loads.
//!
//! The [link-load model](replay_network::links) is the service of a coupled simulation. When a job starts, it is first
//! simulated alone. After that, the job progresses at a rate that changes whenever other jobs start or end.

use std::error::Error;

use super::alone::Alone;
use super::footprint::footprint;
use super::{Isolation, Totals, TraceError, processes, take_error};
use replay_engine::simulation::{RunTimes, Service};
use replay_engine::topology::NodeId;
use replay_engine::workload::{Job, JobId};
use replay_network::links::{LinkLoads, Slot};
use replay_network::traffic::JobTraffic;

/// The model of link loads as a service of the coupled simulation. One unit of simulation time is a cycle.
pub(super) struct LinkService<'a> {
    alone: Alone<'a>,
    isolation: &'a Isolation,
    loads: LinkLoads,
    /// Whether a job has started or ended after the last computation of the slowdowns.
    is_outdated: bool,
    running: Vec<Running>,
    now: i64,
    /// Jobs that send no packets.
    holding: RunTimes,
    start_error: Option<TraceError>,
    totals: Totals,
    /// For each job, the totals of its packets, and the number of cycles that the job takes if it runs alone on the
    /// same processors.
    by_job: Vec<(JobTraffic, u64)>,
    /// Returns the number of cycles for which each channel was reserved.
    reserved: Vec<f64>,
}

/// A running job.
#[derive(Debug)]
struct Running {
    id: JobId,
    slot: Slot,
    begin: i64,
    /// Number of cycles that the job takes if it runs alone.
    alone: u64,
    /// Cycles of `alone` that remain until the job ends.
    left: f64,
    /// Totals of the job's packets in the simulation of the job alone.
    simulated: JobTraffic,
}

impl Running {
    /// Returns the cycle in which the job ends if no other job starts or ends earlier.
    fn end(&self, now: i64, slowdown: f64) -> i64 {
        // A rounding error must not add a cycle.
        now + ((self.left * slowdown - 1e-6).ceil() as i64).max(0)
    }
}

impl<'a> LinkService<'a> {
    /// The network without jobs.
    pub fn new(alone: Alone<'a>, isolation: &'a Isolation) -> Self {
        let channels = alone.network().channels();
        Self {
            isolation,
            loads: LinkLoads::new(channels),
            is_outdated: false,
            running: Vec::new(),
            now: 0,
            holding: RunTimes::default(),
            start_error: None,
            totals: Totals::default(),
            by_job: vec![Default::default(); isolation.jobs.len()],
            reserved: vec![0.0; channels],
            alone,
        }
    }

    /// Returns, for each job, the totals of its packets, and the number of cycles that the job takes if it runs alone
    /// on the same processors.
    pub fn by_job(&self) -> &[(JobTraffic, u64)] {
        &self.by_job
    }

    /// Number of cycles for which each channel was reserved.
    pub fn reserved(&self) -> &[f64] {
        &self.reserved
    }

    fn begin(&mut self, id: JobId, nodes: &[NodeId], now: i64) -> Result<(), TraceError> {
        let packets = self.isolation.quotas[id.index()];
        let times = self.isolation.times(id.index());
        let (simulated, footprint) =
            footprint(&self.alone, nodes, u64::from(id.0), packets, times)?;
        let alone = (((simulated.end - simulated.begin) as f64 * times).round() as u64).max(1);
        let slot = self.loads.start(footprint);
        self.is_outdated = true;
        self.running.push(Running { id, slot, begin: now, alone, left: alone as f64, simulated });
        Ok(())
    }

    /// Advances all jobs to cycle `to`.
    fn pass(&mut self, to: i64) {
        let passed = (to - self.now) as f64;
        if passed > 0.0 {
            for job in &mut self.running {
                job.left -= passed / self.loads.slowdown(job.slot);
            }
        }
        self.now = to;
    }

    /// Records a job that has ended.
    fn record(&mut self, job: &Running) {
        let Running { id, slot, alone, simulated, .. } = *job;
        let (times, service) = (self.isolation.times(id.index()), (self.now - job.begin) as f64);
        let footprint = self.loads.end(slot);
        for link in footprint.iter().flat_map(|footprint| &footprint.links) {
            self.reserved[link.link.index()] += link.share * alone as f64;
        }
        // The job takes longer because its packets wait for packets of other jobs; the wait is added to their latency.
        let slowdown = service / alone as f64;
        let whole = |sum: f64| (sum * times).round() as u64;
        let latency = simulated.latency as f64;
        let traffic = JobTraffic {
            job: u64::from(id.0),
            packets: whole(simulated.packets as f64).max(1),
            latency: whole(latency * slowdown),
            blocked: whole(simulated.blocked as f64 + latency * (slowdown - 1.0)),
            hops: whole(simulated.hops as f64),
            begin: job.begin as u64,
            end: self.now as u64,
        };
        self.totals.add(&traffic);
        self.by_job[id.index()] = (traffic, alone);
    }
}

impl Service for LinkService<'_> {
    fn takes_folded(&self) -> bool {
        false
    }

    fn start(&mut self, id: JobId, job: &Job, nodes: &[NodeId], now: i64) {
        if self.isolation.quotas[id.index()] == 0 {
            return self.holding.start(id, job, nodes, now);
        }
        self.pass(now);
        let started = self.begin(id, processes(job, nodes), now);
        self.start_error = self.start_error.take().or(started.err());
    }

    fn advance(
        &mut self,
        until: i64,
        completed: &mut Vec<JobId>,
    ) -> Result<Option<i64>, Box<dyn Error + Send + Sync>> {
        take_error(&mut self.start_error)?;
        if std::mem::take(&mut self.is_outdated) {
            self.loads.settle();
        }
        let ends = self.running.iter().map(|job| job.end(self.now, self.loads.slowdown(job.slot)));
        let end = ends.chain(self.holding.next()).min().filter(|&end| end <= until);
        let Some(end) = end else {
            if until < i64::MAX {
                self.pass(until);
            }
            return Ok(None);
        };
        let loads = &self.loads;
        let ending = |job: &Running, now| job.end(now, loads.slowdown(job.slot)) <= end;
        let now = self.now;
        let (finished, remaining): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.running).into_iter().partition(|job| ending(job, now));
        self.running = remaining;
        self.pass(end);
        self.holding.advance(end, completed)?;
        self.is_outdated |= !finished.is_empty();
        for job in &finished {
            self.record(job);
            completed.push(job.id);
        }
        Ok(Some(end))
    }
}
