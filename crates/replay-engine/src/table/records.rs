//! Tables whose row type is not known at compile time.

use super::{Column, ColumnInfo, Name, Table, TableInfo, Value};

/// A table whose rows have no type of their own, such as a table that was read from a file. The declarations of the
/// columns are part of the table.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Records {
    /// Name of the table.
    pub name: String,
    /// Description of a row; empty if the table is not declared.
    pub about: &'static str,
    columns: Vec<(String, Option<ColumnInfo>)>,
    rows: Vec<Vec<Value<'static>>>,
}

/// A row of [`Records`].
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    table: &'a Records,
    values: &'a [Value<'static>],
}

impl Records {
    /// Creates a table without rows. Columns that `info` does not declare are columns of text.
    pub fn new(
        name: &str,
        info: Option<&TableInfo>,
        header: impl IntoIterator<Item = String>,
    ) -> Self {
        let declared = |name: &str| {
            info.and_then(|info| info.columns.iter().find(|one| one.name.text() == name)).copied()
        };
        let columns = header.into_iter().map(|name| (declared(&name), name));
        Self {
            name: name.to_string(),
            about: info.map_or("", |info| info.row),
            columns: columns.map(|(info, name)| (name, info)).collect(),
            rows: Vec::new(),
        }
    }

    /// Converts rows.
    pub fn of<'a, Row: Table + 'a>(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let columns = Row::columns();
        let header = columns.iter().map(|column| column.name.to_string());
        let mut table = Self::new(Row::NAME, Some(&TableInfo::of::<Row>()), header);
        rows.into_iter().for_each(|row| table.push(&columns, row));
        table
    }

    /// Appends a row; `columns` are the columns of the table in order.
    pub fn push<Row>(&mut self, columns: &[Column<Row>], row: &Row) {
        self.rows.push(columns.iter().map(|column| column.value(row).into_owned()).collect());
    }

    /// Appends a row of text fields as in CSV. A field that does not match the type of its column remains text.
    pub fn push_fields<'a>(&mut self, fields: impl IntoIterator<Item = &'a str>) {
        let value = |(field, (_, info)): (&str, &(_, Option<ColumnInfo>))| {
            Value::parse(field, info.map(|info| info.kind))
        };
        self.rows.push(fields.into_iter().zip(&self.columns).map(value).collect());
    }

    /// Returns the columns in order, each with its name and, if the column is declared, its documentation.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = (&str, Option<&ColumnInfo>)> {
        self.columns.iter().map(|(name, info)| (name.as_str(), info.as_ref()))
    }

    /// Returns whether the table has a column.
    pub fn has(&self, name: Name) -> bool {
        self.place(name).is_some()
    }

    /// Returns whether the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the rows.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Record<'_>> + Clone {
        self.rows.iter().map(|values| Record { table: self, values })
    }

    fn place(&self, name: Name) -> Option<usize> {
        self.columns.iter().position(|(column, _)| column == name.text())
    }
}

impl<'a> Record<'a> {
    /// Returns the values in the order of the columns.
    pub fn values(&self) -> &'a [Value<'static>] {
        self.values
    }

    /// Returns a value; null if the table has no such column.
    pub fn value(&self, name: Name) -> &'a Value<'static> {
        self.table.place(name).and_then(|place| self.values.get(place)).unwrap_or(&Value::Null)
    }

    /// Returns a value as text; `None` for values of other types.
    pub fn text(&self, name: Name) -> Option<&'a str> {
        match self.value(name) {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns a value as a signed integer; `None` for values of other types.
    pub fn integer(&self, name: Name) -> Option<i64> {
        match *self.value(name) {
            Value::I64(value) => Some(value),
            _ => None,
        }
    }

    /// Returns a value as a number; `None` for values of other types.
    pub fn number(&self, name: Name) -> Option<f64> {
        self.value(name).number()
    }
}
