//! MC1x1 with a tie vector that is tuned during the replay. The slack can be tuned too. Johnson, Bunde, Leung mention
//! tuning of the tie vector as future work.
//!
//! In addition to the real machine, there are several *shadow* machines. All machines receive the same requests and
//! releases; each shadow is served by MC1x1 with its own tie vector. After every [`TuneOptions::every`] requests, the
//! losses of the shadows are added to a map of all vectors. The loss of a shadow is the sum of the pairwise L1 of its
//! jobs, minus a part that is common to all shadows. Older observations decay ([`TuneOptions::memory`]). The real
//! machine then continues with the vector that has the smallest expected loss. One shadow continues with another vector
//! that is promising or unknown; a different shadow is selected each time.
//!
//! A choice depends on the seed and on earlier requests and releases, but not on later events. MC1x1 with any vector
//! serves every request if enough processors are free, so the same jobs run on all shadows and on the real machine.
//! When processors of the real machine go out of service, a shadow may still run a job on some of these processors. If
//! a shadow still runs a job on processors that are out of service on the real machine, these processors go out of
//! service on the shadow when the job ends.
//!
//! Shadows are replayed in [one batch](super::batch). The real machine shares decisions with a shadow in the same
//! state.
//!
//! Cost in time and memory: the cost of MC1x1 for every shadow and for the real machine, minus the shared decisions.
//! The map costs less than one shadow.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::batch::{BatchReplay, ExternalQuery};
use super::definition::CentreOptions;
use super::mc1x1::Mc1x1;
use super::tie_vector::{Slack, TieConfig, TieVector};
use crate::allocator::explain::{self, ExplanationLog};
use crate::allocator::loss_model::DecayingLossModel;
use crate::allocator::{Allocator, Capabilities, MachineEvent, Refusal, Request, RunSetup, Stats};
use crate::cancel::CancelToken;
use crate::machine::Machine;
use crate::topology::{Grid, NodeId};

/// Options for tuning a tie vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TuneOptions {
    /// Number of shadow machines, at least one.
    pub shadows: u32,
    /// Number of requests between two evaluations of the shadows, at least one.
    pub every: u32,
    /// Number of requests after which the weight of an observation has decayed to 1/e.
    pub memory: u32,
    /// Whether the slack is tuned too.
    pub slack: bool,
}

impl Default for TuneOptions {
    fn default() -> Self {
        Self { shadows: 24, every: 256, memory: 65536, slack: false }
    }
}

/// The MC1x1 allocator with a self-tuning tie vector.
#[derive(Debug)]
pub struct TunedMc1x1 {
    grid: Grid,
    options: CentreOptions,
    tuning: TuneOptions,
    seed: u64,
    rng: ChaCha8Rng,
    map: Map,
    /// Shadow machines; `None` before the first request.
    shadows: Option<Shadows>,
    /// Index of the next shadow whose vector is changed.
    next: usize,
    /// Point of the map that the real machine uses.
    best: usize,
    /// MC1x1 with the vector at `best`.
    engine: Mc1x1,
    /// Number of requests since the last evaluation of the shadows.
    since: u32,
    /// Slots of the running jobs, by the first processor of each job on the real machine.
    slots: Vec<u32>,
    spare: Vec<u32>,
    slots_made: u32,
    stop: CancelToken,
    explanation: ExplanationLog,
    count_ties: bool,
    /// Number of tied sets of the last request.
    tied: Option<u32>,
}

/// The shadow machines.
#[derive(Debug)]
struct Shadows {
    /// For each shadow, its point of the map.
    points: Vec<usize>,
    /// For each shadow, the sum of the pairwise L1 of all jobs started since the last evaluation.
    losses: Vec<u64>,
    batch: BatchReplay,
}

impl TunedMc1x1 {
    /// Creates an allocator for `grid`. The vector in `options` is ignored. If the slack is tuned, the slack in
    /// `options` is ignored.
    pub fn new(grid: &Grid, options: CentreOptions, tuning: TuneOptions, seed: u64) -> Self {
        let mut tuned = Self {
            rng: ChaCha8Rng::seed_from_u64(seed),
            map: Map::new(grid, (!tuning.slack).then_some(options.slack)),
            shadows: None,
            next: 0,
            best: 0,
            engine: Mc1x1::new(grid, options),
            since: 0,
            slots: vec![0; grid.processors()],
            spare: Vec::new(),
            slots_made: 0,
            grid: grid.clone(),
            options,
            tuning,
            seed,
            stop: CancelToken::new(),
            explanation: ExplanationLog::default(),
            count_ties: false,
            tied: None,
        };
        tuned.best = tuned.map.draw(&mut tuned.rng);
        tuned.engine = tuned.engine_at(tuned.best);
        tuned
    }

    fn options_at(&self, point: usize) -> CentreOptions {
        let (vector, slack) = self.map.rule(point);
        CentreOptions { tie: Some(vector), slack, ..self.options }
    }

    fn engine_at(&self, point: usize) -> Mc1x1 {
        let mut engine = Mc1x1::new(&self.grid, self.options_at(point));
        engine.attach(&self.explanation, &self.stop);
        engine
    }

