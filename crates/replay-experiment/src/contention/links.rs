//! Jobs that slow each other down by the loads of the links that they share.
//!
//! The [network](replay_network::links) of a coupled simulation: a job is looked at alone where it
//! starts, and goes on at a rate that changes when others start or end.

use std::error::Error;

use super::alone::Alone;
use super::footprint::footprint;
use super::{Isolation, Totals, TraceError, processes, say};
use replay_core::simulation::{RunTimes, Service};
use replay_core::topology::NodeId;
use replay_core::workload::{Job, JobId};
use replay_network::links::{LinkLoads, Slot};
use replay_network::traffic::JobTraffic;

/// Link loads as a service. A unit of the simulation's time is a cycle.
pub(super) struct LinkService<'a> {
    alone: Alone<'a>,
    isolation: &'a Isolation,
    loads: LinkLoads,
    /// Whether somebody has started or ended since slowdowns were settled.
    stale: bool,
    running: Vec<Running>,
    now: i64,
    /// Jobs that send nothing.
    holding: RunTimes,
    refused: Option<TraceError>,
    totals: Totals,
    /// By job, what its packets came to, and its cycles alone where it was.
    by_job: Vec<(JobTraffic, u64)>,
    /// By channel, cycles for which it was reserved.
    reserved: Vec<f64>,
}

/// A job on its way.
#[derive(Debug)]
struct Running {
    id: JobId,
    slot: Slot,
    begin: i64,
    /// Cycles that it takes alone, and what is left of them.
    alone: u64,
    left: f64,
    /// What it was looked at for.
    looked: JobTraffic,
}

impl Running {
    /// The cycle in which it ends if nobody starts or ends before.
    fn end(&self, now: i64, slowdown: f64) -> i64 {
        // A cycle that is over but for the error of adding up is over.
        now + ((self.left * slowdown - 1e-6).ceil() as i64).max(0)
    }
}

impl<'a> LinkService<'a> {
    /// The network with nobody on it.
    pub fn new(alone: Alone<'a>, isolation: &'a Isolation) -> Self {
        let channels = alone.network().channels();
        Self {
            isolation,
            loads: LinkLoads::new(channels),
            stale: false,
            running: Vec::new(),
            now: 0,
            holding: RunTimes::default(),
            refused: None,
            totals: Totals::default(),
            by_job: vec![Default::default(); isolation.jobs.len()],
            reserved: vec![0.0; channels],
            alone,
        }
    }

    /// What every job's packets came to, with the cycles that it takes alone where it was.
    pub fn by_job(&self) -> &[(JobTraffic, u64)] {
        &self.by_job
    }

    /// By channel, the cycles for which it was reserved.
    pub fn reserved(&self) -> &[f64] {
        &self.reserved
    }

    fn begin(&mut self, id: JobId, nodes: &[NodeId], now: i64) -> Result<(), TraceError> {
        let packets = self.isolation.quotas[id.index()];
        let times = self.isolation.times(id.index());
        let (looked, footprint) = footprint(&self.alone, nodes, u64::from(id.0), packets, times)?;
        let alone = (((looked.end - looked.begin) as f64 * times).round() as u64).max(1);
        let slot = self.loads.start(footprint);
        self.stale = true;
        self.running.push(Running { id, slot, begin: now, alone, left: alone as f64, looked });
        Ok(())
    }

    /// All go on to an instant.
    fn pass(&mut self, to: i64) {
        let passed = (to - self.now) as f64;
        if passed > 0.0 {
            for job in &mut self.running {
                job.left -= passed / self.loads.slowdown(job.slot);
            }
        }
        self.now = to;
    }

    /// Takes leave of a job that is done: it took `service` cycles.
    fn done(&mut self, job: &Running) {
        let Running { id, slot, alone, looked, .. } = *job;
        let (times, service) = (self.isolation.times(id.index()), (self.now - job.begin) as f64);
        let footprint = self.loads.end(slot);
        for link in footprint.iter().flat_map(|footprint| &footprint.links) {
            self.reserved[link.link.index()] += link.share * alone as f64;
        }
        // What the job took longer its packets took longer: they waited for other jobs' packets.
        let slowdown = service / alone as f64;
        let whole = |sum: f64| (sum * times).round() as u64;
        let latency = looked.latency as f64;
        let traffic = JobTraffic {
            job: u64::from(id.0),
            packets: whole(looked.packets as f64).max(1),
            latency: whole(latency * slowdown),
            blocked: whole(looked.blocked as f64 + latency * (slowdown - 1.0)),
            hops: whole(looked.hops as f64),
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
        let begun = self.begin(id, processes(job, nodes), now);
        self.refused = self.refused.take().or(begun.err());
    }

    fn advance(
        &mut self,
        until: i64,
        completed: &mut Vec<JobId>,
    ) -> Result<Option<i64>, Box<dyn Error + Send + Sync>> {
        say(&mut self.refused)?;
        if std::mem::take(&mut self.stale) {
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
        let (over, on): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.running).into_iter().partition(|job| ending(job, now));
        self.running = on;
        self.pass(end);
        self.holding.advance(end, completed)?;
        self.stale |= !over.is_empty();
        for job in &over {
            self.done(job);
            completed.push(job.id);
        }
        Ok(Some(end))
    }
}
