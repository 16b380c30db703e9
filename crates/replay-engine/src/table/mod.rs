//! Tables of results. Each column is declared once.
//!
//! A row is a type that implements [`Table`]. The type declares the columns of the table, each with name, unit,
//! meaning, type and value. All code that writes or documents a table uses these declarations: CSV, JSON lines, text
//! and Markdown (`report` of `replay-output`), Parquet (`frame`), the listing of columns, and the objectives of a
//! search. All outputs are therefore consistent. A column has its declared type even if all values are null, so two
//! files of the same table can always be concatenated.
//!
//! A column name has the same meaning and unit in all tables. A test of the column listing checks that every name has
//! one meaning and one unit. Integers are signed, so that the values of two runs can be subtracted; only seeds and ids,
//! which may need all 64 bits, are unsigned. A list of integers is written as a list in Parquet and JSON, and as text
//! such as `0-3,7` in CSV ([`ranges`]).
//!
//! ```
//! use replay_engine::table::{Column, Table, csv};
//!
//! struct Queue { name: String, waits: Vec<i64> }
//!
//! impl Table for Queue {
//!     const NAME: &'static str = "queues";
//!     const ROW: &'static str = "one row per queue";
//!
//!     fn columns() -> Vec<Column<Self>> {
//!         vec![
//!             Column::text("queue", "name of the queue", |q: &Queue| Some(q.name.as_str())),
//!             Column::new("max_wait", "s", "longest wait; null without jobs", |q: &Queue| {
//!                 q.waits.iter().copied().max()
//!             }),
//!         ]
//!     }
//! }
//!
//! let rows = [Queue { name: "day".into(), waits: vec![3, 8] }, Queue { name: "night".into(), waits: vec![] }];
//! assert_eq!(csv(&rows)?, "queue,max_wait\nday,8\nnight,\n");
//! # Ok::<(), std::io::Error>(())
//! ```

mod column;
mod fit;
mod latex;
mod measures;
mod name;
mod sheet;
mod write;

pub use crate::{measures, names};
pub use column::{Column, ColumnInfo, Get, Kind, Readable, SHARE, Value};
pub use fit::Fitted;
pub use name::Name;
pub use sheet::{Align, Sheet, Shown, with_unit};
pub use write::io_error;
pub use write::{csv, ranges, write_csv, write_json_line};

/// A row of a table. The type declares the columns of the table.
pub trait Table: Sized {
    /// Name of the table. The names of the table's files begin with this name.
    const NAME: &'static str;
    /// Description of a row.
    const ROW: &'static str;

    /// Returns the columns in order.
    fn columns() -> Vec<Column<Self>>;

    /// Returns whether the row cannot be compared with other rows by this column. Sorting by the column then puts the
    /// row last.
    fn is_ranked_last(&self, _column: Name) -> bool {
        false
    }
}

/// The documentation of a table.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct TableInfo {
    /// Name of the table. The names of the table's files begin with this name.
    pub name: &'static str,
    /// Description of a row.
    pub row: &'static str,
    /// The columns in order.
    pub columns: Vec<ColumnInfo>,
}

impl TableInfo {
    /// Returns the documentation of the table that has rows of type `Row`.
    pub fn of<Row: Table>() -> Self {
        let columns = Row::columns().iter().map(Column::info).collect();
        Self { name: Row::NAME, row: Row::ROW, columns }
    }
}
