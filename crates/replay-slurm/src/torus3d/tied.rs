//! Selection of boxes by weighted terms: combines [`Ties`] with the statistics of a replay.

use std::collections::HashMap;
use std::sync::Arc;

use crate::placement::decide::Pick;
use crate::placement::ties::{CandidateFilter, TermWeights, TieQuery, Ties};
use crate::placement::{Layout, Placement, Torus};
use crate::torus3d::frequencies::Frequencies;
use crate::torus3d::selection_rules::SelectionRule;
use crate::torus3d::tuned::{Tuner, Tuning};
use replay_engine::allocator::Times;
use replay_engine::cancel::CancelToken;
use replay_engine::topology::NodeId;

/// Rule that decides in place of Slurm's rule, either always or while its loss is the smallest loss.
#[derive(Clone, PartialEq, Debug)]
pub struct Rule {
    /// Fixed selection rule, or the options of a self-tuning rule.
    pub choice: Choice,
    /// Frequencies of sizes.
    pub frequencies: Frequencies,
}

/// A fixed selection rule, or a self-tuning rule.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Choice {
    /// Fixed weights and filter.
    Fixed(TermWeights, CandidateFilter),
    /// The rule with the smallest loss so far. The values are the filter of all rules (`None` if the filter is tuned
    /// too), the options of the tuning, and the seed.
    Tuned(Option<CandidateFilter>, Tuning, u64),
}

/// Weighted terms on one torus or mesh.
#[derive(Clone, Debug)]
pub struct Tied {
    ties: Ties,
    rule: Rule,
    /// Tuner of the selection rule; `None` if the rule is fixed.
    tuner: Option<Box<Tuner>>,
    /// For each placement, the worth of a free box: the size of the box times the frequency of this size.
    worth: Vec<u64>,
    /// For each size on the menu, the number of started jobs of this size.
    seen: HashMap<u32, u64>,
    started: u64,
    /// Box of each running job, indexed by the node of the job's first process.
    places: HashMap<NodeId, [usize; 2]>,
    /// Time of the first request. The terms use times relative to the first request.
    origin: Option<i64>,
    /// Number and sum of the estimates of all started jobs that have an estimate.
    estimates: (u64, u64),
}

/// A candidate box.
pub struct Weighed {
    /// Placement and anchor.
    pub at: [usize; 2],
    /// Weighted sum.
    pub sum: i128,
    /// Terms that have a weight, in the order of [`Tied::weights`].
    pub terms: Vec<i128>,
}

/// Returns the terms that have a weight, by index in [`TermWeights::TERMS`].
fn nonzero_weights(weights: TermWeights) -> impl Iterator<Item = (usize, i64)> {
    weights.entries().into_iter().enumerate().filter(|(_, weight)| *weight != 0)
}

impl Tied {
    /// Creates the state for an idle torus or mesh; `wrapped` marks the axes that wrap around.
    pub fn new(torus: Arc<Torus>, wrapped: [bool; 3], rule: Rule) -> Self {
        let layout = Arc::new(Layout::new([torus.clone()]));
        let ties = Ties::with_walls(torus, wrapped);
        let tuner = match rule.choice {
            Choice::Fixed(..) => None,
            Choice::Tuned(filter, tuning, seed) => {
                Some(Box::new(Tuner::new(&ties, layout, filter, tuning, seed)))
            }
        };
        Self::on(ties, rule, tuner)
    }

    fn on(ties: Ties, rule: Rule, tuner: Option<Box<Tuner>>) -> Self {
        Self {
            ties,
            rule,
            tuner,
            worth: Vec::new(),
            seen: HashMap::new(),
            started: 0,
            places: HashMap::new(),
            origin: None,
            estimates: (0, 0),
        }
    }

    /// Resets the state to an idle machine without statistics.
    pub fn reset(self) -> Self {
        let ties = self.ties.into_idle();
        let tuner = self.tuner.map(|tuner| Box::new(tuner.reset(&ties)));
        Self::on(ties, self.rule, tuner)
    }

    /// Returns a copy without caches and without learning. The copy is used for queries after many boxes have been
    /// released.
    pub fn detached(&self) -> Self {
        Self {
            ties: self.ties.without_cache(),
            rule: self.rule.clone(),
            tuner: self.tuner.as_ref().map(|tuner| Box::new(tuner.settled())),
            worth: self.worth.clone(),
            seen: self.seen.clone(),
            started: self.started,
            places: self.places.clone(),
            origin: self.origin,
            estimates: self.estimates,
        }
    }

    /// Returns the current selection rule.
    pub fn selection_rule(&self) -> SelectionRule {
        match (&self.tuner, self.rule.choice) {
            (Some(tuner), _) => tuner.selection_rule(),
            (None, Choice::Fixed(weights, filter)) => SelectionRule::Terms(weights, filter),
            (None, Choice::Tuned(..)) => SelectionRule::Slurm,
        }
    }

    /// Returns the tuner; `None` if the rule is fixed.
    pub fn tuner(&self) -> Option<&Tuner> {
        self.tuner.as_deref()
    }

