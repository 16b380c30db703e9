//! Contention between jobs. The run time of each job is determined by its messages.
//!
//! [`Messages`] defines the messages of the jobs and the network. [`Communication`] is the network as the [`Service`]
//! of a coupled simulation. In a stochastic stream, the quota of each job is random ([`stream`](super::stream)). In a
//! [trace](run_trace), the quota of each job is chosen according to its run time.

mod alone;
mod compact;
mod correlations;
mod experiment;
mod footprint;
mod input;
mod isolation;
mod links;
mod message_spec;
mod outcome;
mod packets;
pub mod ranking;
mod slices;
mod totals;
mod trace;

use std::error::Error;
use std::sync::Arc;

use replay_engine::cancel::CancelToken;
use replay_engine::simulation::{RunTimes, Service};
use replay_engine::topology::{NodeId, Topology};
use replay_engine::workload::{Job, JobId};
use replay_network::traffic::{
    Demand, JobTraffic, Mapping, Pattern, Preset, Program, Quota, TableError, Traffic,
    TrafficError, TrafficOptions,
};
use replay_network::{PacketError, Settings};

pub use correlations::{Correlations, PAIRS, Pair, Point, settings};
pub use experiment::{ContentionExperiment, UnmeasuredTrace};
pub use input::{ContentionInput, LONGEST, TraceError, check_scale};
pub use isolation::{Isolation, TOLERANCE, isolate};
use links::LinkService;
pub use message_spec::MessageSpec;
pub use outcome::{Contention, ContentionJobRow, ContentionRun};
pub(crate) use packets::stream_packets;
pub use packets::{EstimatedPackets, MOST_SENT, estimated_packets};
use slices::{SliceError, Slices};
pub use totals::{Sums, Totals};
pub use trace::{JobContention, LinkUse, TraceRun, contended_id, link_use, mean_use, run_trace};

/// Messages of jobs and the network that carries them.
#[derive(Clone, Debug)]
pub struct Messages {
    /// Timing, buffers and switching.
    pub network: Settings,
    /// Flits per packet, and mapping of processes to processors.
    pub options: TrafficOptions,
    /// Communication pattern.
    pub program: Arc<Program>,
    /// Number of messages.
    pub quota: Quota,
    /// Number of cycles for which each job is simulated alone if contention is computed from [link
    /// loads](replay_network::links); `None` if every flit is simulated.
    pub window: Option<u64>,
}

impl Messages {
    /// Creates the messages of a pattern, with the settings of a paper.
    ///
    /// # Errors
    /// [`TableError`] if the pattern names a file that cannot be used.
    pub fn new(preset: Preset, pattern: Pattern) -> Result<Self, TableError> {
        let program = Arc::new(Program::load(pattern)?);
        let quota = preset.quota(&program);
        let options = TrafficOptions { mapping: Mapping::Allocation, ..Default::default() };
        Ok(Self { network: preset.network(), options, program, quota, window: None })
    }

    /// Returns the number of cycles for which a job with a target of `target` cycles is simulated alone.
    fn simulated_cycles(&self, target: u64) -> u64 {
        self.window.map_or(target, |window| window.min(target))
    }

    /// Returns the BLAKE3 digest, in hexadecimal, of the canonical names of all settings and of the content of the
    /// pattern's file, if the pattern has a file.
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

    /// Creates the network without jobs. If `quotas` is `None`, the quota of each job is random, determined by `seed`
    /// and the job number. A job with quota 0 sends no packets and holds its processors for its run time.
    ///
    /// # Errors
    /// [`TrafficError`] if the machine has no network.
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
            start_error: None,
            holding: RunTimes::default(),
            slices: Slices::new(),
            stop: CancelToken::new(),
        })
    }
}

/// The network as a service of the coupled simulation: a job ends when all its packets are delivered. One unit of
/// simulation time is a cycle.
#[derive(Debug)]
pub struct Communication {
    traffic: Traffic,
    demand: Demand,
    quotas: Option<Arc<[u64]>>,
    ended: Vec<JobTraffic>,
    totals: Totals,
    by_job: Option<Vec<JobTraffic>>,
    start_error: Option<PacketError>,
    /// Jobs that send no packets.
    holding: RunTimes,
    slices: Slices,
    stop: CancelToken,
}

impl Communication {
    /// Records the totals of the packets of every job.
    pub fn recording(mut self, jobs: usize) -> Self {
        self.by_job = Some(vec![JobTraffic::default(); jobs]);
        self
    }

    /// Sets a cancellation token. Makes the simulation fail with [`Cancelled`](replay_engine::cancel::Cancelled) soon
    /// after `stop` is raised.
    pub fn stopped_by(mut self, stop: CancelToken) -> Self {
        self.stop = stop;
        self
    }

    /// Advances the network to the next cycle in which a job ends, but not beyond cycle `until`.
    fn exchange(&mut self, until: i64) -> Result<Option<u64>, Box<dyn Error + Send + Sync>> {
        let until = u64::try_from(until).ok().filter(|_| until < i64::MAX);
        let Self { slices, traffic, ended, stop, .. } = self;
        slices.advance(traffic, until, ended, stop).map_err(SliceError::into_inner)
    }

    /// Returns the sums over all jobs that have ended.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Returns the totals of the packets of each job; empty unless recording was requested.
    pub fn by_job(&self) -> &[JobTraffic] {
        self.by_job.as_deref().unwrap_or_default()
    }
}

/// Returns the processors on which a job runs its processes, without the processors that are lost to internal
/// fragmentation.
fn processes<'a>(job: &Job, nodes: &'a [NodeId]) -> &'a [NodeId] {
    &nodes[..job.size as usize]
}

/// Removes and returns the stored error of an earlier start. The error was stored because the function that starts a
/// job cannot return an error.
fn take_error<E>(start_error: &mut Option<E>) -> Result<(), Box<dyn Error + Send + Sync>>
where
    E: Error + Send + Sync + 'static,
{
    start_error.take().map_or(Ok(()), |error| Err(error.into()))
}

impl Service for Communication {
    /// Returns `false`, because messages of folded jobs are not modelled.
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
        self.start_error = self.start_error.take().or(started.err());
    }

    fn advance(
        &mut self,
        until: i64,
        completed: &mut Vec<JobId>,
    ) -> Result<Option<i64>, Box<dyn Error + Send + Sync>> {
        take_error(&mut self.start_error)?;
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
