//! Tables in Parquet, read by row groups.
//!
//! ```text
//! footer -> columns -> Jobs finds the columns of the map
//! row group -> packed bytes of the columns that are read -> batch of rows -> text of each field -> Jobs
//! ```
//!
//! A field is converted to the text that it would have in a text table, so that a map has the same meaning for text and
//! for Parquet: dates in ISO 8601, durations in seconds, lists with commas, and empty text if the value is null or NaN.
//! At any time, one compressed row group and one decoded batch of [`BATCH`] rows are in memory.

#[cfg(test)]
mod tests;
mod text;

use std::io::{Read, Seek};

use polars_arrow::array::Array;
use polars_arrow::datatypes::{ArrowDataType, Field};

use crate::columns::{Chunk, Footer};

use super::entry::Line;
use super::map::ColumnMap;
use super::mapped::{Jobs, Typed};
use super::row::{Cell, Columns};
use super::{ImportError, ReadStop, Sink, Source};

/// Number of rows that are decoded at once.
const BATCH: usize = 1 << 15;

/// Reads one file of the log, which is a table.
pub(super) fn read(
    mut file: impl Read + Seek,
    source: &Source,
    map: &ColumnMap,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    let name = sink.file();
    let wrong = |what: String| ImportError::NoParquet { file: name.clone(), what };
    let Footer { metadata, schema } = Footer::read(&mut file).map_err(wrong)?;
    let columns = Columns::named(schema.iter_names().map(|name| name.to_string()));
    let typed = |at: usize| schema.get_at_index(at).map_or(Typed::No, |(_, field)| typed(field));
    let jobs = Jobs::new(source, map, &columns, typed);
    let mut jobs = jobs.map_err(|stop| match stop {
        ReadStop::Header(what) => wrong(what),
        ReadStop::Fault(fault) => wrong(fault.reason.to_string()),
        ReadStop::Output(source) => ImportError::Output(source),
        ReadStop::Import(error) => error,
    })?;
    let wanted: Vec<(usize, &Field)> = jobs
        .columns()
        .into_iter()
        .filter_map(|at| Some((at, schema.get_at_index(at)?.1)))
        .collect();
    for (_, field) in &wanted {
        if !text::is_known(&field.dtype) {
            let kind = format!("{:?}", field.dtype);
            let kind = kind.split(['(', '{']).next().unwrap_or_default().to_string();
            return Err(wrong(format!(
                "column {} has type {kind}, which is not supported",
                field.name
            )));
        }
    }

    let (mut cells, mut line) = (vec![Cell::EMPTY; columns.len()], String::new());
    let mut number = 0;
    for group in &metadata.row_groups {
        let chunks: Vec<Chunk<'_>> = wanted
            .iter()
            .map(|(_, field)| Chunk::read(&mut file, group, field))
            .collect::<Result<_, String>>()
            .map_err(wrong)?;
        let mut start = 0;
        while start < group.num_rows() {
            let rows = start..group.num_rows().min(start + BATCH);
            let arrays: Vec<Vec<Box<dyn Array>>> = chunks
                .iter()
                .map(|chunk| chunk.decode(rows.clone()))
                .collect::<Result<_, String>>()
                .map_err(wrong)?;
            let mut fields: Vec<text::Column<'_>> =
                arrays.iter().map(|arrays| text::Column::new(arrays)).collect();
            for _ in rows.clone() {
                number += 1;
                line.clear();
                for ((at, _), field) in wanted.iter().zip(&mut fields) {
                    let start = line.len();
                    field.next(&mut line);
                    cells[*at] = Cell { start, end: line.len(), doubled: false };
                    line.push('|');
                }
                let whole = Line { number, text: &line };
                let taken = columns.checked(whole, &cells).map_err(ReadStop::from);
                match taken.and_then(|row| jobs.row(row, sink)) {
                    Ok(()) => {}
                    Err(ReadStop::Fault(fault)) => sink.malformed(number, &line, fault)?,
                    Err(ReadStop::Header(what)) => return Err(wrong(what)),
                    Err(ReadStop::Output(source)) => return Err(ImportError::Output(source)),
                    Err(ReadStop::Import(error)) => return Err(error),
                }
            }
            start = rows.end;
        }
    }
    sink.lines(number);
    Ok(())
}

/// Returns the type of a column as declared by the table.
fn typed(field: &Field) -> Typed {
    match field.dtype() {
        ArrowDataType::Timestamp(..) | ArrowDataType::Date32 | ArrowDataType::Date64 => Typed::Date,
        ArrowDataType::Duration(_) => Typed::Span,
        _ => Typed::No,
    }
}
