use std::fmt;
use std::io::{self, Write};

use super::{Column, Table, Value};

/// Writes rows as CSV (RFC 4180, with line feeds), preceded by a line of column names if `header` is true.
/// Nulls are empty fields. A real number is written with the fewest digits that parse to the same
/// number. A real number always has a decimal point or an exponent, so that readers that infer
/// types do not treat the number as an integer. A list is written as the text that [`ranges`]
/// returns.
///
/// # Errors
/// [`io::Error`] if writing to `out` fails.
pub fn write_csv<'a, Row: 'a>(
    columns: &[Column<Row>],
    rows: impl IntoIterator<Item = &'a Row>,
    header: bool,
    out: impl Write,
) -> io::Result<()> {
    let mut out = csv::Writer::from_writer(out);
    if header {
        out.write_record(columns.iter().map(|column| column.name.text())).map_err(io_error)?;
    }
    let mut field = Vec::new();
    for row in rows {
        for column in columns {
            field.clear();
            write_field(&column.value(row), &mut field)?;
            out.write_field(&field).map_err(io_error)?;
        }
        out.write_record(None::<&[u8]>).map_err(io_error)?;
    }
    out.flush()
}

/// Returns the I/O error that stopped the writer of CSV. The conversion of the library hides the kind of the error, such
/// as a closed pipe or a full disk.
pub fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

/// Returns rows as CSV; see [`write_csv`].
///
/// # Errors
/// Never fails, because the function writes to memory.
pub fn csv<Row: Table>(rows: &[Row]) -> io::Result<String> {
    let mut text = Vec::new();
    write_csv(&Row::columns(), rows, true, &mut text)?;
    String::from_utf8(text).map_err(io::Error::other)
}

/// Formats a list of integers as single numbers and ascending ranges, such as `4,7-9,2`. The order is kept.
pub fn ranges(values: &[i64]) -> String {
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for &value in values {
        match runs.last_mut() {
            // Negative numbers are not written as a range, because the range could not be parsed.
            Some((first, last)) if *last + 1 == value && *first >= 0 => *last = value,
            _ => runs.push((value, value)),
        }
    }
    let text = |(first, last): &(i64, i64)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    runs.iter().map(text).collect::<Vec<_>>().join(",")
}

/// Writes a value as a CSV field, without quotation marks.
fn write_field(value: &Value<'_>, out: &mut impl Write) -> io::Result<()> {
    match value {
        Value::Text(text) => out.write_all(text.as_bytes()),
        Value::List(values) => out.write_all(ranges(values).as_bytes()),
        Value::Null => Ok(()),
        number => write_json(number, out),
    }
}

/// Formats a value as a CSV field, without quotation marks.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut field = Vec::new();
        write_field(self, &mut field).map_err(|_| fmt::Error)?;
        f.write_str(&String::from_utf8_lossy(&field))
    }
}

/// Writes a value as JSON.
fn write_json(value: &Value<'_>, out: &mut impl Write) -> io::Result<()> {
    match value {
        Value::Text(text) => serde_json::to_writer(out, text),
        Value::I64(value) => serde_json::to_writer(out, value),
        Value::U64(value) => serde_json::to_writer(out, value),
        Value::F64(value) => serde_json::to_writer(out, value),
        Value::List(values) => serde_json::to_writer(out, values),
        Value::Null => serde_json::to_writer(out, &()),
    }
    .map_err(io::Error::from)
}

/// Writes a row as a JSON object on one line, with keys in the order of the columns.
///
/// # Errors
/// [`io::Error`] if writing to `out` fails.
pub fn write_json_line<Row>(
    columns: &[Column<Row>],
    row: &Row,
    mut out: impl Write,
) -> io::Result<()> {
    for (i, column) in columns.iter().enumerate() {
        write!(out, "{}\"{}\":", if i == 0 { "{" } else { "," }, column.name)?;
        write_json(&column.value(row), &mut out)?;
    }
    writeln!(out, "}}")
}
