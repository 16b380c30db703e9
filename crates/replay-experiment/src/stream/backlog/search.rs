//! A search for the way to choose among boxes that keeps a torus busiest.
//!
//! Streams are cut in two. Ways are tried on the first halves: all that [`points`] lists on a few jobs
//! of one stream, the best third of them on three times as much, and so on until all streams are used in
//! full; then weights and slack of the best are changed one by one, as long as that helps. What is
//! found is judged on the second halves, which begin with an idle torus and which the search never saw.

use rayon::prelude::*;

use serde::{Deserialize, Serialize};

use super::{Backlog, Bench, CONFIDENCE, Job, Rule, gain, percent};
use crate::RunContext;
use crate::journal::CellId;
use crate::stream::{PointError, SampleError};
use replay_core::allocator::torus3d::selection_rules::{SelectionRule, points};
use replay_core::cancel::Cancelled;
use replay_core::metrics::estimate::Accumulator;
use replay_core::placement::ties::{CandidateFilter, TermWeights};
use replay_core::table::{Column, Table, name};

/// Of so many ways one goes on, on so many times as many jobs.
const KEPT: usize = 3;

/// The fewest jobs on which a way is tried.
const FEWEST: usize = 250;

/// Rounds of changes of the best.
const ROUNDS: usize = 4;

/// The best way of a search, and the shares of the torus that rules keep busy, by stream.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Best {
    /// The best on the first halves, as parameters of `placements`.
    pub way: String,
    /// Ways that were tried.
    tried: usize,
    /// Its shares on the first and on the second halves.
    halves: [Vec<f64>; 2],
    /// Those of Slurm's rule.
    slurm: [Vec<f64>; 2],
    /// Those of DL alone on the second halves.
    delay: Vec<f64>,
}

/// The best way for a backlog: a row of the table of searches.
#[derive(Clone, Debug)]
pub struct Found(pub Backlog, pub Best);

/// By stream, the two halves of its jobs.
type Halves = Vec<[Vec<Job>; 2]>;

impl Backlog {
    /// Identifies a search among those of other backlogs, tori (`boxes`), seeds and numbers of streams.
    pub fn search_id(&self, boxes: &str, seed: u64, streams: u64) -> CellId {
        let jobs = self.jobs;
        CellId::of(&format!(
            "replay backlog search 1\n{boxes}\n{self}\n{jobs}\n{seed}\n{streams}\n"
        ))
    }

