//! Do users' estimates help MC1x1 to break ties? The fifth entry of the tie vector, EF, judged.
//!
//! Of every trace the first half of the jobs is searched, once with EF free and once with EF = 0, both
//! with as many evaluations. The first half of these is common to both: EF = 0, drawn at random, then
//! [`Local`] search from the best on. Then the one goes on as before; the other tries the best few with
//! EF of several strengths, and goes on around the best of all, EF among what it moves. What they find
//! differs by EF, not by where they happened to begin. Both winners are judged on the second half: the whole trace is
//! replayed with each, and the pairwise L1 of the second half's jobs compared. What that gains is given
//! with a 95 % interval over the weeks in which the jobs were submitted, or
//! over days where the half has fewer than [`FEWEST_WEEKS`](replay_core::metrics::blocks::FEWEST_WEEKS) weeks.
//!
//! Beside what the log has ([`Source::Log`]) there are controls: estimates that are the run times
//! ([`Source::Oracle`]) show what the best would bring; estimates of other jobs of the same size
//! ([`Source::Shuffled`]) must bring nothing, and what they seem to bring is the noise of a search.
//! A log without estimates gets modelled ones ([`Source::Modelled`]), which are shuffled, too.

mod boxes;
mod outcome;
mod source;

use std::sync::Arc;

pub use boxes::{BoxFinding, study_boxes};
pub use outcome::{Judged, Outcome, Winner};
pub use source::Source;

use outcome::{columns_of_the_blocks, columns_of_the_scene, columns_of_the_search, known_percent};

use super::search::strategy::{List, Local, Random, SearchStrategy};
use super::search::{
    Archive, Candidate, Control, Objective, Part, Problem, SearchError, Space, improvement_percent,
    nearest_vector, search,
};
use super::{Trace, Watch};
use crate::search::{Goal, Range};
use replay_core::allocator::centre::Slack;
use replay_core::allocator::registry::AllocatorSpec;
use replay_core::metrics::Locality;
use replay_core::metrics::blocks::Blocks;
use replay_core::scheduler::registry::SchedulerSpec;
use replay_core::simulation::{ReplayError, Scene, replay};
use replay_core::stop::Stopped;
use replay_core::table::{Column, Table};
use replay_core::workload::{Job, Workload};

/// Classes of job size.
const CLASSES: u64 = 10;

/// Largest scan radius tried.
const MOST_SHELLS: u32 = 6;

/// EF over the largest other factor, and how many of the best vectors are tried with each.
const STRENGTHS: [f64; 5] = [0.1, 0.3, 1.0, 0.03, 3.0];
const STRENGTHENED: usize = 2;

/// Largest factor of these.
const LARGEST: u32 = 100;

/// How traces are studied.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Evaluations of each search.
    pub evaluations: u64,
    /// Slacks that both searches may choose.
    pub slacks: Vec<Slack>,
    /// Seed of everything that is drawn.
    pub seed: u64,
}

/// What one source of estimates comes to on one trace: mean pairwise L1, with EF and without.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The winners, and what they come to.
    pub outcome: Outcome<Candidate>,
    /// Mean of run time over estimate, of jobs that keep theirs.
    pub used_share: f64,
    /// Mean pairwise L1 on the first half without tie-breaking.
    pub untied: f64,
    /// Gain by class of job size, ascending.
    pub classes: Vec<Class>,
}

/// Jobs of the second half of similar size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Class {
    /// Smallest and largest size.
    pub sizes: [u32; 2],
    /// Jobs.
    pub jobs: u64,
    /// What EF gains, in percent.
    pub gain: f64,
}

impl Winner for Candidate {
    fn knows(&self) -> bool {
        self.vector.ends != 0
    }
}

impl Judged for Finding {
    type Winner = Candidate;

    fn outcome(&self) -> &Outcome<Candidate> {
        &self.outcome
    }
}

