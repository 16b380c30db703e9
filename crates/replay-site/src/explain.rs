//! Why a job of a replay started when it did: the passes that changed its reason, its planned start, or what keeps it from
//! starting.

use replay_engine::table::{Column, Table};

use crate::blocking::blocking;
use crate::job::SiteJob;
use crate::reason::Reason;
use crate::replay::{LimitRule, Replay};
use crate::scheduler::{Phase, StartedBy};
use crate::site::Site;

/// A change of the state of a job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExplainStep {
    /// The instant, in seconds.
    pub at: i64,
    /// Number of passes of the main loop so far.
    pub main_passes: u64,
    /// Number of passes of the backfill so far.
    pub backfill_passes: u64,
    /// What has become of the job: waits, starts or is rejected.
    pub event: &'static str,
    /// The loop that starts the job.
    pub by: Option<&'static str>,
    /// The reason for which the job waits or is rejected.
    pub reason: Option<&'static str>,
    /// The start, or the planned start.
    pub start: Option<i64>,
    /// Partition of the start.
    pub partition: Option<String>,
    /// Nodes of the start, or of the reservation.
    pub nodes: Option<String>,
    /// Priority in the first partition, or at the start.
    pub priority: Option<u32>,
    /// What keeps the job from starting.
    pub blocked_by: Option<String>,
}

impl Table for ExplainStep {
    const NAME: &'static str = "site_steps";
    const ROW: &'static str = "one row per change of the reason or the planned start of a job";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        vec![
            Column::new("at", "s", "instant", |row: &Self| row.at),
            Column::new("main_passes", "", "passes of the main loop so far", |row: &Self| row.main_passes),
            Column::new("backfill_passes", "", "passes of the backfill so far", |row: &Self| row.backfill_passes),
            Column::text("event", "waits, starts or rejected", |row: &Self| Some(row.event)),
            Column::text("by", "loop that starts the job: main or backfill", |row: &Self| row.by),
            Column::text("reason", "reason for which the job waits or is rejected", |row: &Self| row.reason),
            Column::new("start", "s", "start, or planned start", |row: &Self| row.start),
            Column::text("partition", "partition of the start", |row: &Self| row.partition.as_deref()),
            Column::text("nodes", "node numbers of the start, or of the reservation", |row: &Self| row.nodes.as_deref()),
            Column::new("priority", "", "priority in the first partition, or at the start", |row: &Self| row.priority),
            Column::text("blocked_by", "running jobs, jobs before it, or the limit that keep the job from starting", |row: &Self| row.blocked_by.as_deref()),
        ]
    }
}

/// Replays jobs until `job` has started, and returns the steps of this job in order of time. The last step is the start, if
/// there is one.
///
/// # Errors
/// The message of [`Replay::new`].
pub fn explain(
    site: &Site,
    jobs: &[SiteJob],
    rule: LimitRule,
    job: usize,
) -> Result<Vec<ExplainStep>, String> {
    let mut replay = Replay::new(site, jobs, rule)?;
    let mut steps: Vec<ExplainStep> = Vec::new();
    while let Some(at) = replay.step() {
        let controller = replay.controller();
        let state = &controller.states()[job];
        let (main, backfill) = replay.passes();
        let (start, planned) = (state.start.as_ref(), state.planned.as_ref());
        let (event, is_last) = match state.phase {
            Phase::Absent => continue,
            Phase::Waiting => ("waits", false),
            Phase::Rejected => ("rejected", true),
            Phase::Running | Phase::Ended => ("starts", true),
        };
        let partition = start.map(|one| one.partition).or(planned.map(|one| one.partition));
        let nodes = start.map(|one| &one.nodes).or(planned.and_then(|one| one.nodes.as_ref()));
        let blocked = match state.phase {
            Phase::Waiting => blocking(site, jobs, controller, job),
            _ => None,
        };
        let step = ExplainStep {
            at,
            main_passes: main.passes,
            backfill_passes: backfill.passes,
            event,
            by: start.map(|one| one.by).map(StartedBy::name),
            reason: Some(state.reason.name())
                .filter(|_| start.is_none() && state.reason != Reason::None),
            start: start.map(|one| one.at).or(planned.map(|one| one.at)),
            partition: partition.map(|at| site.partitions[at].name.clone()),
            nodes: nodes.map(crate::node_set::NodeSet::ranges),
            priority: start.map(|one| one.priority).or(state.priorities.first().copied()),
            blocked_by: blocked
                .map(|one| one.text(|job| jobs[job].number.to_string(), |at| at.to_string())),
        };
        let is_new = steps.last().is_none_or(|last| {
            (last.event, last.reason, last.start, &last.nodes, &last.blocked_by)
                != (step.event, step.reason, step.start, &step.nodes, &step.blocked_by)
        });
        if is_new {
            steps.push(step);
        }
        if is_last {
            break;
        }
    }
    Ok(steps)
}
