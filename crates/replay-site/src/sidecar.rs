//! The sidecar `X.site.csv` beside a trace `X.swf`: user, account, partitions, QOS and nice value of each job.
//!
//! ```text
//! job,user,account,partition,qos,nice[,eligible][,priority][,cpus][,reason]
//! ```
//!
//! Columns may be in any order. Several partitions are separated by blanks, in the order asked.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use replay_engine::sanitize::excerpt;
use replay_engine::workload::sidecar::{TraceLine, is_beside};

use crate::csv_table::CsvTable;
use crate::error::{SiteError, unreadable};

/// Values of a job in a sidecar.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SidecarRow {
    /// Line, from 1.
    pub line: u64,
    /// Job number.
    pub job: i64,
    /// Name of the user; empty if unknown.
    pub user: String,
    /// Name of the account; empty if unknown.
    pub account: String,
    /// Names of the partitions, in the order asked; empty for the default partition.
    pub partitions: Vec<String>,
    /// Name of the QOS; empty for the default QOS.
    pub qos: String,
    /// Nice value.
    pub nice: i64,
    /// Recorded instant from which the job could start, in seconds of the trace.
    pub eligible: Option<i64>,
    /// Recorded priority.
    pub priority: Option<u32>,
    /// Number of CPUs asked.
    pub cpus: Option<u64>,
    /// Recorded reason.
    pub reason: String,
}

/// A sidecar, by job number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sidecar {
    /// The name of the file.
    pub file: String,
    rows: HashMap<i64, SidecarRow>,
    trace: Option<TraceLine>,
}

/// Required columns.
const REQUIRED: [&str; 6] = ["job", "user", "account", "partition", "qos", "nice"];

/// Optional columns.
const OPTIONAL: [&str; 4] = ["eligible", "priority", "cpus", "reason"];

/// Returns the path of the sidecar of a trace.
pub fn sidecar_path(trace: &Path) -> PathBuf {
    let name = trace.to_string_lossy();
    let plain = name.strip_suffix(".gz").unwrap_or(&name);
    PathBuf::from(format!("{}.site.csv", plain.strip_suffix(".swf").unwrap_or(plain)))
}

impl Sidecar {
    /// Reads the sidecar beside a trace; `None` if there is none.
    ///
    /// # Errors
    /// [`SiteError`] with line and column.
    pub fn beside(trace: &Path) -> Result<Option<Self>, SiteError> {
        let path = sidecar_path(trace);
        let file = path.display().to_string();
        match is_beside(&path) {
            Ok(false) => Ok(None),
            Ok(true) => {
                let input = File::open(&path).map_err(|e| unreadable(&file, &e))?;
                Self::read(input, &file).map(Some)
            }
            Err(error) => Err(unreadable(&file, &error)),
        }
    }

    /// Reads a sidecar; `file` is its name in messages.
    ///
    /// # Errors
    /// [`SiteError`] if a column is missing or unknown, a value is not a number, or a job is given twice.
    pub fn read(input: impl Read, file: &str) -> Result<Self, SiteError> {
        let table = CsvTable::read(input, file, &REQUIRED)?;
        for name in &table.columns {
            let is_known = |known: &&str| known.eq_ignore_ascii_case(name);
            if !REQUIRED.iter().chain(&OPTIONAL).any(is_known) {
                let known = [&REQUIRED[..], &OPTIONAL[..]].concat().join(", ");
                let problem = format!("unknown column {}; known are {known}", excerpt(name));
                return Err(table.error(0, problem));
            }
        }
        let mut rows: HashMap<i64, SidecarRow> = HashMap::new();
        for row in &table.rows {
            let read = self::row(&table, row)?;
            let job = read.job;
            if let Some(first) = rows.insert(job, read) {
                let problem =
                    format!("job {job} is given twice; the first time on line {}", first.line);
                return Err(table.error(row.0, problem));
            }
        }
        let mut trace =
            table.comments.iter().filter_map(|(line, text)| TraceLine::parse(file, *line, text));
        Ok(Self { file: file.to_string(), rows, trace: trace.next_back() })
    }

    /// Checks that the sidecar belongs to a trace with this name and digest.
    ///
    /// # Errors
    /// [`SiteError`] if the sidecar names another trace.
    pub fn check_trace(&self, trace: &str, digest: &str) -> Result<(), SiteError> {
        let checked = self.trace.as_ref().map_or(Ok(()), |line| line.check(trace, digest));
        checked.map_err(|other| {
            let text = other.to_string();
            let prefix = format!("{}:{}: ", other.file, other.line);
            SiteError::new(&self.file, other.line, text.strip_prefix(&prefix).unwrap_or(&text))
        })
    }

    /// Returns the values of a job.
    pub fn row(&self, job: i64) -> Option<&SidecarRow> {
        self.rows.get(&job)
    }

    /// Returns the number of jobs.
    pub fn count(&self) -> usize {
        self.rows.len()
    }
}

/// Parses a row.
fn row(table: &CsvTable, row: &(u64, csv::StringRecord)) -> Result<SidecarRow, SiteError> {
    let text = |name: &str| table.field(&row.1, name).unwrap_or_default();
    let missing = || table.error(row.0, "job: a number is missing");
    let whole = "a whole number";
    Ok(SidecarRow {
        line: row.0,
        job: table.parsed(row, "job", whole)?.ok_or_else(missing)?,
        user: text("user").to_string(),
        account: text("account").to_string(),
        partitions: text("partition").split_whitespace().map(str::to_string).collect(),
        qos: text("qos").to_string(),
        nice: table.parsed(row, "nice", whole)?.unwrap_or(0),
        eligible: table.parsed(row, "eligible", whole)?,
        priority: table.parsed(row, "priority", whole)?,
        cpus: table.parsed(row, "cpus", whole)?,
        reason: text("reason").to_string(),
    })
}

/// Writes the header of a sidecar with all columns.
///
/// # Errors
/// Errors of `out`.
pub fn write_header(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", [&REQUIRED[..], &OPTIONAL[..]].concat().join(","))
}

/// Writes the row of a job with all columns.
///
/// # Errors
/// Errors of `out`.
pub fn write_row(row: &SidecarRow, out: &mut dyn Write) -> io::Result<()> {
    fn text(number: Option<impl ToString>) -> String {
        number.map_or(String::new(), |number| number.to_string())
    }
    let mut writer = csv::WriterBuilder::new().from_writer(out);
    writer.write_record([
        &row.job.to_string(),
        &row.user,
        &row.account,
        &row.partitions.join(" "),
        &row.qos,
        &row.nice.to_string(),
        &text(row.eligible),
        &text(row.priority),
        &text(row.cpus),
        &row.reason,
    ])?;
    writer.flush()
}
