//! How distances, dispersal and stretch go together: over the jobs of each run, and over the
//! allocators of each trace, machine, scheduler and seed.

use super::Outcome;
use super::means::{Means, settings, varied};
use crate::experiment::RunKey;
use crate::experiment::contention::JobContention;
use crate::frame::NamedRow;
use crate::metrics::correlation::{pearson, spearman};
use crate::number::{fixed, grouped};
use crate::report::{Align, Sheet, Value};

/// Pairwise L1, mean distance, dispersal and stretch of a job or of an allocator's mean job.
type Measures = [f64; 4];

/// Which of the [`Measures`] are compared: title, column of Pearson's, of Spearman's
/// coefficient, and the two.
const PAIRS: [(&str, &str, &str, usize, usize); 4] = [
    ("L1 ~ stretch", "pearson_pairwise_l1_stretch", "spearman_pairwise_l1_stretch", 0, 3),
    ("distance ~ stretch", "pearson_distance_stretch", "spearman_distance_stretch", 1, 3),
    ("dispersal ~ stretch", "pearson_dispersal_stretch", "spearman_dispersal_stretch", 2, 3),
    ("L1 ~ dispersal", "pearson_pairwise_l1_dispersal", "spearman_pairwise_l1_dispersal", 0, 2),
];

/// Correlations over jobs or over allocators.
pub struct Correlations<'a> {
    /// Of the jobs of this run, or of the first of these allocators.
    key: &'a RunKey,
    over_jobs: bool,
    measures: Vec<Measures>,
}

impl<'a> Correlations<'a> {
    /// Those of every run, over the jobs that send packets, then those over allocators.
    pub fn of(outcomes: &'a [Outcome]) -> Vec<Self> {
        let jobs = outcomes.iter().map(|Outcome { key, run, .. }| Self {
            key,
            over_jobs: true,
            measures: run.jobs.iter().filter_map(of_job).collect(),
        });
        let groups = settings(outcomes).into_iter().map(|group| Self {
            key: &group[0].key,
            over_jobs: false,
            measures: group.iter().filter_map(|outcome| of_allocator(outcome)).collect(),
        });
        jobs.chain(groups).collect()
    }

    fn pairs(&self, x: usize, y: usize) -> Vec<(f64, f64)> {
        self.measures.iter().map(|measures| (measures[x], measures[y])).collect()
    }

    /// As named values at full precision.
    pub fn row(&self) -> NamedRow {
        let key = self.key;
        let of_run = |value: Value| if self.over_jobs { value } else { Value::Missing };
        let mut row = vec![
            ("over", Value::from(if self.over_jobs { "jobs" } else { "allocators" })),
            ("trace", Value::from(key.trace.as_str())),
            ("topology", Value::from(key.topology.as_str())),
            ("scheduler", Value::from(key.scheduler.as_str())),
            ("allocator", of_run(Value::from(key.allocator.as_str()))),
            ("tie", of_run(key.tie.as_deref().map_or(Value::Missing, Value::from))),
            ("seed", Value::Unsigned(key.seed)),
            ("points", Value::Unsigned(self.measures.len() as u64)),
        ];
        for (_, by_value, by_rank, x, y) in PAIRS {
            let pairs = self.pairs(x, y);
            row.push((by_value, Value::from(pearson(&pairs))));
            row.push((by_rank, Value::from(spearman(&pairs))));
        }
        row
    }

    /// As a table for people.
    pub fn sheet(all: &[Self]) -> Sheet {
        let (machines, seeds) = varied(all.iter().map(|one| one.key));
        let of = |key: &RunKey| {
            let mut name = format!("{} {}", key.trace, key.scheduler);
            if machines {
                name.push_str(&format!(" {}", key.topology));
            }
            if seeds {
                name.push_str(&format!(" seed {}", key.seed));
            }
            name
        };
        let mut header = vec![("over", Align::Left), ("of", Align::Right)];
        for (title, ..) in PAIRS {
            header.extend([(title, Align::Right), ("by rank", Align::Right)]);
        }
        let mut sheet = Sheet::new(&header);
        for correlations in all {
            let Self { key, over_jobs, measures } = correlations;
            let over = match over_jobs {
                true => format!("jobs, {} {}", of(key), key.strategy()),
                false => format!("allocators, {}", of(key)),
            };
            let mut row = vec![over, grouped(measures.len() as u64)];
            for (_, _, _, x, y) in PAIRS {
                let pairs = correlations.pairs(x, y);
                let text = |r: Option<f64>| r.map_or("-".to_string(), |r| fixed(r, 3));
                row.extend([text(pearson(&pairs)), text(spearman(&pairs))]);
            }
            sheet.push(row);
        }
        sheet
    }
}

fn of_job(job: &JobContention) -> Option<Measures> {
    let place = &job.placement;
    Some([place.pairwise_l1 as f64, job.mean_distance(), place.dispersal, job.stretch()?])
}

fn of_allocator(outcome: &Outcome) -> Option<Measures> {
    let means = Means::of(&outcome.run);
    Some([means.pairwise_l1?, means.distance?, means.dispersal?, means.stretch?])
}
