use polars::prelude::{Column, DataFrame, PolarsResult};

use crate::table::{Get, Table};

/// The rows as a frame, with the columns of their table.
///
/// # Errors
/// Only if polars refuses the columns.
pub fn frame<Row: Table>(rows: &[Row]) -> PolarsResult<DataFrame> {
    let values = |column: &crate::table::Column<Row>| {
        let name = column.name.into();
        match &column.get {
            Get::Text(read) => Column::new(name, rows.iter().map(read).collect::<Vec<_>>()),
            Get::I64(read) => Column::new(name, rows.iter().map(read).collect::<Vec<_>>()),
            Get::U64(read) => Column::new(name, rows.iter().map(read).collect::<Vec<_>>()),
            Get::F64(read) => Column::new(name, rows.iter().map(read).collect::<Vec<_>>()),
        }
    };
    DataFrame::new(rows.len(), Row::columns().iter().map(values).collect())
}
