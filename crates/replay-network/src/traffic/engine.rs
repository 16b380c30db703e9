//! All jobs on their network.

use super::demand::Demand;
use super::mapping::Mapping;
use super::random::{Purpose, stream};
use super::run::{JobTraffic, Run};
use crate::{
    Delivery, Network, NetworkEvent, Packet, PacketError, Settings, SettingsError, Stalled,
};
use replay_core::naming::NameError;
use replay_core::topology::{NodeId, Topology};

/// What is the same for all jobs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TrafficOptions {
    /// Which process runs where.
    pub mapping: Mapping,
    /// Length of every packet in flits, 1 to [`Packet::MAX_FLITS`].
    pub flits: u32,
}

impl Default for TrafficOptions {
    /// Ranks by order of allocation, packets of [`Settings::PACKET_FLITS`].
    fn default() -> Self {
        Self { mapping: Mapping::Allocation, flits: Settings::PACKET_FLITS }
    }
}

/// Why there can be no such traffic.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum TrafficError {
    /// The network cannot be built.
    #[error(transparent)]
    Network(#[from] SettingsError),
    /// Packets cannot be that long.
    #[error(transparent)]
    Packet(#[from] PacketError),
    /// The mapping does not fit the machine.
    #[error(transparent)]
    Mapping(#[from] NameError),
    /// Who computes when is not known.
    #[error(
        "machine {0}: messages of jobs that share a processor are not modelled (a cluster of one level is)"
    )]
    Shared(String),
}

/// A network and the jobs that run on it. See the [module](super) for an example.
#[derive(Clone, Debug)]
pub struct Traffic {
    network: Network,
    options: TrafficOptions,
    processors: usize,
    /// By processor, its place in the mapping's order.
    places: Option<Vec<u32>>,
    /// Running jobs by slot.
    runs: Vec<Option<Run>>,
    vacant: Vec<u32>,
    /// Jobs that have had nothing to send.
    idle: Vec<JobTraffic>,
    notices: Vec<NetworkEvent>,
}

impl Traffic {
    /// An empty network at cycle 0.
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
            notices: Vec::new(),
        })
    }

    /// The present cycle.
    pub fn now(&self) -> u64 {
        self.network.now()
    }

    /// Jobs started and not yet reported as ended.
    pub fn running(&self) -> usize {
        self.runs.len() - self.vacant.len() + self.idle.len()
    }

    /// The network, for its usage.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Starts a job in the present cycle, one process on each of `nodes`, which are given in the
    /// order of allocation. Its first packets are handed over at once.
    ///
    /// # Errors
    /// [`PacketError::NoSuchNode`] if a processor does not exist; nothing is started.
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

    /// Goes to the next cycle in which jobs end and fills `ended`, which it empties first, in the
    /// order of their ends. A job that is then started starts in that cycle. The same cycle
    /// may be returned again, with other jobs.
    ///
    /// `None` if no job ends by the cycle `until`, which is then the present one, or, without
    /// `until`, if none is running.
    ///
    /// # Errors
    /// [`Stalled`] if the network is deadlocked.
    pub fn advance(
        &mut self,
        until: Option<u64>,
        ended: &mut Vec<JobTraffic>,
    ) -> Result<Option<u64>, Stalled> {
        self.advance_seen(until, ended, &mut |_| {})
    }

    /// The same, and `seen` is told of every packet that is delivered.
    ///
    /// # Errors
    /// [`Stalled`] if the network is deadlocked.
    pub fn advance_seen(
        &mut self,
        until: Option<u64>,
        ended: &mut Vec<JobTraffic>,
        seen: &mut impl FnMut(&Delivery),
    ) -> Result<Option<u64>, Stalled> {
        ended.clear();
        ended.append(&mut self.idle);
        if !ended.is_empty() {
            return Ok(Some(self.now()));
        }
        let Self { network, runs, vacant, notices, .. } = self;
        while let Some(cycle) = network.advance(until, notices)? {
            for notice in notices.iter() {
                match notice {
                    &NetworkEvent::TailLeft { tag, .. } => {
                        if let Some(run) = &mut runs[Run::slot(tag)] {
                            run.tail_left(tag, network);
                        }
                    }
                    NetworkEvent::Delivered(delivery) => {
                        seen(delivery);
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
