//! Correlations between distances, dispersal and stretch. The correlations are computed over the jobs of each run, and
//! over the allocators for each combination of trace, machine, scheduler and seed.

use super::{ContentionRun, TraceRun};
use crate::RunKey;
use replay_engine::metrics::correlation::{FEWEST, pearson, spearman};
use replay_engine::table::{Column, Name, Table, names};

/// Measures of a job, or mean measures of an allocator.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    pairwise_l1: f64,
    distance: f64,
    dispersal: f64,
    stretch: f64,
    placement: f64,
    contention: f64,
}

impl Point {
    /// Returns one point for each job that sends packets.
    pub(super) fn of_jobs(run: &TraceRun) -> Vec<Self> {
        let point = |job: &super::JobContention| {
            Some(Self {
                pairwise_l1: job.placement.pairwise_l1 as f64,
                distance: job.distance(),
                dispersal: job.placement.dispersal,
                stretch: job.stretch()?,
                placement: job.placement_factor()?,
                contention: job.contention_factor()?,
            })
        };
        run.jobs.iter().filter_map(point).collect()
    }

    fn of_run(run: &ContentionRun) -> Option<Self> {
        Some(Self {
            pairwise_l1: run.means.mean_sending_pairwise_l1?,
            distance: run.means.mean_distance?,
            dispersal: run.means.mean_sending_dispersal?,
            stretch: run.means.mean_stretch?,
            placement: run.means.mean_placement_factor?,
            contention: run.means.mean_contention_factor?,
        })
    }
}

/// Two correlated measures.
pub struct Pair {
    /// Title in printed tables.
    pub title: &'static str,
    /// Name and meaning of the column of Pearson's coefficient.
    pub pearson: (Name, &'static str),
    /// Name and meaning of the column of Spearman's coefficient.
    pub spearman: (Name, &'static str),
    /// Axis titles of a figure.
    pub axes: (&'static str, &'static str),
    of: fn(&Point) -> (f64, f64),
}

impl Pair {
    /// Returns the values of the two measures at every point.
    pub fn points(&self, points: &[Point]) -> Vec<(f64, f64)> {
        points.iter().map(self.of).collect()
    }

    /// Returns the title of a panel: the number of points, and the two coefficients if there are enough points.
    pub fn summary(&self, points: &[Point]) -> String {
        let pairs = self.points(points);
        let count = pairs.len();
        match (pearson(&pairs), spearman(&pairs)) {
            (Some(r), Some(by_rank)) => format!("r {r:.2}, by rank {by_rank:.2}, n {count}"),
            _ if count < FEWEST => format!("n {count}, too few for a correlation"),
            _ => format!("no correlation, n {count}"),
        }
    }
}

macro_rules! pair {
    ($title:literal, $x:ident, $y:ident, $words:literal, $axes:expr) => {
        Pair {
            title: $title,
            axes: $axes,
            pearson: (
                Name::new(concat!("pearson_", stringify!($x), "_", stringify!($y))),
                concat!(
                    "Pearson's correlation of ",
                    $words,
                    " over the points; null if there are fewer than eight points or if a measure does not vary"
                ),
            ),
            spearman: (
                Name::new(concat!("spearman_", stringify!($x), "_", stringify!($y))),
                concat!(
                    "Spearman's rank correlation of ",
                    $words,
                    " over the points; null if there are fewer than eight points or if a measure does not vary"
                ),
            ),
            of: |point| (point.$x, point.$y),
        }
    };
}

/// Correlated pairs.
pub static PAIRS: [Pair; 6] = [
    pair!(
        "L1 ~ stretch",
        pairwise_l1,
        stretch,
        "pairwise L1 and stretch",
        ("Pairwise L1 (hops)", "Stretch")
    ),
    pair!(
        "distance ~ stretch",
        distance,
        stretch,
        "mean hop distance and stretch",
        ("Distance (hops)", "Stretch")
    ),
    pair!(
        "dispersal ~ stretch",
        dispersal,
        stretch,
        "dispersal and stretch",
        ("Dispersal", "Stretch")
    ),
    pair!(
        "distance ~ placement",
        distance,
        placement,
        "mean hop distance and placement factor",
        ("Distance (hops)", "Placement factor")
    ),
    pair!(
        "distance ~ contention",
        distance,
        contention,
        "mean hop distance and contention factor",
        ("Distance (hops)", "Contention factor")
    ),
    pair!(
        "L1 ~ dispersal",
        pairwise_l1,
        dispersal,
        "pairwise L1 and dispersal",
        ("Pairwise L1 (hops)", "Dispersal")
    ),
];

/// Returns the columns of the two coefficients of a pair, computed over the points of a row.
fn columns<Row>(
    pair: &'static Pair,
    points: impl Fn(&Row) -> Vec<Point> + Copy + Send + Sync + 'static,
) -> [Column<Row>; 2] {
    let pairs = move |row: &Row| points(row).iter().map(pair.of).collect::<Vec<_>>();
    [
        Column::new(pair.pearson.0, "", pair.pearson.1, move |row| pearson(&pairs(row))),
        Column::new(pair.spearman.0, "", pair.spearman.1, move |row| spearman(&pairs(row))),
    ]
}

/// Returns the columns of four correlations: the coefficients of Spearman and Pearson for distance with stretch, and
/// for dispersal with stretch.
pub(super) fn distance_columns<Row>(
    points: impl Fn(&Row) -> Vec<Point> + Copy + Send + Sync + 'static,
) -> [Column<Row>; 4] {
    let [pearson_distance, spearman_distance] = columns(&PAIRS[1], points);
    let [pearson_dispersal, spearman_dispersal] = columns(&PAIRS[2], points);
    [spearman_distance, spearman_dispersal, pearson_distance, pearson_dispersal]
}

/// Correlations over jobs or over allocators.
#[derive(Clone, Debug)]
pub struct Correlations<'a> {
    /// Key of the run that contains the jobs, or of the run of the first allocator.
    pub key: &'a RunKey,
    /// Whether each point is a job (true) or an allocator (false).
    pub over_jobs: bool,
    /// The points.
    pub points: Vec<Point>,
    /// Names of the strategies if the points are allocators.
    pub names: Vec<String>,
}

impl<'a> Correlations<'a> {
    /// Computes the correlations over the sending jobs of each unperturbed run, followed by the correlations over the
    /// allocators of each [setting](settings).
    pub fn of(runs: &'a [ContentionRun]) -> Vec<Self> {
        let jobs = runs.iter().filter(|run| run.is_unshaken()).map(|run| Self {
            key: &run.key,
            over_jobs: true,
            points: Point::of_jobs(&run.result),
            names: Vec::new(),
        });
        let groups = settings(runs).into_iter().map(|group| {
            let named =
                group.iter().filter_map(|run| Some((Point::of_run(run)?, run.key.strategy())));
            let (points, names) = named.unzip();
            Self { key: &group[0].key, over_jobs: false, points, names }
        });
        jobs.chain(groups).collect()
    }
}

impl Correlations<'_> {
    names! {
        POINTS = "points",
    }
}

