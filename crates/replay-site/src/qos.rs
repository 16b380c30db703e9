//! Qualities of service: the output of `sacctmgr -P show qos`.

use replay_engine::sanitize::excerpt;

use crate::dump::Dump;
use crate::error::{SiteError, Warning};
use crate::tres::Tres;

/// A quality of service.
#[derive(Clone, PartialEq, Debug)]
pub struct Qos {
    /// Name.
    pub name: String,
    /// Priority.
    pub priority: u32,
    /// Factor of the usage of its jobs.
    pub usage_factor: f64,
    /// `OverPartQOS`: its limits come before those of the QOS of the partition.
    pub over_partition: bool,
    /// `DenyOnLimit`: jobs that exceed a limit are rejected at submission.
    pub deny_on_limit: bool,
    /// `PartitionMinNodes`: jobs may have fewer nodes than the partition's minimum.
    pub lifts_min_nodes: bool,
    /// `PartitionMaxNodes`: jobs may have more nodes than the partition's maximum.
    pub lifts_max_nodes: bool,
    /// `PartitionTimeLimit`: jobs may have more time than the partition's maximum.
    pub lifts_time: bool,
    /// `GrpJobs`: running jobs.
    pub grp_jobs: Option<u32>,
    /// `GrpSubmit`: waiting and running jobs.
    pub grp_submit: Option<u32>,
    /// `GrpTRES`: resources of running jobs.
    pub grp_tres: Tres,
    /// `MaxTRES`: resources of a job.
    pub max_tres: Tres,
    /// `MinTRES`: least resources of a job.
    pub min_tres: Tres,
    /// `MaxTRESPA`: resources of running jobs of an account.
    pub max_tres_pa: Tres,
    /// `MaxTRESPU`: resources of running jobs of a user.
    pub max_tres_pu: Tres,
    /// `MaxJobsPA`: running jobs of an account.
    pub max_jobs_pa: Option<u32>,
    /// `MaxJobsPU`: running jobs of a user.
    pub max_jobs_pu: Option<u32>,
    /// `MaxSubmitPA`: waiting and running jobs of an account.
    pub max_submit_pa: Option<u32>,
    /// `MaxSubmitPU`: waiting and running jobs of a user.
    pub max_submit_pu: Option<u32>,
    /// `MaxWall`: time limit of a job, in minutes.
    pub max_wall: Option<u32>,
}

impl Qos {
    /// Creates a QOS of priority 0 without limits.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_string(),
            priority: 0,
            usage_factor: 1.0,
            over_partition: false,
            deny_on_limit: false,
            lifts_min_nodes: false,
            lifts_max_nodes: false,
            lifts_time: false,
            grp_jobs: None,
            grp_submit: None,
            grp_tres: Tres::default(),
            max_tres: Tres::default(),
            min_tres: Tres::default(),
            max_tres_pa: Tres::default(),
            max_tres_pu: Tres::default(),
            max_jobs_pa: None,
            max_jobs_pu: None,
            max_submit_pa: None,
            max_submit_pu: None,
            max_wall: None,
        }
    }

    /// Returns whether the QOS has a limit.
    pub fn has_limits(&self) -> bool {
        let free = Self {
            priority: self.priority,
            usage_factor: self.usage_factor,
            over_partition: self.over_partition,
            deny_on_limit: self.deny_on_limit,
            lifts_min_nodes: self.lifts_min_nodes,
            lifts_max_nodes: self.lifts_max_nodes,
            lifts_time: self.lifts_time,
            ..Self::named(&self.name)
        };
        *self != free
    }
}

/// Columns without effect here, with what Slurm does with their values.
const UNUSED: [(&str, &str); 12] = [
    ("GraceTime", "jobs that are preempted get more time"),
    ("Preempt", "jobs of this QOS stop running jobs"),
    ("PreemptExemptTime", "jobs are protected from preemption for a time"),
    ("UsageThres", "jobs below a fair share are rejected"),
    ("GrpTRESMins", "budgets limit the usage of a group"),
    ("GrpTRESRunMins", "it limits the time that running jobs still have"),
    ("GrpWall", "budgets limit the wall-clock time of a group"),
    ("MaxTRESMins", "it limits resources times time of a job"),
    ("MaxTRESPerNode", "it limits resources of a node of a job"),
    ("MaxTRESRunMinsPA", "it limits the time that running jobs still have"),
    ("MaxTRESRunMinsPU", "it limits the time that running jobs still have"),
    ("LimitFactor", "it raises the limits of associations"),
];

/// Reads all qualities of service of the file `file`, in file order.
///
/// # Errors
/// [`SiteError`] with line and column.
pub fn read(text: &str, file: &str) -> Result<(Vec<Qos>, Vec<Warning>), SiteError> {
    let dump = Dump::read(text, file)?;
    dump.require(&["Name", "Priority"], "sacctmgr -P show qos")?;
    let mut warnings = dump.unused(&UNUSED);
    let mut all: Vec<Qos> = Vec::new();
    for row in dump.rows() {
        let name = row.get("Name").ok_or_else(|| row.error("Name: a QOS without a name"))?;
        if all.iter().any(|qos| qos.name == name) {
            return Err(row.error(format!("QOS {} is given twice", excerpt(name))));
        }
        let mut qos = Qos::named(name);
        qos.priority = row.parsed("Priority", crate::conf::number)?.unwrap_or(0);
        let factor = |text: &str| {
            let factor =
                text.parse().ok().filter(|factor: &f64| factor.is_finite() && *factor >= 0.0);
            factor.ok_or_else(|| format!("\"{}\" is not a factor", excerpt(text)))
        };
        qos.usage_factor = row.parsed("UsageFactor", factor)?.unwrap_or(1.0);
        let flags = row.get("Flags").unwrap_or_default();
        for flag in flags.split(',').map(str::trim).filter(|flag| !flag.is_empty()) {
            match &flag.to_ascii_lowercase()[..] {
                "overpartqos" => qos.over_partition = true,
                "denyonlimit" => qos.deny_on_limit = true,
                "partitionminnodes" => qos.lifts_min_nodes = true,
                "partitionmaxnodes" => qos.lifts_max_nodes = true,
                "partitiontimelimit" => qos.lifts_time = true,
                _ => {
                    let key = format!("Flags={flag}");
                    let effect = crate::conf::effect(flag);
                    warnings.push(Warning::not_modelled(file, row.line, &key, effect));
                }
            }
        }
        qos.grp_jobs = row.limit("GrpJobs")?;
        qos.grp_submit = row.limit("GrpSubmit")?;
        qos.grp_tres = row.tres("GrpTRES", &mut warnings)?;
        qos.max_tres = row.tres("MaxTRES", &mut warnings)?;
        qos.min_tres = row.tres("MinTRES", &mut warnings)?;
        qos.max_tres_pa = row.tres("MaxTRESPA", &mut warnings)?;
        qos.max_tres_pu = row.tres("MaxTRESPU", &mut warnings)?;
        qos.max_jobs_pa = row.limit("MaxJobsPA")?;
        qos.max_jobs_pu = row.limit("MaxJobsPU")?;
        qos.max_submit_pa = row.limit("MaxSubmitPA")?;
        qos.max_submit_pu = row.limit("MaxSubmitPU")?;
        qos.max_wall = row.time("MaxWall")?;
        all.push(qos);
    }
    Ok((all, warnings))
}
