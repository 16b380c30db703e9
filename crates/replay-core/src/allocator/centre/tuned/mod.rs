//! MC1x1 whose tie vector, and slack if it is told to, tune themselves during the replay,
//! which Johnson, Bunde, Leung name as future work.
//!
//! Beside the real machine some *shadow* machines see the same requests and releases,
//! each served by MC1x1 with a tie vector of its own. Every so many requests
//! ([`TuneOptions::every`]) a map of all vectors takes in what each shadow's
//! pairwise L1 was above or below what the shadows had in common; the past fades
//! ([`TuneOptions::memory`]). Then the real machine goes on with the vector of least
//! expected loss, and one shadow, each in its turn, with a vector that is promising or
//! simply not known.
//!
//! A choice depends on the seed and on the requests and releases before it, on nothing
//! that is still to come. MC1x1 serves whatever finds enough free processors: all shadows
//! stay in step with the real machine.
//!
//! Shadows before the same free processors decide [as one](crate::allocator::centre::fleet), and the real machine with
//! them where it is like one of theirs.
//!
//! Cost: that of MC1x1 for every shadow and once more for the real machine, in time and
//! memory, less what they share; the map adds less than one of them.

mod map;
mod shadow;
mod shadows;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::allocator::centre::mc1x1::Mc1x1;
use crate::allocator::centre::options::CentreOptions;
use crate::allocator::notes::{self, Notes};
use crate::allocator::{Allocator, Capabilities, MachineEvent, Refusal, Request, RunSetup, Stats};
use crate::machine::Machine;
use crate::stop::Stop;
use crate::topology::{Grid, NodeId};
use map::Map;
use shadows::Shadows;

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
    /// None before the first request.
    shadows: Option<Shadows>,
    /// The shadow that changes its vector next.
    next: usize,
    /// The point of the map that the real machine uses, and MC1x1 with its vector.
    best: usize,
    engine: Mc1x1,
    /// Requests since the last look at the shadows.
    since: u32,
    /// Numbers for the running jobs, by the first processor of each on the real machine.
    slots: Vec<u32>,
    spare: Vec<u32>,
    slots_made: u32,
    /// Shadows decide each by itself in any case.
    apart: bool,
    stop: Stop,
    notes: Notes,
    count_ties: bool,
    /// Those of the last request.
    tied: Option<u32>,
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
            apart: false,
            grid: grid.clone(),
            options,
            tuning,
            seed,
            stop: Stop::new(),
            notes: Notes::default(),
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

    /// Shadows of `machine`, on which no job runs.
    fn cast_shadows(&mut self, machine: &Machine) -> Shadows {
        let points: Vec<usize> =
            (0..self.tuning.shadows).map(|_| self.map.draw(&mut self.rng)).collect();
        let at = |&point: &usize| (point, self.options_at(point));
        let shadows: Vec<_> = points.iter().map(at).collect();
        let real = self.options_at(self.best);
        let mut shadows = Shadows::new(machine, &self.grid, &shadows, real, self.apart);
        shadows.stopped_by(&self.stop);
        shadows
    }

    /// Looks at the shadows: learns, chooses, and moves one of them.
    fn tune(&mut self, shadows: &mut Shadows) {
        let requests = f64::from(self.tuning.every);
        self.map.learn(&shadows.take_losses(), requests, f64::from(self.tuning.memory));
        let best = self.map.best();
        if best != self.best {
            self.best = best;
            self.engine = self.engine_at(best);
            shadows.turn_real(self.options_at(best));
        }
        let point = self.map.draw(&mut self.rng);
        shadows.turn(self.next, point, &self.grid, self.options_at(point));
        shadows.stopped_by(&self.stop);
        self.next = (self.next + 1) % shadows.len().max(1);
    }

    /// The real machine and the shadows serve a request.
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
            let since = notes::count(self.since as usize, "request");
            let shadows = notes::count(shadows.len(), "shadow machine");
            format!(
                "by the past, on {shadows}, the vector of least expected loss is {vector} with a slack of {}; it was chosen {since} ago",
                slack.share()
            )
        });
        // Of what is told, and where all that are free are taken or too few are, the engine knows more.
        let settled = request.size as usize >= machine.free_count();
        let like = if settled || self.notes.are_read() { None } else { shadows.like(machine) };
        if like.is_none() {
            self.engine.allocate(machine, request, chosen)?;
            if chosen.is_empty() {
                return Ok(());
            }
        }
        let slot = self.spare.pop().unwrap_or_else(|| {
            self.slots_made += 1;
            self.slots_made - 1
        });
        let real = like.map(|place| (place, &mut *chosen));
        shadows.start(slot as usize, request, real, &self.stop)?;
        if let Some(first) = chosen.first() {
            self.slots[first.index()] = slot;
        }
        self.since += 1;
        Ok(())
    }
}

impl Allocator for TunedMc1x1 {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        let apart = self.apart;
        *self = Self::new(&self.grid, self.options, self.tuning, self.seed);
        self.apart = apart;
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
            None => self.cast_shadows(machine),
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
                self.shadows.iter_mut().for_each(|shadows| shadows.end(slot as usize));
                self.spare.push(slot);
            }
            MachineEvent::NodesDown(nodes) => {
                self.shadows.iter_mut().for_each(|shadows| shadows.withdraw(nodes));
            }
            MachineEvent::NodesUp(nodes) => {
                self.shadows.iter_mut().for_each(|shadows| shadows.restore(nodes));
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
