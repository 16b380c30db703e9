//! Search for the box selection rule that gives the highest utilization of a torus.
//!
//! Each stream is split into two halves. Rules are evaluated on the first halves. In the first round, all rules of
//! [`points`] are evaluated on a few jobs of one stream. In each further round, the best third of the rules is
//! evaluated on three times as many jobs, until all jobs of the first halves of the streams are used. Then the weights
//! and the slack of the best rule are changed one at a time, until no change increases the utilization. The final rule
//! is evaluated on the second halves, which begin with an idle torus and are not used by the search.

use rayon::prelude::*;

use serde::{Deserialize, Serialize};

use super::{Backlog, Bench, CONFIDENCE, Job, Rule, gain, percent};
use crate::Outcome;
use replay_engine::cancel::Cancelled;
use replay_engine::metrics::estimate::Accumulator;
use replay_engine::table::{Column, Table, names};
use replay_experiment::RunContext;
use replay_experiment::compatibility::Incompatible;
use replay_experiment::journal::CellId;
use replay_experiment::stream::{PointError, SampleError};
use replay_slurm::placement::ties::{CandidateFilter, TermWeights};
use replay_slurm::torus3d::selection_rules::{SelectionRule, points};

/// In each round, the number of rules is divided by this factor, and the number of jobs is multiplied by
/// this factor.
const SHRINKAGE: usize = 3;

/// Smallest number of jobs on which a rule is evaluated.
const FEWEST: usize = 250;

/// Largest number of rounds in which the weights and the slack of the best rule are changed.
const ROUNDS: usize = 4;

/// The best rule of a search, and for each stream the utilization under this rule and under other rules.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Best {
    /// The rule that is best on the first halves, written as parameters of `placements`.
    pub way: String,
    /// Number of rules evaluated.
    tried: usize,
    /// Utilization of the best rule on the first halves, and on the second halves.
    halves: [Vec<f64>; 2],
    /// Utilization of Slurm's rule on the first halves, and on the second halves.
    slurm: [Vec<f64>; 2],
    /// Utilization on the second halves under the rule whose only term is DL.
    delay: Vec<f64>,
}

/// A row of the table of searches: a backlog and its best rule.
#[derive(Clone, Debug)]
pub struct Found(pub Backlog, pub Best);

/// For each stream, the jobs of its two halves.
type Halves = Vec<[Vec<Job>; 2]>;

impl Backlog {
    /// Id of a search. Different backlogs, tori (`boxes`), seeds and numbers of streams have different ids.
    pub fn search_id(&self, boxes: &str, seed: u64, streams: u64) -> CellId {
        let jobs = self.jobs;
        CellId::of(&format!(
            "replay backlog search 1\n{boxes}\n{self}\n{jobs}\n{seed}\n{streams}\n"
        ))
    }

    /// Searches on `streams` streams, whose seeds are consecutive and begin with `seed`. Runs on the current rayon
    /// pool.
    ///
    /// # Errors
    /// [`PointError`] if a run fails or is cancelled.
    pub fn search(
        &self,
        bench: &Bench,
        seed: u64,
        streams: u64,
        watch: RunContext<'_>,
    ) -> Result<Best, PointError> {
        let best = search(self, bench, seed, streams, watch);
        best.map_err(|error| PointError::Run { replication: 0, error })
    }
}

