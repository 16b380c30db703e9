//! Files that describe grids of runs: traces, machines, schedulers, and allocators with lists of parameter values.
//!
//! ```toml
//! traces = ["KTH-SP2"]            # default: the trace that comes with the project
//! machines = ["10x10"]            # or a topology.yaml; default: from each trace's header
//! schedulers = ["fcfs", "easy"]   # default: fcfs
//! policies = ["johnson"]          # cleaning; default: johnson
//! seeds = "0..9"                  # default: 0
//! oversize = "drop"               # jobs larger than the machine; default: the policy's rule
//! estimates = "perfect"           # or field9, file=FILE, factor=F, last2; default: field9
//! deps = "honour"                 # jobs that follow others; default: ignore
//! partitions = { field = "queue", define = ["1=0-63"] }  # nodes of each job; default: all nodes
//! down = { file = "down.csv", rule = "drain", walls = false }  # processors out of service; default: none
//! node-map = "map.csv"             # maps nodes to points (allocator recorded); default: by node number or name
//! strict = false                   # stop if a log contradicts its machine (scheduler recorded)
//! max-errors = 0                  # malformed lines to skip per trace
//! ties = false                    # count tied decisions (several times the cost)
//! placements = true               # measure diameter, dispersal, components
//! window = { from = "1996-09-23", jobs = 1000, days = 7 }
//! shake = { copies = 20, width = 1, seed = 0 }  # error bars; default: none
//!
//! [[allocator]]                   # default: mc1x1
//! name = "mc1x1"
//! order = ["greedy", "scan"]      # any parameter: a value or a list
//! slack = "0..0.2:0.05"           # a range, both ends included
//! tie = { sr = "1..9", af = "0..10", wf = "0..10", bf = "0..10" }
//!
//! [[allocator]]
//! name = "mm"
//! tie = ["none", "2,13,20,6"]
//! ```
//!
//! Allocators without lists may also be written as one array: `allocator = ["mm", "random"]`.
//!
//! [`GridFile`] contains the file as written. [`ParameterGrid`] is the interpretation of the file: names are looked up,
//! all combinations of the lists are formed, and equal strategies are removed (tie vectors with the same ratio give
//! equal strategies). Checking ten million combinations takes two seconds.

mod described;
mod distinct;
mod error;
mod file;
mod range;
mod strategies;
mod tie;
mod values;

#[cfg(test)]
mod tests;

pub use error::{GridError, Place};
pub use file::{AllocatorEntry, DownFile, GridFile, PartitionsFile, WindowFile};
pub use strategies::{MOST_COMBINATIONS, Strategies, idle_parameter};
pub use tie::{TieRanges, Ties};
pub use values::{ValueError, Values};

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

use error::{PathError, Step};

use super::partitions::PartitionOptions;
use super::{Measure, Prepared};
use replay_engine::registries::Registries;
use replay_engine::sanitize::excerpt;
use replay_engine::scheduler::registry::SchedulerSpec;
use replay_engine::simulation::WhenDown;
use replay_engine::topology::Topology;
use replay_engine::workload::estimates::Estimates;
use replay_engine::workload::{
    Dependencies, Oversize, PartitionField, Policy, Shake, Window, Workload, partition_definitions,
};

/// The interpretation of a grid file. The grid contains only the names of the traces; the traces have not been read.
#[derive(Clone, Debug)]
pub struct ParameterGrid {
    /// The contents of the file, with all defaults filled in and with canonical names.
    pub file: GridFile,
    /// Machines. If the list is empty, the machine in the header of each trace is used.
    pub machines: Vec<Topology>,
    /// Schedulers.
    pub schedulers: Vec<SchedulerSpec>,
    /// Cleaning policies.
    pub policies: Vec<Policy>,
    /// Offered loads. If the list is empty, the load of each trace is not changed.
    pub loads: Vec<f64>,
    /// Distinct allocation strategies.
    pub strategies: Strategies,
    /// Seeds.
    pub seeds: Vec<u64>,
    /// The part of the traces to run.
    pub window: Window,
    /// Estimates of run times.
    pub estimates: Estimates,
    /// Treatment of dependencies between jobs.
    pub deps: Dependencies,
    /// Treatment of jobs on processors that go out of service.
    pub when_down: WhenDown,
    /// Partitions of the machine; `None` if jobs may use all nodes.
    pub partitions: Option<PartitionOptions>,
    /// Number and kind of perturbed copies; they are run in addition to each unperturbed trace.
    pub shake: Option<Shake>,
    /// Workloads that replace the traces, if a program has loaded them; else empty.
    pub workloads: Vec<Arc<Workload>>,
    /// Optional measurements of each run.
    pub measure: Measure,
    /// Allocators that were built to check the grid; the cells reuse them.
    pub prepared: Prepared,
    /// The strategies that the grid can name.
    pub registries: Registries,
}