impl Finding {
    /// The class that fares worst.
    pub fn worst(&self) -> Option<&Class> {
        self.classes.iter().min_by(|a, b| a.gain.total_cmp(&b.gain))
    }
}

/// Studies one trace with one source of estimates, unless or until the watch's flag is raised.
/// `None` if the log has no estimates and the source needs them.
///
/// # Errors
/// [`SearchError`]: a job does not fit, MC1x1 does not work on the machine, or stopped.
pub fn study(
    trace: &Trace,
    scheduler: &SchedulerSpec,
    source: Source,
    setting: &Setting,
    watch: Watch<'_>,
) -> Result<Option<Finding>, SearchError> {
    let Some(limits) = source.limits(&trace.workload.jobs, setting.seed) else { return Ok(None) };
    let jobs: Vec<Job> =
        trace.workload.jobs.iter().zip(limits).map(|(job, limit)| Job { limit, ..*job }).collect();
    let half = jobs.len() / 2;
    let first = part(trace, &jobs[..half], scheduler, "first half");
    let objective: Objective = "mean_pairwise_l1".parse()?;
    let name = first.workload.name.clone();
    let part_of_first = Part::new(name, first, scheduler, &objective, watch.stop)?;
    let mc1x1: AllocatorSpec = "mc1x1".parse()?;
    let problem = Problem::new(vec![part_of_first], mc1x1.clone(), objective, Vec::new(), watch)?;
    let [(with, with_value), (without, without_value)] = winners(&problem, setting, watch)?;
    let whole = part(trace, &jobs, scheduler, "whole");
    let of = |candidate: Candidate| -> Result<Vec<u64>, SearchError> {
        let allocator = mc1x1.with_tie_breaking(candidate.tie_breaking())?;
        pairwise(&whole, scheduler, &allocator, watch)
    };
    let (a, b) = (of(with)?, of(without)?);
    let (later, a, b) = (&jobs[half..], &a[half..], &b[half..]);
    let sums = a.iter().zip(b).map(|(&a, &b)| [a as f64, b as f64]);
    let blocks = Blocks::new(later.iter().map(|job| job.submit).zip(sums));
    let mean = |sums: &[u64]| sums.iter().sum::<u64>() as f64 / later.len() as f64;
    let used: Vec<f64> = jobs
        .iter()
        .filter_map(|job| Some(job.run as f64 / f64::from(job.limit?)))
        .filter(|share| *share <= 1.0)
        .collect();
    let outcome = Outcome {
        trace: trace.workload.name.clone(),
        machine: trace.topology.to_string(),
        scheduler: scheduler.to_string(),
        source,
        known_percent: known_percent(&jobs),
        evaluations: setting.evaluations,
        winners: [with, without],
        first: [with_value, without_value],
        second: [mean(a), mean(b)],
        jobs: later.len(),
        interval: blocks.gain().interval,
        blocks: (blocks.len(), blocks.days),
    };
    Ok(Some(Finding {
        outcome,
        used_share: used.iter().sum::<f64>() / used.len() as f64,
        untied: problem.baseline_values()[0],
        classes: classes(later, a, b),
    }))
}

/// These jobs of a trace, on its machine.
fn part(trace: &Trace, jobs: &[Job], scheduler: &SchedulerSpec, word: &str) -> Arc<Trace> {
    let workload = Workload {
        name: format!("{}[{word}]", trace.workload.name),
        jobs: jobs.to_vec(),
        ..Workload::clone(&trace.workload)
    };
    let schedulers = std::slice::from_ref(scheduler);
    let (workload, machine) = (Arc::new(workload), trace.topology.clone());
    Arc::new(Trace::new(workload, machine, trace.policy.clone(), schedulers))
}

