//! Records of `scontrol -o`: one line of pairs `Key=value` for each job or node.

use std::collections::HashMap;

use replay_engine::sanitize::{BYTE_ORDER_MARK, excerpt};

use crate::error::SiteError;

/// A record.
#[derive(Clone, Debug)]
pub struct Record<'a> {
    file: &'a str,
    /// Line, from 1.
    pub line: u64,
    values: HashMap<&'a str, &'a str>,
}

/// Words that Slurm prints for an empty value.
const EMPTY: [&str; 3] = ["(null)", "N/A", ""];

/// Returns the words of a line and, for each, its key and value if it is a pair.
fn pairs(line: &str) -> Vec<(&str, &str)> {
    line.split_whitespace().filter_map(|word| word.split_once('=')).collect()
}

/// Parses a file whose lines begin with `first`, for example `JobId`. `command` makes the file.
///
/// # Errors
/// [`SiteError`] if a line does not begin with this key.
pub fn read<'a>(
    text: &'a str,
    file: &'a str,
    first: &str,
    command: &str,
) -> Result<Vec<Record<'a>>, SiteError> {
    let mut records = Vec::new();
    let lines = (1..).zip(text.trim_start_matches(BYTE_ORDER_MARK).lines());
    for (line, text) in lines.filter(|(_, text)| !text.trim().is_empty()) {
        // The output of an empty queue.
        if text.trim().starts_with("No ") && text.trim().ends_with(" in the system") {
            continue;
        }
        let all = pairs(text);
        let begins = text.starts_with(first) && all.first().is_some_and(|(key, _)| *key == first);
        if !begins {
            let problem =
                format!("the line does not begin with {first}=; make the file with {command}");
            return Err(SiteError::new(file, line, problem));
        }
        // The name of a job may contain blanks and pairs. It ends before the pairs UserId and GroupId.
        let name = all.iter().position(|(key, _)| *key == "JobName");
        let after = name.and_then(|name| {
            let rest = &all[name + 1..];
            let both =
                rest.windows(2).position(|two| two[0].0 == "UserId" && two[1].0 == "GroupId");
            let at = both.or_else(|| rest.iter().position(|(key, _)| *key == "UserId"))?;
            Some((name, name + 1 + at))
        });
        let in_name = |at: usize| after.is_some_and(|(name, end)| at > name && at < end);
        let mut values = HashMap::new();
        for (at, (key, value)) in all.into_iter().enumerate() {
            if !in_name(at) {
                values.entry(key).or_insert(value);
            }
        }
        records.push(Record { file, line, values });
    }
    Ok(records)
}

impl<'a> Record<'a> {
    /// Returns the value of a key; `None` if it is missing or empty.
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.values.get(key).copied().filter(|value| !EMPTY.contains(value))
    }

    /// Returns an error about this record.
    pub fn error(&self, problem: impl std::fmt::Display) -> SiteError {
        SiteError::new(self.file, self.line, problem.to_string())
    }

    /// Returns the value of a key.
    ///
    /// # Errors
    /// [`SiteError`] if the value is missing.
    pub fn require(&self, key: &str, command: &str) -> Result<&'a str, SiteError> {
        self.get(key).ok_or_else(|| {
            self.error(format!(
                "{key} is missing; make the file with {command}, one line per record"
            ))
        })
    }

    /// Parses the value of a key.
    ///
    /// # Errors
    /// [`SiteError`] with the key and the message of `parse`.
    pub fn parsed<T>(
        &self,
        key: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, SiteError> {
        let failed = |problem| self.error(format!("{key}: {problem}"));
        self.get(key).map(parse).transpose().map_err(failed)
    }

    /// Parses a whole number.
    ///
    /// # Errors
    /// [`SiteError`] with the key.
    pub fn number<T: std::str::FromStr>(&self, key: &str) -> Result<Option<T>, SiteError> {
        self.parsed(key, |text| {
            text.parse()
                .map_err(|_| format!("\"{}\" is not a whole number in range", excerpt(text)))
        })
    }
}
