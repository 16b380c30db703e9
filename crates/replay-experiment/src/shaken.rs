//! Estimates over perturbed copies of traces: means, confidence intervals and significant differences between
//! strategies.
//!
//! [`Estimates`] accepts the results of a [`Plan`] with [`Shake`](replay_engine::workload::Shake) in the order of the
//! plan, and stores only sums. The result has one row per cell and metric. A row contains the value on the unperturbed
//! trace, the mean and the 95 % interval over the copies, and the mean *paired* difference. A paired difference is the
//! difference from the reference cell on the same copy. Paired differences separate strategies better than independent
//! means, because a copy that is hard for one strategy is usually hard for all strategies.
//!
//! The reference cell has the first strategy of the grid, and the same scheduler and seed as the compared cell. In a
//! grid with a single strategy, the reference cell instead has the first scheduler. For each metric, the significance
//! of the differences is corrected by Holm's method over all cells with the same reference. Intervals are not
//! corrected.

use std::collections::BTreeMap;

use super::{RunKey, RunResult, run_column, sweep::Plan};
use replay_engine::metrics::blocks::{LEVEL, holm};
use replay_engine::metrics::estimate::{Accumulator, Estimate};
use replay_engine::metrics::{RunMetrics, ScheduleMetrics, comparable};
use replay_engine::naming::NameError;
use replay_engine::table::{Column, Name, Table, names};

/// Confidence level of all intervals.
pub const CONFIDENCE: f64 = 0.95;

/// Sums over the perturbed copies of the traces of a plan. A few numbers are stored per cell and metric. `Metrics` is
/// the result type of a cell.
#[derive(Debug)]
pub struct Estimates<Metrics> {
    columns: Vec<Column<Metrics>>,
    /// Cells that do not distinguish copies: all copies of a trace belong to the same cell.
    cells: Vec<Cell>,
    /// For each reference cell, the number of the copy that was added last, and the values on this copy. Other cells do
    /// not use this field.
    latest: Vec<(u32, Vec<Option<f64>>)>,
}

#[derive(Clone, Debug)]
struct Cell {
    /// Number of the cell on the unperturbed trace.
    run: u32,
    /// Index of the reference cell in `cells`. The reference of a reference cell is the cell itself.
    reference: usize,
    /// Value of each column on the unperturbed trace.
    unshaken: Vec<Option<f64>>,
    sums: Vec<Sums>,
}

#[derive(Clone, Copy, Default, Debug)]
struct Sums {
    values: Accumulator,
    differences: PairedDifferences,
}

/// Paired differences of two runs: on each perturbed copy, the value of one run minus the value of the other run.
#[derive(Clone, Copy, Default, Debug)]
pub struct PairedDifferences {
    differences: Accumulator,
    /// Whether at least one difference is not 0.
    differs: bool,
}

impl PairedDifferences {
    /// Adds the values of both runs on one copy.
    pub fn push(&mut self, value: f64, other: f64) {
        self.differences.push(value - other);
        self.differs |= value != other;
    }

    /// Returns the mean difference with its 95 % interval and its significance; `None` without copies.
    pub fn estimate(&self) -> Option<(Estimate, Significance)> {
        let mean = self.differences.estimate(CONFIDENCE);
        (mean.count > 0).then(|| (mean, Significance::of(&mean, self.differs)))
    }
}

/// Formats a paired difference: the mean with its sign, and half the width of its interval. The mark `~` means that the
/// difference is not significant. `number` formats a value. Returns `None` if both runs have the same value on every
/// copy.
pub fn difference_text(
    [mean, half_width]: [f64; 2],
    significance: Significance,
    number: impl Fn(f64) -> String,
) -> Option<String> {
    let doubt = match significance {
        Significance::Same => return None,
        Significance::No => "~ ",
        Significance::Yes => "",
    };
    let sign = if mean > 0.0 { "+" } else { "" };
    Some(format!("{doubt}{sign}{} ± {}", number(mean), number(half_width)))
}

impl Estimates<RunMetrics> {
    /// Creates empty estimates for the replays of a plan.
    pub fn of_runs(plan: &Plan) -> Self {
        Self::new(plan, RunMetrics::groups().into_iter().flat_map(|(_, of)| of))
    }
}

