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
//! A choice depends on the seed and on earlier events, but not on later events. Events are the calls that the strategy
//! receives: a refusal that the engine derives from an earlier refusal is not observed. A shadow never starts a job
//! before the real machine starts it, because the end of the job would not be known.
//!
//! Cost in time and memory: each shadow costs as much as the real machine.

use std::collections::HashMap;
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
    /// Time of the latest request.
    now: u64,
    /// Jobs that ended after the latest request.
    ended: Vec<u64>,
    /// The first size that has been refused since a job last ended.
    head: Option<u32>,
}

/// A shadow machine.
#[derive(Clone, Debug)]
struct Shadow {
    point: usize,
    ties: Ties,
    /// Box of each running job, or the size of the job if it found no box.
    places: HashMap<u64, Result<[usize; 2], u32>>,
    /// Total number of processors of the running jobs that found no box.
    missing: u64,
    /// Whether no box of the first refused size is free.
    has_no_box: bool,
    loss: f64,
    /// Cells that go out of service when their jobs end.
    leaving: Cells,
    /// Whether cells out of service count as walls of their neighbours.
    are_walls: bool,
}

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
            now: 0,
            ended: Vec::new(),
            head: None,
            points,
        };
        for _ in 0..tuning.shadows {
            let point = tuner.explorer.draw();
            tuner.shadows.push(Shadow::new(ties, point));
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
        let (shadows, ended) = (Vec::new(), Vec::new());
        Self { points, explorer, layout, decider, shadows, ended, ..*self }
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
            for shadow in &mut self.shadows {
                shadow.loss += elapsed * shadow.losing(self.head) as f64;
            }
        }
        if !self.ended.is_empty() {
            for job in std::mem::take(&mut self.ended) {
                self.shadows.iter_mut().for_each(|shadow| shadow.end(job));
            }
            self.forget_head();
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
            for shadow in &mut self.shadows {
                shadow.has_no_box = shadow.ties.first(size).is_none();
            }
        }
    }

    /// Starts a job on the shadows; `end` is its estimated end. After cancellation, some shadows are skipped.
    pub fn start(&mut self, job: u64, query: &TieQuery<'_>, end: u64, stop: &CancelToken) {
        let Self { shadows, points, layout, decider, .. } = self;
        for shadow in shadows.iter_mut().take_while(|_| !stop.is_raised()) {
            let selection_rule = points[shadow.point].rule;
            let pick = selection_rule.place(layout, decider, &mut shadow.ties, query);
            shadow.start(job, query, end, pick.map(|pick| [pick.placement, pick.anchor]));
        }
        if self.head == Some(query.size) {
            self.forget_head();
        }
        self.explorer.since += 1;
    }

    /// Records the end of a job.
    pub fn end(&mut self, job: u64) {
        self.ended.push(job);
    }

    /// Takes cells out of service. From now on, the withdrawn cells do not count in losses.
    pub fn withdraw(&mut self, cells: &[u32], are_walls: bool) {
        for shadow in &mut self.shadows {
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
        for shadow in &mut self.shadows {
            let (leaving, down): (Vec<u32>, Vec<u32>) =
                cells.iter().partition(|&&cell| shadow.leaving.contains(cell));
            leaving.into_iter().for_each(|cell| shadow.leaving.remove(cell));
            shadow.ties.restore(down);
        }
        self.forget_head();
    }

    fn forget_head(&mut self) {
        self.head = None;
        self.shadows.iter_mut().for_each(|shadow| shadow.has_no_box = false);
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

impl Shadow {
    fn new(ties: &Ties, point: usize) -> Self {
        let cells = ties.torus().cells();
        Self {
            point,
            ties: ties.without_cache(),
            places: HashMap::new(),
            missing: 0,
            has_no_box: false,
            loss: 0.0,
            leaving: Cells::none(cells),
            are_walls: false,
        }
    }

    /// Returns the number of processors that the shadow currently loses. `head` is the first refused size.
    fn losing(&mut self, head: Option<u32>) -> u64 {
        let free = u64::from(self.ties.open().count());
        let stuck = head.is_some_and(|size| self.has_no_box && free >= u64::from(size));
        self.missing + if stuck { free } else { 0 }
    }

    fn start(&mut self, job: u64, query: &TieQuery<'_>, end: u64, place: Option<[usize; 2]>) {
        match place {
            Some(place) => self.ties.start(place, end, query.has_estimate),
            None => self.missing += u64::from(query.size),
        }
        self.places.insert(job, place.ok_or(query.size));
    }

    fn end(&mut self, job: u64) {
        let place = match self.places.remove(&job) {
            Some(Ok(place)) => place,
            Some(Err(size)) => return self.missing -= u64::from(size),
            None => return,
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

#[cfg(test)]
mod tests;
