//! Jobs that hold their processors for as long as their messages take.
//!
//! [`Messages`] says what jobs send and on which network, [`Communication`] is that network
//! as the [`Service`] of a coupled simulation. In a stochastic stream every job draws its
//! quota ([`stream`](super::stream)); the jobs of a [trace](run_trace) get quotas by
//! their run times.

mod alone;
mod compact;
mod correlations;
mod footprint;
mod isolation;
mod links;
mod outcome;
mod packets;
pub mod ranking;
mod slices;
mod stage;
mod totals;
mod trace;
mod watcher;

use std::error::Error;
use std::sync::Arc;

use replay_core::cancel::CancelToken;
use replay_core::simulation::{RunTimes, Service};
use replay_core::topology::{NodeId, Topology};
use replay_core::workload::{Job, JobId};
use replay_network::traffic::{
    Demand, JobTraffic, Mapping, Pattern, Preset, Program, Quota, TableError, Traffic,
    TrafficError, TrafficOptions,
};
use replay_network::{PacketError, Settings};

pub use correlations::{Correlations, PAIRS, Pair, Point, settings};
pub use isolation::{Isolation, TOLERANCE, isolate};
use links::LinkService;
pub use outcome::{Contended, ContendedJob, Contention};
pub use packets::{EstimatedPackets, MOST_SENT, estimated_packets, of_streams};
use slices::{SliceError, Slices};
pub use stage::{LONGEST, Stage, TraceError};
pub use totals::{Sums, Totals};
pub use trace::{JobContention, LinkUse, TraceRun, contended_id, link_use, mean_use, run_trace};

/// What jobs send, and the network they send it on.
#[derive(Clone, Debug)]
pub struct Messages {
    /// Timing, buffers and switching.
    pub network: Settings,
    /// Flits of a packet, and which process runs where.
    pub options: TrafficOptions,
    /// Who sends to whom.
    pub program: Arc<Program>,
    /// How much.
    pub quota: Quota,
    /// Cycles for which a job is looked at alone where jobs slow each other down by the
    /// [loads of their links](replay_network::links); `None` where every flit is.
    pub window: Option<u64>,
}

impl Messages {
    /// A pattern as in one of the papers.
    ///
    /// # Errors
    /// [`TableError`] if the pattern names a file that cannot be used.
    pub fn new(preset: Preset, pattern: Pattern) -> Result<Self, TableError> {
        let program = Arc::new(Program::load(pattern)?);
        let quota = preset.quota(&program);
        let options = TrafficOptions { mapping: Mapping::Allocation, ..Default::default() };
        Ok(Self { network: preset.network(), options, program, quota, window: None })
    }

    /// The cycles of a job of so many that are looked at alone.
    fn looked_at(&self, target: u64) -> u64 {
        self.window.map_or(target, |window| window.min(target))
    }

    /// BLAKE3 digest (hexadecimal) of canonical names and of the content of a file that the pattern names.
    pub fn digest(&self) -> String {
        let Self { network, options: TrafficOptions { mapping, flits }, program, quota, window } =
            self;
        let window = window.map_or("none".to_string(), |window| window.to_string());
        let (pattern, content) = (program.pattern(), program.content());
        let text = format!(
            "replay messages 1\n{network}\n{mapping}\n{flits}\n{quota}\n{window}\n{pattern}\n{content}"
        );
        blake3::hash(text.as_bytes()).to_hex().to_string()
    }

    /// The network with nobody on it. Without `quotas` every job draws its own, by `seed`
    /// and its number; one with the quota 0 sends nothing and holds its processors for its
    /// run time.
    ///
    /// # Errors
    /// [`TrafficError`] if the machine has no such network.
    pub fn on(
        &self,
        topology: &Topology,
        seed: u64,
        quotas: Option<Arc<[u64]>>,
    ) -> Result<Communication, TrafficError> {
        let demand = Demand { program: self.program.clone(), quota: self.quota, seed };
        Ok(Communication {
            traffic: Traffic::new(topology, self.network, self.options)?,
            demand,
            quotas,
            ended: Vec::new(),
            totals: Totals::default(),
            by_job: None,
            refused: None,
            holding: RunTimes::default(),
            slices: Slices::new(),
            stop: CancelToken::new(),
        })
    }
}

