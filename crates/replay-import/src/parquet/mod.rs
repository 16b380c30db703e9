//! Tables in Parquet, read by row groups.
//!
//! ```text
//! footer -> columns -> Jobs finds the columns of the map
//! row group -> packed bytes of the columns that are read -> batch of rows -> text of each field -> Jobs
//! ```
//!
//! A field is converted to the text that it would have in a text table, so that a map has the same meaning for
//! text and for Parquet: dates in ISO 8601, durations in seconds, lists with commas, and empty text if the value
//! is null or NaN. At any time, one compressed row group and [`BATCH`] of its rows, decoded, are in memory.
//!
//! The code uses the arrays of polars, not its data frames; therefore it needs no optional feature of polars.
//! polars may panic on damaged files; these panics are caught, see [`damaged`].

#[cfg(test)]
mod tests;
mod text;

use std::io::{Read, Seek, SeekFrom};

use polars_arrow::array::Array;
use polars_arrow::datatypes::{ArrowDataType, ArrowSchema, Field};
use polars_buffer::Buffer;
use polars_parquet::read::{
    BasicDecompressor, ColumnChunkMetadata, FileMetadata, Filter, PageReader, RowGroupMetadata,
    column_iter_to_arrays, infer_schema,
};

use crate::damaged;

use super::entry::Line;
use super::map::ColumnMap;
use super::mapped::{Jobs, Typed};
use super::row::{Cell, Columns};
use super::{ImportError, ReadStop, Sink, Source};

/// Number of rows that are decoded at once.
const BATCH: usize = 1 << 15;

/// The first and last bytes of a file in Parquet.
const MAGIC: [u8; 4] = *b"PAR1";

/// Reads one file of the log, which is a table.
pub(super) fn read(
    mut file: impl Read + Seek,
    source: &Source,
    map: &ColumnMap,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    let name = sink.file();
    let wrong = |what: String| ImportError::NoParquet { file: name.clone(), what };
    let (metadata, schema) = head(&mut file).map_err(wrong)?;
    let columns = Columns::named(schema.iter_names().map(|name| name.to_string()));
    let typed = |at: usize| schema.get_at_index(at).map_or(Typed::No, |(_, field)| typed(field));
    let jobs = Jobs::new(source, map, &columns, typed);
    let mut jobs = jobs.map_err(|stop| match stop {
        ReadStop::Header(what) => wrong(what),
        ReadStop::Fault(fault) => wrong(fault.reason.to_string()),
        ReadStop::Output(source) => ImportError::Output(source),
    })?;
    let wanted: Vec<(usize, Field)> = jobs
        .columns()
        .into_iter()
        .filter_map(|at| Some((at, flat(schema.get_at_index(at)?.1))))
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
        let chunks: Vec<Packed<'_>> = wanted
            .iter()
            .map(|(at, field)| Packed::read(&mut file, group, *at, field))
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
                for (chunk, field) in chunks.iter().zip(&mut fields) {
                    let start = line.len();
                    field.next(&mut line);
                    cells[chunk.at] = Cell { start, end: line.len(), doubled: false };
                    line.push('|');
                }
                let whole = Line { number, text: &line };
                let taken = columns.checked(whole, &cells).map_err(ReadStop::from);
                match taken.and_then(|row| jobs.row(row, sink)) {
                    Ok(()) => {}
                    Err(ReadStop::Fault(fault)) => sink.malformed(number, &line, fault)?,
                    Err(ReadStop::Header(what)) => return Err(wrong(what)),
                    Err(ReadStop::Output(source)) => return Err(ImportError::Output(source)),
                }
            }
            start = rows.end;
        }
    }
    sink.lines(number);
    Ok(())
}

