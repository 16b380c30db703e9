//! Explanations as steps in words.

use super::{Explained, JobHistory, Moment, RecordedDecision, RejectedSelection};
use replay_engine::allocator::explain::{Listing, Part};
use replay_engine::metrics::allocations::format_nodes;
use replay_engine::number::{counted, exact_duration, fixed, grouped};
use replay_engine::scheduler::Reason;
use replay_engine::table::{Column, Table};
use replay_engine::topology::Topology;
use replay_engine::workload::{JobId, Notation};

/// A step of an explanation: a sentence, or a line of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Number of the step, from 1. All lines of a list have the same number.
    pub step: u32,
    /// Topic of the step.
    pub topic: &'static str,
    /// Text of the step.
    pub text: String,
}

impl Table for Step {
    const NAME: &'static str = "steps";
    const ROW: &'static str =
        "one row per step of an explanation, in order; the lines of a list are rows of one step";

    fn columns() -> Vec<Column<Self>> {
        vec![
            Column::new("step", "", "number of the step, from 1", |step: &Self| step.step),
            Column::text(
                "topic",
                "topic of the step: job, scheduler, allocator, or result",
                |step: &Self| Some(step.topic),
            ),
            Column::text(
                "text",
                "text of the step; for a line of a list, the values of the line with their names",
                |step: &Self| Some(&step.text),
            ),
        ]
    }
}

/// An explanation with the notation of its jobs and instants.
#[derive(Clone, Copy)]
struct Noted<'a> {
    explained: &'a Explained,
    notation: &'a Notation,
}

impl Noted<'_> {
    /// Formats a job.
    fn job(self, id: JobId) -> String {
        self.notation.job(self.explained.numbers[id.index()])
    }

    /// Formats the explained job.
    fn own_job(self) -> String {
        self.notation.job(self.explained.job.number)
    }

    /// Formats an instant.
    fn instant(self, seconds: i64) -> String {
        self.notation.instant(seconds)
    }
}

/// Returns the parts of the explanation of all starts of a job, each part with its topic.
pub fn parts(
    starts: &[Explained],
    topology: &Topology,
    notation: &Notation,
) -> Vec<(&'static str, Part)> {
    let mut parts = Vec::new();
    for (place, explained) in starts.iter().enumerate() {
        let noted = Noted { explained, notation };
        parts.extend((place == 0).then(|| ("job", Part::Words(job(noted)))));
        parts.extend(start_parts(noted, place > 0, topology));
        if let Some(at) = explained.cut {
            let then = match starts.get(place + 1) {
                Some(_) => "the job returns to the queue and runs again",
                None => "the job returns to the queue, but does not start again",
            };
            let at = noted.instant(at);
            let words = format!(
                "at {at} the job is interrupted, because some of its processors go out of service; {then}"
            );
            parts.push(("job", Part::Words(words)));
        }
    }
    parts
}

