//! Whether a process that becomes ready interrupts one of lower priority.

/// How a host shares its processor among processes of different priority (Turner 1995, sections 5.3
/// and 6.1).
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kernel {
    /// POSIX FIFO under a real-time kernel: it does, at once.
    Preemptive,
    /// Round robin with multilevel feedback (RRMF): a process keeps the processor until it blocks or
    /// its quantum is over. A job of higher priority then waits for it after a message has come.
    NonPreemptive {
        /// That delay, d, in seconds: at most a quantum. The thesis measured neither.
        delay: f64,
    },
}

impl Kernel {
    /// The kernel without preemption where nothing else is said. The thesis gives no number; with
    /// this one the highest job is a few percent slower beside EP, as in its figures.
    pub const NON_PREEMPTIVE: Kernel = Kernel::NonPreemptive { delay: 0.001 };
}
