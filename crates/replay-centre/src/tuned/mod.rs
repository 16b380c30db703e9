//! MC1x1 with a tie vector that is tuned during the replay. The slack can be tuned too. Johnson, Bunde, Leung mention
//! tuning of the tie vector as future work.
//!
//! In addition to the real machine, there are several *shadow* machines. All machines receive the same requests and
//! releases; each shadow is served by MC1x1 with its own tie vector. After every [`Tuning::every`] requests, the losses
//! of the shadows are added to a [model](replay_engine::allocator::loss_model) of all vectors. The loss of a shadow is the sum
//! of the pairwise L1 of its jobs, minus a part that is common to all shadows. Older observations decay
//! ([`Tuning::memory`]). After this update of the map, the real machine continues with the vector that has the smallest
//! expected loss. One shadow continues with another vector that is promising or unknown; a different shadow is selected
//! each time.
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
//! The model costs less than one shadow.

use crate::batch::{BatchReplay, ExternalQuery};
use crate::definition::CentreOptions;
use crate::mc1x1::Mc1x1;
use replay_engine::allocator::explain::ExplanationLog;
use replay_engine::allocator::loss_model::{Explorer, Tuning};
use replay_engine::allocator::ties::{Slack, TieConfig, TieVector};
use replay_engine::allocator::{
    Allocator, Batch, Capabilities, MachineEvent, Refusal, Request, RunSetup, Stats,
};
use replay_engine::cancel::CancelToken;
use replay_engine::machine::Machine;
use replay_engine::number::counted;
use replay_engine::topology::{Grid, NodeId};

/// The options by default. Steps are requests.
pub const DEFAULT_TUNING: Tuning = Tuning { shadows: 24, every: 256, memory: 65536 };

/// The MC1x1 allocator with a self-tuning tie vector.
#[derive(Debug)]
pub struct TunedMc1x1 {
    grid: Grid,
    options: CentreOptions,
    /// Whether the slack is tuned too.
    tunes_slack: bool,
    seed: u64,
    points: Vec<Point>,
    explorer: Explorer,
    /// Shadow machines; `None` before the first request.
    shadows: Option<Shadows>,
    /// Point that the real machine uses.
    best: usize,
    /// MC1x1 with the vector at `best`.
    engine: Mc1x1,
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
    /// For each shadow, its point.
    points: Vec<usize>,
    /// For each shadow, the sum of the pairwise L1 of all jobs started since the last evaluation.
    losses: Vec<u64>,
    batch: BatchReplay,
}

impl TunedMc1x1 {
    /// Creates an allocator for `grid`. The vector in `options` is ignored. If `tunes_slack` is set, the slack in
    /// `options` is ignored too.
    pub fn new(
        grid: &Grid,
        options: CentreOptions,
        tuning: Tuning,
        tunes_slack: bool,
        seed: u64,
    ) -> Self {
        let points = points(grid, (!tunes_slack).then_some(options.slack));
        let mut tuned = Self {
            explorer: Explorer::new(points.len(), tuning, seed),
            points,
            shadows: None,
            best: 0,
            engine: Mc1x1::new(grid, options),
            slots: vec![0; grid.processors()],
            spare: Vec::new(),
            slots_made: 0,
            grid: grid.clone(),
            options,
            tunes_slack,
            seed,
            stop: CancelToken::new(),
            explanation: ExplanationLog::default(),
            count_ties: false,
            tied: None,
        };
        tuned.best = tuned.explorer.draw();
        tuned.engine = tuned.engine_at(tuned.best);
        tuned
    }

    fn engine_at(&self, point: usize) -> Mc1x1 {
        let Point { vector, slack, .. } = self.points[point];
        let options = CentreOptions { tie: Some(vector), slack, ..self.options };
        let mut engine = Mc1x1::new(&self.grid, options);
        engine.attach(&self.explanation, &self.stop);
        engine
    }

    fn ties_at(&self, point: usize) -> TieConfig {
        TieConfig::new(Some(self.points[point].vector), self.points[point].slack)
    }

    /// Creates shadows of `machine`, on which no job runs.
    fn create_shadows(&mut self, machine: &Machine) -> Shadows {
        let points: Vec<usize> =
            (0..self.explorer.tuning.shadows).map(|_| self.explorer.draw()).collect();
        let configs = points.iter().map(|&point| self.ties_at(point)).collect();
        let real = self.ties_at(self.best);
        let batch = BatchReplay::adaptive(machine, &self.grid, self.options, configs, real);
        Shadows { losses: vec![0; points.len()], points, batch }
    }

    /// Evaluates the shadows: adds their losses to the model, chooses the best point, and moves one shadow to another
    /// point.
    fn tune(&mut self, shadows: &mut Shadows) {
        let losses = shadows.losses.iter_mut().map(std::mem::take);
        let observed: Vec<_> =
            shadows.points.iter().copied().zip(losses.map(|loss| loss as f64)).collect();
        let Self { points, explorer, .. } = self;
        let distance = |from: usize, to: usize| points[from].distance(&points[to]);
        let (moved, point) = explorer.evaluate(&observed, distance);
        let best = explorer.best;
        if best != self.best {
            self.best = best;
            self.engine = self.engine_at(best);
            shadows.batch.set_external(self.ties_at(best));
        }
        if let Some(shadow) = shadows.points.get_mut(moved) {
            *shadow = point;
            shadows.batch.set_config(moved as u32, self.ties_at(point));
        }
    }

    /// Serves a request on the real machine and on the shadows.
    fn serve(
        &mut self,
        machine: &Machine,
        request: Request,
        shadows: &mut Shadows,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        if self.explorer.is_due() {
            self.tune(shadows);
        }
        self.explanation.sentence(|| {
            let Point { vector, slack, .. } = self.points[self.best];
            let since = counted(self.explorer.since as u64, "request");
            let shadows = counted(shadows.points.len() as u64, "shadow machine");
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
        self.explorer.since += 1;
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
        let started = batch.start_with(slot, request.size, stop, external, &mut |placement| {
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
        let (tuning, tunes_slack) = (self.explorer.tuning, self.tunes_slack);
        *self = Self::new(&self.grid, self.options, tuning, tunes_slack, self.seed);
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
        // The shadows are separate machines. Processors that go out of service on the real machine also go out of
        // service on the shadows.
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

/// Tie vector and slack.
#[derive(Clone, Copy, Debug)]
struct Point {
    vector: TieVector,
    slack: Slack,
    /// Index of the slack among the tuned values.
    step: u32,
}

/// Returns the points for `grid`: every combination of three weights whose sum is `PARTS`, a scan radius from a
/// geometric sequence, and a slack. Vectors whose weights have the same ratios define the same strategy, so one sum
/// suffices. There are a few hundred points.
///
/// Scan radii are at most half the longest side of the grid, because a larger radius around the middle of the machine
/// covers the whole machine. All points have the slack `fixed`; with `None` the slack is tuned too.
fn points(grid: &Grid, fixed: Option<Slack>) -> Vec<Point> {
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
    points
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
