//! Search for good tie vectors and slacks.
//!
//! A [`Problem`] consists of a strategy without its tie vector, an [`Objective`], [`Constraint`]s and one or several
//! traces, each scheduled once. A [`strategy`] requests [`Candidate`]s, and [`search`] evaluates them on all threads
//! and stores the results in an [`Archive`].
//!
//! The search of Johnson, Bunde, Leung (section III) corresponds to the strategies [`strategy::List`] over
//! [`Space::grid`] and [`strategy::Local`]; their Fig. 15 is a [`Portability`].
//!
//! # Perturbed traces
//!
//! A problem may contain [perturbed copies](replay_core::workload::shake) of each trace instead of the trace.
//! Candidates are then ranked by their mean improvement over the copies, and [`GapToBest`] states which candidates
//! differ significantly from the best. The best of many candidates is partly the luckiest: its mean over the copies
//! on which it was found is too high, so it should be evaluated on other copies. All copies of a search are in memory
//! once, for any number of candidates.
//!
//! # Skipped work
//!
//! * Vectors of equal ratio are equivalent: [`Space::grid`] contains each ratio once, and the archive answers
//!   requests for all of them. This is exact.
//! * With [`Control::keep`] an evaluation stops when the sum so far, plus a lower bound of the contribution of the
//!   remaining jobs (see `lower_bound`), exceeds the sum of the last candidate to be kept. This is exact, because sums only
//!   grow. The threshold is fixed per block of evaluations, so that the same evaluations stop for any number of
//!   threads.
//!
//! # Resuming
//!
//! With an [`EvaluationCache`] a search reads earlier evaluations from journals and appends new ones. A strategy
//! repeats its requests and gets the same results, so an interrupted search continues where it stopped and finds the
//! same. If requests do not depend on results, as on a grid, several processes can evaluate a part each
//! ([`strategy::questions`]) beforehand.
//!
//! # Cost
//!
//! One evaluation replays each timeline once; see [`simulation`](replay_core::simulation).

mod archive;
mod candidate;
pub mod column;
mod constraint;
mod driver;
mod error;
mod evaluation_cache;
mod lower_bound;
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
pub use lower_bound::least_pairwise_l1;
pub use objective::{Goal, Objective, Weights};
pub use portability::{
    Found, GIVEN, Portability, PortabilityCell, PortabilityRow, Tried, improvement,
    shaken_improvement, width,
};
pub use problem::{Evaluation, Extent, Problem};
pub use ratio::Ratio;
pub use row::{Origin, SearchRow, SkippedWorkRow, rows};
pub use search_trace::{ReplayLimit, SearchTrace};
pub use shaken::GapToBest;
pub use space::{Numbers, Range, RangeError, Space};
pub use split::split;
pub use tally::{ClassSum, Tally, WorstClass};
