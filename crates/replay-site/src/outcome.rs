//! Results of a replay as rows of tables: one row per job, one row per run.

use std::collections::BTreeMap;

use replay_engine::table::{Column, SHARE, Table};

use crate::fairshare::ShareTree;
use crate::jobs::SiteJobs;
use crate::reason::{Reason, ReasonClass};
use crate::replay::{PassCounts, Replayed};
use crate::scheduler::{Phase, StartedBy};
use crate::site::Site;

/// Run times below this number of seconds count as this number in bounded slowdowns.
const BOUND: i64 = 10;

/// A job of a replay.
#[derive(Clone, PartialEq, Debug)]
pub struct SiteJobRow {
    /// Number of the run.
    pub run: u32,
    /// Job number.
    pub job: i64,
    /// Start in seconds; `None` if the job has not started.
    pub start: Option<i64>,
    /// Partition in which the job started.
    pub partition: Option<String>,
    /// Nodes as ranges.
    pub nodes: Option<String>,
    /// Name of the loop that started the job.
    pub started_by: Option<&'static str>,
    /// Reason for which the job has not started.
    pub reason: Option<&'static str>,
    /// Last reason for which the job waited before its start.
    pub last_reason: Option<&'static str>,
    /// Tier of the partition.
    pub tier: Option<u32>,
    /// Priority at the start.
    pub priority: Option<u32>,
    /// Seconds between submission and start.
    pub wait: Option<i64>,
    /// Seconds of waiting by class of the reason, in the order of [`ReasonClass::ALL`].
    pub waits: [i64; ReasonClass::ALL.len()],
    /// First planned start in the future.
    pub first_plan: Option<i64>,
    /// Number of passes that moved the planned start by more than the resolution.
    pub plan_moves: u32,
    /// First planned start minus start.
    pub plan_error: Option<i64>,
}

impl Table for SiteJobRow {
    const NAME: &'static str = "site_jobs";
    const ROW: &'static str = "one row per job of a site's queue";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        vec![
            Column::new("run", "", "number of the run, from 0", |row: &Self| row.run),
            Column::new("job", "", "job number", |row: &Self| row.job),
            Column::new("start", "s", "start; null if the job has not started", |row: &Self| row.start),
            Column::text("partition", "partition in which the job started", |row: &Self| row.partition.as_deref()),
            Column::text("nodes", "node numbers as ranges", |row: &Self| row.nodes.as_deref()),
            Column::text("started_by", "loop that started the job: main or backfill", |row: &Self| row.started_by),
            Column::text("reason", "reason for which the job has not started", |row: &Self| row.reason),
            Column::text("last_reason", "last reason for which the job waited before its start", |row: &Self| row.last_reason),
            Column::new("tier", "", "tier of the partition", |row: &Self| row.tier),
            Column::new("priority", "", "priority at the start", |row: &Self| row.priority),
            Column::new("wait", "s", "time between submission and start", |row: &Self| row.wait),
            Column::new("wait_resources", "s", "time of waiting with the reason Resources", |row: &Self| row.waits[ReasonClass::Resources as usize]),
            Column::new("wait_priority", "s", "time of waiting with the reason Priority", |row: &Self| row.waits[ReasonClass::Priority as usize]),
            Column::new("wait_limit", "s", "time of waiting for a limit of a QOS or an association", |row: &Self| row.waits[ReasonClass::Limit as usize]),
            Column::new("wait_other", "s", "time of waiting with any other reason, or before a loop has looked at the job", |row: &Self| row.waits[ReasonClass::Other as usize]),
            Column::new("first_plan", "s", "first planned start in the future", |row: &Self| row.first_plan),
            Column::new("plan_moves", "", "passes that moved the planned start by more than bf_resolution", |row: &Self| row.plan_moves),
            Column::new("plan_error", "s", "first planned start minus start", |row: &Self| row.plan_error),
        ]
    }
}

