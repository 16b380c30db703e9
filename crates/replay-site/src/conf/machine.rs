//! The lines `NodeName` and `PartitionName` of a `slurm.conf`.

use std::collections::HashMap;

use replay_engine::number::counted;
use replay_engine::sanitize::excerpt;
use replay_engine::topology::{MAX_POINTS, natural_order};
use replay_engine::workload::nodes;

use super::options::{number, weight, yes};
use super::{Parser, keys};
use crate::error::{SiteError, Warning};
use crate::times::minutes;

/// A node of a `slurm.conf`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfNode {
    /// Name of the node.
    pub name: String,
    /// Number of CPUs.
    pub cpus: u32,
}

/// A partition of a `slurm.conf`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfPartition {
    /// Name of the partition.
    pub name: String,
    /// Line of the partition.
    pub line: u64,
    /// Numbers of the nodes: ranks of their names in natural order.
    pub nodes: Vec<u32>,
    /// `PriorityTier`.
    pub tier: u32,
    /// `PriorityJobFactor`.
    pub factor: u32,
    /// Whether the partition is the default.
    pub is_default: bool,
    /// Whether the state is `UP`.
    pub is_up: bool,
    /// `MaxTime` in minutes; `None` for no limit.
    pub max_time: Option<u32>,
    /// `DefaultTime` in minutes; `None` for `max_time`.
    pub default_time: Option<u32>,
    /// `MaxNodes`; `None` for no limit.
    pub max_nodes: Option<u32>,
    /// `MinNodes`.
    pub min_nodes: u32,
    /// Name of the QOS of the partition.
    pub qos: Option<String>,
    /// Whether jobs have their nodes alone (`OverSubscribe=EXCLUSIVE`).
    pub is_exclusive: bool,
}

/// Values of a `NodeName` line.
#[derive(Clone, Copy, Debug, Default)]
struct NodeValues {
    cpus: Option<u32>,
    boards: Option<u32>,
    sockets: Option<u32>,
    cores: Option<u32>,
    threads: Option<u32>,
    weight: Option<u32>,
}

/// Values of a `PartitionName` line.
#[derive(Clone, Debug, Default)]
struct PartitionValues {
    nodes: Option<String>,
    tier: Option<u32>,
    factor: Option<u32>,
    is_default: Option<bool>,
    is_up: Option<bool>,
    max_time: Option<Option<u32>>,
    default_time: Option<Option<u32>>,
    max_nodes: Option<Option<u32>>,
    min_nodes: Option<u32>,
    qos: Option<String>,
    is_exclusive: Option<bool>,
}

/// The lines of nodes and partitions that have been read.
#[derive(Debug, Default)]
pub struct Lines {
    node_defaults: NodeValues,
    partition_defaults: PartitionValues,
    partitions: Vec<(String, u64, PartitionValues)>,
    /// The first weight of nodes, and the line of a node with another weight.
    weights: Option<u32>,
    lines: HashMap<String, u64>,
}

