//! `replay compare --row X --col Y`: a measure of many runs as a two-dimensional table.

use std::collections::{BTreeMap, HashMap};

use polars::prelude::{Column as Values, DataFrame, DataType, PolarsResult};

use super::{SelectedRuns, unread};
use crate::cli::exit::Failure;
use crate::cli::named_value::{distinct, one};
use replay_engine::metrics::estimate::{Accumulator, Estimate};
use replay_engine::metrics::{JobMeasures, Placement, comparable};
use replay_engine::number::fixed;
use replay_engine::table::{Column, Name, Table};
use replay_experiment::contention::{Contention, ContentionRun};
use replay_experiment::shaken::{CONFIDENCE, Verdict};
use replay_experiment::{RunKey, RunResult};
use replay_output::report::{Align, Sheet};
use replay_results::compare::{Compared, JobTables, REPLAYED};

/// Property that consists of allocator and tie vector.
const STRATEGY: Name = Name::new("strategy");

/// The properties of runs that define the rows and the columns of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Axes {
    row: Vec<Name>,
    col: Vec<Name>,
}

impl Axes {
    /// Returns the axes for names of properties, such as `trace,scheduler` and `strategy`.
    ///
    /// # Errors
    /// A usage error if a name is unknown, or occurs twice.
    pub fn of(row: &str, col: &str) -> Result<Self, Failure> {
        let known: Vec<(&'static str, Name)> =
            RunKey::NAMES.into_iter().chain([STRATEGY]).map(|name| (name.text(), name)).collect();
        let names = |option: &str, text: &str| -> Result<Vec<Name>, Failure> {
            text.split(',').map(|name| one(option, name.trim(), &known)).collect()
        };
        let axes = Self { row: names("--row", row)?, col: names("--col", col)? };
        let all: Vec<Name> = axes.row.iter().chain(&axes.col).copied().collect();
        match (1..all.len()).find(|&at| all[..at].contains(&all[at])) {
            Some(at) => Err(Failure::usage_message(format!(
                "--row {row} --col {col}: {} occurs twice; name different properties",
                all[at]
            ))),
            None => Ok(axes),
        }
    }

    /// Returns the options of the axes, for messages.
    fn options(&self) -> String {
        let names =
            |names: &[Name]| names.iter().map(|name| name.text()).collect::<Vec<_>>().join(",");
        format!("--row {} --col {}", names(&self.row), names(&self.col))
    }

    /// Returns the titles of the row and the column to which a run belongs.
    fn place(&self, run: &RunKey) -> [String; 2] {
        [&self.row, &self.col].map(|names| values(run, names))
    }

    /// Divides runs into the cells of the table, in the order of their first runs.
    ///
    /// # Errors
    /// A usage error if runs of the same cell differ in more than seed and copy.
    fn cells(&self, runs: &SelectedRuns) -> Result<HashMap<[String; 2], DataFrame>, Failure> {
        let places: Vec<[String; 2]> = runs.runs.iter().map(|run| self.place(&run.key)).collect();
        let cells = || -> PolarsResult<_> {
            let mut frame = runs.frame.clone();
            for (i, name) in ["row", "col"].into_iter().enumerate() {
                let titles: Vec<&str> = places.iter().map(|place| place[i].as_str()).collect();
                frame.with_column(Values::new(name.into(), titles))?;
            }
            frame.partition_by_stable(["row", "col"], true)
        };
        let mut placed = HashMap::new();
        for (cell, place) in cells().map_err(unread)?.into_iter().zip(distinct(places.iter())) {
            let differs = |name: &Name| {
                ![RunKey::SEED, RunKey::COPY].contains(name)
                    && cell.column(name.text()).and_then(Values::n_unique).is_ok_and(|all| all > 1)
            };
            let [row, col] = place;
            if let Some(name) = RunKey::NAMES.into_iter().find(differs) {
                let advice = match name {
                    RunKey::TIE => format!("use {STRATEGY}, which combines allocator and tie"),
                    _ => "name one run of a folder by FOLDER:RUN".to_string(),
                };
                return Err(Failure::usage_message(format!(
                    "{}: the cell {row}, {col} has several runs that differ in {name} ({advice})",
                    self.options()
                )));
            }
            placed.insert(place.clone(), cell);
        }
        Ok(placed)
    }
}

/// Returns the values of several properties of a run, joined by commas. Empty values, such as no tie vector, are
/// omitted.
fn values(run: &RunKey, names: &[Name]) -> String {
    let all = names.iter().map(|&name| value(run, name)).filter(|text| !text.is_empty());
    all.collect::<Vec<_>>().join(", ")
}

fn value(run: &RunKey, name: Name) -> String {
    let part = RunKey::NAMES.into_iter().zip(run.texts()).find(|(part, _)| *part == name);
    part.map_or_else(|| run.strategy(), |(_, text)| text)
}

/// The mean of a measure over the runs of one cell of the projection.
#[derive(Clone, PartialEq, Debug)]
pub struct Projected {
    row: String,
    col: String,
    measure: Name,
    runs: usize,
    value: f64,
    /// Half the width of the 95 % interval of the mean; NaN for one run.
    half_width: f64,
}

impl Table for Projected {
    const NAME: &'static str = "projected";
    const ROW: &'static str = "one row per measure and cell of a projection of runs";