/// A replay of a trace with a scheduler.
#[derive(Clone, PartialEq, Debug)]
pub struct SiteRunRow {
    /// Number of the run, from 0.
    pub run: u32,
    /// Name of the trace.
    pub trace: String,
    /// Name of the scheduler.
    pub scheduler: String,
    /// Number of jobs.
    pub jobs: u64,
    /// Jobs that started.
    pub started: u64,
    /// Jobs that the backfill started.
    pub backfilled: u64,
    /// Jobs that were rejected at submission.
    pub rejected: u64,
    /// Jobs that wait at the end of the replay.
    pub never_started: u64,
    /// Mean wait of the jobs that started, in seconds.
    pub mean_wait: Option<f64>,
    /// Wait that 90 % of the jobs that started do not exceed, in seconds.
    pub p90_wait: Option<i64>,
    /// Mean of the bounded slowdown.
    pub mean_bounded_slowdown: Option<f64>,
    /// Jain's index of the mean bounded slowdowns of users with ten jobs or more.
    pub jain_slowdown: Option<f64>,
    /// Jain's index of the mean waits of these users.
    pub jain_wait: Option<f64>,
    /// Jain's index of the node hours of these users, divided by their normalised shares; `None` without associations.
    pub jain_node_hours: Option<f64>,
    /// Mean of first planned start minus start, in seconds.
    pub mean_plan_error: Option<f64>,
    /// Passes of the main loop.
    pub main: PassCounts,
    /// Passes of the backfill.
    pub backfill: PassCounts,
}

fn ratio(part: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| part as f64 / all as f64)
}

impl Table for SiteRunRow {
    const NAME: &'static str = "site_runs";
    const ROW: &'static str = "one row per replay of a trace through a site's scheduler";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        vec![
            Column::new("run", "", "number of the run, from 0", |row: &Self| row.run),
            Column::text("trace", "name of the trace", |row: &Self| Some(&row.trace)),
            Column::text("scheduler", "scheduler", |row: &Self| Some(&row.scheduler)),
            Column::new("jobs", "", "jobs", |row: &Self| row.jobs),
            Column::new("started", "", "jobs that started", |row: &Self| row.started),
            Column::new("backfilled", SHARE, "jobs that the backfill started, of the jobs that started", |row: &Self| ratio(row.backfilled, row.started)),
            Column::new("rejected", "", "jobs that were rejected at submission", |row: &Self| row.rejected),
            Column::new("never_started", "", "jobs that wait at the end of the replay", |row: &Self| row.never_started),
            Column::new("mean_wait", "s", "mean time between submission and start", |row: &Self| row.mean_wait),
            Column::new("p90_wait", "s", "time between submission and start that 90 % of the jobs do not exceed", |row: &Self| row.p90_wait),
            Column::new("mean_bounded_slowdown", "", "mean of (wait + run time) / run time, with run times of at least 10 s", |row: &Self| row.mean_bounded_slowdown),
            Column::new("mean_plan_error", "s", "mean of first planned start minus start", |row: &Self| row.mean_plan_error),
            Column::new("jain_slowdown", "", "Jain's index of the mean bounded slowdowns of users with ten jobs or more", |row: &Self| row.jain_slowdown),
            Column::new("jain_wait", "", "Jain's index of the mean waits of these users", |row: &Self| row.jain_wait),
            Column::new("jain_node_hours", "", "Jain's index of node hours / normalised share of these users; null without associations", |row: &Self| row.jain_node_hours),
            Column::new("main_passes", "", "passes of the main loop", |row: &Self| row.main.passes),
            Column::new("main_records", "", "mean of the jobs that a pass of the main loop looks at, once for each partition", |row: &Self| ratio(row.main.records, row.main.passes)),
            Column::new("main_cut", SHARE, "passes of the main loop that the limit on jobs ended", |row: &Self| ratio(row.main.cut, row.main.passes)),
            Column::new("backfill_passes", "", "passes of the backfill", |row: &Self| row.backfill.passes),
            Column::new("backfill_records", "", "mean of the jobs that a pass of the backfill looks at, once for each partition", |row: &Self| ratio(row.backfill.records, row.backfill.passes)),
            Column::new("backfill_cut", SHARE, "passes of the backfill that a limit on jobs or slots ended", |row: &Self| ratio(row.backfill.cut, row.backfill.passes)),
        ]
    }
}

