use polars_arrow::array::{
    Array, ListArray, MutableListArray, MutablePrimitiveArray, PrimitiveArray, TryExtend,
    Utf8ViewArray,
};
use polars_arrow::datatypes::{ArrowSchema, Field};
use polars_arrow::record_batch::RecordBatch;
use polars_error::PolarsResult;

use replay_engine::table::{Column, Get, Table};

/// Converts rows to a record batch with the columns of their table. Every column may contain null.
///
/// # Errors
/// [`PolarsError`](polars_error::PolarsError) if two columns have the same name, or if the lists of a column are too long
/// for their offsets.
pub fn frame<Row: Table>(rows: &[Row]) -> PolarsResult<RecordBatch> {
    let values = |column: &Column<Row>| -> PolarsResult<Box<dyn Array>> {
        Ok(match &column.get {
            Get::Text(read) => {
                Utf8ViewArray::from_slice(rows.iter().map(read).collect::<Vec<_>>()).boxed()
            }
            Get::I64(read) => rows.iter().map(read).collect::<PrimitiveArray<i64>>().boxed(),
            Get::U64(read) => rows.iter().map(read).collect::<PrimitiveArray<u64>>().boxed(),
            Get::F64(read) => rows.iter().map(read).collect::<PrimitiveArray<f64>>().boxed(),
            Get::List(read) => lists(rows.iter().map(read))?.boxed(),
        })
    };
    let columns = Row::columns();
    let arrays: Vec<Box<dyn Array>> = columns.iter().map(values).collect::<PolarsResult<_>>()?;
    let fields = columns
        .iter()
        .zip(&arrays)
        .map(|(column, array)| Field::new(column.name.text().into(), array.dtype().clone(), true));
    let schema: ArrowSchema = fields.collect();
    RecordBatch::try_new(rows.len(), schema.into(), arrays)
}

/// Returns a column of lists of integers.
fn lists(values: impl Iterator<Item = Option<Vec<i64>>>) -> PolarsResult<ListArray<i64>> {
    let mut lists = MutableListArray::<i64, MutablePrimitiveArray<i64>>::new();
    lists.try_extend(values.map(|list| list.map(|list| list.into_iter().map(Some))))?;
    Ok(lists.into())
}