/// The best candidate with its mean pairwise L1, with EF and without.
fn winners(
    problem: &Problem,
    setting: &Setting,
    watch: Watch<'_>,
) -> Result<[(Candidate, f64); 2], SearchError> {
    let usual = Space::johnson();
    let radii = Range { high: MOST_SHELLS, ..usual.scan_radii };
    let without = Space { scan_radii: radii, slacks: setting.slacks.clone(), ..usual };
    let with = Space { ends: Range { low: 0, high: 1 }, ..without.clone() };
    let run = |archive: &mut Archive, strategy: &mut dyn SearchStrategy, evaluations: u64| {
        let evaluations = Some(evaluations);
        let control = Control { evaluations, keep: None, memory: None, watch, progress: &|_| {} };
        search(problem, strategy, archive, control)?;
        watch.stop.check().map_err(SearchError::from)
    };
    let seed = setting.seed;
    let common = setting.evaluations / 2;
    let drawn = common.div_ceil(2);
    let mut plain = Archive::default();
    run(&mut plain, &mut Random::new(without.clone(), seed), drawn)?;
    run(&mut plain, &mut Local::new(without.clone(), seed), common - drawn)?;
    let mut free = plain.clone();
    let rest = setting.evaluations - common;
    // Another seed than before: the first steps of the same one are known.
    let seed = seed.wrapping_add(1);
    run(&mut plain, &mut Local::new(without, seed), rest)?;
    let strengths = strengthened(&free);
    let listed = (strengths.len() as u64).min(rest / 2);
    run(&mut free, &mut List::new(strengths), listed)?;
    run(&mut free, &mut Local::new(with, seed), rest - listed)?;
    let best = |archive: &Archive| -> Result<(Candidate, f64), SearchError> {
        // A search evaluates at least one candidate.
        let best = archive.best().ok_or(SearchError::Stopped(Stopped))?;
        Ok((best.candidate, best.values.first().copied().unwrap_or(f64::NAN)))
    };
    Ok([best(&free)?, best(&plain)?])
}

/// The best few of a search with EF of every strength, strengths outermost.
fn strengthened(archive: &Archive) -> Vec<Candidate> {
    let ranked = archive.ranked();
    let best: Vec<Candidate> = ranked.iter().take(STRENGTHENED).map(|one| one.candidate).collect();
    let with = |strength: f64| {
        best.iter().filter_map(move |one| {
            let mut factors = one.vector.factors().map(f64::from);
            let largest = factors.iter().fold(0.0, |most: f64, &factor| most.max(factor));
            factors[3] = strength * largest;
            let vector = nearest_vector(one.vector.scan_radius, factors, LARGEST)?;
            Some(Candidate { vector, ..*one })
        })
    };
    STRENGTHS.into_iter().flat_map(with).collect()
}

/// Pairwise L1 by job.
fn pairwise(
    trace: &Trace,
    scheduler: &SchedulerSpec,
    allocator: &AllocatorSpec,
    watch: Watch<'_>,
) -> Result<Vec<u64>, SearchError> {
    let (topology, jobs) = (&trace.topology, &trace.workload.jobs);
    let part = &trace.workload.name;
    let schedule = trace
        .schedule(scheduler, watch.stop)
        .map_err(|cause| SearchError::Timeline { part: part.clone(), cause })?;
    let mut allocator = allocator.build(topology, 0)?;
    let mut locality = Locality::new(topology);
    let mut sums = vec![0; jobs.len()];
    let scene = Scene { jobs, topology, timed: false, stop: watch.stop };
    replay(&schedule.timeline, scene, allocator.as_mut(), false, |decision| {
        sums[decision.job.index()] = locality.pairwise_l1(decision.nodes);
    })
    .map_err(|cause| match cause {
        ReplayError::Stopped(stopped) => stopped.into(),
        cause => SearchError::Replay { part: part.clone(), cause },
    })?;
    Ok(sums)
}

