//! Explanations as JSON for programs.

use serde_json::{Value, json};

use super::{Explained, JobHistory, RecordedDecision};
use replay_engine::allocator::candidate_set::{CandidateSet, ScoredCandidate, Term};
use replay_engine::allocator::explain::{LISTED, Listing, Part};
use replay_engine::metrics::allocations::numbers;
use replay_engine::scheduler::Reason;
use replay_engine::topology::{NodeId, Topology};
use replay_engine::workload::JobId;

/// Returns the explanation of all starts of a job as a JSON object. The member `job` describes the job. The members
/// `scheduler`, `decisions` and `result` describe the first start of the job. The member `scheduler` contains the
/// history of the job in the queue (null if the job started as recorded in the log). The member `decisions` contains
/// the first decision after which the job did not start, if there is one, and the decision that allocated its
/// processors. The member `result` is the allocation. For each restart after an outage, the array `later` contains an object with the members
/// `scheduler`, `decisions` and `result`. Times are in seconds of the trace; processors and jobs are identified by
/// their numbers. The returned value is null if the job never started.
pub fn data(starts: &[Explained], topology: &Topology) -> Value {
    let Some((first, later)) = starts.split_first() else { return Value::Null };
    let job = &first.job;
    let dimensions = topology.grid().map_or(3, |grid| grid.dimensions());
    let start_data = |explained: &Explained| start_data(explained, dimensions);
    let mut data = start_data(first);
    data["job"] = json!({
        "job": job.number,
        "submit": job.submit,
        "size": job.size,
        "run": job.run,
        "estimate": job.estimate,
    });
    data["machine"] = topology.to_string().into();
    data["later"] = later.iter().map(start_data).collect();
    data
}

fn start_data(explained: &Explained, dimensions: usize) -> Value {
    let Explained { start, history, refusal, decision, nodes, placement, cut, .. } = explained;
    let first = history.as_ref().and_then(JobHistory::first_rejection);
    let refused =
        refusal.iter().map(|decision| decision_data(first.map(|one| one.at), decision, dimensions));
    let given = decision_data(Some(*start), decision, dimensions);
    json!({
        "scheduler": history.as_ref().map(|history| history_data(explained, history)),
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

fn history_data(explained: &Explained, history: &JobHistory) -> Value {
    let number = |id: JobId| explained.numbers[id.index()];
    let all = |ids: &[JobId]| ids.iter().map(|&id| number(id)).collect::<Vec<_>>();
    let named = history.named.as_ref().map(|moment| {
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
    let refused = history.refused.iter();
    let refused = refused.map(|one| {
        json!({
            "at": one.at,
            "strategy_asked": one.decision.is_some(),
            "reserved_for": one.reserved_for.map(number),
        })
    });
    json!({
        "arrived": history.arrived.map(|(at, _)| at),
        "waiting_then": history.arrived.map(|(_, waiting)| waiting),
        "started_before": all(&history.before),
        "started_after": all(&history.after),
        "refused": refused.collect::<Vec<_>>(),
        "named": named,
    })
}

fn decision_data(at: Option<i64>, decision: &RecordedDecision, dimensions: usize) -> Value {
    let explanation = &decision.explanation;
    let listings = explanation.parts.iter().filter_map(|part| match part {
        Part::Listing(listing) => Some(listing_data(listing)),
        Part::Words(_) => None,
    });
    let refusal = decision.outcome.as_ref().err().map(ToString::to_string);
    json!({
        "at": at,
        "free": ids(&decision.free),
        "down": ids(&decision.down),
        "candidates": explanation.candidates.as_ref().map(|candidates| candidate_data(candidates, dimensions)),
        "listings": listings.collect::<Vec<_>>(),
        "nodes": decision.outcome.as_ref().ok().map(|nodes| numbers(nodes)),
        "refusal": refusal,
    })
}

fn ids(nodes: &[NodeId]) -> Vec<u32> {
    nodes.iter().map(|node| node.0).collect()
}

/// Converts each row of a listing to a JSON object. Integers become numbers.
fn listing_data(listing: &Listing) -> Value {
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

/// Converts the candidates of a decision to JSON. A centre has one coordinate for each of the `dimensions` dimensions.
fn candidate_data(candidates: &CandidateSet, dimensions: usize) -> Value {
    let candidate = |candidate: &ScoredCandidate| {
        let terms = [Term::Free, Term::Wall, Term::Busy].map(|term| candidate.sum(term));
        json!({
            "candidate": candidate.number,
            "centre": candidate.centre[..dimensions],
            "last_shell": candidate.last_shell(),
            "score": candidate.score,
            "set": candidate.set,
            "free_weight": terms[0],
            "wall_weight": terms[1],
            "busy_weight": terms[2],
            "tie_value": candidate.tie,
            "nodes": numbers(&candidate.nodes),
        })
    };
    json!({
        "tie": candidates.vector.map(|vector| vector.to_string()),
        "first": candidates.first.iter().take(LISTED).map(candidate).collect::<Vec<_>>(),
        "more": candidates.more + candidates.first.len().saturating_sub(LISTED),
    })
}
