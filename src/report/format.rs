use std::fmt;
use std::io::{self, Write};

/// A field of a row.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// Text.
    Text(String),
    /// An integer.
    Integer(i64),
    /// An integer that is never negative.
    Unsigned(u64),
    /// A real number.
    Real(f64),
    /// Nothing: `null` in JSON, empty in CSV, a dash in tables.
    Missing,
}

impl From<Option<f64>> for Value {
    fn from(value: Option<f64>) -> Self {
        value.map_or(Value::Missing, Value::Real)
    }
}

impl From<Option<u64>> for Value {
    fn from(value: Option<u64>) -> Self {
        value.map_or(Value::Missing, Value::Unsigned)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Value::Text(value.to_string())
    }
}

impl Value {
    fn json(&self) -> serde_json::Value {
        match self {
            Value::Text(text) => serde_json::Value::from(text.as_str()),
            Value::Integer(value) => serde_json::Value::from(*value),
            Value::Unsigned(value) => serde_json::Value::from(*value),
            Value::Real(value) => serde_json::Value::from(*value),
            Value::Missing => serde_json::Value::Null,
        }
    }
}

/// Full precision: the shortest decimal that reads back as the same number.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Text(text) => f.write_str(text),
            Value::Integer(value) => write!(f, "{value}"),
            Value::Unsigned(value) => write!(f, "{value}"),
            Value::Real(value) => write!(f, "{value}"),
            Value::Missing => Ok(()),
        }
    }
}

/// Which side of its column a field stands on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table of finished text.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    header: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Sheet {
    /// A table with these columns.
    pub fn new(header: &[(&str, Align)]) -> Self {
        Self {
            header: header.iter().map(|(name, a)| (name.to_string(), *a)).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row with one field per column.
    pub fn push(&mut self, row: Vec<String>) {
        debug_assert_eq!(row.len(), self.header.len());
        self.rows.push(row);
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn widths(&self) -> Vec<usize> {
        let width = |text: &str| text.chars().count();
        let column = |i: usize| {
            let fields = self.rows.iter().map(|row| width(&row[i]));
            fields.chain([width(&self.header[i].0)]).max().unwrap_or(0)
        };
        (0..self.header.len()).map(column).collect()
    }

    /// Aligned columns, two spaces apart, under a rule.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_plain(&self, out: &mut dyn Write) -> io::Result<()> {
        let widths = self.widths();
        let names: Vec<_> = self.header.iter().map(|(name, _)| name.clone()).collect();
        let rule: Vec<_> = widths.iter().map(|&width| "-".repeat(width)).collect();
        for row in [&names, &rule].into_iter().chain(&self.rows) {
            writeln!(out, "{}", self.line(row, &widths, "  ").trim_end())?;
        }
        Ok(())
    }

    /// A Markdown table, aligned in the source as well.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        let widths: Vec<_> = self.widths().into_iter().map(|width| width.max(3)).collect();
        let names: Vec<_> = self.header.iter().map(|(name, _)| name.clone()).collect();
        let rule = self.header.iter().zip(&widths).map(|((_, align), &width)| match align {
            Align::Left => "-".repeat(width),
            Align::Right => format!("{}:", "-".repeat(width - 1)),
        });
        for row in [names, rule.collect()].iter().chain(&self.rows) {
            writeln!(out, "| {} |", self.line(row, &widths, " | "))?;
        }
        Ok(())
    }

    fn line(&self, row: &[String], widths: &[usize], gap: &str) -> String {
        let field = |((text, (_, align)), &width): ((&String, &(String, Align)), &usize)| {
            let pad = " ".repeat(width - text.chars().count().min(width));
            match align {
                Align::Left => format!("{text}{pad}"),
                Align::Right => format!("{pad}{text}"),
            }
        };
        let fields: Vec<_> = row.iter().zip(&self.header).zip(widths).map(field).collect();
        fields.join(gap)
    }
}

/// Rows of named values as CSV under a header line.
///
/// # Errors
/// Those of the writer.
pub fn write_csv<'a>(
    rows: impl IntoIterator<Item = Vec<(&'a str, Value)>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_csv_rows(rows, true, out)
}

/// [`write_csv`] with or without the header line.
///
/// # Errors
/// Those of the writer.
pub fn write_csv_rows<'a>(
    rows: impl IntoIterator<Item = Vec<(&'a str, Value)>>,
    mut header: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    for row in rows {
        if std::mem::take(&mut header) {
            writer.write_record(row.iter().map(|(key, _)| *key))?;
        }
        writer.write_record(row.iter().map(|(_, value)| value.to_string()))?;
    }
    writer.flush()
}

/// One JSON object on one line, keys in the order given.
pub fn json_line(row: &[(&str, Value)]) -> String {
    let field = |(key, value): &(&str, Value)| {
        format!("{}:{}", serde_json::Value::from(*key), value.json())
    };
    format!("{{{}}}", row.iter().map(field).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl Fn(&Sheet, &mut dyn Write) -> io::Result<()>) -> String {
        let mut sheet = Sheet::new(&[("name", Align::Left), ("n", Align::Right)]);
        sheet.push(vec!["a,b".to_string(), "7".to_string()]);
        sheet.push(vec!["é".to_string(), "1,234".to_string()]);
        let mut out = Vec::new();
        write(&sheet, &mut out).expect("memory");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn the_same_sheet_in_two_formats() {
        let plain = "name      n\n----  -----\na,b       7\né     1,234\n";
        assert_eq!(written(|s, out| s.write_plain(out)), plain);
        let markdown = "| name |     n |\n| ---- | ----: |\n| a,b  |     7 |\n| é    | 1,234 |\n";
        assert_eq!(written(|s, out| s.write_markdown(out)), markdown);
    }

    #[test]
    fn json_keeps_order_and_precision() {
        let row =
            [("z", Value::Real(0.1 + 0.2)), ("a", Value::Missing), ("t", Value::from("\"q\""))];
        assert_eq!(json_line(&row), r#"{"z":0.30000000000000004,"a":null,"t":"\"q\""}"#);
    }
}
