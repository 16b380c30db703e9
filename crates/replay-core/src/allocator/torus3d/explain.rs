//! What the rule tells of a decision to whoever listens.

use super::Placements;
use super::selection_rules::SelectionRule;
use super::tied::{Tied, Weighed};
use crate::allocator::Request;
use crate::allocator::candidate_set::{CandidateSet, ScoredCandidate};
use crate::allocator::explain::{self, Listing};
use crate::placement::Layout;
use crate::placement::decide::Query;
use crate::placement::segments;
use crate::placement::torus::cells_of;
use crate::topology::NodeId;

/// A place: torus, placement, anchor.
type At = [usize; 3];

/// A place that competes, what is compared, and what it is told as.
struct Competitor {
    at: At,
    value: i128,
}

impl Placements {
    /// Tells which boxes are free, what they come to, and who wins by that.
    pub(super) fn tell(&mut self, asked: &segments::Request, request: Request) {
        if let Some(tuner) = self.tied.as_ref().and_then(Tied::tuner) {
            self.explanation.sentence(|| {
                let [shadows, since] = tuner.told();
                let shadows = explain::count(shadows, "shadow machine");
                let since = explain::count(since, "start");
                format!(
                    "by the past, on {shadows}, the way of least expected loss is {}; they were looked at {since} ago",
                    tuner.way()
                )
            });
        }
        let competitors =
            match self.tied.as_ref().is_some_and(|tied| tied.way() != SelectionRule::Slurm) {
                true => self.tell_sums(asked.size, request),
                false => self.tell_costs(asked),
            };
        if let Some(first) = competitors.first() {
            self.explanation.winner(self.processors(first.at));
        }
        self.explanation.candidates(|| self.in_pictures(&competitors));
    }

    /// Tells the weighted sums; the places by them.
    fn tell_sums(&mut self, size: u32, request: Request) -> Vec<Competitor> {
        let Some(tied) = &mut self.tied else { return Vec::new() };
        let weights = tied.weights();
        let mut all = tied.sums(size, request.times);
        let mut columns = vec!["box", "at"];
        columns.extend(weights.iter().map(|(name, _)| *name));
        columns.push("sum");
        let words = |one: &Weighed| words(&self.layout, [0, one.at[0], one.at[1]]);
        let row = |one: &Weighed| {
            let numbers = one.terms.iter().chain([&one.sum]).map(i128::to_string);
            words(one).into_iter().chain(numbers).collect::<Vec<String>>()
        };
        let about = format!(
            "free boxes of {size} that compete, by the sum of their weighted terms; the least wins, the first of equals"
        );
        self.explanation.list(|| Listing::of(about, &columns, all.iter().map(row)));
        // It keeps the order of equals.
        all.sort_by_key(|one| one.sum);
        let sum = |one: &Weighed| {
            let terms = weights.iter().zip(&one.terms);
            let terms = terms.map(|((name, weight), term)| format!("{weight} x {term} ({name})"));
            let terms: Vec<String> = terms.collect();
            match terms.is_empty() {
                true => one.sum.to_string(),
                false => format!("{} = {}", terms.join(" + "), one.sum),
            }
        };
        let told = |one: &Weighed| format!("{}, {}", words(one).join(" at "), sum(one));
        if let Some(first) = all.first() {
            self.explanation.sentence(|| format!("the winner: {}", told(first)));
        }
        if let Some(next) = all.get(1) {
            self.explanation.sentence(|| format!("the next best: {}", told(next)));
        }
        let competitor =
            |one: &Weighed| Competitor { at: [0, one.at[0], one.at[1]], value: one.sum };
        all.iter().map(competitor).collect()
    }

