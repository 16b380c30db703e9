//! Communication patterns, as users name them.

mod names;

use super::preset::Preset;

pub use names::descriptions;

/// A communication pattern with the discipline by which its packets are sent.
///
/// ```
/// use replay_network::traffic::{Barrier, Pattern, Sends};
/// let pattern: Pattern = "n-body[barrier=iteration]".parse()?;
/// assert_eq!((pattern.sends(), pattern.barrier()), (Sends::Pipelined, Barrier::Iteration));
/// assert_eq!(pattern.to_string(), "n-body[barrier=iteration]");
/// // The defaults of the other paper.
/// let pattern: Pattern = "all-to-all[preset=bani-mohammad]".parse()?;
/// assert_eq!((pattern.sends(), pattern.barrier()), (Sends::AtOnce, Barrier::None));
/// # Ok::<(), replay_core::naming::NameError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Pattern {
    kind: Kind,
    discipline: Discipline,
}

/// Senders, receivers and steps of an iteration of n processes. If the number of processes must be a power of
/// two and is not, the last processes are idle.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// Every process sends to every other, in one step.
    AllToAll {
        /// Order of the packets.
        order: Order,
    },
    /// One process sends to every other, in one step.
    OneToAll {
        /// The sender.
        root: Root,
        /// Order of the receivers.
        targets: Targets,
    },
    /// A ring: floor(n / 2) steps i -> i + 1, then one step i -> i - floor(n / 2) (mod n), which returns the
    /// data that have travelled around half the ring.
    NBody,
    /// A butterfly: log2 n steps, i -> i xor 2^s.
    Fft2d {
        /// Order of the steps.
        strides: Strides,
    },
    /// A grid of 2^a x 2^b x 2^c processes, a >= b >= c >= a - 1. For each stride t = 1, 2,
    /// 4, ... below the grid's sides, every axis longer than t has a step of +t and one of
    /// -t, in which those processes send whose coordinates are all multiples of t (or 0).
    Multigrid {
        /// The grid of processes; by default three wrapped dimensions.
        grid: Grid,
        /// Order of the levels.
        cycle: Cycle,
        /// What a step consists of.
        steps: Steps,
        /// Processes that send.
        active: Active,
    },
    /// A grid of processes with sides as equal as possible, the longest first: every axis has a
    /// step of +1 and one of -1.
    NearestNeighbour {
        /// Number of dimensions of the grid, 1 to 3.
        dimensions: u8,
        /// Whether axes longer than two wrap around.
        wrap: bool,
    },
    /// Pairs of distinct processes, uniformly drawn, in one step.
    Random {
        /// Processes that send.
        source: Source,
    },
    /// The matrix in a file, in one step.
    Matrix {
        /// CSV file without a header: row i and column j have what rank i sends to rank j.
        file: String,
        /// Meaning of the numbers.
        values: Values,
    },
    /// The phases in a file: one step each, in ascending order.
    Phases {
        /// CSV file with the header `phase,src_rank,dst_rank,packets`.
        file: String,
    },
}

/// The order of an all-to-all.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// Every process sends to 0, 1, 2, ..: the same order for all, so that receivers are congested.
    Same,
    /// Process i sends to i + 1, i + 2, .. (mod n): one permutation at a time.
    Shifted,
    /// 0 -> 1, 0 -> 2, .., 1 -> 0, ..: a sequence of the whole job, one process after the other. It needs
    /// [`Sends::AtOnce`] or [`Stream::Job`].
    Lexicographic,
}

/// The sender of a one-to-all.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Root {
    /// Drawn uniformly, once for each job.
    Random,
    /// Rank 0.
    First,
}

/// The order of the receivers of a one-to-all.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Targets {
    /// 0, 1, 2, .. without the root.
    Ascending,
    /// The root's successor, the next rank and so on, cyclically.
    Cyclic,
}

/// The order of a butterfly's steps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Strides {
    /// Stride n / 2 first.
    Descending,
    /// Stride 1 first.
    Ascending,
}

/// The order of the levels of a multigrid.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cycle {
    /// From stride 1 to the largest.
    Descent,
    /// From the largest stride to stride 1, by the same steps in the opposite order.
    Ascent,
    /// From stride 1 to the largest, and back by the same steps in the opposite order.
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

/// What a step of a multigrid consists of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Steps {
    /// One step for every direction of every axis.
    Direction,
    /// One step for every level: a process sends to all its neighbours.
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
    /// The sender is drawn for each packet, which is an iteration of its own.
    Drawn,
    /// Every process sends one packet per iteration, to a drawn receiver.
    Each,
}

/// The meaning of the numbers in a matrix.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Values {
    /// Packets per iteration. Each process sends all its packets to rank 0, then to rank 1, and so on.
    Packets,
    /// Relative weights: the pair of every packet is drawn with probabilities proportional to the weights. A
    /// packet is an iteration of its own.
    Weights,
}

/// When the next packet of a [`Stream`] is added to its sender's queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sends {
    /// When the previous packet is delivered.
    Sequential,
    /// When the tail of the previous packet has left its sender.
    Pipelined,
    /// All packets up to the next barrier at once, in the order of the job's sequence: step by step; in a step
    /// the first packet of every sender in order of rank, then the second, and so on. All-to-all in the
    /// [same order](Order::Same) is ordered by receivers: every rank to 0, every rank to 1, and so on; in
    /// [lexicographic](Order::Lexicographic) order, by senders. Packets wait in their senders' queues, and a
    /// quota may end within a round.
    AtOnce,
}

/// The packets that are sent one after another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stream {
    /// The packets of each process; all processes send at the same time.
    Process,
    /// All packets of the job, in the order described at [`Sends::AtOnce`].
    Job,
}

/// Where the job waits until all packets that it has sent are delivered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Barrier {
    /// After every step.
    Step,
    /// After every iteration.
    Iteration,
    /// Nowhere.
    None,
}

/// When and in which order packets are sent.
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

    /// Returns when the next packet is sent.
    pub fn sends(&self) -> Sends {
        self.discipline.sends
    }

    /// Returns which packets are sent one after another.
    pub fn stream(&self) -> Stream {
        self.discipline.stream
    }

    /// Returns where the job waits for its packets.
    pub fn barrier(&self) -> Barrier {
        self.discipline.barrier
    }

    /// Returns a message if options exclude each other.
    fn conflict(&self) -> Option<&'static str> {
        let Discipline { sends, stream, .. } = self.discipline;
        let side_by_side = stream == Stream::Process;
        if self.kind.is_drawn() && side_by_side {
            return Some("the pairs are drawn one after another, so stream must be job");
        }
        let lexicographic = matches!(self.kind, Kind::AllToAll { order: Order::Lexicographic });
        (lexicographic && side_by_side && sends != Sends::AtOnce).then_some(
            "order=lexicographic is a sequence of the whole job: use sends=at-once or stream=job",
        )
    }
}

impl Kind {
    /// Returns whether sender and receiver of every packet are drawn.
    pub(super) fn is_drawn(&self) -> bool {
        matches!(
            self,
            Kind::Random { source: Source::Drawn } | Kind::Matrix { values: Values::Weights, .. }
        )
    }

    /// Returns the file of the pattern, if it has one.
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
