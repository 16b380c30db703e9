//! A rule of placement that tunes itself during a replay, as that of [MC1x1](crate::allocator::centre)
//! does.
//!
//! Beside the real machine some *shadow* machines see the same jobs start and end, each of them placed by
//! a [way](super::ways) of its own. What a shadow loses is processor-time: its free processors while the job that
//! was refused first has enough of them there but no box, and the processors of jobs that run on the real
//! machine and found no box on it. Every so many starts a map of all ways takes in what each shadow
//! lost more or less than the others, the past fades, the real machine goes on with the way of least
//! expected loss, and one shadow, each in its turn, with another way.
//!
//! A choice depends on the seed and on what came before it, on nothing that is still to come: a shadow
//! starts no job before the real machine does, for nobody could say when it would end.
//!
//! Cost: that of a decision for every shadow and once more for the real machine, in time and memory.

use std::collections::HashMap;
use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::selection_rules::{Point, SelectionRule, points};
use crate::allocator::loss_model::DecayingLossModel;
use crate::cancel::CancelToken;
use crate::placement::Layout;
use crate::placement::decide::{Decider, Pick, Query};
use crate::placement::ties::{CandidateFilter, TieQuery, Ties};
use crate::placement::torus::{Cells, cells_of};

/// How a way is tuned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tuning {
    /// Shadow machines, at least one.
    pub shadows: u32,
    /// Starts from one look at the shadows to the next, at least one.
    pub every: u32,
    /// Starts after which what was observed counts 1/e.
    pub memory: u32,
}

impl Default for Tuning {
    fn default() -> Self {
        Self { shadows: 16, every: 64, memory: 16_384 }
    }
}

/// What chooses a way by the past.
#[derive(Clone, Debug)]
pub struct Tuner {
    filter: Option<CandidateFilter>,
    tuning: Tuning,
    seed: u64,
    rng: ChaCha8Rng,
    ways: Arc<[Point]>,
    past: DecayingLossModel,
    layout: Arc<Layout>,
    decider: Decider,
    shadows: Vec<Shadow>,
    /// The shadow that changes its way next.
    next: usize,
    best: usize,
    /// Starts since the last look at the shadows.
    since: u32,
    /// The time of the latest request, and jobs that ended after it.
    now: u64,
    ended: Vec<u64>,
    /// The size that was refused first since a job ended.
    head: Option<u32>,
}

/// A machine beside the real one.
#[derive(Clone, Debug)]
struct Shadow {
    point: usize,
    ties: Ties,
    /// By running job: its place, or its size if it found none.
    places: HashMap<u64, Result<[usize; 2], u32>>,
    /// Processors of jobs that found none.
    missing: u64,
    /// Whether no box of the size that was refused first is free.
    has_no_box: bool,
    loss: f64,
    /// Cells that go out of service when their jobs end.
    leaving: Cells,
    /// Whether cells out of service are walls to their neighbours.
    are_walls: bool,
}

impl SelectionRule {
    /// The place for a job, whose question says all but how to choose. Of a machine that is one torus.
    pub fn place(
        self,
        layout: &Layout,
        decider: &Decider,
        ties: &mut Ties,
        question: &TieQuery<'_>,
    ) -> Option<Pick> {
        match self {
            Self::Slurm => {
                let ask = Query { size: question.size, required: None, weights: None };
                decider.decide(layout, std::slice::from_mut(ties.open()), &ask)
            }
            Self::Terms(weights, filter) => ties.decide(&TieQuery { weights, filter, ..*question }),
        }
    }
}

impl Tuner {
    /// For a machine that is one idle torus or mesh; of all shapes or slacks, if `rivals` does not say which.
    pub fn new(
        ties: &Ties,
        layout: Arc<Layout>,
        filter: Option<CandidateFilter>,
        tuning: Tuning,
        seed: u64,
    ) -> Self {
        let ways: Arc<[Point]> = points(ties.has_walls(), filter).into();
        let mut tuner = Self {
            filter,
            tuning,
            seed,
            rng: ChaCha8Rng::seed_from_u64(seed),
            past: DecayingLossModel::new(ways.len()),
            decider: Decider::new(&layout),
            layout,
            shadows: Vec::new(),
            next: 0,
            best: 0,
            since: 0,
            now: 0,
            ended: Vec::new(),
            head: None,
            ways,
        };
        for _ in 0..tuning.shadows {
            let point = tuner.past.draw(&mut tuner.rng);
            tuner.shadows.push(Shadow::new(ties, point));
        }
        tuner
    }

