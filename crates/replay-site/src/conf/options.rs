//! The keys of a `slurm.conf` outside the lines of nodes and partitions.

use replay_engine::sanitize::excerpt;

use super::{EnforcePartLimits, Parser, TopologyPlugin};
use crate::error::Warning;
use crate::times::minutes;

pub use replay_engine::workload::whole as number;

/// Parses a weight or a factor of the priority.
pub fn weight(value: &str) -> Result<u32, String> {
    number(value)
}

/// Parses `YES` or `NO`.
pub fn yes(value: &str) -> Result<bool, String> {
    let is = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(value));
    match (is(&["yes", "true", "1"]), is(&["no", "false", "0"])) {
        (true, _) => Ok(true),
        (_, true) => Ok(false),
        _ => Err(format!("\"{}\" is neither YES nor NO", excerpt(value))),
    }
}

/// Parses a number within bounds.
fn within(value: Option<&str>, least: u32, most: u32) -> Result<u32, String> {
    let value = value.ok_or("a value is missing")?;
    match number(value)? {
        number if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!("\"{}\" is not within {least}..{most}", excerpt(value))),
    }
}

/// Returns the name of a plugin without its kind: `backfill` for `sched/backfill`.
fn plugin<'a>(value: &'a str, kind: &str) -> &'a str {
    match value.split_once('/') {
        Some((before, name)) if before.eq_ignore_ascii_case(kind) => name,
        _ => value,
    }
}

