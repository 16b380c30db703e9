//! What runs come to over shaken copies of their traces: means, and which strategies can be told
//! apart.
//!
//! [`Estimates`] takes in the results of a [`Plan`] with [`Shake`](replay_core::workload::Shake) as they
//! come, in the order of the plan, and keeps sums only. Its rows are one for each cell and metric:
//! what the trace itself came to, mean and 95 % interval over the copies, and the mean of the
//! *paired* differences to the cell compared with, on the same copy each, which is what can tell two
//! strategies apart: on a copy that is hard for one, the other has a hard time too.
//!
//! A cell is compared with the first strategy of the grid, under the same scheduler with the same
//! seed; in a grid of one strategy with the first scheduler. Verdicts on the cells that are compared with
//! one cell are corrected by Holm's method, for each metric; intervals are not.

use std::collections::BTreeMap;

use super::{RunKey, RunResult, run_column, sweep::Plan};
use replay_core::metrics::blocks::{LEVEL, holm};
use replay_core::metrics::estimate::{Accumulator, Estimate};
use replay_core::metrics::{RunMetrics, comparable};
use replay_core::naming::NameError;
use replay_core::table::{Column, Name, Table, name};

/// Of all intervals.
pub const CONFIDENCE: f64 = 0.95;

/// Sums over the copies of the traces of a plan, a few numbers for each cell and metric.
/// `Metrics` is what a cell comes to.
#[derive(Debug)]
pub struct Estimates<Metrics> {
    columns: Vec<Column<Metrics>>,
    /// By cell without its copy.
    cells: Vec<Cell>,
    /// By cell that others are compared with: the copy that it has last come to, and its values.
    latest: Vec<(u32, Vec<Option<f64>>)>,
}

#[derive(Clone, Debug)]
struct Cell {
    /// Its number on the trace itself.
    run: u32,
    /// Place in `cells` of the one it is compared with; its own if with none.
    with: usize,
    /// By column: on the trace itself.
    unshaken: Vec<Option<f64>>,
    sums: Vec<Sums>,
}

#[derive(Clone, Copy, Default, Debug)]
struct Sums {
    values: Accumulator,
    differences: Accumulator,
    /// Whether some difference was not 0.
    differs: bool,
}

impl Estimates<RunMetrics> {
    /// Nothing yet of the replays of a plan.
    pub fn of_runs(plan: &Plan) -> Self {
        Self::new(plan, RunMetrics::groups().into_iter().flat_map(|(_, of)| of))
    }
}

impl<Metrics> Estimates<Metrics> {
    /// Nothing yet of this plan, whose cells come to what `columns` say.
    pub fn new(plan: &Plan, columns: impl IntoIterator<Item = Column<Metrics>>) -> Self {
        // How many jobs there are is no outcome.
        let columns: Vec<_> = columns.into_iter().filter(|column| column.name != "jobs").collect();
        let first_of = |run: u32| plan.places(run)[1] == 0;
        let cells = (0..plan.len()).filter(|&run| first_of(run)).map(|run| Cell {
            run,
            with: plan.cell_without_copy(plan.compared_with(run)),
            unshaken: vec![None; columns.len()],
            sums: vec![Sums::default(); columns.len()],
        });
        let cells: Vec<Cell> = cells.collect();
        let latest = vec![(0, Vec::new()); cells.len()];
        Self { columns, cells, latest }
    }

    /// Takes in the metrics of cell `run` of the plan. Those that a cell is compared with come
    /// before it.
    pub fn take(&mut self, plan: &Plan, run: u32, metrics: &Metrics) {
        let [_, copy, ..] = plan.places(run);
        let place = plan.cell_without_copy(run);
        let values: Vec<Option<f64>> =
            self.columns.iter().map(|column| column.value(metrics).number()).collect();
        let cell = &mut self.cells[place];
        if copy == 0 {
            cell.unshaken = values;
            return;
        }
        let (of, other) = &self.latest[cell.with];
        // One that failed on this copy has nothing to compare with.
        let other = (cell.with != place && *of as usize == copy).then_some(other);
        let folds = |values: &[Option<f64>]| {
            let folded = self.columns.iter().position(|column| column.name == comparable::FOLDED);
            comparable::folds(folded.and_then(|at| values[at]))
        };
        let both = other.is_none_or(|other| folds(other) == folds(&values));
        for (at, (sums, value)) in cell.sums.iter_mut().zip(&values).enumerate() {
            let Some(value) = *value else { continue };
            sums.values.push(value);
            if !both && comparable::is_distance(&self.columns[at].name) {
                continue;
            }
            if let Some(other) = other.and_then(|other| other[at]) {
                sums.differences.push(value - other);
                sums.differs |= value != other;
            }
        }
        if cell.with == place {
            self.latest[place] = (copy as u32, values);
        }
    }

    /// The rows, in the order of the cells; metrics that no copy has are left out.
    ///
    /// # Errors
    /// As [`Plan::key`].
    pub fn rows(&self, plan: &Plan) -> Result<Vec<ShakenRow>, NameError> {
        let mut rows = Vec::new();
        for (place, cell) in self.cells.iter().enumerate() {
            let key = plan.key(cell.run)?;
            let with = (cell.with != place).then(|| self.cells[cell.with].run);
            for (at, (column, sums)) in self.columns.iter().zip(&cell.sums).enumerate() {
                if sums.values.count() == 0 {
                    continue;
                }
                rows.push(ShakenRow {
                    run: cell.run,
                    key: key.clone(),
                    metric: column.name,
                    unit: column.unit,
                    unshaken: cell.unshaken[at],
                    mean: sums.values.estimate(CONFIDENCE),
                    deviation: sums.values.variance().sqrt(),
                    difference: with
                        .filter(|_| sums.differences.count() > 0)
                        .map(|with| Difference::of(with, sums)),
                });
            }
        }
        correct(&mut rows);
        Ok(rows)
    }
}

