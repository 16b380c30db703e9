//! Channels of a network and their notation in messages and results.

use std::fmt;

use replay_engine::topology::{NodeId, Topology};

/// The number of a channel: an index into per-channel arrays.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ChannelId(pub u32);

impl ChannelId {
    /// Returns the number of the channel as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The direction of a channel, relative to the node that it leaves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Port {
    /// A channel from the processing element into its router.
    Injection,
    /// A channel from the router to its processing element.
    Ejection,
    /// A channel to the next router along an axis of a mesh or torus.
    Axis {
        /// The axis: 0 = x, 1 = y, 2 = z.
        axis: u8,
        /// Whether the channel leads towards greater coordinates.
        positive: bool,
        /// Number of the virtual channel. On a torus, the number is 0 before the dateline and 1 from the dateline on;
        /// on all other machines, the number is 0.
        lane: u8,
    },
    /// A channel to the neighbouring router of a hypercube. The numbers of the two routers differ in this bit.
    Bit(u8),
}

/// A unidirectional channel with a buffer at its receiving end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Channel {
    /// The node that the channel leaves; for an injection or ejection channel, the node that it serves.
    pub from: NodeId,
    /// Direction of the channel.
    pub port: Port,
    /// Coordinates or number of the node: `(3,0)` on a grid, `(5)` on a hypercube.
    pub place: String,
}

impl Channel {
    pub(super) fn new(topology: &Topology, from: NodeId, port: Port) -> Self {
        let place = match topology {
            Topology::Grid(grid) => {
                let coord = grid.coord(from);
                let sides: Vec<_> = coord[..grid.dimensions()].iter().map(u16::to_string).collect();
                format!("({})", sides.join(","))
            }
            _ => {
                format!("({})", from.0)
            }
        };
        Self { from, port, place }
    }
}

/// Formats the channel as in the literature: `inj(0,0)`, `ej(2,0)`, `+x(1,0)`; the second virtual
/// channel of a torus link has an apostrophe, `+x'(1,0)`.
impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Port::Injection => write!(f, "inj{}", self.place),
            Port::Ejection => write!(f, "ej{}", self.place),
            Port::Axis { axis, positive, lane } => {
                let sign = if positive { '+' } else { '-' };
                let axis = ["x", "y", "z"].get(usize::from(axis)).unwrap_or(&"?");
                write!(f, "{sign}{axis}{}{}", if lane == 1 { "'" } else { "" }, self.place)
            }
            Port::Bit(bit) => write!(f, "bit{bit}{}", self.place),
        }
    }
}
