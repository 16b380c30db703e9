//! Where results go: standard output at once, files in `--out`.

use std::ffi::OsString;
use std::io::{self, Write};

use super::args::{FormatArg, RunArgs};
use super::cells::Loaded;
use super::exit::{Exit, Failure};
use super::results::{Tally, end, metadata};
use super::session::{Kind, Session};
use super::stdout::{is_unread, stdout};
use crate::experiment::RunResult;
use crate::experiment::shaken::{Estimates, ShakenRow};
use crate::experiment::sweep::Plan;
use crate::report::manifest::{Configuration, RunDetails, RunRecord, TraceRecord, WindowRecord};
use crate::report::{Sheet, shaken_summary, summary};
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
    /// If the traces are shaken.
    estimates: Option<Estimates>,
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
            estimates: None,
            csv_header_written: false,
            unread: false,
        })
    }

    /// Creates the result files.
    pub fn begin(&mut self, loaded: &Loaded) -> Result<(), Failure> {
        let plan = &loaded.plan;
        self.estimates = plan.grid.shake.map(|_| Estimates::new(plan));
        if let Some(place) = self.session.stage()? {
            let configuration = serde_json::to_string(&configuration(loaded, self.ties))
                .map_err(|e| Failure::output("the configuration", e))?;
            let tables = crate::frame::Tables::create(place, &metadata(&configuration), self.jobs);
            self.tables = Some(tables.map_err(|e| Failure::output("results", e))?);
        }
        Ok(())
    }

    /// Takes in one result, in grid order.
    pub fn take(&mut self, plan: &Plan, mut result: RunResult) -> Result<(), Failure> {
        if let Some(estimates) = &mut self.estimates {
            estimates.take(plan, result.run, &result.metrics);
        }
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
        if !result.is_unshaken() {
            // The load over time is drawn of the trace itself.
            result.series = Default::default();
        }
        self.results.push(result);
        Ok(())
    }

    /// Completes the files, draws the plots and prints the table.
    pub fn finish(mut self, loaded: &Loaded, tally: &Tally) -> Result<Exit, Failure> {
        let shaken = self.shaken(loaded)?;
        let unshaken = self.results.iter().filter(|result| result.is_unshaken());
        let sheets = [summary(unshaken), shaken_summary(&shaken)];
        let mut out = stdout();
        let printed = self.print(&sheets, &mut out);
        if tally.is_partial() {
            self.session.interrupted();
        }
        self.complete(loaded, &shaken, &tally.failed)?;
        // Only now: a closed pipe must not cost the files.
        printed.map_err(|e| Failure::output("standard output", e))?;
        Ok(end(tally))
    }

    /// What the cells come to over shaken copies.
    fn shaken(&self, loaded: &Loaded) -> Result<Vec<ShakenRow>, Failure> {
        let rows = self.estimates.as_ref().map(|estimates| estimates.rows(&loaded.plan));
        Ok(rows.transpose().map_err(Failure::usage)?.unwrap_or_default())
    }

    /// Prints tables for people, with a line between them.
    fn print(&self, sheets: &[Sheet], out: &mut dyn Write) -> io::Result<()> {
        for (i, sheet) in sheets.iter().filter(|sheet| !sheet.is_empty()).enumerate() {
            let format = self.session.format();
            if matches!(format, FormatArg::Table | FormatArg::Md) && i > 0 {
                writeln!(out)?;
            }
            match format {
                FormatArg::Table => sheet.write_plain(out)?,
                FormatArg::Md => sheet.write_markdown(out)?,
                FormatArg::Json | FormatArg::Csv => {}
            }
        }
        Ok(())
    }

    fn complete(
        &mut self,
        loaded: &Loaded,
        shaken: &[ShakenRow],
        failed: &[String],
    ) -> Result<(), Failure> {
        let plots = self.session.plots();
        let Some(place) = self.session.stage()? else { return Ok(()) };
        let mut files = Vec::new();
        if let Some(tables) = self.tables.take() {
            files.extend(tables.finish(shaken).map_err(|e| Failure::output("results", e))?);
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
        shake: grid.shake,
        policy: grid.file.policies.join(","),
        policy_rules: grid.policies.iter().flat_map(|policy| policy.describe()).collect(),
        ties,
    }
}
