//! Tables on standard output.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::io::{self, IsTerminal, Write};

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use textwrap::{Options, WordSplitter};

use super::exit::Failure;
use super::named_value::one;
use replay_engine::table::{Column, Name, Table, Value, write_csv, write_json_line};
use replay_output::report::{Align, Fitted, Sheet};

/// Returns the width of the terminal in characters; `None` if standard output is not a terminal or has no width.
pub fn columns() -> Option<usize> {
    let out = io::stdout();
    let size = rustix::termios::tcgetwinsize(out.is_terminal().then_some(&out)?).ok()?;
    Some(usize::from(size.ws_col)).filter(|&columns| columns > 0)
}

/// `--format`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum FormatArg {
    /// Aligned columns, rounded.
    #[default]
    Table,
    /// One JSON object for each row, each on a separate line, at full precision.
    Json,
    /// Comma-separated values, full precision.
    Csv,
    /// A Markdown table.
    Md,
    /// A LaTeX table for the package booktabs.
    Latex,
}

/// Options for printing a table, as typed.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct TableArgs {
    /// Print in this format on standard output.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t, help_heading = "Output")]
    pub format: FormatArg,

    /// Print all columns of a table, even in a narrower terminal.
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub wide: bool,
}

/// `--sort`, as typed.
#[derive(Clone, Debug, Default, Args, Serialize, Deserialize)]
pub struct SortArg {
    /// Sort printed rows by a column (replay list columns): mean_wait, or -mean_wait for the largest first.
    ///
    /// Rows without a value are last. If rows are sorted by a distance, runs that fold jobs are after the other runs,
    /// because their distances are not comparable. This option does not change the order of the runs in files.
    #[arg(
        long,
        value_name = "COLUMN",
        allow_hyphen_values = true,
        help_heading = "Output",
        hide_short_help = true
    )]
    pub sort: Option<String>,
}

/// An order of rows by a column.
pub struct Sorting<Row> {
    column: Column<Row>,
    falls: bool,
}

impl SortArg {
    /// Returns the name of the column as typed, if a column was given.
    pub fn column(&self) -> Option<&str> {
        let text = self.sort.as_deref()?.trim();
        Some(text.strip_prefix('-').unwrap_or(text))
    }

    /// Returns the order given by `--sort`, whose column must be a column of the table; `None` without `--sort`.
    ///
    /// # Errors
    /// A usage error if there is no column with this name.
    pub fn of<Row: Table>(&self) -> Result<Option<Sorting<Row>>, Failure> {
        self.among(Row::columns())
    }

    /// Returns the order given by `--sort`, whose column must be one of `columns`; `None` without `--sort`.
    ///
    /// # Errors
    /// A usage error if there is no column with this name.
    pub fn among<Row: Table>(
        &self,
        mut columns: Vec<Column<Row>>,
    ) -> Result<Option<Sorting<Row>>, Failure> {
        let Some(text) = &self.sort else { return Ok(None) };
        let text = text.trim();
        let (name, falls) = match text.strip_prefix('-') {
            Some(name) => (name, true),
            None => (text, false),
        };
        let known: Vec<_> = columns.iter().map(|column| column.name.text()).zip(0usize..).collect();
        let place = one("--sort", name, &known)?;
        Ok(Some(Sorting { column: columns.swap_remove(place), falls }))
    }
}

impl<Row: Table> Sorting<Row> {
    /// Returns the column of the order.
    pub fn column(&self) -> Name {
        self.column.name
    }

    /// Returns whether a row is [not ranked](Table::is_ranked_last) in this order.
    pub fn puts_apart(&self, row: &Row) -> bool {
        row.is_ranked_last(self.column.name)
    }

