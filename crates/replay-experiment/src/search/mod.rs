//! Searching for good tie vectors, and slacks.
//!
//! A [`Problem`] is a strategy without its tie vector, an [`Objective`], [`Constraint`]s
//! and one or several traces, each scheduled once. A [`strategy`] asks for [`Candidate`]s,
//! [`search`] evaluates them on all threads and keeps the answers in an [`Archive`].
//!
//! What Johnson, Bunde, Leung did (section III) are the strategies [`strategy::List`] over
//! [`Space::grid`] and [`strategy::Local`]; Fig. 15 is a [`Portability`].
//!
//! # Shaken traces
//!
//! A problem may have [shaken copies](replay_core::workload::shake) of each trace in place of it: candidates
//! are then ranked by their mean improvement over the copies, and [`Behind`] says which can be told
//! from the best. The best of many is in part the luckiest: its mean over the copies it was found
//! on is too high, and what it is worth shows on others. All copies of a search are in memory,
//! once, whatever the number of candidates.
//!
//! # What is left out, and what is certain
//!
//! * Vectors of one ratio are one: [`Space::grid`] holds each ratio once, and the archive
//!   answers for all of them. Exact.
//! * With [`Control::keep`] an evaluation stops when the sum so far, and the least that the
//!   jobs to come can add (see `floor`), exceed the sum of the last vector to be kept.
//!   Exact: sums only grow. The bar is fixed per block of evaluations, so that the same ones
//!   stop for any number of threads.
//!
//! # What was done before
//!
//! With a [`EvaluationCache`] a search takes from journals what was evaluated before, and adds what was not.
//! A strategy asks the same again and gets the same answers, so a search that was killed goes on
//! where it was and finds the same. Where no question depends on an answer, as on a grid, several
//! processes can each answer a part ([`strategy::questions`]) beforehand.
//!
//! # Cost
//!
//! One evaluation replays the timelines once; see
//! [`simulation`](replay_core::simulation).

mod archive;
mod candidate;
pub mod column;
mod constraint;
mod driver;
mod error;
mod evaluation_cache;
mod floor;
mod objective;
mod portability;
mod problem;
mod ratio;
mod row;
mod search_trace;
mod shaken;
mod space;
mod split;
pub mod strategy;
mod tally;

pub use archive::{Archive, SkippedWork};
pub use candidate::{Candidate, CandidateError};
pub use constraint::{Constraint, Subject};
pub use driver::{Control, End, search};
pub use error::SearchError;
pub use evaluation_cache::{EvaluationCache, Question};
pub use floor::least_pairwise_l1;
pub use objective::{Goal, Objective, Weights};
pub use portability::{
    Found, GIVEN, Portability, PortabilityCell, PortabilityRow, Tried, improvement,
    shaken_improvement, width,
};
pub use problem::{Evaluation, Extent, Problem};
pub use ratio::Ratio;
pub use row::{Origin, SearchRow, SkippedWorkRow, rows};
pub use search_trace::{Part, ReplayLimit};
pub use shaken::Behind;
pub use space::{Numbers, Range, RangeError, Space};
pub use split::split;
pub use tally::{ClassSum, Tally, WorstClass};
