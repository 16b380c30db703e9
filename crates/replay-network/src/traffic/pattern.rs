//! Communication patterns.

mod names;

use super::preset::Preset;

pub use names::descriptions;

/// A communication pattern, and the discipline that defines when and in which order its packets are sent.
///
/// ```
/// use replay_network::traffic::{Barrier, Pattern, Sends};
/// let pattern: Pattern = "n-body[barrier=iteration]".parse()?;
/// assert_eq!((pattern.sends(), pattern.barrier()), (Sends::Pipelined, Barrier::Iteration));
/// assert_eq!(pattern.to_string(), "n-body[barrier=iteration]");
/// // The defaults of the preset `bani-mohammad`.
/// let pattern: Pattern = "all-to-all[preset=bani-mohammad]".parse()?;
/// assert_eq!((pattern.sends(), pattern.barrier()), (Sends::AtOnce, Barrier::None));
/// # Ok::<(), replay_engine::naming::NameError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Pattern {
    kind: Kind,
    discipline: Discipline,
}

/// Senders, receivers and steps of an iteration of n processes. If a pattern requires a power of two and n is not a
/// power of two, the last processes are idle.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// Every process sends to every other process, in a single step.
    AllToAll {
        /// Order of the packets.
        order: Order,
    },
    /// One process sends to every other process, in a single step.
    OneToAll {
        /// The sender.
        root: Root,
        /// Order of the receivers.
        targets: Targets,
    },
    /// A ring. In each of the first floor(n / 2) steps, process i sends to process i + 1 (mod n). In one more step,
    /// process i sends to process i - floor(n / 2) (mod n), which returns the data that have moved around half the
    /// ring.
    NBody,
    /// A butterfly of log2 n steps. In step s, process i sends to process i xor 2^s.
    Fft2d {
        /// Order of the steps.
        strides: Strides,
    },
    /// A grid of 2^a x 2^b x 2^c processes, where a >= b >= c >= a - 1. For each stride t = 1, 2, 4, ... below the
    /// grid's sides, every axis longer than t has a step of +t and a step of -t. In these steps, a process sends if all
    /// its coordinates are multiples of t (or 0).
    Multigrid {
        /// The grid of processes; by default three wrapped dimensions.
        grid: Grid,
        /// Order of the levels.
        cycle: Cycle,
        /// The packets that form a step.
        steps: Steps,
        /// Processes that send.
        active: Active,
    },
    /// A grid of processes with sides as equal as possible; the longest side is first. Every axis has a step of +1 and
    /// a step of -1.
    NearestNeighbour {
        /// Number of dimensions of the grid, 1 to 3.
        dimensions: u8,
        /// Whether axes longer than two wrap around.
        wrap: bool,
    },
    /// Pairs of distinct processes, drawn uniformly at random. An iteration has a single step.
    Random {
        /// Processes that send.
        source: Source,
    },
    /// A matrix from a file. An iteration has a single step.
    Matrix {
        /// CSV file without a header. The value in row i and column j is the number of packets, or the weight, from
        /// rank i to rank j.
        file: String,
        /// Meaning of the numbers.
        values: Values,
    },
    /// The phases in a file. Each phase is a step; phases are in ascending order.
    Phases {
        /// CSV file with the header `phase,src_rank,dst_rank,packets`.
        file: String,
    },
}

/// The order of the packets in the all-to-all pattern.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// Every process sends to 0, 1, 2, .. in this order. All processes thus send to the same receiver at about the same
    /// time, which congests this receiver.
    Same,
    /// Process i sends to i + 1, i + 2, .. (mod n). The packets that are sent at the same time thus form a permutation.
    Shifted,
    /// One sequence for the whole job, in which one process sends after another: 0 -> 1, 0 -> 2, .., 1 -> 0, ... The
    /// lexicographic order requires [`Sends::AtOnce`] or [`Stream::Job`].
    Lexicographic,
}

/// The sender of the pattern one-to-all.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Root {
    /// Drawn uniformly, once for each job.
    Random,
    /// Rank 0.
    First,
}

/// The order of the receivers in the one-to-all pattern.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Targets {
    /// The receivers are 0, 1, 2, .., without the root.
    Ascending,
    /// The receivers are the root's successor, the next rank and so on, cyclically.
    Cyclic,
}

/// The order of a butterfly's steps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Strides {
    /// The first step has stride n / 2.
    Descending,
    /// Stride 1 first.
    Ascending,
}

/// The order of the levels of a multigrid.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cycle {
    /// The levels are visited from stride 1 to the largest stride.
    Descent,
    /// The levels are visited from the largest stride to stride 1, which gives the steps of `Descent` in the opposite
    /// order.
    Ascent,
    /// The levels are visited from stride 1 to the largest stride; then the same steps follow in the opposite order.
    V,
}

/// The grid of processes of a multigrid.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Grid {
    /// Number of dimensions, 1 to 3.
    pub dimensions: u8,
    /// Whether the grid is periodic.
    pub wrap: bool,
}