impl ParameterGrid {
    /// Looks up all names and forms all combinations of the lists.
    ///
    /// # Errors
    /// [`GridError`] with the key if a name or a parameter is unknown, a value is invalid, or there are too many
    /// combinations.
    pub fn resolve(file: &GridFile, registries: &Registries) -> Result<Self, GridError> {
        Self::resolved(file, registries).map_err(|error| error.placed(None))
    }

    /// Returns the number of perturbed copies of every trace.
    pub fn copies(&self) -> u32 {
        self.shake.map_or(0, |shake| shake.copies)
    }

    /// Parses and resolves the text of a grid file. `name` is the name of the file in messages.
    ///
    /// # Errors
    /// [`GridError`] with file and line, under the conditions of [`GridFile::parse`] and [`resolve`](Self::resolve).
    pub fn parse(text: &str, name: &str, registries: &Registries) -> Result<Self, GridError> {
        let file = GridFile::parse(text, name)?;
        Self::resolved(&file, registries).map_err(|error| error.placed(Some((text, name))))
    }

    fn resolved(file: &GridFile, registries: &Registries) -> Result<Self, PathError> {
        let mut file = file.clone();
        let set_default = |list: &mut Vec<String>, default: &str| {
            if list.is_empty() {
                list.push(default.to_string());
            }
        };
        set_default(&mut file.schedulers, "fcfs");
        set_default(&mut file.policies, Policy::DEFAULT);
        if file.seeds.is_empty() {
            file.seeds = Values::listed("0");
        }
        if file.allocator.is_empty() {
            file.allocator.push(AllocatorEntry::named("mc1x1"));
        }
        let by_file = described::take_machine_file(&mut file, registries)?;
        let mut machines: Vec<Topology> =
            parse_all("machines", &file.machines, |name| name.parse())?;
        let schedulers: Vec<SchedulerSpec> =
            parse_all("schedulers", &file.schedulers, |name| registries.schedulers.read(name))?;
        let mut policies: Vec<Policy> =
            parse_all("policies", &file.policies, |name| Policy::by_name(name).cloned())?;
        let key = |key| [Step::Key(key)];
        if let Some(rule) = &file.oversize {
            let rule: Oversize = rule.parse().map_err(|e| GridError::at(&key("oversize"), e))?;
            policies.iter_mut().for_each(|policy| policy.oversize = rule);
        }
        let estimates = file.estimates.as_deref().map_or(Ok(Estimates::default()), str::parse);
        let estimates = estimates.map_err(|e| GridError::at(&key("estimates"), e))?;
        let deps = file.deps.as_deref().map_or(Ok(Dependencies::default()), str::parse);
        let deps = deps.map_err(|e| GridError::at(&key("deps"), e))?;
        let rule = file.down.as_ref().and_then(|down| down.rule.as_deref());
        let when_down = rule.map_or(Ok(WhenDown::default()), str::parse);
        let when_down =
            when_down.map_err(|e| GridError::at(&[Step::Key("down"), Step::Key("rule")], e))?;
        let partitions = file.partitions.as_ref().map(partition_options).transpose()?.flatten();
        let seeds = once(file.seeds.integers().map_err(|e| GridError::at(&key("seeds"), e))?);
        let window = window(&file.window)?;
        let loads = file.loads.texts().map_err(|e| GridError::at(&key("loads"), e))?;
        let load = |text: &String| {
            let load = text.parse().ok().filter(|&load: &f64| load > 0.0 && load.is_finite());
            let problem =
                || GridError::at(&key("loads"), format!("\"{text}\" is not a load above 0"));
            load.ok_or_else(problem)
        };
        let loads = loads.iter().map(load).collect::<Result<Vec<f64>, _>>()?;
        if let Some(Err(error)) = file.shake.as_ref().map(Shake::check) {
            return Err(GridError::at(&[Step::Key("shake"), Step::Key(error.field)], error));
        }
        let shake = file.shake;
        let strategies = Strategies::new(&file.allocator, &machines, registries)?;
        if machines.is_empty() {
            // A file can describe several topologies, and a parameter of an allocator can select another of these
            // topologies.
            machines.extend(described::machine(&strategies, registries)?.or(by_file));
        }
        let (schedulers, machines) = (once(schedulers), once(machines));
        let mut names = HashSet::new();
        policies.retain(|policy| names.insert(policy.name));
        file.machines = machines.iter().map(ToString::to_string).collect();
        file.schedulers = schedulers.iter().map(ToString::to_string).collect();
        file.policies = policies.iter().map(|policy| policy.name.to_string()).collect();
        let measure =
            Measure { ties: file.ties, placements: file.placements, ..Measure::default() };
        Ok(Self {
            prepared: Prepared::new(seeds.first().copied().unwrap_or(0)),
            file,
            machines,
            schedulers,
            policies,
            loads,
            strategies,
            seeds,
            window,
            estimates,
            deps,
            when_down,
            partitions,
            shake,
            workloads: Vec::new(),
            measure,
            registries: registries.clone(),
        })
    }
}

