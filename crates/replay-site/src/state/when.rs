//! When waiting jobs start: by the plan of the next pass, in a replay in which every job runs to its time limit, and in
//! replays with drawn run times. No further jobs arrive.

use rayon::prelude::*;
use replay_engine::table::{Column, Table};

use super::PresentState;
use super::history::seed;
use crate::blocking::blocking;
use crate::job::SiteJob;
use crate::reason::Reason;
use crate::replay::Replay;
use crate::site::Site;

/// The starts of a waiting job.
#[derive(Clone, PartialEq, Debug)]
pub struct WhenRow {
    /// Name of the scheduler; empty if it is not set.
    pub scheduler: String,
    /// Job number, `ARRAY_TASK`, or `new`.
    pub job: String,
    /// User.
    pub user: String,
    /// Account.
    pub account: String,
    /// Partitions, in the order asked, separated by `+`.
    pub partition: String,
    /// Number of nodes.
    pub nodes: u32,
    /// Priority in the first partition.
    pub priority: Option<u32>,
    /// Planned start.
    pub plan: Option<i64>,
    /// Partition of the planned start.
    pub plan_partition: Option<String>,
    /// Node numbers of the planned start, if the plan reserves them.
    pub plan_nodes: Option<String>,
    /// Names of these nodes, separated by commas.
    pub plan_node_names: Option<String>,
    /// Loop that starts the job at the present instant.
    pub started_by: Option<&'static str>,
    /// Start if every job runs to its time limit.
    pub expected: Option<i64>,
    /// Starts that 10, 50 and 90 % of the draws do not exceed.
    pub quantiles: [Option<i64>; 3],
    /// Reason for which the job waits.
    pub reason: Option<&'static str>,
    /// What keeps the job from starting.
    pub blocked_by: Option<String>,
}

impl Table for WhenRow {
    const NAME: &'static str = "starts";
    const ROW: &'static str = "one row per waiting job of a site";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        vec![
            Column::text("job", "job number, ARRAY_TASK, or new", |row: &Self| Some(&row.job)),
            Column::text("scheduler", "scheduler", |row: &Self| Some(&row.scheduler)),
            Column::text("user", "user", |row: &Self| Some(&row.user)),
            Column::text("account", "account", |row: &Self| Some(&row.account)),
            Column::text("partition", "partitions asked, separated by +", |row: &Self| Some(&row.partition)),
            Column::new("nodes", "nodes", "size of the job", |row: &Self| row.nodes),
            Column::new("priority", "", "priority in the first partition; null before the job is eligible", |row: &Self| row.priority),
            Column::new("plan", "s", "planned start after one pass of both loops", |row: &Self| row.plan),
            Column::text("plan_partition", "partition of the planned start", |row: &Self| row.plan_partition.as_deref()),
            Column::text("plan_nodes", "node numbers of the planned start; null if no nodes are reserved", |row: &Self| row.plan_nodes.as_deref()),
            Column::text("plan_names", "names of these nodes, separated by commas", |row: &Self| row.plan_node_names.as_deref()),
            Column::text("started_by", "loop that starts the job at the present instant: main or backfill", |row: &Self| row.started_by),
            Column::new("expected", "s", "start if every job runs to its time limit and no job arrives", |row: &Self| row.expected),
            Column::new("p10", "s", "start that 10 % of the draws do not exceed", |row: &Self| row.quantiles[0]),
            Column::new("p50", "s", "start that 50 % of the draws do not exceed", |row: &Self| row.quantiles[1]),
            Column::new("p90", "s", "start that 90 % of the draws do not exceed", |row: &Self| row.quantiles[2]),
            Column::text("reason", "reason for which the job waits after the pass", |row: &Self| row.reason),
            Column::text("blocked_by", "running jobs, jobs before it, or the limit that keep the job from starting", |row: &Self| row.blocked_by.as_deref()),
        ]
    }
}

