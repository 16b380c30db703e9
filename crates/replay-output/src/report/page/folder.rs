use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::answer::AnswerParts;
use super::top_strategy::TopStrategyComparison;
use crate::report::manifest::StoredManifest;
use replay_engine::lines;
use replay_engine::table::{Name, TableInfo};
use replay_experiment::files::{MANIFEST, ResultError, ResultFolder};
use replay_results::ResultTable;
use replay_results::read::{self, ReadError};

/// The results of a command, read from its output directory.
#[derive(Clone, Debug)]
pub struct Folder {
    /// Path of the directory as given by the user.
    pub name: String,
    /// Contents of `manifest.json`.
    pub manifest: StoredManifest,
    /// Tables; the main table is first. Tables with a row per job are omitted.
    pub tables: Vec<ResultTable>,
    /// Names of tables listed in the manifest but missing from the directory. The main table is never missing.
    pub missing: Vec<String>,
    /// Figures in `plots`, ordered by stem.
    pub figures: Vec<StoredFigure>,
    /// What the runs answer, if there are several.
    pub answer: Option<AnswerParts>,
    /// Comparison of the top strategy with the other strategies, for each setting; empty until
    /// [`compare_top_strategies`](super::compare_top_strategies) has computed the comparisons.
    pub comparisons: Vec<Option<TopStrategyComparison>>,
    /// Page of `explore` about the runs; `None` if the directory has no table of jobs.
    pub explore: Option<ExplorePage>,
}

/// Page of `replay explore` about the runs of a directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExplorePage {
    /// The directory has the page; the text is its address relative to the report.
    Written(String),
    /// The directory has no page, but the table of jobs.
    Absent,
}

/// Name of the page of `explore` in a directory of results.
pub const EXPLORE_PAGE: &str = "explore.html";

/// A figure of a directory.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct StoredFigure {
    /// Stem of its files.
    pub stem: String,
    /// Contents of `STEM.svg`.
    pub svg: String,
    /// Contents of `STEM.caption.txt`, if there is such a file.
    pub caption: Option<String>,
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
    /// A table of results cannot be read.
    #[error(transparent)]
    Frame(#[from] ReadError),
    /// A file of checks is not valid CSV.
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
        match self {
            Self::Results(error) => error.is_transient(),
            Self::Frame(error) => error.is_transient(),
            _ => false,
        }
    }
}

/// Name of the table that `verify --write` writes.
const CHECKS: &str = "verify";

/// Column of this table with the verdicts.
pub(super) const VERDICT: Name = Name::new("verdict");

/// Names of the tables with a row per job, which are too large for a page.
const OF_JOBS: [&str; 3] = ["jobs", "contend_jobs", "placements"];

impl Folder {
    /// Reads a directory written with `--out`. `tables` returns the names of the table files for a kind of command, and
    /// `known` describes the tables of replay. Every file is verified against the digest in the manifest.
    ///
    /// # Errors
    /// [`FolderError`] if the manifest or a table is invalid, the main table is missing, or a file cannot be read.
    pub fn read(
        folder: &ResultFolder,
        tables: impl Fn(&str) -> &'static [&'static str],
        known: &[TableInfo],
    ) -> Result<Self, FolderError> {
        let file = folder.path().join(MANIFEST);
        let bad = |problem: String| FolderError::Manifest { path: file.clone(), problem };
        let manifest = StoredManifest::of(folder).map_err(|error| bad(error.to_string()))?;
        let Some(manifest) = manifest else {
            let problem = "no such file; name a directory that was written with --out";
            return Err(bad(problem.to_string()));
        };
        let listed: Vec<&str> = folder.files().iter().map(|file| file.name.as_str()).collect();
        let (mut read, mut missing, mut is_first) = (Vec::new(), Vec::new(), true);
        for name in tables(&manifest.kind) {
            let Some(table) = name.strip_suffix(".parquet") else { continue };
            if OF_JOBS.contains(&table) || !listed.contains(name) {
                continue;
            }
            // A page without the main table would have no results.
            let is_main = std::mem::take(&mut is_first);
            match read::table(folder, table, known) {
                Ok(table) if table.rows().len() > 0 => read.push(table),
                Ok(_) => {}
                Err(ReadError::Results(ResultError::Missing(_))) if !is_main => {
                    missing.push(name.to_string())
                }
                Err(error) => return Err(error.into()),
            }
        }
        let name = folder.path().display().to_string();
        let figures = figures(folder, &listed)?;
        Ok(Self {
            name,
            manifest,
            tables: read,
            missing,
            figures,
            answer: None,
            comparisons: Vec::new(),
            explore: None,
        })
    }
}

/// Reads the SVG figures of a directory, ordered by stem; missing files are skipped.
fn figures(folder: &ResultFolder, listed: &[&str]) -> Result<Vec<StoredFigure>, FolderError> {
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
        let mut caption = String::new();
        let read = folder
            .file(&format!("plots/{stem}.caption.txt"))
            .is_ok_and(|mut file| file.read_to_string(&mut caption).is_ok());
        let caption = Some(caption.trim_end().to_string()).filter(|text| read && !text.is_empty());
        figures.push(StoredFigure { stem: stem.to_string(), svg, caption });
    }
    figures.sort_unstable();
    Ok(figures)
}

/// Reads the checks that `verify --write` wrote. `known` describes the tables of replay.
///
/// # Errors
/// [`FolderError::Table`] if the file cannot be read, is longer than [`LONGEST_TEXT`](lines::LONGEST_TEXT), or is not
/// valid CSV.
pub fn checks(path: &Path, known: &[TableInfo]) -> Result<ResultTable, FolderError> {
    let text = File::open(path).and_then(lines::whole).map_err(csv::Error::from);
    let checks = text.and_then(|text| ResultTable::csv(text.as_bytes(), CHECKS, known));
    checks.map_err(|source| FolderError::Table { path: path.to_path_buf(), source })
}

/// Returns whether a table contains checks as written by `verify --write`.
pub fn is_published(checks: &ResultTable) -> bool {
    let others = ["figure", "published", "ours"].map(Name::new);
    others.into_iter().chain([VERDICT]).all(|name| checks.frame.column(name.text()).is_ok())
}
