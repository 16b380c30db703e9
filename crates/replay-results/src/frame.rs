use polars::prelude::{
    Column as Values, DataFrame, DataType, Float64Chunked, Int64Chunked, Int64Type, IntoColumn,
    ListBuilderTrait, ListPrimitiveChunkedBuilder, NewChunkedArray, PlSmallStr, PolarsResult,
    StringChunked, UInt64Chunked,
};

use replay_engine::table::{Column, Get, Table};

/// Converts rows to a data frame with the columns of their table. Every column may contain null.
///
/// # Errors
/// [`PolarsError`](polars::prelude::PolarsError) if two columns have the same name.
pub fn frame<'a, Row: Table + 'a>(
    rows: impl IntoIterator<Item = &'a Row, IntoIter: Clone>,
) -> PolarsResult<DataFrame> {
    let rows = rows.into_iter();
    let count = rows.clone().count();
    let values = |column: &Column<Row>| -> Values {
        let name = PlSmallStr::from_static(column.name.text());
        match &column.get {
            Get::Text(read) => {
                StringChunked::from_iter_options(name, rows.clone().map(read)).into_column()
            }
            Get::I64(read) => {
                Int64Chunked::from_iter_options(name, rows.clone().map(read)).into_column()
            }
            Get::U64(read) => {
                UInt64Chunked::from_iter_options(name, rows.clone().map(read)).into_column()
            }
            Get::F64(read) => {
                Float64Chunked::from_iter_options(name, rows.clone().map(read)).into_column()
            }
            Get::List(read) => lists(name, count, rows.clone().map(read)),
        }
    };
    DataFrame::new(count, Row::columns().iter().map(values).collect())
}

/// Returns a column of lists of integers.
fn lists(name: PlSmallStr, count: usize, values: impl Iterator<Item = Option<Vec<i64>>>) -> Values {
    let mut lists =
        ListPrimitiveChunkedBuilder::<Int64Type>::new(name, count, count, DataType::Int64);
    values.for_each(|list| lists.append_opt_slice(list.as_deref()));
    lists.finish().into_column()
}
