//! The same question of boxes: do estimates help to choose among the free boxes of a menu?
//!
//! Two of their [terms](replay_core::placement::ties) know estimates, EF and DL. Of the first half of the jobs the ways to choose are
//! searched that have neither, and those that may have both, with as many evaluations. Half of these are common to both,
//! drawn among the ways with neither; from the best of them each search goes on to the nearest ways that it may try. Both
//! winners are judged on the second half, the whole trace being replayed with each.
//!
//! What is compared is *lost processor-time*: free processors while somebody waits who was refused for want of a place, over
//! time. Its gain has a 95 % interval over blocks of time, the method that serves MC1x1's.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::outcome::{
    Judged, Outcome, Winner, columns_of_the_blocks, columns_of_the_scene, columns_of_the_search,
    known_percent,
};
use super::{Setting, Source, part};
use crate::admitted::Admitted;
use crate::problem::CellProblem;
use crate::{Cell, Trace, Watch};
use replay_core::allocator::Refusal;
use replay_core::allocator::registry::AllocatorSpec;
use replay_core::allocator::torus3d::ways::{Point, Way, points};
use replay_core::metrics::blocks::Blocks;
use replay_core::naming::{NameError, StrategyName};
use replay_core::scheduler::registry::SchedulerSpec;
use replay_core::simulation::{Course, Observer, RunTimes, Scene, State, simulate_amid};
use replay_core::table::{Column, Table};
use replay_core::topology::Topology;
use replay_core::workload::{Job, JobId};

/// Ways that are looked at together; whatever the number of threads.
const TOGETHER: usize = 4;

/// What one source of estimates comes to for boxes on one trace: lost processor-time for each job,
/// with EF and DL and without.
#[derive(Clone, Debug)]
pub struct BoxFinding {
    /// The winners, and what they come to.
    pub outcome: Outcome<Way>,
    /// The strategy, without what was searched.
    pub allocator: String,
    /// Refusals for want of a place for each job of the second half.
    pub refusals: [f64; 2],
}

impl Winner for Way {
    fn knows(&self) -> bool {
        let (handles, _) = self.terms();
        handles.ends != 0 || handles.delay != 0
    }
}

impl Judged for BoxFinding {
    type Winner = Way;

    fn outcome(&self) -> &Outcome<Way> {
        &self.outcome
    }
}

/// Studies one trace with one source of estimates, for a strategy with boxes. `None` if the log has no estimates and the
/// source needs them.
///
/// # Errors
/// [`CellProblem`] as for a run of it.
pub fn study_boxes(
    trace: &Trace,
    scheduler: &SchedulerSpec,
    base: &AllocatorSpec,
    source: Source,
    setting: &Setting,
    watch: Watch<'_>,
) -> Result<Option<BoxFinding>, CellProblem> {
    let mut allocator = base.build(&trace.topology, 0)?;
    let all = Cell {
        trace: std::sync::Arc::new(trace.with_jobs(trace.workload.jobs.clone())),
        scheduler: scheduler.clone(),
        allocator: base.clone(),
        seed: 0,
    };
    let admitted = Admitted::by(allocator.as_mut(), &all)?;
    let jobs = &admitted.cell.trace.workload.jobs;
    let Some(limits) = source.limits(jobs, setting.seed) else { return Ok(None) };
    let jobs: Vec<Job> =
        jobs.iter().zip(limits).map(|(job, limit)| Job { limit, ..*job }).collect();
    let half = jobs.len() / 2;
    let of = |jobs: &[Job], word| {
        let trace = part(trace, jobs, scheduler, word);
        Study { base, cell: Cell { trace, ..all.clone() }, watch }
    };
    let first = of(&jobs[..half.max(1)], "first half");
    let Winners { with, without, evaluations } = first.search(setting)?;
    let whole = of(&jobs, "whole");
    let begin = jobs[half].submit;
    let later = |way| -> Result<Loss, CellProblem> {
        let mut loss = whole.loss(way)?;
        loss.spans.retain(|span| span.0 >= begin);
        loss.refusals.drain(..half);
        Ok(loss)
    };
    let (a, b) = (later(with.0)?, later(without.0)?);
    let count = jobs.len() - half;
    let spans: Vec<(i64, [f64; 2])> = (a.spans.iter().map(|&(at, lost)| (at, [lost, 0.0])))
        .chain(b.spans.iter().map(|&(at, lost)| (at, [0.0, lost])))
        .collect();
    let blocks = Blocks::new(spans.iter().copied());
    let outcome = Outcome {
        trace: trace.workload.name.clone(),
        machine: trace.topology.to_string(),
        scheduler: scheduler.to_string(),
        source,
        known_percent: known_percent(&jobs),
        evaluations: evaluations as u64,
        winners: [with.0, without.0],
        first: [with.1, without.1],
        second: [a.lost(count), b.lost(count)],
        jobs: count,
        interval: blocks.gain().interval,
        blocks: (blocks.len(), blocks.days),
    };
    let refusals = [&a, &b].map(|loss| loss.refused(count));
    Ok(Some(BoxFinding { outcome, allocator: base.to_string(), refusals }))
}

