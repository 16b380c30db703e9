//! Explanations of decisions.

use crate::placement::decide::Query;
use crate::placement::torus::cells_of;
use crate::placement::{Layout, segments};
use crate::torus3d::Placements;
use crate::torus3d::selection_rules::SelectionRule;
use crate::torus3d::tied::{Tied, Weighed};
use replay_engine::allocator::Request;
use replay_engine::allocator::candidate_set::{CandidateSet, ScoredCandidate};
use replay_engine::allocator::explain::{self, Listing};
use replay_engine::number::counted;
use replay_engine::topology::NodeId;

/// Position of a box: torus, placement, anchor.
type At = [usize; 3];

/// A candidate box and the value by which it is compared.
struct CandidateBox {
    at: At,
    value: i128,
}

impl Placements {
    /// Records the free boxes, their values, and the winner.
    pub(super) fn explain_decision(&mut self, asked: &segments::Request, request: Request) {
        if let Some(tuner) = self.tied.as_ref().and_then(Tied::tuner) {
            self.explanation.sentence(|| {
                let [shadows, since] = tuner.shadows_and_starts();
                let shadows = counted(shadows as u64, "shadow machine");
                let since = counted(since as u64, "start");
                format!(
                    "the rule with the least expected loss on {shadows} so far is {}; the shadow machines were last compared {since} ago",
                    tuner.selection_rule()
                )
            });
        }
        let candidates = match self.compares_sums() {
            true => self.explain_sums(asked.size, request),
            false => self.explain_costs(asked),
        };
        if let Some(first) = candidates.first() {
            self.explanation.winner(self.processors(first.at));
        }
        self.explanation.candidates(|| self.candidate_set(&candidates));
    }

    /// Records the weighted sums. Returns the boxes sorted by sum.
    fn explain_sums(&mut self, size: u32, request: Request) -> Vec<CandidateBox> {
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
            "candidate boxes of size {size} with their weighted terms; the box with the least sum wins (if several are equal, the first)"
        );
        self.explanation.list(|| Listing::of(about, &columns, all.iter().map(row)));
        // The sort is stable: equal sums keep their order.
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
        let describe = |one: &Weighed| format!("{}, {}", words(one).join(" at "), sum(one));
        if let Some(first) = all.first() {
            self.explanation.sentence(|| format!("the winner: {}", describe(first)));
        }
        if let Some(next) = all.get(1) {
            self.explanation.sentence(|| format!("the next best: {}", describe(next)));
        }
        let candidate_box =
            |one: &Weighed| CandidateBox { at: [0, one.at[0], one.at[1]], value: one.sum };
        all.iter().map(candidate_box).collect()
    }

    /// Records the costs of Slurm's rule. Returns the boxes of the winning torus and orientation,
    /// sorted by cost.
    fn explain_costs(&mut self, asked: &segments::Request) -> Vec<CandidateBox> {
        let size = asked.segment.unwrap_or(asked.size);
        let mut rows = Vec::new();
        // If a job has several parts, each placed part changes the costs of the next part.
        let winner = match asked.segment {
            Some(_) => None,
            None => {
                let ask = Query { size, required: None, weights: None };
                self.decider.decide(&self.layout, &mut self.machine, &ask)
            }
        };
        let mut candidates: Vec<CandidateBox> = Vec::new();
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
                        candidates.push(CandidateBox { at, value: cost.into() });
                    }
                    let cost = cost.map_or(String::new(), |cost| cost.to_string());
                    let words = words(&self.layout, [at, index, anchor]);
                    rows.push(words.into_iter().chain([cost]).collect::<Vec<String>>());
                }
            }
        }
        self.explanation.sentence(|| {
            format!(
                "free boxes among the permitted boxes of size {size}: {}",
                counted(rows.len() as u64, "anchor")
            )
        });
        if !rows.is_empty() {
            let several = match self.layout.toruses().len() {
                1 => "",
                _ => "the fullest torus with a free box wins; ",
            };
            let about = format!(
                "free boxes in scan order; {several}the first orientation wins; within this orientation, the box that takes the fewest free positions from the next larger box wins"
            );
            self.explanation.list(|| Listing::of(about, &["box", "at", "cost"], rows));
        }
        candidates.sort_by_key(|one| one.value);
        let of = |one: &CandidateBox| {
            let named = words(&self.layout, one.at).join(" at ");
            format!("{named}, which costs {}", counted(one.value as u64, "place"))
        };
        if let Some(first) = candidates.first() {
            self.explanation.sentence(|| format!("the winner: {}", of(first)));
            self.explanation.sentence(|| match candidates.get(1) {
                Some(next) => format!("the next best: {}", of(next)),
                None => "no other box of the same orientation is free".to_string(),
            });
        }
        candidates
    }

    /// Returns whether boxes are compared by weighted sums, not by Slurm's rule.
    fn compares_sums(&self) -> bool {
        self.tied.as_ref().is_some_and(|tied| tied.selection_rule() != SelectionRule::Slurm)
    }

    /// Returns the processors of a box.
    fn processors(&self, [torus, placement, anchor]: At) -> Vec<NodeId> {
        let mask = self.layout.toruses()[torus].placements()[placement].mask(anchor);
        let numbers = cells_of(mask).filter_map(|cell| self.layout.node(torus, cell));
        numbers.map(|number| self.nodes[number as usize]).collect()
    }

    /// Returns the candidate boxes in the form that is needed to plot them.
    fn candidate_set(&self, candidates: &[CandidateBox]) -> CandidateSet {
        let by_sums = self.compares_sums();
        let candidate = |(place, one): (usize, &CandidateBox)| {
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
        let first = candidates.iter().take(explain::LISTED).enumerate().map(candidate).collect();
        let more = candidates.len().saturating_sub(explain::LISTED);
        CandidateSet { vector: None, first, more }
    }
}

/// Describes a box by its sides and its position, with the name of the torus if the machine has
/// several tori.
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