impl Parser<'_> {
    /// Reads a key; returns `false` if the key is not used.
    pub(super) fn option(&mut self, key: &str, value: &str, line: u64) -> Result<bool, String> {
        let priority = &mut self.conf.priority;
        let weights = &mut priority.weights;
        match &key.to_ascii_lowercase()[..] {
            "priorityweightage" => weights.age = weight(value)?,
            "priorityweightassoc" => weights.assoc = weight(value)?,
            "priorityweightfairshare" => weights.fairshare = weight(value)?,
            "priorityweightjobsize" => weights.size = weight(value)?,
            "priorityweightpartition" => weights.partition = weight(value)?,
            "priorityweightqos" => weights.qos = weight(value)?,
            "priorityweighttres" => self.tres_weights(value, line)?,
            "prioritymaxage" => {
                priority.max_age = match minutes(value)? {
                    Some(0) => return Err("0 is not allowed; write at least one minute".into()),
                    time => time.ok_or("a time without limit is not allowed")?,
                }
            }
            "prioritydecayhalflife" => {
                // Without an end, usage never halves.
                priority.half_life = minutes(value)?.unwrap_or(0);
            }
            "prioritycalcperiod" => {
                priority.calc_period = match minutes(value)? {
                    Some(0) => return Err("0 is not allowed; write at least one minute".into()),
                    time => time.ok_or("a time without limit is not allowed")?,
                }
            }
            "priorityfavorsmall" => priority.favor_small = yes(value)?,
            "fairsharedampeningfactor" => {
                priority.dampening = f64::from(within(Some(value), 1, u16::MAX.into())?);
            }
            "priorityflags" => self.priority_flags(value, line),
            "prioritytype" => match &plugin(value, "priority").to_ascii_lowercase()[..] {
                "multifactor" => priority.is_basic = false,
                "basic" => {
                    priority.is_basic = true;
                    let text = "`PriorityType=priority/basic`: first come first served is used";
                    self.conf.warnings.push(Warning::new(self.file, line, text));
                }
                _ => return Err(unknown_plugin(value, "priority/multifactor or priority/basic")),
            },
            "priorityusageresetperiod" if value.eq_ignore_ascii_case("NONE") => {}
            "schedulertype" => match &plugin(value, "sched").to_ascii_lowercase()[..] {
                "backfill" => self.conf.scheduler.backfill = true,
                "builtin" => self.conf.scheduler.backfill = false,
                _ => return Err(unknown_plugin(value, "sched/backfill or sched/builtin")),
            },
            "schedulerparameters" => {
                for option in value.split(',').map(str::trim).filter(|option| !option.is_empty()) {
                    let (name, value) = match option.split_once('=') {
                        Some((name, value)) => (name, Some(value)),
                        None => (option, None),
                    };
                    let known = self.scheduler_option(name, value);
                    if !known.map_err(|problem| format!("{}: {problem}", excerpt(name)))? {
                        self.not_modelled(line, name);
                    }
                }
            }
            "accountingstorageenforce" => {
                let enforces = |part: &str| {
                    ["limits", "safe", "all"]
                        .iter()
                        .any(|name| name.eq_ignore_ascii_case(part.trim()))
                };
                self.conf.enforces_limits = value.split(',').any(enforces);
            }
            "enforcepartlimits" => {
                self.conf.enforce_part_limits = match &value.to_ascii_uppercase()[..] {
                    "ALL" | "YES" => EnforcePartLimits::All,
                    "ANY" => EnforcePartLimits::Any,
                    "NO" => EnforcePartLimits::No,
                    _ => return Err(format!("\"{}\" is not ALL, YES, ANY or NO", excerpt(value))),
                }
            }
            "selecttype" => match &plugin(value, "select").to_ascii_lowercase()[..] {
                "cons_tres" | "cons_res" => self.conf.shares_nodes = true,
                "linear" => self.conf.shares_nodes = false,
                _ => return Err(unknown_plugin(value, "select/cons_tres or select/linear")),
            },
            "topologyplugin" => {
                let plugin = match &plugin(value, "topology").to_ascii_lowercase()[..] {
                    "flat" | "default" | "none" => TopologyPlugin::Flat,
                    "tree" => TopologyPlugin::Tree,
                    "block" => TopologyPlugin::Block,
                    _ => {
                        let known = "topology/flat, topology/tree or topology/block";
                        return Err(unknown_plugin(value, known));
                    }
                };
                self.conf.topology = Some(plugin);
            }
            "preempttype" => {
                if !plugin(value, "preempt").eq_ignore_ascii_case("none") {
                    return Err(unknown_plugin(value, "preempt/none; preemption is not modelled"));
                }
            }
            "preemptmode" if value.eq_ignore_ascii_case("OFF") => {}
            "overtimelimit" => self.conf.over_time_limit = minutes(value)?,
            "completewait" if value == "0" => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn tres_weights(&mut self, value: &str, line: u64) -> Result<(), String> {
        for part in value.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').ok_or_else(|| {
                format!("\"{}\" is not a pair NAME=WEIGHT, such as CPU=1000", excerpt(part))
            })?;
            let value = weight(value)?;
            let weights = &mut self.conf.priority.weights;
            match &name.to_ascii_lowercase()[..] {
                "cpu" => weights.tres_cpu = value,
                "node" => weights.tres_node = value,
                _ => {
                    let key = format!("PriorityWeightTRES={name}");
                    if self.named.insert(key.to_ascii_lowercase()) {
                        let effect = "it adds to the priority of jobs that ask for this resource";
                        let warning = Warning::not_modelled(self.file, line, &key, effect);
                        self.conf.warnings.push(warning);
                    }
                }
            }
        }
        Ok(())
    }

    fn priority_flags(&mut self, value: &str, line: u64) {
        for flag in value.split(',').map(str::trim).filter(|flag| !flag.is_empty()) {
            let priority = &mut self.conf.priority;
            match &flag.to_ascii_uppercase()[..] {
                "NO_FAIR_TREE" => priority.fair_tree = false,
                // The default.
                "FAIR_TREE" => priority.fair_tree = true,
                "SMALL_RELATIVE_TO_TIME" => priority.small_relative_to_time = true,
                "ACCRUE_ALWAYS" => priority.accrue_always = true,
                "NO_NORMAL_ALL" => {
                    (priority.raw_assoc, priority.raw_partition) = (true, true);
                    (priority.raw_qos, priority.raw_tres) = (true, true);
                }
                "NO_NORMAL_ASSOC" => priority.raw_assoc = true,
                "NO_NORMAL_PART" => priority.raw_partition = true,
                "NO_NORMAL_QOS" => priority.raw_qos = true,
                "NO_NORMAL_TRES" => priority.raw_tres = true,
                _ => self.not_modelled(line, flag),
            }
        }
    }

    /// Reads an option of `SchedulerParameters`; returns `false` if the option is not used.
    fn scheduler_option(&mut self, name: &str, value: Option<&str>) -> Result<bool, String> {
        let scheduler = &mut self.conf.scheduler;
        const MOST: u32 = u32::MAX;
        match &name.to_ascii_lowercase()[..] {
            "bf_interval" => scheduler.interval = within(value, 1, 10_800)?.into(),
            "bf_resolution" => scheduler.resolution = within(value, 1, 3600)?.into(),
            "bf_window" => scheduler.window = within(value, 1, 43_200)?,
            "bf_max_job_test" => scheduler.test = within(value, 1, 1_000_000)?,
            "bf_max_job_user" => scheduler.per_user = within(value, 0, MOST)?,
            "bf_max_job_part" => scheduler.per_partition = within(value, 0, MOST)?,
            "bf_max_job_user_part" => scheduler.per_user_and_partition = within(value, 0, MOST)?,
            "bf_min_prio_reserve" => scheduler.min_priority = within(value, 0, MOST)?,
            "bf_min_age_reserve" => scheduler.min_age = within(value, 0, MOST)?.into(),
            "bf_one_resv_per_job" => scheduler.one_reservation = true,
            "bf_node_space_size" => scheduler.slots = Some(within(value, 2, 2_000_000)?),
            "bf_continue" => {}
            "default_queue_depth" => scheduler.depth = within(value, 0, MOST)?,
            "partition_job_depth" => scheduler.partition_depth = within(value, 0, MOST)?,
            "sched_interval" => scheduler.full_interval = within(value, 1, MOST)?.into(),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The message for a plugin that is not modelled.
fn unknown_plugin(value: &str, known: &str) -> String {
    format!("the plugin {} is not modelled; supported: {known}", excerpt(value))
}
