//! Search for good tie vectors and slacks.
//!
//! A [`Problem`] consists of an allocation strategy without a tie vector, an [`Objective`], [`Constraint`]s and one or
//! several traces. Each trace is scheduled once. A search [`strategy`] requests [`Candidate`]s. The function [`search`]
//! evaluates the candidates on all threads and stores the results in an [`Archive`]. A [`SearchSpec`] contains the
//! settings of a whole search; [`Problems`] checks the settings and turns them into problems.
//!
//! The search of Johnson, Bunde, Leung (section III) corresponds to the strategy [`strategy::List`] over
//! [`Space::grid`], followed by the strategy [`strategy::Local`]. Fig. 15 of Johnson, Bunde, Leung corresponds to a
//! [`Portability`].
//!
//! # Perturbed traces
//!
//! A problem may contain [perturbed copies](replay_engine::workload::shake) of each trace instead of the trace.
//! Candidates are then ranked by their mean improvement over the copies. [`GapToBest`] shows which candidates differ
//! significantly from the best candidate. The best of many candidates is best partly by chance: its mean over the
//! copies on which it was found is too high. The best candidate should therefore be evaluated on other copies. Each
//! copy is stored in memory only once, regardless of the number of candidates.
//!
//! # Skipped work
//!
//! * Vectors with equal ratios are equivalent. [`Space::grid`] contains one vector for each ratio, and the archive
//!   answers requests for equivalent vectors without an evaluation. The results are exact.
//! * With [`Control::keep`], an evaluation can stop early. The evaluation stops when its sum so far, plus a lower bound
//!   for the remaining jobs (see `lower_bound`), exceeds the sum of the worst candidate that would be kept. The results
//!   are exact, because sums only increase. The threshold is the same for all evaluations of a block, so that the
//!   number of threads does not affect which evaluations stop.
//!
//! # Resuming
//!
//! With an [`EvaluationCache`], a search reads earlier evaluations from journals and appends new evaluations. An
//! interrupted search can be repeated: the strategy makes the same requests and gets the same results. The search
//! therefore continues where it stopped and has the same outcome. If requests do not depend on results, as on a grid,
//! several processes can each evaluate a part of the requests beforehand ([`strategy::questions`]).
//!
//! # Cost
//!
//! Each evaluation replays the timeline of each trace once, see [`simulation`](replay_engine::simulation).

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
mod problems;
mod ratio;
mod row;
mod run;
mod search_trace;
mod shaken;
mod space;
mod spec;
mod split;
pub mod strategy;
mod tally;
mod task;

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
pub use problems::Problems;
pub use ratio::Ratio;
pub use row::{Origin, SearchRow, SkippedWorkRow, rows};
pub use run::{Ended, Expected, SearchWatch, Searched, run_search};
pub use search_trace::{ReplayLimit, SearchTrace};
pub use shaken::GapToBest;
pub use space::{Numbers, Range, RangeError, Space};
pub use spec::{RANDOM_EVALUATIONS, SearchSpec, Start, Strategy};
pub use split::split;
pub use tally::{ClassSum, Tally, WorstClass};
pub use task::SearchTask;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Serializes types in their text form.
macro_rules! serialize_as_text {
    ($($type:ty)*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

serialize_as_text! { Candidate Constraint Numbers Objective Start }
