//! Channels of a machine, and routes through the channels.
//!
//! Routes are dimension-ordered. On a mesh or torus, a route follows x, then y, then z; on a hypercube, a route changes
//! the lowest differing bit first (e-cube). On a wrapped axis, a packet takes the shorter direction, or the upward
//! direction if both directions are equally long. A packet uses virtual channel 0 until it crosses the dateline, and
//! virtual channel 1 from the dateline on. The dateline is the link between the last and the first position of a
//! wrapped axis. The channels can thus be numbered such that every route uses them in ascending order, which excludes a
//! cyclic wait (Dally, Seitz 1987).
//!
//! A route consists of a few [`Leg`]s, which are sequences of channels with evenly spaced numbers. Finding a route
//! takes constant time and memory, regardless of its number of hops.

use super::channel::{Channel, ChannelId, Port};
use replay_engine::topology::{Axis, Coord, NodeId, Topology};

/// A sequence of `count` channels: `first`, `first + step`, ...
#[derive(Clone, Copy, Default, Debug)]
pub struct Leg {
    pub first: u32,
    /// The step is added modulo 2^32, so it may represent a negative number.
    pub step: u32,
    pub count: u32,
}

/// The channels of a machine.
#[derive(Clone, Debug)]
pub struct Wiring {
    topology: Topology,
    coords: Vec<Coord>,
    /// Number of channels per node: injection, ejection, then links. The number is even.
    ports: u32,
    /// Number of virtual channels per link.
    lanes: u32,
}

/// The three kinds of channels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Injection,
    Ejection,
    Link,
}

const INJECTION: u32 = 0;
const EJECTION: u32 = 1;
const LINKS: u32 = 2;

impl Wiring {
    /// Creates the channels of a machine, with two virtual channels per link if the machine has a wrapped axis.
    pub fn new(topology: &Topology) -> Self {
        let wrapped = topology.grid().is_some_and(|grid| grid.is_wrapped());
        Self::with_lanes(topology, if wrapped { 2 } else { 1 })
    }

    /// Creates the channels of a machine with `lanes` virtual channels per link; with a single virtual channel, tori
    /// can deadlock.
    pub fn with_lanes(topology: &Topology, lanes: u32) -> Self {
        let (coords, links) = match topology {
            Topology::Grid(grid) => (grid.coords(), 2 * grid.dimensions() as u32 * lanes),
            Topology::Hypercube(cube) => (Vec::new(), u32::from(cube.dimensions())),
            // A cluster has a crossbar: packets share only injection and ejection channels. `Network::new` rejects
            // machines of several tori.
            Topology::Cluster(_) | Topology::MultiTorus(_) | Topology::Hierarchy(_) => {
                (Vec::new(), 0)
            }
        };
        let ports = (LINKS + links).next_multiple_of(2);
        Self { topology: topology.clone(), coords, ports, lanes }
    }

    pub fn nodes(&self) -> usize {
        self.topology.processors()
    }

    /// Returns the exclusive upper bound of channel numbers. Numbers of channels beyond the edges of a mesh are unused.
    pub fn channels(&self) -> usize {
        self.nodes() * self.ports as usize
    }

    /// Returns the largest number of legs of a route.
    pub fn max_legs(&self) -> usize {
        2 + match &self.topology {
            Topology::Grid(grid) if grid.is_wrapped() => 3 * grid.dimensions(),
            Topology::Grid(grid) => grid.dimensions(),
            Topology::Hypercube(cube) => usize::from(cube.dimensions()),
            Topology::Cluster(_) | Topology::MultiTorus(_) | Topology::Hierarchy(_) => 0,
        }
    }

    pub fn kind(&self, channel: u32) -> Kind {
        match channel % self.ports {
            INJECTION => Kind::Injection,
            EJECTION => Kind::Ejection,
            _ => Kind::Link,
        }
    }

    /// Returns the physical link of a channel as an index below `channels() / 2`; `None` if the channel does not share
    /// its link with another channel.
    pub fn shared_link(&self, channel: u32) -> Option<usize> {
        let port = (channel % self.ports).checked_sub(LINKS)?;
        let shared = self.lanes == 2
            && self.topology.grid().is_some_and(|grid| grid.axes()[port as usize / 4].wrapped);
        shared.then_some(channel as usize / 2)
    }

    /// Returns whether links have two virtual channels.
    pub fn shares_links(&self) -> bool {
        self.lanes == 2
    }

