//! The column map of a table: a TOML file that assigns columns to values of jobs.
//!
//! ```toml
//! separator = ","
//! time = "iso"                 # iso, unix, unix-ms, seconds, or directives of strftime: "%m/%d/%Y %H:%M:%S"
//! zone = "UTC"                 # +01:00, Europe/Prague
//! none = ["-1", "NULL"]        # texts for missing values, in all columns
//! comment = "#"                # lines that begin with this character are not rows
//! [columns]
//! submit = "when"
//! start = "began"              # or wait
//! end = { column = "ended", none = ["0"] }                # or run; texts for missing values of this column
//! size = "hosts"               # or requested, or the number of nodes
//! estimate = { column = "limit_min", unit = "minutes" }   # or "minutes or seconds"
//! status = { column = "result", ok = ["ok"], failed = ["fail"], cancelled = [], running = [] } # or slurm = true
//! ```

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::ImportError;
use super::time_format::TimeFormat;
use super::value::number;
use super::zone::Zone;
use replay_workload::naming::nearest;
use replay_workload::sanitize::excerpt;

/// The notation of points in time in a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Clock {
    /// `2026-03-01T08:00:00`, with or without a zone.
    #[default]
    Iso,
    /// Seconds since 1970.
    Unix,
    /// Milliseconds since 1970.
    UnixMs,
    /// Seconds since an arbitrary origin.
    Seconds,
    /// Dates in another notation.
    Format(TimeFormat),
}

impl<'de> Deserialize<'de> for Clock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const WORDS: &[&str] = &["iso", "unix", "unix-ms", "seconds"];
        match String::deserialize(deserializer)?.as_str() {
            "iso" => Ok(Clock::Iso),
            "unix" => Ok(Clock::Unix),
            "unix-ms" => Ok(Clock::UnixMs),
            "seconds" => Ok(Clock::Seconds),
            text if text.contains('%') => text.parse().map(Clock::Format).map_err(D::Error::custom),
            word => Err(D::Error::unknown_variant(word, WORDS)),
        }
    }
}

/// A text that denotes a missing value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Absent {
    text: String,
    /// Bits of the number that the text denotes. Other texts for this number also denote a missing value.
    number: Option<u64>,
}

/// Returns the bits of a number; 0 and -0 have the same bits.
fn bits(text: &str) -> Option<u64> {
    number(text).map(|number| (number + 0.0).to_bits())
}

impl Absent {
    /// Returns whether a field is this text, or the number that this text denotes.
    pub fn is(&self, field: &str) -> bool {
        field == self.text || (self.number.is_some() && bits(field) == self.number)
    }
}

impl<'de> Deserialize<'de> for Absent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrNumber;
        impl Visitor<'_> for TextOrNumber {
            type Value = Absent;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a number")
            }

            fn visit_str<E>(self, text: &str) -> Result<Absent, E> {
                let text = text.trim().to_string();
                Ok(Absent { number: bits(&text), text })
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Absent, E> {
                self.visit_str(&number.to_string())
            }

            fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Absent, E> {
                self.visit_str(&number.to_string())
            }
        }
        deserializer.deserialize_any(TextOrNumber)
    }
}

/// The notation of durations in a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) enum Unit {
    /// Seconds.
    #[default]
    #[serde(rename = "seconds")]
    Seconds,
    /// Minutes.
    #[serde(rename = "minutes")]
    Minutes,
    /// Hours.
    #[serde(rename = "hours")]
    Hours,
    /// `HH:MM:SS`.
    #[serde(rename = "HH:MM:SS")]
    Clock,
    /// The unit is minutes if nearly all completed jobs stay within their limits in minutes; otherwise, the unit is
    /// seconds. Only limits may have the unit `minutes or seconds`.
    #[serde(rename = "minutes or seconds")]
    Either,
}

/// A column of a table: its name, and optionally texts for missing values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column(ColumnTable);

/// A column of durations: its name, and optionally its unit and texts for missing values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span(SpanTable);

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnTable {
    column: String,
    #[serde(default, alias = "null")]
    none: Vec<Absent>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct SpanTable {
    column: String,
    #[serde(default)]
    unit: Unit,
    #[serde(default, alias = "null")]
    none: Vec<Absent>,
}

impl From<&str> for ColumnTable {
    fn from(name: &str) -> ColumnTable {
        ColumnTable { column: name.to_string(), none: Vec::new() }
    }
}

impl From<&str> for SpanTable {
    fn from(name: &str) -> SpanTable {
        SpanTable { column: name.to_string(), unit: Unit::default(), none: Vec::new() }
    }
}

/// Reads a name or a table. This visitor is written by hand, because for untagged enums serde does not report which unit
/// or key is invalid.
struct NameOrTable<T> {
    expected: &'static str,
    table: PhantomData<T>,
}

impl<'de, T: Deserialize<'de> + for<'a> From<&'a str>> Visitor<'de> for NameOrTable<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E>(self, name: &str) -> Result<T, E> {
        Ok(T::from(name))
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<T, M::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

impl<'de> Deserialize<'de> for Column {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "a column's name, or { column = NAME, none = [TEXT, ..] }";
        deserializer.deserialize_any(NameOrTable { expected, table: PhantomData }).map(Column)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "a column's name, or { column = NAME, unit = UNIT, none = [TEXT, ..] }";
        deserializer.deserialize_any(NameOrTable { expected, table: PhantomData }).map(Span)
    }
}

