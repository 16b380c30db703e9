//! MC1x1 whose tie vector, and optionally slack, are tuned during the replay, which Johnson, Bunde, Leung name as future
//! work.
//!
//! Beside the real machine some *shadow* machines see the same requests and releases,
//! each served by MC1x1 with a tie vector of its own. Every [`TuneOptions::every`] requests
//! a map of all vectors learns by how much each shadow's pairwise L1 was above or below what the shadows had in common;
//! older observations decay ([`TuneOptions::memory`]). Then the real machine continues with the vector of least
//! expected loss, and one shadow, each in its turn, with a vector that is promising or unknown.
//!
//! A choice depends on the seed and on the requests and releases before it, not on later ones. MC1x1 serves every request
//! that finds enough free processors, whatever its vector: all shadows stay in step with the real machine. Of processors
//! that leave the real machine a shadow may have a job on some; they leave it when that job ends.
//!
//! Shadows are [one batch](super::batch), and the real machine decides with them where a shadow has the same free processors.
//!
//! Cost: that of MC1x1 for every shadow and once more for the real machine, in time and
//! memory, less what they share; the map adds less than one of them.

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

/// How the tie vector is tuned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TuneOptions {
    /// Shadow machines, at least one.
    pub shadows: u32,
    /// Requests from one look at the shadows to the next, at least one.
    pub every: u32,
    /// Requests after which what was observed counts 1/e.
    pub memory: u32,
    /// Whether the slack is tuned, too.
    pub slack: bool,
}

impl Default for TuneOptions {
    fn default() -> Self {
        Self { shadows: 24, every: 256, memory: 65536, slack: false }
    }
}

/// The MC1x1 allocator that tunes its tie vector itself.
#[derive(Debug)]
pub struct TunedMc1x1 {
    grid: Grid,
    options: CentreOptions,
    tuning: TuneOptions,
    seed: u64,
    rng: ChaCha8Rng,
    map: Map,
    /// `None` before the first request.
    shadows: Option<Shadows>,
    /// The shadow that changes its vector next.
    next: usize,
    /// The point of the map that the real machine uses, and MC1x1 with its vector.
    best: usize,
    engine: Mc1x1,
    /// Requests since the shadows were evaluated last.
    since: u32,
    /// Slots of the running jobs, by the first processor of each on the real machine.
    slots: Vec<u32>,
    spare: Vec<u32>,
    slots_made: u32,
    stop: CancelToken,
    notes: ExplanationLog,
    count_ties: bool,
    /// Number of tied sets of the last request.
    tied: Option<u32>,
}

/// The shadow machines.
#[derive(Debug)]
struct Shadows {
    /// By shadow, its point of the map.
    points: Vec<usize>,
    /// By shadow, the pairwise L1 of all jobs started since the shadows were evaluated last.
    losses: Vec<u64>,
    batch: BatchReplay,
}

impl TunedMc1x1 {
    /// An allocator for `grid`. A vector among the options does not matter, nor does a slack
    /// if it is tuned.
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
            notes: ExplanationLog::default(),
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
        engine.attach(&self.notes, &self.stop);
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

    /// Evaluates the shadows: learns, chooses the best point, and moves one shadow.
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
        self.notes.say(|| {
            let (vector, slack) = self.map.rule(self.best);
            let since = explain::count(self.since as usize, "request");
            let shadows = explain::count(shadows.points.len(), "shadow machine");
            format!(
                "by the past, on {shadows}, the vector of least expected loss is {vector} with a slack of {}; it was chosen {since} ago",
                slack.share()
            )
        });
        // The engine explains decisions, and decides where all free processors are taken or too few are free.
        let settled = request.size as usize >= machine.free_count();
        let shared =
            if settled || self.notes.are_read() { None } else { shadows.batch.find(machine) };
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
    /// Serves a request for the job in `slot` on all shadows.
    ///
    /// # Errors
    /// [`Refusal::Cancelled`] if `stop` is raised. A shadow without enough free processors, which happens only if the caller
    /// does not occupy what it is given, does nothing.
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
        (self.notes, self.stop) = (setup.notes.clone(), setup.stop.clone());
        self.count_ties = setup.count_ties;
        // The shadows explain nothing.
        self.engine.attach(&self.notes, &self.stop);
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
        // The shadows are machines of their own: what leaves the real one leaves them too.
        let supports_outages = true;
        Capabilities { supports_outages, counts_ties: true, ..Capabilities::default() }
    }

    fn stats(&self) -> Stats {
        Stats { tied_sets: self.tied, ..Stats::default() }
    }
}

#[cfg(test)]
mod tests;
