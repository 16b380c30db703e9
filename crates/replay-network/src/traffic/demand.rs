//! The traffic of a job.

use std::sync::Arc;

use super::pattern::Kind;
use super::preset::Preset;
use super::program::Program;
use super::quota::{Law, Per, Quota, Rounding};

/// The program and the quota of a job. Several jobs may share a demand.
#[derive(Clone, Debug)]
pub struct Demand {
    /// The pattern of the packets.
    pub program: Arc<Program>,
    /// The number of packets.
    pub quota: Quota,
    /// Seed of the random numbers. The random numbers of a job depend on this seed and the job's number.
    pub seed: u64,
}

impl Preset {
    /// Returns the quota of the paper: an exponentially distributed number of packets for the whole job, rounded up.
    /// Under `lo`, the mean is the number of packets that a job of average size sends in one iteration. For `matrix`
    /// and `phases`, which are not in the paper, the mean is the number of packets in an iteration with one process per
    /// rank of the file.
    pub fn quota(self, program: &Program) -> Quota {
        let mean = match (self, program.pattern().kind()) {
            (Self::BaniMohammad, _) => Self::BANI_MOHAMMAD,
            (Self::Lo, Kind::AllToAll { .. }) => Self::LO_ALL_TO_ALL,
            (Self::Lo, Kind::OneToAll { .. }) => Self::LO_ONE_TO_ALL,
            (Self::Lo, Kind::NBody) => Self::LO_N_BODY,
            (Self::Lo, Kind::Fft2d { .. }) => Self::LO_FFT_2D,
            // The number of levels determines the length of an iteration.
            (Self::Lo, Kind::Multigrid { .. }) => program.iteration(Self::LO_MULTIGRID_PROCESSES),
            (Self::Lo, Kind::NearestNeighbour { .. }) => Self::LO_NEAREST_NEIGHBOUR,
            (Self::Lo, Kind::Random { .. }) => Self::LO_RANDOM,
            (Self::Lo, kind) if kind.is_drawn() => Self::LO_RANDOM,
            (Self::Lo, Kind::Matrix { .. } | Kind::Phases { .. }) => {
                program.iteration(program.ranks().unwrap_or(1))
            }
        };
        let law = Law::Exponential { mean: mean as f64, rounding: Rounding::Up };
        Quota { law, per: Per::Job }
    }
}
