//! Reads the tables of results directories.
//!
//! Every table is opened through a [`ResultFolder`], which checks its digest, and is decoded in a wrapper that converts
//! panics of the Parquet reader to errors, because a table may be damaged in any way.

use replay_core::table::{Name, name};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use polars::prelude::{
    DataFrame, ParallelStrategy, ParquetReader, PolarsError, PolarsResult, SerReader,
};

use replay_experiment::compare::{JobRow, JobTables, RunRow};
use replay_experiment::files::{ResultError, ResultFolder};
use replay_import::damaged;

/// Error from reading a table.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The contents of the directory differ from what the program wrote.
    #[error(transparent)]
    Results(#[from] ResultError),
    /// The file is not a readable table of this program.
    #[error("cannot read {}: {what}", path.display())]
    Table {
        /// Path of the file.
        path: PathBuf,
        /// Description of the problem.
        what: String,
    },
}

impl ReadError {
    /// Whether a retry shortly afterwards may succeed.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Results(error) if error.is_transient())
    }

    fn table(path: &Path) -> impl FnOnce(String) -> Self + '_ {
        |what| Self::Table { path: path.to_path_buf(), what }
    }
}

/// Reads the runs of a result directory in the order of their table.
///
/// # Errors
/// [`ReadError`] if the table is missing or unreadable.
pub fn runs(folder: &ResultFolder, tables: &JobTables) -> Result<Vec<RunRow>, ReadError> {
    let name = format!("{}.parquet", tables.runs);
    let columns = RunRow::KEY.iter().chain(&[name::run]).map(Name::to_string);
    let mut file = folder.file(&name)?;
    let read = |frame: DataFrame| {
        let texts: Vec<Vec<String>> =
            RunRow::KEY.iter().map(|name| texts(&frame, name)).collect::<PolarsResult<_>>()?;
        let numbers = integers(&frame, name::run)?;
        let row = |(i, run): (usize, i64)| RunRow {
            run,
            key: texts.iter().map(|column| column[i].clone()).collect(),
        };
        Ok(numbers.into_iter().enumerate().map(row).collect())
    };
    let rows = table(&mut file, columns.collect(), None, read);
    rows.map_err(ReadError::table(&folder.path().join(&name)))
}

/// Reads the given columns of the table of runs. The result maps each run number to its values in the order of
/// `columns`. Null is read as NaN.
///
/// # Errors
/// [`ReadError`] if the table is missing or lacks a column.
pub fn values(
    folder: &ResultFolder,
    tables: &JobTables,
    columns: &[Name],
) -> Result<HashMap<i64, Vec<f64>>, ReadError> {
    let name = format!("{}.parquet", tables.runs);
    let names = columns.iter().copied().chain([name::run]).map(|name| name.to_string());
    let mut file = folder.file(&name)?;
    let read = |frame: DataFrame| {
        let values: Vec<Vec<f64>> =
            columns.iter().map(|name| reals(&frame, name)).collect::<PolarsResult<_>>()?;
        let of = |(i, run): (usize, i64)| (run, values.iter().map(|column| column[i]).collect());
        Ok(integers(&frame, name::run)?.into_iter().enumerate().map(of).collect())
    };
    let values = table(&mut file, names.collect(), None, read);
    values.map_err(ReadError::table(&folder.path().join(&name)))
}

/// The table of jobs of a result directory. The jobs are read run by run, because the table of a large grid may not fit
/// into memory.
#[derive(Clone, Debug)]
pub struct JobsTable {
    path: PathBuf,
    tables: &'static JobTables,
    /// Open file, after its digest was checked. The name of the file may refer to another file by now.
    file: Arc<File>,
    /// For each run, the first row and the number of rows of each part.
    parts: HashMap<i64, Vec<(usize, usize)>>,
}

impl JobsTable {
    /// File name of the table.
    pub fn file(tables: &JobTables) -> String {
        format!("{}.parquet", tables.jobs)
    }

    /// Opens the table and locates its runs.
    ///
    /// # Errors
    /// [`ReadError`] if the table is missing or unreadable.
    pub fn open(folder: &ResultFolder, tables: &'static JobTables) -> Result<Self, ReadError> {
        let name = Self::file(tables);
        let (path, mut file) = (folder.path().join(&name), folder.file(&name)?);
        let runs = table(&mut file, vec![name::run.to_string()], None, |frame| {
            integers(&frame, name::run)
        });
        let runs = runs.map_err(ReadError::table(&path))?;
        let mut parts: HashMap<i64, Vec<(usize, usize)>> = HashMap::new();
        let mut first = 0;
        for part in runs.chunk_by(|one, next| one == next) {
            parts.entry(part[0]).or_default().push((first, part.len()));
            first += part.len();
        }
        Ok(Self { path, tables, file: Arc::new(file), parts })
    }

    /// Reads the jobs of one run, ordered by job number and then by submission time. Returns an empty list for an
    /// unknown run.
    ///
    /// # Errors
    /// [`ReadError`] if the table lacks a column.
    pub fn of(&self, run: i64) -> Result<Vec<JobRow>, ReadError> {
        let mut rows = Vec::new();
        for &part in self.parts.get(&run).into_iter().flatten() {
            rows.extend(self.part(part).map_err(ReadError::table(&self.path))?);
        }
        rows.sort_by_key(|row: &JobRow| (row.number, row.submit));
        Ok(rows)
    }

    fn part(&self, part: (usize, usize)) -> Result<Vec<JobRow>, String> {
        let JobTables { start, measures, .. } = *self.tables;
        let columns = [name::job, name::submit, name::size].into_iter().chain(start);
        let columns = columns.chain(measures.iter().copied());
        let read = |frame: DataFrame| {
            let [numbers, submits, sizes] =
                [name::job, name::submit, name::size].map(|name| integers(&frame, name));
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
        };
        let unreadable = |error: io::Error| format!("cannot duplicate the file handle: {error}");
        let mut file = self.file.try_clone().map_err(unreadable)?;
        table(&mut file, columns.map(|name| name.to_string()).collect(), Some(part), read)
    }
}

/// Decodes columns of all rows, or of a slice given by first row and count, and applies `read` to them.
fn table<T>(
    file: &mut File,
    columns: Vec<String>,
    slice: Option<(usize, usize)>,
    read: impl FnOnce(DataFrame) -> PolarsResult<T>,
) -> Result<T, String> {
    let metadata = damaged::footer(file)?;
    let rows = metadata.num_rows;
    damaged::caught(|| {
        file.rewind()?;
        let mut reader = ParquetReader::new(file.try_clone()?)
            .with_columns(Some(columns))
            .with_slice(slice)
            .read_parallel(ParallelStrategy::None);
        reader.set_metadata(Arc::new(metadata));
        let frame = reader.finish()?;
        let (has, should) = (frame.height(), slice.map_or(rows, |(_, count)| count));
        if has != should {
            let what = format!("{has} values in {should} rows");
            return Err(PolarsError::ComputeError(what.into()));
        }
        read(frame)
    })
}

fn integers(frame: &DataFrame, name: Name) -> PolarsResult<Vec<i64>> {
    Ok(frame.column(&name)?.i64()?.iter().map(|value| value.unwrap_or(0)).collect())
}

/// Returns a column of numbers of any type as floats; null is read as NaN.
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

/// Returns a column of text or numbers as text; null is read as the empty text.
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
