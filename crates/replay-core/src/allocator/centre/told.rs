//! A decision of the centre-based family in words, by its definition.

use std::collections::HashMap;

use super::literal::{Candidate, CentreRule, Centres, Score, TieTerms};
use super::options::ShellOrder;
use crate::allocator::notes::{LISTED, Listing, Notes, count, processor};
use crate::allocator::rival::{self, Rivals, Weight};
use crate::machine::Machine;
use crate::stop::{Stop, Stopped};
use crate::topology::{Grid, NodeId};

/// A candidate that competes by tie value, while it is looked at.
struct Rival {
    /// Its place in candidate order.
    order: usize,
    candidate: Candidate,
    shells: u32,
    terms: TieTerms,
}

/// Tells which candidates there are for `size` processors, less than are free, and who wins.
///
/// # Errors
/// [`Stopped`] if `stop` is raised.
pub fn tell(
    notes: &Notes,
    rule: &CentreRule,
    machine: &Machine,
    grid: &Grid,
    size: usize,
    stop: &Stop,
) -> Result<(), Stopped> {
    let slack = rule.options.slack;
    let (mut candidates, mut best) = (0, u64::MAX);
    let mut rivals: Vec<(usize, Candidate)> = Vec::new();
    rule.visit(machine, grid, size, stop, |one| {
        if one.score < best {
            best = one.score;
            rivals.retain(|(_, other)| other.score <= slack.admitted(best));
        }
        if one.score <= slack.admitted(best) {
            rivals.push((candidates, one));
        }
        candidates += 1;
    })?;
    let mut rivals: Vec<Rival> = rivals
        .into_iter()
        .map(|(order, candidate)| {
            let distance =
                |node: &NodeId| rule.metric.distance(grid, candidate.centre, grid.coord(*node));
            let shells = candidate.nodes.iter().map(distance).max().unwrap_or(0);
            let vector = rule.options.tie.unwrap_or_default();
            let (centre, nodes) = (candidate.centre, &candidate.nodes);
            let terms = rule.tie_terms(machine, grid, vector, centre, nodes);
            Rival { order, candidate, shells, terms }
        })
        .collect();
    notes.say(|| candidates_in_words(rule, candidates));
    notes.say(|| scores_in_words(rule, best, &rivals));
    let key = |rival: &Rival| (rival.candidate.tie, rival.candidate.score, rival.order);
    rivals.sort_by_key(key);
    if let Some(vector) = rule.options.tie {
        notes.say(|| {
            format!(
                "the tie vector is SR = {}, AF = {}, WF = {}, BF = {}: tie value = AF * free - WF * walls - BF * busy; the lowest wins, then the lower score, then the first candidate",
                vector.scan_radius,
                vector.available,
                vector.wall,
                vector.border,
            )
        });
    } else {
        notes
            .say(|| "there is no tie vector: of equal scores the first candidate wins".to_string());
    }
    notes.list(|| listing(rule, grid, &rivals));
    notes.rivals(|| in_pictures(rule, machine, grid, &rivals));
    let Some(first) = rivals.first() else { return Ok(()) };
    notes.say(|| {
        let Rival { order, candidate, .. } = first;
        let place = format!("candidate {}", order + 1);
        format!("{place}, with its centre at processor {}, wins", processor(grid, candidate.centre))
    });
    notes.winner(first.candidate.nodes.clone());
    Ok(())
}

/// The candidates, the first of them with all that a picture of them needs: every shell and weight of all would be
/// the square of a large machine.
fn in_pictures(rule: &CentreRule, machine: &Machine, grid: &Grid, rivals: &[Rival]) -> Rivals {
    let sets = sets_of(rivals);
    let told = rivals.iter().enumerate().map(|(place, one)| {
        let Rival { order, candidate, .. } = one;
        let is_drawn = place < LISTED;
        let (centre, nodes) = (candidate.centre, &candidate.nodes);
        let mut weights = Vec::new();
        if let Some(vector) = rule.options.tie {
            rule.weigh(machine, grid, vector, centre, nodes, |node, term, weight| {
                weights.push(Weight { node, term, weight });
            });
        }
        let shell = |node| rule.metric.distance(grid, centre, grid.coord(node));
        let shells = match is_drawn {
            true => machine.topology().nodes().map(shell).collect(),
            false => vec![nodes.iter().map(|&node| shell(node)).max().unwrap_or(0)],
        };
        if !is_drawn {
            weights = sums(&weights);
        }
        rival::Rival {
            number: order + 1,
            centre,
            score: candidate.score,
            tie: rule.options.tie.map(|_| candidate.tie),
            set: sets.get(&sorted(one)).copied().unwrap_or(0),
            nodes: nodes.clone(),
            shells,
            weights,
        }
    });
    Rivals { vector: rule.options.tie, first: told.collect(), more: 0 }
}

