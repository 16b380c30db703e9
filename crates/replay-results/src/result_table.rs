use std::borrow::Cow;
use std::io::{self, Read};

use polars::prelude::{AnyValue, Column, DataFrame, PolarsResult};

use super::frame;
use replay_engine::table::{ColumnInfo, Name, Table, TableInfo, Value};

/// A data frame of results with the documentation of its table.
#[derive(Clone, Debug)]
pub struct ResultTable {
    /// Name of the table.
    pub name: String,
    /// Documentation of the table; `None` for a table that is not declared.
    pub info: Option<TableInfo>,
    /// The rows.
    pub frame: DataFrame,
}

/// A row of a [`ResultTable`].
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    frame: &'a DataFrame,
    at: usize,
}

impl ResultTable {
    /// Creates a table. Its documentation is that of the table with this name in `known`.
    pub fn new(name: &str, known: &[TableInfo], frame: DataFrame) -> Self {
        let info = known.iter().find(|table| table.name == name).cloned();
        Self { name: name.to_string(), info, frame }
    }

    /// Converts rows.
    ///
    /// # Errors
    /// See [`frame()`].
    pub fn of<'a, Row: Table + 'a>(
        rows: impl IntoIterator<Item = &'a Row, IntoIter: Clone>,
    ) -> PolarsResult<Self> {
        Ok(Self::new(Row::NAME, &[TableInfo::of::<Row>()], frame(rows)?))
    }

    /// Reads a CSV file with a header. All columns are columns of text; an empty field is null.
    ///
    /// # Errors
    /// [`csv::Error`] if the file cannot be read, is not valid CSV, or has two columns with the same name.
    pub fn csv(text: impl Read, name: &str, known: &[TableInfo]) -> Result<Self, csv::Error> {
        let mut reader = csv::Reader::from_reader(text);
        let header = reader.headers()?.clone();
        let rows = reader.records().collect::<Result<Vec<_>, _>>()?;
        let column = |(place, name): (usize, &str)| {
            let fields = rows.iter().map(|row| row.get(place).filter(|field| !field.is_empty()));
            Column::new(name.into(), fields.collect::<Vec<Option<&str>>>())
        };
        let columns = header.iter().enumerate().map(column).collect();
        let frame = DataFrame::new(rows.len(), columns).map_err(io::Error::other)?;
        Ok(Self::new(name, known, frame))
    }

    /// Returns the columns in order, each with its name, its documentation if the column is declared, and its values.
    pub fn columns(&self) -> impl Iterator<Item = (&str, Option<&ColumnInfo>, Vec<Value<'_>>)> {
        self.frame.columns().iter().map(|column| {
            let name = column.name().as_str();
            let declared = self.info.iter().flat_map(|info| &info.columns);
            let info = declared.into_iter().find(|info| info.name.text() == name);
            (name, info, (0..column.len()).map(|at| value(column, at)).collect())
        })
    }

    /// Returns the rows.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Row<'_>> + Clone {
        (0..self.frame.height()).map(|at| Row { frame: &self.frame, at })
    }
}

impl<'a> Row<'a> {
    /// Returns a value; null if the table has no such column.
    pub fn value(&self, name: Name) -> Value<'a> {
        self.frame.column(name.text()).map_or(Value::Null, |column| value(column, self.at))
    }

    /// Returns a value as text; `None` for values of other types.
    pub fn text(&self, name: Name) -> Option<Cow<'a, str>> {
        match self.value(name) {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns a value as a signed integer; `None` for values of other types.
    pub fn integer(&self, name: Name) -> Option<i64> {
        match self.value(name) {
            Value::I64(value) => Some(value),
            _ => None,
        }
    }

    /// Returns a value as a number; `None` for values of other types.
    pub fn number(&self, name: Name) -> Option<f64> {
        self.value(name).number()
    }
}

/// Returns a value of a column. The empty text is null, as in CSV.
fn value(column: &Column, at: usize) -> Value<'_> {
    match column.get(at) {
        Ok(AnyValue::String(text)) if !text.is_empty() => Value::Text(Cow::Borrowed(text)),
        // Polars stores a column with one row as a value that owns its text.
        Ok(AnyValue::StringOwned(text)) if !text.is_empty() => {
            Value::Text(Cow::Owned(text.to_string()))
        }
        Ok(AnyValue::Int64(value)) => Value::I64(value),
        Ok(AnyValue::UInt64(value)) => Value::U64(value),
        Ok(AnyValue::Float64(value)) => Value::F64(value),
        Ok(AnyValue::List(values)) => values
            .i64()
            .map_or(Value::Null, |values| Value::List(values.iter().flatten().collect())),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_any_length_have_the_values_of_their_fields() {
        for rows in ["x,,2.50\n", "x,,2.50\ny,3,-\n"] {
            let text = format!("a,b,c\n{rows}");
            let table = ResultTable::csv(text.as_bytes(), "made", &[]).expect("CSV");
            let row = table.rows().next().expect("a row");
            let fields = ["a", "b", "c", "d"].map(|name| row.value(Name::new(name)).to_string());
            assert_eq!(fields, ["x", "", "2.50", ""], "{rows}");
            let first = table.columns().map(|(_, _, values)| values[0].to_string());
            assert_eq!(first.collect::<Vec<_>>(), ["x", "", "2.50"], "{rows}");
            assert_eq!(row.value(Name::new("b")), Value::Null);
        }
        assert!(ResultTable::csv("a,a\n1,2\n".as_bytes(), "made", &[]).is_err());
    }
}
