//! A placement rule that is tuned during a replay, by the same [estimates](replay_engine::allocator::loss_model) as the tie
//! vector of MC1x1.
//!
//! In addition to the real machine there are several *shadow* machines, which replay the same starts and ends of jobs.
//! Each shadow has its own [selection rule](super::selection_rules). The loss of a shadow is measured in processor-time
//! and has two parts. The first part counts the free processors of the shadow. It is counted only while enough
//! processors, but no box, are free for the first refused job. The second part counts the processors of jobs that run
//! on the real machine but found no box on the shadow. At regular intervals, the losses of the shadows, relative to
//! each other, are added to a map of all rules; older observations decay. The real machine then continues with the rule
//! that has the smallest expected loss. After each evaluation, one shadow continues with another rule; the shadows take
//! turns.
//!
//! Shadows on which the same jobs hold the same boxes share one *state*. Starts and ends of jobs change a state once for
//! all its shadows, and the terms of candidates are computed once. A state is split when its shadows choose different
//! boxes; when a job ends, states that no longer differ are joined. Each shadow chooses the same boxes as a shadow with a
//! state of its own.
//!
//! A choice depends on the seed and on earlier events, but not on later events. Events are the calls that the strategy
//! receives: a refusal that the engine derives from an earlier refusal is not observed. A shadow never starts a job
//! before the real machine starts it, because the end of the job would not be known.
//!
//! Cost in time and memory: each state costs as much as the real machine; there are at most as many states as shadows.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use crate::placement::Layout;
use crate::placement::decide::{Decider, Pick, Query};
use crate::placement::ties::{CandidateFilter, TieQuery, Ties};
use crate::placement::torus::{Cells, cells_of};
use crate::torus3d::selection_rules::{Point, SelectionRule, points};
use replay_engine::allocator::loss_model::Explorer;
pub use replay_engine::allocator::loss_model::Tuning;
use replay_engine::cancel::CancelToken;

/// The default options of this strategy. Steps are job starts.
pub const DEFAULT_TUNING: Tuning = Tuning { shadows: 16, every: 64, memory: 16_384 };

/// Selects the rule with the smallest expected loss.
#[derive(Clone, Debug)]
pub struct Tuner {
    filter: Option<CandidateFilter>,
    seed: u64,
    points: Arc<[Point]>,
    explorer: Explorer,
    layout: Arc<Layout>,
    decider: Decider,
    shadows: Vec<Shadow>,
    states: Vec<State>,
    /// Time of the latest request.
    now: u64,
    /// Jobs that ended after the latest request.
    ended: Vec<u64>,
    /// The first size that has been refused since a job last ended.
    head: Option<u32>,
}

/// A shadow machine.
#[derive(Clone, Copy, Debug)]
struct Shadow {
    point: usize,
    loss: f64,
}

/// The state of shadow machines on which the same jobs hold the same boxes.
#[derive(Clone, Debug)]
struct State {
    /// Indices of the shadows, ascending.
    shadows: Vec<usize>,
    ties: Ties,
    /// Hash of the running jobs and their boxes.
    hash: u64,
    /// Place of each running job.
    places: HashMap<u64, Place>,
    /// Total number of processors of the running jobs that found no box.
    missing: u64,
    /// Whether no box of the first refused size is free.
    has_no_box: bool,
    /// Cells that go out of service when their jobs end.
    leaving: Cells,
    /// Whether cells out of service count as walls of their neighbours.
    are_walls: bool,
}

/// Box of a running job, or the size of the job if it found no box.
type Place = Result<[usize; 2], u32>;

impl SelectionRule {
    /// Selects the box for a job by this rule. The weights and the filter of the query are ignored. The machine must be
    /// a single torus or mesh.
    pub fn place(
        self,
        layout: &Layout,
        decider: &Decider,
        ties: &mut Ties,
        query: &TieQuery<'_>,
    ) -> Option<Pick> {
        match self {
            Self::Slurm => {
                let slurm_query = Query { size: query.size, required: None, weights: None };
                decider.decide(layout, std::slice::from_mut(ties.open()), &slurm_query)
            }
            Self::Terms(weights, filter) => ties.decide(&TieQuery { weights, filter, ..*query }),
        }
    }
}

impl Tuner {
    /// Creates a tuner for a machine that is a single idle torus or mesh. If `filter` is `None`, the tuned rules
    /// include all shapes and all slacks.
    pub fn new(
        ties: &Ties,
        layout: Arc<Layout>,
        filter: Option<CandidateFilter>,
        tuning: Tuning,
        seed: u64,
    ) -> Self {
        let points: Arc<[Point]> = points(ties.has_walls(), filter).into();
        let mut tuner = Self {
            filter,
            seed,
            explorer: Explorer::new(points.len(), tuning, seed),
            decider: Decider::new(&layout),
            layout,
            shadows: Vec::new(),
            states: vec![State::new(ties, (0..tuning.shadows as usize).collect())],
            now: 0,
            ended: Vec::new(),
            head: None,
            points,
        };
        for _ in 0..tuning.shadows {
            let point = tuner.explorer.draw();
            tuner.shadows.push(Shadow { point, loss: 0.0 });
        }
        tuner
    }

