use super::column::{Column, ColumnInfo};
use super::{by_size, jobs, runs};

/// A result table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Table {
    /// One row per run.
    Runs,
    /// One row per job size of a run.
    BySize,
    /// One row per job of a run.
    Jobs,
}

impl Table {
    /// Every table.
    pub const ALL: [Table; 3] = [Table::Runs, Table::BySize, Table::Jobs];

    /// The name, which is also the stem of its files.
    pub fn name(self) -> &'static str {
        match self {
            Table::Runs => "runs",
            Table::BySize => "by_size",
            Table::Jobs => "jobs",
        }
    }

    /// What a row is.
    pub fn about(self) -> &'static str {
        match self {
            Table::Runs => "one row per run: what ran and what it comes to",
            Table::BySize => "one row per job size of a run",
            Table::Jobs => "one row per job of a run, in order of submission",
        }
    }
}

/// The columns of a table in order.
pub fn describe(table: Table) -> Vec<ColumnInfo> {
    fn infos<Row>(columns: &[Column<Row>]) -> Vec<ColumnInfo> {
        columns.iter().map(Column::info).collect()
    }
    match table {
        Table::Runs => infos(runs::COLUMNS),
        Table::BySize => infos(by_size::COLUMNS),
        Table::Jobs => infos(jobs::COLUMNS),
    }
}
