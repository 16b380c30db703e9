//! Data that an allocator and its caller exchange.

use super::elmer::Hosts;
use super::notes::Notes;
use super::reduced::{Folding, Reduction};
use super::{Census, Request};
use crate::stop::Stop;
use crate::topology::NodeId;
use crate::workload::Job;

/// What a run gives its allocator before the first request.
#[derive(Clone, Debug, Default)]
pub struct RunSetup<'a> {
    /// All jobs to come; empty if they are not known.
    pub jobs: &'a [Job],
    /// Where the strategy explains its decisions. Strategies that explain nothing ignore it.
    pub notes: Notes,
    /// Breaks off decisions, with [`Refusal::Stopped`](super::Refusal::Stopped); the allocator is then of no
    /// further use. Strategies ignore it unless a single decision can take more than some tenths of a second.
    pub stop: Stop,
    /// Whether [tied sets](Stats::tied_sets) are counted.
    pub count_ties: bool,
}

/// What happens to the machine and the queue between two requests.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum MachineEvent<'a> {
    /// A job that held these processors, as they were chosen, has given them back.
    Released(&'a [NodeId]),
    /// Free processors have left the machine, out of service.
    NodesDown(&'a [NodeId]),
    /// Processors have returned, free.
    NodesUp(&'a [NodeId]),
    /// A job joins the queue.
    JobQueued(Request),
    /// A job has ended that had joined the queue with this request.
    JobFinished(Request),
    /// Before a request on a cluster: by host, the share of its processor in use, 0 to 1.
    HostsObserved(&'a [f64]),
}

/// What callers must know of a strategy before it runs. It does not change.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Capabilities {
    /// Whether every request for no more processors than are free is served with exactly
    /// as many as it asks for, so that the schedule does not depend on the allocator.
    pub keeps_schedule: bool,
    /// Whether every refusal for want of a place ([`Refusal::Fragmented`](super::Refusal::Fragmented)) stands until
    /// processors come free: a request that is refused is refused on every part of the free processors as well. A
    /// request that is refused because too few processors are free stays refused in any case.
    ///
    /// `false` for strategies that look at some of the places only and choose these by the state of the
    /// machine: a job that starts can make a place visible. Schedulers ask these again after every start,
    /// and [a place for the head of the queue](crate::scheduler::Guard::Place) cannot be promised with them.
    pub refusals_last: bool,
    /// Whether [a place for the head of the queue](crate::scheduler::Guard::Place) may be reserved although refusals do not
    /// [last](Self::refusals_last): the first instant at which a copy of the strategy finds one. The promise may be broken.
    pub reserves_by_trial: bool,
    /// Whether what a request gets depends on nothing but its size and shape and which processors are
    /// free: not on the time, nor on who holds the others, nor on chance.
    pub chooses_by_free: bool,
    /// Whether jobs that are not [servable](Bounds::servable) are turned away as they are submitted: a run leaves
    /// them out and counts them. Otherwise there is no run with such a job.
    pub rejects_unsupported_sizes: bool,
    /// Whether some processors may be out of service at times. It holds for strategies that go by
    /// nothing but which processors are free, and for those whose books follow [`MachineEvent::NodesDown`] and
    /// [`MachineEvent::NodesUp`].
    pub supports_outages: bool,
    /// Whether jobs may run on fewer processors than they ask for.
    pub folds: bool,
    /// How a request becomes smaller by one step.
    pub folding: Folding,
    /// How the hosts of a cluster run the jobs that share them; `None` if no jobs share hosts.
    pub hosts: Option<Hosts>,
    /// Whether it counts [tied sets](Stats::tied_sets).
    pub counts_ties: bool,
}

/// Serves every request for no more processors than are free, with exactly as many.
impl Default for Capabilities {
    fn default() -> Self {
        Self {
            keeps_schedule: true,
            refusals_last: true,
            reserves_by_trial: false,
            chooses_by_free: false,
            rejects_unsupported_sizes: false,
            supports_outages: false,
            folds: false,
            folding: Folding::Count,
            hosts: None,
            counts_ties: false,
        }
    }
}

impl Capabilities {
    /// Those of a strategy that may refuse although enough processors are free, or give more than a job
    /// asks for. Its refusals need not last.
    pub fn coupled() -> Self {
        Self {
            keeps_schedule: false,
            refusals_last: false,
            folding: Folding::Side,
            ..Self::default()
        }
    }
}

/// What a request can be given, on an empty machine or any other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// The fewest processors, now or later: fewer than it asks for only if the strategy
    /// [folds](Capabilities::folds) jobs.
    pub min_processors: u32,
    /// The fewest processors now: more than [`min_processors`](Self::min_processors) if that depends on the
    /// other jobs.
    pub min_processors_now: u32,
    /// The most processors: more than it asks for only if the strategy rounds up.
    pub max_processors: u64,
    /// `false` if not even the empty machine can serve the request: a run with such a job does not begin.
    /// `true` if the strategy cannot know.
    pub servable: bool,
}

impl Bounds {
    /// Exactly as many processors as the request asks for.
    pub fn exact(request: Request) -> Self {
        Self::up_to(request.size.into(), request)
    }

    /// From as many processors as the request asks for to `max_processors`.
    pub fn up_to(max_processors: u64, request: Request) -> Self {
        let size = request.size;
        Self { min_processors: size, min_processors_now: size, max_processors, servable: true }
    }
}

/// What a strategy counts in a run.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Stats {
    /// Units and operations; `None` if it hands out single processors.
    pub census: Option<Census>,
    /// Of strategies with a menu of boxes: how much of it is blocked, and could be at most, as
    /// [fragmentation](crate::placement::fragmentation) counts.
    pub menu_fragmentation: Option<[u64; 2]>,
    /// Sizes that were refused in the run; `None` if the strategy [folds](Capabilities::folds) no job.
    pub refused_sizes: Option<u64>,
    /// How the job was folded that was allocated last; `None` if it was not.
    pub reduction: Option<Reduction>,
    /// Number of distinct processor sets that shared the best primary score for the last
    /// request, before any tie-breaking; 1 if it took all free processors. `None` if the strategy has no
    /// score, the request could not be served, or [no ties are counted](RunSetup::count_ties).
    pub tied_sets: Option<u32>,
}