    /// Returns the box for a job of a size on the menu; `None` if no box of this size is free.
    pub fn decide(&mut self, size: u32, times: Times) -> Option<Pick> {
        self.weigh(size);
        let now = self.now(times);
        let (estimate, has_estimate) = self.estimate(times);
        if let Some(tuner) = &mut self.tuner {
            tuner.advance_to(now);
        }
        let (weights, filter) = self.selection_rule().terms();
        let Self { ties, worth, tuner, .. } = self;
        let query = TieQuery { size, weights, filter, worth, now, estimate, has_estimate };
        let pick = match tuner {
            None => ties.decide(&query),
            Some(tuner) => tuner.place(ties, &query),
        };
        if let (None, Some(tuner)) = (&pick, &mut self.tuner) {
            tuner.refused(size);
        }
        pick
    }

    /// Returns the candidates of [`decide`](Self::decide), each with its weighted sum and its terms. Only terms with a
    /// [weight](Self::weights) are included; they are not multiplied by their weights. The result is empty if Slurm's
    /// rule decides.
    pub fn sums(&mut self, size: u32, times: Times) -> Vec<Weighed> {
        let SelectionRule::Terms(weights, filter) = self.selection_rule() else {
            return Vec::new();
        };
        self.weigh(size);
        let now = self.now(times);
        let (estimate, has_estimate) = self.estimate(times);
        let worth = &self.worth;
        let mut sums = |weights| {
            self.ties.sums(&TieQuery { size, weights, filter, worth, now, estimate, has_estimate })
        };
        let all = sums(weights).into_iter();
        let mut all: Vec<Weighed> =
            all.map(|(at, sum)| Weighed { at, sum, terms: Vec::new() }).collect();
        for (term, _) in nonzero_weights(weights) {
            let (_, is_less) = TermWeights::TERMS[term];
            for (one, (_, value)) in all.iter_mut().zip(sums(TermWeights::only(term))) {
                one.terms.push(if is_less { -value } else { value });
            }
        }
        all
    }

    /// Returns the names of the terms that have a weight, with their factors in the sum.
    pub fn weights(&self) -> Vec<(&'static str, i64)> {
        let signed = |(term, weight): (usize, i64)| {
            let (name, is_less) = TermWeights::TERMS[term];
            (name, if is_less { -weight } else { weight })
        };
        let (weights, _) = self.selection_rule().terms();
        nonzero_weights(weights).map(signed).collect()
    }

    /// Starts a job on the selected box. `first` is the node of its first process. If the call is cancelled, the state
    /// must not be used for later decisions.
    pub fn start(
        &mut self,
        first: NodeId,
        pick: &Pick,
        size: u32,
        times: Times,
        stop: &CancelToken,
    ) {
        let place = [pick.placement, pick.anchor];
        let now = self.now(times);
        let (estimate, has_estimate) = self.estimate(times);
        let end = now.saturating_add(estimate);
        let (weights, filter) = self.selection_rule().terms();
        let Self { ties, worth, tuner, .. } = self;
        if let Some(tuner) = tuner {
            let query = TieQuery { size, weights, filter, worth, now, estimate, has_estimate };
            tuner.start(first.index() as u64, &query, end, stop);
        }
        ties.start(place, end, has_estimate);
        self.places.insert(first, place);
        if has_estimate {
            self.estimates = (self.estimates.0 + 1, self.estimates.1.saturating_add(estimate));
        }
        self.started += 1;
        *self.seen.entry(size).or_default() += 1;
    }

    /// Ends the job whose first process is at `first`.
    pub fn finish(&mut self, first: NodeId) {
        if let Some(place) = self.places.remove(&first) {
            self.ties.finish(place);
        }
        if let Some(tuner) = &mut self.tuner {
            tuner.end(first.index() as u64);
        }
    }

    /// Takes free cells out of service.
    pub fn withdraw(&mut self, cells: impl IntoIterator<Item = u32>, are_walls: bool) {
        let cells: Vec<u32> = cells.into_iter().collect();
        if let Some(tuner) = &mut self.tuner {
            tuner.withdraw(&cells, are_walls);
        }
        self.ties.withdraw(cells, are_walls);
    }

    /// Returns cells to service.
    pub fn restore(&mut self, cells: impl IntoIterator<Item = u32>) {
        let cells: Vec<u32> = cells.into_iter().collect();
        if let Some(tuner) = &mut self.tuner {
            tuner.restore(&cells);
        }
        self.ties.restore(cells);
    }

    /// Updates the worth of boxes for a request of this size. The request itself is included in the frequencies.
    fn weigh(&mut self, size: u32) {
        let frequency = |one: &Placement| {
            let seen = self.seen.get(&one.size).copied().unwrap_or(0);
            let now = u64::from(one.size == size);
            self.rule.frequencies.of(one.size, seen + now, self.started + 1)
        };
        let worth = |one: &Placement| u64::from(one.size) * frequency(one);
        self.worth = self.ties.torus().placements().iter().map(worth).collect();
    }

    /// Returns the seconds since the first request.
    fn now(&mut self, times: Times) -> u64 {
        let origin = *self.origin.get_or_insert(times.now);
        times.now.saturating_sub(origin).max(0) as u64
    }

    /// Returns the estimated run time of a job and `true`. If the job has no estimate, returns the mean of all
    /// estimates so far and `false`.
    fn estimate(&self, times: Times) -> (u64, bool) {
        match times.limit {
            Some(limit) => (u64::from(limit.max(1)), true),
            None => ((self.estimates.1 / self.estimates.0.max(1)).max(1), false),
        }
    }
}
