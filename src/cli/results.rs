//! A common way to print and write the results of commands.

use crate::cli::terminal::stdout;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use super::exit::{Exit, Failure, eprint_line};
use super::journal::print_path;
use super::session::Session;
use replay_engine::number::grouped;
use replay_engine::table::{Column, Table};
use replay_experiment::sweep::Build;
use replay_output::plot::Plots;
use replay_output::report::Sheet;
use replay_results::FrameError;

/// The results of a command, which [`Session::publish`] prints and writes.
pub trait Results {
    /// A row of the printed table.
    type Row: Table;

    /// Returns the rows to print. If there are no rows, nothing is written unless [`exist`](Self::exist) is true.
    fn rows(&self) -> &[Self::Row];

    /// Returns whether there are results. Results may have no row, for example if no job runs on the machine.
    fn exist(&self) -> bool {
        !self.rows().is_empty()
    }

    /// Returns the columns of the rows in JSON and CSV.
    fn columns(&self) -> Vec<Column<Self::Row>> {
        Self::Row::columns()
    }

    /// Returns whether all rows were printed as they were computed.
    fn is_printed(&self) -> bool {
        false
    }

    /// Returns whether the paths of the written files are printed above the tables.
    fn lists_files(&self) -> bool {
        false
    }

    /// Sorts the rows for printing, after the rows have been written to files.
    fn arrange(&mut self) {}

    /// Returns the tables to print as text or Markdown.
    fn sheets(&self) -> Vec<Sheet>;

    /// Returns the configuration, which determines the numbers.
    ///
    /// # Errors
    /// A usage error if a strategy of the configuration cannot be built.
    fn configuration(&self) -> Result<impl Serialize, Failure>;

    /// Returns further entries of the manifest.
    fn details(&self) -> impl Serialize {
        Value::Null
    }

    /// Returns the configuration as JSON text, for the metadata of Parquet files.
    ///
    /// # Errors
    /// The errors of [`configuration`](Self::configuration), and an error if the configuration has no JSON form.
    fn origin(&self) -> Result<String, Failure> {
        let text = serde_json::to_string(&self.configuration()?);
        text.map_err(|e| Failure::output("the configuration", e))
    }

    /// Writes the tables into a folder; by default, writes only the table of the rows. Returns the paths of the tables.
    ///
    /// # Errors
    /// Errors of writing.
    fn tables(
        &mut self,
        dir: &Path,
        metadata: &[(String, String)],
    ) -> Result<Vec<PathBuf>, FrameError> {
        replay_results::write(dir, self.rows(), metadata)
    }

    /// Draws the figures into the folder of `plots`; by default, draws no figure. Returns the paths of the figures.
    ///
    /// # Errors
    /// Errors of drawing and writing.
    fn figures(&self, _plots: &Plots) -> anyhow::Result<Vec<PathBuf>> {
        Ok(Vec::new())
    }
}

/// Numbers of finished and failed cells of a command. These numbers determine the exit code.
#[derive(Debug)]
pub struct Tally {
    /// Plural noun for cells in messages: cells, points, evaluations.
    what: &'static str,
    /// Number of all cells; `None` if the command was interrupted before this number was known.
    all: Option<usize>,
    /// Number of cells with results.
    pub done: usize,
    /// For each failed cell, the reason for the failure.
    pub failed: Vec<String>,
}

impl Tally {
    /// Returns the tally of `all` cells, none of which is finished.
    pub fn of(what: &'static str, all: usize) -> Self {
        Self { what, all: Some(all), done: 0, failed: Vec::new() }
    }

    /// Returns the tally of `all` cells, of which `done` are finished and `failed` have failed.
    pub fn ended(what: &'static str, all: usize, done: usize, failed: Vec<String>) -> Self {
        Self { what, all: Some(all), done, failed }
    }

    /// Returns the tally of `done` finished cells. Unless the command was interrupted, `done` is the number of all
    /// cells.
    pub fn done(what: &'static str, done: usize, interrupted: bool) -> Self {
        Self { what, all: (!interrupted).then_some(done), done, failed: Vec::new() }
    }

