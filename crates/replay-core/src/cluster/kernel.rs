//! Preemptive and non-preemptive kernels of a host.

/// Sharing of a host's processor among processes of different priority (Turner 1995, sections 5.3
/// and 6.1).
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kernel {
    /// POSIX FIFO under a real-time kernel: a process that becomes ready interrupts one of lower
    /// priority immediately.
    Preemptive,
    /// Round robin with multilevel feedback (RRMF): a process keeps the processor until it blocks
    /// or its quantum ends. A job of higher priority that receives a message waits for it.
    NonPreemptive {
        /// The delay d of the waiting job in seconds, at most a quantum. The thesis measured
        /// neither.
        delay: f64,
    },
}

impl Kernel {
    /// The default non-preemptive kernel. The thesis gives no delay; with this one the job of
    /// highest priority is a few percent slower when it shares hosts with EP, as in the thesis's
    /// figures.
    pub const NON_PREEMPTIVE: Kernel = Kernel::NonPreemptive { delay: 0.001 };
}