/// Up to ten classes of about as many jobs, sizes whole; jobs of one processor are left out.
fn classes(jobs: &[Job], with: &[u64], without: &[u64]) -> Vec<Class> {
    let mut sizes: std::collections::BTreeMap<u32, [u64; 3]> = Default::default();
    for ((job, &a), &b) in jobs.iter().zip(with).zip(without).filter(|((job, _), _)| job.size > 1) {
        let sums = sizes.entry(job.size).or_default();
        *sums = [sums[0] + 1, sums[1] + a, sums[2] + b];
    }
    let all: u64 = sizes.values().map(|sums| sums[0]).sum();
    let (mut classes, mut before) = (Vec::<(u64, [u32; 2], [u64; 3])>::new(), 0);
    for (size, sums) in sizes {
        // By the job in the middle of the size.
        let class = CLASSES * (2 * before + sums[0]) / (2 * all).max(1);
        before += sums[0];
        match classes.last_mut().filter(|last| last.0 == class) {
            Some((_, sizes, all)) => {
                sizes[1] = size;
                all.iter_mut().zip(sums).for_each(|(all, more)| *all += more);
            }
            None => classes.push((class, [size; 2], sums)),
        }
    }
    let class = |(_, sizes, [jobs, a, b]): (u64, [u32; 2], [u64; 3])| Class {
        sizes,
        jobs,
        gain: improvement_percent(Goal::Min, b as f64, a as f64),
    };
    classes.into_iter().map(class).collect()
}

impl Table for Finding {
    const NAME: &'static str = "estimates";
    const ROW: &'static str = "one row per trace and source of estimates";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        type C = Column<Finding>;
        let mut search = columns_of_the_search();
        search.insert(2, C::new("used_share", "", "mean of run time over estimate, of jobs that keep theirs", |r| r.used_share));
        let winners = vec![
            C::new("tie_with_ends", "", "best vector SR,AF,WF,BF,EF, with @SLACK if any, of the first half", |r| r.outcome.winners[0].to_string()),
            C::new("tie_without_ends", "", "the same with EF = 0", |r| r.outcome.winners[1].to_string()),
            C::new("first_gain_percent", "%", "what EF gains on the first half, where it was searched: how much less the mean pairwise L1 is", |r| r.outcome.first_gain()).rising(),
            C::new("second_gain_percent", "%", "what it gains on the second half's jobs", |r| r.outcome.second_gain()).rising(),
            C::new("second_gain_low", "%", "lower end of its 95 % interval, by blocks of submission time", |r| r.outcome.interval[0]),
            C::new("second_gain_high", "%", "upper end", |r| r.outcome.interval[1]),
            C::new("helps", "", "whether the best vector with EF has EF above 0, its gain on the second half is at least 1 % and the interval above 0: yes or no; null without an interval, of fewer than five blocks", |r| r.outcome.helps_in_words()),
        ];
        let more = vec![
            C::new("first_without_ties", "hops", "mean pairwise L1 of the first half without tie-breaking", |r| r.untied),
            C::new("first_without_ends", "hops", "with the best vector of EF = 0", |r| r.outcome.first[1]),
            C::new("second_without_ends", "hops", "mean pairwise L1 of the second half's jobs with the best vector of EF = 0", |r| r.outcome.second[1]),
            C::new("second_with_ends", "hops", "with the best vector with EF", |r| r.outcome.second[0]),
            C::new("worst_class", "processors", "sizes of the class that fares worst, of up to ten of about as many jobs", |r| r.worst().map(|class| format!("{}..{}", class.sizes[0], class.sizes[1]))),
            C::new("worst_class_gain", "%", "what EF gains there", |r| r.worst().map(|class| class.gain)),
            C::new("classes", "%", "gain by class of size, SIZES:GAIN", |r| r.classes.iter().map(|class| format!("{}..{}:{:.2}", class.sizes[0], class.sizes[1], class.gain)).collect::<Vec<_>>().join(" ")),
        ];
        [columns_of_the_scene(), search, winners, columns_of_the_blocks(), more].into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests;