    fn columns() -> Vec<Column<Self>> {
        type C = Column<Projected>;
        vec![
            C::text(
                "row",
                "value of the property --row, which is the same for all runs of this row",
                |it| Some(&it.row),
            ),
            C::text(
                "col",
                "value that the runs of the column have in common, in the property of --col",
                |it| Some(&it.col),
            ),
            C::text("projected_measure", "column of the table runs, or of contend", |it| {
                Some(it.measure.text())
            }),
            C::new(
                "projected_runs",
                "runs",
                "number of runs of the cell that differ in seed or perturbed copy; with perturbed copies, only the runs on copies",
                |it| it.runs,
            ),
            C::new(
                "projected_mean",
                "",
                "mean of the measure over the runs of the cell, in the measure's unit",
                |it| it.value,
            ),
            C::new(
                "projected_half_width",
                "",
                "half the width of the 95 % interval of projected_mean over the runs of the cell, in the measure's unit; null for one run",
                |it| it.half_width,
            ),
        ]
    }
}

/// A measure of runs: a column of the table of runs.
#[derive(Clone, Copy, Debug)]
pub struct RunMeasure {
    pub name: Name,
    unit: &'static str,
    rises: bool,
}

impl RunMeasure {
    /// Returns the measures with these names, or the default measures if there are no names.
    ///
    /// # Errors
    /// A usage error if a name is unknown.
    pub fn all_of(names: &[String], tables: &JobTables) -> Result<Vec<Self>, Failure> {
        match names {
            [] => Self::usual(tables).iter().map(|name| Self::of(name.text(), tables)).collect(),
            _ => names.iter().map(|name| Self::of(name.trim(), tables)).collect(),
        }
    }

    /// Returns the default measures.
    fn usual(tables: &JobTables) -> [Name; 4] {
        match *tables == REPLAYED {
            true => [
                JobMeasures::WAIT,
                JobMeasures::TURNAROUND,
                JobMeasures::BOUNDED_SLOWDOWN,
                Placement::PAIRWISE_L1,
            ],
            false => [
                Contention::mean_stretch,
                Contention::mean_placement_factor,
                Contention::mean_contention_factor,
                Contention::mean_turnaround_cycles,
            ],
        }
    }

    /// Returns the column of the table of runs that a name of `--measure` selects: `mean_NAME` if this column exists
    /// (`mean_wait` for `wait`), otherwise `NAME`.
    fn of(name: &str, tables: &JobTables) -> Result<Self, Failure> {
        let all = match *tables == REPLAYED {
            true => Self::all::<RunResult>(),
            false => Self::all::<ContentionRun>(),
        };
        let known: Vec<_> = all.into_iter().map(|measure| (measure.name.text(), measure)).collect();
        let mean = format!("mean_{name}");
        let is_mean = known.iter().any(|(known, _)| *known == mean);
        one("--measure", if is_mean { &mean } else { name }, &known)
    }

