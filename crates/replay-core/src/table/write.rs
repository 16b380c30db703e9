use std::io::{self, Write};

use super::{Column, Table, Value};

/// Writes rows as CSV (RFC 4180, with line feeds), under a line of the columns' names if `header`
/// says so. Nulls are empty; a real number has the fewest digits that read back as the same
/// number, and always a point or an exponent, so that readers which guess types do not take it
/// for an integer. A list is text as [`ranges`] makes it.
///
/// # Errors
/// Those of `out`.
pub fn write_csv<'a, Row: 'a>(
    columns: &[Column<Row>],
    rows: impl IntoIterator<Item = &'a Row>,
    header: bool,
    out: impl Write,
) -> io::Result<()> {
    let mut out = csv::Writer::from_writer(out);
    if header {
        out.write_record(columns.iter().map(|column| column.name.text()))?;
    }
    let mut digits = Vec::new();
    for row in rows {
        for column in columns {
            match column.value(row) {
                Value::Text(text) => out.write_field(text.as_bytes())?,
                Value::List(values) => out.write_field(ranges(&values))?,
                Value::Null => out.write_field("")?,
                value => {
                    digits.clear();
                    write_json(&value, &mut digits)?;
                    out.write_field(&digits)?;
                }
            }
        }
        out.write_record(None::<&[u8]>)?;
    }
    out.flush()
}

/// Rows as CSV; see [`write_csv`].
///
/// # Errors
/// None: it writes to memory.
pub fn csv<Row: Table>(rows: &[Row]) -> io::Result<String> {
    let mut text = Vec::new();
    write_csv(&Row::columns(), rows, true, &mut text)?;
    String::from_utf8(text).map_err(io::Error::other)
}

/// A list of integers as text, in its order: numbers and ascending ranges, such as `4,7-9,2`.
pub fn ranges(values: &[i64]) -> String {
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for &value in values {
        match runs.last_mut() {
            // Of negative numbers a range would not read back.
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

/// A value as JSON.
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

/// A row as a JSON object on one line, keys in the columns' order.
///
/// # Errors
/// Those of `out`.
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
