//! CSV files with a header: columns in any order, comments, line numbers in errors.

use std::io::{self, Read};

use replay_engine::lines::Lines;
use replay_engine::sanitize::{BYTE_ORDER_MARK, excerpt};

use crate::error::SiteError;

/// A CSV file in memory.
#[derive(Clone, Debug)]
pub struct CsvTable {
    file: String,
    /// Names of the columns as in the file, without surrounding blanks.
    pub columns: Vec<String>,
    /// Line, from 1, and fields of each row.
    pub rows: Vec<(u64, csv::StringRecord)>,
    /// Lines that begin with `#`, with their numbers.
    pub comments: Vec<(u64, String)>,
}

impl CsvTable {
    /// Reads a file; `file` is its name in messages. Lines that begin with `#` are comments.
    ///
    /// # Errors
    /// [`SiteError`] if the input cannot be read, there is no header, a column of `required` is missing or appears
    /// twice, or a row has more or fewer fields than the header.
    pub fn read(input: impl Read, file: &str, required: &[&str]) -> Result<Self, SiteError> {
        let mut lines = Lines::new(io::BufReader::new(input));
        let (mut text, mut comments, mut numbers) = (String::new(), Vec::new(), Vec::new());
        loop {
            let line = lines.next(|line| String::from_utf8_lossy(line).trim_end().to_string());
            let line = line.map_err(|e| SiteError::new(file, lines.number(), e.to_string()))?;
            let Some(line) = line else { break };
            let line = line.trim_start_matches(BYTE_ORDER_MARK);
            if line.starts_with('#') {
                comments.push((lines.number(), line.to_string()));
            } else if !line.trim().is_empty() {
                text.push_str(line);
                text.push('\n');
                numbers.push(lines.number());
            }
        }
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(text.as_bytes());
        let mut records = reader.into_records().zip(numbers);
        let failed = |line: u64, e: csv::Error| SiteError::new(file, line, e.to_string());
        let Some((header, line)) = records.next() else {
            return Err(SiteError::new(file, 0, "there is no header with the names of columns"));
        };
        let header = header.map_err(|e| failed(line, e))?;
        let columns: Vec<String> = header.iter().map(|name| name.trim().to_string()).collect();
        for name in required {
            match columns.iter().filter(|column| column.eq_ignore_ascii_case(name)).count() {
                0 => {
                    return Err(SiteError::new(
                        file,
                        line,
                        format!("the column {name} is missing"),
                    ));
                }
                1 => {}
                _ => {
                    return Err(SiteError::new(
                        file,
                        line,
                        format!("the column {name} appears twice"),
                    ));
                }
            }
        }
        let mut rows = Vec::new();
        for (record, line) in records {
            let record = record.map_err(|e| failed(line, e))?;
            if record.len() != columns.len() {
                let problem =
                    format!("{} fields, but the header has {}", record.len(), columns.len());
                return Err(SiteError::new(file, line, problem));
            }
            rows.push((line, record));
        }
        Ok(Self { file: file.to_string(), columns, rows, comments })
    }

    /// Returns an error about a line of the file.
    pub fn error(&self, line: u64, problem: impl Into<String>) -> SiteError {
        SiteError::new(&self.file, line, problem)
    }

    /// Returns the position of a column, whose name is not case-sensitive.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.eq_ignore_ascii_case(name))
    }

    /// Returns a field without surrounding blanks; `None` if the column is missing or the field is empty.
    pub fn field<'a>(&self, record: &'a csv::StringRecord, name: &str) -> Option<&'a str> {
        let text = record.get(self.column(name)?)?.trim();
        Some(text).filter(|text| !text.is_empty())
    }

    /// Parses a field.
    ///
    /// # Errors
    /// [`SiteError`] with the column if the field is not such a value. `what` names the kind of value.
    pub fn parsed<T: std::str::FromStr>(
        &self,
        (line, record): &(u64, csv::StringRecord),
        name: &str,
        what: &str,
    ) -> Result<Option<T>, SiteError> {
        let parse = |text: &str| {
            let failed =
                |_| self.error(*line, format!("{name}: \"{}\" is not {what}", excerpt(text)));
            text.parse().map_err(failed)
        };
        self.field(record, name).map(parse).transpose()
    }
}
