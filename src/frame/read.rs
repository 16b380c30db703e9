//! Results read back.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use polars::prelude::{DataFrame, ParquetReader, PolarsError, PolarsResult, SerReader};

use crate::experiment::compare::{JobRow, JobTables, RunRow};

/// A table that cannot be read back.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {path}: {source}", path = path.display())]
pub struct ReadError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub source: PolarsError,
}

/// The runs of a folder of results, in the order of their table.
///
/// # Errors
/// [`ReadError`] if the table is not there, or no such table.
pub fn runs(dir: &Path, tables: &JobTables) -> Result<Vec<RunRow>, ReadError> {
    let path = dir.join(format!("{}.parquet", tables.runs));
    let columns = RunRow::KEY.iter().chain(&["run"]);
    let read = || {
        let frame = table(&path, columns.map(|name| name.to_string()).collect())?;
        let texts: Vec<Vec<String>> =
            RunRow::KEY.iter().map(|name| texts(&frame, name)).collect::<PolarsResult<_>>()?;
        let numbers = integers(&frame, "run")?;
        let row = |(i, run): (usize, i64)| RunRow {
            run,
            key: texts.iter().map(|column| column[i].clone()).collect(),
        };
        Ok(numbers.into_iter().enumerate().map(row).collect())
    };
    read().map_err(|source| ReadError { path: path.clone(), source })
}

/// Values of the runs of a folder, by the number of the run, in the order of `columns`; null is NaN.
///
/// # Errors
/// [`ReadError`] if the table is not there, or has not these columns.
pub fn values(
    dir: &Path,
    tables: &JobTables,
    columns: &[&str],
) -> Result<HashMap<i64, Vec<f64>>, ReadError> {
    let path = dir.join(format!("{}.parquet", tables.runs));
    let read = || {
        let names = columns.iter().copied().chain(["run"]).map(str::to_string);
        let frame = table(&path, names.collect())?;
        let values: Vec<Vec<f64>> =
            columns.iter().map(|name| reals(&frame, name)).collect::<PolarsResult<_>>()?;
        let of = |(i, run): (usize, i64)| (run, values.iter().map(|column| column[i]).collect());
        Ok(integers(&frame, "run")?.into_iter().enumerate().map(of).collect())
    };
    read().map_err(|source| ReadError { path: path.clone(), source })
}

/// The table of jobs of a folder, read run by run: that of a large grid does not fit into memory.
#[derive(Clone, Debug)]
pub struct JobsTable {
    path: PathBuf,
    tables: &'static JobTables,
    /// Where the rows of a run are: first row, and how many.
    parts: HashMap<i64, Vec<(usize, usize)>>,
}

impl JobsTable {
    /// The file of a folder with these tables.
    pub fn path(dir: &Path, tables: &JobTables) -> PathBuf {
        dir.join(format!("{}.parquet", tables.jobs))
    }

    /// Finds the runs in the table.
    ///
    /// # Errors
    /// [`ReadError`] if the table is not there, or no such table.
    pub fn open(dir: &Path, tables: &'static JobTables) -> Result<Self, ReadError> {
        let path = Self::path(dir, tables);
        let read = || integers(&table(&path, vec!["run".to_string()])?, "run");
        let runs = read().map_err(|source| ReadError { path: path.clone(), source })?;
        let mut parts: HashMap<i64, Vec<(usize, usize)>> = HashMap::new();
        let mut first = 0;
        for part in runs.chunk_by(|one, next| one == next) {
            parts.entry(part[0]).or_default().push((first, part.len()));
            first += part.len();
        }
        Ok(Self { path, tables, parts })
    }

    /// The jobs of one run, by job number and, of equal ones, by submission; none of a run that is not there.
    ///
    /// # Errors
    /// [`ReadError`] if the table has other columns.
    pub fn of(&self, run: i64) -> Result<Vec<JobRow>, ReadError> {
        let mut rows = Vec::new();
        for &part in self.parts.get(&run).into_iter().flatten() {
            let read = self.part(part);
            rows.extend(read.map_err(|source| ReadError { path: self.path.clone(), source })?);
        }
        rows.sort_by_key(|row: &JobRow| (row.number, row.submit));
        Ok(rows)
    }

    fn part(&self, part: (usize, usize)) -> PolarsResult<Vec<JobRow>> {
        let JobTables { start, measures, .. } = *self.tables;
        let columns = ["job", "submit", "size"].into_iter().chain(start);
        let columns = columns.chain(measures.iter().copied());
        let frame = ParquetReader::new(File::open(&self.path)?)
            .with_columns(Some(columns.map(str::to_string).collect()))
            .with_slice(Some(part))
            .finish()?;
        let [numbers, submits, sizes] =
            ["job", "submit", "size"].map(|name| integers(&frame, name));
        let (numbers, submits, sizes) = (numbers?, submits?, sizes?);
        let starts = start.map(|name| integers(&frame, name)).transpose()?;
        let measures: Vec<Vec<f64>> =
            measures.iter().map(|name| reals(&frame, name)).collect::<PolarsResult<_>>()?;
        let row = |i: usize| JobRow {
            number: numbers[i],
            submit: submits[i],
            start: starts.as_ref().map_or(0, |starts| starts[i]),
            size: sizes[i],
            measures: std::array::from_fn(|at| {
                measures.get(at).map_or(f64::NAN, |values: &Vec<f64>| values[i])
            }),
        };
        Ok((0..numbers.len()).map(row).collect())
    }
}

/// The jobs of one run of a folder, as [`JobsTable::of`] gives them.
///
/// # Errors
/// [`ReadError`] if the table is not there, or no such table.
pub fn jobs(dir: &Path, tables: &'static JobTables, run: i64) -> Result<Vec<JobRow>, ReadError> {
    JobsTable::open(dir, tables)?.of(run)
}

fn table(path: &Path, columns: Vec<String>) -> PolarsResult<DataFrame> {
    ParquetReader::new(File::open(path)?).with_columns(Some(columns)).finish()
}

fn integers(frame: &DataFrame, name: &str) -> PolarsResult<Vec<i64>> {
    Ok(frame.column(name)?.i64()?.iter().map(|value| value.unwrap_or(0)).collect())
}

/// Numbers of whatever kind; what is null is not a number.
fn reals(frame: &DataFrame, name: &str) -> PolarsResult<Vec<f64>> {
    let column = frame.column(name)?;
    match column.f64() {
        Ok(values) => Ok(values.iter().map(|value| value.unwrap_or(f64::NAN)).collect()),
        Err(_) => {
            let values = column.i64()?.iter();
            Ok(values.map(|value| value.map_or(f64::NAN, |value| value as f64)).collect())
        }
    }
}

/// Text or numbers as text; null is the empty text.
fn texts(frame: &DataFrame, name: &str) -> PolarsResult<Vec<String>> {
    let column = frame.column(name)?;
    let text = |value: Option<String>| value.unwrap_or_default();
    if let Ok(values) = column.str() {
        return Ok(values.iter().map(|value| text(value.map(str::to_string))).collect());
    }
    if let Ok(values) = column.u64() {
        return Ok(values.iter().map(|value| text(value.map(|value| value.to_string()))).collect());
    }
    Ok(column.i64()?.iter().map(|value| text(value.map(|value| value.to_string()))).collect())
}
