//! Jobs on fewer processors than they request.
//!
//! Source: C. Chang and P. Mohapatra, "An adaptive job allocation method for multicomputer systems", ICDCS 1996. The
//! strategies of this module decorate any other strategy. A strategy *folds* a job: each step makes the job smaller and
//! its run time longer.
//!
//! | name | when a job is folded |
//! |---|---|
//! | `rsr` | restricted size reduction: after a refusal by the inner strategy, by at most t steps |
//! | `greedy-limit` | after a refusal, by any number of steps, down to one processor |
//! | `limit` | always, to the size of a k-cube, 2^k processors |
//! | `average-limit` | always, to the mean dimension of the requests in the system |
//!
//! The limits are from C. Yu and C. R. Das, ICPP 1994, as described in the paper. The paper does not state how
//! the mean is rounded; here it is rounded to the nearest dimension.
//!
//! The size of a step depends on the inner strategy ([`Folding`]). A [`Speedup`] determines the longer run time.
//! Estimates are multiplied by the same factor as run times. A job that is refused at all its sizes waits. When the
//! next running job ends, the waiting job is tried again, beginning with its requested size.
//!
//! # Schedulers
//!
//! A scheduler selects a job, and the strategy decides whether to fold this job. Every scheduler that supports refusals
//! therefore works with every speed-up. For the scheduler, the size of a waiting job is the minimum number of
//! processors on which the job may run ([`Bounds::min_processors`]). The scheduler selects the head as soon as this
//! number of processors is free, and queues ordered by size use this number. EASY reserves the requested size for the
//! head of its queue. With `guard=place`, EASY reserves a placement for one of the sizes that the head may get.
//! Backfilling uses the estimates of unfolded jobs. A backfilled job that is folded runs longer, and may therefore
//! delay the head. Conservative backfilling does not support strategies that fold jobs. Conservative backfilling
//! reserves processors and time when a job arrives, but the number of processors and the run time of a folded job are
//! decided only at the start.
//!
//! # Jobs larger than the machine
//!
//! A job that is larger than the machine can run if the strategy always folds it to a size that fits. In all other
//! cases, a job that is larger than the machine is an input error.
//!
//! # Strategies that never refuse
//!
//! Some inner strategies refuse a request only if fewer processors are free than the job requests. In the paper, a
//! refusal because of too few free processors does not cause folding. With `extend=yes`, jobs are also folded after a
//! refusal because of too few free processors.

mod limit;
pub(crate) mod names;
mod speedup;

pub use speedup::Speedup;

use self::limit::InSystem;
use replay_engine::allocator::explain::ExplanationLog;
use replay_engine::allocator::{
    Allocator, Bounds, Capabilities, Decorator, Folded, Folding, MachineEvent, Reduction, Refusal,
    Request, RunSetup, Stats,
};
use replay_engine::machine::Machine;
use replay_engine::number::counted;
use replay_engine::topology::{NodeId, Topology};

/// When jobs are folded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// Jobs are folded after a refusal, by a limited number of steps.
    Refused {
        /// Maximum number t of steps.
        most: u32,
    },
    /// Jobs are always folded to 2^`dimension` processors.
    Limit {
        /// Dimension k of the limit.
        dimension: u32,
    },
    /// Jobs are folded to the mean dimension of all requests in the system, computed when the job is to start.
    Average,
}

/// A strategy that folds the jobs of another strategy.
pub(crate) struct Reduced {
    inner: Box<dyn Allocator>,
    rule: Rule,
    folding: Folding,
    speedup: Speedup,
    topology: Topology,
    refused_sizes: u64,
    /// Reduction of the last allocation.
    reduction: Option<Reduction>,
    in_system: InSystem,
    explanation: ExplanationLog,
}

impl Reduced {
    /// Creates a strategy that folds jobs for `inner` on `topology`.
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
            explanation: ExplanationLog::default(),
        }
    }

    /// Makes a request smaller by one step. Returns `false` if the request cannot be made smaller.
    fn fold(&self, at: &mut Fold) -> bool {
        let folded = self.folding.fold(at.request, &self.topology);
        if let Some(Folded { request, ratio }) = folded {
            let request = Request { times: at.request.times, ..request };
            *at = Fold { request, steps: at.steps + 1, ratio: at.ratio * u64::from(ratio) };
        }
        folded.is_some()
    }

    /// Folds the request until it needs at most a cube of this dimension and fits the machine.
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

    /// Returns two minimum numbers of processors for a request: the minimum in any state of the system, and the minimum
    /// in the current state.
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

    /// Returns whether the inner strategy can serve the request on the empty machine.
    fn fits(&mut self, request: Request) -> bool {
        request.size as usize <= self.topology.processors() && self.inner.bounds(request).servable
    }

    /// Returns whether the inner strategy can serve one of the sizes that the request may get.
    fn is_servable(&mut self, request: Request) -> bool {
        let (most, mut at) = match self.rule {
            Rule::Refused { most } => (most, Fold::none(request)),
            Rule::Limit { dimension } => (0, self.limited(request, dimension)),
            // The mean is not known yet.
            Rule::Average => (u32::MAX, Fold::none(request)),
        };
        loop {
            if self.fits(at.request) {
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

/// A request and the steps by which it was folded.
#[derive(Clone, Copy)]
struct Fold {
    request: Request,
    steps: u32,
    /// Number of processes per processor.
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
            explanation: ExplanationLog::default(),
        }))
    }

    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.explanation = setup.explanation.clone();
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
        // A scheduler that uses the smallest possible size of a job can request processors before the folded size is
        // free. An attempt before the folded size is free does not count as a refusal.
        if self.rule == Rule::Average && at.request.size as usize > machine.free_count() {
            return Err(Refusal::TooFewFree);
        }
        let mut refusal = Refusal::TooFewFree;
        loop {
            // Inner strategies need not handle jobs larger than the machine.
            self.explanation.sentence(|| {
                let steps = counted(at.steps as u64, "step");
                format!("request for {} processors, after {steps} of folding", at.request.size)
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
                Err(ended @ (Refusal::Cancelled(_) | Refusal::Postponed { .. })) => {
                    return Err(ended);
                }
                // Enough processors were free for one of the sizes.
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
                MachineEvent::JobQueued(request) => self.in_system.add(dimension(request)),
                MachineEvent::JobFinished(request) => self.in_system.remove(dimension(request)),
                _ => {}
            }
        }
        self.inner.on_event(machine, event);
    }

    fn capabilities(&self) -> Capabilities {
        let inner = self.inner.capabilities();
        Capabilities {
            keeps_schedule: false,
            // If jobs are folded to the mean size, arrivals change the folded size of a request.
            refusals_last: inner.refusals_last && self.rule != Rule::Average,
            // Folding depends on earlier refusals, and on the jobs in the system.
            chooses_by_free: false,
            folds: true,
            ..inner
        }
    }

    fn bounds(&mut self, request: Request) -> Bounds {
        let (least, now) = self.least(request);
        // A job is folded at least until the empty machine can serve it.
        let mut at = Fold::none(request);
        while !self.fits(at.request) && self.fold(&mut at) {}
        Bounds {
            min_processors: least,
            min_processors_now: now,
            max_processors: self.inner.bounds(at.request).max_processors,
            servable: self.is_servable(request),
        }
    }

    /// Returns `false`, because a refused job was refused at several sizes.
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
