use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::told::Told;
use crate::table::{Table, write_csv};

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
    pub told: Vec<Option<Told>>,
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

/// Tables that have a row for each job: of no use on a page.
const OF_JOBS: [&str; 2] = ["contend_jobs.csv", "placements.csv"];

impl Folder {
    /// Reads a folder that `--out` has written. `tables` are the files of a kind of command.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn read(
        path: &Path,
        tables: impl Fn(&str) -> &'static [&'static str],
    ) -> Result<Self, FolderError> {
        let file = path.join("manifest.json");
        let text =
            fs::read(&file).map_err(|source| FolderError::Read { path: file.clone(), source })?;
        let bad = |problem: String| FolderError::Manifest { path: file.clone(), problem };
        let manifest: serde_json::Value =
            serde_json::from_slice(&text).map_err(|error| bad(error.to_string()))?;
        if manifest["program"] != "replay" {
            return Err(bad("not a manifest of replay".to_string()));
        }
        let kind = manifest["kind"].as_str().unwrap_or_default().to_string();
        let mut read = Vec::new();
        for name in tables(&kind).iter().filter(|name| name.ends_with(".csv")) {
            let file = path.join(name);
            if OF_JOBS.contains(name) || !file.exists() {
                continue;
            }
            let csv = Csv::read(&file)?;
            if !csv.rows.is_empty() {
                read.push((name.trim_end_matches(".csv").to_string(), csv));
            }
        }
        let files = manifest["files"].as_array().into_iter().flatten();
        let missing = files
            .filter_map(|file| file["name"].as_str())
            .filter(|name| {
                name.ends_with(".csv") && !name.contains('/') && !path.join(name).exists()
            })
            .map(str::to_string)
            .collect();
        let name = path.display().to_string();
        let figures = figures(&path.join("plots"))?;
        Ok(Self { name, kind, manifest, tables: read, missing, figures, told: Vec::new() })
    }

    /// A table by name.
    pub fn table(&self, name: &str) -> Option<&Csv> {
        self.tables.iter().find(|(table, _)| table == name).map(|(_, csv)| csv)
    }
}

/// The SVGs of a folder, by name; none if there is no such folder.
fn figures(dir: &Path) -> Result<Vec<(String, String)>, FolderError> {
    let unread = |path: &Path, source| FolderError::Read { path: path.to_path_buf(), source };
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unread(dir, error)),
    };
    let mut figures = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| unread(dir, error))?.path();
        if path.extension().is_some_and(|extension| extension == "svg") {
            let svg = fs::read_to_string(&path).map_err(|error| unread(&path, error))?;
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            figures.push((stem, svg));
        }
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
        let read = || {
            let mut reader = csv::Reader::from_path(path)?;
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
    pub fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|column| column == name)
    }
}

/// Whether a table is one of checks, as `verify --write` writes them.
pub fn is_published(csv: &Csv) -> bool {
    ["figure", "published", "ours", "verdict"].iter().all(|name| csv.column(name).is_some())
}
