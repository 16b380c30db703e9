//! The contract of allocators, for tests.
//!
//! A [`Bench`] owns a machine, an allocator and its running jobs. It makes requests, ends jobs, takes processors out of
//! service and returns them, and checks after every event that the allocator keeps the contract. An [`Oracle`], such as
//! a literal implementation, adds the outcome that each request must have. [`Bench::run`] runs a random [`history`]:
//!
//! ```
//! use replay_contract::Bench;
//! use replay_engine::allocator::{Allocator, Refusal, Request, settled_by_count};
//! use replay_engine::machine::Machine;
//! use replay_engine::topology::NodeId;
//!
//! /// Allocates the free processors with the highest numbers.
//! struct Last;
//!
//! impl Allocator for Last {
//!     fn allocate(
//!         &mut self,
//!         machine: &Machine,
//!         request: Request,
//!         chosen: &mut Vec<NodeId>,
//!     ) -> Result<(), Refusal> {
//!         if !settled_by_count(machine, request.size as usize, chosen)? {
//!             let skipped = machine.free_count() - request.size as usize;
//!             chosen.extend(machine.free_nodes().skip(skipped));
//!         }
//!         Ok(())
//!     }
//! }
//!
//! let definition = |machine: &Machine, request: Request| {
//!     let free: Vec<NodeId> = machine.free_nodes().collect();
//!     free.len().checked_sub(request.size as usize).map(|skipped| free[skipped..].to_vec())
//! };
//! let machine = Machine::new("4x4".parse().expect("a mesh"));
//! let mut bench = Bench::new(machine, Last).with_oracle(definition);
//! let first = bench.serve(Request::of_size(3));
//! assert_eq!(bench.start(Request::of_size(14)), Err(Refusal::TooFewFree));
//! bench.end(&first);
//! bench.gets_whole(None);
//! ```

mod bench;
mod history;
mod intervals;
mod machines;
mod names;
mod oracle;

pub use bench::Bench;
pub use history::{Event, history, pick, starts_and_ends};
pub use intervals::Intervals;
pub use machines::{MACHINE_KINDS, MachineKind, machine_for, machines_for};
pub use names::check_names;
pub use oracle::{Expected, Oracle, Reference, Unchecked};
