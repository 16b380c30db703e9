//! Contention by link loads. Computes the slowdown of jobs that share links without simulating the flits of all jobs
//! together.
//!
//! The flit model processes every header of every packet while jobs run. The model of link loads simulates each job
//! only once with the flit model: without other jobs, and for a limited number of cycles. The job's [`Footprint`]
//! contains the share of the time for which the job reserves each link, the time for which a packet reserves the link,
//! and the latency of the packets. After this simulation, slowdowns change only when a job that shares links starts or
//! ends. A [`LinkLoads`] contains the loads of all running jobs and computes the slowdown of each job.
//!
//! # The rule
//!
//! Without other jobs, job j reserves link l for the share r_jl of the time, and each packet reserves it for h_jl
//! cycles on average. A fraction p_jl of the packets of j crosses l, and a packet takes L_j cycles. Let f_j be the
//! slowdown of j; it is 1 without other jobs. A slower job sends less often: it reserves l for the share s_jl = r_jl /
//! f_j of the time.
//!
//! * A header of job j at link l waits for the packets of other jobs that are already at l. The mean wait of job j at
//!   link l is w_jl = sum over i != j of s_il (h_il / 2 + w_il). With probability s_il, a packet of job i is crossing
//!   the link, and on average, half of its crossing is done. By Little's law, s_il w_il / h_il packets of i wait before
//!   the header, and each of these packets takes h_il cycles. (These are the mean value equations of a closed network
//!   with queues in order of arrival.)
//! * The waits of a job for its own packets are part of L_j, and are not counted again.
//! * A job has the same number of packets in flight with and without other jobs, because a process sends its next
//!   packet when the previous packet has left. By Little's law, the time of the job is therefore proportional to the
//!   latency of its packets: f_j = 1 + (sum over l of p_jl w_jl) / L_j.
//!
//! The equations are solved by iteration: slowdowns are recomputed job by job until no slowdown changes by more than
//! [`AGREED`]. If jobs demand more of a link than its capacity, waits grow until the jobs are slow enough.
//!
//! # Limits
//!
//! The model ignores two effects. First, a waiting packet also holds the links behind it, which delays other packets.
//! Second, a step of a pattern lasts until its last packet is delivered, and this packet takes longer than an average
//! packet. Bursts are treated as if they occurred at random times, even if they coincide. The two virtual channels of a
//! torus link are treated as two links. `results/experiments/links.md` reports how far the results differ from those of
//! the flit model, and whether both models rank allocators in the same order.
//!
//! # Sources
//!
//! Reiser, Lavenberg, "Mean-value analysis of closed multichain queuing networks", JACM 27(2), 1980;
//! Adve, Vernon, "Performance analysis of mesh interconnection networks with deterministic
//! routing", IEEE TPDS 5(3), 1994 (wormhole networks as closed networks).

mod loads;
mod settings;

pub use loads::{AGREED, Footprint, LinkLoads, Reserved, Slot, Stream};
pub use settings::{Links, Model, descriptions};

#[cfg(test)]
mod tests;