/// Corrects verdicts by Holm's method: a family is one metric of all cells compared with one cell.
fn correct(rows: &mut [ShakenRow]) {
    let mut families: BTreeMap<(Name, u32), Vec<&mut Difference>> = BTreeMap::new();
    for row in rows {
        if let Some(difference) = &mut row.difference {
            families.entry((row.metric, difference.with)).or_default().push(difference);
        }
    }
    for family in families.into_values() {
        let p: Vec<f64> = family.iter().map(|one| one.mean.p(CONFIDENCE)).collect();
        for (one, p) in family.into_iter().zip(holm(&p, 0)) {
            one.verdict = match one.verdict {
                Apart::Yes if p.is_nan() || p >= LEVEL => Apart::No,
                verdict => verdict,
            };
        }
    }
}

/// A metric of a cell over the shaken copies of its trace.
#[derive(Clone, Debug)]
pub struct ShakenRow {
    /// Number of the cell on the trace itself.
    pub run: u32,
    /// What ran.
    pub key: RunKey,
    /// Name of the metric, a column of the table of runs.
    pub metric: Name,
    /// Its unit.
    pub unit: &'static str,
    /// On the trace itself.
    pub unshaken: Option<f64>,
    /// Over the copies.
    pub mean: Estimate,
    /// Standard deviation over the copies.
    pub deviation: f64,
    /// Against another cell, on the same copy each.
    pub difference: Option<Difference>,
}

/// The paired difference of a cell to another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Difference {
    /// Number of the other cell on the trace itself.
    pub with: u32,
    /// Own value less the other's: mean over the copies that both have, and its interval.
    pub mean: Estimate,
    /// What that tells.
    pub verdict: Apart,
}

/// Whether two cells can be told apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Apart {
    /// On every copy both come to the same.
    Same,
    /// The interval of the difference holds 0.
    No,
    /// It does not.
    Yes,
}

impl Apart {
    /// What the interval of a difference tells, some value of which is not 0 if it `differs`.
    pub fn of(difference: &Estimate, differs: bool) -> Self {
        match difference.mean.abs() > difference.half_width {
            _ if !differs => Apart::Same,
            true => Apart::Yes,
            false => Apart::No,
        }
    }

    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Apart::Same => "same",
            Apart::No => "no",
            Apart::Yes => "yes",
        }
    }
}

impl Difference {
    fn of(with: u32, sums: &Sums) -> Self {
        let mean = sums.differences.estimate(CONFIDENCE);
        Self { with, mean, verdict: Apart::of(&mean, sums.differs) }
    }
}

impl RunResult {
    /// Whether it is of a trace as it is.
    pub fn is_unshaken(&self) -> bool {
        self.key.copy == 0
    }
}

impl Table for ShakenRow {
    const NAME: &'static str = "shaken";
    const ROW: &'static str = "one row per run and metric: what it comes to over shaken copies of the trace; beside a run that repeats \
         the log, over the jobs of that";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        type C = Column<ShakenRow>;
        let [trace, topology, scheduler, allocator, tie, policy, seed, _] =
            RunKey::columns(|row: &Self| &row.key);
        let mut columns = vec![run_column(|row: &Self| row.run)];
        columns.extend([trace, topology, scheduler, allocator, tie, policy, seed]);
        columns.extend([
            C::text(name::metric, "the metric, a column of the runs", |row| Some(row.metric.text())),
            C::text(name::unit, "its unit, and that of the columns that follow", |row| Some(row.unit)),
            C::new(name::unshaken, "as the metric", "the metric on the trace itself; null if that failed", |row| row.unshaken),
            C::new(name::copies, "", "shaken copies that ran", |row| row.mean.count),
            C::new(name::mean, "as the metric", "mean over the shaken copies", |row| row.mean.mean),
            C::new(name::half_width, "as the metric", "half the width of the 95 % interval of that mean", |row| row.mean.half_width),
            C::new(name::deviation, "as the metric", "standard deviation over the shaken copies: how far the figure of a single log can be trusted", |row| row.deviation),
            C::new(name::compared_with, "", "run it is compared with: the first strategy of the grid under the same scheduler, or the first scheduler of a grid of one strategy; null if it is that one", |row| row.difference.map(|other| other.with)),
            C::new(name::paired_difference, "as the metric", "mean over the shaken copies of its value less that of the run it is compared with on the same copy; null of distances if only one of the two folds jobs", |row| row.difference.map(|other| other.mean.mean)),
            C::new(name::paired_half_width, "as the metric", "half the width of the 95 % interval of the paired difference", |row| row.difference.map(|other| other.mean.half_width)),
            C::text(name::told_apart, "whether the paired difference is other than 0 with 95 % confidence, corrected by Holm's method for all runs compared with that run: yes, no, or same if both have the same value on every copy", |row| row.difference.map(|other| other.verdict.word())),
        ]);
        columns
    }
}

#[cfg(test)]
mod tests;
