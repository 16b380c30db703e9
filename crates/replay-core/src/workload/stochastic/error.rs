//! Why no stream came out.

use crate::naming::NameError;
use thiserror::Error;

/// Why a stream of jobs could not be drawn; no job is returned with it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StochasticError {
    /// A distribution has an impossible parameter or does not fit the machine.
    #[error(transparent)]
    Distribution(#[from] NameError),
    /// A side is 0, or the machine has more processors than 32 bits count.
    #[error("a machine of {} x {} x {} processors cannot be used", .extents[0], .extents[1], .extents[2])]
    Machine {
        /// Sides of the machine.
        extents: [u16; 3],
    },
    /// `ticks_per_unit` is 0.
    #[error("a time unit must have at least one tick")]
    NoTicks,
    /// The jobs, one after another, would end after tick 2^53.
    #[error(
        "the jobs would last longer than 2^53 ticks, {ticks_per_unit} to a time unit: take fewer jobs or ticks"
    )]
    TooLong {
        /// Ticks of one time unit.
        ticks_per_unit: u32,
    },
}
