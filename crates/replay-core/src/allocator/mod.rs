//! Which processors a job gets.
//!
//! A strategy implements [`Allocator`]: it reads the [`Machine`] and names free
//! processors; it never changes the machine itself. Strategies know nothing of
//! schedulers, queues or time. Users name them by the grammar of
//! [`StrategyName`](crate::naming::StrategyName); [`registry`] maps names to code.
//!
//! | room | strategies |
//! |---|---|
//! | [`centre`] | MC1x1, also with a tie vector that tunes itself, Gen-Alg, MM |
//! | [`mc`] | MC for jobs with a shape |
//! | [`curve`] | curves with Best Fit, First Fit, free list, sum of squares |
//! | [`random`] | uniformly random processors |
//! | [`contiguous`] | First Fit, Best Fit, turning or not, Frame Sliding, Adaptive Scan |
//! | [`busy_list`] | Busy List, Turning Busy List |
//! | [`gabl`] | GABL: sub-meshes by busy lists, as few and as large as can be |
//! | [`paging`] | pages in an order of the mesh |
//! | [`mbs`] | MBS: power-of-two blocks, and its granular and octet variants |
//! | [`as_mb`] | Adaptive Scan, then MBS |
//! | [`buddy`] | the 2D buddy system |
//! | [`anca`] | ANCA: a job in equal frames |
//! | [`elmer`] | hosts of a cluster that jobs share |
//! | [`hypercube`] | subcubes of hypercubes, and what meshes leave of them |
//! | [`midplane`] | whole midplanes, as on BlueGene/L |
//! | [`torus3d`] | boxes from a menu, by the rule that Slurm ships |
//! | [`reduced`] | jobs on fewer processors than they ask for, around any strategy |
//! | [`submesh`] | boxes of processors, shapes of jobs, turning |
//!
//! [`notes`] are what a strategy tells of a decision to whoever wants to understand it.
//!
//! # How to add one
//!
//! 1. Write its file: a type with [`Allocator`], and tests.
//! 2. Beside it, a struct of its options with [`AllocatorOptions`].
//! 3. And a function `table`: name, meaning, source, parameters (see [`crate::naming`]).
//! 4. Add its `mod` line here and one line to the registry.
//! 5. `replay list allocators` shows it; the registry's tests hold it to the contract.
//!
//! Outside the crate the fourth step is a registry of one's own:
//!
//! ```
//! use replay_core::allocator::registry::{AllocatorSpec, standard};
//! use replay_core::allocator::{Allocator, AllocatorOptions, Refusal, Request};
//! use replay_core::machine::Machine;
//! use replay_core::naming::{Entry, Table, kind};
//! use replay_core::topology::{NodeId, Topology};
//!
//! /// Free processors whose number is a multiple of `step` first, then the others.
//! #[derive(Clone, PartialEq)]
//! struct Strided { step: u32 }
//!
//! impl Allocator for Strided {
//!     fn allocate(
//!         &mut self,
//!         machine: &Machine,
//!         request: Request,
//!         chosen: &mut Vec<NodeId>,
//!     ) -> Result<(), Refusal> {
//!         let size = request.size as usize;
//!         if size > machine.free_count() {
//!             return Err(Refusal::TooFewFree);
//!         }
//!         let (first, others): (Vec<_>, Vec<_>) =
//!             machine.free_nodes().partition(|node| node.0.is_multiple_of(self.step));
//!         chosen.extend(first.into_iter().chain(others).take(size));
//!         Ok(())
//!     }
//! }
//!
//! impl AllocatorOptions for Strided {
//!     fn build(&self, _machine: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
//!         Ok(Box::new(self.clone()))
//!     }
//! }
//!
//! let entry = Entry::new("strided", Strided { step: 2 })
//!     .about("Every step-th processor, then the others.")
//!     .param("step", kind::integer(1..=64), "distance of the first ones", |s| &mut s.step);
//! let allocators = standard().clone().with(Table::new("allocator", [entry]), AllocatorSpec::parse);
//!
//! let strided = allocators.read("STRIDED[step=3]")?;
//! assert_eq!(strided.to_string(), "strided[step=3]");
//! let machine = Machine::new("4x2".parse().expect("a mesh"));
//! let mut chosen = Vec::new();
//! let mut allocator = strided.build(machine.topology(), 0)?;
//! allocator.allocate(&machine, Request::of_size(4), &mut chosen).expect("all are free");
//! assert_eq!(chosen, [0, 3, 6, 1].map(NodeId));
//! // It is listed like the others, and mistakes get the same advice.
//! assert!(allocators.names().any(|name| name == "strided") && standard().read("strided").is_err());
//! let advice = |text| allocators.read(text).unwrap_err().to_string();
//! assert!(advice("strided[step=0]").contains("not an integer from 1 to 64"));
//! assert!(advice("strided[setp=3]").contains("did you mean \"step\"?"));
//! # Ok::<(), replay_core::naming::NameError>(())
//! ```

