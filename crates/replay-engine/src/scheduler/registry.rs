//! The registry of scheduling disciplines.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{Capabilities, Scheduler, SchedulerOptions, WhenFull, easy, strict};
use crate::naming::{NameError, Registry, StrategyName, Table, Value};
use crate::partitions::JobPartitions;

/// Returns the registry of the disciplines that no plug-in defines.
pub(crate) fn common() -> Registry<SchedulerSpec> {
    Registry::new("scheduler")
        .with(super::strict::table(), SchedulerSpec::parse)
        .with(super::easy::table(), SchedulerSpec::parse)
        .with(super::conservative::table(), SchedulerSpec::parse)
        .with(super::out_of_order::table(), SchedulerSpec::parse)
}

/// Options that a [`Table`] can parse and print.
pub trait Options: SchedulerOptions + Value {}

impl<O: SchedulerOptions + Value> Options for O {}

/// A scheduling discipline as chosen by a user: its options and their canonical name. Two specs are
/// equal if their canonical names are equal.
#[derive(Clone)]
pub struct SchedulerSpec {
    name: Arc<str>,
    options: Arc<dyn SchedulerOptions>,
    capabilities: Capabilities,
}

impl SchedulerSpec {
    /// Returns First Come First Served.
    pub fn fcfs() -> Self {
        Self::new(&strict::table(), strict::StrictOptions::default())
    }

    /// Returns EASY backfilling in arrival order.
    pub fn easy() -> Self {
        Self::new(&easy::table(), easy::EasyOptions::default())
    }

    /// Returns the discipline with these options, named by `table`.
    pub fn new<O: Options>(table: &Table<O>, options: O) -> Self {
        Self {
            name: table.name(&options).to_string().into(),
            // The capabilities are the same on every machine.
            capabilities: options.build(1).capabilities(),
            options: Arc::new(options),
        }
    }

    /// Parses the name of a discipline of `table`. [`Registry`] uses this function.
    ///
    /// # Errors
    /// [`NameError`] under the conditions of [`Table::parse`].
    pub fn parse<O: Options>(
        table: &Arc<Table<O>>,
        name: &StrategyName,
    ) -> Result<Self, NameError> {
        Ok(Self::new(table, table.parse(name)?))
    }

    /// Returns whether the discipline uses estimates of jobs, for backfilling or for the order of the queue.
    pub fn uses_estimates(&self) -> bool {
        self.options.uses_estimates()
    }

    /// Returns the treatment of jobs for which too few processors were free, if the discipline
    /// replays recorded starts; otherwise `None`.
    pub fn recorded(&self) -> Option<WhenFull> {
        self.options.recorded()
    }

    /// Returns the capabilities of every scheduler that [`build`](Self::build) returns.
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// Builds the scheduler with an empty queue, for a machine with partitions; `None` if the discipline does not
    /// support partitions.
    pub fn build_partitioned(&self, partitions: &JobPartitions) -> Option<Box<dyn Scheduler>> {
        self.options.build_partitioned(partitions)
    }

    /// Builds the scheduler with an empty queue, for a machine with `processors` processors.
    pub fn build(&self, processors: u32) -> Box<dyn Scheduler> {
        self.options.build(processors)
    }
}

impl fmt::Display for SchedulerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Debug for SchedulerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SchedulerSpec({self})")
    }
}

impl PartialEq for SchedulerSpec {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for SchedulerSpec {}

impl Hash for SchedulerSpec {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}
