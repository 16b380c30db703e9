//! A network with all its running jobs.

use super::demand::Demand;
use super::mapping::Mapping;
use super::random::{Purpose, stream};
use super::run::{JobTraffic, Run};
use crate::{
    Delivery, Network, NetworkEvent, Packet, PacketError, Settings, SettingsError, Stalled,
};
use replay_engine::naming::NameError;
use replay_engine::topology::{NodeId, Topology};

/// Options that are the same for all jobs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TrafficOptions {
    /// Assignment of processes to processors.
    pub mapping: Mapping,
    /// Length of every packet, in flits, 1 to [`Packet::MAX_FLITS`].
    pub flits: u32,
}

impl Default for TrafficOptions {
    /// Ranks are in order of allocation, and packets have [`Settings::PACKET_FLITS`] flits.
    fn default() -> Self {
        Self { mapping: Mapping::Allocation, flits: Settings::PACKET_FLITS }
    }
}

/// Error: traffic cannot be simulated with these options.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum TrafficError {
    /// The network cannot be built.
    #[error(transparent)]
    Network(#[from] SettingsError),
    /// The length of packets is out of range.
    #[error(transparent)]
    Packet(#[from] PacketError),
    /// The mapping does not fit the machine.
    #[error(transparent)]
    Mapping(#[from] NameError),
    /// Jobs share processors. The scheduling of shared processors is not modelled.
    #[error(
        "machine {0}: messages of jobs that share a processor are not modelled; use a cluster of one level"
    )]
    Shared(String),
}

/// A network and the jobs that run on it. See the [module](super) for an example.
#[derive(Clone, Debug)]
pub struct Traffic {
    network: Network,
    options: TrafficOptions,
    processors: usize,
    /// Position of each processor in the mapping's order.
    places: Option<Vec<u32>>,
    /// The running job of each slot; `None` for a free slot.
    runs: Vec<Option<Run>>,
    vacant: Vec<u32>,
    /// Totals of jobs that sent no packets and have not been reported as ended yet.
    idle: Vec<JobTraffic>,
    events: Vec<NetworkEvent>,
}

impl Traffic {
    /// Creates an empty network at cycle 0.
    ///
    /// # Errors
    /// [`TrafficError`] if network, packets or mapping are impossible on this machine.
    pub fn new(
        topology: &Topology,
        settings: Settings,
        options: TrafficOptions,
    ) -> Result<Self, TrafficError> {
        if !(1..=Packet::MAX_FLITS).contains(&options.flits) {
            return Err(PacketError::Length(options.flits).into());
        }
        if topology.slots() > topology.processors() {
            return Err(TrafficError::Shared(topology.to_string()));
        }
        Ok(Self {
            network: Network::new(topology, settings)?,
            options,
            processors: topology.processors(),
            places: options.mapping.places(topology)?,
            runs: Vec::new(),
            vacant: Vec::new(),
            idle: Vec::new(),
            events: Vec::new(),
        })
    }

    /// Returns the current cycle.
    pub fn now(&self) -> u64 {
        self.network.now()
    }

    /// Returns the number of jobs started and not yet reported as ended.
    pub fn running(&self) -> usize {
        self.runs.len() - self.vacant.len() + self.idle.len()
    }

    /// Returns the network, which records the usage of channels.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Starts a job in the current cycle, with one process on each of `nodes`. The nodes must be in the order of
    /// allocation. The job's first packets are sent at once.
    ///
    /// # Errors
    /// [`PacketError::NoSuchNode`] if a processor does not exist; the job is then not started.
    pub fn start(
        &mut self,
        job: u64,
        nodes: &[NodeId],
        demand: &Demand,
    ) -> Result<(), PacketError> {
        if let Some(node) = nodes.iter().find(|node| node.index() >= self.processors) {
            return Err(PacketError::NoSuchNode { node: node.0, nodes: self.processors });
        }
        let now = self.network.now();
        let total = JobTraffic { job, begin: now, end: now, ..JobTraffic::default() };
        let rng = stream(demand.seed, job, Purpose::Pattern);
        let Some(rule) = demand.program.rule(nodes.len() as u32, rng) else {
            self.idle.push(total);
            return Ok(());
        };
        let mut nodes = Box::from(nodes);
        if let Some(places) = &self.places {
            <[NodeId]>::sort_unstable_by_key(&mut nodes, |node| places[node.index()]);
        }
        let slot = self.vacant.pop().unwrap_or_else(|| {
            self.runs.push(None);
            self.runs.len() as u32 - 1
        });
        let quota = demand.quota.draw(demand.seed, job, nodes.len() as u32);
        let pattern = demand.program.pattern();
        let run = Run::new(slot, self.options.flits, nodes, pattern, rule, total, quota);
        self.runs[slot as usize].insert(run).open(&mut self.network);
        Ok(())
    }

    /// Advances to the next cycle in which jobs end. Writes the jobs that end in this cycle to `ended`, which is
    /// cleared first, in the order of their ends. A job that the caller then starts begins in this cycle. A later call
    /// may return the same cycle again with other jobs.
    ///
    /// Returns `None` if no job ends by the cycle `until`; `until` is then the current cycle. Without `until`, returns
    /// `None` if no job is running.
    ///
    /// # Errors
    /// [`Stalled`] if the network is deadlocked.
    pub fn advance(
        &mut self,
        until: Option<u64>,
        ended: &mut Vec<JobTraffic>,
    ) -> Result<Option<u64>, Stalled> {
        self.advance_with(until, ended, &mut |_| {})
    }

    /// Advances like [`advance`](Self::advance), and calls `on_delivery` for every packet that is delivered.
    ///
    /// # Errors
    /// [`Stalled`] if the network is deadlocked.
    pub fn advance_with(
        &mut self,
        until: Option<u64>,
        ended: &mut Vec<JobTraffic>,
        on_delivery: &mut impl FnMut(&Delivery),
    ) -> Result<Option<u64>, Stalled> {
        ended.clear();
        ended.append(&mut self.idle);
        if !ended.is_empty() {
            return Ok(Some(self.now()));
        }
        let Self { network, runs, vacant, events, .. } = self;
        while let Some(cycle) = network.advance(until, events)? {
            for event in events.iter() {
                match event {
                    &NetworkEvent::TailLeft { tag, .. } => {
                        if let Some(run) = &mut runs[Run::slot(tag)] {
                            run.tail_left(tag, network);
                        }
                    }
                    NetworkEvent::Delivered(delivery) => {
                        on_delivery(delivery);
                        let slot = Run::slot(delivery.tag);
                        let Some(run) = &mut runs[slot] else { continue };
                        if let Some(total) = run.delivered(delivery, network) {
                            runs[slot] = None;
                            vacant.push(slot as u32);
                            ended.push(total);
                        }
                    }
                }
            }
            if !ended.is_empty() {
                return Ok(Some(cycle));
            }
        }
        Ok(None)
    }
}