    /// The same on the same machine, now idle, with nothing learned.
    pub fn again(self, ties: &Ties) -> Self {
        Self::new(ties, self.layout, self.filter, self.tuning, self.seed)
    }

    /// One that goes on with the way of least expected loss and learns no more.
    pub fn settled(&self) -> Self {
        let (ways, past) = (self.ways.clone(), DecayingLossModel::new(0));
        let (layout, decider) = (self.layout.clone(), self.decider.clone());
        let (rng, tuning) = (self.rng.clone(), Tuning { every: u32::MAX, ..self.tuning });
        let (shadows, ended) = (Vec::new(), Vec::new());
        Self { ways, past, layout, decider, rng, tuning, shadows, ended, ..*self }
    }

    /// The place for a job on the real machine.
    pub fn place(&self, ties: &mut Ties, question: &TieQuery<'_>) -> Option<Pick> {
        self.way().place(&self.layout, &self.decider, ties, question)
    }

    /// The way of least expected loss; Slurm's rule as long as nothing is known.
    pub fn way(&self) -> SelectionRule {
        self.ways[self.best].way
    }

    /// How many shadows there are, and how many jobs started since they were last looked at.
    pub fn told(&self) -> [usize; 2] {
        [self.shadows.len(), self.since as usize]
    }

    /// A request is made at this time.
    pub fn ask(&mut self, now: u64) {
        let passed = now.saturating_sub(self.now) as f64;
        self.now = self.now.max(now);
        if passed > 0.0 {
            for shadow in &mut self.shadows {
                shadow.loss += passed * shadow.losing(self.head) as f64;
            }
        }
        if !self.ended.is_empty() {
            for job in std::mem::take(&mut self.ended) {
                self.shadows.iter_mut().for_each(|shadow| shadow.end(job));
            }
            self.forget_head();
        }
        if self.since >= self.tuning.every {
            self.tune();
            self.since = 0;
        }
    }

    /// The request that was [made](Self::ask) is refused.
    pub fn refused(&mut self, size: u32) {
        if self.head.is_none() {
            self.head = Some(size);
            for shadow in &mut self.shadows {
                shadow.has_no_box = shadow.ties.first(size).is_none();
            }
        }
    }

    /// It is served: a job starts that will end then by its estimate. With `stop` raised not in all shadows.
    pub fn start(&mut self, job: u64, question: &TieQuery<'_>, end: u64, stop: &CancelToken) {
        let Self { shadows, ways, layout, decider, .. } = self;
        for shadow in shadows.iter_mut().take_while(|_| !stop.is_raised()) {
            let way = ways[shadow.point].way;
            let pick = way.place(layout, decider, &mut shadow.ties, question);
            shadow.start(job, question, end, pick.map(|pick| [pick.placement, pick.anchor]));
        }
        if self.head == Some(question.size) {
            self.forget_head();
        }
        self.since += 1;
    }

    /// A job ends.
    pub fn end(&mut self, job: u64) {
        self.ended.push(job);
    }

    /// Cells go out of service; nothing that is still to come counts them.
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

    /// They are back.
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

    /// Looks at the shadows: learns, chooses, and moves one of them.
    fn tune(&mut self) {
        let Self { ways, past, shadows, tuning, .. } = self;
        let look = |shadow: &mut Shadow| (shadow.point, std::mem::take(&mut shadow.loss));
        let lost: Vec<(usize, f64)> = shadows.iter_mut().map(look).collect();
        let distance = |from: usize, to: usize| ways[from].distance(&ways[to]);
        past.learn(&lost, f64::from(tuning.every), f64::from(tuning.memory), distance);
        self.best = past.best();
        let point = past.draw(&mut self.rng);
        if let Some(shadow) = shadows.get_mut(self.next) {
            shadow.point = point;
        }
        self.next = (self.next + 1) % shadows.len().max(1);
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

    /// Processors that it loses as it stands, where this size was refused first.
    fn losing(&mut self, head: Option<u32>) -> u64 {
        let free = u64::from(self.ties.open().count());
        let stuck = head.is_some_and(|size| self.has_no_box && free >= u64::from(size));
        self.missing + if stuck { free } else { 0 }
    }

    fn start(&mut self, job: u64, question: &TieQuery<'_>, end: u64, place: Option<[usize; 2]>) {
        match place {
            Some(place) => self.ties.start(place, end, question.has_estimate),
            None => self.missing += u64::from(question.size),
        }
        self.places.insert(job, place.ok_or(question.size));
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
