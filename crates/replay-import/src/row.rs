//! Text tables: a header of column names, and rows.

use std::borrow::Cow;

use super::entry::Line;
use super::value::date;
use super::zone::{Moment, Zone};
use super::{Fault, ReadStop, Reason};
use replay_workload::naming::nearest;
use replay_workload::number::counted;
use replay_workload::sanitize::excerpt;

/// A field of a line, stored as the range of its bytes without quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub start: usize,
    pub end: usize,
    /// Whether the field was quoted and contains doubled quotes.
    pub doubled: bool,
}

/// Splits a line at `separator`. A field in double quotes may contain the separator; if the field contains doubled
/// quotes, [`Cell::doubled`] is set. An opening quote must have a closing quote before the text ends.
pub(super) fn split(text: &str, separator: u8, cells: &mut Vec<Cell>) -> Result<(), Fault> {
    cells.clear();
    let bytes = text.as_bytes();
    let mut start = 0;
    loop {
        let field = &bytes[start..];
        if field.first() != Some(&b'"') {
            let len = field.iter().position(|&byte| byte == separator);
            let end = start + len.unwrap_or(field.len());
            cells.push(Cell { start, end, doubled: false });
            match len {
                Some(len) => start += len + 1,
                None => return Ok(()),
            }
            continue;
        }
        let (mut end, mut doubled) = (start + 1, false);
        let closed = loop {
            match (bytes.get(end), bytes.get(end + 1)) {
                (Some(b'"'), Some(b'"')) => (end, doubled) = (end + 2, true),
                (Some(b'"'), next) => break next.is_none_or(|&byte| byte == separator),
                (Some(_), _) => end += 1,
                (None, _) => break false,
            }
        };
        if !closed {
            let (field, text) = ("field".to_string(), text[start..].to_string());
            return Err(Fault { reason: Reason::Quote, field, at: start, text });
        }
        cells.push(Cell { start: start + 1, end, doubled });
        if end + 1 == bytes.len() {
            return Ok(());
        }
        start = end + 2;
    }
}

impl Cell {
    /// An empty field.
    pub const EMPTY: Cell = Cell { start: 0, end: 0, doubled: false };

    /// Splits a line at runs of blanks and tabs; quotes have no special meaning.
    pub fn between_blanks(text: &str, cells: &mut Vec<Cell>) {
        cells.clear();
        cells.extend(text.split_ascii_whitespace().map(|word| {
            let start = word.as_ptr() as usize - text.as_ptr() as usize;
            Cell { start, end: start + word.len(), doubled: false }
        }));
    }

    /// Returns the text of the field in its line, without surrounding blanks and with each doubled quote replaced by
    /// one quote.
    fn unquoted_text(self, line: &str) -> Cow<'_, str> {
        let text = line[self.start..self.end].trim();
        if self.doubled { text.replace("\"\"", "\"").into() } else { text.into() }
    }
}

/// The names of columns, in any order; case and surrounding blanks are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Columns {
    names: Vec<String>,
}

impl Columns {
    /// Parses a header.
    pub fn read(line: Line<'_>, separator: u8) -> Result<Columns, ReadStop> {
        let mut cells = Vec::new();
        split(line.text, separator, &mut cells)?;
        let name = |cell: &Cell| cell.unquoted_text(line.text).into_owned();
        Ok(Columns { names: cells.iter().map(name).collect() })
    }

    /// Parses a header and returns its columns and the positions of the needed columns.
    pub fn with<const N: usize>(
        line: Line<'_>,
        separator: u8,
        needed: [&str; N],
    ) -> Result<(Columns, [usize; N]), ReadStop> {
        let columns = Columns::read(line, separator)?;
        let mut places = [0; N];
        for (place, name) in places.iter_mut().zip(needed) {
            *place = columns.need(name)?;
        }
        Ok((columns, places))
    }

    /// Creates the columns of a table without a header.
    pub fn named(names: impl Iterator<Item = String>) -> Columns {
        Columns { names: names.collect() }
    }

    /// Returns the names.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Returns the number of columns.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns the name of a column.
    pub fn name(&self, index: usize) -> &str {
        self.names.get(index).map_or("field", String::as_str)
    }

    /// Returns whether two headers share at least two columns, and at least half of the columns of the shorter header.
    pub fn are_alike(&self, other: &Columns) -> bool {
        let common = self.names.iter().filter(|name| other.has(name)).count();
        let least = self.len().min(other.len());
        common >= least.min(2) && 2 * common >= least
    }

    /// Removes the last name if it is empty, and returns whether it was removed.
    pub fn without_last_if_empty(mut self) -> (Columns, bool) {
        let trailing = self.names.len() > 1 && self.names.last().is_some_and(String::is_empty);
        if trailing {
            self.names.pop();
        }
        (self, trailing)
    }

