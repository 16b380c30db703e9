use std::borrow::Cow;
use std::io::{self, Write};

use crate::number::{fixed, grouped};
use crate::table::{Table, Value, ranges};

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

    /// The rows of a table as people are to see them. A column that is `optional` is left out if no
    /// row has a value in it.
    pub fn of<'a, Row: 'a>(
        rows: impl IntoIterator<Item = &'a Row> + Clone,
        shown: Vec<Shown<'_, Row>>,
    ) -> Self {
        let said =
            |one: &Shown<'_, Row>| rows.clone().into_iter().any(|row| (one.text)(row).is_some());
        let shown: Vec<_> = shown.into_iter().filter(|one| !one.optional || said(one)).collect();
        let mut sheet = Self {
            header: shown.iter().map(|one| (one.title.to_string(), one.align)).collect(),
            rows: Vec::new(),
        };
        for row in rows {
            let text = |one: &Shown<'_, Row>| (one.text)(row).unwrap_or_else(|| "-".to_string());
            sheet.push(shown.iter().map(text).collect());
        }
        sheet
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

type Text<'a, Row> = Box<dyn Fn(&Row) -> Option<String> + 'a>;

/// How people are shown something of a row.
pub struct Shown<'a, Row> {
    title: Cow<'a, str>,
    align: Align,
    optional: bool,
    text: Text<'a, Row>,
}

impl<'a, Row: 'a> Shown<'a, Row> {
    /// A text about the row.
    pub fn text(
        title: impl Into<Cow<'a, str>>,
        text: impl Fn(&Row) -> Option<String> + 'a,
    ) -> Self {
        Self { title: title.into(), align: Align::Left, optional: false, text: Box::new(text) }
    }

    /// The column of that name: text as it is, integers with their thousands separated, real
    /// numbers with so many decimals.
    pub fn column(name: &str, title: impl Into<Cow<'a, str>>, decimals: usize) -> Self
    where
        Row: Table,
    {
        Self::scaled(name, title, 1.0, decimals)
    }

    /// The column of that name, a share, in percent.
    pub fn percent(name: &str, title: impl Into<Cow<'a, str>>, decimals: usize) -> Self
    where
        Row: Table,
    {
        Self::scaled(name, title, 100.0, decimals)
    }

    fn scaled(name: &str, title: impl Into<Cow<'a, str>>, factor: f64, decimals: usize) -> Self
    where
        Row: Table,
    {
        let Some(column) = Row::columns().into_iter().find(|column| column.name == name) else {
            unreachable!("the table {} has no column {name}", Row::NAME);
        };
        let align = if column.kind().is_number() { Align::Right } else { Align::Left };
        let text = move |row: &Row| match column.value(row) {
            Value::Text(text) => Some(text.into_owned()),
            Value::I64(value) => Some(grouped(value)),
            Value::U64(value) => Some(grouped(value)),
            Value::F64(value) => Some(fixed(factor * value, decimals)),
            Value::List(values) => Some(ranges(&values)),
            Value::Null => None,
        };
        Self { align, ..Self::text(title, text) }
    }

    /// The same, on the right.
    pub fn right(self) -> Self {
        Self { align: Align::Right, ..self }
    }

    /// The same, but only if a row has a value.
    pub fn optional(self) -> Self {
        Self { optional: true, ..self }
    }
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
    fn columns_are_shown_with_their_titles() {
        use crate::table::{Column, Table};

        struct Row(f64, Option<u64>);
        impl Table for Row {
            const NAME: &'static str = "rows";
            const ROW: &'static str = "a row";
            fn columns() -> Vec<Column<Self>> {
                vec![
                    Column::new("share", "", "a share", |row: &Self| row.0),
                    Column::new("count", "", "a count", |row: &Self| row.1),
                ]
            }
        }
        let shown = || {
            vec![
                Shown::text("row", |row: &Row| Some(format!("no. {}", row.0))),
                Shown::percent("share", "share %", 1),
                Shown::column("count", "n", 0).optional(),
            ]
        };
        let plain = |rows: &[Row]| {
            let mut out = Vec::new();
            Sheet::of(rows, shown()).write_plain(&mut out).expect("memory");
            String::from_utf8(out).expect("text")
        };
        assert_eq!(
            plain(&[Row(0.5, None)]),
            "row      share %\n-------  -------\nno. 0.5     50.0\n"
        );
        let both = plain(&[Row(0.0, None), Row(f64::NAN, Some(1000))]);
        let lines = "no. 0        0.0      -\nno. NaN        -  1,000\n";
        assert!(both.ends_with(lines), "{both}");
    }
}
