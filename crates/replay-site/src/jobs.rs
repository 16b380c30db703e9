//! Jobs of a trace as jobs of a site: sizes in nodes, users, accounts, partitions and QOS.
//!
//! With a [sidecar](crate::sidecar), its values are used. Without one, the user is field 12 of the trace, the account
//! field 13, and the partition field 15, field 16, or the default partition.

use std::collections::{BTreeMap, BTreeSet};

use replay_engine::number::{counted, fixed};
use replay_engine::sanitize::excerpt;
pub use replay_engine::workload::PartitionField;
use replay_engine::workload::{Job, JobLabels, UnknownPartition, Workload};

use crate::error::SiteError;
use crate::job::SiteJob;
use crate::sidecar::{Sidecar, SidecarRow};
use crate::site::Site;

/// How jobs of a trace become jobs of a site.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct JobOptions {
    /// The field that names the partition of jobs without a sidecar.
    pub partitions: PartitionField,
    /// Treatment of unknown partitions and QOS.
    pub unknown: UnknownPartition,
    /// Whether priorities of the sidecar are used in place of calculated ones.
    pub recorded_priorities: bool,
    /// Whether plans use the estimates of the jobs in place of their time limits.
    pub estimates: bool,
}

/// The jobs of a trace in a site.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SiteJobs {
    /// The jobs.
    pub jobs: Vec<SiteJob>,
    /// Index of each job in [`Workload::jobs`].
    pub indexes: Vec<usize>,
    /// What was changed or left out, for people.
    pub notes: Vec<String>,
    /// Share of node time of jobs that asked for less than one node in partitions that share nodes; 0 to 1.
    pub shared_node_time: f64,
    /// Jobs that asked for less than one node in partitions that share nodes.
    pub sharing_jobs: usize,
}

/// Returns the numbers and names of all partitions that a field of a trace has, in the order of their numbers.
pub fn partition_names(workload: &Workload, field: PartitionField) -> Vec<(i64, String)> {
    let names = field.header_names(workload);
    let number = |job: &Job| field.number(&workload.labels.of(job));
    let numbers: BTreeSet<i64> = workload.jobs.iter().filter_map(number).collect();
    let name = |number: i64| names.get(&number).cloned().unwrap_or_else(|| number.to_string());
    numbers.into_iter().map(|number| (number, name(number))).collect()
}

/// Returns the name of the partition of a job without a sidecar; `None` if its field is unknown.
fn partition_name(
    labels: &JobLabels,
    field: PartitionField,
    names: &BTreeMap<i64, String>,
    site: &Site,
) -> Option<String> {
    let number = field.number(labels)?;
    let text = number.to_string();
    let by_number = site.find_partition(&text).is_some();
    Some(names.get(&number).filter(|_| !by_number).cloned().unwrap_or(text))
}

/// Returns the processors per node of a trace: the CPUs of a node if `MaxProcs` of the header is the number of CPUs of
/// the machine; otherwise 1.
fn processors_per_node(site: &Site, workload: &Workload) -> u32 {
    let size = site.size();
    match workload.header.max_procs() {
        Some(processors) if u64::from(processors) == size.cpus && size.cpus > size.nodes => {
            u32::try_from(size.cpus.div_ceil(size.nodes)).unwrap_or(1)
        }
        _ => 1,
    }
}

/// Returns minutes, rounded up, of an estimate in seconds.
fn minutes(seconds: i64) -> u32 {
    u32::try_from(seconds.max(1).saturating_add(59) / 60).unwrap_or(u32::MAX)
}

