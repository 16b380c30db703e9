//! Reads the tables of results directories.
//!
//! Every table is opened through a [`ResultFolder`], which checks the digest of the table. Because a table may be
//! damaged in any way, it is decoded by [`replay_import::columns`], which converts panics of the Parquet reader to
//! errors.

use replay_engine::table::{Name, Records, TableInfo};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use polars::prelude::{Column, DataFrame, DataType, PolarsError};

use replay_engine::metrics::Submitted;
use replay_experiment::compare::{JobRow, JobTables, RunRow};
use replay_experiment::files::{ResultError, ResultFolder};
use replay_experiment::{RunKey, RunResult};
use replay_import::columns::Footer;

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
    /// Returns whether a retry shortly afterwards may succeed.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Results(error) if error.is_transient())
    }

    fn table(path: &Path) -> impl FnOnce(String) -> Self + '_ {
        |what| Self::Table { path: path.to_path_buf(), what }
    }
}

/// Reads a CSV file with a header. Columns that the table `name` of `known` declares contain values of the declared
/// types; other columns contain text.
///
/// # Errors
/// [`csv::Error`] if the file cannot be read or is not valid CSV.
pub fn records(
    text: impl io::Read,
    name: &str,
    known: &[TableInfo],
) -> Result<Records, csv::Error> {
    let mut reader = csv::Reader::from_reader(text);
    let header = reader.headers()?.iter().map(str::to_string);
    let info = known.iter().find(|table| table.name == name);
    let mut records = Records::new(name, info, header);
    for row in reader.records() {
        records.push_fields(&row?);
    }
    Ok(records)
}

/// Reads the runs of a result directory in the order of their table.
///
/// # Errors
/// [`ReadError`] if the table is missing or unreadable.
pub fn runs(folder: &ResultFolder, tables: &JobTables) -> Result<Vec<RunRow>, ReadError> {
    let name = format!("{}.parquet", tables.runs);
    let columns: Vec<Name> = RunRow::KEY.iter().copied().chain([RunResult::RUN]).collect();
    let file = folder.file(&name)?;
    let read = |table: DataFrame| {
        let texts: Vec<Vec<String>> =
            RunRow::KEY.iter().map(|&name| texts(&table, name)).collect::<Result<_, _>>()?;
        let numbers = integers(&table, RunResult::RUN)?;
        let row = |(i, run): (usize, i64)| RunRow {
            run,
            key: texts.iter().map(|column| column[i].clone()).collect(),
        };
        Ok(numbers.into_iter().enumerate().map(row).collect())
    };
    let rows = all_rows(&file, &columns).and_then(read);
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
    let names: Vec<Name> = columns.iter().copied().chain([RunResult::RUN]).collect();
    let file = folder.file(&name)?;
    let read = |table: DataFrame| {
        let values: Vec<Vec<f64>> =
            columns.iter().map(|&name| reals(&table, name)).collect::<Result<_, _>>()?;
        let of = |(i, run): (usize, i64)| (run, values.iter().map(|column| column[i]).collect());
        Ok(integers(&table, RunResult::RUN)?.into_iter().enumerate().map(of).collect())
    };
    let values = all_rows(&file, &names).and_then(read);
    values.map_err(ReadError::table(&folder.path().join(&name)))
}

/// Returns whether the table of runs has a column.
///
/// # Errors
/// [`ReadError`] if the table is missing or unreadable.
pub fn has_column(
    folder: &ResultFolder,
    tables: &JobTables,
    column: Name,
) -> Result<bool, ReadError> {
    let name = format!("{}.parquet", tables.runs);
    let file = folder.file(&name)?;
    let footer = Footer::read(&mut &file).map_err(ReadError::table(&folder.path().join(&name)))?;
    Ok(footer.schema.contains(column.text()))
}

/// The table of jobs of a result directory. The jobs are read run by run, because the table of a large grid may not fit
/// into memory.
#[derive(Clone, Debug)]
pub struct JobsTable {
    path: PathBuf,
    tables: &'static JobTables,
    /// Open file whose digest has been checked. Another file may have taken the name of this file since the check.
    file: Arc<File>,
    footer: Arc<Footer>,
    /// For each run, the first row and the number of rows of each part.
    parts: HashMap<i64, Vec<(usize, usize)>>,
}