    /// Searches on so many streams with the seeds from `seed` on, on the current rayon pool.
    ///
    /// # Errors
    /// [`PointError`].
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
        Some([first, second])
    };
    let streams = (0..streams).map(halves).collect::<Option<Halves>>();
    let streams = streams.ok_or(SampleError::Drained)?;
    let run = |jobs: &[Job], rule: Rule| bench.run(jobs, rule, task.window, watch);
    let mut tried = 0;
    // By way, its mean over so many streams of so many jobs of each first half.
    let mut try_on = |ways: &[SelectionRule],
                      used: usize,
                      jobs: usize|
     -> Result<Vec<(f64, SelectionRule)>, Cancelled> {
        tried += ways.len();
        let mean = |&way: &SelectionRule| -> Result<(f64, SelectionRule), Cancelled> {
            let of = |[first, _]: &[Vec<Job>; 2]| run(&first[..jobs], Rule::SelectionRule(way));
            let all: Vec<f64> = streams[..used].par_iter().map(of).collect::<Result<_, _>>()?;
            Ok((all.iter().sum::<f64>() / used as f64, way))
        };
        let mut found: Vec<(f64, SelectionRule)> =
            ways.par_iter().map(mean).collect::<Result<_, _>>()?;
        // It keeps the order of equals.
        found.sort_by(|one, other| other.0.total_cmp(&one.0));
        Ok(found)
    };
    let half = task.jobs / 2;
    let mut ways: Vec<SelectionRule> =
        points(bench.ties.has_walls(), None).iter().map(|point| point.way).collect();
    let (mut used, mut jobs) = (1, FEWEST.min(half));
    let mut best = loop {
        let found = try_on(&ways, used, jobs)?;
        if used == streams.len() && jobs == half {
            break found[0];
        }
        ways = found.iter().map(|one| one.1).take(ways.len().div_ceil(KEPT)).collect();
        match jobs < half {
            true => jobs = (jobs * KEPT).min(half),
            false => used = (used * KEPT).min(streams.len()),
        }
    };
    let mut known = ways;
    for _ in 0..ROUNDS {
        let mut next = Vec::new();
        for way in changed(best.1) {
            if !known.contains(&way) {
                known.push(way);
                next.push(way);
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
    let rule = Rule::SelectionRule(best.1);
    let halves = [on(0, rule)?, on(1, rule)?];
    let slurm = [on(0, Rule::SLURM)?, on(1, Rule::SLURM)?];
    let delay = on(1, Rule::DELAY)?;
    if halves.iter().chain(&slurm).chain([&delay]).flatten().any(|share| !share.is_finite()) {
        return Err(SampleError::Drained);
    }
    Ok(Best { way: best.1.to_string(), tried, halves, slurm, delay })
}

/// Ways that differ from one in one weight, by a factor of three, or in the slack, by two.
fn changed(way: SelectionRule) -> Vec<SelectionRule> {
    let SelectionRule::Terms(weights, filter) = way else { return Vec::new() };
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

impl Table for Found {
    const NAME: &'static str = "saturated_search";
    const ROW: &'static str =
        "one row per mix, estimates and window: the way to place that was found";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        let mean = |of: fn(&Self) -> Accumulator| move |row: &Self| Some(of(row).estimate(CONFIDENCE).mean).filter(|one| one.is_finite());
        let half = |of: fn(&Self) -> Accumulator| move |row: &Self| Some(of(row).estimate(CONFIDENCE).half_width).filter(|one| one.is_finite());
        let second_gain = |row: &Self| gain(&row.1.halves[1], &row.1.slurm[1]);
        let over_delay = |row: &Self| gain(&row.1.halves[1], &row.1.delay);
        vec![
            Column::text(name::mix, "sizes of the jobs", |row: &Self| Some(row.0.mix.name())),
            Column::text(name::estimates, "what jobs say of their service time", |row: &Self| Some(row.0.estimates.name())),
            Column::new(name::window, "jobs", "waiting jobs that may start, the first included", |row: &Self| row.0.window as u32),
            Column::text(name::way, "what was found on the first halves, as parameters of placements", |row: &Self| Some(&*row.1.way)),
            Column::new(name::ways_tried, "", "ways that were tried, most of them on few jobs", |row: &Self| row.1.tried as u32),
            Column::new(name::stream_jobs, "jobs", "jobs of each stream", |row: &Self| row.0.jobs as u32),
            Column::new(name::streams, "", "streams, each with a seed of its own", |row: &Self| row.1.delay.len() as u32),
            Column::new(name::first_half_utilization, "%", "busy processors over all on the first halves, on which it was chosen, mean over streams", mean(|row| percent(&row.1.halves[0]))),
            Column::new(name::first_half_gain_on_slurm, "%", "the same minus that of slurm, in percentage points", mean(|row| gain(&row.1.halves[0], &row.1.slurm[0]))),
            Column::new(name::second_half_utilization, "%", "busy processors over all on the second halves, which the search never saw, mean over streams", mean(|row| percent(&row.1.halves[1]))),
            Column::new(name::second_half_gain_on_slurm, "%", "the same minus that of slurm, in percentage points", mean(second_gain)),
            Column::new(name::second_half_gain_on_slurm_half_width, "%", "half of the 95 % interval of that gain, by streams", half(second_gain)),
            Column::new(name::second_half_gain_on_dl, "%", "utilization on the second halves minus that of dl, in percentage points", mean(over_delay)),
            Column::new(name::second_half_gain_on_dl_half_width, "%", "half of the 95 % interval of that gain, by streams", half(over_delay)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::backlog::{Estimates, Mix};
    use replay_core::cancel::CancelToken;
    use replay_core::placement::menu::{Anchors, Menu};
    use replay_core::topology::Topology;

    fn bench() -> Bench {
        let topology: Topology = "torus:8x8x8".parse().expect("a machine");
        let menu: Menu = "list:2x2x2+2x4x4+4x4x4+8x4x4".parse().expect("a menu");
        let grid = topology.grid().expect("a grid");
        Bench::new(menu.torus(grid, Anchors::Aligned, true).expect("a torus"))
    }

    /// What is reported is what the way comes to on each half, and it is at least as good on the first
    /// as what it was changed from.
    #[test]
    fn what_is_found_is_judged_on_what_was_not_searched() {
        let (bench, stop) = (bench(), CancelToken::new());
        let (mix, estimates) = (Mix::ALL[1].1, Estimates::Exact);
        let task = Backlog { mix, estimates, window: 1, jobs: 700 };
        let found = task.search(&bench, 4, 3, RunContext::new(&stop)).expect("a way");
        let all = points(false, None).into_iter().map(|point| point.way);
        let mut ways: Vec<SelectionRule> = all.collect();
        for _ in 0..ROUNDS {
            let more: Vec<SelectionRule> = ways.iter().flat_map(|&way| changed(way)).collect();
            if ways.iter().any(|way| way.to_string() == found.way) {
                break;
            }
            ways = more;
        }
        let way = ways.into_iter().find(|way| way.to_string() == found.way).expect("its way");
        for (half, known) in found.halves.iter().enumerate() {
            let of = |seed: u64| {
                let jobs = mix.draw(bench.torus(), 700, estimates, seed).expect("sizes");
                let jobs = [&jobs[..350], &jobs[350..]][half];
                bench.run(jobs, Rule::SelectionRule(way), 1, RunContext::new(&stop)).expect("runs")
            };
            assert_eq!((4..7).map(of).collect::<Vec<_>>(), *known, "{half}");
        }
        assert!(found.tried > points(false, None).len());
        stop.raise();
        let stopped = task.search(&bench, 4, 3, RunContext::new(&stop));
        assert!(matches!(stopped, Err(PointError::Run { error: SampleError::Cancelled(_), .. })));
    }

    #[test]
    fn a_change_is_of_one_weight() {
        assert_eq!(changed(SelectionRule::Slurm), []);
        let terms =
            |weights| SelectionRule::Terms(TermWeights::of(weights), CandidateFilter::Compact(0.5));
        let names: Vec<String> =
            changed(terms([100, 0, 1, 0, 0, 0])).iter().map(SelectionRule::to_string).collect();
        let expected = [
            "tie=300,0,1,slack=0.5",
            "tie=33,0,1,slack=0.5",
            "tie=100,0,3,slack=0.5",
            "tie=100,0,1,slack=1",
            "tie=100,0,1,slack=0.25",
        ];
        assert_eq!(names, expected);
        assert!(changed(terms([TermWeights::MAX, 0, 0, 0, 0, 0])).len() == 3);
    }
}