    /// Tells the costs of Slurm's rule; the places of the torus and orientation that win, by them.
    fn tell_costs(&mut self, asked: &segments::Request) -> Vec<Competitor> {
        let size = asked.segment.unwrap_or(asked.size);
        let mut rows = Vec::new();
        // Of a job in several parts each place changes what the next costs.
        let winner = match asked.segment {
            Some(_) => None,
            None => {
                let ask = Query { size, required: None, weights: None };
                self.decider.decide(&self.layout, &mut self.machine, &ask)
            }
        };
        let mut competitors: Vec<Competitor> = Vec::new();
        for (at, (torus, open)) in self.layout.toruses().iter().zip(&mut self.machine).enumerate() {
            let costs = match asked.segment {
                None => self.decider.costs(at, torus, open, size),
                Some(_) => Vec::new(),
            };
            for (index, placement) in torus.placements().iter().enumerate() {
                let of_size = if placement.size == size { placement.anchors() } else { 0 };
                for anchor in 0..of_size {
                    let mask = placement.mask(anchor);
                    if !placement.is_whole(anchor) || !open.free().holds(mask) {
                        continue;
                    }
                    let cost = costs.iter().find(|one| one.0 == [index, anchor]).map(|one| one.1);
                    if let (Some(cost), Some(pick)) = (cost, winner)
                        && (pick.torus, pick.placement) == (at, index)
                    {
                        let at = [at, index, anchor];
                        competitors.push(Competitor { at, value: cost.into() });
                    }
                    let cost = cost.map_or(String::new(), |cost| cost.to_string());
                    let words = words(&self.layout, [at, index, anchor]);
                    rows.push(words.into_iter().chain([cost]).collect::<Vec<String>>());
                }
            }
        }
        self.explanation.sentence(|| {
            format!(
                "boxes of {size} on the menu that are free: {}",
                explain::count(rows.len(), "anchor")
            )
        });
        if !rows.is_empty() {
            let several = match self.layout.toruses().len() {
                1 => "",
                _ => "of several tori that have one the fullest wins; ",
            };
            let about = format!(
                "free boxes in the order in which they are looked at; {several}the first orientation wins, in it the one that costs the fewest free places of the next larger box"
            );
            self.explanation.list(|| Listing::of(about, &["box", "at", "cost"], rows));
        }
        competitors.sort_by_key(|one| one.value);
        let of = |one: &Competitor| {
            let named = words(&self.layout, one.at).join(" at ");
            format!("{named}, which costs {}", explain::count(one.value as usize, "place"))
        };
        if let Some(first) = competitors.first() {
            self.explanation.sentence(|| format!("the winner: {}", of(first)));
            self.explanation.sentence(|| match competitors.get(1) {
                Some(next) => format!("the next best: {}", of(next)),
                None => "no other of its orientation is free".to_string(),
            });
        }
        competitors
    }

    /// The processors of a box.
    fn processors(&self, [torus, placement, anchor]: At) -> Vec<NodeId> {
        let mask = self.layout.toruses()[torus].placements()[placement].mask(anchor);
        let numbers = cells_of(mask).filter_map(|cell| self.layout.node(torus, cell));
        numbers.map(|number| self.nodes[number as usize]).collect()
    }

    /// Who competes, as boxes.
    fn in_pictures(&self, competitors: &[Competitor]) -> CandidateSet {
        let by_sums = self.tied.as_ref().is_some_and(|tied| tied.way() != SelectionRule::Slurm);
        let rival = |(place, one): (usize, &Competitor)| {
            let [torus, placement, anchor] = one.at;
            let cost = if by_sums { 0 } else { one.value };
            ScoredCandidate {
                number: place + 1,
                centre: self.layout.toruses()[torus].placements()[placement].base(anchor),
                score: u64::try_from(cost).unwrap_or(u64::MAX),
                tie: by_sums.then(|| i64::try_from(one.value).unwrap_or(i64::MAX)),
                set: place + 1,
                nodes: self.processors(one.at),
                shells: Vec::new(),
                weights: Vec::new(),
            }
        };
        let first = competitors.iter().take(explain::LISTED).enumerate().map(rival).collect();
        let more = competitors.len().saturating_sub(explain::LISTED);
        CandidateSet { vector: None, first, more }
    }
}

/// A box in words: its sides, and where it is; of several tori with the name of its own.
fn words(layout: &Layout, [torus, placement, anchor]: At) -> [String; 2] {
    let torus = &layout.toruses()[torus];
    let placement = &torus.placements()[placement];
    let [sides, base] = [placement.sides, placement.base(anchor)];
    let three = |of: [u16; 3], between: &str| of.map(|side| side.to_string()).join(between);
    let within = match layout.toruses().len() {
        1 => String::new(),
        _ => format!("{} ", torus.name),
    };
    [three(sides, " x "), format!("{within}({})", three(base, ", "))]
}
