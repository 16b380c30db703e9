//! Partitions of the traces of a grid: which jobs may run on which nodes.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use replay_engine::number::{counted, grouped};
use replay_engine::partitions::{JobPartitions, PartitionNodes, PartitionSet};
use replay_engine::sanitize::excerpt;
use replay_engine::topology::{NodeId, Topology};
use replay_engine::workload::{
    Job, PartitionDefinition, PartitionField, UnknownPartition, Workload,
};

/// The partitions that a user has selected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartitionOptions {
    /// The field of the log that gives the partition of a job.
    pub field: PartitionField,
    /// Definitions of partitions. A partition of the log without a definition has all nodes.
    pub define: Vec<PartitionDefinition>,
    /// Treatment of jobs in partitions without a definition; `None` if these partitions have all nodes.
    pub unknown: Option<UnknownPartition>,
    /// The options as text, which identifies them in the name of the policy.
    pub text: String,
}

/// The name of the partition of jobs whose partition the log does not give.
const UNKNOWN: &str = "unknown";

/// The tier of a partition that does not define it.
const TIER: u32 = 1;

/// The partitions of a trace on a machine.
#[derive(Debug)]
pub struct Partitions {
    options: PartitionOptions,
    /// Names of the partitions.
    names: Vec<String>,
    /// Maximum run time in minutes and maximum size in nodes of each partition.
    limits: Vec<Limits>,
    set: Arc<PartitionSet>,
    /// Partition of each number of the field; `None` is the key of jobs without a number. The value is `None` if jobs
    /// are left out.
    of_number: BTreeMap<Option<i64>, Option<u16>>,
}

/// The jobs of a trace that its partitions accept.
pub struct PartitionedJobs {
    /// The jobs, in order.
    pub jobs: Vec<Job>,
    /// Number of jobs that can never start, by the reason that Slurm gives.
    pub never: BTreeMap<&'static str, u64>,
    /// Number of jobs in partitions without a definition that are left out.
    pub unknown: u64,
}

/// An error of the partitions of a trace.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PartitionsError {
    /// The definitions do not match the machine.
    #[error("{0}")]
    Definition(String),
    /// The partition of a job of the trace has no definition.
    #[error("{0}")]
    Job(String),
}

/// The maximum run time in minutes and the maximum number of nodes of a job of a partition; `None` without a limit.
type Limits = (Option<u32>, Option<u32>);

impl Partitions {
    /// Resolves partitions for a trace on a machine.
    ///
    /// # Errors
    /// [`PartitionsError`] if the machine does not have a node of a definition, if there are too many partitions, or if
    /// the partition of a job has no definition and such jobs are errors.
    pub fn on(
        options: &PartitionOptions,
        workload: &Workload,
        machine: &Topology,
    ) -> Result<Self, PartitionsError> {
        let count = machine.processors();
        let field = options.field;
        let header = field.header_names(workload);
        let mut all: Vec<(String, PartitionNodes, Limits)> = Vec::new();
        for one in &options.define {
            let members = one.members(count).map_err(PartitionsError::Definition)?;
            let nodes = PartitionNodes::new(members, one.tier.unwrap_or(TIER));
            all.push((one.name.clone(), nodes, (one.max_time, one.max_nodes)));
        }
        let mut of_number = BTreeMap::new();
        for job in &workload.jobs {
            let number = field.number(&workload.labels.of(job));
            if of_number.contains_key(&number) {
                continue;
            }
            let digits = number.map(|number| number.to_string());
            let named = number.and_then(|number| header.get(&number)).or(digits.as_ref());
            let name = named.map_or(UNKNOWN, String::as_str);
            let is = |one: &&str| Some(*one) == digits.as_deref() || *one == name;
            let known = match field {
                PartitionField::None => (!all.is_empty()).then_some(0),
                _ => all.iter().position(|(other, ..)| is(&&other[..])),
            };
            let at = match (known, options.unknown) {
                (Some(at), _) => Some(at),
                (None, Some(UnknownPartition::Drop)) => None,
                (None, Some(UnknownPartition::Error)) => {
                    let (source, line) = (workload.source.display(), job.line);
                    return Err(PartitionsError::Job(format!(
                        "{source}:{line}: job {}: there is no partition {}; define it with --partition, or leave such \
                         jobs out with --unknown drop",
                        job.number,
                        excerpt(name)
                    )));
                }
                (None, None) => {
                    let name = match field {
                        PartitionField::None => "all",
                        _ => name,
                    };
                    let nodes = PartitionNodes::new(vec![true; count], TIER);
                    all.push((name.to_string(), nodes, (None, None)));
                    Some(all.len() - 1)
                }
            };
            let at = at.map(u16::try_from).transpose().map_err(|_| {
                let field = field.name();
                PartitionsError::Definition(format!("the trace has too many values of {field}"))
            })?;
            of_number.insert(number, at);
        }
        let (mut names, mut nodes, mut limits) = (Vec::new(), Vec::new(), Vec::new());
        for (name, set, limit) in all {
            names.push(name);
            nodes.push(set);
            limits.push(limit);
        }
        let set = Arc::new(PartitionSet::new(nodes));
        Ok(Self { options: options.clone(), names, limits, set, of_number })
    }

