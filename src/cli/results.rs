//! What a command came to, printed and written in one way.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use super::exit::{Exit, Failure, tell};
use super::session::Session;
use super::stdout::stdout;
use crate::frame::FrameError;
use crate::number::grouped;
use crate::report::Sheet;
use crate::table::Table;

/// The results of a command. To add one is to say these; [`Session::publish`] does the rest.
pub trait Results {
    /// A row of what is printed.
    type Row: Table;

    /// What is printed, whole for programs. Without any nothing is written either.
    fn rows(&self) -> &[Self::Row];

    /// The same for people.
    fn sheets(&self) -> Vec<Sheet>;

    /// What decides the numbers.
    fn configuration(&self) -> impl Serialize;

    /// What else the manifest says.
    fn details(&self) -> Value {
        Value::Null
    }

    /// What the Parquet files say of the configuration.
    fn origin(&self) -> serde_json::Result<String> {
        serde_json::to_string(&self.configuration())
    }

    /// Writes the tables into a folder; their paths.
    fn tables(&self, dir: &Path, metadata: &[(String, String)])
    -> Result<Vec<PathBuf>, FrameError>;

    /// Draws the figures into a folder of their own; their paths.
    fn figures(&self, plots: &Path) -> anyhow::Result<Vec<PathBuf>>;
}

/// What became of the cells of a command: it decides the exit code.
#[derive(Debug, Default)]
pub struct Tally {
    /// Those there are.
    pub cells: usize,
    /// Those that have results.
    pub done: usize,
    /// Why others failed.
    pub failed: Vec<String>,
}

impl Tally {
    /// Those that have ended.
    fn ended(&self) -> usize {
        self.done + self.failed.len()
    }

    /// Whether the command was interrupted before all was done.
    pub fn is_partial(&self) -> bool {
        self.ended() < self.cells
    }
}

impl Session {
    /// Delivers the results and says how it went.
    pub fn publish(&mut self, results: &impl Results, tally: &Tally) -> Result<Exit, Failure> {
        if tally.is_partial() {
            self.interrupted();
        }
        self.deliver(results, &tally.failed).map(|()| end(tally))
    }

    /// Writes the results and prints them, which a full disk must not cost.
    pub fn deliver(&mut self, results: &impl Results, failed: &[String]) -> Result<(), Failure> {
        if results.rows().is_empty() {
            return Ok(());
        }
        let written = self.write(results, failed);
        let (format, out) = (self.format(), &mut stdout());
        let printed = format.print(results.rows(), || results.sheets(), out);
        written.and(printed.map_err(|e| Failure::output("standard output", e)))
    }

    /// Writes tables, figures and manifest.
    fn write(&mut self, results: &impl Results, failed: &[String]) -> Result<(), Failure> {
        let plots = self.plots();
        let Some(dir) = self.stage()? else { return Ok(()) };
        let unwritten = |e: anyhow::Error| Failure::output("results", e);
        let origin = results.origin().map_err(|e| unwritten(e.into()))?;
        let tables = results.tables(dir, &metadata(&origin));
        let mut files = tables.map_err(|e| unwritten(e.into()))?;
        if plots {
            let drawn = results.figures(&dir.join("plots"));
            files.extend(drawn.map_err(|e| Failure::output("plots", e))?);
        }
        self.commit(&files, &results.configuration(), &results.details(), failed).map(drop)
    }
}

/// Says what an interruption has left. The exit code: a command that had done all it was to do is
/// not interrupted.
pub fn end(tally: &Tally) -> Exit {
    let Tally { cells, failed, .. } = tally;
    if tally.is_partial() {
        let (ended, cells) = (grouped(tally.ended() as u64), grouped(*cells as u64));
        let done =
            if tally.done == 0 { "nothing was done yet" } else { "what was done is written" };
        tell(format_args!("replay: interrupted; {done}: {ended} of {cells}"));
        Exit::Interrupted
    } else if failed.is_empty() {
        Exit::Done
    } else {
        Exit::Differs
    }
}

/// What every Parquet file says of its origin.
pub fn metadata(configuration: &str) -> [(String, String); 4] {
    let metadata = [
        ("program", "replay"),
        ("version", env!("CARGO_PKG_VERSION")),
        ("commit", env!("REPLAY_COMMIT")),
        ("configuration", configuration),
    ];
    metadata.map(|(key, value)| (key.to_string(), value.to_string()))
}
