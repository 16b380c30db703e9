//! Reads the tables of results directories.
//!
//! Every table is opened through a [`ResultFolder`], which checks the digest of the table. Because a table may be
//! damaged in any way, it is decoded by [`replay_import::columns`], which converts panics of the Parquet reader to
//! errors.

use replay_engine::table::{Name, TableInfo};
use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use polars::prelude::{Column, DataFrame, DataType, PolarsError};

use super::ResultTable;
use super::compare::{JobTables, SEVERAL_LEAVES, with_several_leaves};
use replay_engine::metrics::{JobMeasures, Submitted, comparable};
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
    /// A column has an unexpected type.
    #[error("cannot read the results: {0}")]
    Frame(#[from] PolarsError),
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

/// Reads the table `name` of a result directory; `known` describes the tables of replay.
///
/// # Errors
/// [`ReadError`] if the table is missing or unreadable.
pub fn table(
    folder: &ResultFolder,
    name: &str,
    known: &[TableInfo],
) -> Result<ResultTable, ReadError> {
    let file_name = format!("{name}.parquet");
    let frame = columns(&folder.file(&file_name)?, |_| true);
    let frame = frame.map_err(ReadError::table(&folder.path().join(file_name)))?;
    Ok(ResultTable::new(name, known, frame))
}

/// Reads the columns of a Parquet file that `is_read` selects by name.
///
/// # Errors
/// A message if the file is damaged.
pub fn columns(mut file: &File, is_read: impl Fn(&str) -> bool) -> Result<DataFrame, String> {
    let footer = Footer::read(&mut file)?;
    let names = footer.schema.iter_names().map(|name| name.as_str());
    let names: Vec<&str> = names.filter(|name| is_read(name)).collect();
    footer.batch(&mut file, &names, 0..footer.rows()).map(DataFrame::from)
}

/// A run of a result directory.
#[derive(Clone, PartialEq, Debug)]
pub struct RunRow {
    /// Number of the run in its directory.
    pub run: i64,
    /// Key of the run.
    pub key: RunKey,
    /// Whether the run [`folds`](comparable::folds) jobs; `false` if the table does not contain this information.
    pub folds: bool,
}

/// Reads the table of runs of a result directory: the columns of [`RunKey::NAMES`], `run`, [`comparable::FOLDED`] if the
/// table has it, and `columns`, whose values are converted to floats.
///
/// # Errors
/// [`ReadError`] if the table is missing or unreadable, or lacks a column, or if a run has several rows in a directory
/// without a manifest.
pub fn runs(
    folder: &ResultFolder,
    tables: &JobTables,
    columns: &[Name],
) -> Result<(Vec<RunRow>, DataFrame), ReadError> {
    let name = format!("{}.parquet", tables.runs);
    let file = folder.file(&name)?;
    let read = || {
        let footer = Footer::read(&mut &file)?;
        let is_read = |name: &Name| footer.schema.contains(name.text()) && !columns.contains(name);
        let folded = Some(comparable::FOLDED).filter(is_read);
        let floats: Vec<Name> = columns.iter().copied().chain(folded).collect();
        let names = RunKey::NAMES.into_iter().chain([RunResult::RUN]).chain(floats.iter().copied());
        let names: Vec<Name> = names.collect();
        let mut table = read_rows(&footer, &file, &names, 0..footer.rows())?;
        cast(&mut table, &floats, &DataType::Float64)?;
        let runs = rows(&table)?;
        let numbers: Vec<i64> = runs.iter().map(|run| run.run).collect();
        match repeated(&numbers).filter(|_| folder.manifest().is_none()) {
            Some(run) => Err(format!("run {run} has several rows{WITHOUT_MANIFEST}")),
            None => Ok((runs, table)),
        }
    };
    read().map_err(ReadError::table(&folder.path().join(&name)))
}

/// End of the message about a repeated row.
const WITHOUT_MANIFEST: &str = ", and the directory has no manifest.json that lists the table: repeat the command that \
     wrote the results with --out";

/// Returns the smallest number that occurs more than once.
fn repeated(numbers: &[i64]) -> Option<i64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// Returns the keys of a table of runs.
fn rows(table: &DataFrame) -> Result<Vec<RunRow>, String> {
    let [traces, topologies, schedulers, allocators, policies] =
        [RunKey::TRACE, RunKey::TOPOLOGY, RunKey::SCHEDULER, RunKey::ALLOCATOR, RunKey::POLICY]
            .map(|name| complete(name, texts(table, name)?));
    let (traces, topologies, schedulers) = (traces?, topologies?, schedulers?);
    let (allocators, policies, ties) = (allocators?, policies?, texts(table, RunKey::TIE)?);
    let [runs, seeds, copies] =
        [RunResult::RUN, RunKey::SEED, RunKey::COPY].map(|name| integers(table, name));
    let (runs, seeds, copies) = (runs?, seeds?, copies?);
    let folded = table.column(comparable::FOLDED.text()).and_then(Column::f64).ok();
    let row = |i: usize| RunRow {
        run: runs[i],
        key: RunKey {
            trace: traces[i].clone(),
            topology: topologies[i].clone(),
            scheduler: schedulers[i].clone(),
            allocator: allocators[i].clone(),
            tie: ties[i].clone(),
            policy: policies[i].clone(),
            seed: seeds[i] as u64,
            copy: copies[i] as u32,
        },
        folds: comparable::folds(folded.and_then(|folded| folded.get(i))),
    };
    Ok((0..table.height()).map(row).collect())
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
    /// Whether repeated jobs are an error: no manifest shows that the table is as replay wrote it. A trace may have
    /// several jobs with the same number.
    is_checked: bool,
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
        let is_checked = folder.manifest().is_none();
        let mut parts: HashMap<i64, Vec<(usize, usize)>> = HashMap::new();
        let mut first = 0;
        for part in runs.chunk_by(|one, next| one == next) {
            parts.entry(part[0]).or_default().push((first, part.len()));
            first += part.len();
        }
        Ok(Self { path, tables, file: Arc::new(file), footer: Arc::new(footer), parts, is_checked })
    }

    /// Reads the jobs of one run: number, submission and size, start and `label` if there is one, and the measures as
    /// floats. Returns no rows for an unknown run.
    ///
    /// # Errors
    /// [`ReadError`] if the table lacks a column, or if a job has several rows in a directory without a manifest.
    pub fn of(&self, run: i64, label: Option<Name>) -> Result<DataFrame, ReadError> {
        let JobTables { start, measures, .. } = *self.tables;
        let numbers = [Submitted::JOB, Submitted::SUBMIT, Submitted::SIZE].into_iter().chain(start);
        let numbers: Vec<Name> = numbers.collect();
        // The table of jobs does not have the derived measure.
        let measures: Vec<Name> =
            measures.iter().copied().filter(|&name| name != SEVERAL_LEAVES).collect();
        let columns = numbers.iter().copied().chain(label).chain(measures.iter().copied());
        let columns: Vec<Name> = columns.collect();
        let rows = |rows: Range<usize>| read_rows(&self.footer, &self.file, &columns, rows);
        let read = || {
            let mut jobs = rows(0..0)?;
            for &(first, count) in self.parts.get(&run).into_iter().flatten() {
                let part = rows(first..first + count)?;
                jobs.vstack_mut_owned(part).map_err(|error| error.to_string())?;
            }
            cast(&mut jobs, &columns[..columns.len() - measures.len()], &DataType::Int64)?;
            cast(&mut jobs, &measures, &DataType::Float64)?;
            if measures.contains(&JobMeasures::LEAVES) {
                with_several_leaves(&mut jobs).map_err(|error| error.to_string())?;
            }
            numbers.iter().try_for_each(|&name| integers(&jobs, name).map(drop))?;
            if self.is_checked
                && let Some(job) = repeated(&integers(&jobs, Submitted::JOB)?)
            {
                return Err(format!("run {run}, job {job} has several rows{WITHOUT_MANIFEST}"));
            }
            Ok(jobs)
        };
        read().map_err(ReadError::table(&self.path))
    }
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

/// Returns a column of integers; null is an error. Unsigned integers become signed.
fn integers(table: &DataFrame, name: Name) -> Result<Vec<i64>, String> {
    let values = column(table, name)?;
    complete(
        name,
        match values.u64() {
            Ok(values) => values.iter().map(|value| value.map(|value| value as i64)).collect(),
            Err(_) => values.i64().map_err(wrong_type(name))?.iter().collect(),
        },
    )
}

/// Returns a column of text.
fn texts(table: &DataFrame, name: Name) -> Result<Vec<Option<String>>, String> {
    let values = column(table, name)?.str().map_err(wrong_type(name))?;
    Ok(values.iter().map(|value| value.map(str::to_string)).collect())
}

/// Converts numeric columns to a type; other columns are errors.
fn cast(table: &mut DataFrame, names: &[Name], dtype: &DataType) -> Result<(), String> {
    for &name in names {
        let values = column(table, name)?;
        if !values.dtype().is_primitive_numeric() {
            return Err(format!("column {name} has an unexpected type: {}", values.dtype()));
        }
        let values = values.cast(dtype).map_err(wrong_type(name))?;
        table.with_column(values).map_err(wrong_type(name))?;
    }
    Ok(())
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
            ]
        }
    }

    #[test]
    fn nulls_are_not_read_as_values() {
        let full = frame(&[Row(Some(3), Some("a"))]).expect("a data frame");
        assert_eq!(integers(&full, Name::new("run")), Ok(vec![3]));
        assert_eq!(texts(&full, Name::new("trace")), Ok(vec![Some("a".to_string())]));
        let part = frame(&[Row(Some(3), Some("a")), Row(None, None)]).expect("a data frame");
        assert_eq!(integers(&part, Name::new("run")), Err("column run has a null".to_string()));
        let traces = complete(Name::new("trace"), texts(&part, Name::new("trace")).expect("text"));
        assert_eq!(traces, Err("column trace has a null".to_string()));
        let mut floats = part.clone();
        cast(&mut floats, &[Name::new("run")], &DataType::Float64).expect("numbers");
        assert!(floats.column("run").expect("a column").null_count() == 1);
        let text = cast(&mut floats, &[Name::new("trace")], &DataType::Float64);
        assert_eq!(text, Err("column trace has an unexpected type: str".to_string()));
    }
}
