//! MC1x1 with a tie vector that is tuned during the replay. The slack can be tuned too. Johnson, Bunde, Leung mention
//! this tuning as future work.
//!
//! In addition to the real machine there are several *shadow* machines. All machines receive the same requests and
//! releases; each shadow is served by MC1x1 with its own tie vector. After every [`TuneOptions::every`] requests, the
//! losses of the shadows are added to a map of all vectors. The loss of a shadow is its pairwise L1, relative to the
//! common part of all shadows. Older observations decay ([`TuneOptions::memory`]). The real machine then continues with
//! the vector that has the smallest expected loss. One shadow continues with another vector that is promising or
//! unknown; a different shadow is selected each time.
//!
//! A choice depends on the seed and on earlier requests and releases, but not on later events. MC1x1 with any vector
//! serves every request if enough processors are free, so the same jobs run on all shadows and on the real machine.
//! When processors of the real machine go out of service, a shadow may still run a job on some of these processors. On
//! this shadow they go out of service when the job ends.
//!
//! Shadows are replayed in [one batch](super::batch). The real machine shares decisions with a shadow in the same
//! state.
//!
//! Cost in time and memory: the cost of MC1x1 for every shadow and for the real machine, minus the shared decisions.
//! The map costs less than one shadow.

mod map;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::batch::{BatchReplay, ExternalQuery};
use super::definition::CentreOptions;
use super::mc1x1::Mc1x1;
use super::tie::TieConfig;
use crate::allocator::explain::{self, ExplanationLog};
use crate::allocator::{Allocator, Capabilities, MachineEvent, Refusal, Request, RunSetup, Stats};
use crate::cancel::CancelToken;
use crate::machine::Machine;
use crate::topology::{Grid, NodeId};
use map::Map;

/// Options of the tuning of a tie vector.
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
    /// Point of the map of each shadow.
    points: Vec<usize>,
    /// Sum of the pairwise L1 of all jobs started since the last evaluation, by shadow.
    losses: Vec<u64>,
    batch: BatchReplay,
}

impl TunedMc1x1 {
    /// Creates an allocator for `grid`. The vector in `options` is ignored. The slack in `options` is ignored if it is
    /// tuned.
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
                "on {shadows}, the vector of least expected loss so far is {vector} with a slack of {}; it was chosen {since} ago",
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

#[cfg(test)]
mod tests;
