//! Preemptive and non-preemptive kernels of a host.

/// Sharing of a host's processor among processes of different priority (Turner 1995, sections 5.3
/// and 6.1).
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kernel {
    /// POSIX FIFO under a real-time kernel: a process that becomes ready immediately interrupts a
    /// process of lower priority.
    Preemptive,
    /// Round robin with multilevel feedback (RRMF): a process keeps the processor until it blocks
    /// or its quantum ends. Until the process blocks or its quantum ends, a job of higher priority
    /// that receives a message waits.
    NonPreemptive {
        /// The delay d of the waiting job in seconds, at most a quantum. The thesis reports neither
        /// the delay nor the quantum.
        delay: f64,
    },
}

impl Kernel {
    /// The default non-preemptive kernel. The thesis does not state the delay. With the value
    /// chosen here, the job of highest priority is a few percent slower when it shares hosts with
    /// EP, as in the figures of the thesis.
    pub const NON_PREEMPTIVE: Kernel = Kernel::NonPreemptive { delay: 0.001 };
}
