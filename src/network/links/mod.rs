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
//! j's slowdown, 1 alone. A slower job sends less often, so that it reserves l for r_jl / f_j.
//!
//! * A header of j that comes to l finds it reserved by the others for R_jl = sum over i != j of
//!   r_il / f_i x h_il / 2: the mean rest of what they hold (Pollaczek, Khinchine, holds all alike).
//!   What its own job's packets cost it is in L_j.
//! * All of those who wait are served in turn: it waits w_jl = R_jl / (1 - sum over all i of r_il / f_i).
//! * A job has the same number of packets under way, alone and among others, since a
//!   process sends its next packet when the one before has left. So by Little's law its time grows as
//!   theirs: f_j = 1 + (sum over l of p_jl w_jl) / L_j.
//!
//! The slowdowns that agree with each other are found one job after the other, again and again,
//! until none changes by more than [`AGREED`]. A link never carries more than it can: as its load nears
//! 1 waits grow until the jobs on it are slow enough.
//!
//! # What it leaves out
//!
//! A packet that waits holds the links behind it (its tree of followers), which makes
//! saturation worse than the rule says. A step of a pattern ends with its last packet, not with the mean
//! one. Bursts that meet, or that never do, count as if they came at random. The two
//! virtual channels of a torus' link are two links here. How far it is from the flit model,
//! and whether it ranks allocators alike, is on the results page of link loads.
//!
//! # Sources
//!
//! Adve, Vernon, "Performance analysis of mesh interconnection networks with deterministic
//! routing", IEEE TPDS 5(3), 1994 (closed networks of messages, waits by residual holds); Kleinrock,
//! "Queueing Systems", vol. 1, 1975 (Pollaczek, Khinchine; Little).

mod loads;
mod settings;

pub use loads::{AGREED, Footprint, LinkLoads, Reserved, Slot};
pub use settings::{Links, Model, descriptions};