/// The sum of each kind, as one weight of it.
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

fn candidates_in_words(rule: &CentreRule, candidates: usize) -> String {
    let centres = match rule.centres {
        Centres::FreeProcessors => "every free processor is a candidate centre",
        Centres::CoordinateProduct => {
            "every position whose coordinates occur in free processors is a candidate centre"
        }
    };
    let order = match rule.options.order {
        ShellOrder::Carried => "in the order that the candidate before left",
        ShellOrder::Scan => "in scan order",
        ShellOrder::Greedy => "one by one by least distance to those chosen",
    };
    format!(
        "{centres}: {}; each takes whole shells around it, and of the last one what it needs {order}",
        count(candidates, "candidate")
    )
}

fn scores_in_words(rule: &CentreRule, best: u64, rivals: &[Rival]) -> String {
    let what = match rule.score {
        Score::ShellSum => "sum of shell numbers",
        Score::PairwiseL1 => "sum of pairwise distances",
    };
    let equal = rivals.iter().filter(|rival| rival.candidate.score == best);
    let mut words = format!(
        "the best score ({what}) is {best}; {} {}, with {}",
        count(equal.clone().count(), "candidate"),
        if equal.clone().count() == 1 { "has it" } else { "have it" },
        count(sets(equal).len(), "distinct set"),
    );
    if !rule.options.slack.is_none() && rule.options.tie.is_some() {
        words += &format!(
            "; with a slack of {} scores up to {} compete: {}",
            rule.options.slack.share(),
            rule.options.slack.admitted(best),
            count(rivals.len(), "candidate")
        );
    }
    words
}

/// Distinct sets, numbered in the order of their first candidates.
fn sets<'a>(rivals: impl Iterator<Item = &'a Rival>) -> HashMap<Vec<NodeId>, usize> {
    let mut sets = HashMap::new();
    for rival in rivals {
        let number = sets.len() + 1;
        sets.entry(sorted(rival)).or_insert(number);
    }
    sets
}

fn sorted(rival: &Rival) -> Vec<NodeId> {
    let mut nodes = rival.candidate.nodes.clone();
    nodes.sort_unstable();
    nodes
}

/// The distinct sets of candidates that stand in any order.
fn sets_of(rivals: &[Rival]) -> HashMap<Vec<NodeId>, usize> {
    let mut by_order: Vec<&Rival> = rivals.iter().collect();
    by_order.sort_by_key(|rival| rival.order);
    sets(by_order.into_iter())
}

fn listing(rule: &CentreRule, grid: &Grid, rivals: &[Rival]) -> Listing {
    let sets = sets_of(rivals);
    let with_ties = rule.options.tie.is_some();
    let mut columns = vec!["candidate", "centre", "last shell", "score", "set"];
    if with_ties {
        columns.extend(["free", "walls", "busy", "tie value"]);
    }
    let rows = rivals.iter().map(|rival| {
        let Rival { order, candidate, shells, terms } = rival;
        let mut row = vec![
            (order + 1).to_string(),
            processor(grid, candidate.centre),
            shells.to_string(),
            candidate.score.to_string(),
            sets.get(&sorted(rival)).map_or(String::new(), usize::to_string),
        ];
        if with_ties {
            row.extend([terms.free, terms.walls, terms.busy].map(|term| term.to_string()));
            row.push(candidate.tie.to_string());
        }
        row
    });
    Listing::of("the candidates that compete, the winner first", &columns, rows)
}