impl<Metrics> Estimates<Metrics> {
    /// Creates empty estimates for a plan. `columns` are the metrics of its cells.
    pub fn new(plan: &Plan, columns: impl IntoIterator<Item = Column<Metrics>>) -> Self {
        // The column with the number of jobs is not a metric to compare.
        let columns: Vec<_> =
            columns.into_iter().filter(|column| column.name != ScheduleMetrics::jobs).collect();
        let first_of = |run: u32| plan.places(run)[1] == 0;
        let cells = (0..plan.len()).filter(|&run| first_of(run)).map(|run| Cell {
            run,
            reference: plan.cell_without_copy(plan.compared_with(run)),
            unshaken: vec![None; columns.len()],
            sums: vec![Sums::default(); columns.len()],
        });
        let cells: Vec<Cell> = cells.collect();
        let latest = vec![(0, Vec::new()); cells.len()];
        Self { columns, cells, latest }
    }

    /// Adds the metrics of cell `run` of the plan. A reference cell must be added before the cells that are compared
    /// with it.
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
        let (of, other) = &self.latest[cell.reference];
        // If the reference cell failed on this copy, there is no paired difference for this copy.
        let other = (cell.reference != place && *of as usize == copy).then_some(other);
        let folds = |values: &[Option<f64>]| {
            let folded = self.columns.iter().position(|column| column.name == comparable::FOLDED);
            comparable::folds(folded.and_then(|at| values[at]))
        };
        let both = other.is_none_or(|other| folds(other) == folds(&values));
        for (at, (sums, value)) in cell.sums.iter_mut().zip(&values).enumerate() {
            let Some(value) = *value else { continue };
            sums.values.push(value);
            if !both && comparable::is_distance(self.columns[at].name) {
                continue;
            }
            if let Some(other) = other.and_then(|other| other[at]) {
                sums.differences.push(value, other);
            }
        }
        if cell.reference == place {
            self.latest[place] = (copy as u32, values);
        }
    }

    /// Returns the rows in the order of the cells. A metric without a value on any copy is omitted.
    ///
    /// # Errors
    /// [`NameError`] under the conditions of [`Plan::key`].
    pub fn rows(&self, plan: &Plan) -> Result<Vec<ShakenRow>, NameError> {
        let mut rows = Vec::new();
        for (place, cell) in self.cells.iter().enumerate() {
            let key = plan.key(cell.run)?;
            let reference = (cell.reference != place).then(|| self.cells[cell.reference].run);
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
                    difference: reference.zip(sums.differences.estimate()).map(
                        |(reference, (mean, verdict))| Difference { reference, mean, verdict },
                    ),
                });
            }
        }
        correct(&mut rows);
        Ok(rows)
    }
}

/// Corrects the significance of the differences by Holm's method. A family consists of one metric over all cells with
/// the same reference.
fn correct(rows: &mut [ShakenRow]) {
    let mut families: BTreeMap<(Name, u32), Vec<&mut Difference>> = BTreeMap::new();
    for row in rows {
        if let Some(difference) = &mut row.difference {
            families.entry((row.metric, difference.reference)).or_default().push(difference);
        }
    }
    for family in families.into_values() {
        let p: Vec<f64> = family.iter().map(|one| one.mean.p(CONFIDENCE)).collect();
        for (one, p) in family.into_iter().zip(holm(&p, 0)) {
            one.verdict = match one.verdict {
                Significance::Yes if p.is_nan() || p >= LEVEL => Significance::No,
                verdict => verdict,
            };
        }
    }
}

/// One metric of a cell, estimated over the perturbed copies of its trace.
#[derive(Clone, Debug)]
pub struct ShakenRow {
    /// Number of the cell on the unperturbed trace.
    pub run: u32,
    /// Key of the run.
    pub key: RunKey,
    /// Name of the metric, which is a column of the table of runs.
    pub metric: Name,
    /// Unit of the metric.
    pub unit: &'static str,
    /// Value on the unperturbed trace.
    pub unshaken: Option<f64>,
    /// Mean over the copies, with a confidence interval.
    pub mean: Estimate,
    /// Standard deviation over the copies.
    pub deviation: f64,
    /// Difference from the reference cell, paired by copy; `None` for reference cells.
    pub difference: Option<Difference>,
}

/// The paired difference of a cell from its reference cell.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Difference {
    /// Number of the reference cell on the unperturbed trace.
    pub reference: u32,
    /// Mean difference over the copies for which both cells have a value, with a confidence interval.
    pub mean: Estimate,
    /// Significance of the difference.
    pub verdict: Significance,
}

/// Whether two cells differ significantly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Significance {
    /// Both cells have the same value on every copy.
    Same,
    /// The interval of the difference contains 0.
    No,
    /// The interval of the difference does not contain 0.
    Yes,
}