impl Table for Correlations<'_> {
    const NAME: &'static str = "correlations";
    const ROW: &'static str = "one row per run, computed over its sending jobs, and one row per trace, policy, machine, scheduler and seed, computed over the allocators";

    fn columns() -> Vec<Column<Self>> {
        let [trace, topology, scheduler, allocator, tie, policy, seed, _] =
            RunKey::columns(|key: &RunKey| key);
        let mut columns =
            vec![Column::text("over", "kind of points: jobs or allocators", |of: &Self| {
                Some(if of.over_jobs { "jobs" } else { "allocators" })
            })];
        columns.extend([trace, topology, scheduler].map(|c| c.of(|of: &Self| Some(of.key))));
        let of_run = |c: Column<RunKey>| c.of(|of: &Self| of.over_jobs.then_some(of.key));
        columns.extend([allocator, tie].map(of_run));
        columns.extend([policy, seed].map(|c| c.of(|of: &Self| Some(of.key))));
        columns.push(Column::new(Correlations::POINTS, "", "number of points", |of: &Self| {
            of.points.len()
        }));
        let points = |of: &Self| of.points.clone();
        columns.extend(PAIRS.iter().flat_map(|pair| self::columns(pair, points)));
        columns
    }
}

/// Groups unperturbed runs by trace, policy, machine, scheduler and seed. The groups are in the order of their first
/// runs.
pub fn settings(runs: &[ContentionRun]) -> Vec<Vec<&ContentionRun>> {
    let same = |a: &RunKey, b: &RunKey| {
        (&a.trace, &a.policy, &a.topology, &a.scheduler, a.seed)
            == (&b.trace, &b.policy, &b.topology, &b.scheduler, b.seed)
    };
    let mut groups: Vec<Vec<&ContentionRun>> = Vec::new();
    for run in runs.iter().filter(|run| run.is_unshaken()) {
        match groups.iter_mut().find(|group| same(&group[0].key, &run.key)) {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    groups
}