    fn ties_at(&self, point: usize) -> TieConfig {
        let (vector, slack) = self.map.rule(point);
        TieConfig::new(Some(vector), slack)
    }

    /// Creates shadows of `machine`, on which no job runs.
    fn create_shadows(&mut self, machine: &Machine) -> Shadows {
        let points: Vec<usize> =
            (0..self.tuning.shadows).map(|_| self.map.draw(&mut self.rng)).collect();
        let configs = points.iter().map(|&point| self.ties_at(point)).collect();
        let real = self.ties_at(self.best);
        let batch = BatchReplay::adaptive(machine, &self.grid, self.options, configs, real);
        Shadows { losses: vec![0; points.len()], points, batch }
    }

    /// Evaluates the shadows: adds their losses to the map, chooses the best point, and moves one shadow to another
    /// point.
    fn tune(&mut self, shadows: &mut Shadows) {
        let (requests, memory) = (f64::from(self.tuning.every), f64::from(self.tuning.memory));
        let losses = shadows.losses.iter_mut().map(std::mem::take);
        let observed: Vec<_> =
            shadows.points.iter().copied().zip(losses.map(|loss| loss as f64)).collect();
        self.map.learn(&observed, requests, memory);
        let best = self.map.best();
        if best != self.best {
            self.best = best;
            self.engine = self.engine_at(best);
            shadows.batch.set_external(self.ties_at(best));
        }
        let point = self.map.draw(&mut self.rng);
        if let Some(moved) = shadows.points.get_mut(self.next) {
            *moved = point;
            shadows.batch.set_config(self.next as u32, self.ties_at(point));
        }
        self.next = (self.next + 1) % shadows.points.len().max(1);
    }

    /// Serves a request on the real machine and on the shadows.
    fn serve(
        &mut self,
        machine: &Machine,
        request: Request,
        shadows: &mut Shadows,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        if self.since >= self.tuning.every {
            self.tune(shadows);
            self.since = 0;
        }
        self.explanation.sentence(|| {
            let (vector, slack) = self.map.rule(self.best);
            let since = explain::count(self.since as usize, "request");
            let shadows = explain::count(shadows.points.len(), "shadow machine");
            format!(
                "the vector with the least expected loss on {shadows} so far is {vector}, with a slack of {}; it was chosen {since} ago",
                slack.share()
            )
        });
        // The engine explains decisions, and handles requests for all free processors or more.
        let settled = request.size as usize >= machine.free_count();
        let shared = if settled || self.explanation.is_recording() {
            None
        } else {
            shadows.batch.find(machine)
        };
        if shared.is_none() {
            self.engine.allocate(machine, request, chosen)?;
            if chosen.is_empty() {
                return Ok(());
            }
        }
        let slot = self.spare.pop().unwrap_or_else(|| {
            self.slots_made += 1;
            self.slots_made - 1
        });
        let external = shared.map(|occupancy| ExternalQuery { occupancy, chosen });
        shadows.start(slot as usize, request, &self.stop, external)?;
        if let Some(first) = chosen.first() {
            self.slots[first.index()] = slot;
        }
        self.since += 1;
        Ok(())
    }
}

impl Shadows {
    /// Serves a request for the job in `slot` on all shadows. A shadow with too few free processors is skipped; this
    /// happens only if the caller does not occupy the chosen processors.
    ///
    /// # Errors
    /// [`Refusal::Cancelled`] if `stop` is cancelled.
    fn start(
        &mut self,
        slot: usize,
        request: Request,
        stop: &CancelToken,
        external: Option<ExternalQuery<'_>>,
    ) -> Result<(), Refusal> {
        stop.check()?;
        let Self { batch, losses, .. } = self;
        let started = batch.start(slot, request.size, stop, external, &mut |placement| {
            for &mut shadow in placement.configs {
                losses[shadow as usize] += placement.pairwise_l1;
            }
        });
        match started {
            Err(Refusal::TooFewFree) => Ok(()),
            other => other,
        }
    }
}

impl Allocator for TunedMc1x1 {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        *self = Self::new(&self.grid, self.options, self.tuning, self.seed);
        (self.explanation, self.stop) = (setup.explanation.clone(), setup.stop.clone());
        self.count_ties = setup.count_ties;
        // The shadows record no explanations.
        self.engine.attach(&self.explanation, &self.stop);
        Ok(())
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        if self.count_ties {
            self.tied = self.engine.tied_sets(machine, request);
        }
        let mut shadows = match self.shadows.take() {
            Some(shadows) => shadows,
            None => self.create_shadows(machine),
        };
        let served = self.serve(machine, request, &mut shadows, chosen);
        self.shadows = Some(shadows);
        served
    }

    fn on_event(&mut self, _machine: &Machine, event: MachineEvent<'_>) {
        match event {
            MachineEvent::Released(nodes) => {
                let Some(first) = nodes.first() else { return };
                let slot = self.slots[first.index()];
                self.shadows.iter_mut().for_each(|shadows| shadows.batch.end(slot as usize));
                self.spare.push(slot);
            }
            MachineEvent::NodesDown(nodes) => {
                self.shadows.iter_mut().for_each(|shadows| shadows.batch.withdraw(nodes));
            }
            MachineEvent::NodesUp(nodes) => {
                self.shadows.iter_mut().for_each(|shadows| shadows.batch.restore(nodes));
            }
            _ => {}
        }
    }

    fn capabilities(&self) -> Capabilities {
        // The shadows are separate machines. Processors that leave the real machine leave the shadows too.
        let supports_outages = true;
        Capabilities { supports_outages, counts_ties: true, ..Capabilities::default() }
    }

    fn stats(&self) -> Stats {
        Stats { tied_sets: self.tied, ..Stats::default() }
    }
}

