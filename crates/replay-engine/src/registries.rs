//! The strategies and file formats that a program knows by name.

use std::fmt;
use std::sync::Arc;

use crate::allocator::RecordedOptions;
use crate::allocator::registry::AllocatorSpec;
use crate::naming::Registry;
use crate::scheduler::{self, registry::SchedulerSpec};
use crate::topology::Topology;

/// Everything that a program knows by name. A program starts with [`Registries::new`] and passes the value through a
/// function of each crate of strategies, and of its own:
///
/// ```
/// use replay_engine::registries::{Registries, recorded};
/// let registries = recorded(Registries::new());
/// assert_eq!(registries.allocators.names().collect::<Vec<_>>(), ["recorded"]);
/// assert!(registries.schedulers.read("easy[order=largest]").is_ok());
/// ```
#[derive(Clone)]
pub struct Registries {
    /// Allocators.
    pub allocators: Registry<AllocatorSpec>,
    /// Scheduling disciplines.
    pub schedulers: Registry<SchedulerSpec>,
    /// Reader of files that describe machines; `None` if the program reads no such files.
    pub machine_files: Option<Arc<dyn MachineFiles>>,
}

impl Registries {
    /// Returns the registries without allocators, with the schedulers that no plug-in defines.
    pub fn new() -> Self {
        Self {
            allocators: Registry::new("allocator").listed_by("replay list allocators"),
            schedulers: scheduler::registry::common(),
            machine_files: None,
        }
    }

    /// Adds allocators. `add` adds tables to a registry.
    pub fn with_allocators(
        self,
        add: impl FnOnce(Registry<AllocatorSpec>) -> Registry<AllocatorSpec>,
    ) -> Self {
        Self { allocators: add(self.allocators), ..self }
    }

    /// Adds schedulers. `add` adds tables to a registry.
    pub fn with_schedulers(
        self,
        add: impl FnOnce(Registry<SchedulerSpec>) -> Registry<SchedulerSpec>,
    ) -> Self {
        Self { schedulers: add(self.schedulers), ..self }
    }
}

impl fmt::Debug for Registries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.allocators.names()).entries(self.schedulers.names()).finish()
    }
}

impl Default for Registries {
    fn default() -> Self {
        Self::new()
    }
}

/// Adds the allocator and the scheduler that repeat a log.
pub fn recorded(registries: Registries) -> Registries {
    registries
        .with_allocators(|all| all.with(RecordedOptions::table(), AllocatorSpec::parse))
        .with_schedulers(|all| all.with(scheduler::recorded_table(), SchedulerSpec::parse))
}

/// A machine that a file describes.
#[derive(Clone, Debug)]
pub struct FileMachine {
    /// The machine.
    pub topology: Topology,
    /// Whether the file also describes boxes of processors. Allocators with a parameter `file` then get the file.
    pub has_boxes: bool,
}

/// Reader of files that describe machines. The name of such a machine is `FILE` or `FILE:TOPOLOGY`
/// ([`split_name`](crate::topology::split_name)).
pub trait MachineFiles: Send + Sync {
    /// Opens and reads the file of a machine.
    ///
    /// # Errors
    /// A message with the file, the line and a description of the problem.
    fn read(&self, name: &str) -> Result<FileMachine, String>;

    /// Returns the machine of the file that is a parameter of an allocator; `None` if the allocator has no such
    /// parameter.
    ///
    /// # Errors
    /// A message with the file, the line and a description of the problem.
    fn of_allocator(&self, allocator: &AllocatorSpec) -> Option<Result<Topology, String>>;
}
