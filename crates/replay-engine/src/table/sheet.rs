use std::borrow::Cow;
use std::io::{self, Write};

use crate::number::{fixed, grouped};
use crate::table::{Column, Name, Table, Value, ranges};

/// Alignment of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Align {
    /// Left alignment, for text.
    Left,
    /// Right alignment, for numbers.
    Right,
}

/// Number of spaces between columns.
pub(super) const GAP: usize = 2;

/// The heading of a column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Heading {
    pub title: String,
    pub align: Align,
    /// Columns of lower rank are omitted first if the table is too wide.
    pub rank: u8,
}

/// A table of formatted text.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    pub(super) header: Vec<Heading>,
    pub(super) rows: Vec<Vec<String>>,
    /// Line that is printed above the table and describes all rows.
    pub(super) lead: Option<String>,
    /// Line that is printed below the table and explains marks in the fields.
    pub(super) legend: Option<String>,
}

impl Sheet {
    /// Creates a table with these columns.
    pub fn new(header: &[(&str, Align)]) -> Self {
        let heading =
            |&(title, align): &(&str, Align)| Heading { title: title.to_string(), align, rank: 0 };
        Self { header: header.iter().map(heading).collect(), ..Self::default() }
    }

    /// Sets the rank of some columns: columns of lower rank are omitted first if the table is too wide. Columns that
    /// are not in `ranks` have rank 0.
    pub fn ranked(mut self, ranks: &[(&str, u8)]) -> Self {
        for heading in &mut self.header {
            let rank = ranks.iter().find(|(title, _)| *title == heading.title);
            heading.rank = rank.map_or(heading.rank, |(_, rank)| *rank);
        }
        self
    }

    /// Sets the line that is printed above the table and describes all rows.
    pub fn led_by(self, lead: Option<String>) -> Self {
        Self { lead, ..self }
    }

    /// Sets the line that is printed below the table and explains marks in the fields.
    pub fn explained_by(self, legend: Option<String>) -> Self {
        Self { legend, ..self }
    }

    /// Returns the line below the table; `None` if there is no such line.
    pub fn legend(&self) -> Option<&str> {
        self.legend.as_deref()
    }

    /// Returns the line above the table; `None` if there is no such line.
    pub fn lead(&self) -> Option<&str> {
        self.lead.as_deref()
    }

    /// Adds a row, which must have a field for each column.
    pub fn push(&mut self, row: Vec<String>) {
        debug_assert_eq!(row.len(), self.header.len());
        self.rows.push(row);
    }

    /// Returns whether the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Creates a table from rows and display columns. An `optional` column is omitted if no row has a value in it.
    pub fn of<'a, Row: 'a>(
        rows: impl IntoIterator<Item = &'a Row> + Clone,
        shown: Vec<Shown<'_, Row>>,
    ) -> Self {
        let has_value =
            |one: &Shown<'_, Row>| rows.clone().into_iter().any(|row| (one.text)(row).is_some());
        let shown: Vec<_> =
            shown.into_iter().filter(|one| !one.optional || has_value(one)).collect();
        let heading = |one: &Shown<'_, Row>| Heading {
            title: one.title.to_string(),
            align: one.align,
            rank: one.rank,
        };
        let mut sheet = Self { header: shown.iter().map(heading).collect(), ..Self::default() };
        for row in rows {
            let text = |one: &Shown<'_, Row>| (one.text)(row).unwrap_or_else(|| "-".to_string());
            sheet.push(shown.iter().map(text).collect());
        }
        sheet
    }

    /// Returns the width of each column in characters.
    pub(super) fn widths(&self) -> Vec<usize> {
        let width = |text: &str| text.chars().count();
        let column = |i: usize| {
            let fields = self.rows.iter().map(|row| width(&row[i]));
            fields.chain([width(&self.header[i].title)]).max().unwrap_or(0)
        };
        (0..self.header.len()).map(column).collect()
    }

    /// Writes the table as text with aligned columns, two spaces apart, and a line of dashes below the header.
    ///
    /// # Errors
    /// [`io::Error`] if writing fails.
    pub fn write_plain(&self, out: &mut dyn Write) -> io::Result<()> {
        let widths = self.widths();
        let names: Vec<_> = self.header.iter().map(|one| one.title.clone()).collect();
        let rule: Vec<_> = widths.iter().map(|&width| "-".repeat(width)).collect();
        for row in [&names, &rule].into_iter().chain(&self.rows) {
            writeln!(out, "{}", self.line(row, &widths, &" ".repeat(GAP)).trim_end())?;
        }
        Ok(())
    }

    /// Writes the table in Markdown. The columns of the Markdown source are aligned.
    ///
    /// # Errors
    /// [`io::Error`] if writing fails.
    pub fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        let widths: Vec<_> = self.widths().into_iter().map(|width| width.max(3)).collect();
        let names: Vec<_> = self.header.iter().map(|one| one.title.clone()).collect();
        let rule = self.header.iter().zip(&widths).map(|(heading, &width)| match heading.align {
            Align::Left => "-".repeat(width),
            Align::Right => format!("{}:", "-".repeat(width - 1)),
        });
        for row in [names, rule.collect()].iter().chain(&self.rows) {
            writeln!(out, "| {} |", self.line(row, &widths, " | "))?;
        }
        Ok(())
    }

    fn line(&self, row: &[String], widths: &[usize], gap: &str) -> String {
        let field = |((text, heading), &width): ((&String, &Heading), &usize)| {
            let pad = " ".repeat(width - text.chars().count().min(width));
            match heading.align {
                Align::Left => format!("{text}{pad}"),
                Align::Right => format!("{pad}{text}"),
            }
        };
        let fields: Vec<_> = row.iter().zip(&self.header).zip(widths).map(field).collect();
        fields.join(gap)
    }
}