/// Sum of the three weights.
const PARTS: i32 = 12;

/// Width of the kernel along each weight, as a fraction of the sum of weights.
const SHARE_WIDTH: f64 = 0.2;

/// Width of the kernel along the scan radius, in doublings of the radius.
const RADIUS_WIDTH: f64 = 1.0;

/// Values of the tuned slack; consecutive values are one step apart. Differences between values
/// increase, because the number of admitted scores increases with the slack.
const SLACKS: [&str; 6] = ["0", "0.025", "0.05", "0.1", "0.2", "0.4"];

/// Width of the kernel along the slack, in steps.
const SLACK_WIDTH: f64 = 1.0;

/// Map of the space of tie vectors and slacks. For each point, the map contains the expected loss per request, up to a
/// constant that is common to all points.
///
/// Vectors whose weights have the same ratios define the same strategy, so the map contains only vectors whose three
/// weights sum to `PARTS`. The map has one point for every combination of three weights with the fixed sum, a scan
/// radius from a geometric sequence, and a slack.
///
/// Cost per observation: one kernel value for each point; there are a few hundred points.
#[derive(Clone, Debug)]
struct Map {
    points: Vec<Point>,
    losses: DecayingLossModel,
}

/// Tie vector and slack.
#[derive(Clone, Copy, Debug)]
struct Point {
    vector: TieVector,
    slack: Slack,
    /// Index of the slack among the tuned values.
    step: u32,
}

impl Map {
    /// Creates an empty map for `grid`. Scan radii are at most half the longest side of the grid, because a larger
    /// radius around the middle of the machine covers all of it. All points have the slack `fixed`; with `None` the
    /// slack is tuned too.
    fn new(grid: &Grid, fixed: Option<Slack>) -> Self {
        let longest = grid.axes().iter().map(|axis| u32::from(axis.extent)).max().unwrap_or(1);
        let radii = std::iter::successors(Some(1u32), |r| Some((r * 4 / 3).max(r + 1)));
        let radii: Vec<u32> = radii.take_while(|&r| r <= (longest / 2).max(1)).collect();
        let slacks = match fixed {
            Some(slack) => vec![slack],
            // A test checks that the table parses.
            None => SLACKS.iter().filter_map(|text| text.parse().ok()).collect(),
        };
        let mut points = Vec::new();
        for (slack, step) in slacks.into_iter().zip(0..) {
            for &scan_radius in &radii {
                for available in 0..=PARTS {
                    for wall in 0..=PARTS - available {
                        let border = PARTS - available - wall;
                        let vector = TieVector { scan_radius, available, wall, border };
                        points.push(Point { vector, slack, step });
                    }
                }
            }
        }
        Self { losses: DecayingLossModel::new(points.len()), points }
    }

    /// Returns the vector and the slack at a point.
    fn rule(&self, point: usize) -> (TieVector, Slack) {
        (self.points[point].vector, self.points[point].slack)
    }

    /// Adds the losses of shadows over the same requests. Each loss is added at the point of its
    /// shadow. Older observations decay; `memory` is the time constant in requests.
    fn learn(&mut self, observed: &[(usize, f64)], requests: f64, memory: f64) {
        let Self { points, losses } = self;
        losses.learn(observed, requests, memory, |from, to| points[from].distance(&points[to]));
    }

    /// Returns the point with the smallest expected loss.
    fn best(&self) -> usize {
        self.losses.best()
    }

    /// Returns a point to observe next.
    fn draw(&self, rng: &mut ChaCha8Rng) -> usize {
        self.losses.draw(rng)
    }
}

impl Point {
    /// Returns the squared distance between two points; each coordinate is measured in widths of the kernel.
    fn distance(&self, other: &Point) -> f64 {
        let (at, vector) = (self.vector, other.vector);
        let doublings =
            (f64::from(vector.scan_radius) / f64::from(at.scan_radius)).log2() / RADIUS_WIDTH;
        let steps = f64::from(other.step.abs_diff(self.step)) / SLACK_WIDTH;
        let share = |a: i32, b: i32| f64::from(a - b) / f64::from(PARTS) / SHARE_WIDTH;
        doublings.powi(2)
            + steps.powi(2)
            + share(vector.available, at.available).powi(2)
            + share(vector.wall, at.wall).powi(2)
            + share(vector.border, at.border).powi(2)
    }
}

#[cfg(test)]
mod tests;