    /// Returns the selected options.
    pub fn options(&self) -> &PartitionOptions {
        &self.options
    }

    /// Returns the names of the partitions.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the index of the partition of a job; `None` if the job is left out.
    pub fn of(&self, workload: &Workload, job: &Job) -> Option<usize> {
        let number = self.options.field.number(&workload.labels.of(job));
        self.of_number.get(&number).copied().flatten().map(usize::from)
    }

    /// Returns the partition of each job for a simulation; `None` if the partitions restrict no job. Every job must be
    /// [accepted](Self::accepted).
    pub fn assign(&self, workload: &Workload) -> Option<JobPartitions> {
        if self.set.is_whole_machine() {
            return None;
        }
        let of = workload.jobs.iter().map(|job| self.of(workload, job).unwrap_or(0) as u16);
        Some(JobPartitions { set: self.set.clone(), of: of.collect() })
    }

    /// Returns the jobs that can start in their partition. A job cannot start if it requests more nodes than the
    /// partition has, more nodes than its maximum, or a longer time than its maximum.
    pub fn accepted(&self, workload: &Workload, machine: &Topology) -> PartitionedJobs {
        let mut found = PartitionedJobs { jobs: Vec::new(), never: BTreeMap::new(), unknown: 0 };
        for job in &workload.jobs {
            let Some(at) = self.of(workload, job) else {
                found.unknown += 1;
                continue;
            };
            let size = machine.points(job.size);
            let minutes = job.limit.map(|limit| limit.div_ceil(60));
            let (max_time, max_nodes) = self.limits[at];
            let why = if size > self.set.all()[at].size() {
                "PartitionConfig"
            } else if max_nodes.is_some_and(|most| size > most) {
                "PartitionNodeLimit"
            } else if max_time.zip(minutes).is_some_and(|(most, minutes)| minutes > most) {
                "PartitionTimeLimit"
            } else {
                found.jobs.push(*job);
                continue;
            };
            *found.never.entry(why).or_insert(0) += 1;
        }
        found
    }

    /// Describes the partitions with their nodes and numbers of jobs, in one line.
    pub fn describe(&self, workload: &Workload) -> String {
        let mut jobs = vec![0u64; self.names.len()];
        for job in &workload.jobs {
            if let Some(at) = self.of(workload, job) {
                jobs[at] += 1;
            }
        }
        let mut text = counted(self.names.len() as u64, "partition");
        for (at, (name, set)) in self.names.iter().zip(self.set.all()).enumerate() {
            let between = if at == 0 { ": " } else { ", " };
            let (nodes, jobs) = (ranges(set.nodes()), counted(jobs[at], "job"));
            let nodes = if set.others().next().is_none() { "all nodes".to_string() } else { nodes };
            _ = write!(text, "{between}{} ({nodes}; {jobs})", excerpt(name));
        }
        text
    }

    /// Returns a text that identifies the partitions of the jobs. Equal partitions give equal texts.
    pub fn identity(&self, workload: &Workload) -> String {
        let mut text = String::new();
        for (name, set) in self.names.iter().zip(self.set.all()) {
            _ = writeln!(text, "{name} {} {}", set.tier(), ranges(set.nodes()));
        }
        for job in &workload.jobs {
            _ = writeln!(text, "{}", self.of(workload, job).map_or(-1, |at| at as i64));
        }
        text
    }
}

/// Formats the numbers of jobs that can never start.
pub fn never_text(never: &BTreeMap<&'static str, u64>) -> String {
    let parts = never.iter().map(|(why, jobs)| format!("{why} {}", grouped(*jobs)));
    parts.collect::<Vec<_>>().join(", ")
}

/// Formats node numbers in ascending order as ranges.
fn ranges(nodes: &[NodeId]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for node in nodes {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == node.0 => *last = node.0,
            _ => parts.push((node.0, node.0)),
        }
    }
    let text = parts.iter().map(|&(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    text.collect::<Vec<_>>().join(",")
}