impl Parser<'_> {
    pub(super) fn node_line(&mut self, pairs: &[(&str, &str)], line: u64) -> Result<(), String> {
        let name = pairs[0].1;
        let subject =
            |key: &str, problem: String| format!("node {}: {key}: {problem}", excerpt(name));
        let is_default = name.eq_ignore_ascii_case("DEFAULT");
        let mut values = NodeValues::default();
        for &(key, value) in &pairs[1..] {
            let field = match &key.to_ascii_lowercase()[..] {
                "cpus" | "procs" => &mut values.cpus,
                "boards" => &mut values.boards,
                "sockets" | "socketsperboard" => &mut values.sockets,
                "corespersocket" => &mut values.cores,
                "threadspercore" => &mut values.threads,
                "weight" => &mut values.weight,
                "state" => {
                    if !["UNKNOWN", "IDLE", "CLOUD"].iter().any(|s| s.eq_ignore_ascii_case(value)) {
                        let text = format!(
                            "`State={}` of node {} is not modelled: the node is in service; use --down",
                            excerpt(value),
                            excerpt(name)
                        );
                        self.conf.warnings.push(Warning::new(self.file, line, text));
                    }
                    continue;
                }
                _ => {
                    if !keys::is_in(&keys::HARMLESS_NODE, key) {
                        self.not_modelled(line, key);
                    }
                    continue;
                }
            };
            *field = Some(number(value).map_err(|problem| subject(key, problem))?);
        }
        if is_default {
            let old = self.machine.node_defaults;
            self.machine.node_defaults = values.or(&old);
            return Ok(());
        }
        let values = values.or(&self.machine.node_defaults);
        let cpus = values.cpus.unwrap_or_else(|| {
            let parts = [values.boards, values.sockets, values.cores, values.threads];
            parts.iter().map(|part| part.unwrap_or(1)).fold(1, u32::saturating_mul)
        });
        if cpus == 0 {
            return Err(subject("CPUs", "a node has at least one CPU".to_string()));
        }
        let weight = values.weight.unwrap_or(1);
        if *self.machine.weights.get_or_insert(weight) != weight {
            self.not_modelled(line, "Weight");
        }
        let names = nodes::names(name, MAX_POINTS as u64)
            .map_err(|e| subject("NodeName", e.to_string()))?;
        if self.conf.nodes.len() + names.len() > MAX_POINTS {
            return Err(format!("more than {}", counted(MAX_POINTS as u64, "node")));
        }
        for name in names {
            if let Some(first) = self.machine.lines.insert(name.clone(), line) {
                let name = excerpt(&name);
                return Err(format!("node {name} is given twice; the first time on line {first}"));
            }
            self.conf.nodes.push(ConfNode { name, cpus });
        }
        Ok(())
    }

    pub(super) fn partition_line(
        &mut self,
        pairs: &[(&str, &str)],
        line: u64,
    ) -> Result<(), String> {
        let name = pairs[0].1;
        let mut values = PartitionValues::default();
        for &(key, value) in &pairs[1..] {
            let read = values.read(key, value);
            let read = read.map_err(|e| format!("partition {}: {key}: {e}", excerpt(name)))?;
            if !read && !keys::is_in(&keys::HARMLESS_PARTITION, key) {
                self.not_modelled(line, key);
            }
        }
        if name.eq_ignore_ascii_case("DEFAULT") {
            values.fill(&self.machine.partition_defaults);
            self.machine.partition_defaults = values;
            return Ok(());
        }
        let names = nodes::names(name, 10_000).map_err(|e| format!("PartitionName: {e}"))?;
        if names.is_empty() {
            return Err("PartitionName: a partition without a name".to_string());
        }
        values.fill(&self.machine.partition_defaults);
        for name in names {
            if self.machine.partitions.iter().any(|(other, ..)| *other == name) {
                return Err(format!("partition {} is given twice", excerpt(&name)));
            }
            self.machine.partitions.push((name, line, values.clone()));
        }
        Ok(())
    }

    /// Numbers the nodes and resolves the nodes of the partitions.
    pub(super) fn finish_machine(&mut self) -> Result<(), SiteError> {
        let file = self.file;
        let whole = |problem: &str| SiteError::new(file, 0, problem);
        if self.conf.nodes.is_empty() {
            return Err(whole("there is no node; add a line NodeName=..."));
        }
        if self.machine.partitions.is_empty() {
            return Err(whole("there is no partition; add a line PartitionName=... Nodes=..."));
        }
        self.conf.nodes.sort_by(|a, b| natural_order(&a.name, &b.name));
        let equal = self
            .conf
            .nodes
            .windows(2)
            .find(|pair| natural_order(&pair[0].name, &pair[1].name).is_eq());
        if let Some([a, b]) = equal {
            let line = self.machine.lines[&b.name];
            let problem = format!(
                "nodes {} and {} have names that compare equal",
                excerpt(&a.name),
                excerpt(&b.name)
            );
            return Err(SiteError::new(file, line, problem));
        }
        let numbers: HashMap<&str, u32> =
            self.conf.nodes.iter().map(|node| &node.name[..]).zip(0..).collect();
        for (name, line, values) in std::mem::take(&mut self.machine.partitions) {
            let failed = |problem: String| {
                SiteError::new(file, line, format!("partition {}: {problem}", excerpt(&name)))
            };
            let list = values.nodes.as_deref().unwrap_or_default();
            let nodes = match list.eq_ignore_ascii_case("ALL") {
                true => (0..self.conf.nodes.len() as u32).collect(),
                false => {
                    let names = nodes::names(list, MAX_POINTS as u64);
                    let names = names.map_err(|e| failed(format!("Nodes: {e}")))?;
                    let number = |name: &String| {
                        let number = numbers.get(&name[..]).copied();
                        number.ok_or_else(|| failed(format!("there is no node {}", excerpt(name))))
                    };
                    names.iter().map(number).collect::<Result<Vec<u32>, _>>()?
                }
            };
            if nodes.is_empty() {
                return Err(failed("has no nodes; add Nodes=...".to_string()));
            }
            self.conf.partitions.push(values.finish(name, line, nodes));
        }
        Ok(())
    }
}