/// Returns a title followed by the declared unit of the column with this name, unless the title contains the unit.
pub fn with_unit<Row>(columns: &[Column<Row>], name: Name, title: &str) -> String {
    match columns.iter().find(|column| column.name == name).map_or("", |column| column.unit) {
        "" => title.to_string(),
        unit if title.split(' ').any(|word| word == unit) => title.to_string(),
        unit if unit.contains(' ') => format!("{title}, {unit}"),
        unit => format!("{title} {unit}"),
    }
}

type Text<'a, Row> = Box<dyn Fn(&Row) -> Option<String> + 'a>;

/// A column of text output: its title, alignment and the text of a row.
pub struct Shown<'a, Row> {
    name: Option<Name>,
    title: Cow<'a, str>,
    align: Align,
    optional: bool,
    rank: u8,
    text: Text<'a, Row>,
}

impl<'a, Row: 'a> Shown<'a, Row> {
    /// Creates a column from a function that returns the text of a row.
    pub fn text(
        title: impl Into<Cow<'a, str>>,
        text: impl Fn(&Row) -> Option<String> + 'a,
    ) -> Self {
        Self {
            name: None,
            title: title.into(),
            align: Align::Left,
            optional: false,
            rank: 0,
            text: Box::new(text),
        }
    }

    /// Creates a column from the table's column `name`. Text is unchanged, integers have thousands separators, and real
    /// numbers have `decimals` decimal places.
    pub fn column(name: Name, title: impl Into<Cow<'a, str>>, decimals: usize) -> Self
    where
        Row: Table,
    {
        Self::scaled(name, title, 1.0, decimals)
    }

    /// Creates a column like [`column`](Self::column). The title is followed by the unit of the table's column, if the
    /// column has a unit.
    pub fn measure(name: Name, title: &str, decimals: usize) -> Self
    where
        Row: Table,
    {
        Self::column(name, with_unit(&Row::columns(), name, title), decimals)
    }

    /// Creates a column from the table's column `name`, which must contain shares. Values are shown in percent.
    pub fn percent(name: Name, title: impl Into<Cow<'a, str>>, decimals: usize) -> Self
    where
        Row: Table,
    {
        Self::scaled(name, title, 100.0, decimals)
    }

    fn scaled(name: Name, title: impl Into<Cow<'a, str>>, factor: f64, decimals: usize) -> Self
    where
        Row: Table,
    {
        let Some(column) = Row::columns().into_iter().find(|column| column.name == name) else {
            unreachable!("the table {} has no column {name}", Row::NAME);
        };
        Self::of(column, title, factor, decimals)
    }

    /// Creates a column from a table column. Text is unchanged, integers have thousands separators if the column has a
    /// unit, and real numbers are multiplied by `factor` and have `decimals` decimal places.
    pub fn of(
        column: Column<Row>,
        title: impl Into<Cow<'a, str>>,
        factor: f64,
        decimals: usize,
    ) -> Self {
        let align = if column.kind().is_number() { Align::Right } else { Align::Left };
        let name = Some(column.name);
        let text = move |row: &Row| match column.value(row) {
            Value::Text(text) => Some(text.into_owned()),
            // An integer without a unit is an identifier, which is printed without separators.
            Value::I64(value) if column.unit.is_empty() => Some(value.to_string()),
            Value::I64(value) => Some(grouped(value)),
            Value::U64(value) => Some(value.to_string()),
            Value::F64(value) => Some(fixed(factor * value, decimals)),
            Value::List(values) => Some(ranges(&values)),
            Value::Null => None,
        };
        Self { name, align, ..Self::text(title, text) }
    }

    /// Returns the name of the table's column; `None` if the column has only a text.
    pub fn name(&self) -> Option<Name> {
        self.name
    }

    /// Appends the column `half_width`, the half-width of a confidence interval, to each value: `1.93 ± 0.13`. A value
    /// without half-width is unchanged.
    pub fn plus_minus(self, half_width: Name, decimals: usize) -> Self
    where
        Row: Table,
    {
        let half_width = Self::column(half_width, "", decimals).text;
        let text = move |row: &Row| {
            let mean = (self.text)(row)?;
            Some(match half_width(row).filter(|width| width != "-") {
                Some(width) => format!("{mean} ± {width}"),
                None => mean,
            })
        };
        Self { text: Box::new(text), ..self }
    }

    /// Aligns the column to the right.
    pub fn right(self) -> Self {
        Self { align: Align::Right, ..self }
    }

    /// Sets the [rank](Sheet::ranked).
    pub fn rank(self, rank: u8) -> Self {
        Self { rank, ..self }
    }

    /// Makes the column optional: it is omitted if no row has a value in it.
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
    fn writes_text_and_markdown() {
        let plain = "name      n\n----  -----\na,b       7\né     1,234\n";
        assert_eq!(written(|s, out| s.write_plain(out)), plain);
        let markdown = "| name |     n |\n| ---- | ----: |\n| a,b  |     7 |\n| é    | 1,234 |\n";
        assert_eq!(written(|s, out| s.write_markdown(out)), markdown);
    }

    #[test]
    fn shows_columns_with_titles_and_units() {
        use crate::table::Name;

        struct Row(f64, Option<u64>);
        impl Table for Row {
            const NAME: &'static str = "rows";
            const ROW: &'static str = "a row";
            fn columns() -> Vec<Column<Self>> {
                vec![
                    Column::new(Name::new("share"), "", "a share", |row: &Self| row.0),
                    Column::new(Name::new("count"), "jobs", "a count", |row: &Self| row.1),
                ]
            }
        }
        let shown = || {
            vec![
                Shown::text("row", |row: &Row| Some(format!("no. {}", row.0))),
                Shown::percent(Name::new("share"), "share %", 1),
                Shown::column(Name::new("count"), "n", 0).optional(),
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
        // A mean and the half-width of its interval are one field.
        let count = || Shown::column(Name::new("count"), "n", 0);
        let mut out = Vec::new();
        let rows = [Row(0.5, Some(7)), Row(f64::NAN, Some(8)), Row(0.25, None)];
        let both = vec![count().plus_minus(Name::new("share"), 1)];
        Sheet::of(&rows, both).write_plain(&mut out).expect("memory");
        let text = String::from_utf8(out).expect("text");
        assert_eq!(text, "      n\n-------\n7 ± 0.5\n      8\n      -\n");
        // The unit comes from the column's declaration.
        let of = |name| with_unit(&Row::columns(), Name::new(name), "title");
        assert_eq!(["share", "count", "none"].map(of), ["title", "title jobs", "title"]);
        let columns = [Column::new(Name::new("end"), "time units", "an end", |row: &Row| row.0)];
        assert_eq!(with_unit(&columns, Name::new("end"), "finish"), "finish, time units");
        let both = plain(&[Row(0.0, None), Row(f64::NAN, Some(1000))]);
        let lines = "no. 0        0.0      -\nno. NaN        -  1,000\n";
        assert!(both.ends_with(lines), "{both}");
    }
}