    /// Returns the number of finished and failed cells.
    fn finished(&self) -> usize {
        self.done + self.failed.len()
    }

    /// Returns whether the command was interrupted before the last cell.
    pub fn is_partial(&self) -> bool {
        self.all.is_none_or(|all| self.finished() < all)
    }
}

impl Session {
    /// Writes and prints the results, and reports an interruption. For a shard, prints only the path of its journal.
    ///
    /// # Errors
    /// A usage error if an output cannot be written.
    pub fn publish(&mut self, results: &mut impl Results, tally: &Tally) -> Result<Exit, Failure> {
        if let Some(journal) = self.shard_journal() {
            return match tally.all.map(|all| all - tally.finished()) {
                Some(left @ 1..) => {
                    Ok(self.report_left(&format!("{} {}", grouped(left as u64), tally.what)))
                }
                _ => print_path(journal).map(|()| self.end(tally)),
            };
        }
        if tally.is_partial() {
            self.interrupted();
        }
        let nothing = !results.exist();
        if nothing && tally.is_partial() {
            // Tables without rows would look like results, so the files are discarded.
            self.abandon();
        }
        if !nothing || self.is_staged() {
            // A failure of writing does not prevent printing, and a failure of printing does not prevent writing.
            let written = self.write(results, &tally.failed);
            if !nothing && !results.is_printed() {
                results.arrange();
                let files = written.as_ref().map_or(&[][..], |files| files);
                let printed = self.print(results, files);
                written.and(printed.map_err(Failure::stdout))?;
            } else {
                written?;
            }
        }
        Ok(self.end(tally))
    }

    /// Prints the tables, and above them the paths of the files if the results list them.
    fn print(&self, results: &impl Results, files: &[PathBuf]) -> io::Result<()> {
        let mut out = stdout();
        if results.lists_files() {
            files.iter().try_for_each(|path| writeln!(out, "{}", path.display()))?;
            if !results.rows().is_empty() {
                writeln!(out)?;
            }
        }
        let columns = results.columns();
        self.table().print_columns(&columns, results.rows(), || results.sheets(), &mut out)
    }

    /// Writes tables, figures and manifest. Returns the paths of the files.
    fn write(
        &mut self,
        results: &mut impl Results,
        failed: &[String],
    ) -> Result<Vec<PathBuf>, Failure> {
        let plots = self.plots();
        let Some(dir) = self.stage()? else { return Ok(Vec::new()) };
        let unwritten = |e: anyhow::Error| Failure::output("results", e);
        let tables = results.tables(&dir, &metadata(self.build(), &results.origin()?));
        let mut files = tables.map_err(|e| unwritten(e.into()))?;
        if plots {
            let drawn = results.figures(&Plots::new(&dir.join("plots"), self.style()));
            files.extend(drawn.map_err(|e| Failure::output("plots", e))?);
        }
        self.commit(&files, &results.configuration()?, &results.details(), failed)
    }

    /// Reports an interruption and returns the exit code. A command that was interrupted after its last cell counts as
    /// done.
    fn end(&self, tally: &Tally) -> Exit {
        if tally.is_partial() {
            let done = if tally.done == 0 {
                "nothing was done yet"
            } else {
                "finished results are written"
            };
            let ended = grouped(tally.finished() as u64);
            let of = tally.all.map_or(String::new(), |all| format!(" of {}", grouped(all as u64)));
            let continuation = self.continuation().map_or(String::new(), |how| format!("; {how}"));
            let what = tally.what;
            eprint_line(format_args!(
                "replay: interrupted; {done}: {ended}{of} {what}{continuation}"
            ));
            Exit::Interrupted
        } else if tally.failed.is_empty() {
            Exit::Done
        } else {
            Exit::Differs
        }
    }
}

/// Returns the metadata that every Parquet file has: program, version, commit and configuration.
pub fn metadata(build: &Build, configuration: &str) -> [(String, String); 4] {
    let metadata = [
        ("program", "replay"),
        ("version", &build.version),
        ("commit", &build.commit),
        ("configuration", configuration),
    ];
    metadata.map(|(key, value)| (key.to_string(), value.to_string()))
}
