//! Jobs on fewer processors than they ask for.
//!
//! Source: C. Chang and P. Mohapatra, "An adaptive job allocation method for multicomputer systems",
//! ICDCS 1996. A wrapper around any strategy folds a job, step by step, into a smaller one that runs
//! longer.
//!
//! | name | when a job is folded |
//! |---|---|
//! | `rsr` | restricted size reduction: when the inner strategy has refused it, at most t steps |
//! | `greedy-limit` | the same without a bound, down to one processor |
//! | `limit` | always, to the size of a k-cube, 2^k processors |
//! | `average-limit` | always, to the mean dimension that the jobs in the system ask for |
//!
//! The limits are those of C. Yu and C. R. Das, ICPP 1994, as the paper describes them. It does not say
//! how the mean is rounded; here to the nearest dimension.
//!
//! A step is the inner strategy's own ([`Folding`]); how much longer a job then takes is a [`Speedup`].
//! Estimates grow as run times do. A job that is refused all its sizes waits, and begins again with its
//! own size after the next departure.
//!
//! # Schedulers
//!
//! A scheduler names a job and lets the strategy decide, so that every discipline that takes refusals
//! works, whatever the speed-up. It sees a waiting job with the fewest processors on which it may run
//! ([`Bounds::min_processors`]): it names the head as soon as so many are free, and queues in order of size
//! go by them. What EASY promises its head is the size asked for, with `guard=place` a place for
//! one of the sizes that it may get; jobs that overtake it are backfilled
//! by their estimate unfolded, so that one that is folded may delay the head. Conservative backfilling
//! works with none of these strategies: it reserves processors and time when a job arrives, and how
//! many and how long is decided only when the job starts.
//!
//! # Jobs larger than the machine
//!
//! They can run where every strategy of a grid folds them to what fits; elsewhere they are bad input.
//!
//! # Strategies that never refuse
//!
//! They refuse only where fewer processors are free than the job asks for. The paper folds no job for
//! that; `extend=yes` does.

mod fold;
mod limit;
pub mod names;
mod speedup;

pub use fold::{Folded, Folding};
pub use speedup::Speedup;

use self::limit::InSystem;
use super::notes::{self, Notes};
use super::{
    Allocator, Bounds, Capabilities, Decorator, MachineEvent, Refusal, Request, RunSetup, Stats,
};
use crate::machine::Machine;
use crate::topology::{NodeId, Topology};
use crate::workload::Job;

/// What a job gets instead of what it asks for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reduction {
    /// The request that is served.
    pub request: Request,
    /// Steps from the job's own request.
    pub folds: u32,
    /// Run time over the run time at the size asked for.
    pub stretch: f64,
}

impl Reduction {
    /// A job as it runs then: with fewer processors, and run time and estimate longer, rounded up to
    /// whole ticks.
    pub fn of(&self, job: Job) -> Job {
        let longer = |ticks: i64| (ticks as f64 * self.stretch).ceil() as i64;
        let Request { size, shape, .. } = self.request;
        Job { size, shape, run: longer(job.run), estimate: longer(job.estimate), ..job }
    }
}

/// When jobs are folded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// When they are refused, by no more than so many steps.
    Refused {
        /// Steps, t.
        most: u32,
    },
    /// Always, to 2^`dimension` processors.
    Limit {
        /// k.
        dimension: u32,
    },
    /// When they are to start, to the mean dimension of all requests in the system.
    Average,
}

/// A strategy that folds jobs for another one.
pub struct Reduced {
    inner: Box<dyn Allocator>,
    rule: Rule,
    folding: Folding,
    speedup: Speedup,
    topology: Topology,
    refused_sizes: u64,
    /// That of the last allocation.
    reduction: Option<Reduction>,
    in_system: InSystem,
    notes: Notes,
}

impl Reduced {
    /// Folds jobs for `inner` on `topology`.
    pub fn new(
        inner: Box<dyn Allocator>,
        rule: Rule,
        speedup: Speedup,
        topology: &Topology,
    ) -> Self {
        Self {
            folding: inner.capabilities().folding,
            inner,
            rule,
            speedup,
            topology: topology.clone(),
            refused_sizes: 0,
            reduction: None,
            in_system: InSystem::default(),
            notes: Notes::default(),
        }
    }

    /// Makes a request smaller by one step, if that is possible.
    fn fold(&self, at: &mut Fold) -> bool {
        let folded = self.folding.fold(at.request, &self.topology);
        if let Some(Folded { request, ratio }) = folded {
            let request = Request { times: at.request.times, ..request };
            *at = Fold { request, steps: at.steps + 1, ratio: at.ratio * u64::from(ratio) };
        }
        folded.is_some()
    }

    /// The request folded until it needs no more than a cube of this dimension, and no more than the
    /// machine.
    fn limited(&self, request: Request, dimension: u32) -> Fold {
        let most = match &self.topology {
            Topology::Hypercube(cube) => dimension.min(cube.dimensions().into()),
            _ => dimension,
        };
        let exceeds = |request: Request| {
            request.size as usize > self.topology.processors()
                || limit::dimension(request, &self.topology) > most
        };
        let mut at = Fold::none(request);
        while exceeds(at.request) && self.fold(&mut at) {}
        at
    }

    /// The fewest processors of a request, ever and now.
    fn least(&self, request: Request) -> (u32, u32) {
        match self.rule {
            Rule::Refused { most } => {
                let mut at = Fold::none(request);
                while at.steps < most && self.fold(&mut at) {}
                (at.request.size, at.request.size)
            }
            Rule::Limit { dimension } => {
                let size = self.limited(request, dimension).request.size;
                (size, size)
            }
            Rule::Average => (1, self.limited(request, self.in_system.mean()).request.size),
        }
    }

