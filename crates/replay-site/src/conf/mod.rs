//! Parser of `slurm.conf`.
//!
//! Lines and pairs have the form that [`replay_slurm::topology_file::syntax`] describes; keys are not case-sensitive. A
//! key that neither has an effect here nor is known to have none on the order of jobs yields a [`Warning`], once for each
//! key; so do options of `SchedulerParameters` and flags.
//!
//! | module | keys |
//! |---|---|
//! | `machine` | `NodeName`, `PartitionName` |
//! | `options` | `Priority...`, `Scheduler...`, and the other keys |
//! | `keys` | keys without effect, and what those do that are not modelled |

mod keys;
mod machine;
mod options;
mod settings;

use std::collections::HashSet;

use replay_engine::sanitize::BYTE_ORDER_MARK;
use replay_slurm::topology_file::syntax;

pub(crate) use keys::effect;
pub use machine::{ConfNode, ConfPartition};
pub(crate) use options::number;
pub use settings::{PrioritySettings, SchedulerSettings, Weights};

use crate::error::{SiteError, Warning};

/// When a job that violates the limits of its partitions is rejected at submission.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EnforcePartLimits {
    /// Never; the job waits.
    #[default]
    No,
    /// If it violates the limits of all its partitions.
    Any,
    /// If it violates the limits of any of its partitions.
    All,
}

/// The topology plugin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TopologyPlugin {
    /// `topology/flat` or `topology/default`.
    Flat,
    /// `topology/tree`.
    Tree,
    /// `topology/block`.
    Block,
}

/// The contents of a `slurm.conf`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SlurmConf {
    /// Nodes in file order.
    pub nodes: Vec<ConfNode>,
    /// Partitions in file order.
    pub partitions: Vec<ConfPartition>,
    /// Settings of the priority.
    pub priority: PrioritySettings,
    /// Settings of the scheduler.
    pub scheduler: SchedulerSettings,
    /// Whether `AccountingStorageEnforce` enforces limits.
    pub enforces_limits: bool,
    /// `EnforcePartLimits`.
    pub enforce_part_limits: EnforcePartLimits,
    /// Whether `SelectType` lets jobs share nodes.
    pub shares_nodes: bool,
    /// `TopologyPlugin`; `None` if the key is missing.
    pub topology: Option<TopologyPlugin>,
    /// `OverTimeLimit` in minutes; `None` for no end.
    pub over_time_limit: Option<u32>,
    /// Parts of the file without effect.
    pub warnings: Vec<Warning>,
}

/// The state of the parser.
struct Parser<'a> {
    file: &'a str,
    conf: SlurmConf,
    machine: machine::Lines,
    /// Keys, options and flags that have a warning, in lower case.
    named: HashSet<String>,
}

impl Parser<'_> {
    /// Adds the warning that a key is not modelled, unless the key has this warning already.
    fn not_modelled(&mut self, line: u64, key: &str) {
        if self.named.insert(key.to_ascii_lowercase()) {
            let warning = Warning::not_modelled(self.file, line, key, keys::effect(key));
            self.conf.warnings.push(warning);
        }
    }

    fn line(&mut self, text: &str, line: u64) -> Result<(), String> {
        let pairs = syntax::pairs(text)?;
        let Some(&(first, _)) = pairs.first() else { return Ok(()) };
        if first.eq_ignore_ascii_case("NodeName") {
            return self.node_line(&pairs, line);
        }
        if first.eq_ignore_ascii_case("PartitionName") {
            return self.partition_line(&pairs, line);
        }
        for (key, value) in pairs {
            let known = self.option(key, value, line);
            let known = known.map_err(|problem| format!("{key}: {problem}"))?;
            if !known && !keys::is_harmless(key) {
                self.not_modelled(line, key);
            }
        }
        Ok(())
    }
}

impl SlurmConf {
    /// Parses the text of the file `file`. If `strict`, a part of the file without effect is an error.
    ///
    /// # Errors
    /// [`SiteError`] with the line and the name of the key, partition or node.
    pub fn read(text: &str, file: &str, strict: bool) -> Result<Self, SiteError> {
        let conf = SlurmConf { over_time_limit: Some(0), ..SlurmConf::default() };
        let machine = machine::Lines::default();
        let mut parser = Parser { file, conf, machine, named: HashSet::new() };
        let text = text.trim_start_matches(BYTE_ORDER_MARK);
        let read = syntax::for_lines(text, |text, line| parser.line(text, line as u64));
        read.map_err(|(line, problem)| SiteError::new(file, line as u64, problem))?;
        parser.finish_machine()?;
        let mut conf = parser.conf;
        conf.warnings.sort_by_key(|warning| warning.line);
        match conf.warnings.first() {
            Some(Warning { line, text, .. }) if strict => Err(SiteError::new(file, *line, text)),
            _ => Ok(conf),
        }
    }
}

#[cfg(test)]
mod tests;