    fn all<Row: Table>() -> Vec<Self> {
        let columns = Row::columns().into_iter();
        let measures = columns
            .filter(|column| column.kind().is_number() && !RunKey::NAMES.contains(&column.name));
        measures.map(|Column { name, unit, rises, .. }| Self { name, unit, rises }).collect()
    }
}

/// Returns the measures of the runs of one folder, arranged by two properties of the runs, and a sheet for each
/// measure. In a sheet, the best value of each row is marked.
///
/// # Errors
/// A usage error if runs of one cell differ in more than seed and copy.
pub fn of_values(
    axes: &Axes,
    runs: &SelectedRuns,
    measures: &[RunMeasure],
) -> Result<(Vec<Projected>, Vec<Sheet>), Failure> {
    let placed = axes.cells(runs)?;
    let rows = distinct(runs.runs.iter().map(|run| values(&run.key, &axes.row)));
    let cols = distinct(runs.runs.iter().map(|run| values(&run.key, &axes.col)));
    let (mut projected, mut sheets) = (Vec::new(), Vec::new());
    for measure in measures {
        let by_distance = comparable::is_distance(measure.name);
        let unit = if measure.unit.is_empty() { "" } else { &format!(" {}", measure.unit) };
        let mut header = vec![(format!("{}{unit}", measure.name), Align::Left)];
        header.extend(cols.iter().map(|col| (col.clone(), Align::Right)));
        let mut cells: Vec<Vec<Option<Cell>>> = Vec::new();
        for row in &rows {
            let mut of_row = Vec::new();
            for col in &cols {
                let Some(here) = placed.get(&[row.clone(), col.clone()]) else {
                    of_row.push(None);
                    continue;
                };
                let over = |frame: &DataFrame| over_runs(frame, measure.name);
                let (runs, mean) = over(here).map_err(unread)?;
                let half_width = Some(mean.half_width).filter(|width| width.is_finite());
                projected.push(Projected {
                    row: row.clone(),
                    col: col.clone(),
                    measure: measure.name,
                    runs,
                    value: mean.mean,
                    half_width: half_width.unwrap_or(f64::NAN),
                });
                let folded = here.column(comparable::FOLDED.text()).and_then(Values::f64);
                let folds = folded.is_ok_and(|all| all.iter().any(comparable::folds));
                let cell = Cell { mean: mean.mean, half_width, folds: by_distance && folds };
                of_row.push(Some(cell).filter(|cell| cell.mean.is_finite()));
            }
            cells.push(of_row);
        }
        sheets.push(sheet(&header, &rows, &cells, measure.rises));
    }
    Ok((projected, sheets))
}

/// Returns the number of runs of a cell over which a measure is estimated, and the estimate. If some runs are on
/// perturbed copies, the estimate is over the copies, each by the mean over its seeds; otherwise, it is over all runs.
fn over_runs(cell: &DataFrame, measure: Name) -> PolarsResult<(usize, Estimate)> {
    let values = cell.column(measure.text())?.f64()?.iter();
    let copies: Vec<Option<f64>> = match cell.column(RunKey::COPY.text()) {
        Ok(copies) => copies.cast(&DataType::Float64)?.f64()?.iter().collect(),
        Err(_) => vec![None; cell.height()],
    };
    let mut by_copy: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    for (value, copy) in values.zip(copies) {
        by_copy.entry(copy.unwrap_or(0.0) as i64).or_default().push(value.unwrap_or(f64::NAN));
    }
    if by_copy.len() > 1 {
        by_copy.remove(&0);
    }
    let runs = by_copy.values().map(Vec::len).sum();
    let of_copies = |values: &Vec<f64>| values.iter().copied().collect::<Accumulator>().mean();
    let all: Accumulator = match by_copy.len() {
        1 => by_copy.values().flatten().copied().collect(),
        _ => by_copy.values().map(of_copies).collect(),
    };
    Ok((runs, all.estimate(CONFIDENCE)))
}

/// A cell: the mean of a measure over runs, half the width of its interval if there are several runs and, for distances,
/// whether the runs fold jobs.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Cell {
    mean: f64,
    half_width: Option<f64>,
    folds: bool,
}

/// Returns the number of decimals with which values are printed: 3 if all are below 10, and fewer for larger values.
fn digits(values: impl Iterator<Item = f64>) -> usize {
    match values.fold(0.0, |most: f64, value| most.max(value.abs())) {
        ..10.0 => 3,
        ..1000.0 => 2,
        ..100_000.0 => 1,
        _ => 0,
    }
}

fn sheet(
    header: &[(String, Align)],
    rows: &[String],
    cells: &[Vec<Option<Cell>>],
    rises: bool,
) -> Sheet {
    let header: Vec<(&str, Align)> = header.iter().map(|(name, a)| (name.as_str(), *a)).collect();
    let mut sheet = Sheet::new(&header);
    let decimals = digits(cells.iter().flatten().flatten().map(|cell| cell.mean));
    let mut any_apart = false;
    for (row, cells) in rows.iter().zip(cells) {
        let folds: Vec<bool> = cells.iter().flatten().map(|cell| cell.folds).collect();
        let mut ranked = comparable::ranked(&folds).into_iter();
        // The cells of the row; each cell has a flag that states whether it is ranked.
        let values: Vec<Option<(Cell, bool)>> = cells
            .iter()
            .map(|cell| cell.map(|cell| (cell, ranked.next().unwrap_or(true))))
            .collect();
        let of_ranked =
            || values.iter().flatten().filter(|(_, ranked)| *ranked).map(|(cell, _)| cell.mean);
        let better = |a: f64, b: f64| if rises { a > b } else { a < b };
        let best = of_ranked().reduce(|a, b| if better(b, a) { b } else { a });
        // If all values are equal, no value is marked.
        let differ = of_ranked().any(|value| Some(value) != best);
        let marks = differ || values.iter().flatten().any(|(_, ranked)| !ranked);
        let mut fields = vec![row.clone()];
        let text = |cell: Cell| match cell.half_width {
            Some(half) => format!("{} ± {}", fixed(cell.mean, decimals), fixed(half, decimals)),
            None => fixed(cell.mean, decimals),
        };
        fields.extend(values.iter().map(|value| match *value {
            Some((cell, false)) => {
                any_apart = true;
                format!("{} f", text(cell))
            }
            Some((cell, true)) if differ && Some(cell.mean) == best => format!("{} *", text(cell)),
            Some((cell, true)) if marks => format!("{}  ", text(cell)),
            Some((cell, true)) => text(cell),
            None => "-".to_string(),
        }));
        sheet.push(fields);
    }
    let lead = any_apart.then(|| format!("f: not ranked: {}", comparable::WHY));
    sheet.led_by(lead)
}