impl Column {
    /// Returns the name of the column, and its texts for missing values.
    pub fn parts(&self) -> (&str, &[Absent]) {
        (&self.0.column, &self.0.none)
    }
}

impl Span {
    /// Returns the name of the column, and its texts for missing values.
    pub fn parts(&self) -> (&str, &[Absent]) {
        (&self.0.column, &self.0.none)
    }

    /// Returns the unit of the column.
    pub fn unit(&self) -> Unit {
        self.0.unit
    }
}

/// The column of the status, and the meaning of its values.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Status {
    pub column: String,
    #[serde(default)]
    pub ok: Vec<String>,
    #[serde(default)]
    pub failed: Vec<String>,
    #[serde(default)]
    pub cancelled: Vec<String>,
    /// Values for jobs that had not ended when the table was written.
    #[serde(default)]
    pub running: Vec<String>,
    /// Whether the values are the states of Slurm.
    #[serde(default)]
    pub slurm: bool,
}

impl Status {
    /// Returns an error if a value has two meanings, or if values are listed although they have no effect.
    fn check(&self) -> Result<(), String> {
        let lists = [
            ("ok", &self.ok),
            ("failed", &self.failed),
            ("cancelled", &self.cancelled),
            ("running", &self.running),
        ];
        let meanings =
            lists.iter().flat_map(|(name, words)| words.iter().map(move |word| (name, word)));
        let mut by_word = HashMap::new();
        for (name, word) in meanings {
            if self.slurm {
                return Err(format!(
                    "status: the key \"{name}\" cannot be combined with slurm = true, which defines the values"
                ));
            }
            match by_word.insert(word, name) {
                Some(other) if other != name => {
                    let word = excerpt(word);
                    return Err(format!(
                        "status: the value \"{word}\" is listed under both \"{other}\" and \"{name}\""
                    ));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The columns that contain the values of a job.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fields {
    pub id: Option<Column>,
    pub submit: Column,
    pub start: Option<Column>,
    pub end: Option<Column>,
    pub wait: Option<Span>,
    pub run: Option<Span>,
    /// Allocated processors or nodes. If there is no such column, the size is the number of nodes in the list, or the
    /// requested size.
    pub size: Option<Column>,
    pub requested: Option<Column>,
    pub estimate: Option<Span>,
    pub status: Option<Status>,
    pub user: Option<Column>,
    pub group: Option<Column>,
    pub queue: Option<Column>,
    pub nodes: Option<Column>,
}

/// The assignment of a table's columns to values of jobs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnMap {
    #[serde(default = "comma")]
    pub(super) separator: char,
    #[serde(default)]
    pub(super) time: Clock,
    #[serde(default = "utc")]
    zone: String,
    /// Texts for missing values, in all columns.
    #[serde(default, alias = "null")]
    pub(super) none: Vec<Absent>,
    /// Lines that begin with this character are not rows.
    pub(super) comment: Option<char>,
    pub(super) columns: Fields,
}

fn comma() -> char {
    ','
}

fn utc() -> String {
    Zone::default().to_string()
}

impl ColumnMap {
    /// Parses a map; messages refer to it as `file`.
    ///
    /// # Errors
    /// [`ImportError::Map`] with file and line if a key is unknown (the nearest known key is suggested), a value is
    /// invalid, or the map has neither `run` nor both `start` and `end`.
    pub fn parse(text: &str, file: &str) -> Result<ColumnMap, ImportError> {
        let map: ColumnMap = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start.min(text.len()));
            let line = text.as_bytes()[..at].iter().filter(|&&byte| byte == b'\n').count() + 1;
            ImportError::Map(format!(
                "{file}:{line}: {}{}",
                error.message(),
                advice(error.message())
            ))
        })?;
        let wrong = |what: &str| ImportError::Map(format!("{file}: {what}"));
        let Fields { end, run, start, wait, size, requested, nodes, .. } = &map.columns;
        let either = |span: &Option<Span>| span.as_ref().is_some_and(|s| s.unit() == Unit::Either);
        if either(run) || either(wait) {
            return Err(wrong("the unit \"minutes or seconds\" is for estimates only"));
        }
        if run.is_none() && (end.is_none() || start.is_none()) {
            return Err(wrong(
                "[columns] needs either the key \"run\" or both keys \"start\" and \"end\"",
            ));
        }
        if size.is_none() && requested.is_none() && nodes.is_none() {
            return Err(wrong(
                "[columns] needs the key \"size\", or \"requested\" or \"nodes\" in its place",
            ));
        }
        if !map.separator.is_ascii() || map.separator == '"' {
            return Err(wrong("separator must be one ASCII character other than a quote"));
        }
        if let Some(status) = &map.columns.status {
            status.check().map_err(|what| wrong(&what))?;
        }
        map.zone.parse::<Zone>().map_err(|what| wrong(&format!("zone: {what}")))?;
        Ok(map)
    }

    /// Returns the time zone of points in time that are written without a zone.
    pub(super) fn zone(&self) -> Zone {
        // The zone was checked by `parse`.
        self.zone.parse().unwrap_or_default()
    }

    /// Returns whether times are dates rather than seconds since an arbitrary origin.
    pub(super) fn has_dates(&self) -> bool {
        self.time != Clock::Seconds
    }
}

/// Suggests the nearest known key. serde's message contains the unknown key and the known keys in backquotes.
fn advice(message: &str) -> String {
    let mut words = message.split('`').skip(1).step_by(2);
    let unknown = words.next().filter(|_| message.starts_with("unknown"));
    match unknown.and_then(|unknown| nearest(unknown, words)) {
        Some(near) => format!("; did you mean \"{near}\"?"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_a_line_and_a_suggestion() {
        let of = |text: &str| ColumnMap::parse(text, "m.toml").expect_err(text).to_string();
        let rest = "submit = 'a'\nsize = 'b'\n";
        for (text, words) in [
            (
                format!("[columns]\n{rest}run = 'c'\nestimat = 'd'\n"),
                "m.toml:5: unknown field `estimat`",
            ),
            (format!("[columns]\n{rest}run = 'c'\nestimat = 'd'\n"), "did you mean \"estimate\"?"),
            (
                format!("time = 'iso8601'\n[columns]\n{rest}run = 'c'\n"),
                "m.toml:1: unknown variant",
            ),
            (
                format!("[columns]\n{rest}"),
                "m.toml: [columns] needs either the key \"run\" or both keys \"start\" and \"end\"",
            ),
            (format!("[columns]\n{rest}end = 'c'\n"), "needs either the key \"run\" or"),
            ("[columns]\nsize = 'b'\nrun = 'c'\n".to_string(), "missing field `submit`"),
            (format!("zone = 'Mars'\n[columns]\n{rest}run = 'c'\n"), "a zone is UTC"),
            (
                format!("separator = 'é'\n[columns]\n{rest}run = 'c'\n"),
                "separator must be one ASCII",
            ),
            (
                format!("[columns]\n{rest}run = {{ column = 'c', unit = 'weeks' }}\n"),
                "m.toml:4: unknown variant `weeks`, expected one of `seconds`, `minutes`, `hours`",
            ),
            (
                format!("[columns]\n{rest}run = {{ column = 'c', unit = 'minuts' }}\n"),
                "did you mean \"minutes\"?",
            ),
            (
                format!("[columns]\n{rest}run = {{ colum = 'c' }}\n"),
                "unknown field `colum`, expected one of `column`, `unit`, `none`",
            ),
            (format!("[columns]\n{rest}run = {{ colum = 'c' }}\n"), "did you mean \"column\"?"),
            (
                format!("[columns]\n{rest}run = 'r'\nstart = {{ column = 'c', unit = 'hours' }}\n"),
                "m.toml:5: unknown field `unit`, expected one of `column`, `none`",
            ),
            (
                format!("[columns]\n{rest}run = 'r'\nstart = {{ column = 'c', none = [true] }}\n"),
                "expected a text or a number",
            ),
            (
                "[columns]\nsubmit = 'a'\nrun = 'r'\n".to_string(),
                "m.toml: [columns] needs the key \"size\", or \"requested\" or \"nodes\"",
            ),
            (
                format!("time = '%H:%M:%S'\n[columns]\n{rest}run = 'c'\n"),
                "m.toml:1: time \"%H:%M:%S\": ",
            ),
            (format!("time = 'unx'\n[columns]\n{rest}run = 'c'\n"), "did you mean \"unix\"?"),
            (format!("[columns]\n{rest}run = 3\n"), "expected a column's name, or {"),
            (
                format!(
                    "[columns]\n{rest}run = 'c'\nstatus = {{ column = 's', ok = ['a', 'b'], failed = ['b'] }}\n"
                ),
                "m.toml: status: the value \"b\" is listed under both \"ok\" and \"failed\"",
            ),
            (
                format!(
                    "[columns]\n{rest}run = 'c'\nstatus = {{ column = 's', ok = ['a'], slurm = true }}\n"
                ),
                "the key \"ok\" cannot be combined with slurm = true",
            ),
        ] {
            assert!(of(&text).contains(words), "{}", of(&text));
        }
    }
}
