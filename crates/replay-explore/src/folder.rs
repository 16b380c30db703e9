//! Runs of folders that `--out` wrote.

use polars::prelude::DataFrame;

use crate::{PageError, RunTables};
use replay_engine::simulation::Outages;
use replay_experiment::files::ResultFolder;
use replay_output::report::manifest::StoredManifest;
use replay_results::compare::REPLAYED;
use replay_results::read::{self, RunRow};

/// The runs of a folder, and the tables of their jobs.
pub struct RunFolder {
    name: String,
    manifest: StoredManifest,
    runs: Vec<RunRow>,
    table: DataFrame,
    jobs: DataFrame,
    placements: Option<DataFrame>,
}

impl RunFolder {
    /// Reads the tables of runs, jobs and placements. Runs of perturbed copies are left out.
    ///
    /// # Errors
    /// [`PageError`] if the folder has no table of jobs, or a table cannot be read.
    pub fn read(folder: &ResultFolder) -> Result<Self, PageError> {
        let name = folder.path().display().to_string();
        let manifest = StoredManifest::of(folder);
        let manifest = manifest.ok().flatten();
        let has =
            |table: &str| folder.files().iter().any(|file| file.name == format!("{table}.parquet"));
        let no_jobs = || PageError::NoJobs { folder: name.clone() };
        let manifest = manifest.filter(|_| has(REPLAYED.runs) && has(REPLAYED.jobs));
        let manifest = manifest.ok_or_else(no_jobs)?;
        let (mut runs, _) = read::runs(folder, &REPLAYED, &[])?;
        runs.retain(|run| run.key.copy == 0);
        let table = |name| read::table(folder, name, &[]).map(|table| table.frame);
        let placements = has(PLACEMENTS).then(|| table(PLACEMENTS)).transpose()?;
        let (runs_table, jobs) = (table(REPLAYED.runs)?, table(REPLAYED.jobs)?);
        if jobs.height() == 0 {
            return Err(no_jobs());
        }
        Ok(Self { name, manifest, runs, table: runs_table, jobs, placements })
    }

    /// Returns the path of the folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the manifest.
    pub fn manifest(&self) -> &StoredManifest {
        &self.manifest
    }

    /// Returns the runs.
    pub fn runs(&self) -> &[RunRow] {
        &self.runs
    }

    /// Returns the tables of one run, without outages.
    ///
    /// # Errors
    /// [`PageError`] if a table lacks the column of runs.
    pub fn tables(&self, run: &RunRow) -> Result<RunTables, PageError> {
        let part = |table: &DataFrame| rows_of(table, run.run);
        Ok(RunTables {
            key: run.key.clone(),
            from: Some(format!("{}, run {}", self.name, run.run)),
            run: part(&self.table)?,
            jobs: part(&self.jobs)?,
            placements: self.placements.as_ref().map(part).transpose()?,
            explained: Vec::new(),
            outages: Some(Outages::NONE),
        })
    }
}

/// Name of the table of placements.
const PLACEMENTS: &str = "placements";

/// Returns the rows of a run, which may be in several parts of the table.
fn rows_of(table: &DataFrame, run: i64) -> Result<DataFrame, PageError> {
    let wrong = |error: polars::prelude::PolarsError| PageError::Column { what: error.to_string() };
    let runs = table.column("run").map_err(wrong)?;
    let runs = runs.cast(&polars::prelude::DataType::Int64).map_err(wrong)?;
    let mask = runs.i64().map_err(wrong)?.iter().map(|value| value == Some(run)).collect();
    table.filter(&mask).map_err(wrong)
}
