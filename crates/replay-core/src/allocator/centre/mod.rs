//! The centre-based allocators: MC1x1 (Bender et al. 2008), Gen-Alg (Krumke et al. 1997)
//! and MM (Bender et al. 2008), in the formulation of Johnson, Bunde, Leung (sections I, II
//! and IV).
//!
//! For each candidate centre a strategy takes the k free processors nearest to it by
//! whole shells, the last shell possibly in part, and scores the set. The lowest
//! (score, tie value) wins; the first candidate in candidate order wins a full tie.
//! [`literal`] is that definition as a program; the fast engines must agree with it.
//!
//! | file | concept, each built on those above |
//! |---|---|
//! | `slack`, `tie` | how nearly tied candidates compete, and by which tie values |
//! | `options` | shells, the order in a last shell, all that the papers leave open |
//! | `carried` | part of a last shell |
//! | [`literal`] | the definition |
//! | [`mc1x1`] | MC1x1, evaluated by box counts |
//! | [`fleet`] | MC1x1 with many ways to break ties, each on its machine, in step |
//! | [`pairwise`] | Gen-Alg and MM, evaluated by diamonds |
//! | [`tuned`] | MC1x1 with a tie vector that tunes itself |
//! | `told` | a decision in words, by the definition |
//! | `names` | names and parameters |

mod carried;
#[cfg(test)]
mod cases;
pub mod fleet;
pub mod literal;
pub mod mc1x1;
mod names;
mod options;
pub mod pairwise;
mod slack;
mod tie;
mod told;
pub mod tuned;

pub use carried::Cut;
pub use names::{CentreStrategy, table};
pub use options::{CentreOptions, Metric, ShellOrder};
pub use slack::{Slack, SlackError, SlackRule};
pub use tie::{TieBreaking, TieRule, TieVector, TieVectorError, WallRule};
