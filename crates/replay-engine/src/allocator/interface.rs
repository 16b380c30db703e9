//! Data that an allocator and its caller exchange.

use super::explain::ExplanationLog;
use super::{Census, Request};
use crate::allocator::{Folding, Reduction};
use crate::cancel::CancelToken;
use crate::topology::NodeId;
use crate::workload::Job;

/// Input that a run passes to its allocator before the first request.
#[derive(Clone, Debug, Default)]
pub struct RunSetup<'a> {
    /// All jobs of the run; empty if they are not known.
    pub jobs: &'a [Job],
    /// Log to which the strategy writes explanations of its decisions. Strategies without explanations ignore the log.
    pub explanation: ExplanationLog,
    /// Token that cancels decisions. A cancelled decision returns [`Refusal::Cancelled`](super::Refusal::Cancelled),
    /// and the allocator must not be used afterwards. A strategy checks the token only if one of its decisions can take
    /// more than a few tenths of a second.
    pub stop: CancelToken,
    /// Whether to count [tied sets](Stats::tied_sets).
    pub count_ties: bool,
}

/// A change of the machine or the queue between two requests.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum MachineEvent<'a> {
    /// A job has released these processors. The processors are listed in the order in which the allocator chose them.
    Released(&'a [NodeId]),
    /// Free processors have gone out of service.
    NodesDown(&'a [NodeId]),
    /// Processors have returned to service and are free.
    NodesUp(&'a [NodeId]),
    /// A job has joined the queue.
    JobQueued(Request),
    /// A job has ended. The value is the request with which the job joined the queue.
    JobFinished(Request),
    /// The utilization of each host of a cluster, from 0 to 1, has been observed before a request.
    HostsObserved(&'a [f64]),
}

/// Properties of a strategy that callers must know before it runs. The properties never change.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Capabilities {
    /// Whether every request gets exactly the requested number of processors if enough processors are free. The
    /// schedule then does not depend on the allocator.
    pub keeps_schedule: bool,
    /// Whether every refusal because of fragmentation ([`Refusal::Fragmented`](super::Refusal::Fragmented)) holds
    /// until processors become free. A refused request is then also refused on every subset of the free processors.
    /// A refusal because too few processors are free always holds until processors become free.
    ///
    /// The value is `false` for strategies that examine only some candidate positions and select these positions by the
    /// state of the machine. With such a strategy, the start of a job can turn another position into a candidate. If
    /// the value is `false`, schedulers repeat requests to the strategy after every start, and cannot [reserve a
    /// placement for the head of the queue](crate::scheduler::Guard::Place).
    pub refusals_last: bool,
    /// Whether a scheduler may [reserve a placement for the head of the queue](crate::scheduler::Guard::Place) although
    /// [`refusals_last`](Self::refusals_last) is `false`. The reservation begins at the first instant at which a copy
    /// of the strategy finds a placement. The head may start later than its reservation.
    ///
    /// The decision on a request, with its [`Times`](super::Times), must depend only on the set of free processors. The
    /// strategy reads the set from the machine or follows it by events: one copy serves many reservations, and on the
    /// copy jobs end ([`MachineEvent::Released`]) and hold processors again ([`MachineEvent::NodesDown`]).
    pub reserves_by_trial: bool,
    /// Whether EASY [reserves a placement for the head of the queue](crate::scheduler::Guard::Place) unless its options
    /// select another guard.
    pub reserves_places: bool,
    /// Whether the chosen processors depend only on the size and shape of the request and on the set of free
    /// processors. If `true`, the choice does not depend on the time, on the owners of busy processors, or on random
    /// numbers.
    pub chooses_by_free: bool,
    /// Whether jobs that are not [servable](Bounds::servable) are rejected on submission: a run omits these jobs and
    /// counts them. If `false`, a run with a job that is not servable is an error.
    pub rejects_unsupported_sizes: bool,
    /// Whether the strategy supports outages. The value is `true` for strategies that use only the set of free
    /// processors, and for strategies that update their state on [`MachineEvent::NodesDown`] and
    /// [`MachineEvent::NodesUp`].
    pub supports_outages: bool,
    /// Whether jobs may run on fewer processors than they request.
    pub folds: bool,
    /// How one folding step makes a request smaller.
    pub folding: Folding,
    /// Whether jobs share the hosts of a cluster.
    pub shares_hosts: bool,
    /// Whether the strategy counts [tied sets](Stats::tied_sets).
    pub counts_ties: bool,
}

/// Capabilities of a strategy that serves every request that does not exceed the number of free processors, and
/// allocates exactly the requested number of processors.
impl Default for Capabilities {
    fn default() -> Self {
        Self {
            keeps_schedule: true,
            refusals_last: true,
            reserves_by_trial: false,
            reserves_places: false,
            chooses_by_free: false,
            rejects_unsupported_sizes: false,
            supports_outages: false,
            folds: false,
            folding: Folding::Count,
            shares_hosts: false,
            counts_ties: false,
        }
    }
}

impl Capabilities {
    /// Returns the capabilities of a strategy that may refuse although enough processors are free, or that allocates
    /// more processors than requested. Refusals by a strategy with these capabilities need not hold until processors
    /// become free.
    pub fn coupled() -> Self {
        Self {
            keeps_schedule: false,
            refusals_last: false,
            folding: Folding::Side,
            ..Self::default()
        }
    }
}

/// The limits on the number of processors that a request can get.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Minimum number of processors in any state of the machine. The minimum is below the requested number only if the
    /// strategy [folds](Capabilities::folds) jobs.
    pub min_processors: u32,
    /// Minimum number of processors in the current state of the machine. This value exceeds
    /// [`min_processors`](Self::min_processors) if the minimum depends on the other jobs.
    pub min_processors_now: u32,
    /// Maximum number of processors. The maximum exceeds the requested number only if the strategy rounds up.
    pub max_processors: u64,
    /// `false` if the request cannot be served even on the empty machine; a run with such a job does not begin. `true`
    /// if the strategy cannot decide whether the empty machine can serve the request.
    pub servable: bool,
}

impl Bounds {
    /// Returns bounds for exactly the requested number of processors.
    pub fn exact(request: Request) -> Self {
        Self::up_to(request.size.into(), request)
    }

    /// Returns bounds from the requested number of processors to `max_processors`.
    pub fn up_to(max_processors: u64, request: Request) -> Self {
        let size = request.size;
        Self { min_processors: size, min_processors_now: size, max_processors, servable: true }
    }
}

/// Counters of a strategy in a run.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Stats {
    /// Units and operations; `None` for strategies that allocate single processors.
    pub census: Option<Census>,
    /// Current and largest possible fragmentation of the menu; `None` for strategies without a
    /// menu of boxes.
    pub menu_fragmentation: Option<[u64; 2]>,
    /// Number of refusals in the run, where a request counts once for each size at which it was refused; `None` if the
    /// strategy does not [fold](Capabilities::folds) jobs.
    pub refused_sizes: Option<u64>,
    /// Reduction of the last allocated job; `None` if this job was not folded.
    pub reduction: Option<Reduction>,
    /// Number of distinct processor sets with the best primary score for the last request, counted before tie-breaking;
    /// 1 if the request took all free processors. `None` if the strategy has no score, if the request could not be
    /// served, or if [ties are not counted](RunSetup::count_ties).
    pub tied_sets: Option<u32>,
}
