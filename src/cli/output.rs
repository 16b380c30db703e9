//! Where results go: standard output at once, files in `--out`.

use std::ffi::OsString;

use super::args::{FormatArg, RunArgs};
use super::cells::Loaded;
use super::exit::{Exit, Failure};
use super::results::{Tally, end, metadata};
use super::session::{Kind, Session};
use super::stdout::{is_unread, stdout};
use crate::experiment::RunResult;
use crate::report::manifest::{Configuration, RunDetails, RunRecord, TraceRecord, WindowRecord};
use crate::report::summary;
use crate::table::{Column, write_csv, write_json_line};

/// The outputs of one run of the program.
pub struct Output {
    session: Session,
    files: bool,
    jobs: bool,
    ties: bool,
    tables: Option<crate::frame::Tables>,
    /// Those on standard output.
    columns: Vec<Column<RunResult>>,
    /// Without their jobs: what the summary and the plots need.
    results: Vec<RunResult>,
    csv_header_written: bool,
    /// The reader of standard output has closed the pipe.
    unread: bool,
}

impl Output {
    /// Checks that the folder can be written, before any work is done.
    pub fn open(args: &RunArgs, command: &[OsString]) -> Result<Self, Failure> {
        Ok(Self {
            session: Session::begin(Kind::Run, &args.output, command)?,
            files: args.output.out.is_some(),
            jobs: !args.no_jobs,
            ties: args.ties,
            tables: None,
            columns: RunResult::printed(),
            results: Vec::new(),
            csv_header_written: false,
            unread: false,
        })
    }

    /// Creates the result files.
    pub fn begin(&mut self, loaded: &Loaded) -> Result<(), Failure> {
        if let Some(place) = self.session.stage()? {
            let configuration = serde_json::to_string(&configuration(loaded, self.ties))
                .map_err(|e| Failure::output("the configuration", e))?;
            let tables = crate::frame::Tables::create(place, &metadata(&configuration), self.jobs);
            self.tables = Some(tables.map_err(|e| Failure::output("results", e))?);
        }
        Ok(())
    }

    /// Takes in one result, in grid order.
    pub fn take(&mut self, mut result: RunResult) -> Result<(), Failure> {
        if let Some(tables) = &mut self.tables {
            tables.write(&result).map_err(|e| Failure::output("results", e))?;
        }
        let mut out = stdout();
        let written = match self.session.format() {
            _ if self.unread => Ok(()),
            FormatArg::Json => write_json_line(&self.columns, &result, &mut out),
            FormatArg::Csv => {
                let header = !std::mem::replace(&mut self.csv_header_written, true);
                write_csv(&self.columns, [&result], header, &mut out)
            }
            // A table is laid out when all its rows are known.
            FormatArg::Table | FormatArg::Md => Ok(()),
        };
        match written {
            // A closed pipe must not cost the files.
            Err(e) if is_unread(&e) && self.files => self.unread = true,
            written => written.map_err(|e| Failure::output("standard output", e))?,
        }
        result.jobs = Vec::new();
        self.results.push(result);
        Ok(())
    }

    /// Completes the files, draws the plots and prints the table.
    pub fn finish(mut self, loaded: &Loaded, tally: &Tally) -> Result<Exit, Failure> {
        let sheet = summary(&self.results);
        let mut out = stdout();
        let printed = match self.session.format() {
            FormatArg::Table if !sheet.is_empty() => sheet.write_plain(&mut out),
            FormatArg::Md if !sheet.is_empty() => sheet.write_markdown(&mut out),
            _ => Ok(()),
        };
        if tally.is_partial() {
            self.session.interrupted();
        }
        self.complete(loaded, &tally.failed)?;
        // Only now: a closed pipe must not cost the files.
        printed.map_err(|e| Failure::output("standard output", e))?;
        Ok(end(tally))
    }

    fn complete(&mut self, loaded: &Loaded, failed: &[String]) -> Result<(), Failure> {
        let plots = self.session.plots();
        let Some(place) = self.session.stage()? else { return Ok(()) };
        let mut files = Vec::new();
        if let Some(tables) = self.tables.take() {
            files.extend(tables.finish().map_err(|e| Failure::output("results", e))?);
        }
        if plots {
            let drawn = crate::plot::gallery(&place.join("plots"), &self.results);
            files.extend(drawn.map_err(|e| Failure::output("plots", e))?);
        }
        let record =
            |r: &RunResult| RunRecord { run: r.run, key: r.key.clone(), seconds: r.seconds };
        let details = RunDetails { runs: self.results.iter().map(record).collect() };
        self.session.commit(&files, &configuration(loaded, self.ties), &details, failed).map(drop)
    }
}

/// What decides the numbers of a grid.
pub fn configuration(loaded: &Loaded, ties: bool) -> Configuration {
    let traces = loaded.traces.iter().map(|trace| TraceRecord {
        name: trace.workload.name.clone(),
        source: trace.workload.source.display().to_string(),
        digest: trace.workload.digest.clone(),
        topology: trace.topology.to_string(),
        jobs: trace.workload.jobs.len(),
        cleaning: trace.workload.report.clone(),
    });
    let grid = &loaded.plan.grid;
    Configuration {
        traces: traces.collect(),
        schedulers: grid.schedulers.iter().map(ToString::to_string).collect(),
        allocators: loaded.allocators().iter().map(ToString::to_string).collect(),
        seeds: grid.seeds.clone(),
        window: WindowRecord::of(&grid.file.window),
        policy: grid.file.policies.join(","),
        policy_rules: grid.policies.iter().flat_map(|policy| policy.describe()).collect(),
        ties,
    }
}
