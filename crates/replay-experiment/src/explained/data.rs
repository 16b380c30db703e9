//! An explanation as data, for programs.

use serde_json::{Value, json};

use super::{Explained, JobHistory, RecordedDecision};
use replay_core::allocator::candidate_set::{CandidateSet, ScoredCandidate, Term};
use replay_core::allocator::explain::LISTED;
use replay_core::allocator::explain::{Listing, Part};
use replay_core::metrics::allocations::numbers;
use replay_core::scheduler::Reason;
use replay_core::topology::{NodeId, Topology};
use replay_core::workload::JobId;

/// All that is known of the starts of a job, as one JSON object: `job`, and of the first start `scheduler` (null if it
/// started when the log says), `decisions` (the first that refused it, if one did, and the one that gave it processors)
/// and `result`; `later` has these three for each time that it was cut off and started anew. Times are seconds of the
/// trace, processors are numbers, jobs are their numbers in the trace. Null if there is no start.
pub fn data(starts: &[Explained], topology: &Topology) -> Value {
    let Some((first, later)) = starts.split_first() else { return Value::Null };
    let job = &first.job;
    let dimensions = topology.grid().map_or(3, |grid| grid.dimensions());
    let of_start = |explained: &Explained| of_start(explained, dimensions);
    let mut data = of_start(first);
    data["job"] = json!({
        "job": job.number,
        "submit": job.submit,
        "size": job.size,
        "run": job.run,
        "estimate": job.estimate,
    });
    data["machine"] = topology.to_string().into();
    data["later"] = later.iter().map(of_start).collect();
    data
}

fn of_start(explained: &Explained, dimensions: usize) -> Value {
    let Explained { start, story, refusal, decision, nodes, placement, cut, .. } = explained;
    let first = story.as_ref().and_then(|story| story.refused.iter().find(|one| one.1.is_some()));
    let refused =
        refusal.iter().map(|told| of_decision(first.map(|(at, _)| *at), told, dimensions));
    let given = of_decision(Some(*start), decision, dimensions);
    json!({
        "scheduler": story.as_ref().map(|story| of_story(explained, story)),
        "decisions": refused.chain([given]).collect::<Vec<_>>(),
        "result": {
            "start": start,
            "nodes": numbers(nodes),
            "pairwise_l1": placement.pairwise_l1,
            "components": placement.components,
            "cut_off": cut,
        },
    })
}

fn of_story(explained: &Explained, story: &JobHistory) -> Value {
    let number = |id: JobId| explained.numbers[id.index()];
    let all = |ids: &[JobId]| ids.iter().map(|&id| number(id)).collect::<Vec<_>>();
    let named = story.named.as_ref().map(|moment| {
        let reason = match moment.reason {
            None => Value::Null,
            Some(Reason::First { promised }) => json!({"reason": "first", "promised": promised}),
            Some(Reason::Backfilled { head, shadow, extra }) => json!({
                "reason": "backfilled", "head": number(head), "shadow": shadow, "extra": extra,
            }),
            Some(Reason::Reserved { at }) => json!({"reason": "reserved", "at": at}),
            Some(Reason::FirstThatFits) => json!({"reason": "first-that-fits"}),
        };
        let running = moment.running.iter().map(|running| {
            json!({
                "job": number(running.id),
                "size": running.size,
                "estimated_end": running.estimated_end,
            })
        });
        json!({
            "at": moment.now,
            "free": moment.free,
            "why": reason,
            "running": running.collect::<Vec<_>>(),
            "before": all(&moment.before.iter().map(|job| job.id).collect::<Vec<_>>()),
            "waiting": moment.waiting,
        })
    });
    let refused = story.refused.iter();
    let refused = refused.map(|(at, asked)| json!({"at": at, "strategy_asked": asked.is_some()}));
    json!({
        "arrived": story.arrived.map(|(at, _)| at),
        "waiting_then": story.arrived.map(|(_, waiting)| waiting),
        "started_before": all(&story.before),
        "started_after": all(&story.after),
        "refused": refused.collect::<Vec<_>>(),
        "named": named,
    })
}

fn of_decision(at: Option<i64>, told: &RecordedDecision, dimensions: usize) -> Value {
    let account = &told.account;
    let listings = account.parts.iter().filter_map(|part| match part {
        Part::Listing(listing) => Some(of_listing(listing)),
        Part::Words(_) => None,
    });
    let refusal = told.outcome.as_ref().err().map(ToString::to_string);
    json!({
        "at": at,
        "free": ids(&told.free),
        "down": ids(&told.down),
        "candidates": account.rivals.as_ref().map(|rivals| of_rivals(rivals, dimensions)),
        "listings": listings.collect::<Vec<_>>(),
        "nodes": told.outcome.as_ref().ok().map(|nodes| numbers(nodes)),
        "refusal": refusal,
    })
}

fn ids(nodes: &[NodeId]) -> Vec<u32> {
    nodes.iter().map(|node| node.0).collect()
}

/// What was compared, an object for each, with numbers as such.
fn of_listing(listing: &Listing) -> Value {
    let value = |text: &String| match text.parse::<i64>() {
        Ok(number) => json!(number),
        Err(_) => json!(text),
    };
    let row = |row: &Vec<String>| -> Value {
        listing
            .columns
            .iter()
            .zip(row)
            .map(|(name, text)| (name.to_string(), value(text)))
            .collect()
    };
    json!({
        "about": listing.about,
        "rows": listing.rows.iter().map(row).collect::<Vec<_>>(),
        "more": listing.more,
    })
}

/// The candidates of a decision; a centre has a coordinate for each of `dimensions`.
fn of_rivals(rivals: &CandidateSet, dimensions: usize) -> Value {
    let of_one = |one: &ScoredCandidate| {
        let terms = [Term::Free, Term::Wall, Term::Busy].map(|term| one.sum(term));
        json!({
            "candidate": one.number,
            "centre": one.centre[..dimensions],
            "last_shell": one.last_shell(),
            "score": one.score,
            "set": one.set,
            "free_weight": terms[0],
            "wall_weight": terms[1],
            "busy_weight": terms[2],
            "tie_value": one.tie,
            "nodes": numbers(&one.nodes),
        })
    };
    json!({
        "tie": rivals.vector.map(|vector| vector.to_string()),
        "first": rivals.first.iter().take(LISTED).map(of_one).collect::<Vec<_>>(),
        "more": rivals.more + rivals.first.len().saturating_sub(LISTED),
    })
}