    /// Whether the inner strategy can serve one of the sizes that the request may get.
    fn is_servable(&mut self, request: Request) -> bool {
        let (most, mut at) = match self.rule {
            Rule::Refused { most } => (most, Fold::none(request)),
            Rule::Limit { dimension } => (0, self.limited(request, dimension)),
            // The mean is not known yet.
            Rule::Average => (u32::MAX, Fold::none(request)),
        };
        loop {
            let fits = at.request.size as usize <= self.topology.processors();
            if fits && self.inner.bounds(at.request).servable {
                return true;
            }
            if at.steps >= most || !self.fold(&mut at) {
                return false;
            }
        }
    }

    fn reduction(&self, asked: Request, Fold { request, steps, ratio }: Fold) -> Option<Reduction> {
        let stretch = self.speedup.stretch(asked.size, request.size, ratio);
        (steps > 0).then_some(Reduction { request, folds: steps, stretch })
    }
}

/// A request on its way to smaller ones.
#[derive(Clone, Copy)]
struct Fold {
    request: Request,
    steps: u32,
    /// Processes that a processor has taken over.
    ratio: u64,
}

impl Fold {
    fn none(request: Request) -> Self {
        Self { request, steps: 0, ratio: 1 }
    }
}

impl Decorator for Reduced {
    fn inner(&self) -> &dyn Allocator {
        self.inner.as_ref()
    }

    fn inner_mut(&mut self) -> &mut dyn Allocator {
        self.inner.as_mut()
    }

    fn decorate_copy(&self, inner: Box<dyn Allocator>) -> Option<Box<dyn Allocator>> {
        Some(Box::new(Self {
            inner,
            rule: self.rule,
            folding: self.folding,
            speedup: self.speedup,
            topology: self.topology.clone(),
            refused_sizes: self.refused_sizes,
            reduction: self.reduction,
            in_system: self.in_system,
            notes: Notes::default(),
        }))
    }

    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.notes = setup.notes.clone();
        (self.refused_sizes, self.reduction) = (0, None);
        self.in_system = InSystem::default();
        self.inner.begin(setup)
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let (most, mut at) = match self.rule {
            Rule::Refused { most } => (most, Fold::none(request)),
            Rule::Limit { dimension } => (0, self.limited(request, dimension)),
            Rule::Average => (0, self.limited(request, self.in_system.mean())),
        };
        // Who goes by the least that a job may ever have can ask too early; no size is refused then.
        if self.rule == Rule::Average && at.request.size as usize > machine.free_count() {
            return Err(Refusal::TooFewFree);
        }
        let mut refusal = Refusal::TooFewFree;
        loop {
            // No strategy has to know of jobs that are larger than the machine.
            self.notes.say(|| {
                let steps = notes::count(at.steps as usize, "step");
                format!("asked for {} processors, {steps} of folding", at.request.size)
            });
            let outcome = match at.request.size as usize > machine.processors() {
                true => Err(Refusal::TooFewFree),
                false => self.inner.allocate(machine, at.request, chosen),
            };
            match outcome {
                Ok(()) => {
                    self.reduction = self.reduction(request, at);
                    return Ok(());
                }
                Err(ended @ (Refusal::Stopped(_) | Refusal::Postponed { .. })) => {
                    return Err(ended);
                }
                // Processors were free for one of its sizes.
                Err(Refusal::Fragmented) => refusal = Refusal::Fragmented,
                Err(Refusal::TooFewFree) => {}
            }
            self.refused_sizes += 1;
            if at.steps >= most || !self.fold(&mut at) {
                return Err(refusal);
            }
        }
    }

    fn on_event(&mut self, machine: &Machine, event: MachineEvent<'_>) {
        if self.rule == Rule::Average {
            let dimension = |request| limit::dimension(request, &self.topology);
            match event {
                MachineEvent::JobQueued(request) => self.in_system.arrives(dimension(request)),
                MachineEvent::JobFinished(request) => self.in_system.departs(dimension(request)),
                _ => {}
            }
        }
        self.inner.on_event(machine, event);
    }

    fn capabilities(&self) -> Capabilities {
        let inner = self.inner.capabilities();
        Capabilities {
            keeps_schedule: false,
            // By the mean of the sizes in the system, arrivals change what a request is folded to.
            refusals_last: inner.refusals_last && self.rule != Rule::Average,
            // A job is folded by what was refused, and by the jobs in the system.
            chooses_by_free: false,
            folds: true,
            ..inner
        }
    }

    fn bounds(&mut self, request: Request) -> Bounds {
        let (least, now) = self.least(request);
        // A job that is larger than the machine is folded at least until it fits.
        let mut at = Fold::none(request);
        while at.request.size as usize > self.topology.processors() && self.fold(&mut at) {}
        Bounds {
            min_processors: least,
            min_processors_now: now,
            max_processors: self.inner.bounds(at.request).max_processors,
            servable: self.is_servable(request),
        }
    }

    /// A refused job was refused at other sizes, too.
    fn refusal_covers(&mut self, _refused: Request, _asked: Request) -> bool {
        false
    }

    fn stats(&self) -> Stats {
        let refused_sizes = Some(self.refused_sizes);
        Stats { refused_sizes, reduction: self.reduction, ..self.inner.stats() }
    }
}

#[cfg(test)]
mod tests;