pub mod anca;
pub mod as_mb;
pub mod buddy;
pub mod busy_list;
pub mod centre;
pub mod contiguous;
pub mod curve;
pub mod elmer;
pub mod gabl;
pub mod hypercube;
pub mod mbs;
pub mod mc;
pub mod midplane;
pub mod notes;
mod options;
#[cfg(test)]
mod out_of_service;
pub mod paging;
mod past;
pub mod random;
pub mod recorded;
pub mod reduced;
pub mod registry;
pub mod rival;
mod spec;
pub mod submesh;
pub mod torus3d;

pub use options::{AllocatorOptions, Engine};

use self::notes::Notes;
use self::reduced::{Folding, Reduction};
use crate::machine::Machine;
use crate::stop::{Stop, Stopped};
use crate::topology::NodeId;

/// What a job asks for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Request {
    /// Number of processors, at least one.
    pub size: u32,
    /// Side lengths along x, y, z, if the job came with a shape.
    pub shape: Option<[u16; 3]>,
    /// When it is made, and for how long. This may decide where a job goes, never whether it gets a
    /// place.
    pub times: Times,
}

/// The present, and what is known of a job's future.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Times {
    /// The instant of the request, in seconds of the trace; 0 where nobody tells the time.
    pub now: i64,
    /// Seconds after its start at which the job is to end, as its user says
    /// ([`Job::limit`](crate::workload::Job::limit)); `None` if unknown.
    pub limit: Option<u32>,
}

impl Request {
    /// A request for `size` processors of no particular shape.
    pub fn of_size(size: u32) -> Self {
        Self::shaped(size, None)
    }

    /// A request for `size` processors, in this shape if there is one.
    pub fn shaped(size: u32, shape: Option<[u16; 3]>) -> Self {
        Self { size, shape, times: Times::default() }
    }
}

/// Why an allocator chose nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// Fewer processors are free than the job needs.
    #[error("too few free processors")]
    TooFewFree,
    /// Enough processors are free, but the strategy cannot use them for this job
    /// (external fragmentation).
    #[error("free processors do not fit the strategy")]
    Fragmented,
    /// The strategy was [told to stop](Allocator::stopped_by) in the middle of the decision.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// What the number of free processors alone decides: with fewer than `size` nobody can
/// serve the request, with exactly `size` everybody takes all. `true` if that settled it.
pub(crate) fn settled_by_count(
    machine: &Machine,
    size: usize,
    chosen: &mut Vec<NodeId>,
) -> Result<bool, Refusal> {
    match machine.free_count().checked_sub(size) {
        None => Err(Refusal::TooFewFree),
        Some(0) => {
            chosen.extend(machine.free_nodes());
            Ok(true)
        }
        Some(_) => Ok(false),
    }
}

