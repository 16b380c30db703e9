//! Measures how long a job takes if it runs alone on the machine.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::Slices;
use super::input::{ContentionInput, TraceError};
use replay_engine::topology::{Coord, NodeId};
use replay_network::traffic::{Demand, JobTraffic, Mapping, Quota, Traffic};
use replay_network::{Delivery, Network};

/// Measures how long jobs take if they run alone on the machine. If the pattern is not random, the time depends only on
/// the number of packets and on the processors. On a grid, the time depends on the processors only through their
/// relative positions. Each combination of positions and number of packets is simulated once.
pub(super) struct Alone<'a> {
    pub(super) input: ContentionInput<'a>,
    seed: u64,
    /// The empty machine.
    empty: Traffic,
    /// Measured times in cycles, indexed by positions and number of packets.
    known: Mutex<HashMap<(Positions, u64), u64>>,
}

/// Positions of the processors of a job in the order of allocation.
type Positions = Vec<Coord>;

impl<'a> Alone<'a> {
    /// Prepares the empty machine; `seed` determines the random choices that jobs make.
    ///
    /// # Errors
    /// [`TraceError`] if the machine has no network.
    pub fn new(input: ContentionInput<'a>, seed: u64) -> Result<Self, TraceError> {
        let ContentionInput { topology, messages, .. } = input;
        let empty = Traffic::new(topology, messages.network, messages.options)?;
        Ok(Self { input, seed, empty, known: Mutex::default() })
    }

    /// Returns the number of cycles in which a job sends `packets` packets if it runs alone on the processors `nodes`,
    /// given in the order of allocation.
    ///
    /// # Errors
    /// [`TraceError`] if a packet cannot be sent, the network is deadlocked, or the run is cancelled.
    pub fn time(&self, nodes: &[NodeId], job: u64, packets: u64) -> Result<u64, TraceError> {
        if self.input.messages.program.draws() {
            return self.measure(nodes, job, packets);
        }
        let key = (self.positions(nodes), packets);
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let time = known().get(&key).copied();
        if let Some(time) = time {
            return Ok(time);
        }
        let time = self.measure(nodes, 0, packets)?;
        known().insert(key, time);
        Ok(time)
    }

    /// Returns the positions of processors. If the time does not depend on absolute positions, the positions are
    /// relative to the first corner of the enclosing box.
    fn positions(&self, nodes: &[NodeId]) -> Positions {
        let ContentionInput { topology, messages, .. } = self.input;
        let Some(grid) = topology.grid() else {
            return nodes.iter().map(|node| [node.0 as u16, (node.0 >> 16) as u16, 0]).collect();
        };
        let positions = nodes.iter().map(|&node| grid.coord(node));
        // Ranks along a curve through the machine depend on the absolute positions.
        let corner = match messages.options.mapping {
            Mapping::Allocation => {
                positions.clone().reduce(|a, b| std::array::from_fn(|i| a[i].min(b[i])))
            }
            Mapping::Curve(_) => None,
        };
        let corner = corner.unwrap_or_default();
        positions.map(|place| std::array::from_fn(|i| place[i] - corner[i])).collect()
    }

    /// Returns the network of the empty machine.
    pub fn network(&self) -> &Network {
        self.empty.network()
    }

    fn measure(&self, nodes: &[NodeId], job: u64, packets: u64) -> Result<u64, TraceError> {
        let (_, total) = self.run(nodes, job, packets, &mut |_| {})?;
        Ok(total.end - total.begin)
    }

    /// Runs a job alone on the machine. Returns the state of the machine at the end of the job, and the totals of the
    /// job's packets. `on_delivery` is called for each delivered packet.
    ///
    /// # Errors
    /// [`TraceError`] if a packet cannot be sent, the network is deadlocked, or the run is cancelled.
    pub fn run(
        &self,
        nodes: &[NodeId],
        job: u64,
        packets: u64,
        on_delivery: &mut impl FnMut(&Delivery),
    ) -> Result<(Traffic, JobTraffic), TraceError> {
        let ContentionInput { messages, watch, .. } = self.input;
        let mut traffic = self.empty.clone();
        let program = messages.program.clone();
        let demand = Demand { program, quota: Quota::fixed(packets), seed: self.seed };
        traffic.start(job, nodes, &demand)?;
        let mut ended = Vec::new();
        Slices::new().advance_with(&mut traffic, None, &mut ended, watch.stop, on_delivery)?;
        let total = ended.first().copied().unwrap_or_default();
        Ok((traffic, total))
    }
}