fn search(
    task: &Backlog,
    bench: &Bench,
    seed: u64,
    streams: u64,
    watch: RunContext<'_>,
) -> Result<Best, SampleError> {
    let halves = |stream: u64| {
        let seed = seed.wrapping_add(stream);
        let mut first = task.mix.draw(bench.torus(), task.jobs, task.estimates, seed)?;
        let second = first.split_off(task.jobs / 2);
        Ok([first, second])
    };
    let streams = (0..streams).map(halves).collect::<Result<Halves, Incompatible>>()?;
    let run = |jobs: &[Job], rule: Rule| bench.run(jobs, rule, task.window, watch);
    let mut tried = 0;
    // Returns the rules with their mean utilization, best first. A rule is evaluated on `used` streams, in each of them
    // on the first `jobs` jobs of the first half.
    let mut try_on = |rules: &[SelectionRule],
                      used: usize,
                      jobs: usize|
     -> Result<Vec<(f64, SelectionRule)>, Cancelled> {
        tried += rules.len();
        let mean = |&selection: &SelectionRule| -> Result<(f64, SelectionRule), Cancelled> {
            let of = |[first, _]: &[Vec<Job>; 2]| run(&first[..jobs], Rule::Selection(selection));
            let all: Vec<f64> = streams[..used].par_iter().map(of).collect::<Result<_, _>>()?;
            Ok((all.iter().sum::<f64>() / used as f64, selection))
        };
        let mut found: Vec<(f64, SelectionRule)> =
            rules.par_iter().map(mean).collect::<Result<_, _>>()?;
        // The sort is stable: rules with equal utilization keep their order.
        found.sort_by(|one, other| other.0.total_cmp(&one.0));
        Ok(found)
    };
    let half = task.jobs / 2;
    let mut rules: Vec<SelectionRule> =
        points(bench.ties.has_walls(), None).iter().map(|point| point.rule).collect();
    let (mut used, mut jobs) = (1, FEWEST.min(half));
    let mut best = loop {
        let found = try_on(&rules, used, jobs)?;
        if used == streams.len() && jobs == half {
            break found[0];
        }
        rules = found.iter().map(|one| one.1).take(rules.len().div_ceil(SHRINKAGE)).collect();
        match jobs < half {
            true => jobs = (jobs * SHRINKAGE).min(half),
            false => used = (used * SHRINKAGE).min(streams.len()),
        }
    };
    let mut known = rules;
    for _ in 0..ROUNDS {
        let mut next = Vec::new();
        for selection in variations(best.1) {
            if !known.contains(&selection) {
                known.push(selection);
                next.push(selection);
            }
        }
        let found = try_on(&next, streams.len(), half)?;
        match found.first() {
            Some(&better) if better.0 > best.0 => best = better,
            _ => break,
        }
    }
    let on = |half: usize, rule: Rule| -> Result<Vec<f64>, Cancelled> {
        streams.par_iter().map(|halves| run(&halves[half], rule)).collect()
    };
    let rule = Rule::Selection(best.1);
    let halves = [on(0, rule)?, on(1, rule)?];
    let slurm = [on(0, Rule::SLURM)?, on(1, Rule::SLURM)?];
    let delay = on(1, Rule::DELAY)?;
    if halves.iter().chain(&slurm).chain([&delay]).flatten().any(|share| !share.is_finite()) {
        return Err(SampleError::Drained);
    }
    Ok(Best { way: best.1.to_string(), tried, halves, slurm, delay })
}

/// Returns the variations of a rule: one weight is changed by a factor of three, or the slack by a factor of two.
fn variations(selection: SelectionRule) -> Vec<SelectionRule> {
    let SelectionRule::Terms(weights, filter) = selection else { return Vec::new() };
    let mut all = Vec::new();
    for place in 0..TermWeights::TERMS.len() {
        let weight = weights.entries()[place];
        for changed in [weight.saturating_mul(3), weight / 3] {
            let mut entries = weights.entries();
            entries[place] = changed.clamp(-TermWeights::MAX, TermWeights::MAX);
            if changed != 0 && entries[place] != weight {
                all.push(SelectionRule::Terms(TermWeights::of(entries), filter));
            }
        }
    }
    if let CandidateFilter::Compact(slack) = filter {
        all.extend(
            [2.0, 0.5]
                .map(|by| SelectionRule::Terms(weights, CandidateFilter::Compact(slack * by))),
        );
    }
    all
}

impl Found {
    names! {
        FIRST_HALF_GAIN_ON_SLURM = "first_half_gain_on_slurm",
        SECOND_HALF_GAIN_ON_DL = "second_half_gain_on_dl",
        SECOND_HALF_GAIN_ON_DL_HALF_WIDTH = "second_half_gain_on_dl_half_width",
        SECOND_HALF_GAIN_ON_SLURM = "second_half_gain_on_slurm",
        SECOND_HALF_GAIN_ON_SLURM_HALF_WIDTH = "second_half_gain_on_slurm_half_width",
        WAY = "way",
        WAYS_TRIED = "ways_tried",
    }
}