    /// Returns whether there is a column with this name.
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|own| own.eq_ignore_ascii_case(name))
    }

    /// Returns the position of the column with this name. If there is no such column, returns the position of a column
    /// whose name differs only in case. Two columns with the same name are an error, because the name is ambiguous.
    pub fn find(&self, name: &str) -> Result<Option<usize>, ReadStop> {
        for same in [|own: &str, name: &str| own == name, str::eq_ignore_ascii_case] {
            let mut places = (0..self.names.len()).filter(|&at| same(&self.names[at], name));
            match (places.next(), places.next()) {
                (None, _) => {}
                (place, None) => return Ok(place),
                (Some(one), Some(other)) => {
                    let (one, other) = (one + 1, other + 1);
                    let what = format!("column {one} and column {other} are both \"{name}\"");
                    return Err(ReadStop::Header(what));
                }
            }
        }
        Ok(None)
    }

    /// Returns the position of a required column.
    pub fn need(&self, name: &str) -> Result<usize, ReadStop> {
        self.find(name)?.ok_or_else(|| {
            if let [only] = &self.names[..]
                && only
                    .split([',', ';', '\t', '|'])
                    .any(|part| part.trim().eq_ignore_ascii_case(name))
            {
                return ReadStop::Header(format!(
                    "the header has a single column, \"{}\": the names are separated by another character",
                    excerpt(only)
                ));
            }
            let near = nearest(name, self.names.iter().map(String::as_str));
            let near =
                near.map_or(String::new(), |near| format!(" (is it \"{}\"?)", excerpt(near)));
            ReadStop::Header(format!("there is no column \"{name}\"{near}"))
        })
    }

    /// Splits a line into a row; the number of fields must equal the number of columns.
    pub fn row<'a>(
        &'a self,
        line: Line<'a>,
        separator: u8,
        cells: &'a mut Vec<Cell>,
    ) -> Result<Row<'a>, Fault> {
        split(line.text, separator, cells)?;
        self.checked(line, cells)
    }

    /// Returns the row if the number of fields equals the number of columns.
    pub fn checked<'a>(&'a self, line: Line<'a>, cells: &'a [Cell]) -> Result<Row<'a>, Fault> {
        let (is, should) = (cells.len(), self.names.len());
        if is != should {
            let reason = if is < should { Reason::TooFewFields } else { Reason::TooManyFields };
            let at = cells.get(should).map_or(line.text.len(), |cell| cell.start);
            let field = format!("{}, the header has {should}:", counted(is as u64, "field"));
            return Err(Fault { reason, field, at, text: line.text[at..].to_string() });
        }
        Ok(Row { line, columns: self, cells })
    }
}

/// A line with as many fields as there are columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    pub line: Line<'a>,
    pub columns: &'a Columns,
    pub cells: &'a [Cell],
}

impl<'a> Row<'a> {
    /// Returns the text of a field, without blanks around it.
    pub fn text(self, index: usize) -> &'a str {
        self.cells.get(index).map_or("", |cell| self.line.text[cell.start..cell.end].trim())
    }

    /// Returns the text of a field, or the empty text if the table does not have the column. Each doubled quote is
    /// replaced by one quote: `"a""b"` becomes `a"b`.
    pub fn unquoted_text(self, index: Option<usize>) -> Cow<'a, str> {
        let cell = index.and_then(|index| self.cells.get(index));
        cell.map_or("".into(), |cell| cell.unquoted_text(self.line.text))
    }

    /// Returns the text of a field, or the empty text if the table does not have the column; doubled quotes are kept.
    pub fn perhaps(self, index: Option<usize>) -> &'a str {
        index.map_or("", |index| self.text(index))
    }

    /// Returns the error for an invalid field.
    #[cold]
    pub fn fault(self, index: usize, reason: Reason) -> Fault {
        let at = self.cells.get(index).map_or(0, |cell| cell.start);
        let text = self.text(index).to_string();
        Fault { reason, field: self.columns.name(index).to_string(), at, text }
    }

    /// Reads a field as a point in time. The time is in `zone` unless the text contains an offset.
    pub fn date(self, index: usize, zone: &Zone) -> Result<Moment, Fault> {
        date(self.text(index), zone).map_err(|reason| self.fault(index, reason))
    }

    /// Reads a field with a parser.
    pub fn read<T>(
        self,
        index: usize,
        reason: Reason,
        read: impl FnOnce(&'a str) -> Option<T>,
    ) -> Result<T, Fault> {
        read(self.text(index)).ok_or_else(|| self.fault(index, reason))
    }
}
