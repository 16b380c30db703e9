//! Errors of stochastic job streams.

use crate::cancel::Cancelled;
use crate::naming::NameError;
use thiserror::Error;

/// Error: a stream of jobs could not be generated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StochasticError {
    /// A distribution has an impossible parameter or does not fit the machine.
    #[error(transparent)]
    Distribution(#[from] NameError),
    /// A side of the machine is 0, or the number of processors of the machine does not fit in 32 bits.
    #[error("a machine of {} x {} x {} processors cannot be used", .extents[0], .extents[1], .extents[2])]
    Machine {
        /// Sides of the machine.
        extents: [u16; 3],
    },
    /// `ticks_per_unit` is 0.
    #[error("a time unit must have at least one tick")]
    NoTicks,
    /// If the jobs ran one after another, they would end after tick 2^53.
    #[error(
        "the jobs would last longer than 2^53 ticks, {ticks_per_unit} ticks per time unit: choose fewer jobs or fewer \
            ticks"
    )]
    TooLong {
        /// Number of ticks in a time unit.
        ticks_per_unit: u32,
    },
    /// The generation was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}
