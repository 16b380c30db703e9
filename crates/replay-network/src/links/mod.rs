//! Contention by link loads: what jobs do to each other, without their flits.
//!
//! The flit model steps every header of every packet for as long as jobs run. This model looks
//! at each job once, alone where it is, by the flit model and for a window of its time: its
//! [`Footprint`] says for which share of the time it reserves each link, for how long a packet
//! does, and how long its packets take. Then only the jobs that share links matter, and only when
//! one of them starts or ends: a [`LinkLoads`] holds the loads of all running jobs and tells by
//! how much each is slowed down.
//!
//! # The rule
//!
//! Job j alone reserves link l for the share r_jl of the time, each packet for h_jl cycles on
//! average; of the packets of j the part p_jl crosses l, and a packet takes L_j cycles. Let f_j be
//! j's slowdown, 1 alone. A slower job sends less often: s_jl = r_jl / f_j of the time it reserves l.
//!
//! * A header of j at l waits for the packets of other jobs that it finds there, for w_jl = sum over
//!   i != j of s_il (h_il / 2 + w_il): with probability s_il it finds one of i crossing, half
//!   over in the mean; by Little's law s_il w_il / h_il of i wait before it, each for h_il cycles to
//!   come. (The mean value equations of a closed network, for queues in order of arrival.)
//! * What its own job's packets cost it is in L_j, and not counted again.
//! * A job has the same number of packets under way alone and among others, since a process
//!   sends its next packet when the one before has left. So by Little's law its time grows as theirs:
//!   f_j = 1 + (sum over l of p_jl w_jl) / L_j.
//!
//! The slowdowns that agree with each other are found one job after the other, again and again,
//! until none changes by more than [`AGREED`]. Where jobs ask for more of a link than there is, waits
//! grow until the jobs are slow enough.
//!
//! # What it leaves out
//!
//! A packet that waits holds the links behind it and a tree of followers. A step of a pattern ends with
//! its last packet, not with the mean one. Bursts that meet, or that never do, count as if they came
//! at random. The two virtual channels of a torus' link are two links here. How far all this is from the
//! flit model, and whether it ranks allocators alike, is measured in `results/experiments/links.md`.
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