/// What a replay lost.
struct Loss {
    /// Free processors while somebody waited for a place, times how long, by when that began.
    spans: Vec<(i64, f64)>,
    /// Refusals for want of a place, by job.
    refusals: Vec<u64>,
    processors: u32,
}

impl Loss {
    /// For each of so many jobs.
    fn lost(&self, jobs: usize) -> f64 {
        self.spans.iter().map(|span| span.1).sum::<f64>() / jobs.max(1) as f64
    }

    fn refused(&self, jobs: usize) -> f64 {
        self.refusals.iter().sum::<u64>() as f64 / jobs.max(1) as f64
    }
}

impl Observer for Loss {
    fn passed(&mut self, from: i64, to: i64, state: &State) {
        if state.fragmented {
            let free = self.processors - state.held - state.down;
            self.spans.push((from, f64::from(free) * (to - from) as f64));
        }
    }

    fn refused(&mut self, job: JobId, refusal: Refusal) {
        self.refusals[job.index()] += u64::from(refusal == Refusal::Fragmented);
    }
}

/// A part of a trace under a strategy whose way to choose is open.
struct Study<'a> {
    base: &'a AllocatorSpec,
    cell: Cell,
    watch: Watch<'a>,
}

/// The best ways with what they lose, and evaluations of each search.
struct Winners {
    with: (Way, f64),
    without: (Way, f64),
    evaluations: usize,
}

impl Study<'_> {
    /// What a way loses.
    fn loss(&self, way: Way) -> Result<Loss, CellProblem> {
        let Cell { trace, scheduler, .. } = &self.cell;
        let topology = &trace.topology;
        let mut allocator = chosen(self.base, way)?.build(topology, 0)?;
        let jobs = trace.jobs();
        let processors = topology.processors() as u32;
        let mut scheduler = scheduler.build(processors);
        let mut loss = Loss { spans: Vec::new(), refusals: vec![0; jobs.len()], processors };
        let scene = Scene { jobs, topology, timed: false, stop: self.watch.stop };
        let (scheduler, service) = (scheduler.as_mut(), &mut RunTimes::default());
        simulate_amid(scene, Course::default(), scheduler, allocator.as_mut(), service, &mut loss)?;
        Ok(loss)
    }

    /// What ways lose for each job, as far as they are not known.
    fn evaluate(
        &self,
        points: &[Point],
        places: &[usize],
        known: &mut [Option<f64>],
    ) -> Result<(), CellProblem> {
        let fresh: Vec<usize> =
            places.iter().copied().filter(|&place| known[place].is_none()).collect();
        let jobs = self.cell.trace.jobs().len();
        let of = |&place: &usize| self.loss(points[place].way).map(|loss| loss.lost(jobs));
        let found: Vec<f64> = fresh.par_iter().with_max_len(1).map(of).collect::<Result<_, _>>()?;
        for (place, lost) in fresh.into_iter().zip(found) {
            known[place] = Some(lost);
        }
        Ok(())
    }

    fn search(&self, setting: &Setting) -> Result<Winners, CellProblem> {
        let points = points(has_walls(&self.cell.trace.topology), None);
        let all: Vec<usize> = (0..points.len()).collect();
        let plain: Vec<usize> =
            all.iter().copied().filter(|&place| !points[place].way.knows()).collect();
        let evaluations = (setting.evaluations as usize).min(plain.len());
        let mut drawn = plain.clone();
        drawn.shuffle(&mut ChaCha8Rng::seed_from_u64(setting.seed));
        drawn.truncate(evaluations.div_ceil(2));
        let mut known = vec![None; points.len()];
        self.evaluate(&points, &drawn, &mut known)?;
        let mut best = |family: &[usize]| -> Result<(Way, f64), CellProblem> {
            let mut tried = drawn.clone();
            loop {
                // Of equals the first.
                let least = tried.iter().copied().min_by(|&a, &b| {
                    let lost = |place: usize| known[place].unwrap_or(f64::INFINITY);
                    lost(a).total_cmp(&lost(b)).then(a.cmp(&b))
                });
                let Some(least) = least else { return Ok((Way::Slurm, f64::NAN)) };
                let more = TOGETHER.min(evaluations - tried.len());
                if more == 0 {
                    return Ok((points[least].way, known[least].unwrap_or(f64::NAN)));
                }
                let mut near: Vec<usize> =
                    family.iter().copied().filter(|place| !tried.contains(place)).collect();
                let far = |place: usize| points[place].distance(&points[least]);
                near.sort_by(|&a, &b| far(a).total_cmp(&far(b)).then(a.cmp(&b)));
                near.truncate(more);
                self.evaluate(&points, &near, &mut known)?;
                tried.extend(near);
            }
        };
        Ok(Winners { without: best(&plain)?, with: best(&all)?, evaluations })
    }
}

