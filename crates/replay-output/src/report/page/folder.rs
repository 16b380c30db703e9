use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::top_strategy::TopStrategyComparison;
use replay_core::table::{Name, Table, name, write_csv};
use replay_experiment::files::{MANIFEST, ResultError, ResultFolder};

/// A folder of results, read.
#[derive(Clone, Debug)]
pub struct Folder {
    /// As the user named it.
    pub name: String,
    /// Kind of the command: `run`, `sweep`, `search`, `stream`, `contend`, `show`.
    pub kind: String,
    /// `manifest.json`.
    pub manifest: serde_json::Value,
    /// The tables with a row for each thing that ran or was found, that of all jobs left out; the main one first.
    pub tables: Vec<(String, Csv)>,
    /// Tables that the manifest has and the folder has not.
    pub missing: Vec<String>,
    /// Stems of `plots/*.svg` and what they hold, by name.
    pub figures: Vec<(String, String)>,
    /// What its jobs tell, setting by setting; nothing before somebody has [looked](super::told()) at them.
    pub told: Vec<Option<TopStrategyComparison>>,
}

/// A table as it is in a file of comma-separated values.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Csv {
    /// Names of the columns.
    pub header: Vec<String>,
    /// As many fields in each.
    pub rows: Vec<Vec<String>>,
}

/// A folder that cannot be reported.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Not the results that the manifest lists.
    #[error(transparent)]
    Results(#[from] ResultError),
    /// A file that cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Not a manifest, or not one of this program.
    #[error("{}: {problem}", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Not a table.
    #[error("{}: {source}", path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// What is wrong, with the line.
        source: csv::Error,
    },
}

impl FolderError {
    /// Whether the same folder may be readable a moment later.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Results(error) if error.is_transient())
    }
}

/// Tables that have a row for each job: of no use on a page.
const OF_JOBS: [&str; 2] = ["contend_jobs.csv", "placements.csv"];

impl Folder {
    /// Reads a folder that `--out` has written. `tables` are the files of a kind of command. Every
    /// file is the one that the manifest lists, by its digest.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn read(
        folder: &ResultFolder,
        tables: impl Fn(&str) -> &'static [&'static str],
    ) -> Result<Self, FolderError> {
        let file = folder.path().join(MANIFEST);
        let bad = |problem: String| FolderError::Manifest { path: file.clone(), problem };
        let Some(text) = folder.manifest() else {
            let problem = "no such file: name a folder that a command wrote with --out";
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
        Ok(Self { name, kind, manifest, tables: read, missing, figures, told: Vec::new() })
    }

    /// A table by name.
    pub fn table(&self, name: &str) -> Option<&Csv> {
        self.tables.iter().find(|(table, _)| table == name).map(|(_, csv)| csv)
    }
}

/// The SVGs of a folder, by name; those that are no longer there are left out.
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
    /// Reads a file with a line of names.
    ///
    /// # Errors
    /// [`FolderError::Table`].
    pub fn read(path: &Path) -> Result<Self, FolderError> {
        let file = fs::File::open(path).map_err(csv::Error::from);
        let file =
            file.map_err(|source| FolderError::Table { path: path.to_path_buf(), source })?;
        Self::from_reader(file, path)
    }

    /// Reads a text with a line of names; `path` is where it comes from.
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

    /// The table of these rows.
    pub fn of<Row: Table>(rows: &[Row]) -> Self {
        let mut bytes = Vec::new();
        // Nothing fails in memory.
        let _ = write_csv(&Row::columns(), rows, true, &mut bytes);
        let mut reader = csv::Reader::from_reader(&bytes[..]);
        let fields = |record: &csv::StringRecord| record.iter().map(str::to_string).collect();
        let header = reader.headers().map(fields).unwrap_or_default();
        Self { header, rows: reader.records().flatten().map(|row| fields(&row)).collect() }
    }

    /// The place of a column.
    pub fn column(&self, name: Name) -> Option<usize> {
        self.header.iter().position(|column| name == *column)
    }
}

/// Whether a table is one of checks, as `verify --write` writes them.
pub fn is_published(csv: &Csv) -> bool {
    [name::figure, name::published, name::ours, name::verdict]
        .into_iter()
        .all(|name| csv.column(name).is_some())
}