/// Returns a sheet for each measure. The cells of a sheet contain the changes of the measure, arranged by two
/// properties of the runs.
///
/// # Errors
/// A usage error if a cell has several pairs of runs.
pub fn of_changes(axes: &Axes, compared: &[(RunKey, Compared)]) -> Result<Vec<Sheet>, Failure> {
    let all_sizes = || compared.iter().filter(|(_, one)| one.is_of_all_jobs());
    let measures = distinct(all_sizes().map(|(_, one)| one.measure));
    let rows = distinct(all_sizes().map(|(run, _)| values(run, &axes.row)));
    let cols = distinct(all_sizes().map(|(run, _)| values(run, &axes.col)));
    let mut sheets = Vec::new();
    for measure in &measures {
        let title = format!("{measure}, change %");
        let mut header = vec![(title.as_str(), Align::Left)];
        header.extend(cols.iter().map(|col| (col.as_str(), Align::Right)));
        let mut sheet = Sheet::new(&header);
        for row in &rows {
            let mut fields = vec![row.clone()];
            for col in &cols {
                let mut here = all_sizes()
                    .filter(|(run, one)| {
                        one.measure == *measure && axes.place(run) == [row.clone(), col.clone()]
                    })
                    .map(|(_, one)| one);
                let first = here.next();
                if here.next().is_some() {
                    return Err(Failure::usage_message(format!(
                        "{}: the cell {row}, {col} has several pairs of runs; name one pair by FOLDER:RUN",
                        axes.options()
                    )));
                }
                fields.push(first.map_or("-".to_string(), change));
            }
            sheet.push(fields);
        }
        sheets.push(sheet);
    }
    Ok(sheets)
}

/// Formats a change and its interval for a cell, with a leading `~` if the change is not significant.
fn change(one: &Compared) -> String {
    let percent = match one.change.is_finite() {
        true => format!("{}{}", if one.change > 0.0 { "+" } else { "" }, fixed(one.change, 2)),
        false => "-".to_string(),
    };
    let [low, high] = one.interval;
    let percent = match low.is_finite() && high.is_finite() && one.change.is_finite() {
        true => format!("{percent} ({} to {})", fixed(low, 2), fixed(high, 2)),
        false => percent,
    };
    match one.verdict() {
        Verdict::NotSignificant => format!("~ {percent}"),
        Verdict::Same => "same".to_string(),
        Verdict::Better | Verdict::Worse => percent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_a_row_folds_no_job_unless_all_do() {
        let header: Vec<(String, Align)> =
            ["hops", "a", "b", "c"].map(|name| (name.to_string(), Align::Right)).to_vec();
        let table = |cells: &[(f64, bool)]| {
            let cells = cells
                .iter()
                .map(|&(mean, folds)| Some(Cell { mean, half_width: None, folds }))
                .collect();
            let sheet = sheet(&header, &["t".to_string()], &[cells], false);
            let mut out = Vec::new();
            sheet.write_plain(&mut out).expect("memory");
            let text = String::from_utf8(out).expect("text");
            let row = text.lines().last().unwrap_or_default().split_whitespace();
            (row.collect::<Vec<_>>().join(" "), sheet.lead().is_some())
        };
        let apart = table(&[(9.0, false), (10.0, false), (1.0, true)]);
        assert_eq!(apart, ("t 9.00 * 10.00 1.00 f".to_string(), true));
        let all = table(&[(9.0, true), (10.0, true), (1.0, true)]);
        assert_eq!(all, ("t 9.00 10.00 1.00 *".to_string(), false));
        let one = table(&[(9.0, false), (9.0, false), (1.0, true)]);
        assert_eq!(one, ("t 9.000 9.000 1.000 f".to_string(), true));
    }
}