    /// Resets the tuner to an idle machine without observations.
    pub fn reset(self, ties: &Ties) -> Self {
        Self::new(ties, self.layout, self.filter, self.explorer.tuning, self.seed)
    }

    /// Returns a copy that always uses the current rule and does not learn.
    pub(crate) fn settled(&self) -> Self {
        let (points, explorer) = (self.points.clone(), self.explorer.settled());
        let (layout, decider) = (self.layout.clone(), self.decider.clone());
        let (shadows, states, ended) = (Vec::new(), Vec::new(), Vec::new());
        Self { points, explorer, layout, decider, shadows, states, ended, ..*self }
    }

    /// Selects the box for a job on the real machine.
    pub fn place(&self, ties: &mut Ties, query: &TieQuery<'_>) -> Option<Pick> {
        self.selection_rule().place(&self.layout, &self.decider, ties, query)
    }

    /// Returns the rule with the smallest expected loss. Before the first evaluation, this method returns Slurm's rule.
    pub(crate) fn selection_rule(&self) -> SelectionRule {
        self.points[self.explorer.best].rule
    }

    /// Returns the number of shadows, and the number of job starts since the last evaluation of the shadows.
    pub(crate) fn shadows_and_starts(&self) -> [usize; 2] {
        [self.shadows.len(), self.explorer.since as usize]
    }

    /// Advances the shadows to the time of a request.
    pub fn advance_to(&mut self, now: u64) {
        let elapsed = now.saturating_sub(self.now) as f64;
        self.now = self.now.max(now);
        if elapsed > 0.0 {
            for state in &mut self.states {
                let loss = elapsed * state.losing(self.head) as f64;
                state.shadows.iter().for_each(|&shadow| self.shadows[shadow].loss += loss);
            }
        }
        if !self.ended.is_empty() {
            for job in std::mem::take(&mut self.ended) {
                self.states.iter_mut().for_each(|state| state.end(job));
            }
            self.forget_head();
            self.join();
        }
        if self.explorer.is_due() {
            self.tune();
        }
    }

    /// Records that the request at the time of the last [`advance_to`](Self::advance_to) was refused; `size` is its
    /// size.
    pub fn refused(&mut self, size: u32) {
        if self.head.is_none() {
            self.head = Some(size);
            for state in &mut self.states {
                state.has_no_box = state.ties.first(size).is_none();
            }
        }
    }

    /// Starts a job on the shadows; `end` is its estimated end. After cancellation, some shadows are skipped.
    pub fn start(&mut self, job: u64, query: &TieQuery<'_>, end: u64, stop: &CancelToken) {
        for at in 0..self.states.len() {
            if stop.is_raised() {
                break;
            }
            let choices = self.choices(at, query);
            let Some(&first) = choices.first() else { continue };
            // Shadows with the first choice stay in this state. The shadows with any other choice move to a new state,
            // one for each choice.
            let Self { states, .. } = self;
            for (number, &other) in choices.iter().enumerate().skip(1) {
                if choices[..number].contains(&other) {
                    continue;
                }
                let mut moved = states[at].clone();
                moved.keep(&choices, other);
                moved.start(job, query, end, other);
                states.push(moved);
            }
            states[at].keep(&choices, first);
            states[at].start(job, query, end, first);
        }
        if self.head == Some(query.size) {
            self.forget_head();
        }
        self.explorer.since += 1;
    }

    /// Returns the choices of the shadows in a state for a job, in the order of the shadows.
    fn choices(&mut self, at: usize, query: &TieQuery<'_>) -> Vec<Option<[usize; 2]>> {
        let Self { shadows, states, points, layout, decider, .. } = self;
        let State { shadows: members, ties, .. } = &mut states[at];
        let rules = members.iter().map(|&shadow| points[shadows[shadow].point].rule);
        let rules: Vec<SelectionRule> = rules.collect();
        let mut alone = |rule: SelectionRule| {
            let pick = rule.place(layout, decider, ties, query);
            pick.map(|pick| [pick.placement, pick.anchor])
        };
        if let [rule] = rules[..] {
            return vec![alone(rule)];
        }
        let slurm = rules.contains(&SelectionRule::Slurm).then(|| alone(SelectionRule::Slurm));
        let with_terms = rules.iter().filter(|rule| **rule != SelectionRule::Slurm);
        let with_terms: Vec<_> = with_terms.map(|rule| rule.terms()).collect();
        let mut chosen = ties.decide_all(query, &with_terms).into_iter();
        let choice = |rule: &SelectionRule| match rule {
            SelectionRule::Slurm => slurm.flatten(),
            SelectionRule::Terms(..) => chosen.next().flatten(),
        };
        rules.iter().map(choice).collect()
    }

