//! Tables that `sacctmgr -P` and `sshare -P` print: columns separated by `|`, with a header line.
//!
//! A table whose header has no `|` may have columns that are separated by commas.

use replay_engine::sanitize::{BYTE_ORDER_MARK, excerpt};

use crate::error::{SiteError, Warning};
use crate::tres::Tres;

/// A table with a header. Column names are not case-sensitive, and blanks in them do not count.
#[derive(Clone, Debug)]
pub struct Dump<'a> {
    file: &'a str,
    columns: Vec<&'a str>,
    rows: Vec<(u64, Vec<&'a str>)>,
}

/// A row of a [`Dump`].
#[derive(Clone, Copy, Debug)]
pub struct DumpRow<'a, 'd> {
    dump: &'d Dump<'a>,
    /// The line of the row, from 1.
    pub line: u64,
    fields: &'d [&'a str],
}

/// Returns whether two column names are equal.
fn is_column(name: &str, other: &str) -> bool {
    let letters = |name: &str| -> String { name.split_whitespace().collect() };
    letters(name).eq_ignore_ascii_case(&letters(other))
}

impl<'a> Dump<'a> {
    /// Parses the text of the file `file`. Blank lines are skipped.
    ///
    /// # Errors
    /// [`SiteError`] if there is no header, or if a row has more or fewer fields than the header.
    pub fn read(text: &'a str, file: &'a str) -> Result<Self, SiteError> {
        let text = text.trim_start_matches(BYTE_ORDER_MARK);
        let mut lines = (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty());
        let (line, header) =
            lines.next().ok_or_else(|| SiteError::new(file, 0, "the file is empty"))?;
        let separator = ['|', ','].into_iter().find(|&separator| header.contains(separator));
        let separator = separator.ok_or_else(|| {
            let problem = "columns are not separated by \"|\"; print the table with the option -P";
            SiteError::new(file, line, problem)
        })?;
        // With -p, all lines end in a separator; with -P, only those whose last field is empty.
        let is_closed = separator == '|' && header.trim_end().ends_with('|');
        let fields = |text: &'a str| {
            let text = text.trim_end_matches('\r');
            let text = if is_closed { text.strip_suffix('|').unwrap_or(text) } else { text };
            text.split(separator).map(str::trim).collect::<Vec<_>>()
        };
        let columns = fields(header);
        let mut rows = Vec::new();
        for (line, text) in lines {
            let row = fields(text);
            if row.len() != columns.len() {
                let problem = format!("{} fields, but the header has {}", row.len(), columns.len());
                return Err(SiteError::new(file, line, problem));
            }
            rows.push((line, row));
        }
        Ok(Self { file, columns, rows })
    }

    /// Returns the name of the file.
    pub fn file(&self) -> &'a str {
        self.file
    }

    /// Returns the rows in file order.
    pub fn rows(&self) -> impl Iterator<Item = DumpRow<'a, '_>> {
        self.rows.iter().map(|(line, fields)| DumpRow { dump: self, line: *line, fields })
    }

    /// Returns whether the table has a column.
    pub fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|name| is_column(name, column))
    }

    /// Checks that the table has these columns.
    ///
    /// # Errors
    /// [`SiteError`] with the first missing column.
    pub fn require(&self, columns: &[&str], command: &str) -> Result<(), SiteError> {
        let missing = columns.iter().find(|column| !self.has(column));
        missing.map_or(Ok(()), |column| {
            let problem = format!("the column {column} is missing; print the table with {command}");
            Err(SiteError::new(self.file, 1, problem))
        })
    }

    /// Returns a warning for each column of `columns` that has a value in some row. Each column has a clause that describes
    /// what Slurm does with its values.
    pub fn unused(&self, columns: &[(&str, &str)]) -> Vec<Warning> {
        let mut warnings = Vec::new();
        for (name, effect) in columns {
            let has_value = |row: &DumpRow<'_, '_>| row.get(name).is_some_and(|text| text != "0");
            if let Some(row) = self.rows().find(has_value) {
                warnings.push(Warning::not_modelled(self.file, row.line, name, effect));
            }
        }
        warnings
    }
}

impl<'a> DumpRow<'a, '_> {
    /// Returns the value of a column; `None` if the column is missing or the value is empty.
    pub fn get(&self, column: &str) -> Option<&'a str> {
        let at = self.dump.columns.iter().position(|name| is_column(name, column))?;
        Some(self.fields[at]).filter(|text| !text.is_empty())
    }

    /// Returns an error about this row.
    pub fn error(&self, problem: impl std::fmt::Display) -> SiteError {
        SiteError::new(self.dump.file, self.line, problem.to_string())
    }

    /// Parses the value of a column.
    ///
    /// # Errors
    /// [`SiteError`] with the column and the message of `parse`.
    pub fn parsed<T>(
        &self,
        column: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, SiteError> {
        let failed = |problem| self.error(format!("{column}: {problem}"));
        self.get(column).map(parse).transpose().map_err(failed)
    }

    /// Parses a limit of a column: a whole number, or `-1` for no limit.
    ///
    /// # Errors
    /// [`SiteError`] if the value is not a limit.
    pub fn limit(&self, column: &str) -> Result<Option<u32>, SiteError> {
        let parse = |text: &str| match text {
            "-1" => Ok(None),
            _ => {
                text.parse().map(Some).map_err(|_| format!("\"{}\" is not a limit", excerpt(text)))
            }
        };
        self.parsed(column, parse).map(Option::flatten)
    }

    /// Parses a time limit of a column, in minutes.
    ///
    /// # Errors
    /// [`SiteError`] if the value is not a time.
    pub fn time(&self, column: &str) -> Result<Option<u32>, SiteError> {
        self.parsed(column, crate::times::minutes).map(Option::flatten)
    }

    /// Parses limits of resources of a column, and adds warnings for resources that are not modelled.
    ///
    /// # Errors
    /// [`SiteError`] if the value is not a list of resources.
    pub fn tres(&self, column: &str, warnings: &mut Vec<Warning>) -> Result<Tres, SiteError> {
        let Some((tres, others)) = self.parsed(column, Tres::parse)? else {
            return Ok(Tres::default());
        };
        for other in others {
            let key = format!("{column}={other}");
            let effect = "only node, cpu and billing limit jobs here";
            let warning = Warning::not_modelled(self.dump.file, self.line, &key, effect);
            if !warnings.iter().any(|other| other.text == warning.text) {
                warnings.push(warning);
            }
        }
        Ok(tres)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_field_may_be_empty() {
        for text in ["A|B\n1|\n", "A|B|\n1||\n"] {
            let dump = Dump::read(text, "x.txt").expect("a table");
            let values: Vec<_> = dump.rows().map(|row| (row.get("A"), row.get("B"))).collect();
            assert_eq!(values, [(Some("1"), None)]);
        }
    }
}