    /// Compares two rows. Rows that are not ranked, and rows without a value, are last in both directions.
    pub fn order(&self, a: &Row, b: &Row) -> Ordering {
        let apart = [a, b].map(|row| self.puts_apart(row));
        if apart[0] != apart[1] {
            return apart[0].cmp(&apart[1]);
        }
        let order = match (self.column.value(a), self.column.value(b)) {
            (Value::Null, Value::Null) => Ordering::Equal,
            (Value::Null, _) => return Ordering::Greater,
            (_, Value::Null) => return Ordering::Less,
            (Value::Text(a), Value::Text(b)) => a.cmp(&b),
            (Value::I64(a), Value::I64(b)) => a.cmp(&b),
            (Value::U64(a), Value::U64(b)) => a.cmp(&b),
            (Value::F64(a), Value::F64(b)) => a.total_cmp(&b),
            (Value::List(a), Value::List(b)) => a.cmp(&b),
            // All values of a column have one type, so this case does not occur.
            _ => Ordering::Equal,
        };
        if self.falls { order.reverse() } else { order }
    }
}

impl TableArgs {
    /// Prints a table. As text, Markdown or LaTeX, prints `sheets` with an empty line between them; as JSON or CSV, prints all
    /// rows and columns.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn print<'a, Row: Table + 'a>(
        self,
        rows: impl IntoIterator<Item = &'a Row>,
        sheets: impl FnOnce() -> Vec<Sheet>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.print_columns(&Row::columns(), rows, sheets, out)
    }

    /// Prints a table as [`print`](Self::print) does, except that JSON and CSV have the columns `columns`.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn print_columns<'a, Row: 'a>(
        self,
        columns: &[Column<Row>],
        rows: impl IntoIterator<Item = &'a Row>,
        sheets: impl FnOnce() -> Vec<Sheet>,
        mut out: &mut dyn Write,
    ) -> io::Result<()> {
        match self.format {
            FormatArg::Json => {
                rows.into_iter().try_for_each(|row| write_json_line(columns, row, &mut out))
            }
            FormatArg::Csv => write_csv(columns, rows, true, out),
            FormatArg::Table | FormatArg::Md | FormatArg::Latex => {
                for (i, sheet) in sheets().iter().enumerate() {
                    if i > 0 {
                        writeln!(out)?;
                    }
                    self.sheet(sheet, 0, out)?;
                }
                Ok(())
            }
        }
    }

    /// Prints a sheet as text, indented, or as Markdown or LaTeX. Text is fitted to the width of the terminal; a line below the
    /// table lists the omitted columns.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn sheet(self, sheet: &Sheet, indent: usize, out: &mut dyn Write) -> io::Result<()> {
        if self.format == FormatArg::Latex {
            return sheet.write_latex(out);
        }
        if self.format == FormatArg::Md {
            if let Some(lead) = sheet.lead() {
                writeln!(out, "{lead}\n")?;
            }
            sheet.write_markdown(out)?;
            return sheet.legend().map_or(Ok(()), |legend| writeln!(out, "\n{legend}"));
        }
        let width = columns().filter(|_| !self.wide).map(|width| width.saturating_sub(indent));
        self.fitted(sheet, indent, width, out)
    }

    /// Prints a sheet as text, fitted to lines of `width` characters.
    fn fitted(
        self,
        sheet: &Sheet,
        indent: usize,
        width: Option<usize>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let fitted = match width {
            Some(width) => sheet.fitted(width),
            None => Fitted::whole(sheet),
        };
        let mut text = Vec::new();
        fitted.sheet.write_plain(&mut text)?;
        let margin = " ".repeat(indent);
        if let Some(lead) = sheet.lead() {
            for line in wrapped(lead, width.unwrap_or(usize::MAX)) {
                writeln!(out, "{margin}{line}")?;
            }
            writeln!(out)?;
        }
        for line in String::from_utf8_lossy(&text).lines() {
            writeln!(out, "{}", format!("{margin}{line}").trim_end())?;
        }
        let width = width.unwrap_or(usize::MAX);
        for note in sheet.legend().map(str::to_string).into_iter().chain(fitted.notes()) {
            for line in wrapped(&note, width) {
                writeln!(out, "{margin}{line}")?;
            }
        }
        Ok(())
    }
}

