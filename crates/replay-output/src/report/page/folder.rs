use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::top_strategy::TopStrategyComparison;
use replay_core::table::{Name, Table, name, write_csv};
use replay_experiment::files::{MANIFEST, ResultError, ResultFolder};

/// The results of a command, read from its output directory.
#[derive(Clone, Debug)]
pub struct Folder {
    /// Path of the directory as given by the user.
    pub name: String,
    /// Kind of command: `run`, `sweep`, `search`, `stream`, `contend`, `show`.
    pub kind: String,
    /// Contents of `manifest.json`.
    pub manifest: serde_json::Value,
    /// Tables with their names; the main table is first. Tables with a row per job are omitted.
    pub tables: Vec<(String, Csv)>,
    /// Names of tables listed in the manifest but missing from the directory.
    pub missing: Vec<String>,
    /// Stem and contents of each `plots/*.svg`, ordered by stem.
    pub figures: Vec<(String, String)>,
    /// Comparison of the top strategy with the other strategies, for each setting; empty until
    /// [`compare_top_strategies`](super::compare_top_strategies) has computed the comparisons.
    pub comparisons: Vec<Option<TopStrategyComparison>>,
}

/// A table read from a CSV file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Csv {
    /// Column names.
    pub header: Vec<String>,
    /// Rows, each with one field per column.
    pub rows: Vec<Vec<String>>,
}

/// Error from reading a directory for the page.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The files differ from the files listed in the manifest.
    #[error(transparent)]
    Results(#[from] ResultError),
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause of the failure.
        source: io::Error,
    },
    /// `manifest.json` is missing, is invalid, or was not written by replay.
    #[error("{}: {problem}", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// Description of the error.
        problem: String,
    },
    /// A table is not valid CSV.
    #[error("{}: {source}", path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// Cause of the failure, with the line number.
        source: csv::Error,
    },
}

impl FolderError {
    /// Returns whether reading the same directory again can succeed.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Results(error) if error.is_transient())
    }
}

/// Names of the tables with a row per job, which are too large for a page.
const OF_JOBS: [&str; 2] = ["contend_jobs.csv", "placements.csv"];

impl Folder {
    /// Reads a directory written with `--out`. `tables` returns the names of the table files for a kind of command.
    /// Every file is verified against the digest in the manifest.
    ///
    /// # Errors
    /// [`FolderError`] if the manifest or a table is invalid, or a file cannot be read.
    pub fn read(
        folder: &ResultFolder,
        tables: impl Fn(&str) -> &'static [&'static str],
    ) -> Result<Self, FolderError> {
        let file = folder.path().join(MANIFEST);
        let bad = |problem: String| FolderError::Manifest { path: file.clone(), problem };
        let Some(text) = folder.manifest() else {
            let problem = "no such file; name a directory that was written with --out";
            return Err(bad(problem.to_string()));
        };
        let manifest: serde_json::Value =
            serde_json::from_slice(text).map_err(|error| bad(error.to_string()))?;
        let kind = manifest["kind"].as_str().unwrap_or_default().to_string();
        let listed: Vec<&str> = folder.files().iter().map(|file| file.name.as_str()).collect();
        let (mut read, mut missing) = (Vec::new(), Vec::new());
        for name in tables(&kind).iter().filter(|name| name.ends_with(".csv")) {
            if OF_JOBS.contains(name) || !listed.contains(name) {
                continue;
            }
            let csv = match folder.file(name) {
                Ok(file) => Csv::from_reader(file, &folder.path().join(name))?,
                Err(ResultError::Missing(_)) => {
                    missing.push(name.to_string());
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            if !csv.rows.is_empty() {
                read.push((name.trim_end_matches(".csv").to_string(), csv));
            }
        }
        let name = folder.path().display().to_string();
        let figures = figures(folder, &listed)?;
        Ok(Self { name, kind, manifest, tables: read, missing, figures, comparisons: Vec::new() })
    }

    /// Returns a table by name.
    pub fn table(&self, name: &str) -> Option<&Csv> {
        self.tables.iter().find(|(table, _)| table == name).map(|(_, csv)| csv)
    }
}

/// Reads the SVG figures of a directory, ordered by stem; missing files are skipped.
fn figures(folder: &ResultFolder, listed: &[&str]) -> Result<Vec<(String, String)>, FolderError> {
    let mut figures = Vec::new();
    for &name in listed {
        let stem = name.strip_prefix("plots/").and_then(|name| name.strip_suffix(".svg"));
        let Some(stem) = stem.filter(|stem| !stem.contains('/')) else { continue };
        let path = folder.path().join(name);
        let mut svg = String::new();
        match folder.file(name) {
            Ok(mut file) => file
                .read_to_string(&mut svg)
                .map_err(|source| FolderError::Read { path: path.clone(), source })?,
            Err(ResultError::Missing(_)) => continue,
            Err(error) => return Err(error.into()),
        };
        figures.push((stem.to_string(), svg));
    }
    figures.sort_unstable();
    Ok(figures)
}

impl Csv {
    /// Reads a CSV file with a header.
    ///
    /// # Errors
    /// [`FolderError::Table`] if the file cannot be read or is not valid CSV.
    pub fn read(path: &Path) -> Result<Self, FolderError> {
        let file = fs::File::open(path).map_err(csv::Error::from);
        let file =
            file.map_err(|source| FolderError::Table { path: path.to_path_buf(), source })?;
        Self::from_reader(file, path)
    }

    /// Reads CSV with a header; `path` is used in errors only.
    fn from_reader(text: impl Read, path: &Path) -> Result<Self, FolderError> {
        let read = || {
            let mut reader = csv::Reader::from_reader(text);
            let fields = |record: &csv::StringRecord| record.iter().map(str::to_string).collect();
            let header = fields(reader.headers()?);
            let rows = reader.records().map(|row| row.map(|row| fields(&row)));
            Ok(Self { header, rows: rows.collect::<Result<_, _>>()? })
        };
        read().map_err(|source| FolderError::Table { path: path.to_path_buf(), source })
    }

    /// Converts rows to a table of text fields.
    pub fn of<Row: Table>(rows: &[Row]) -> Self {
        let mut bytes = Vec::new();
        // Writing to memory does not fail.
        let _ = write_csv(&Row::columns(), rows, true, &mut bytes);
        let mut reader = csv::Reader::from_reader(&bytes[..]);
        let fields = |record: &csv::StringRecord| record.iter().map(str::to_string).collect();
        let header = reader.headers().map(fields).unwrap_or_default();
        Self { header, rows: reader.records().flatten().map(|row| fields(&row)).collect() }
    }

    /// Returns the index of a column.
    pub fn column(&self, name: Name) -> Option<usize> {
        self.header.iter().position(|column| name == *column)
    }
}

/// Returns whether a table contains checks as written by `verify --write`.
pub fn is_published(csv: &Csv) -> bool {
    [name::figure, name::published, name::ours, name::verdict]
        .into_iter()
        .all(|name| csv.column(name).is_some())
}
