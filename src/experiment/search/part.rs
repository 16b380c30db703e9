use std::ops::ControlFlow;
use std::sync::Arc;

use super::SearchError;
use super::column::Needs;
use super::floor::least_pairwise_l1;
use super::objective::Objective;
use super::tally::{ClassSum, Tally};
use crate::allocator::registry::AllocatorSpec;
use crate::experiment::cell::Schedule;
use crate::experiment::{Pace, Trace, Watch};
use crate::metrics::{Locality, ScheduleMetrics};
use crate::scheduler::registry::SchedulerSpec;
use crate::simulation::{Event, ReplayError, Scene, TimelineError, replay_while};
use crate::stop::Stop;

/// One trace of a search, scheduled once; every evaluation replays its timeline.
#[derive(Clone, Debug)]
pub struct Part {
    /// What tables call it.
    pub name: String,
    /// The jobs and the machine.
    pub trace: Arc<Trace>,
    schedule: Schedule,
    /// Weight by job size.
    weights: Vec<u64>,
    /// By the number of decisions made: what the jobs still to come add to the weighted
    /// sum at least.
    floors: Vec<u128>,
}

/// How far a replay goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reach {
    /// Decisions at most.
    pub decisions: usize,
    /// The weighted pairwise L1 sum of these decisions above which the replay need not go
    /// on; only for objectives that only grow.
    pub most: Option<u128>,
    /// Decisions of all replays of the evaluation, for the forecast of what it takes.
    pub of: usize,
}

impl Part {
    /// Schedules the trace, unless or until `stop` is raised.
    ///
    /// # Errors
    /// [`SearchError::Timeline`] if a job does not fit the machine; [`SearchError::Stopped`].
    pub fn new(
        name: String,
        trace: Arc<Trace>,
        scheduler: &SchedulerSpec,
        objective: &Objective,
        stop: &Stop,
    ) -> Result<Self, SearchError> {
        let schedule = trace.schedule(scheduler, stop).map_err(|cause| match cause {
            TimelineError::Stopped(stopped) => stopped.into(),
            cause => SearchError::Timeline { part: name.clone(), cause },
        })?;
        let jobs = &trace.workload.jobs;
        let largest = jobs.iter().map(|job| job.size).max().unwrap_or(0);
        let weights: Vec<u64> = (0..=largest).map(|size| objective.weights.of(size)).collect();
        let least = least_pairwise_l1(&trace.topology);
        let mut floors = vec![0];
        let mut rest = 0;
        for event in schedule.timeline.events().iter().rev() {
            if let Event::Start(id) = event {
                let size = jobs[id.index()].size;
                let points = trace.topology.points(size);
                rest += u128::from(weights[size as usize]) * u128::from(least[points as usize]);
                floors.push(rest);
            }
        }
        floors.reverse();
        Ok(Self { name, trace, schedule, weights, floors })
    }

    /// Whether it is the next shaken copy of the trace that another part is a copy of.
    pub fn follows(&self, other: &Self) -> bool {
        other.trace.copy > 0 && self.trace.copy == other.trace.copy + 1 && self.name == other.name
    }

    /// Decisions of a whole replay.
    pub fn decisions(&self) -> usize {
        self.floors.len() - 1
    }

    /// What the schedule alone decides.
    pub fn schedule_metrics(&self) -> &ScheduleMetrics {
        &self.schedule.metrics
    }

    /// What the first `decisions` add to the weighted sum at least.
    pub fn floor(&self, decisions: usize) -> u128 {
        self.floors[0] - self.floors[decisions]
    }

    /// Replays the timeline with an allocator. A tally of fewer decisions than asked for
    /// lost against [`Reach::most`].
    ///
    /// # Errors
    /// [`SearchError`] if the strategy does not work on the machine or refuses a job, or if
    /// the watch's flag is raised.
    pub fn measure(
        &self,
        allocator: &AllocatorSpec,
        needs: Needs,
        reach: Reach,
        watch: Watch<'_>,
    ) -> Result<Tally, SearchError> {
        let topology = &self.trace.topology;
        let jobs = &self.trace.workload.jobs;
        let mut allocator = allocator.build(topology, 0)?;
        allocator.stopped_by(watch.stop);
        let mut locality = Locality::new(topology);
        let mut tally =
            Tally { classes: vec![ClassSum::default(); self.weights.len()], ..Tally::default() };
        if reach.decisions == 0 {
            return Ok(tally);
        }
        let (mut sum, last) = (0, self.floors[reach.decisions]);
        let ties = needs >= Needs::Ties;
        let mut pace = Pace::new(watch, reach.of);
        let observe = |decision: crate::simulation::Decision<'_>| {
            pace.started();
            let size = jobs[decision.job.index()].size;
            let pairwise_l1 = if needs >= Needs::Placements {
                let placement = locality.placement(decision.nodes, topology.points(size));
                tally.placements.record(&placement);
                placement.pairwise_l1
            } else {
                locality.pairwise_l1(decision.nodes)
            };
            if let Some(sets) = decision.tied {
                tally.ties.record(sets);
            }
            let class = &mut tally.classes[size as usize];
            class.jobs += 1;
            class.pairwise_l1 += pairwise_l1;
            tally.decisions += 1;
            sum += u128::from(self.weights[size as usize]) * u128::from(pairwise_l1);
            let least = sum + self.floors[tally.decisions] - last;
            let lost = reach.most.is_some_and(|most| least > most);
            if lost || tally.decisions == reach.decisions {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        };
        let timeline = &self.schedule.timeline;
        let scene = Scene { jobs: self.trace.jobs(), topology, timed: false, stop: watch.stop };
        replay_while(timeline, scene, allocator.as_mut(), ties, observe).map_err(|cause| {
            match cause {
                ReplayError::Stopped(stopped) => stopped.into(),
                cause => SearchError::Replay { part: self.name.clone(), cause },
            }
        })?;
        Ok(tally)
    }
}
