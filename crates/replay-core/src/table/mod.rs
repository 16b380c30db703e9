//! Tables of results: each column is declared once.
//!
//! A row is a type that implements [`Table`]: it says what its columns are, each with name,
//! unit, meaning, kind and value. Whatever writes or explains a table reads these: CSV, JSON
//! lines, text and Markdown (`report` of `replay-output`), Parquet (`frame`), the listing of
//! columns, the objectives of a search. So they cannot differ, and a column of a type has that
//! type even where all of it is null: two files of one table always concatenate.
//!
//! A name has one meaning and one unit in all tables; a test of the program's listing sees to it.
//! Integers are signed, so that two runs can be subtracted; only seeds and ids, which may need all
//! 64 bits, are not. A list of integers is a list in Parquet and JSON, and in CSV text such as
//! `0-3,7` ([`ranges`]).
//!
//! ```
//! use replay_core::table::{Column, Name, Table, csv};
//!
//! struct Queue { name: String, waits: Vec<i64> }
//!
//! impl Table for Queue {
//!     const NAME: &'static str = "queues";
//!     const ROW: &'static str = "one row per queue";
//!
//!     fn columns() -> Vec<Column<Self>> {
//!         vec![
//!             Column::text(Name::new("queue"), "name of the queue", |q: &Queue| Some(q.name.as_str())),
//!             Column::new(Name::new("max_wait"), "s", "longest wait; null if nobody waits", |q: &Queue| {
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
mod measures;
pub mod name;
mod sheet;
mod write;

pub use crate::measures;
pub use column::{Column, ColumnInfo, Get, Kind, Measure, SHARE, Value};
pub use fit::Fitted;
pub use name::Name;
pub use sheet::{Align, Sheet, Shown, with_unit};
pub use write::{csv, ranges, write_csv, write_json_line};

/// A row of a table, which knows the columns.
pub trait Table: Sized {
    /// Name, which is also the stem of the table's files.
    const NAME: &'static str;
    /// What a row is.
    const ROW: &'static str;

    /// The columns in order.
    fn columns() -> Vec<Column<Self>>;

    /// Whether an order by this column puts the row behind all rows that are comparable by it.
    fn stands_apart(&self, _column: &str) -> bool {
        false
    }
}

/// The documentation of a table.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct TableInfo {
    /// Name, and stem of its files.
    pub name: &'static str,
    /// What a row is.
    pub row: &'static str,
    /// The columns in order.
    pub columns: Vec<ColumnInfo>,
}

impl TableInfo {
    /// That of the table with rows of this type.
    pub fn of<Row: Table>() -> Self {
        let columns = Row::columns().iter().map(Column::info).collect();
        Self { name: Row::NAME, row: Row::ROW, columns }
    }
}