/// Whether boxes can touch walls.
fn has_walls(topology: &Topology) -> bool {
    topology.grid().is_some_and(|grid| grid.axes().iter().any(|axis| axis.has_walls()))
}

/// The strategy with a way to choose.
fn chosen(base: &AllocatorSpec, way: Way) -> Result<AllocatorSpec, NameError> {
    let way: StrategyName = format!("{}[{way}]", base.name().name).parse()?;
    let mut name = base.name();
    name.parameters.extend(way.parameters);
    name.to_string().parse()
}

impl Table for BoxFinding {
    const NAME: &'static str = "estimates_boxes";
    const ROW: &'static str = "one row per trace and source of estimates, of a strategy with boxes";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        type C = Column<BoxFinding>;
        let allocator = vec![
            C::text("allocator", "allocator without its tie vector", |r| Some(&r.allocator)),
        ];
        let winners = vec![
            C::new("way_with_estimates", "", "best way to choose of the first half, with EF and DL free", |r| r.outcome.winners[0].to_string()),
            C::new("way_without_estimates", "", "the same with neither", |r| r.outcome.winners[1].to_string()),
            C::new("first_loss_gain_percent", "%", "what EF and DL gain on the first half, where they were searched: how much less processor-time is lost", |r| r.outcome.first_gain()).rising(),
            C::new("second_loss_gain_percent", "%", "what they gain on the second half", |r| r.outcome.second_gain()).rising(),
            C::new("loss_gain_low", "%", "lower end of its 95 % interval, by blocks of submission time", |r| r.outcome.interval[0]),
            C::new("loss_gain_high", "%", "upper end", |r| r.outcome.interval[1]),
            C::new("boxes_helped", "", "whether the best way has EF or DL, its gain on the second half is at least 1 % and the interval above 0: yes or no; null without an interval, of fewer than five blocks", |r| r.outcome.helps_in_words()),
        ];
        let more = vec![
            C::new("second_lost_without", "processor s", "processor-time lost for each job of the second half by the best way without EF and DL: free processors while a job waits that was refused for want of a place", |r| r.outcome.second[1]),
            C::new("second_lost_with", "processor s", "the same by the best way with them", |r| r.outcome.second[0]),
            C::new("second_refusals_without", "refusals", "refusals for want of a place for each job of the second half, without", |r| r.refusals[1]),
            C::new("second_refusals_with", "refusals", "the same with them", |r| r.refusals[0]),
        ];
        [columns_of_the_scene(), allocator, columns_of_the_search(), winners, columns_of_the_blocks(), more]
            .into_iter()
            .flatten()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_is_a_parameter_of_the_strategy() {
        let base: AllocatorSpec = "placements[anchors=half]".parse().expect("a strategy");
        for point in points(true, None) {
            let chosen = chosen(&base, point.way).expect("a strategy").to_string();
            assert_eq!(chosen, format!("placements[anchors=half,{}]", point.way));
        }
    }
}
