//! Allocators of hypercubes, of workstations that jobs share, and of jobs on fewer processors than they request.
//!
//! Sources: C. Chang and P. Mohapatra, "An adaptive job allocation method for multicomputer systems", ICDCS 1996 (size
//! reduction); S. W. Turner, "Processor scheduling in a distributed-memory computing environment", PhD thesis, Michigan
//! State University, 1995 (hypercubes and workstations); and the papers that these works compare with.
//!
//! | module | contents |
//! |---|---|
//! | [`hypercube`] | one or several subcubes per job |
//! | [`elmer`] | hosts of a cluster that jobs share |
//! | [`cluster`] | the speed of jobs that share hosts |
//! | [`reduced`] | size reduction, as a decorator of any strategy |
//! | `scan`, `lazy`, `fchp` | scheduling disciplines that only these works use |
//!
//! A strategy for hypercubes embeds the mesh of a job in a free subcube; the strategies differ in the subcubes that they
//! recognise. A strategy that reduces sizes asks another strategy for a smaller request when the other strategy
//! refuses. [`add_to`] and [`decorators`] add the strategies to the registries of a program:
//!
//! ```
//! use replay_engine::allocator::Request;
//! use replay_engine::machine::Machine;
//! use replay_engine::registries::Registries;
//!
//! let registries = replay_cubes::decorators(replay_cubes::add_to(Registries::new()));
//! let machine = Machine::new("hypercube:3".parse()?);
//! let strategy = registries.allocators.read("limit[k=1,inner=gray-code]")?;
//! let mut allocator = strategy.build(machine.topology(), 0)?;
//! let mut chosen = Vec::new();
//! allocator.allocate(&machine, Request::of_size(8), &mut chosen)?;
//! assert_eq!(chosen.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod by_dimension;
pub mod cluster;
pub mod elmer;
mod fchp;
pub mod hypercube;
mod lazy;
pub mod reduced;
mod scan;

use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::registries::Registries;
use replay_engine::scheduler::registry::SchedulerSpec;

/// Adds the strategies for hypercubes and clusters, and the schedulers of this crate.
pub fn add_to(registries: Registries) -> Registries {
    registries
        .with_allocators(|all| {
            all.with(hypercube::names::cubic(), AllocatorSpec::parse)
                .with(hypercube::names::auxiliary(), AllocatorSpec::parse)
                .with(hypercube::names::non_cubic(), AllocatorSpec::parse)
                .with(elmer::table(), AllocatorSpec::parse)
        })
        .with_schedulers(|all| {
            all.with(scan::table(), SchedulerSpec::parse)
                .with(lazy::table(), SchedulerSpec::parse)
                .with(fchp::table(), SchedulerSpec::parse)
        })
}

/// Adds the strategies that reduce the sizes of jobs for other strategies of the registry.
pub fn decorators(registries: Registries) -> Registries {
    registries
        .with_allocators(|all| all.with_decorators(reduced::names::table, AllocatorSpec::parse))
}

/// Returns the strategy with this name. Strategies of other crates place the jobs of decorators.
#[cfg(test)]
fn allocator(name: &str) -> Result<AllocatorSpec, replay_engine::naming::NameError> {
    let plug_ins =
        [replay_centre::add_to, replay_mesh::add_to, replay_slurm::boxes, add_to, decorators];
    let all = plug_ins.iter().fold(Registries::new(), |registries, add_to| add_to(registries));
    all.allocators.read(name)
}
