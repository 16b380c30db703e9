//! Allocators: strategies that choose the processors of a job.
//!
//! A strategy implements [`Allocator`]: it reads the [`Machine`] and chooses free processors; it never changes the
//! machine itself. Strategies do not depend on schedulers; they receive the times of a job with its [`Request`]. Users
//! select strategies by names in the grammar of [`StrategyName`](crate::naming::StrategyName); [`registry`] maps the
//! names to code.
//!
//! This crate contains only the interface, with the words that strategies share:
//!
//! | module | contents |
//! |---|---|
//! | [`registry`] | a strategy as a user selects it |
//! | [`ties`] | tie vectors and slack |
//! | [`submesh`], [`subcube`] | boxes of processors and shapes of jobs; subcubes of hypercubes |
//! | [`explain`], [`candidate_set`] | explanations of decisions |
//! | [`loss_model`] | the estimates of strategies that tune themselves |
//!
//! The strategies are in crates of their own: `replay-centre`, `replay-mesh`, `replay-slurm`, `replay-cubes`.
//!
//! [`explain`] holds the explanations that a strategy records about its decisions.
//!
//! # How to add a strategy
//!
//! 1. Write a file for the strategy: a type that implements [`Allocator`], and tests. [`Allocator::allocate`] chooses
//!    processors; a strategy that keeps state clears it in [`begin`](Allocator::begin) and updates it in
//!    [`on_event`](Allocator::on_event). A strategy that may refuse although enough processors are free declares this
//!    in its [`Capabilities`].
//! 2. In the same file, define a struct for its options that implements [`AllocatorOptions`], and a function `table`
//!    that gives the name, meaning, source and parameters of the strategy (see [`crate::naming`]).
//! 3. Add the table to the [`Registries`](crate::registries::Registries) of the program. A crate of strategies has a
//!    function `add_to` that does this for all its strategies.
//!
//! ```
//! use replay_engine::allocator::registry::AllocatorSpec;
//! use replay_engine::allocator::{Allocator, AllocatorOptions, Refusal, Request};
//! use replay_engine::machine::Machine;
//! use replay_engine::naming::{Entry, Table, kind};
//! use replay_engine::registries::Registries;
//! use replay_engine::topology::{NodeId, Topology};
//!
//! /// Takes free processors whose number is a multiple of `step` first, then the others.
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
//!     .param("step", kind::integer(1..=64), "distance between preferred processors", |s| &mut s.step);
//! let table = Table::new("allocator", [entry]);
//! let registries =
//!     Registries::new().with_allocators(|all| all.with(table, AllocatorSpec::parse));
//! let allocators = registries.allocators;
//!
//! let strided = allocators.read("STRIDED[step=3]")?;
//! assert_eq!(strided.to_string(), "strided[step=3]");
//! let machine = Machine::new("4x2".parse().expect("a mesh"));
//! let mut chosen = Vec::new();
//! let mut allocator = strided.build(machine.topology(), 0)?;
//! allocator.allocate(&machine, Request::of_size(4), &mut chosen).expect("all are free");
//! assert_eq!(chosen, [0, 3, 6, 1].map(NodeId));
//! // The strategy is listed, and misspelt names get hints.
//! assert!(allocators.names().any(|name| name == "strided"));
//! let advice = |text| allocators.read(text).unwrap_err().to_string();
//! assert!(advice("strided[step=0]").contains("not an integer from 1 to 64"));
//! assert!(advice("strided[setp=3]").contains("did you mean \"step\"?"));
//! # Ok::<(), replay_engine::naming::NameError>(())
//! ```

mod batch;
pub mod candidate_set;
mod decorator;
pub mod explain;
mod interface;
pub mod loss_model;
mod options;
mod partitioned;
mod recorded;
mod reduction;
pub mod registry;
mod spec;
pub mod subcube;
pub mod submesh;
pub mod ties;

pub use batch::{Batch, BatchBuilder, BatchPlacement};
pub use decorator::Decorator;
pub use interface::{Bounds, Capabilities, MachineEvent, RunSetup, Stats};
pub use options::{AllocatorOptions, grid_of, mesh_of};
pub use partitioned::Partitioned;
pub use recorded::RecordedOptions;
pub use reduction::{Folded, Folding, Reduction};

use crate::cancel::Cancelled;
use crate::machine::Machine;
use crate::service::Service;
use crate::topology::NodeId;

/// A job's request for processors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Request {
    /// Number of processors, at least one.
    pub size: u32,
    /// Side lengths along x, y, z, if the job has a shape.
    pub shape: Option<[u16; 3]>,
    /// Index of the [partition](crate::partitions) of the job; 0 on a machine without partitions.
    pub partition: u16,
    /// Time of the request and expected run time. Strategies may use these times to choose processors or to postpone
    /// the request ([`Refusal::Postponed`]). No other refusal may depend on these times.
    pub times: Times,
}

/// Time of a request and expected run time of its job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Times {
    /// Time of the request, in seconds of the trace; 0 if the caller has no clock.
    pub now: i64,
    /// User's estimate of the run time in seconds ([`Job::limit`](crate::workload::Job::limit)); `None` if unknown.
    pub limit: Option<u32>,
    /// The instant at which the job joined the queue; `None` if unknown.
    pub submitted: Option<i64>,
    /// Number of the job in its trace; `None` if unknown.
    pub job: Option<i64>,
}

impl Times {
    /// Returns the number of seconds since the job joined the queue; `i64::MAX` if the instant at which it joined is
    /// unknown.
    pub fn waited(&self) -> i64 {
        self.submitted.map_or(i64::MAX, |at| self.now.saturating_sub(at))
    }
}

