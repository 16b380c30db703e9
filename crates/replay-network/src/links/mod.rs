//! Contention by link loads: the slowdown of jobs by each other, without simulating their flits together.
//!
//! The flit model processes every header of every packet for as long as jobs run. This model
//! simulates each job once, alone, by the flit model and for a window of its time. The job's
//! [`Footprint`] gives the share of the time for which it reserves each link, the time for which a packet
//! reserves it, and the latency of its packets. Then only jobs that share links matter, and only when
//! one of them starts or ends: a [`LinkLoads`] has the loads of all running jobs and computes the
//! slowdown of each.
//!
//! # The rule
//!
//! Job j alone reserves link l for the share r_jl of the time, each packet for h_jl cycles on
//! average. The part p_jl of the packets of j crosses l, and a packet takes L_j cycles. Let f_j be
//! j's slowdown, which is 1 alone. A slower job sends less often: it reserves l for s_jl = r_jl / f_j of the
//! time.
//!
//! * A header of j at l waits for the packets of other jobs that it finds there, for w_jl = sum over
//!   i != j of s_il (h_il / 2 + w_il): with probability s_il it finds a packet of i crossing, on average
//!   half done; by Little's law s_il w_il / h_il packets of i wait before it, each for h_il
//!   cycles. (These are the mean value equations of a closed network with queues in order of arrival.)
//! * The waits of a job for its own packets are part of L_j, and not counted again.
//! * A job has the same number of packets in flight alone and among others, since a process
//!   sends its next packet when the previous one has left. By Little's law its time therefore grows as their
//!   latency: f_j = 1 + (sum over l of p_jl w_jl) / L_j.
//!
//! Slowdowns that satisfy all equations are computed job by job, repeatedly, until none changes by more than
//! [`AGREED`]. If jobs demand more of a link than its capacity, waits grow until the jobs are slow enough.
//!
//! # Limits
//!
//! The model ignores that a waiting packet holds the links behind it and so delays other packets, and that a step
//! of a pattern ends with its last packet, not with the average one. Bursts count as if they occurred at
//! random times, whether they coincide or not. The two virtual channels of a torus link are two links
//! here. `results/experiments/links.md` measures the difference from the flit model, and whether both models
//! rank allocators alike.
//!
//! # Sources
//!
//! Reiser, Lavenberg, "Mean-value analysis of closed multichain queuing networks", JACM 27(2), 1980;
//! Adve, Vernon, "Performance analysis of mesh interconnection networks with deterministic
//! routing", IEEE TPDS 5(3), 1994 (wormhole networks as closed ones).

mod loads;
mod settings;

pub use loads::{AGREED, Footprint, LinkLoads, Reserved, Slot, Stream};
pub use settings::{Links, Model, descriptions};

#[cfg(test)]
mod tests;