impl Significance {
    /// Determines the significance of a difference from its interval. `differs` states whether the difference is not 0
    /// on at least one copy.
    pub fn of(difference: &Estimate, differs: bool) -> Self {
        match difference.mean.abs() > difference.half_width {
            _ if !differs => Significance::Same,
            true => Significance::Yes,
            false => Significance::No,
        }
    }

    /// Returns the value of the column `distinct`.
    pub fn word(self) -> &'static str {
        match self {
            Significance::Same => "same",
            Significance::No => "no",
            Significance::Yes => "yes",
        }
    }

    /// Returns the significance from its [word](Self::word); `None` for any other text.
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Same, Self::No, Self::Yes].into_iter().find(|one| one.word() == word)
    }

    /// Returns the verdict on a change of a measure for which smaller values are better.
    pub fn verdict(self, change: f64) -> Verdict {
        match self {
            Significance::Same => Verdict::Same,
            Significance::No => Verdict::NotSignificant,
            Significance::Yes if change < 0.0 => Verdict::Better,
            Significance::Yes => Verdict::Worse,
        }
    }
}

/// Verdict on a change of a measure for which smaller values are better.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// No job or copy differs.
    Same,
    /// The change is not significant, or the values are not comparable.
    NotSignificant,
    /// The measure is significantly smaller.
    Better,
    /// The measure is significantly larger.
    Worse,
}

impl Verdict {
    /// Returns the value in tables.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Same => "same",
            Verdict::NotSignificant => "~",
            Verdict::Better => "better",
            Verdict::Worse => "worse",
        }
    }
}

impl RunResult {
    /// Returns whether the run is on the original trace.
    pub fn is_unshaken(&self) -> bool {
        self.key.copy == 0
    }
}

impl ShakenRow {
    names! {
        METRIC = "metric",
        UNIT = "unit",
        COPIES = "copies",
        MEAN = "mean",
        HALF_WIDTH = "half_width",
        COMPARED_WITH = "compared_with",
        PAIRED_DIFFERENCE = "paired_difference",
        PAIRED_HALF_WIDTH = "paired_half_width",
        DISTINCT = "distinct",
    }
}

impl Table for ShakenRow {
    const NAME: &'static str = "shaken";
    const ROW: &'static str = "one row per run and metric: its values over perturbed copies of the trace; if a run repeats the log, only \
              over the jobs of that run";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        type C = Column<ShakenRow>;
        let [trace, topology, scheduler, allocator, tie, policy, seed, _] =
            RunKey::columns(|row: &Self| &row.key);
        let mut columns = vec![run_column(|row: &Self| row.run)];
        columns.extend([trace, topology, scheduler, allocator, tie, policy, seed]);
        columns.extend([
            C::text(ShakenRow::METRIC, "name of the metric, a column of the table runs", |row| Some(row.metric.text())),
            C::text(ShakenRow::UNIT, "unit of the metric", |row| Some(row.unit)),
            C::new("unshaken", "as the metric", "value of the metric on the unperturbed trace; null if the run on this trace failed", |row| row.unshaken),
            C::new(ShakenRow::COPIES, "", "number of perturbed copies that ran", |row| row.mean.count),
            C::new(ShakenRow::MEAN, "as the metric", "mean of the metric over the perturbed copies", |row| row.mean.mean),
            C::new(ShakenRow::HALF_WIDTH, "as the metric", "half the width of the 95 % interval of the column mean", |row| row.mean.half_width),
            C::new("deviation", "as the metric", "standard deviation of the metric over the perturbed copies, which shows the uncertainty of a result from a single log", |row| row.deviation),
            C::new(ShakenRow::COMPARED_WITH, "", "number of the reference run: the first strategy of the grid with the same scheduler, or the first scheduler of a grid with one strategy; null for reference runs", |row| row.difference.map(|other| other.reference)),
            C::new(ShakenRow::PAIRED_DIFFERENCE, "as the metric", "mean over the perturbed copies of the value minus the value in the reference run on the same copy; null for distances if only one of the runs folds jobs", |row| row.difference.map(|other| other.mean.mean)),
            C::new(ShakenRow::PAIRED_HALF_WIDTH, "as the metric", "half the width of the 95 % interval of paired_difference", |row| row.difference.map(|other| other.mean.half_width)),
            C::text(ShakenRow::DISTINCT, "whether paired_difference differs from 0 with 95 % confidence, corrected by Holm's method for all runs with the same reference: yes, no, or same if both runs have the same value on every copy", |row| row.difference.map(|other| other.verdict.word())),
        ]);
        columns
    }
}

#[cfg(test)]
mod tests;
