use crate::experiment::RunResult;

/// What a column holds. Every column may hold nulls where its meaning says so.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// UTF-8 text.
    Text,
    /// Unsigned 64-bit integer.
    U64,
    /// Signed 64-bit integer.
    I64,
    /// 64-bit float.
    F64,
}

impl Kind {
    /// The name in documentation.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Text => "text",
            Kind::U64 => "u64",
            Kind::I64 => "i64",
            Kind::F64 => "f64",
        }
    }
}

/// The documentation of one column.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
pub struct ColumnInfo {
    /// Name in the file.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Unit; empty for names, numbers of things and pure ratios.
    pub unit: &'static str,
    /// Meaning, and when it is null.
    pub about: &'static str,
}

/// How a value is read from a run and a row of it; `None` is null.
pub(super) enum Get<Row> {
    Text(for<'a> fn(&'a RunResult, &'a Row) -> Option<&'a str>),
    U64(fn(&RunResult, &Row) -> Option<u64>),
    I64(fn(&RunResult, &Row) -> Option<i64>),
    F64(fn(&RunResult, &Row) -> Option<f64>),
}

/// One column of a table whose rows are pairs of a run and a `Row` of it.
pub(super) struct Column<Row> {
    pub name: &'static str,
    pub unit: &'static str,
    pub about: &'static str,
    pub get: Get<Row>,
}

impl<Row> Column<Row> {
    pub const fn new(
        name: &'static str,
        unit: &'static str,
        about: &'static str,
        get: Get<Row>,
    ) -> Self {
        Self { name, unit, about, get }
    }

    pub fn kind(&self) -> Kind {
        match self.get {
            Get::Text(_) => Kind::Text,
            Get::U64(_) => Kind::U64,
            Get::I64(_) => Kind::I64,
            Get::F64(_) => Kind::F64,
        }
    }

    pub fn info(&self) -> ColumnInfo {
        ColumnInfo { name: self.name, kind: self.kind(), unit: self.unit, about: self.about }
    }
}
