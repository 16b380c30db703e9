use polars::prelude::{
    Column, DataFrame, DataType, Int64Type, IntoColumn, ListBuilderTrait, ListChunked,
    ListPrimitiveChunkedBuilder, PlSmallStr, PolarsResult,
};

use replay_core::table::{Get, Table};

/// Converts rows to a data frame with the columns of their table.
///
/// # Errors
/// [`PolarsError`](polars::prelude::PolarsError) if polars rejects the columns.
pub fn frame<Row: Table>(rows: &[Row]) -> PolarsResult<DataFrame> {
    let values = |column: &replay_core::table::Column<Row>| {
        let name = column.name.text().into();
        match &column.get {
            Get::Text(read) => Column::new(name, rows.iter().map(read).collect::<Vec<_>>()),
            Get::I64(read) => Column::new(name, rows.iter().map(read).collect::<Vec<_>>()),
            Get::U64(read) => Column::new(name, rows.iter().map(read).collect::<Vec<_>>()),
            Get::F64(read) => Column::new(name, rows.iter().map(read).collect::<Vec<_>>()),
            Get::List(read) => lists(name, rows.iter().map(read)).into_column(),
        }
    };
    DataFrame::new(rows.len(), Row::columns().iter().map(values).collect())
}

/// Returns a column of lists of integers. The type of the column does not change if all values are null.
fn lists(name: PlSmallStr, values: impl ExactSizeIterator<Item = Option<Vec<i64>>>) -> ListChunked {
    let rows = values.len();
    let mut lists =
        ListPrimitiveChunkedBuilder::<Int64Type>::new(name, rows, rows, DataType::Int64);
    for value in values {
        lists.append_opt_slice(value.as_deref());
    }
    lists.finish()
}
