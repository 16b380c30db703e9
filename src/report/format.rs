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

/// Between columns.
const GAP: usize = 2;

/// A table of which some columns were left out.
#[derive(Clone, Debug, Default)]
pub struct Fitted {
    /// The rest.
    pub sheet: Sheet,
    /// Columns left out that say the same in every row, with what they say.
    pub alike: Vec<String>,
    /// Titles of the others.
    pub left_out: Vec<String>,
}

impl Fitted {
    /// All columns.
    pub fn whole(sheet: &Sheet) -> Self {
        Self { sheet: sheet.clone(), ..Self::default() }
    }

    /// What a reader must know of what is left out.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.alike.is_empty() {
            notes.push(format!("in all rows: {}", self.alike.join(", ")));
        }
        if !self.left_out.is_empty() {
            notes.push(format!("left out (--wide shows all): {}", self.left_out.join(", ")));
        }
        notes
    }
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

    /// The same in lines of at most `width` characters, as far as leaving out columns does it. First those go that
    /// say the same in every row, then numbers from the last to the first but for one, then words; the first
    /// column stays.
    pub fn fitted(&self, width: usize) -> Fitted {
        let widths = self.widths();
        let columns = self.header.len();
        let is_number = |i: usize| self.header[i].1 == Align::Right;
        let says_one = |i: usize| {
            self.rows.len() > 1 && self.rows.windows(2).all(|pair| pair[0][i] == pair[1][i])
        };
        let first_number = (0..columns).find(|&i| is_number(i));
        let alike = (1..columns).filter(|&i| says_one(i));
        let numbers = (1..columns).rev().filter(|&i| is_number(i) && Some(i) != first_number);
        let words = (1..columns).rev().filter(|&i| !is_number(i));
        let mut stays = vec![true; columns];
        let needed = |stays: &[bool]| {
            let of: Vec<usize> = (0..columns).filter(|&i| stays[i]).map(|i| widths[i]).collect();
            of.iter().sum::<usize>() + GAP * of.len().saturating_sub(1)
        };
        let (mut alike_left_out, mut left_out) = (Vec::new(), Vec::new());
        for i in alike.chain(numbers).chain(words) {
            if needed(&stays) <= width {
                break;
            }
            if !std::mem::replace(&mut stays[i], false) {
                continue;
            }
            let title = &self.header[i].0;
            match says_one(i) {
                // What nobody has is no news.
                true if self.rows[0][i] == "-" => {}
                true => alike_left_out.push(format!("{title} {}", self.rows[0][i])),
                false => left_out.push(i),
            }
        }
        left_out.sort_unstable();
        let kept = |row: &[String]| -> Vec<String> {
            row.iter()
                .zip(&stays)
                .filter(|(_, stays)| **stays)
                .map(|(text, _)| text.clone())
                .collect()
        };
        let header = self.header.iter().zip(&stays).filter(|(_, stays)| **stays);
        Fitted {
            sheet: Sheet {
                header: header.map(|(column, _)| column.clone()).collect(),
                rows: self.rows.iter().map(|row| kept(row)).collect(),
            },
            alike: alike_left_out,
            left_out: left_out.into_iter().map(|i| self.header[i].0.clone()).collect(),
        }
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
            writeln!(out, "{}", self.line(row, &widths, &" ".repeat(GAP)).trim_end())?;
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
    fn a_sheet_is_fitted_to_a_width() {
        let titles = ["trace", "machine", "tie", "wait s", "slowdown"];
        let aligns = [Align::Left, Align::Left, Align::Left, Align::Right, Align::Right];
        let header: Vec<_> = titles.into_iter().zip(aligns).collect();
        let mut sheet = Sheet::new(&header);
        for row in [["a", "10x10", "-", "12", "3.5"], ["b", "10x10", "-", "7", "2.5"]] {
            sheet.push(row.map(str::to_string).to_vec());
        }
        let fitted = |width| {
            let fitted = sheet.fitted(width);
            let titles: Vec<_> =
                fitted.sheet.header.iter().map(|(title, _)| title.clone()).collect();
            let widest = fitted.sheet.widths().iter().sum::<usize>() + GAP * (titles.len() - 1);
            assert!(widest <= width || titles.len() <= 2, "{width}: {titles:?}");
            assert!(fitted.sheet.rows.iter().all(|row| row.len() == titles.len()));
            (titles.join(" "), fitted.notes())
        };
        assert_eq!(fitted(37), (titles.join(" "), vec![]));
        let alike = "in all rows: machine 10x10".to_string();
        assert_eq!(fitted(36), ("trace tie wait s slowdown".into(), vec![alike.clone()]));
        // A column that nobody has needs no word.
        assert_eq!(fitted(23), ("trace wait s slowdown".into(), vec![alike.clone()]));
        let without = "left out (--wide shows all): slowdown".to_string();
        assert_eq!(fitted(22), ("trace wait s".into(), vec![alike.clone(), without.clone()]));
        assert_eq!(fitted(3), ("trace wait s".into(), vec![alike, without]));
        // Of one row nothing is alike.
        sheet.rows.truncate(1);
        let notes = vec!["left out (--wide shows all): slowdown".to_string()];
        assert_eq!(sheet.fitted(30).notes(), notes);
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