/// Converts the jobs of a trace. Users that are not in the associations of the site are added to them.
///
/// # Errors
/// [`SiteError`] if the sidecar has no row for a job, or if a partition or a QOS is unknown and unknown ones are errors.
pub fn site_jobs(
    site: &mut Site,
    workload: &Workload,
    sidecar: Option<&Sidecar>,
    options: JobOptions,
) -> Result<SiteJobs, SiteError> {
    let per_node = processors_per_node(site, workload);
    let names = options.partitions.header_names(workload);
    let mut all = SiteJobs::default();
    let mut labels = Labels::of(workload);
    let (mut dropped, mut node_time, mut shared) = (0, 0.0, 0.0);
    for (index, job) in workload.jobs.iter().enumerate() {
        let row = sidecar.map(|sidecar| {
            let missing = || {
                SiteError::new(&sidecar.file, 0, format!("there is no row for job {}", job.number))
            };
            sidecar.row(job.number).ok_or_else(missing)
        });
        let row = row.transpose()?;
        let named = match row {
            Some(row) => Named::of_row(row, site),
            None => labels.named(job, workload, options.partitions, &names, site),
        };
        let (partitions, qos) = match resolve(site, &named) {
            Ok(found) => found,
            Err(_) if options.unknown == UnknownPartition::Drop => {
                dropped += 1;
                continue;
            }
            Err(problem) => {
                let (file, line) = match (sidecar, row) {
                    (Some(sidecar), Some(row)) => (sidecar.file.clone(), row.line),
                    _ => (workload.source.display().to_string(), job.line.into()),
                };
                let hint = "; --unknown drop leaves such jobs out";
                return Err(SiteError::new(
                    &file,
                    line,
                    format!("job {}: {problem}{hint}", job.number),
                ));
            }
        };
        let nodes = job.size.div_ceil(per_node).max(1);
        let time = f64::from(nodes) * job.run.max(0) as f64;
        node_time += time;
        let cpus = row.and_then(|row| row.cpus);
        // Without the number of CPUs, sizes in nodes do not show whether a job shares its nodes.
        let asked = cpus.or((per_node > 1).then_some(job.size.into()));
        let first = &site.partitions[partitions[0]];
        if first.shares_nodes && asked.is_some_and(|asked| asked < first.cpus_of(1)) {
            all.sharing_jobs += 1;
            shared += time;
        }
        all.jobs.push(SiteJob {
            number: job.number,
            submit: job.submit,
            eligible: row.and_then(|row| row.eligible).map_or(job.submit, |at| at.max(job.submit)),
            run: job.run,
            nodes,
            cpus,
            limit: job.limit.filter(|&limit| limit > 0).map(|limit| limit.div_ceil(60)),
            estimate: options.estimates.then(|| minutes(job.estimate)),
            association: named.association,
            qos,
            partitions,
            nice: row.map_or(0, |row| row.nice),
            priority: row.and_then(|row| row.priority).filter(|_| options.recorded_priorities),
        });
        all.indexes.push(index);
    }
    all.shared_node_time = if node_time > 0.0 { shared / node_time } else { 0.0 };
    if per_node > 1 {
        all.notes.push(format!("sizes are divided by {per_node} CPUs per node and rounded up"));
    }
    if all.sharing_jobs > 0 {
        let jobs = counted(all.sharing_jobs as u64, "job");
        let share = fixed(100.0 * all.shared_node_time, 1);
        all.notes.push(format!(
            "{jobs} ({share} % of node time) asked for less than one node of a partition whose jobs share nodes, and \
             take whole nodes here"
        ));
    }
    if dropped > 0 {
        all.notes
            .push(format!("{} of unknown partitions or QOS left out", counted(dropped, "job")));
    }
    if site.associations.added() > 0 && sidecar.is_some() && site.has_fair_share {
        let users = counted(site.associations.added() as u64, "user");
        all.notes.push(format!("{users} without an association added below root with share 1"));
    }
    Ok(all)
}

/// The names of a job in the site.
struct Named {
    association: usize,
    /// Names of partitions; empty for the default partition.
    partitions: Vec<String>,
    /// Name of the QOS; `None` for the default QOS of the site.
    qos: Option<String>,
}

impl Named {
    fn of_row(row: &SidecarRow, site: &mut Site) -> Self {
        let association = site.associations.find_or_add(&row.account, &row.user);
        let default = site.associations.all()[association].default_qos.clone();
        let qos = Some(row.qos.clone()).filter(|name| !name.is_empty()).or(default);
        Self { association, partitions: row.partitions.clone(), qos }
    }
}

/// Returns the indexes of the partitions and of the QOS of a job.
fn resolve(site: &Site, named: &Named) -> Result<(Vec<usize>, usize), String> {
    let mut partitions = Vec::new();
    for name in &named.partitions {
        let at = site.find_partition(name);
        let at = at.ok_or_else(|| format!("there is no partition {}", excerpt(name)))?;
        if !partitions.contains(&at) {
            partitions.push(at);
        }
    }
    if partitions.is_empty() {
        partitions.push(site.default_partition);
    }
    let qos = match &named.qos {
        Some(name) => {
            site.find_qos(name).ok_or_else(|| format!("there is no QOS {}", excerpt(name)))?
        }
        None => site.find_qos("normal").unwrap_or(0),
    };
    Ok((partitions, qos))
}

/// Users and groups of a trace without a sidecar.
struct Labels {
    /// Whether groups are accounts: whether field 13 has several values.
    has_accounts: bool,
}

impl Labels {
    fn of(workload: &Workload) -> Self {
        let mut groups = workload.jobs.iter().map(|job| workload.labels.of(job).group);
        let first = groups.next().flatten();
        Self {
            has_accounts: groups.any(|group| group != first && group.is_some()) && first.is_some(),
        }
    }

    fn named(
        &mut self,
        job: &Job,
        workload: &Workload,
        field: PartitionField,
        names: &BTreeMap<i64, String>,
        site: &mut Site,
    ) -> Named {
        let labels = workload.labels.of(job);
        let number =
            |number: Option<i64>| number.map_or("unknown".to_string(), |number| number.to_string());
        let user = number(labels.user);
        let association = match self.has_accounts {
            true => {
                let account = number(labels.group);
                let parent = site.associations.account(&account);
                site.associations.add_user(&account, &user, parent)
            }
            false => site.associations.add_user("root", &user, 0),
        };
        let partition = partition_name(&labels, field, names, site);
        Named { association, partitions: partition.into_iter().collect(), qos: None }
    }
}
