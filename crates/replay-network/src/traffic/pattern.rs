//! Communication patterns as a user names them.

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

/// Who sends to whom in an iteration of n processes, and how many steps it has. Where a
/// number of processes is not a power of two but has to be, the last of them stay idle.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// Every process sends to every other: one step.
    AllToAll {
        /// In which order.
        order: Order,
    },
    /// One process sends to every other: one step.
    OneToAll {
        /// Which process.
        root: Root,
        /// In which order.
        targets: Targets,
    },
    /// A ring: floor(n / 2) steps i -> i + 1, then one step i -> i - floor(n / 2) (mod n), by
    /// which what has gone round half the ring returns.
    NBody,
    /// A butterfly: log2 n steps, i -> i xor 2^s.
    Fft2d {
        /// In which order.
        strides: Strides,
    },
    /// A grid of 2^a x 2^b x 2^c processes, a >= b >= c >= a - 1. For strides t = 1, 2,
    /// 4, ... below the grid's sides: for every axis longer than t a step of +t and one of
    /// -t, sent by the processes whose every coordinate is a multiple of t (or 0).
    Multigrid {
        /// The grid: three dimensions that wrap unless told otherwise.
        grid: Grid,
        /// The way through the levels.
        cycle: Cycle,
        /// What is sent without waiting.
        steps: Steps,
        /// Who sends.
        active: Active,
    },
    /// A grid of processes with sides as equal as can be, the longest first: for every axis a
    /// step of +1 and one of -1.
    NearestNeighbour {
        /// Dimensions of the grid, 1 to 3.
        dimensions: u8,
        /// Whether axes longer than two wrap around.
        wrap: bool,
    },
    /// Pairs of distinct processes, uniformly drawn: one step.
    Random {
        /// Which processes send.
        source: Source,
    },
    /// The matrix in a file: one step.
    Matrix {
        /// CSV without a header: in row i and column j what rank i sends to rank j.
        file: String,
        /// What the numbers mean.
        values: Values,
    },
    /// The phases in a file: a step each, in ascending order.
    Phases {
        /// CSV with the header `phase,src_rank,dst_rank,packets`.
        file: String,
    },
}

/// The order of an all-to-all.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// Every process to 0, 1, 2, ..: the same order for all, so that receivers are crowded.
    Same,
    /// Process i to i + 1, i + 2, .. (mod n): a permutation at a time.
    Shifted,
    /// 0 -> 1, 0 -> 2, .., 1 -> 0, ..: a sequence of the whole job, in which one process
    /// comes after the other. It needs [`Sends::AtOnce`] or [`Stream::Job`].
    Lexicographic,
}

/// The sender of a one-to-all.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Root {
    /// Uniformly drawn, once for each job.
    Random,
    /// Rank 0.
    First,
}

/// The order of the receivers of a one-to-all.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Targets {
    /// 0, 1, 2, .. without the root.
    Ascending,
    /// The root's successor and so on, cyclically.
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

/// The way through the levels of a multigrid.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cycle {
    /// From stride 1 to the largest.
    Descent,
    /// From the largest to stride 1, by the same steps in the opposite order.
    Ascent,
    /// The same, and back again by the same steps in the opposite order.
    V,
}

/// The grid of processes of a multigrid.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Grid {
    /// Dimensions, 1 to 3.
    pub dimensions: u8,
    /// Whether it is periodic.
    pub wrap: bool,
}

/// The steps of a multigrid.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Steps {
    /// One for every direction of every axis.
    Direction,
    /// One for every level: a process sends to all its neighbours.
    Level,
}

/// The processes that send at a level of a multigrid.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Active {
    /// Those that hold a point of the level.
    Level,
    /// All.
    All,
}

/// The senders of random traffic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// Drawn for each packet, which is an iteration of its own.
    Drawn,
    /// Every process sends one packet per iteration, to a process drawn for it.
    Each,
}

/// The numbers in a matrix.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Values {
    /// Packets per iteration. Each process sends to ranks 0, 1, 2, .., to each all its packets.
    Packets,
    /// Relative weights: the pair of every packet is drawn with probabilities proportional
    /// to them; a packet is an iteration of its own.
    Weights,
}

/// When the next packet of a [`Stream`] is handed to its sender's queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sends {
    /// When the one before is delivered.
    Sequential,
    /// When the tail of the one before has left its sender.
    Pipelined,
    /// All at once, up to the next barrier, in the order of the job's sequence: step by step;
    /// in a step the first packet of every sender in order of rank, then the second, and so on.
    /// All-to-all in the [same order](Order::Same) goes by receivers: every rank to 0, every rank to
    /// 1, and so on; in [lexicographic](Order::Lexicographic) order by senders. They wait in their
    /// senders' queues, and a quota cuts the last round.
    AtOnce,
}

/// Which packets are sent one after another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stream {
    /// Those of each process: all processes send at the same time.
    Process,
    /// All of the job, in the order described at [`Sends::AtOnce`].
    Job,
}

/// Where the job waits until everything that it has sent is delivered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Barrier {
    /// After every step.
    Step,
    /// After every iteration.
    Iteration,
    /// Nowhere.
    None,
}

/// When packets are sent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Discipline {
    sends: Sends,
    stream: Stream,
    barrier: Barrier,
}

impl Pattern {
    /// Who sends to whom.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// When the next packet is sent.
    pub fn sends(&self) -> Sends {
        self.discipline.sends
    }

    /// The next packet of whom.
    pub fn stream(&self) -> Stream {
        self.discipline.stream
    }

    /// Where the job waits.
    pub fn barrier(&self) -> Barrier {
        self.discipline.barrier
    }

    /// What is wrong with a combination of options, if anything is.
    fn conflict(&self) -> Option<&'static str> {
        let Discipline { sends, stream, .. } = self.discipline;
        let side_by_side = stream == Stream::Process;
        if self.kind.is_drawn() && side_by_side {
            return Some("the pairs are drawn one after another, so stream must be job");
        }
        let lexicographic = matches!(self.kind, Kind::AllToAll { order: Order::Lexicographic });
        (lexicographic && side_by_side && sends != Sends::AtOnce).then_some(
            "order=lexicographic is a sequence of the whole job: it needs sends=at-once or stream=job",
        )
    }
}

impl Kind {
    /// Whether sender and receiver of every packet are drawn.
    pub(super) fn is_drawn(&self) -> bool {
        matches!(
            self,
            Kind::Random { source: Source::Drawn } | Kind::Matrix { values: Values::Weights, .. }
        )
    }

    /// The file that has to be read.
    pub(super) fn file(&self) -> Option<&str> {
        match self {
            Kind::Matrix { file, .. } | Kind::Phases { file } => Some(file),
            _ => None,
        }
    }
}

impl Discipline {
    /// The discipline of a kind under a preset.
    fn usual(kind: &Kind, preset: Preset) -> Self {
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
