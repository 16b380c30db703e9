//! Routes of the reference network, from neighbour to neighbour.

use super::{ReferenceChannel, ReferenceNetwork};
use replay_engine::topology::{NodeId, Topology};

/// Key of a channel: the two nodes that it joins, and its lane. For an injection or ejection
/// channel, the two nodes are equal.
pub(super) type Key = (u32, u32, Lane);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Lane {
    In,
    Out,
    Virtual(u8),
}

impl ReferenceNetwork {
    /// Returns the numbers of the channels from sender to receiver.
    pub(super) fn path(&mut self, src: NodeId, dst: NodeId) -> Vec<usize> {
        let mut path = vec![self.number((src.0, src.0, Lane::In), None)];
        match self.topology.clone() {
            Topology::Grid(grid) => {
                let (mut at, to) = (grid.coord(src), grid.coord(dst));
                for (i, axis) in grid.axes().iter().enumerate() {
                    let mut lane = 0;
                    let n = axis.extent;
                    let up = match axis.wrapped {
                        true => 2 * ((to[i] + n - at[i]) % n) <= n,
                        false => to[i] > at[i],
                    };
                    while at[i] != to[i] {
                        let from = grid.node(at);
                        let next = if up { (at[i] + 1) % n } else { (at[i] + n - 1) % n };
                        if at[i].abs_diff(next) > 1 {
                            lane = 1;
                        }
                        at[i] = next;
                        let link = axis.wrapped.then_some((from.0, grid.node(at).0));
                        let key = (from.0, grid.node(at).0, Lane::Virtual(lane));
                        path.push(self.number(key, link));
                    }
                }
            }
            Topology::Hypercube(cube) => {
                let mut at = src.0;
                for bit in 0..cube.dimensions() {
                    if (at ^ dst.0) >> bit & 1 == 1 {
                        let next = at ^ 1 << bit;
                        path.push(self.number((at, next, Lane::Virtual(0)), None));
                        at = next;
                    }
                }
            }
            // The injection channel is directly followed by the ejection channel; there are no
            // links.
            Topology::Cluster(_) | Topology::MultiTorus(_) | Topology::Hierarchy(_) => {}
        }
        path.push(self.number((dst.0, dst.0, Lane::Out), None));
        path
    }

    /// Returns the number of a channel. The number is assigned when the channel is first used.
    /// `link` identifies a shared link.
    fn number(&mut self, key: Key, link: Option<(u32, u32)>) -> usize {
        if let Some(&number) = self.numbers.get(&key) {
            return number;
        }
        // Both virtual channels of a link share one entry of `link_used`.
        let shared = link.map(|(a, b)| {
            let other = [0, 1].map(|lane| self.numbers.get(&(a, b, Lane::Virtual(lane))));
            let known = other.into_iter().flatten().find_map(|&c| self.channels[c].link);
            known.unwrap_or_else(|| {
                self.link_used.push(None);
                self.link_used.len() - 1
            })
        });
        self.channels.push(ReferenceChannel { link: shared, ..ReferenceChannel::default() });
        self.numbers.insert(key, self.channels.len() - 1);
        self.channels.len() - 1
    }
}
