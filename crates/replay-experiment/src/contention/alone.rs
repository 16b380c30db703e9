//! A job by itself on the empty machine.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::Slices;
use super::stage::{Stage, TraceError};
use replay_core::topology::{Coord, NodeId};
use replay_network::traffic::{Demand, JobTraffic, Mapping, Quota, Traffic};
use replay_network::{Delivery, Network};

/// Times of jobs that have the machine to themselves. Of patterns that draw nothing a time is
/// measured once: it depends on the processors and the packets alone, and in a grid not on where the
/// processors are, but on where they are from each other.
pub(super) struct Alone<'a> {
    pub(super) stage: Stage<'a>,
    seed: u64,
    /// The machine.
    empty: Traffic,
    /// Cycles by places and packets.
    known: Mutex<HashMap<(Places, u64), u64>>,
}

/// Where the processors of a job are, in the order in which it got them.
type Places = Vec<Coord>;

impl<'a> Alone<'a> {
    /// The empty machine. What jobs draw depends on `seed`.
    ///
    /// # Errors
    /// [`TraceError`] if the machine has no such network.
    pub fn new(stage: Stage<'a>, seed: u64) -> Result<Self, TraceError> {
        let Stage { topology, messages, .. } = stage;
        let empty = Traffic::new(topology, messages.network, messages.options)?;
        Ok(Self { stage, seed, empty, known: Mutex::default() })
    }

    /// Cycles that so many packets of a job take on these processors, in the order in which it got
    /// them.
    ///
    /// # Errors
    /// [`TraceError`].
    pub fn time(&self, nodes: &[NodeId], job: u64, packets: u64) -> Result<u64, TraceError> {
        if self.stage.messages.program.draws() {
            return self.measured(nodes, job, packets);
        }
        let key = (self.places(nodes), packets);
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = known().get(&key).copied();
        if let Some(time) = seen {
            return Ok(time);
        }
        let time = self.measured(nodes, 0, packets)?;
        known().insert(key, time);
        Ok(time)
    }

    /// Where processors are: from the first corner of their box where that is all that matters.
    fn places(&self, nodes: &[NodeId]) -> Places {
        let Stage { topology, messages, .. } = self.stage;
        let Some(grid) = topology.grid() else {
            return nodes.iter().map(|node| [node.0 as u16, (node.0 >> 16) as u16, 0]).collect();
        };
        let places = nodes.iter().map(|&node| grid.coord(node));
        // Ranks along a curve through the machine change with the place.
        let corner = match messages.options.mapping {
            Mapping::Allocation => {
                places.clone().reduce(|a, b| std::array::from_fn(|i| a[i].min(b[i])))
            }
            Mapping::Curve(_) => None,
        };
        let corner = corner.unwrap_or_default();
        places.map(|place| std::array::from_fn(|i| place[i] - corner[i])).collect()
    }

    /// The machine without anybody on it.
    pub fn network(&self) -> &Network {
        self.empty.network()
    }

    fn measured(&self, nodes: &[NodeId], job: u64, packets: u64) -> Result<u64, TraceError> {
        let (_, total) = self.ran(nodes, job, packets, &mut |_| {})?;
        Ok(total.end - total.begin)
    }

    /// The machine at the end of a job that has it to itself, and what the job's packets came to;
    /// `seen` is told of each of them.
    ///
    /// # Errors
    /// [`TraceError`].
    pub fn ran(
        &self,
        nodes: &[NodeId],
        job: u64,
        packets: u64,
        seen: &mut impl FnMut(&Delivery),
    ) -> Result<(Traffic, JobTraffic), TraceError> {
        let Stage { messages, watch, .. } = self.stage;
        let mut traffic = self.empty.clone();
        let program = messages.program.clone();
        let demand = Demand { program, quota: Quota::fixed(packets), seed: self.seed };
        traffic.start(job, nodes, &demand)?;
        let mut ended = Vec::new();
        Slices::new().advance_with(&mut traffic, None, &mut ended, watch.stop, seen)?;
        let total = ended.first().copied().unwrap_or_default();
        Ok((traffic, total))
    }
}