/// What a strategy of sub-meshes, buddy blocks or pages counts since its last
/// [`reset`](Allocator::reset).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Census {
    /// Units (sub-meshes, buddy blocks, pages) in the last allocation. A job is allocated
    /// contiguously iff it has one (Bani-Mohammad 2008, section 4.4).
    pub blocks: u32,
    /// Entries of the busy list now: one for each unit that is handed out.
    pub busy_list: u32,
    /// Searches for a sub-mesh after the first of a request (GABL's Step 6), successful or
    /// not.
    pub searches: u64,
    /// Elementary operations; the strategy says which it counts.
    pub operations: u64,
}

/// A processor allocation strategy on one machine.
///
/// An allocator may keep state between calls, but it follows the machine it is shown:
/// all calls between two [`reset`](Allocator::reset)s concern the same machine, which has
/// no busy processor at the first. Every successful [`allocate`](Allocator::allocate) is
/// followed by [`Machine::occupy`] of the same processors, every [`Machine::release`] by
/// [`released`](Allocator::released).
pub trait Allocator: Send {
    /// Appends the chosen processors, all free and distinct, to the empty `chosen`: unit
    /// by unit in the order of allocation, and within a unit row-major from its base. The
    /// first `request.size` of them run the job's processes; any more are lost to internal
    /// fragmentation. On refusal `chosen` stays empty.
    ///
    /// On the same free processors a request of the same size and shape is refused again: a simulation
    /// need not ask twice.
    ///
    /// # Errors
    /// [`Refusal`] if the job cannot have processors now.
    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal>;

    /// Whether every refusal for want of a place ([`Refusal::Fragmented`]) stands until processors come
    /// free: a request that is refused is refused on every part of the free processors as well. A
    /// request that is refused because too few processors are free stays refused in any case.
    ///
    /// `false` for strategies that look at some of the places only and choose these by the state of the
    /// machine: a job that starts can make a place visible. Schedulers ask these again after every start,
    /// and [a place for the head of the queue](crate::scheduler::Guard::Place) cannot be promised with them.
    fn refusals_last(&self) -> bool {
        self.keeps_schedule()
    }

    /// Whether the refusal of one request for want of a place ([`Refusal::Fragmented`]) tells of
    /// another that it is refused as well, on the same free processors and on any part of them: for want
    /// of processors if fewer are free than its [largest allocation](Self::largest_allocation), else for
    /// want of a place. So no box is free that holds one which is not, and a strategy that finds every free box says
    /// so of every request and itself.
    fn refusal_covers(&mut self, refused: Request, asked: Request) -> bool {
        let _ = (refused, asked);
        false
    }

    /// Whether what a request gets depends on nothing but its size and shape and which processors are
    /// free: not on the time, nor on who holds the others, nor on chance.
    fn chooses_by_free(&self) -> bool {
        false
    }

    /// The most processors that the request can be given, on an empty machine or any other:
    /// those it asks for, unless the strategy rounds up.
    fn largest_allocation(&mut self, request: Request) -> u64 {
        u64::from(request.size)
    }

    /// `false` if not even the empty machine can serve the request, which is known without asking:
    /// then no run begins that would come to it. Strategies that cannot tell say `true`.
    fn can_serve(&mut self, request: Request) -> bool {
        let _ = request;
        true
    }

    /// Whether jobs that it [cannot serve](Self::can_serve) are turned away as they are submitted, because they have a
    /// size that nobody may ask for: a run leaves them out and counts them. Elsewhere there is no run with such a job.
    fn turns_away(&self) -> bool {
        false
    }