/// Returns the parts of the explanation of one start of a job.
fn start_parts(noted: Noted<'_>, anew: bool, topology: &Topology) -> Vec<(&'static str, Part)> {
    let explained = noted.explained;
    let mut parts: Vec<(&'static str, Part)> = Vec::new();
    parts.extend(scheduler(noted, anew).into_iter().map(|part| ("scheduler", part)));
    if let Some(refusal) = &explained.refusal {
        let first = explained.history.as_ref().and_then(JobHistory::first_rejection);
        let at = first.map_or(String::new(), |one| {
            format!("at {}, when the scheduler first called the strategy: ", noted.instant(one.at))
        });
        let reserved_for = first.and_then(|one| one.reserved_for);
        let head = reserved_for.map(|head| noted.job(head));
        parts.extend(allocator(refusal, &at, head).into_iter().map(|part| ("allocator", part)));
    }
    let at = format!("at {}: ", noted.instant(explained.start));
    let decision = allocator(&explained.decision, &at, None);
    parts.extend(decision.into_iter().map(|part| ("allocator", part)));
    parts.push(("result", Part::Words(result(noted, topology))));
    // A list without rows is omitted.
    parts.retain(|(_, part)| !matches!(part, Part::Listing(listing) if listing.rows.is_empty()));
    parts
}

/// Converts parts to rows.
pub fn steps(parts: &[(&'static str, Part)]) -> Vec<Step> {
    let mut steps = Vec::new();
    for (step, (topic, part)) in (1..).zip(parts) {
        let mut add = |text: String| steps.push(Step { step, topic, text });
        match part {
            Part::Words(words) => add(words.clone()),
            Part::Listing(Listing { about, columns, rows, more }) => {
                add(about.clone());
                for row in rows {
                    let named = columns.iter().zip(row).filter(|(_, value)| !value.is_empty());
                    let values: Vec<String> = named
                        .map(|(name, value)| format!("{name} {value}").trim().to_string())
                        .collect();
                    add(values.join("; "));
                }
                if *more > 0 {
                    add(format!("and {more} more"));
                }
            }
        }
    }
    steps
}

fn job(noted: Noted<'_>) -> String {
    let job = &noted.explained.job;
    format!(
        "job {} requests {}, has an estimate of {}, and runs for {}",
        noted.own_job(),
        counted(job.size, "processor"),
        exact_duration(job.estimate),
        exact_duration(job.run)
    )
}

fn numbers(noted: Noted<'_>, ids: &[JobId]) -> String {
    const MOST: usize = 12;
    let of = |id: &JobId| noted.job(*id);
    let listed: Vec<String> = ids.iter().take(MOST).map(of).collect();
    let more = match ids.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    listed.join(", ") + &more
}

fn scheduler(noted: Noted<'_>, anew: bool) -> Vec<Part> {
    let Some(history) = &noted.explained.history else {
        return vec![Part::Words("it starts at its recorded time".to_string())];
    };
    let JobHistory { arrived, free, before, after, refused, named } = history;
    let mut parts = Vec::new();
    let mut add = |words: String| parts.push(Part::Words(words));
    if let Some((at, waiting)) = arrived {
        let free = free.map_or(String::new(), |free| {
            format!("; when the scheduler next examines the queue, {} free", processors_are(free))
        });
        let (at, waiting) = (noted.instant(*at), jobs_wait(*waiting));
        match anew {
            false => add(format!("the job arrives at {at}; {waiting} before it{free}")),
            true => add(format!(
                "the job returns to its position in the queue at {at}; in addition, {waiting}{free}"
            )),
        }
    }
    let Some(moment) = named else { return parts };
    let waited = arrived.map_or(0, |(at, _)| moment.now - at);
    if waited > 0 {
        add(format!("it waits {}, until {}", exact_duration(waited), noted.instant(moment.now)));
        let mut others = |ids: &[JobId], came: &str| {
            if !ids.is_empty() {
                let jobs = counted(ids.len() as u64, "job");
                add(format!(
                    "meanwhile, {jobs} that arrived {came} it start: {}",
                    numbers(noted, ids)
                ));
            }
        };
        others(before, "before");
        others(after, "after");
    }
    if let Some(first) = refused.first() {
        let times = |wanted: fn(&RejectedSelection) -> bool| {
            let number = refused.iter().filter(|one| wanted(one)).count();
            (number > 0).then(|| counted(number as u64, "time"))
        };
        let mut reasons = Vec::new();
        if let Some(times) = times(|one| one.reserved_for.is_none()) {
            reasons.push(format!("{times} the strategy refused it"));
        }
        if let Some(times) = times(|one| one.reserved_for.is_some()) {
            reasons.push(format!(
                "{times} the strategy chose processors that are reserved for the first of the queue"
            ));
        }
        if let Some(times) = times(|one| one.decision.is_none()) {
            reasons.push(format!(
                "{times} the strategy was not called, because its decision was already known"
            ));
        }
        add(format!(
            "the scheduler selected the job {} before, first at {}, but the job did not start: {}",
            counted(refused.len() as u64, "time"),
            noted.instant(first.at),
            reasons.join("; ")
        ));
    }
    parts.extend(reason(noted, moment));
    parts
}

fn jobs_wait(jobs: usize) -> String {
    match jobs {
        0 => "no job waits".to_string(),
        1 => "1 job waits".to_string(),
        jobs => format!("{jobs} jobs wait"),
    }
}

fn processors_are(number: u32) -> String {
    format!("{} {}", counted(number, "processor"), if number == 1 { "is" } else { "are" })
}

/// Returns the reason for the final selection of the job.
fn reason(noted: Noted<'_>, moment: &Moment) -> Vec<Part> {
    let now = noted.instant(moment.now);
    let mut parts = Vec::new();
    let overtaken = match moment.before.len() {
        0 => "no job that arrived before it is waiting".to_string(),
        jobs => {
            let ids: Vec<JobId> = moment.before.iter().map(|job| job.id).collect();
            format!(
                "it starts before {} that arrived before it: {}",
                counted(jobs as u64, "job"),
                numbers(noted, &ids)
            )
        }
    };
    let why = match moment.reason {
        Some(Reason::First { promised }) => {
            let promise = match promised {
                Some(at) if at < moment.now => format!(
                    "; its guaranteed latest start was {}: the guarantee is broken",
                    noted.instant(at)
                ),
                Some(at) => format!("; its guaranteed latest start is {}", noted.instant(at)),
                None => String::new(),
            };
            format!("it is the first of the queue{promise}")
        }
        Some(Reason::Backfilled { head, shadow, extra }) => {
            let ends = moment.now + moment.job.estimate;
            let by = noted.instant(ends);
            let why = match extra {
                _ if ends <= shadow => format!("by its estimate, it ends by {by}"),
                Some(extra) => format!(
                    "by its estimate, it ends later, at {by}, but at the shadow time {} free in addition to the processors for job {}, and it takes no more than {}",
                    processors_are(extra),
                    noted.job(head),
                    moment.job.takes
                ),
                None => format!(
                    "by its estimate, it ends later, at {by}, but leaves free what job {} needs at the shadow time",
                    noted.job(head)
                ),
            };
            parts.push(Part::Listing(running(noted, moment)));
            format!(
                "it is backfilled: job {}, the first of the queue, fits at {} at the earliest (the shadow time); {why}",
                noted.job(head),
                noted.instant(shadow)
            )
        }
        Some(Reason::Reserved { at }) => {
            format!("its reservation, which starts at {}, is due", noted.instant(at))
        }
        Some(Reason::FirstThatFits) => {
            "it is the first job in the order of the queue that fits".to_string()
        }
        None => "it is next by the rule of the scheduler (replay list schedulers)".to_string(),
    };
    let free = processors_are(moment.free);
    parts.insert(0, Part::Words(format!("at {now} {free} free, and {why}")));
    parts.push(Part::Words(format!("{overtaken}; {} beside it", jobs_wait(moment.waiting))));
    parts
}

/// Lists the running jobs in order of their estimated ends, each with the number of processors that are free at its
/// estimated end.
fn running(noted: Noted<'_>, moment: &Moment) -> Listing {
    let mut free = moment.free;
    let rows: Vec<Vec<String>> = moment
        .running
        .iter()
        .map(|running| {
            free += running.size;
            let end = running.estimated_end;
            vec![
                noted.job(running.id),
                running.size.to_string(),
                noted.notation.date(end).unwrap_or_else(|| grouped(end)),
                free.to_string(),
            ]
        })
        .collect();
    Listing::of(
        "the running jobs by their estimated ends, with the processors free by then",
        &["job", "processors", "ends at", "free then"],
        rows,
    )
}

/// Returns the parts that explain a recorded decision. If the decision chose processors that are reserved for the head
/// of the queue, `reserved_for` names the head.
fn allocator(decision: &RecordedDecision, at: &str, reserved_for: Option<String>) -> Vec<Part> {
    let down = match decision.down.len() {
        0 => String::new(),
        down => format!(", {down} out of service"),
    };
    let outcome = match (&decision.outcome, reserved_for) {
        (Ok(nodes), None) => format!("it gives {}", counted(nodes.len() as u64, "processor")),
        (Ok(nodes), Some(head)) => format!(
            "it chooses {} ({}), but the job does not start: by its estimate, it would still hold them when job \
             {head}, the first of the queue, needs them",
            counted(nodes.len() as u64, "processor"),
            format_nodes(nodes)
        ),
        (Err(refusal), _) => format!("it refuses: {refusal}"),
    };
    let free = processors_are(decision.free.len() as u32);
    let mut parts = vec![Part::Words(format!("{at}{free} free{down}"))];
    parts.extend(decision.explanation.parts.iter().cloned());
    parts.push(Part::Words(outcome));
    parts
}

fn result(noted: Noted<'_>, topology: &Topology) -> String {
    let explained = noted.explained;
    let placement = &explained.placement;
    let hierarchy = topology.hierarchy();
    let listed = hierarchy.and_then(|machine| {
        let mut nodes = explained.nodes.clone();
        nodes.sort_unstable();
        machine.host_list(&nodes)
    });
    let what = match topology.cluster() {
        Some(_) => "hosts",
        None if listed.is_some() => "nodes",
        None => "processors",
    };
    let listed = listed.unwrap_or_else(|| format_nodes(&explained.nodes));
    let size = explained.job.size;
    let more = explained.nodes.len() as u64 * u64::from(topology.per_point());
    let lost = match more.saturating_sub(u64::from(size)) {
        0 => String::new(),
        lost => format!(", {lost} more than requested"),
    };
    if let Some(machine) = hierarchy {
        let leaves = match machine.blocks() {
            Some(_) => "base block",
            None => "leaf switch",
        };
        let on = machine.leaf_count(&explained.nodes);
        let plural = match on {
            1 => "",
            _ if machine.blocks().is_some() => "s",
            _ => "es",
        };
        return format!(
            "job {} has {what} {listed}{lost}, on {on} {leaves}{plural}: mean distance {} hops",
            noted.own_job(),
            fixed(placement.distance(explained.nodes.len().min(size as usize) as u32), 3),
        );
    }
    format!(
        "job {} has {what} {listed}{lost}: pairwise L1 {}, mean distance {}, {}",
        noted.own_job(),
        grouped(placement.pairwise_l1 as i64),
        fixed(placement.distance(explained.nodes.len().min(size as usize) as u32), 3),
        counted(placement.components, "connected component"),
    )
}