impl Request {
    /// Returns a request for `size` processors without a shape.
    pub fn of_size(size: u32) -> Self {
        Self::shaped(size, None)
    }

    /// Returns a request for `size` processors with an optional shape.
    pub fn shaped(size: u32, shape: Option<[u16; 3]>) -> Self {
        Self { size, shape, partition: 0, times: Times::default() }
    }
}

/// Reason why an allocator chose no processors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// Fewer processors are free than the job needs.
    #[error("too few free processors")]
    TooFewFree,
    /// Enough processors are free, but the strategy cannot use them for this job (external fragmentation).
    #[error("the strategy cannot use the free processors")]
    Fragmented,
    /// The job would fit, but the strategy waits for a better placement until the instant `until`. The caller repeats
    /// the request at that instant, even if the machine has not changed.
    #[error("waits for a better place until {until}")]
    Postponed {
        /// Seconds of the trace.
        until: i64,
    },
    /// The run was [cancelled](RunSetup::stop) during the decision.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Refuses a request that needs more processors than are free.
pub fn require_free(machine: &Machine, processors: u64) -> Result<(), Refusal> {
    if processors > machine.free_count() as u64 { Err(Refusal::TooFewFree) } else { Ok(()) }
}

/// Handles requests whose outcome depends only on the number of free processors. A request for more processors than are
/// free is refused. A request for all free processors gets all of them, and the result is `true`. In all other cases,
/// the result is `false`.
pub fn settled_by_count(
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

/// Counters of a strategy that allocates sub-meshes, buddy blocks or pages. All counters are zero at the
/// [begin](Allocator::begin) of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Census {
    /// Number of units (sub-meshes, buddy blocks, pages) in the last allocation. A job is allocated contiguously iff it
    /// has exactly one unit (Bani-Mohammad 2008, section 4.4).
    pub blocks: u32,
    /// Current number of entries in the busy list, which has one entry for each allocated unit.
    pub busy_list: u32,
    /// Number of searches for a sub-mesh, successful or not; the first search of each request is not counted (GABL's
    /// Step 6).
    pub searches: u64,
    /// Number of elementary operations. Each strategy documents which operations it counts.
    pub operations: u64,
}

impl Census {
    /// Counts the allocation of `blocks` units to a job.
    pub fn add_job(&mut self, blocks: u32) {
        self.blocks = blocks;
        self.busy_list += blocks;
    }
}

/// A processor allocation strategy on one machine.
///
/// An allocator may keep state between calls. All calls from one [`begin`](Allocator::begin) to the next concern the
/// same machine, which has no busy processor at the first call. After every successful
/// [`allocate`](Allocator::allocate), the caller passes the chosen processors to [`Machine::occupy`]. After every
/// [`Machine::release`], the caller reports [`MachineEvent::Released`].
///
/// A type that changes the behaviour of another allocator implements [`Decorator`] instead.
pub trait Allocator: Send {
    /// Begins a run: clears all state of earlier runs. Later runs may use another machine. A caller without a
    /// [setup](RunSetup) may omit this call if the allocator is newly built.
    ///
    /// # Errors
    /// A message if the strategy cannot be initialized for the jobs of the run.
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        let _ = setup;
        Ok(())
    }

    /// Appends the chosen processors to `chosen`, which is empty before the call. The processors are free and distinct.
    /// The processors are listed unit by unit in the order of allocation, and row-major from the base within a unit.
    /// The first `request.size` processors run the job's processes; the remaining processors are lost to internal
    /// fragmentation. If the request is refused, `chosen` stays empty.
    ///
    /// A strategy that [folds](Capabilities::folds) jobs may serve a smaller request instead. [`Stats::reduction`] then
    /// contains the smaller request.
    ///
    /// After a refusal, the same request is refused again until the set of free processors changes. A simulation need
    /// not repeat requests of the same size and shape until then.
    ///
    /// # Errors
    /// [`Refusal`] if the job cannot have processors now.
    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal>;

    /// Updates the allocator's state after an event; `machine` is in its state after the event.
    fn on_event(&mut self, machine: &Machine, event: MachineEvent<'_>) {
        let _ = (machine, event);
    }

    /// Returns the properties of the strategy on which callers depend. The properties never change.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    /// Returns limits on the number of processors that a request can get.
    fn bounds(&mut self, request: Request) -> Bounds {
        Bounds::exact(request)
    }

    /// Returns the strategy's counters of this run.
    fn stats(&self) -> Stats {
        Stats::default()
    }

    /// Returns whether a refusal of the request `refused` because of fragmentation ([`Refusal::Fragmented`]) implies
    /// that the request `asked` is refused too. The implication must hold on the same free processors and on any subset
    /// of them. A refusal of `refused` implies a refusal of `asked`, for example, if every free box for `asked`
    /// contains a free box for `refused`. The implied refusal is [`Refusal::TooFewFree`] if fewer processors are free
    /// than the [`max_processors`](Bounds::max_processors) of `asked`, otherwise [`Refusal::Fragmented`]. A strategy
    /// that finds every free box returns `true` if both requests are equal.
    fn refusal_covers(&mut self, refused: Request, asked: Request) -> bool {
        let _ = (refused, asked);
        false
    }

    /// Returns the model of running jobs if jobs share processors, such as the hosts of a cluster; `None` if every job
    /// uses its processors exclusively. The times of the jobs are in units of which `ticks_per_second` are a second.
    fn service(&self, ticks_per_second: f64) -> Option<Box<dyn Service>> {
        let _ = ticks_per_second;
        None
    }

    /// Returns an allocator in the same state, for queries on a copy of the machine; `None` if the strategy does not
    /// support copies.
    fn try_clone(&self) -> Option<Box<dyn Allocator>> {
        None
    }
}