impl Table for Found {
    const NAME: &'static str = "saturated_search";
    const ROW: &'static str =
        "one row per mix, estimates and window: the selection rule that was found";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        let mean = |of: fn(&Self) -> Accumulator| move |row: &Self| Some(of(row).estimate(CONFIDENCE).mean).filter(|one| one.is_finite());
        let half = |of: fn(&Self) -> Accumulator| move |row: &Self| Some(of(row).estimate(CONFIDENCE).half_width).filter(|one| one.is_finite());
        let second_gain = |row: &Self| gain(&row.1.halves[1], &row.1.slurm[1]);
        let over_delay = |row: &Self| gain(&row.1.halves[1], &row.1.delay);
        vec![
            Column::text(Outcome::MIX, "sizes of the jobs", |row: &Self| Some(row.0.mix.name())),
            Column::text(Outcome::ESTIMATES, "kind of estimates of service times", |row: &Self| Some(row.0.estimates.name())),
            Column::new(Outcome::WINDOW, "jobs", "number of waiting jobs that may start, including the first", |row: &Self| row.0.window as u32),
            Column::text(Found::WAY, "selection rule found on the first halves of the streams, written as parameters of the allocator placements", |row: &Self| Some(&*row.1.way)),
            Column::new(Found::WAYS_TRIED, "", "number of selection rules evaluated, most of them on few jobs", |row: &Self| row.1.tried as u32),
            Column::new(Outcome::STREAM_JOBS, "jobs", "number of jobs per stream", |row: &Self| row.0.jobs as u32),
            Column::new(Outcome::STREAMS, "", "number of streams, each with its own seed", |row: &Self| row.1.delay.len() as u32),
            Column::new("first_half_utilization", "%", "utilization on the first halves, which the search used, mean over streams", mean(|row| percent(&row.1.halves[0]))),
            Column::new(Found::FIRST_HALF_GAIN_ON_SLURM, "%", "first_half_utilization minus the first_half_utilization of the rule slurm, in percentage points", mean(|row| gain(&row.1.halves[0], &row.1.slurm[0]))),
            Column::new("second_half_utilization", "%", "utilization on the second halves, which the search did not use, mean over streams", mean(|row| percent(&row.1.halves[1]))),
            Column::new(Found::SECOND_HALF_GAIN_ON_SLURM, "%", "second_half_utilization minus the second_half_utilization of the rule slurm, in percentage points", mean(second_gain)),
            Column::new(Found::SECOND_HALF_GAIN_ON_SLURM_HALF_WIDTH, "%", "half the width of the 95 % interval of second_half_gain_on_slurm over streams", half(second_gain)),
            Column::new(Found::SECOND_HALF_GAIN_ON_DL, "%", "second_half_utilization minus the second_half_utilization of the rule dl, in percentage points", mean(over_delay)),
            Column::new(Found::SECOND_HALF_GAIN_ON_DL_HALF_WIDTH, "%", "half the width of the 95 % interval of second_half_gain_on_dl over streams", half(over_delay)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Estimates, Mix};
    use replay_engine::cancel::CancelToken;
    use replay_engine::topology::Topology;
    use replay_slurm::placement::menu::{Anchors, Menu};

    fn bench() -> Bench {
        let topology: Topology = "torus:8x8x8".parse().expect("a machine");
        let menu: Menu = "list:2x2x2+2x4x4+4x4x4+8x4x4".parse().expect("a menu");
        Bench::new(&topology, &menu, Anchors::Aligned, true).expect("a torus")
    }

    /// The reported utilizations equal those of separate runs of the found rule on the two halves.
    #[test]
    fn reports_utilization_on_both_halves() {
        let (bench, stop) = (bench(), CancelToken::new());
        let (mix, estimates) = (Mix::ALL[1].1, Estimates::Exact);
        let task = Backlog { mix, estimates, window: 1, jobs: 700 };
        let found = task.search(&bench, 4, 3, RunContext::new(&stop)).expect("a rule");
        let all = points(false, None).into_iter().map(|point| point.rule);
        let mut rules: Vec<SelectionRule> = all.collect();
        for _ in 0..ROUNDS {
            let more: Vec<SelectionRule> =
                rules.iter().flat_map(|&selection| variations(selection)).collect();
            if rules.iter().any(|selection| selection.to_string() == found.way) {
                break;
            }
            rules = more;
        }
        let selection = rules
            .into_iter()
            .find(|selection| selection.to_string() == found.way)
            .expect("a known rule");
        for (half, known) in found.halves.iter().enumerate() {
            let of = |seed: u64| {
                let jobs = mix.draw(bench.torus(), 700, estimates, seed).expect("sizes");
                let jobs = [&jobs[..350], &jobs[350..]][half];
                bench
                    .run(jobs, Rule::Selection(selection), 1, RunContext::new(&stop))
                    .expect("runs")
            };
            assert_eq!((4..7).map(of).collect::<Vec<_>>(), *known, "{half}");
        }
        assert!(found.tried > points(false, None).len());
        stop.raise();
        let stopped = task.search(&bench, 4, 3, RunContext::new(&stop));
        assert!(matches!(stopped, Err(PointError::Run { error: SampleError::Cancelled(_), .. })));
    }

    #[test]
    fn changes_affect_one_weight() {
        assert_eq!(variations(SelectionRule::Slurm), []);
        let terms =
            |weights| SelectionRule::Terms(TermWeights::of(weights), CandidateFilter::Compact(0.5));
        let names: Vec<String> =
            variations(terms([100, 0, 1, 0, 0, 0])).iter().map(SelectionRule::to_string).collect();
        let expected = [
            "tie=300,0,1,slack=0.5",
            "tie=33,0,1,slack=0.5",
            "tie=100,0,3,slack=0.5",
            "tie=100,0,1,slack=1",
            "tie=100,0,1,slack=0.25",
        ];
        assert_eq!(names, expected);
        assert!(variations(terms([TermWeights::MAX, 0, 0, 0, 0, 0])).len() == 3);
    }
}