/// The packets that form a step of a multigrid.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Steps {
    /// Each direction of each axis is a step.
    Direction,
    /// Each level is a step, in which a process sends to all its neighbours.
    Level,
}

/// The processes that send at a level of a multigrid.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Active {
    /// The processes that have a point of the level.
    Level,
    /// All processes.
    All,
}

/// The senders of random traffic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// The sender is drawn for each packet. Every packet is a separate iteration.
    Drawn,
    /// Every process sends one packet per iteration, to a drawn receiver.
    Each,
}

/// The meaning of the numbers in a matrix.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Values {
    /// Packets per iteration. Each process sends all its packets to rank 0, then to rank 1, and so on.
    Packets,
    /// Relative weights: for each packet, sender and receiver are drawn with a probability proportional to their
    /// weight. Every packet is a separate iteration.
    Weights,
}

/// The time at which the next packet of a [`Stream`] is added to its sender's queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sends {
    /// The time at which the previous packet is delivered.
    Sequential,
    /// The time at which the tail of the previous packet has left its sender.
    Pipelined,
    /// All packets up to the next barrier are added at once, in the order of the job's sequence. The sequence is
    /// ordered by steps. A step begins with the first packet of every sender, in order of rank. After these packets,
    /// the second packet of every sender follows, and so on. An all-to-all in the [same order](Order::Same) is ordered
    /// by receivers: every rank sends to 0, then every rank sends to 1, and so on. In
    /// [lexicographic](Order::Lexicographic) order, the sequence is ordered by senders. Packets wait in their senders'
    /// queues. The quota may be used up within a round.
    AtOnce,
}

/// The set of packets that are sent one after another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stream {
    /// The packets of one process. All processes send concurrently.
    Process,
    /// All packets of the job, in the order described at [`Sends::AtOnce`].
    Job,
}

/// The points at which the job waits until all packets that it has sent are delivered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Barrier {
    /// After every step.
    Step,
    /// After every iteration.
    Iteration,
    /// Nowhere.
    None,
}

/// The discipline that defines when and in which order packets are sent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Discipline {
    sends: Sends,
    stream: Stream,
    barrier: Barrier,
}

impl Pattern {
    /// Returns the kind of the pattern.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Returns the rule for the time at which the next packet is sent.
    pub fn sends(&self) -> Sends {
        self.discipline.sends
    }

    /// Returns the set of packets that are sent one after another.
    pub fn stream(&self) -> Stream {
        self.discipline.stream
    }

    /// Returns the points at which the job waits for its packets.
    pub fn barrier(&self) -> Barrier {
        self.discipline.barrier
    }

    /// Returns a message if two options exclude each other; otherwise `None`.
    fn conflict(&self) -> Option<&'static str> {
        let Discipline { sends, stream, .. } = self.discipline;
        let side_by_side = stream == Stream::Process;
        if self.kind.is_drawn() && side_by_side {
            return Some(
                "this pattern draws its pairs one after another for the whole job: use stream=job",
            );
        }
        let lexicographic = matches!(self.kind, Kind::AllToAll { order: Order::Lexicographic });
        (lexicographic && side_by_side && sends != Sends::AtOnce).then_some(
            "order=lexicographic orders the packets of the whole job: use sends=at-once or stream=job",
        )
    }
}

impl Kind {
    /// Returns whether the sender and the receiver of every packet are drawn at random.
    pub(super) fn is_drawn(&self) -> bool {
        matches!(
            self,
            Kind::Random { source: Source::Drawn } | Kind::Matrix { values: Values::Weights, .. }
        )
    }

    /// Returns the file of the pattern; `None` if the pattern has no file.
    pub(super) fn file(&self) -> Option<&str> {
        match self {
            Kind::Matrix { file, .. } | Kind::Phases { file } => Some(file),
            _ => None,
        }
    }
}

impl Discipline {
    /// Returns the default discipline of a kind under a preset.
    fn default_for(kind: &Kind, preset: Preset) -> Self {
        let (sends, stream, barrier) = match (kind, preset) {
            _ if kind.is_drawn() => (Sends::AtOnce, Stream::Job, Barrier::None),
            (Kind::AllToAll { .. }, Preset::BaniMohammad) => {
                (Sends::AtOnce, Stream::Process, Barrier::None)
            }
            (Kind::OneToAll { .. }, Preset::BaniMohammad) => {
                (Sends::Sequential, Stream::Process, Barrier::None)
            }
            (
                Kind::AllToAll { .. }
                | Kind::OneToAll { .. }
                | Kind::Random { .. }
                | Kind::Matrix { .. },
                _,
            ) => (Sends::Pipelined, Stream::Process, Barrier::Iteration),
            _ => (Sends::Pipelined, Stream::Process, Barrier::Step),
        };
        Self { sends, stream, barrier }
    }
}

#[cfg(test)]
mod tests;