/// Reads the footer of a file and the schema of its columns.
fn head(file: &mut (impl Read + Seek)) -> Result<(FileMetadata, ArrowSchema), String> {
    let mut magic = [0; 4];
    let begun = file.rewind().and_then(|()| file.read_exact(&mut magic));
    match begun {
        Ok(()) if magic == MAGIC => {}
        Err(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => {
            return Err(format!("cannot read the file: {error}"));
        }
        _ => return Err("this is not Parquet: it does not begin with PAR1".to_string()),
    }
    let metadata = damaged::footer(file)?;
    let schema = damaged::caught(|| infer_schema(&metadata))?;
    Ok((metadata, schema))
}

/// Returns the type of a column as declared by the table.
fn typed(field: &Field) -> Typed {
    match field.dtype() {
        ArrowDataType::Timestamp(..) | ArrowDataType::Date32 | ArrowDataType::Date64 => Typed::Date,
        ArrowDataType::Duration(_) => Typed::Span,
        _ => Typed::No,
    }
}

/// Replaces dictionary types by the types of their values.
fn flat(field: &Field) -> Field {
    let list = |inner: &Field| Box::new(flat(inner));
    let dtype = match field.dtype() {
        ArrowDataType::Dictionary(_, values, _) => (**values).clone(),
        ArrowDataType::LargeList(inner) => ArrowDataType::LargeList(list(inner)),
        ArrowDataType::FixedSizeList(inner, n) => ArrowDataType::FixedSizeList(list(inner), *n),
        dtype => dtype.clone(),
    };
    Field::new(field.name.clone(), dtype, field.is_nullable)
}

/// A column of a row group, as bytes of the file.
struct Packed<'a> {
    /// Index of the column in the table.
    at: usize,
    field: &'a Field,
    /// Parts of the column, which are columns in the file. A column of lists has one part; the format permits several
    /// parts.
    parts: Vec<(&'a ColumnChunkMetadata, Buffer<u8>)>,
}

impl<'a> Packed<'a> {
    fn read(
        file: &mut (impl Read + Seek),
        group: &'a RowGroupMetadata,
        at: usize,
        field: &'a Field,
    ) -> Result<Packed<'a>, String> {
        let name = &field.name;
        let mut parts = Vec::new();
        for part in group.columns_under_root_iter(name).into_iter().flatten() {
            let range = damaged::caught(|| Ok(part.byte_range()))?;
            let (mut bytes, length) = (Vec::new(), range.end.saturating_sub(range.start));
            let read = file.seek(SeekFrom::Start(range.start));
            let read = read.and_then(|_| file.take(length).read_to_end(&mut bytes));
            let read = read.map_err(|error| format!("cannot read column {name}: {error}"))?;
            if (read as u64) < length {
                return Err(format!("column {name} is cut short (an incomplete download?)"));
            }
            parts.push((part, Buffer::from(bytes)));
        }
        match parts.is_empty() {
            true => Err(format!("column {name} is missing from a group of rows")),
            false => Ok(Packed { at, field, parts }),
        }
    }

    /// Decodes some rows of the group.
    fn decode(&self, rows: std::ops::Range<usize>) -> Result<Vec<Box<dyn Array>>, String> {
        let Packed { field, parts, .. } = self;
        let decode = || {
            let pages = |(part, bytes): &(&ColumnChunkMetadata, Buffer<u8>)| {
                let most = bytes.len();
                let bytes = std::io::Cursor::new(bytes.clone());
                let pages = PageReader::new(bytes, part, Vec::new(), most);
                BasicDecompressor::new(pages, Vec::new())
            };
            let types = parts.iter().map(|(part, _)| &part.descriptor().descriptor.primitive_type);
            let filter = Filter::new_ranged(rows.start, rows.end);
            let pages = parts.iter().map(pages).collect();
            column_iter_to_arrays(pages, types.collect(), (*field).clone(), Some(filter))
        };
        let named = |what: String| format!("column {}: {what}", field.name);
        let (arrays, _) = damaged::caught(decode).map_err(named)?;
        let (has, should) = (arrays.iter().map(|array| array.len()).sum::<usize>(), rows.len());
        match has == should {
            true => Ok(arrays),
            false => Err(named(format!("{has} values in {should} rows"))),
        }
    }
}
