//! Explanations of centre-based decisions, computed from the definition.

use std::collections::HashMap;

use super::definition::{Candidate, CentreRule, Centres, Competition, Score, ShellOrder};
use crate::allocator::candidate_set::{CandidateSet, ScoredCandidate, Weight};
use crate::allocator::explain::{ExplanationLog, LISTED, Listing, count, processor};
use crate::cancel::{CancelToken, Cancelled};
use crate::machine::Machine;
use crate::topology::{Grid, NodeId};

/// Map from each distinct processor set of the competing candidates to the number of the set. Sets are numbered from 1
/// in candidate order.
type SetNumbers = HashMap<Vec<NodeId>, usize>;

/// Records the candidates and the winner for `size` processors; `size` is less than the number of free processors.
///
/// # Errors
/// [`Cancelled`] if `stop` is cancelled.
pub fn explain(
    explanation: &ExplanationLog,
    rule: &CentreRule,
    machine: &Machine,
    grid: &Grid,
    size: usize,
    stop: &CancelToken,
) -> Result<(), Cancelled> {
    let mut competition = rule.compete(machine, grid, size, rule.options.slack, stop)?;
    let sets = set_numbers(competition.admitted.iter());
    explanation.sentence(|| describe_candidates(rule, competition.candidates));
    explanation.sentence(|| describe_scores(rule, &competition));
    let ranked = &mut competition.admitted;
    ranked.sort_by_key(|one| (one.tie, one.score, one.order));
    if let Some(vector) = rule.options.tie {
        explanation.sentence(|| {
            format!(
                "the tie vector is SR = {}, AF = {}, WF = {}, BF = {}: tie value = AF * free - WF * walls - BF * busy; the lowest wins, then the lower score, then the first candidate",
                vector.scan_radius,
                vector.available,
                vector.wall,
                vector.border,
            )
        });
    } else {
        explanation.sentence(|| {
            "there is no tie vector: among candidates with equal scores, the first wins".to_string()
        });
    }
    explanation.list(|| listing(rule, grid, ranked, &sets));
    explanation.candidates(|| scored_candidates(rule, machine, grid, ranked, &sets));
    let Some(first) = ranked.first() else { return Ok(()) };
    explanation.sentence(|| {
        let (number, centre) = (first.order + 1, processor(grid, first.centre));
        format!("candidate {number}, with its centre at processor {centre}, wins")
    });
    explanation.winner(first.nodes.clone());
    Ok(())
}

/// Returns the candidates in rank order. Only the first [`LISTED`] candidates, which are plotted, have all shells and
/// weights. Storing shells and weights for all candidates would need memory that is quadratic in the size of the
/// machine.
fn scored_candidates(
    rule: &CentreRule,
    machine: &Machine,
    grid: &Grid,
    ranked: &[Candidate],
    sets: &SetNumbers,
) -> CandidateSet {
    let scored = ranked.iter().enumerate().map(|(rank, one)| {
        let Candidate { order, score, tie, centre, ref nodes, .. } = *one;
        let mut weights = Vec::new();
        rule.for_each_weight(machine, grid, centre, nodes, |node, term, weight| {
            weights.push(Weight { node, term, weight });
        });
        let shell = |node| rule.metric.distance(grid, centre, grid.coord(node));
        let shells = if rank < LISTED {
            machine.topology().nodes().map(shell).collect()
        } else {
            weights = sums(&weights);
            vec![last_shell(rule, grid, one)]
        };
        ScoredCandidate {
            number: order + 1,
            centre,
            score,
            tie: rule.options.tie.map(|_| tie),
            set: sets.get(&one.sorted_nodes()).copied().unwrap_or(0),
            nodes: nodes.clone(),
            shells,
            weights,
        }
    });
    CandidateSet { vector: rule.options.tie, first: scored.collect(), more: 0 }
}

/// Returns one weight per term: the sum of the weights of the term.
fn sums(weights: &[Weight]) -> Vec<Weight> {
    let mut sums: Vec<Weight> = Vec::new();
    for weight in weights {
        match sums.iter_mut().find(|sum| sum.term == weight.term) {
            Some(sum) => sum.weight += weight.weight,
            None => sums.push(*weight),
        }
    }
    sums
}

fn last_shell(rule: &CentreRule, grid: &Grid, one: &Candidate) -> u32 {
    let shell = |&node: &NodeId| rule.metric.distance(grid, one.centre, grid.coord(node));
    one.nodes.iter().map(shell).max().unwrap_or(0)
}

fn describe_candidates(rule: &CentreRule, candidates: usize) -> String {
    let centres = match rule.centres {
        Centres::FreeProcessors => "every free processor is a candidate centre",
        Centres::CoordinateProduct => {
            "every combination of the coordinates of free processors is a candidate centre"
        }
    };
    let order = match rule.options.order {
        ShellOrder::Carried => "in the order left by the preceding candidate",
        ShellOrder::Scan => "in scan order",
        ShellOrder::Greedy => {
            "one by one, each with the least distance to the processors already chosen"
        }
    };
    format!(
        "{centres}: {}; each candidate takes whole shells around its centre and, from the last shell, only the processors that are still needed, {order}",
        count(candidates, "candidate")
    )
}

fn describe_scores(rule: &CentreRule, competition: &Competition) -> String {
    let Competition { best, admitted, .. } = competition;
    let (slack, ties) = (rule.options.slack, rule.options.tie);
    let score = match rule.score {
        Score::ShellSum => "sum of shell numbers",
        Score::PairwiseL1 => "sum of pairwise distances",
    };
    let equal = || admitted.iter().filter(|one| one.score == *best);
    let mut text = format!(
        "the best score ({score}) is {best}; {} {}, with {}",
        count(equal().count(), "candidate"),
        if equal().count() == 1 { "has it" } else { "have it" },
        count(set_numbers(equal()).len(), "distinct set"),
    );
    if !slack.is_none() && ties.is_some() {
        text += &format!(
            "; with a slack of {}, candidates with scores up to {} compete: {}",
            slack.share(),
            slack.admitted(*best),
            count(admitted.len(), "candidate")
        );
    }
    text
}

/// Numbers the distinct sets of candidates.
fn set_numbers<'a>(candidates: impl Iterator<Item = &'a Candidate>) -> SetNumbers {
    let mut sets = HashMap::new();
    for one in candidates {
        let number = sets.len() + 1;
        sets.entry(one.sorted_nodes()).or_insert(number);
    }
    sets
}

fn listing(rule: &CentreRule, grid: &Grid, ranked: &[Candidate], sets: &SetNumbers) -> Listing {
    let with_ties = rule.options.tie.is_some();
    let mut columns = vec!["candidate", "centre", "last shell", "score", "set"];
    if with_ties {
        columns.extend(["free", "walls", "busy", "tie value"]);
    }
    let rows = ranked.iter().map(|one| {
        let mut row = vec![
            (one.order + 1).to_string(),
            processor(grid, one.centre),
            last_shell(rule, grid, one).to_string(),
            one.score.to_string(),
            sets.get(&one.sorted_nodes()).map_or(String::new(), usize::to_string),
        ];
        if with_ties {
            let terms = [one.terms.free, one.terms.walls, one.terms.busy, one.tie];
            row.extend(terms.map(|term| term.to_string()));
        }
        row
    });
    Listing::of("the candidates that compete, the winner first", &columns, rows)
}
