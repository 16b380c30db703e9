//! The strategies that come with the project.
//!
//! This crate only lists the plug-ins. A crate of strategies depends on `replay-engine` and is added to the list below.

use std::sync::LazyLock;

use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::naming::NameError;
use replay_engine::registries::{Registries, recorded};
use replay_engine::scheduler::registry::SchedulerSpec;

/// The plug-ins, in the order of listings.
const PLUG_INS: [fn(Registries) -> Registries; 7] = [
    replay_centre::add_to,
    replay_mesh::add_to,
    replay_slurm::boxes,
    replay_cubes::add_to,
    replay_slurm::hierarchies,
    recorded,
    replay_cubes::decorators,
];

/// Returns all strategies of the project.
pub fn standard() -> &'static Registries {
    static STANDARD: LazyLock<Registries> = LazyLock::new(|| {
        PLUG_INS.iter().fold(Registries::new(), |registries, add_to| add_to(registries))
    });
    &STANDARD
}

/// Returns the allocator of the project with this name.
///
/// # Errors
/// [`NameError`] if the name or a parameter is not valid.
pub fn allocator(name: &str) -> Result<AllocatorSpec, NameError> {
    standard().allocators.read(name)
}

/// Returns the scheduler of the project with this name.
///
/// # Errors
/// [`NameError`] if the name or a parameter is not valid.
pub fn scheduler(name: &str) -> Result<SchedulerSpec, NameError> {
    standard().schedulers.read(name)
}
