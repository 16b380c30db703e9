//! Boxes by weighted terms instead of Slurm's rule: [`Ties`] with what a replay knows.

use std::collections::HashMap;

use crate::allocator::Times;
use crate::placement::decide::Pick;
use crate::placement::ties::{Handles, Question, Rivals, Ties};
use crate::placement::{Placement, Torus};
use crate::topology::NodeId;

/// How often a size is taken to be asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Frequencies {
    /// As often as among the jobs that started so far, in thousandths.
    Seen,
    /// Every size alike.
    One,
}

/// The terms at work on one torus or mesh.
#[derive(Clone, Debug)]
pub struct Tied {
    ties: Ties,
    handles: Handles,
    rivals: Rivals,
    frequencies: Frequencies,
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

/// The terms that have a weight, by their place in [`Handles::TERMS`].
fn weights(handles: Handles) -> impl Iterator<Item = (usize, i64)> {
    handles.entries().into_iter().enumerate().filter(|(_, weight)| *weight != 0)
}

impl Tied {
    /// On an idle machine.
    pub fn new(
        torus: Torus,
        wrapped: [bool; 3],
        handles: Handles,
        rivals: Rivals,
        frequencies: Frequencies,
    ) -> Self {
        Self::on(Ties::with_walls(torus, wrapped), handles, rivals, frequencies)
    }

    fn on(ties: Ties, handles: Handles, rivals: Rivals, frequencies: Frequencies) -> Self {
        let mut tied = Self {
            ties,
            handles,
            rivals,
            frequencies,
            worth: Vec::new(),
            seen: HashMap::new(),
            started: 0,
            places: HashMap::new(),
            origin: None,
            estimates: (0, 0),
        };
        tied.weigh();
        tied
    }

    /// The same on an idle machine, with nothing seen.
    pub fn again(self) -> Self {
        Self::on(self.ties.again(), self.handles, self.rivals, self.frequencies)
    }

    /// A copy that many boxes are given back to before anybody asks.
    pub fn unasked(&self) -> Self {
        Self {
            ties: self.ties.unasked(),
            handles: self.handles,
            rivals: self.rivals,
            frequencies: self.frequencies,
            worth: self.worth.clone(),
            seen: self.seen.clone(),
            started: self.started,
            places: self.places.clone(),
            origin: self.origin,
            estimates: self.estimates,
        }
    }

    /// The place for a job of a size on the menu; `None` if no box of it is free.
    pub fn decide(&mut self, size: u32, times: Times) -> Option<Pick> {
        let now = self.now(times);
        let (estimate, told) = self.estimate(times);
        let (handles, rivals) = (self.handles, self.rivals);
        let worth = &self.worth;
        self.ties.decide(&Question { size, handles, rivals, worth, now, estimate, told })
    }

    /// What [`decide`](Self::decide) would compare: places, as a placement and its anchor, each with its sum and with the
    /// terms of it that have a [weight](Self::weights), before the weights multiply them.
    pub fn sums(&mut self, size: u32, times: Times) -> Vec<Weighed> {
        let now = self.now(times);
        let (estimate, told) = self.estimate(times);
        let (rivals, worth) = (self.rivals, &self.worth);
        let mut sums = |handles| {
            self.ties.sums(&Question { size, handles, rivals, worth, now, estimate, told })
        };
        let all = sums(self.handles).into_iter();
        let mut all: Vec<Weighed> =
            all.map(|(at, sum)| Weighed { at, sum, terms: Vec::new() }).collect();
        for (term, _) in weights(self.handles) {
            let (_, is_less) = Handles::TERMS[term];
            for (one, (_, value)) in all.iter_mut().zip(sums(Handles::only(term))) {
                one.terms.push(if is_less { -value } else { value });
            }
        }
        all
    }

    /// The names of the terms that have a weight, with what multiplies them in the sum.
    pub fn weights(&self) -> Vec<(&'static str, i64)> {
        let signed = |(term, weight): (usize, i64)| {
            let (name, is_less) = Handles::TERMS[term];
            (name, if is_less { -weight } else { weight })
        };
        weights(self.handles).map(signed).collect()
    }

    /// A job starts where it was decided; its first process is at this node.
    pub fn start(&mut self, first: NodeId, pick: &Pick, size: u32, times: Times) {
        let place = [pick.placement, pick.anchor];
        let (estimate, told) = self.estimate(times);
        let end = self.now(times).saturating_add(estimate);
        self.ties.start(place, end, told);
        self.places.insert(first, place);
        if told {
            self.estimates = (self.estimates.0 + 1, self.estimates.1.saturating_add(estimate));
        }
        self.started += 1;
        *self.seen.entry(size).or_default() += 1;
        self.weigh();
    }

    /// The job ends whose first process is at this node.
    pub fn finish(&mut self, first: NodeId) {
        if let Some(place) = self.places.remove(&first) {
            self.ties.finish(place);
        }
    }

    /// Free cells go out of service.
    pub fn withdraw(&mut self, cells: impl IntoIterator<Item = u32>, are_walls: bool) {
        self.ties.withdraw(cells, are_walls);
    }

    /// They are back.
    pub fn restore(&mut self, cells: impl IntoIterator<Item = u32>) {
        self.ties.restore(cells);
    }

    fn weigh(&mut self) {
        let frequency = |one: &Placement| match self.frequencies {
            Frequencies::One => 1,
            Frequencies::Seen => {
                let seen = self.seen.get(&one.size).copied().unwrap_or(0);
                1000 * seen / self.started.max(1)
            }
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