/// Returns the starts of all jobs of a replay from the present state.
fn starts(site: &Site, jobs: &[SiteJob], state: &PresentState) -> Result<Vec<Option<i64>>, String> {
    let replayed = Replay::from_state(site, jobs, state)?.finish();
    Ok(replayed.states.iter().map(|state| state.start.as_ref().map(|start| start.at)).collect())
}

/// Returns the jobs with drawn run times.
fn drawn(state: &PresentState, draw: u64) -> Vec<SiteJob> {
    let mut jobs = state.jobs.clone();
    let mut passed = vec![0; jobs.len()];
    for running in &state.running {
        passed[running.job] = state.now - running.start;
    }
    for ((job, names), passed) in jobs.iter_mut().zip(&state.names).zip(passed) {
        let limit = job.run.max(1) as f64;
        let seed = seed(draw, &names.id);
        let share = state.history.draw(&names.user, &names.account, passed as f64 / limit, seed);
        job.run = ((limit * share) as i64).max(1);
    }
    jobs
}

/// Returns the value that a share of sorted values does not exceed; values that are `None` are last.
fn quantile(sorted: &[Option<i64>], tenths: usize) -> Option<i64> {
    let at = (sorted.len() * tenths).div_ceil(10).checked_sub(1)?;
    sorted[at]
}

/// Returns a row for each waiting job, in the order of the file. `draws` replays have drawn run times.
///
/// # Errors
/// The messages of [`Replay::from_state`].
pub fn when(site: &Site, state: &PresentState, draws: u64) -> Result<Vec<WhenRow>, String> {
    let jobs = &state.jobs;
    let now = Replay::from_state(site, jobs, state)?;
    let controller = now.controller();
    let expected = starts(site, jobs, state)?;
    let drawn: Result<Vec<Vec<Option<i64>>>, String> = (0..draws)
        .into_par_iter()
        .map(|draw| starts(site, &self::drawn(state, draw), state))
        .collect();
    let drawn = drawn?;
    let row = |job: usize| {
        let (one, names, found) = (&jobs[job], &state.names[job], &controller.states()[job]);
        let start = found.start.as_ref();
        let plan = start.map(|start| (start.at, start.partition, Some(&start.nodes)));
        let planned = found.planned.as_ref();
        let plan = plan.or(planned.map(|plan| (plan.at, plan.partition, plan.nodes.as_ref())));
        let nodes = plan.and_then(|(_, _, nodes)| nodes);
        let names_of = |nodes: &crate::node_set::NodeSet| {
            let names: Vec<&str> = nodes.iter().map(|node| &site.nodes[node.index()][..]).collect();
            names.join(",")
        };
        let mut all: Vec<Option<i64>> = drawn.iter().map(|starts| starts[job]).collect();
        all.sort_by_key(|start| start.unwrap_or(i64::MAX));
        let blocked = match start {
            None => blocking(site, jobs, controller, job),
            Some(_) => None,
        };
        let name = |job: usize| state.names[job].id.clone();
        let partitions: Vec<&str> =
            one.partitions.iter().map(|&at| &site.partitions[at].name[..]).collect();
        WhenRow {
            scheduler: String::new(),
            job: names.id.clone(),
            user: names.user.clone(),
            account: names.account.clone(),
            partition: partitions.join("+"),
            nodes: one.nodes,
            priority: found
                .priorities
                .first()
                .copied()
                .filter(|_| !matches!(found.reason, Reason::Dependency | Reason::BeginTime)),
            plan: plan.map(|(at, ..)| at),
            plan_partition: plan.map(|(_, at, _)| site.partitions[at].name.clone()),
            plan_nodes: nodes.map(crate::node_set::NodeSet::ranges),
            plan_node_names: nodes.map(names_of),
            started_by: start.map(|start| start.by.name()),
            expected: expected[job],
            quantiles: [1, 5, 9].map(|tenths| quantile(&all, tenths)),
            reason: if start.is_some() { None } else { Some(found.reason.name()) },
            blocked_by: blocked.map(|blocked| blocked.text(name, |at| state.clock.format(at))),
        }
    };
    Ok(state.waiting.iter().map(|waiting| row(waiting.job)).collect())
}
