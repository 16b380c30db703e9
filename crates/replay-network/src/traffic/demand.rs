//! What a job is going to send.

use std::sync::Arc;

use super::pattern::Kind;
use super::preset::Preset;
use super::program::Program;
use super::quota::{Law, Per, Quota, Rounding};

/// The program and the quota of a job; one demand may serve all jobs of a run.
#[derive(Clone, Debug)]
pub struct Demand {
    /// Who sends to whom.
    pub program: Arc<Program>,
    /// How many packets.
    pub quota: Quota,
    /// With the job's number, the key of all that it draws.
    pub seed: u64,
}

impl Preset {
    /// The paper's quota: exponential, rounded up, of the whole job. Under `lo` the mean is
    /// an iteration of a job of average size; of `matrix` and `phases`, which the paper has not,
    /// an iteration of as many processes as the file has.
    pub fn quota(self, program: &Program) -> Quota {
        let mean = match (self, program.pattern().kind()) {
            (Self::BaniMohammad, _) => Self::BANI_MOHAMMAD,
            (Self::Lo, Kind::AllToAll { .. }) => Self::LO_ALL_TO_ALL,
            (Self::Lo, Kind::OneToAll { .. }) => Self::LO_ONE_TO_ALL,
            (Self::Lo, Kind::NBody) => Self::LO_N_BODY,
            (Self::Lo, Kind::Fft2d { .. }) => Self::LO_FFT_2D,
            // Its levels decide how long an iteration is.
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