impl NodeValues {
    /// Returns these values, and those of `defaults` where none is given.
    fn or(self, defaults: &Self) -> Self {
        Self {
            cpus: self.cpus.or(defaults.cpus),
            boards: self.boards.or(defaults.boards),
            sockets: self.sockets.or(defaults.sockets),
            cores: self.cores.or(defaults.cores),
            threads: self.threads.or(defaults.threads),
            weight: self.weight.or(defaults.weight),
        }
    }
}

/// Parses a number of nodes, which may be unlimited.
fn limit(value: &str) -> Result<Option<u32>, String> {
    match value.eq_ignore_ascii_case("UNLIMITED") || value.eq_ignore_ascii_case("INFINITE") {
        true => Ok(None),
        false => number(value).map(Some),
    }
}

impl PartitionValues {
    /// Reads a key; returns `false` if the key is not used.
    fn read(&mut self, key: &str, value: &str) -> Result<bool, String> {
        match &key.to_ascii_lowercase()[..] {
            "nodes" => self.nodes = Some(value.to_string()),
            "prioritytier" => self.tier = Some(weight(value)?),
            "priorityjobfactor" => self.factor = Some(weight(value)?),
            "priority" => {
                let number = Some(weight(value)?);
                (self.tier, self.factor) = (number, number);
            }
            "default" => self.is_default = Some(yes(value)?),
            "state" => {
                let states = ["UP", "DOWN", "DRAIN", "INACTIVE"];
                let known = states.iter().position(|state| state.eq_ignore_ascii_case(value));
                let known = known.ok_or_else(|| {
                    format!(
                        "\"{}\" is not a state; write UP, DOWN, DRAIN or INACTIVE",
                        excerpt(value)
                    )
                })?;
                self.is_up = Some(known == 0);
            }
            "maxtime" => self.max_time = Some(minutes(value)?),
            "defaulttime" => {
                let is_none = value.eq_ignore_ascii_case("NONE");
                self.default_time = Some(if is_none { None } else { minutes(value)? });
            }
            "maxnodes" => self.max_nodes = Some(limit(value)?),
            "minnodes" => self.min_nodes = Some(number(value)?),
            "qos" => self.qos = Some(value.to_string()).filter(|name| !name.is_empty()),
            "oversubscribe" | "shared" => {
                let (kind, _) = value.split_once(':').unwrap_or((value, ""));
                let kinds = ["EXCLUSIVE", "NO", "YES", "FORCE"];
                if !keys::is_in(&kinds, kind) {
                    return Err(format!(
                        "\"{}\" is not one of {}",
                        excerpt(value),
                        kinds.join(", ")
                    ));
                }
                self.is_exclusive = Some(kind.eq_ignore_ascii_case("EXCLUSIVE"));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Sets values that are not given to those of `defaults`.
    fn fill(&mut self, defaults: &Self) {
        let defaults = defaults.clone();
        self.nodes = self.nodes.take().or(defaults.nodes);
        self.tier = self.tier.or(defaults.tier);
        self.factor = self.factor.or(defaults.factor);
        self.is_default = self.is_default.or(defaults.is_default);
        self.is_up = self.is_up.or(defaults.is_up);
        self.max_time = self.max_time.or(defaults.max_time);
        self.default_time = self.default_time.or(defaults.default_time);
        self.max_nodes = self.max_nodes.or(defaults.max_nodes);
        self.min_nodes = self.min_nodes.or(defaults.min_nodes);
        self.qos = self.qos.take().or(defaults.qos);
        self.is_exclusive = self.is_exclusive.or(defaults.is_exclusive);
    }

    fn finish(self, name: String, line: u64, mut nodes: Vec<u32>) -> ConfPartition {
        nodes.sort_unstable();
        nodes.dedup();
        ConfPartition {
            name,
            line,
            nodes,
            tier: self.tier.unwrap_or(1),
            factor: self.factor.unwrap_or(1),
            is_default: self.is_default.unwrap_or(false),
            is_up: self.is_up.unwrap_or(true),
            max_time: self.max_time.flatten(),
            default_time: self.default_time.flatten(),
            max_nodes: self.max_nodes.flatten(),
            min_nodes: self.min_nodes.unwrap_or(0),
            qos: self.qos,
            is_exclusive: self.is_exclusive.unwrap_or(false),
        }
    }
}
