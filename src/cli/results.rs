//! What a command came to, printed and written in one way.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use super::exit::{Exit, Failure, tell};
use super::session::Session;
use replay_core::number::grouped;
use replay_core::table::{Column, Table};
use replay_output::frame::{self, FrameError};
use replay_output::plot::Plots;
use replay_output::report::Sheet;
use std::io::stdout;

/// The results of a command. To add one is to say these; [`Session::publish`] does the rest.
pub trait Results {
    /// A row of what is printed.
    type Row: Table;

    /// What is printed, whole for programs. Without any nothing is written either.
    fn rows(&self) -> &[Self::Row];

    /// Whether there are results although there is no row, as of a machine on which no job runs.
    fn are_there(&self) -> bool {
        !self.rows().is_empty()
    }

    /// The columns that programs get of it.
    fn columns(&self) -> Vec<Column<Self::Row>> {
        Self::Row::columns()
    }

    /// Whether all that is printed was printed as it came.
    fn is_printed(&self) -> bool {
        false
    }

    /// Puts the rows into the order in which they are printed, once all is written.
    fn arrange(&mut self) {}

    /// The same for people.
    fn sheets(&self) -> Vec<Sheet>;

    /// What decides the numbers.
    fn configuration(&self) -> impl Serialize;

    /// What else the manifest says.
    fn details(&self) -> impl Serialize {
        Value::Null
    }

    /// What the Parquet files say of the configuration.
    fn origin(&self) -> serde_json::Result<String> {
        serde_json::to_string(&self.configuration())
    }

    /// Writes the tables into a folder, that of the rows if there is no other; their paths.
    fn tables(
        &mut self,
        dir: &Path,
        metadata: &[(String, String)],
    ) -> Result<Vec<PathBuf>, FrameError> {
        frame::write(dir, self.rows(), metadata)
    }

    /// Draws the figures into a folder of their own; their paths.
    fn figures(&self, plots: &Plots) -> anyhow::Result<Vec<PathBuf>>;
}

/// What became of the cells of a command: it decides the exit code.
#[derive(Debug)]
pub struct Tally {
    /// What they are called: cells, points, evaluations.
    what: &'static str,
    /// Those there are; `None` if the command was interrupted before anybody could tell.
    all: Option<usize>,
    /// Those that have results.
    pub done: usize,
    /// Why others failed.
    pub failed: Vec<String>,
}

impl Tally {
    /// Of so many nothing is done yet.
    pub fn of(what: &'static str, all: usize) -> Self {
        Self { what, all: Some(all), done: 0, failed: Vec::new() }
    }

    /// So many are done, and all that were to be, unless the command was interrupted.
    pub fn done(what: &'static str, done: usize, interrupted: bool) -> Self {
        Self { what, all: (!interrupted).then_some(done), done, failed: Vec::new() }
    }

    /// Those that have ended.
    fn ended(&self) -> usize {
        self.done + self.failed.len()
    }

    /// Whether the command was interrupted before all was done.
    pub fn is_partial(&self) -> bool {
        self.all.is_none_or(|all| self.ended() < all)
    }
}

impl Session {
    /// Writes the results, prints them, and says how it went.
    pub fn publish(&mut self, results: &mut impl Results, tally: &Tally) -> Result<Exit, Failure> {
        if tally.is_partial() {
            self.interrupted();
        }
        let nothing = !results.are_there();
        if nothing && tally.is_partial() {
            // Tables without a row would look like results.
            self.abandon();
        }
        if !nothing || self.is_staged() {
            // A full disk must not cost what is printed, nor a closed pipe the files.
            let written = self.write(results, &tally.failed);
            if !nothing && !results.is_printed() {
                results.arrange();
                let (table, out) = (self.table(), &mut stdout());
                let (columns, rows) = (results.columns(), results.rows());
                let printed = table.print_columns(&columns, rows, || results.sheets(), out);
                written.and(printed.map_err(|e| Failure::output("standard output", e)))?;
            } else {
                written?;
            }
        }
        Ok(self.end(tally))
    }

    /// Writes tables, figures and manifest.
    fn write(&mut self, results: &mut impl Results, failed: &[String]) -> Result<(), Failure> {
        let plots = self.plots();
        let Some(dir) = self.stage()? else { return Ok(()) };
        let unwritten = |e: anyhow::Error| Failure::output("results", e);
        let origin = results.origin().map_err(|e| unwritten(e.into()))?;
        let tables = results.tables(dir, &metadata(&origin));
        let mut files = tables.map_err(|e| unwritten(e.into()))?;
        if plots {
            let drawn = results.figures(&Plots::new(&dir.join("plots"), self.style()));
            files.extend(drawn.map_err(|e| Failure::output("plots", e))?);
        }
        self.commit(&files, &results.configuration(), &results.details(), failed).map(drop)
    }

    /// Says what an interruption has left. The exit code: a command that had done all it was to
    /// do is not interrupted.
    fn end(&self, tally: &Tally) -> Exit {
        if tally.is_partial() {
            let done =
                if tally.done == 0 { "nothing was done yet" } else { "what was done is written" };
            let ended = grouped(tally.ended() as u64);
            let of = tally.all.map_or(String::new(), |all| format!(" of {}", grouped(all as u64)));
            let goes_on = self.goes_on().map_or(String::new(), |how| format!("; {how}"));
            let what = tally.what;
            tell(format_args!("replay: interrupted; {done}: {ended}{of} {what}{goes_on}"));
            Exit::Interrupted
        } else if tally.failed.is_empty() {
            Exit::Done
        } else {
            Exit::Differs
        }
    }
}

/// What every Parquet file says of its origin.
pub fn metadata(configuration: &str) -> [(String, String); 4] {
    let metadata = [
        ("program", "replay"),
        ("version", crate::cli::build::VERSION),
        ("commit", crate::cli::build::COMMIT),
        ("configuration", configuration),
    ];
    metadata.map(|(key, value)| (key.to_string(), value.to_string()))
}
