//! Boxes by weighted terms instead of Slurm's rule: [`Ties`] with what a replay knows.

use std::collections::HashMap;
use std::sync::Arc;

use super::frequencies::Frequencies;
use super::selection_rules::SelectionRule;
use super::tuned::{Tuner, Tuning};
use crate::allocator::Times;
use crate::cancel::CancelToken;
use crate::placement::decide::Pick;
use crate::placement::ties::{CandidateFilter, TermWeights, TieQuery, Ties};
use crate::placement::{Layout, Placement, Torus};
use crate::topology::NodeId;

/// What decides instead of Slurm's rule, always or sometimes.
#[derive(Clone, PartialEq, Debug)]
pub struct Rule {
    /// The way to choose.
    pub choice: Choice,
    /// How often sizes are asked for.
    pub frequencies: Frequencies,
}

/// A way to choose, or the way to find it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Choice {
    /// These terms.
    Fixed(TermWeights, CandidateFilter),
    /// What did best so far, among these rivals if it is told which, from this seed.
    Tuned(Option<CandidateFilter>, Tuning, u64),
}

/// The terms at work on one torus or mesh.
#[derive(Clone, Debug)]
pub struct Tied {
    ties: Ties,
    rule: Rule,
    /// What changes the way, if it tunes itself.
    tuner: Option<Box<Tuner>>,
    /// By placement: what a free box of it is worth, its size times the size's frequency.
    worth: Vec<u64>,
    /// By size on the menu: jobs that started.
    seen: HashMap<u32, u64>,
    started: u64,
    /// By the first process's node: the place of a running job.
    places: HashMap<NodeId, [usize; 2]>,
    /// The instant from which the terms count time, that of the first request.
    origin: Option<i64>,
    /// Of the jobs with an estimate that started: how many, and the sum of estimates.
    estimates: (u64, u64),
}

/// A place that competes.
pub struct Weighed {
    /// Placement and anchor.
    pub at: [usize; 2],
    /// What is compared.
    pub sum: i128,
    /// The terms that have a weight, in the order of [`Tied::weights`].
    pub terms: Vec<i128>,
}

/// The terms that have a weight, by their place in [`TermWeights::TERMS`].
fn nonzero_weights(weights: TermWeights) -> impl Iterator<Item = (usize, i64)> {
    weights.entries().into_iter().enumerate().filter(|(_, weight)| *weight != 0)
}

impl Tied {
    /// On an idle machine.
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

    /// The same on an idle machine, with nothing seen and nothing learned.
    pub fn again(self) -> Self {
        let ties = self.ties.into_idle();
        let tuner = self.tuner.map(|tuner| Box::new(tuner.again(&ties)));
        Self::on(ties, self.rule, tuner)
    }

    /// A copy that many boxes are given back to before anybody asks. It learns no more.
    pub fn unasked(&self) -> Self {
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

    /// How it chooses now.
    pub fn way(&self) -> SelectionRule {
        match (&self.tuner, self.rule.choice) {
            (Some(tuner), _) => tuner.way(),
            (None, Choice::Fixed(weights, filter)) => SelectionRule::Terms(weights, filter),
            (None, Choice::Tuned(..)) => SelectionRule::Slurm,
        }
    }

    /// What tunes it, if something does.
    pub fn tuner(&self) -> Option<&Tuner> {
        self.tuner.as_deref()
    }

    /// The place for a job of a size on the menu; `None` if no box of it is free.
    pub fn decide(&mut self, size: u32, times: Times) -> Option<Pick> {
        self.weigh(size);
        let now = self.now(times);
        let (estimate, has_estimate) = self.estimate(times);
        if let Some(tuner) = &mut self.tuner {
            tuner.ask(now);
        }
        let (weights, filter) = self.way().terms();
        let Self { ties, worth, tuner, .. } = self;
        let question = TieQuery { size, weights, filter, worth, now, estimate, has_estimate };
        let pick = match tuner {
            None => ties.decide(&question),
            Some(tuner) => tuner.place(ties, &question),
        };
        if let (None, Some(tuner)) = (&pick, &mut self.tuner) {
            tuner.refused(size);
        }
        pick
    }

    /// What [`decide`](Self::decide) would compare: places, as a placement and its anchor, each with its sum and with the
    /// terms of it that have a [weight](Self::weights), before the weights multiply them. None where Slurm's rule decides.
    pub fn sums(&mut self, size: u32, times: Times) -> Vec<Weighed> {
        let SelectionRule::Terms(weights, filter) = self.way() else { return Vec::new() };
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

    /// The names of the terms that have a weight, with what multiplies them in the sum.
    pub fn weights(&self) -> Vec<(&'static str, i64)> {
        let signed = |(term, weight): (usize, i64)| {
            let (name, is_less) = TermWeights::TERMS[term];
            (name, if is_less { -weight } else { weight })
        };
        let (weights, _) = self.way().terms();
        nonzero_weights(weights).map(signed).collect()
    }

    /// A job starts where it was decided; its first process is at this node. With `stop` raised nothing that is
    /// decided later is of any use.
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
        let (weights, filter) = self.way().terms();
        let Self { ties, worth, tuner, .. } = self;
        if let Some(tuner) = tuner {
            let question = TieQuery { size, weights, filter, worth, now, estimate, has_estimate };
            tuner.start(first.index() as u64, &question, end, stop);
        }
        ties.start(place, end, has_estimate);
        self.places.insert(first, place);
        if has_estimate {
            self.estimates = (self.estimates.0 + 1, self.estimates.1.saturating_add(estimate));
        }
        self.started += 1;
        *self.seen.entry(size).or_default() += 1;
    }

    /// The job ends whose first process is at this node.
    pub fn finish(&mut self, first: NodeId) {
        if let Some(place) = self.places.remove(&first) {
            self.ties.finish(place);
        }
        if let Some(tuner) = &mut self.tuner {
            tuner.end(first.index() as u64);
        }
    }

    /// Free cells go out of service.
    pub fn withdraw(&mut self, cells: impl IntoIterator<Item = u32>, are_walls: bool) {
        let cells: Vec<u32> = cells.into_iter().collect();
        if let Some(tuner) = &mut self.tuner {
            tuner.withdraw(&cells, are_walls);
        }
        self.ties.withdraw(cells, are_walls);
    }

    /// They are back.
    pub fn restore(&mut self, cells: impl IntoIterator<Item = u32>) {
        let cells: Vec<u32> = cells.into_iter().collect();
        if let Some(tuner) = &mut self.tuner {
            tuner.restore(&cells);
        }
        self.ties.restore(cells);
    }

    /// What boxes are worth when a job of this size asks, which counts itself.
    fn weigh(&mut self, size: u32) {
        let frequency = |one: &Placement| {
            let seen = self.seen.get(&one.size).copied().unwrap_or(0);
            let now = u64::from(one.size == size);
            self.rule.frequencies.of(one.size, seen + now, self.started + 1)
        };
        let worth = |one: &Placement| u64::from(one.size) * frequency(one);
        self.worth = self.ties.torus().placements().iter().map(worth).collect();
    }

    /// Seconds since the first request. Nobody asks before it.
    fn now(&mut self, times: Times) -> u64 {
        let origin = *self.origin.get_or_insert(times.now);
        times.now.saturating_sub(origin).max(0) as u64
    }

    /// How long a job says that it will run, and whether it does; else the mean of what others said
    /// so far.
    fn estimate(&self, times: Times) -> (u64, bool) {
        match times.limit {
            Some(limit) => (u64::from(limit.max(1)), true),
            None => ((self.estimates.1 / self.estimates.0.max(1)).max(1), false),
        }
    }
}