    /// Joins states that no longer differ.
    fn join(&mut self) {
        let mut at = 1;
        while at < self.states.len() {
            let (before, after) = self.states.split_at_mut(at);
            let Some(into) = before.iter_mut().find(|state| state.is_equal(&after[0])) else {
                at += 1;
                continue;
            };
            into.shadows.append(&mut after[0].shadows);
            into.shadows.sort_unstable();
            self.states.swap_remove(at);
        }
    }

    /// Records the end of a job.
    pub fn end(&mut self, job: u64) {
        self.ended.push(job);
    }

    /// Takes cells out of service. From now on, the withdrawn cells do not count in losses.
    pub fn withdraw(&mut self, cells: &[u32], are_walls: bool) {
        for shadow in &mut self.states {
            let open = shadow.ties.open().free();
            let (free, busy): (Vec<u32>, Vec<u32>) =
                cells.iter().partition(|&&cell| open.contains(cell));
            shadow.are_walls = are_walls;
            shadow.ties.withdraw(free, are_walls);
            busy.into_iter().for_each(|cell| shadow.leaving.insert(cell));
        }
    }

    /// Returns cells to service.
    pub fn restore(&mut self, cells: &[u32]) {
        for shadow in &mut self.states {
            let (leaving, down): (Vec<u32>, Vec<u32>) =
                cells.iter().partition(|&&cell| shadow.leaving.contains(cell));
            leaving.into_iter().for_each(|cell| shadow.leaving.remove(cell));
            shadow.ties.restore(down);
        }
        self.forget_head();
    }

    fn forget_head(&mut self) {
        self.head = None;
        self.states.iter_mut().for_each(|state| state.has_no_box = false);
    }

    /// Evaluates the shadows: adds their losses to the map, chooses the best rule, and changes the rule of one shadow.
    fn tune(&mut self) {
        let Self { points, explorer, shadows, .. } = self;
        let observe = |shadow: &mut Shadow| (shadow.point, std::mem::take(&mut shadow.loss));
        let observed: Vec<(usize, f64)> = shadows.iter_mut().map(observe).collect();
        let distance = |from: usize, to: usize| points[from].distance(&points[to]);
        let (moved, point) = explorer.evaluate(&observed, distance);
        if let Some(shadow) = shadows.get_mut(moved) {
            shadow.point = point;
        }
    }
}

impl State {
    /// Creates the state of shadows of an idle machine.
    fn new(ties: &Ties, shadows: Vec<usize>) -> Self {
        let cells = ties.torus().cells();
        Self {
            shadows,
            ties: ties.without_cache(),
            hash: 0,
            places: HashMap::new(),
            missing: 0,
            has_no_box: false,
            leaving: Cells::none(cells),
            are_walls: false,
        }
    }

    /// Keeps the shadows with this choice; `choices` are the choices of all shadows.
    fn keep(&mut self, choices: &[Option<[usize; 2]>], choice: Option<[usize; 2]>) {
        let mut choices = choices.iter();
        self.shadows.retain(|_| choices.next() == Some(&choice));
    }

    /// Returns whether the same jobs hold the same boxes, and the same cells are out of service.
    fn is_equal(&self, other: &Self) -> bool {
        (self.hash, self.missing) == (other.hash, other.missing)
            && self.places == other.places
            && self.leaving == other.leaving
            && self.ties.has_same_free(&other.ties)
    }

    /// Returns the number of processors that each shadow currently loses. `head` is the first refused size.
    fn losing(&mut self, head: Option<u32>) -> u64 {
        let free = u64::from(self.ties.open().count());
        let stuck = head.is_some_and(|size| self.has_no_box && free >= u64::from(size));
        self.missing + if stuck { free } else { 0 }
    }

    fn start(&mut self, job: u64, query: &TieQuery<'_>, end: u64, choice: Option<[usize; 2]>) {
        match choice {
            Some(place) => self.ties.start(place, end, query.has_estimate),
            None => self.missing += u64::from(query.size),
        }
        let place = choice.ok_or(query.size);
        self.places.insert(job, place);
        self.hash = self.hash.wrapping_add(hash_of(job, place));
    }

    fn end(&mut self, job: u64) {
        let Some(place) = self.places.remove(&job) else { return };
        self.hash = self.hash.wrapping_sub(hash_of(job, place));
        let place = match place {
            Ok(place) => place,
            Err(size) => return self.missing -= u64::from(size),
        };
        self.ties.finish(place);
        if !self.leaving.is_empty() {
            let mask = self.ties.torus().placements()[place[0]].mask(place[1]);
            let cells: Vec<u32> = cells_of(mask).filter(|&c| self.leaving.contains(c)).collect();
            cells.iter().for_each(|&cell| self.leaving.remove(cell));
            self.ties.withdraw(cells, self.are_walls);
        }
    }
}

/// Returns a hash of a running job and its box.
fn hash_of(job: u64, place: Place) -> u64 {
    let mut hasher = DefaultHasher::new();
    (job, place).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