impl JobsTable {
    /// Returns the file name of the table.
    pub fn file(tables: &JobTables) -> String {
        format!("{}.parquet", tables.jobs)
    }

    /// Opens the table and locates its runs.
    ///
    /// # Errors
    /// [`ReadError`] if the table is missing or unreadable.
    pub fn open(folder: &ResultFolder, tables: &'static JobTables) -> Result<Self, ReadError> {
        let name = Self::file(tables);
        let (path, file) = (folder.path().join(&name), folder.file(&name)?);
        let read = || {
            let footer = Footer::read(&mut &file)?;
            let table = read_rows(&footer, &file, &[RunResult::RUN], 0..footer.rows())?;
            Ok((integers(&table, RunResult::RUN)?, footer))
        };
        let (runs, footer) = read().map_err(ReadError::table(&path))?;
        let mut parts: HashMap<i64, Vec<(usize, usize)>> = HashMap::new();
        let mut first = 0;
        for part in runs.chunk_by(|one, next| one == next) {
            parts.entry(part[0]).or_default().push((first, part.len()));
            first += part.len();
        }
        Ok(Self { path, tables, file: Arc::new(file), footer: Arc::new(footer), parts })
    }

    /// Reads the jobs of one run, ordered by job number and then by submission time. Returns an empty list for an
    /// unknown run. `label` is the column by which jobs are grouped.
    ///
    /// # Errors
    /// [`ReadError`] if the table lacks a column.
    pub fn of(&self, run: i64, label: Option<Name>) -> Result<Vec<JobRow>, ReadError> {
        let mut rows = Vec::new();
        for &part in self.parts.get(&run).into_iter().flatten() {
            rows.extend(self.part(part, label).map_err(ReadError::table(&self.path))?);
        }
        rows.sort_by_key(|row: &JobRow| (row.number, row.submit));
        Ok(rows)
    }

    fn part(
        &self,
        (first, count): (usize, usize),
        label: Option<Name>,
    ) -> Result<Vec<JobRow>, String> {
        let JobTables { start, measures, .. } = *self.tables;
        let columns = [Submitted::JOB, Submitted::SUBMIT, Submitted::SIZE].into_iter().chain(start);
        let columns: Vec<Name> = columns.chain(label).chain(measures.iter().copied()).collect();
        let table = read_rows(&self.footer, &self.file, &columns, first..first + count)?;
        let [numbers, submits, sizes] =
            [Submitted::JOB, Submitted::SUBMIT, Submitted::SIZE].map(|name| integers(&table, name));
        let (numbers, submits, sizes) = (numbers?, submits?, sizes?);
        let starts = start.map(|name| integers(&table, name)).transpose()?;
        let labels = label.map(|name| labels(&table, name)).transpose()?;
        let measures: Vec<Vec<f64>> =
            measures.iter().map(|&name| reals(&table, name)).collect::<Result<_, _>>()?;
        let row = |i: usize| JobRow {
            number: numbers[i],
            submit: submits[i],
            start: starts.as_ref().map_or(0, |starts| starts[i]),
            size: sizes[i],
            label: labels.as_ref().map_or(-1, |labels| labels[i]),
            measures: std::array::from_fn(|at| {
                measures.get(at).map_or(f64::NAN, |values: &Vec<f64>| values[i])
            }),
        };
        Ok((0..count).map(row).collect())
    }
}

/// Reads columns of all rows.
fn all_rows(file: &File, columns: &[Name]) -> Result<DataFrame, String> {
    let footer = Footer::read(&mut &*file)?;
    read_rows(&footer, file, columns, 0..footer.rows())
}

/// Reads columns of some rows.
fn read_rows(
    footer: &Footer,
    mut file: &File,
    columns: &[Name],
    rows: Range<usize>,
) -> Result<DataFrame, String> {
    let names: Vec<&str> = columns.iter().map(|name| name.text()).collect();
    footer.batch(&mut file, &names, rows).map(DataFrame::from)
}

