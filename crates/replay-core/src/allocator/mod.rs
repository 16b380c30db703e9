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
//! 1. Write its file: a type with [`Allocator`], and tests. [`Allocator::allocate`] decides; a strategy that keeps
//!    state clears it in [`begin`](Allocator::begin) and follows the machine in [`on_event`](Allocator::on_event). One
//!    that may refuse although enough processors are free declares it in its [`Capabilities`].
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
pub mod candidate_set;
pub mod centre;
pub mod contiguous;
pub mod curve;
mod decorator;
pub mod elmer;
pub mod explain;
pub mod gabl;
pub mod hypercube;
mod interface;
mod loss_model;
pub mod mbs;
pub mod mc;
pub mod midplane;
mod options;
#[cfg(test)]
mod out_of_service;
pub mod paging;
pub mod random;
pub mod recorded;
pub mod reduced;
pub mod registry;
mod spec;
pub mod submesh;
pub mod torus3d;

pub use decorator::Decorator;
pub use interface::{Bounds, Capabilities, MachineEvent, RunSetup, Stats};
pub use options::{AllocatorOptions, Engine};

use crate::cancel::Cancelled;
use crate::machine::Machine;
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
    /// Number of the job in its trace; `None` if unknown.
    pub job: Option<i64>,
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
    /// The run was [stopped](RunSetup::stop) in the middle of the decision.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
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

/// What a strategy of sub-meshes, buddy blocks or pages counts since the [begin](Allocator::begin)
/// of the run.
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
/// all calls from one [`begin`](Allocator::begin) to the next concern the same machine, which has
/// no busy processor at the first. Every successful [`allocate`](Allocator::allocate) is
/// followed by [`Machine::occupy`] of the same processors, every [`Machine::release`] by
/// [`MachineEvent::Released`].
///
/// A type that changes what another allocator does implements [`Decorator`] instead.
pub trait Allocator: Send {
    /// Begins a run: forgets the machine seen so far; the next call may show another. An allocator that was
    /// just built may be used without, for a run without a [setup](RunSetup).
    ///
    /// # Errors
    /// In words, if the strategy cannot be made for the jobs to come.
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        let _ = setup;
        Ok(())
    }

    /// Appends the chosen processors, all free and distinct, to the empty `chosen`: unit
    /// by unit in the order of allocation, and within a unit row-major from its base. The
    /// first `request.size` of them run the job's processes; any more are lost to internal
    /// fragmentation. On refusal `chosen` stays empty.
    ///
    /// A strategy that [folds](Capabilities::folds) jobs may serve a smaller request instead; its
    /// [stats](Stats::reduction) hold which.
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

    /// Follows what happens to the `machine`, which is as it is after the event.
    fn on_event(&mut self, machine: &Machine, event: MachineEvent<'_>) {
        let _ = (machine, event);
    }

    /// Returns what callers must know of the strategy. It does not change.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    /// Returns what a request can be given.
    fn bounds(&mut self, request: Request) -> Bounds {
        Bounds::exact(request)
    }

    /// Returns what the strategy counts in this run.
    fn stats(&self) -> Stats {
        Stats::default()
    }

    /// Whether the refusal of one request for want of a place ([`Refusal::Fragmented`]) implies that
    /// another is refused as well, on the same free processors and on any part of them: for want
    /// of processors if fewer are free than its [most](Bounds::max_processors), else for
    /// want of a place. So no box is free that holds one which is not, and a strategy that finds every
    /// free box returns `true` for every request and itself.
    fn refusal_covers(&mut self, refused: Request, asked: Request) -> bool {
        let _ = (refused, asked);
        false
    }

    /// Returns an allocator in the same state, to be asked about a copy of the machine; `None`
    /// if the strategy has no copies.
    fn try_clone(&self) -> Option<Box<dyn Allocator>> {
        None
    }
}
