//! What keeps a waiting job from starting, after a pass of the backfill.

use replay_engine::number::{counted, fixed};

use crate::job::SiteJob;
use crate::limits::{LimitFacts, LimitUnit};
use crate::reason::Reason;
use crate::scheduler::Controller;
use crate::site::Site;

/// Number of jobs that a text names.
const NAMED: usize = 3;

/// What keeps a job from starting.
#[derive(Clone, PartialEq, Debug)]
pub enum Blocking {
    /// Running jobs that hold nodes of the planned start, with their ends by time limit, by end.
    Running(Vec<(usize, i64)>),
    /// Jobs before it in the queue whose reservations have its nodes.
    Reserved {
        /// Indexes of the jobs, in the order of the queue.
        jobs: Vec<usize>,
        /// Nodes times time of their reservations, in hours.
        node_hours: f64,
    },
    /// A limit of a QOS or an association.
    Limit {
        /// The limit.
        facts: LimitFacts,
        /// Running jobs that the limit counts.
        jobs: usize,
        /// The first end of a job, by time limit, after which the limit allows the job; `None` if no end does.
        clears: Option<i64>,
    },
}

/// Returns what keeps a waiting job from starting; `None` if its reason names nothing else.
pub fn blocking(
    site: &Site,
    jobs: &[SiteJob],
    controller: &Controller<'_>,
    job: usize,
) -> Option<Blocking> {
    let state = &controller.states()[job];
    match state.reason {
        Reason::Resources => running(controller, job),
        Reason::Priority => {
            reserved(site, jobs, controller, job).or_else(|| running(controller, job))
        }
        Reason::Limit(reason) => {
            let partition = *jobs[job].partitions.first()?;
            let applicant = controller.limits().applicant(site, &jobs[job], partition);
            let facts = controller.limits().facts(&applicant, reason)?;
            let (mut held, mut count, mut clears) = (facts.held, 0, None);
            for (other, end) in controller.ends_by_limit() {
                let Some(start) = controller.states()[other].start.as_ref() else { continue };
                let other = controller.limits().applicant(site, &jobs[other], start.partition);
                if facts.group.is_none_or(|group| !controller.limits().is_in(&other, group)) {
                    continue;
                }
                count += 1;
                held = held.saturating_sub(facts.unit.of(&other));
                if clears.is_none() && held + facts.asked <= facts.limit {
                    clears = Some(end);
                }
            }
            Some(Blocking::Limit { facts, jobs: count, clears })
        }
        _ => None,
    }
}

/// Returns the running jobs that hold nodes of the planned start of a job.
fn running(controller: &Controller<'_>, job: usize) -> Option<Blocking> {
    let planned = controller.states()[job].planned.as_ref()?;
    let holds = |(other, _): &(usize, i64)| {
        let start = controller.states()[*other].start.as_ref();
        start.is_some_and(|start| start.nodes.intersects(&planned.place))
    };
    let jobs: Vec<(usize, i64)> = controller.ends_by_limit().filter(holds).collect();
    Some(Blocking::Running(jobs)).filter(|_| planned.place.count() > 0)
}

/// Returns the jobs before a job whose reservations have its nodes: those of its planned start, or of its partitions.
fn reserved(
    site: &Site,
    jobs: &[SiteJob],
    controller: &Controller<'_>,
    job: usize,
) -> Option<Blocking> {
    let planned = controller.states()[job].planned.as_ref();
    let takes = |entry: &&crate::scheduler::Entry| match planned {
        Some(planned) => entry.nodes.intersects(&planned.place),
        None => {
            let mut partitions = jobs[job].partitions.iter().map(|&at| &site.partitions[at].nodes);
            partitions.any(|nodes| entry.nodes.intersects(nodes))
        }
    };
    let before = controller.entries().iter().take_while(|entry| entry.job != job).filter(takes);
    let (mut found, mut node_hours) = (Vec::new(), 0.0);
    for entry in before {
        node_hours += f64::from(entry.nodes.count()) * f64::from(entry.minutes) / 60.0;
        if !found.contains(&entry.job) {
            found.push(entry.job);
        }
    }
    Some(Blocking::Reserved { jobs: found, node_hours })
        .filter(|blocking| !matches!(blocking, Blocking::Reserved { jobs, .. } if jobs.is_empty()))
}

impl Blocking {
    /// Formats the jobs and limits. `name` returns the name of a job, `time` formats an instant.
    pub fn text(&self, name: impl Fn(usize) -> String, time: impl Fn(i64) -> String) -> String {
        let more = |count: usize| match count.saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        match self {
            Blocking::Running(jobs) => {
                let first = jobs.iter().rev().take(NAMED);
                let first = first.map(|&(job, end)| format!("{} until {}", name(job), time(end)));
                let first: Vec<String> = first.collect();
                format!("running: {}{}", first.join(", "), more(jobs.len()))
            }
            Blocking::Reserved { jobs, node_hours } => {
                let first: Vec<String> = jobs.iter().take(NAMED).map(|&job| name(job)).collect();
                let hours = fixed(*node_hours, 1);
                let jobs_before = counted(jobs.len() as u64, "job");
                format!(
                    "{jobs_before} before it ({hours} node hours): {}{}",
                    first.join(", "),
                    more(jobs.len())
                )
            }
            Blocking::Limit { facts, jobs, clears } => {
                let unit = facts.unit.name();
                let bound = if facts.is_least { "at least" } else { "at most" };
                let mut text = format!("{}: {bound} {} {unit}", facts.reason.name(), facts.limit);
                if facts.group.is_some() {
                    let held = if facts.unit == LimitUnit::Submitted {
                        "waiting or running"
                    } else {
                        "held"
                    };
                    text += &format!(
                        ", {} {held} by {}",
                        facts.held,
                        counted(*jobs as u64, "running job")
                    );
                }
                text += &format!(", {} asked", facts.asked);
                match clears {
                    Some(end) => text + "; clears at " + &time(*end),
                    None => text + "; no end of a running job clears it",
                }
            }
        }
    }
}
