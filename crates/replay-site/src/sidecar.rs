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

use replay_engine::lines::Lines;
use replay_engine::sanitize::excerpt;
use replay_engine::workload::sidecar::{TraceLine, is_beside};

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
        let mut lines = Lines::new(io::BufReader::new(input));
        let (mut texts, mut trace) = (String::new(), None);
        let mut numbers = Vec::new();
        loop {
            let line = lines.next(|line| String::from_utf8_lossy(line).trim_end().to_string());
            let line = line.map_err(|e| SiteError::new(file, lines.number(), e.to_string()))?;
            let Some(line) = line else { break };
            let number = lines.number();
            if line.starts_with('#') {
                trace = TraceLine::parse(file, number, &line).or(trace);
            } else if !line.trim().is_empty() {
                texts.push_str(&line);
                texts.push('\n');
                numbers.push(number);
            }
        }
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(texts.as_bytes());
        let mut records = reader.records().zip(numbers);
        let failed = |line: u64, e: csv::Error| SiteError::new(file, line, e.to_string());
        let Some((header, line)) = records.next() else {
            return Err(SiteError::new(file, 0, "there is no header"));
        };
        let header = header.map_err(|e| failed(line, e))?;
        let columns: Vec<String> =
            header.iter().map(|name| name.trim().to_ascii_lowercase()).collect();
        for name in REQUIRED {
            if !columns.iter().any(|column| column == name) {
                return Err(SiteError::new(file, line, format!("the column {name} is missing")));
            }
        }
        for name in &columns {
            if !REQUIRED.iter().chain(&OPTIONAL).any(|known| known == name) {
                let known = [&REQUIRED[..], &OPTIONAL[..]].concat().join(", ");
                let problem = format!("unknown column {}; known are {known}", excerpt(name));
                return Err(SiteError::new(file, line, problem));
            }
        }
        let mut rows: HashMap<i64, SidecarRow> = HashMap::new();
        for (record, line) in records {
            let record = record.map_err(|e| failed(line, e))?;
            if record.len() != columns.len() {
                let problem =
                    format!("{} fields, but the header has {}", record.len(), columns.len());
                return Err(SiteError::new(file, line, problem));
            }
            let row = row(&columns, &record, line)
                .map_err(|problem| SiteError::new(file, line, problem))?;
            let job = row.job;
            if let Some(first) = rows.insert(job, row) {
                let problem =
                    format!("job {job} is given twice; the first time on line {}", first.line);
                return Err(SiteError::new(file, line, problem));
            }
        }
        Ok(Self { file: file.to_string(), rows, trace })
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
fn row(columns: &[String], record: &csv::StringRecord, line: u64) -> Result<SidecarRow, String> {
    fn number<T: std::str::FromStr>(column: &str, text: &str) -> Result<T, String> {
        text.parse().map_err(|_| format!("{column}: \"{}\" is not a whole number", excerpt(text)))
    }
    fn optional<T: std::str::FromStr>(column: &str, text: &str) -> Result<Option<T>, String> {
        if text.is_empty() { Ok(None) } else { number(column, text).map(Some) }
    }
    let mut row = SidecarRow { line, ..SidecarRow::default() };
    for (column, text) in columns.iter().zip(record) {
        let text = text.trim();
        match &column[..] {
            "job" => row.job = number(column, text)?,
            "user" => row.user = text.to_string(),
            "account" => row.account = text.to_string(),
            "partition" => row.partitions = text.split_whitespace().map(str::to_string).collect(),
            "qos" => row.qos = text.to_string(),
            "nice" => row.nice = optional(column, text)?.unwrap_or(0),
            "eligible" => row.eligible = optional(column, text)?,
            "priority" => row.priority = optional(column, text)?,
            "cpus" => row.cpus = optional(column, text)?,
            _ => row.reason = text.to_string(),
        }
    }
    Ok(row)
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