/// Returns a column of integers; null is an error.
fn integers(table: &DataFrame, name: Name) -> Result<Vec<i64>, String> {
    let values = column(table, name)?.i64().map_err(wrong_type(name))?;
    complete(name, values.iter().collect())
}

/// Returns a column of integers; null is read as -1.
fn labels(table: &DataFrame, name: Name) -> Result<Vec<i64>, String> {
    let values = column(table, name)?.i64().map_err(wrong_type(name))?;
    Ok(values.iter().map(|value| value.unwrap_or(-1)).collect())
}

/// Returns a column of numbers of any type as floats; null is read as NaN.
fn reals(table: &DataFrame, name: Name) -> Result<Vec<f64>, String> {
    let column = column(table, name)?;
    if let Ok(values) = column.i64() {
        return Ok(values.iter().map(|it| it.map_or(f64::NAN, |value| value as f64)).collect());
    }
    let values = column.f64().map_err(wrong_type(name))?;
    Ok(values.iter().map(|value| value.unwrap_or(f64::NAN)).collect())
}

/// Returns a column of text or integers as text. In the column `tie`, null is read as the empty text; in other columns,
/// null is an error.
fn texts(table: &DataFrame, name: Name) -> Result<Vec<String>, String> {
    let column = column(table, name)?;
    let text: Vec<Option<String>> = match column.dtype() {
        DataType::UInt64 => {
            let values = column.u64().map_err(wrong_type(name))?;
            values.iter().map(|value| value.map(|value| value.to_string())).collect()
        }
        DataType::Int64 => {
            let values = column.i64().map_err(wrong_type(name))?;
            values.iter().map(|value| value.map(|value| value.to_string())).collect()
        }
        _ => {
            let values = column.str().map_err(wrong_type(name))?;
            values.iter().map(|value| value.map(str::to_string)).collect()
        }
    };
    match name == RunKey::TIE {
        true => Ok(text.into_iter().map(Option::unwrap_or_default).collect()),
        false => complete(name, text),
    }
}

/// Returns the values of a column without nulls.
fn complete<T>(name: Name, values: Vec<Option<T>>) -> Result<Vec<T>, String> {
    let values: Option<Vec<T>> = values.into_iter().collect();
    values.ok_or_else(|| format!("column {name} has a null"))
}

fn column(table: &DataFrame, name: Name) -> Result<&Column, String> {
    table.column(name.text()).map_err(|_| format!("no column \"{name}\""))
}

fn wrong_type(name: Name) -> impl FnOnce(PolarsError) -> String {
    move |error| format!("column {name} has an unexpected type: {error}")
}

#[cfg(test)]
mod tests {
    use replay_engine::table::{Column, Table};

    use super::*;
    use crate::frame;

    struct Row(Option<i64>, Option<&'static str>);

    impl Table for Row {
        const NAME: &'static str = "rows";
        const ROW: &'static str = "row";

        fn columns() -> Vec<Column<Self>> {
            vec![
                Column::new("run", "", "a number", |row: &Self| row.0),
                Column::text("trace", "a text", |row: &Self| row.1),
                Column::text("tie", "a text", |row: &Self| row.1),
            ]
        }
    }

    #[test]
    fn nulls_are_not_read_as_values() {
        let full = frame(&[Row(Some(3), Some("a"))]).expect("a data frame");
        assert_eq!(integers(&full, Name::new("run")), Ok(vec![3]));
        assert_eq!(texts(&full, Name::new("trace")), Ok(vec!["a".to_string()]));
        let part = frame(&[Row(Some(3), Some("a")), Row(None, None)]).expect("a data frame");
        assert_eq!(integers(&part, Name::new("run")), Err("column run has a null".to_string()));
        assert_eq!(texts(&part, Name::new("trace")), Err("column trace has a null".to_string()));
        assert_eq!(labels(&part, Name::new("run")), Ok(vec![3, -1]));
        assert_eq!(texts(&part, Name::new("tie")), Ok(vec!["a".to_string(), String::new()]));
        assert!(reals(&part, Name::new("run")).expect("numbers")[1].is_nan());
    }
}