/// Returns the rows of the jobs of a replay, by job number.
pub fn job_rows(run: u32, site: &Site, jobs: &SiteJobs, replayed: &Replayed) -> Vec<SiteJobRow> {
    let name = |reason: Reason| Some(reason.name()).filter(|_| reason != Reason::None);
    let mut rows: Vec<SiteJobRow> = jobs
        .jobs
        .iter()
        .zip(&replayed.states)
        .map(|(job, state)| {
            let start = state.start.as_ref();
            let at = start.map(|start| start.at);
            let partition = start.map(|start| &site.partitions[start.partition]);
            SiteJobRow {
                run,
                job: job.number,
                start: at,
                partition: partition.map(|partition| partition.name.clone()),
                nodes: start.map(|start| start.nodes.ranges()),
                started_by: start.map(|start| start.by.name()),
                reason: if start.is_some() { None } else { Some(state.reason.name()) },
                last_reason: start.and_then(|_| name(state.reason)),
                tier: partition.map(|partition| partition.tier),
                priority: start.map(|start| start.priority),
                wait: at.map(|at| at - job.submit),
                waits: state.waits,
                first_plan: state.first_plan,
                plan_moves: state.plan_moves,
                plan_error: state.first_plan.zip(at).map(|(plan, at)| plan - at),
            }
        })
        .collect();
    rows.sort_by_key(|row| row.job);
    rows
}

/// Sums over the jobs of a user that started.
#[derive(Clone, Copy, Default)]
struct UserSums {
    jobs: u32,
    wait: f64,
    slowdown: f64,
    node_seconds: f64,
}

/// Least number of jobs of a user in the indexes of fairness.
const FAIR_JOBS: u32 = 10;

/// Returns Jain's index (sum x)^2 / (k sum x^2); `None` without values or if all are 0.
fn jain(values: &[f64]) -> Option<f64> {
    let (sum, squares) = values.iter().fold((0.0, 0.0), |(a, b), x| (a + x, b + x * x));
    (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

/// Returns the row of a replay.
pub fn run_row(
    (run, trace, scheduler): (u32, &str, &str),
    site: &Site,
    jobs: &SiteJobs,
    replayed: &Replayed,
) -> SiteRunRow {
    let started = jobs.jobs.iter().zip(&replayed.states).zip(&replayed.ends);
    let started = started
        .filter_map(|((job, state), end)| Some((job, state, state.start.as_ref()?, (*end)?)));
    let (mut waits, mut slowdowns, mut plans, mut backfilled) = (Vec::new(), 0.0, Vec::new(), 0);
    // A user in two accounts counts as two.
    let mut users: BTreeMap<usize, UserSums> = BTreeMap::new();
    for (job, state, start, end) in started {
        let (wait, run) = (start.at - job.submit, end - start.at);
        waits.push(wait);
        let slowdown = ((wait + run) as f64 / run.max(BOUND) as f64).max(1.0);
        let sums = users.entry(job.association).or_default();
        sums.jobs += 1;
        sums.wait += wait as f64;
        sums.slowdown += slowdown;
        sums.node_seconds += f64::from(job.nodes) * run as f64;
        slowdowns += slowdown;
        plans.extend(state.first_plan.map(|plan| plan - start.at));
        backfilled += u64::from(start.by == StartedBy::Backfill);
    }
    waits.sort_unstable();
    let mean = |sum: f64, count: usize| (count > 0).then(|| sum / count as f64);
    let count = |phase| replayed.states.iter().filter(|state| state.phase == phase).count() as u64;
    users.retain(|_, sums| sums.jobs >= FAIR_JOBS);
    let of_users = |value: fn(&UserSums) -> f64| -> Vec<f64> {
        users.values().map(|sums| value(sums) / f64::from(sums.jobs)).collect()
    };
    let shares = ShareTree::new(&site.associations);
    let shares = shares.compute(&replayed.usage, false, site.priority.dampening);
    let hours = users.iter().filter_map(|(&at, sums)| {
        let share = shares[at].norm_shares;
        (share > 0.0).then(|| sums.node_seconds / share)
    });
    let hours: Vec<f64> = hours.collect();
    SiteRunRow {
        run,
        trace: trace.to_string(),
        scheduler: scheduler.to_string(),
        jobs: jobs.jobs.len() as u64,
        started: waits.len() as u64,
        backfilled,
        rejected: count(Phase::Rejected),
        never_started: count(Phase::Waiting),
        mean_wait: mean(waits.iter().map(|&wait| wait as f64).sum(), waits.len()),
        p90_wait: (waits.len() * 9).div_ceil(10).checked_sub(1).map(|at| waits[at]),
        mean_bounded_slowdown: mean(slowdowns, waits.len()),
        jain_slowdown: jain(&of_users(|sums| sums.slowdown)),
        jain_wait: jain(&of_users(|sums| sums.wait)),
        jain_node_hours: jain(&hours).filter(|_| site.has_fair_share),
        mean_plan_error: mean(plans.iter().map(|&error| error as f64).sum(), plans.len()),
        main: replayed.main,
        backfill: replayed.backfill,
    }
}