/// Parses every name of a list.
fn parse_all<T, E: std::fmt::Display>(
    key: &str,
    names: &[String],
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<Vec<T>, PathError> {
    let one = |(place, name): (usize, &String)| {
        parse(name).map_err(|e| GridError::at(&[Step::Key(key), Step::Item(place)], e))
    };
    names.iter().enumerate().map(one).collect()
}

/// Removes repeated values. The first occurrence of each value is kept.
pub fn once<T: Clone + Eq + Hash>(mut values: Vec<T>) -> Vec<T> {
    let mut seen = HashSet::with_capacity(values.len());
    values.retain(|value| seen.insert(value.clone()));
    values
}

/// Parses the partitions of a grid; `None` if the values are the defaults.
fn partition_options(file: &PartitionsFile) -> Result<Option<PartitionOptions>, PathError> {
    let at =
        |key, problem: String| GridError::at(&[Step::Key("partitions"), Step::Key(key)], problem);
    let field = file.field.as_deref().map_or(Ok(PartitionField::None), str::parse);
    let field = field.map_err(|e| at("field", e))?;
    let define = partition_definitions(&file.define).map_err(|e| at("define", e))?;
    let unknown = file.unknown.as_deref().map(str::parse).transpose();
    let unknown = unknown.map_err(|e| at("unknown", e))?;
    if let Some(one) = define.iter().find(|one| one.factor.is_some()) {
        let problem = format!(
            "partition {}: factor: applies to priorities, which only --sched slurm has",
            excerpt(&one.name)
        );
        return Err(at("define", problem));
    }
    if field == PartitionField::None && define.len() > 1 {
        let problem = "several partitions need --partitions queue or --partitions partition, the field of the trace that \
                       gives the partition of a job";
        return Err(at("define", problem.to_string()));
    }
    if unknown.is_some() && field == PartitionField::None {
        let problem = "needs --partitions queue or --partitions partition";
        return Err(at("unknown", problem.to_string()));
    }
    let mut text = format!("partitions={}", field.name());
    define.iter().zip(&file.define).for_each(|(_, one)| text += &format!(" {}", one.trim()));
    if let Some(rule) = &file.unknown {
        text += &format!(" unknown={}", rule.trim());
    }
    let is_given = field != PartitionField::None || !define.is_empty();
    Ok(is_given.then_some(PartitionOptions { field, define, unknown, text }))
}

fn window(file: &WindowFile) -> Result<Window, PathError> {
    let at = |key, problem: String| GridError::at(&[Step::Key("window"), Step::Key(key)], problem);
    let from = file.from.texts().map_err(|e| at("from", e.to_string()))?;
    if from.len() > 1 {
        return Err(at("from", "a window has only one beginning".to_string()));
    }
    let from = from.first().map(String::as_str);
    Window::parse(from, None, None).map_err(|e| at("from", e.to_string()))?;
    Window::parse(from, file.jobs, file.days).map_err(|e| at("days", e.to_string()))
}