    /// Writes the legs of the route, in order, and returns its length in hops. `legs` must have room for
    /// [`Wiring::max_legs`].
    pub fn route(&self, src: NodeId, dst: NodeId, legs: &mut [Leg]) -> u32 {
        let mut route = Route { legs, used: 0, hops: 0 };
        route.push(Leg { first: src.0 * self.ports + INJECTION, step: 0, count: 1 });
        match &self.topology {
            Topology::Grid(grid) => {
                let (mut at, to) = (self.coords[src.index()], self.coords[dst.index()]);
                let [_, y, z] = grid.axes().map(|axis| u32::from(axis.extent));
                let strides = [y * z, z, 1];
                for (i, axis) in grid.axes().iter().enumerate() {
                    if at[i] != to[i] {
                        let base = grid.node(at).0 - u32::from(at[i]) * strides[i];
                        self.along(&mut route, i as u32, *axis, (at[i], to[i]), base, strides[i]);
                        at[i] = to[i];
                    }
                }
            }
            Topology::Hypercube(_) => {
                let (mut at, mut differing) = (src.0, src.0 ^ dst.0);
                while differing != 0 {
                    let bit = differing.trailing_zeros();
                    let first = at * self.ports + LINKS + bit;
                    route.push(Leg { first, step: 0, count: 1 });
                    at ^= 1 << bit;
                    differing &= differing - 1;
                }
            }
            Topology::Cluster(_) | Topology::MultiTorus(_) | Topology::Hierarchy(_) => {}
        }
        let hops = route.hops - 1;
        route.push(Leg { first: dst.0 * self.ports + EJECTION, step: 0, count: 1 });
        hops
    }

    /// Adds the legs along one axis, on which position p is node `base` + p * `stride`.
    fn along(
        &self,
        route: &mut Route<'_>,
        i: u32,
        axis: Axis,
        (from, to): (u16, u16),
        base: u32,
        stride: u32,
    ) {
        let (from, to, extent) = (u32::from(from), u32::from(to), u32::from(axis.extent));
        let ahead = if to > from { to - from } else { to + extent - from };
        let positive = if axis.wrapped { 2 * ahead <= extent } else { to > from };
        let leg = |position: u32, lane: u32, count: u32| {
            let port = LINKS + (2 * i + u32::from(positive)) * self.lanes + lane;
            let step = stride * self.ports;
            Leg {
                first: (base + position * stride) * self.ports + port,
                step: if positive { step } else { step.wrapping_neg() },
                count,
            }
        };
        // Number of the lane that packets use from the dateline on: 1, or 0 if links have a single lane.
        let behind = self.lanes - 1;
        match (positive, to > from) {
            (true, true) => route.push(leg(from, 0, to - from)),
            (false, false) => route.push(leg(from, 0, from - to)),
            (true, false) => {
                route.push(leg(from, 0, extent - 1 - from));
                route.push(leg(extent - 1, behind, 1));
                route.push(leg(0, behind, to));
            }
            (false, true) => {
                route.push(leg(from, 0, from));
                route.push(leg(0, behind, 1));
                route.push(leg(extent - 1, behind, extent - 1 - to));
            }
        }
    }

    /// Returns the channel with the given number; `None` if the number is unused.
    pub fn channel(&self, id: ChannelId) -> Option<Channel> {
        let (from, port) = (NodeId(id.0 / self.ports), id.0 % self.ports);
        if from.index() >= self.nodes() {
            return None;
        }
        let port = match (port, &self.topology) {
            (INJECTION, _) => Port::Injection,
            (EJECTION, _) => Port::Ejection,
            (bit, Topology::Hypercube(cube)) => {
                let bit = (bit - LINKS) as u8;
                (bit < cube.dimensions()).then_some(Port::Bit(bit))?
            }
            (_, Topology::Cluster(_) | Topology::MultiTorus(_) | Topology::Hierarchy(_)) => {
                return None;
            }
            (port, Topology::Grid(grid)) => {
                let (direction, lane) = ((port - LINKS) / self.lanes, (port - LINKS) % self.lanes);
                let (i, positive) = (direction as usize / 2, direction % 2 == 1);
                let axis = grid.axes()[i];
                let edge = if positive { axis.extent - 1 } else { 0 };
                let inside = lane == 0 && self.coords[from.index()][i] != edge;
                (axis.wrapped || inside).then_some(Port::Axis {
                    axis: i as u8,
                    positive,
                    lane: lane as u8,
                })?
            }
        };
        Some(Channel::new(&self.topology, from, port))
    }
}

struct Route<'a> {
    legs: &'a mut [Leg],
    used: usize,
    hops: u32,
}

impl Route<'_> {
    fn push(&mut self, leg: Leg) {
        if leg.count > 0 {
            self.legs[self.used] = leg;
            self.used += 1;
            self.hops += leg.count;
        }
    }
}

#[cfg(test)]
mod tests;