/// Returns a column for each key of JSON objects; the column reads the value of its key from an object. The columns
/// print rows that are not a [`Table`]. The items of an array are joined by blanks; an object in an array counts as the
/// text of its field `key`.
pub fn fields(keys: &[&'static str]) -> Vec<Column<serde_json::Value>> {
    let column = |&key| {
        let read = move |row: &serde_json::Value| text(&row[key]);
        Column::new(Name::new(key), "", "", read)
    };
    keys.iter().map(column).collect()
}

fn text(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Null => String::new(),
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(" "),
        serde_json::Value::Object(object) => object.get("key").map(text).unwrap_or_default(),
        other => other.to_string(),
    }
}

/// Returns a sheet of JSON objects with a column for each key.
pub fn sheet_of_fields(keys: &[&'static str], rows: &[serde_json::Value]) -> Sheet {
    let is_number = |key: &str| rows.iter().all(|row| row[key].is_number() || row[key].is_null());
    let align = |key: &str| if is_number(key) { Align::Right } else { Align::Left };
    let mut sheet = Sheet::new(&keys.iter().map(|&key| (key, align(key))).collect::<Vec<_>>());
    rows.iter().for_each(|row| sheet.push(keys.iter().map(|&key| text(&row[key])).collect()));
    sheet
}

/// Wraps text to lines of at most `width` characters. A word that is longer than `width` is on a separate line. Lines
/// after the first line are indented.
pub fn wrapped(words: &str, width: usize) -> Vec<String> {
    fill(words, Options::new(width).subsequent_indent("  "))
}

/// Wraps text between words.
pub fn fill(words: &str, options: Options<'_>) -> Vec<String> {
    let options = options.break_words(false).word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(words, options).into_iter().map(Cow::into_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Row(&'static str, f64);

    impl Table for Row {
        const NAME: &'static str = "rows";
        const ROW: &'static str = "a row";
        fn columns() -> Vec<Column<Self>> {
            vec![
                Column::text(Name::new("name"), "a name", |row: &Self| Some(row.0)),
                Column::new(Name::new("wait"), "s", "a wait", |row: &Self| row.1),
            ]
        }
    }

    #[test]
    fn rows_are_ordered_by_a_column() {
        let ordered = |text: &str| {
            let sort = SortArg { sort: Some(text.to_string()) };
            let sorting = sort.of::<Row>().expect("a column").expect("an order");
            let mut rows =
                [Row("b", 2.0), Row("d", f64::NAN), Row("a", 10.0), Row("c", 2.0), Row("e", -1.0)];
            rows.sort_by(|a, b| sorting.order(a, b));
            rows.map(|row| row.0).concat()
        };
        assert_eq!(ordered("wait"), "ebcad");
        assert_eq!(ordered("-wait"), "abced");
        assert_eq!(ordered("name"), "abcde");
        assert!(SortArg { sort: Some("size".to_string()) }.of::<Row>().is_err());
        assert!(SortArg::default().of::<Row>().is_ok_and(|order| order.is_none()));
    }

    #[test]
    fn the_lead_is_above_the_table() {
        let mut sheet = Sheet::new(&[("name", Align::Left)]).led_by(Some("all of KTH SP2".into()));
        sheet.push(vec!["a".to_string()]);
        let table = TableArgs::default();
        let mut out = Vec::new();
        table.fitted(&sheet, 1, Some(7), &mut out).expect("memory");
        let text = String::from_utf8(out).expect("text");
        assert_eq!(text, " all of\n   KTH\n   SP2\n\n name\n ----\n a\n");
        let mut out = Vec::new();
        let md = TableArgs { format: FormatArg::Md, ..table };
        md.sheet(&sheet, 0, &mut out).expect("memory");
        assert!(String::from_utf8(out).expect("text").starts_with("all of KTH SP2\n\n| name |"));
    }

    #[test]
    fn words_are_wrapped() {
        assert_eq!(wrapped("a bc def", 4), ["a bc", "  def"]);
        assert_eq!(wrapped("abcdef g", 4), ["abcdef", "  g"]);
        assert_eq!(wrapped("", 4), [""]);
    }
}