/// The network as a service: a job is done when all its packets are delivered. A unit of the
/// simulation's time is a cycle.
#[derive(Debug)]
pub struct Communication {
    traffic: Traffic,
    demand: Demand,
    quotas: Option<Arc<[u64]>>,
    ended: Vec<JobTraffic>,
    totals: Totals,
    by_job: Option<Vec<JobTraffic>>,
    refused: Option<PacketError>,
    /// Jobs that send nothing.
    holding: RunTimes,
    slices: Slices,
    stop: CancelToken,
}

impl Communication {
    /// Keeps what every job's packets come to.
    pub fn recording(mut self, jobs: usize) -> Self {
        self.by_job = Some(vec![JobTraffic::default(); jobs]);
        self
    }

    /// Fails as [`Cancelled`](replay_core::cancel::Cancelled) soon after the flag is raised.
    pub fn stopped_by(mut self, stop: CancelToken) -> Self {
        self.stop = stop;
        self
    }

    /// Lets the network run to the next cycle in which jobs end, but not beyond `until`.
    fn exchange(&mut self, until: i64) -> Result<Option<u64>, Box<dyn Error + Send + Sync>> {
        let until = u64::try_from(until).ok().filter(|_| until < i64::MAX);
        let Self { slices, traffic, ended, stop, .. } = self;
        slices.advance(traffic, until, ended, stop).map_err(SliceError::into_inner)
    }

    /// Sums over all jobs that have ended.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// What every job's packets came to; empty unless recorded.
    pub fn by_job(&self) -> &[JobTraffic] {
        self.by_job.as_deref().unwrap_or_default()
    }
}

/// The processors of a job that run a process: not those lost to internal fragmentation.
fn processes<'a>(job: &Job, nodes: &'a [NodeId]) -> &'a [NodeId] {
    &nodes[..job.size as usize]
}

/// Fails with what a start was refused for, which cannot fail itself.
fn say<E>(refused: &mut Option<E>) -> Result<(), Box<dyn Error + Send + Sync>>
where
    E: Error + Send + Sync + 'static,
{
    refused.take().map_or(Ok(()), |error| Err(error.into()))
}

impl Service for Communication {
    /// What fewer processes would send is not modelled.
    fn takes_folded(&self) -> bool {
        false
    }

    fn start(&mut self, id: JobId, job: &Job, nodes: &[NodeId], now: i64) {
        if let Some(quotas) = &self.quotas {
            match quotas[id.index()] {
                0 => return self.holding.start(id, job, nodes, now),
                packets => self.demand.quota = Quota::fixed(packets),
            }
        }
        let started = self.traffic.start(u64::from(id.0), processes(job, nodes), &self.demand);
        self.refused = self.refused.take().or(started.err());
    }

    fn advance(
        &mut self,
        until: i64,
        completed: &mut Vec<JobId>,
    ) -> Result<Option<i64>, Box<dyn Error + Send + Sync>> {
        say(&mut self.refused)?;
        let held = self.holding.next();
        let until = held.map_or(until, |end| end.min(until));
        let cycle = self.exchange(until)?.map(|cycle| cycle as i64);
        let Some(cycle) = cycle.or(held.filter(|&end| end == until)) else { return Ok(None) };
        self.holding.advance(cycle, completed)?;
        for ended in &self.ended {
            self.totals.add(ended);
            if let Some(by_job) = &mut self.by_job {
                by_job[ended.job as usize] = *ended;
            }
            completed.push(JobId(ended.job as u32));
        }
        Ok(Some(cycle))
    }
}