    /// As [`allocate`](Allocator::allocate), but a strategy that [reduces](reduced) jobs may serve a
    /// smaller request instead, and says so.
    ///
    /// # Errors
    /// [`Refusal`] if the job cannot have processors now, however few.
    fn allocate_or_less(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<Option<Reduction>, Refusal> {
        self.allocate(machine, request, chosen).map(|()| None)
    }

    /// Before the first request: the sizes of all jobs to come, ascending, each once.
    ///
    /// # Errors
    /// In words, if the strategy cannot be made for them.
    fn expect(&mut self, sizes: &[u32]) -> Result<(), String> {
        let _ = sizes;
        Ok(())
    }

    /// A job joins the queue.
    fn queued(&mut self, request: Request) {
        let _ = request;
    }

    /// A job is done that had joined the queue with this request.
    fn left(&mut self, request: Request) {
        let _ = request;
    }

    /// The fewest processors on which the request may be served, now or later.
    fn least(&self, request: Request) -> u32 {
        request.size
    }

    /// The fewest processors on which the request may be served now: more than
    /// [`least`](Allocator::least) where what a job may get depends on the other jobs.
    fn least_now(&self, request: Request) -> u32 {
        self.least(request)
    }

    /// Whether jobs may run on fewer processors than they ask for.
    fn folds(&self) -> bool {
        self.refused_sizes().is_some()
    }

    /// How a request becomes smaller by one step.
    fn folding(&self) -> Folding {
        if self.keeps_schedule() { Folding::Count } else { Folding::Side }
    }

    /// Sizes that were refused since the last [`reset`](Allocator::reset); `None` if the strategy
    /// reduces no job.
    fn refused_sizes(&self) -> Option<u64> {
        None
    }

    /// How the hosts of a cluster run the jobs that share them; `None` if nobody shares.
    fn hosts(&self) -> Option<elmer::Hosts> {
        None
    }

    /// Before a request on a cluster: by host, the share of its processor in use, 0 to 1.
    fn observe(&mut self, utilization: &[f64]) {
        let _ = utilization;
    }

    /// A job that held `nodes`, as they were chosen, has given them back to `machine`.
    fn released(&mut self, machine: &Machine, nodes: &[NodeId]) {
        let _ = (machine, nodes);
    }

    /// What the strategy counts; `None` if it hands out single processors.
    fn census(&self) -> Option<Census> {
        None
    }

    /// Of strategies with a menu of boxes: how much of it is blocked, and could be at most, as
    /// [fragmentation](crate::placement::fragmentation) counts.
    fn blocked(&self) -> Option<[u64; 2]> {
        None
    }

    /// Number of distinct processor sets that share the best primary score for this
    /// request, before any tie-breaking; 1 if all free processors are taken. `None` if
    /// the strategy has no score or the request cannot be served.
    fn tied_sets(&mut self, machine: &Machine, request: Request) -> Option<u32> {
        let _ = (machine, request);
        None
    }

    /// Whether every request for no more processors than are free is served with exactly
    /// as many as it asks for, so that the schedule does not depend on the allocator.
    fn keeps_schedule(&self) -> bool {
        true
    }

    /// Another one that has seen the same, to be asked what would be on a copy of the machine; `None`
    /// if the strategy has no copies.
    fn copy(&self) -> Option<Box<dyn Allocator>> {
        None
    }

    /// Whether some processors may be out of service at times: nobody's, and not free. So it is for
    /// strategies that go by nothing but which processors are free, and for those whose books follow
    /// [`withdrawn`](Allocator::withdrawn) and [`restored`](Allocator::restored).
    fn takes_outages(&self) -> bool {
        false
    }

    /// Free processors have left the `machine`, out of service.
    fn withdrawn(&mut self, machine: &Machine, nodes: &[NodeId]) {
        let _ = (machine, nodes);
    }

    /// They have returned, free.
    fn restored(&mut self, machine: &Machine, nodes: &[NodeId]) {
        let _ = (machine, nodes);
    }

    /// Forgets the machine seen so far; the next call may show another.
    fn reset(&mut self) {}

    /// Lets the strategy tell what it looks at: whoever listens to the notes hears of the decisions
    /// that are made meanwhile. Strategies of which nothing can be told but the outcome have none.
    fn tells(&mut self, notes: &Notes) {
        let _ = notes;
    }

    /// Lets a flag break off decisions that take long, [`Refusal::Stopped`]; the allocator is
    /// then of no further use. To be overridden by strategies of which a single decision can
    /// take more than some tenths of a second, and by those that ask others.
    fn stopped_by(&mut self, stop: &Stop) {
        let _ = stop;
    }
}
