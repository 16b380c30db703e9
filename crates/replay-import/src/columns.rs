//! Reads columns of Parquet files as Arrow arrays.
//!
//! ```text
//! Footer::read -> Chunk::read: bytes of a column of a row group -> Chunk::decode: arrays of some rows
//! ```
//!
//! The code uses the arrays and the Parquet reader of polars, not its data frames. The reader may panic on damaged
//! files; these panics are caught, see [`damaged`].

use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use polars_arrow::array::{Array, new_empty_array};
use polars_arrow::compute::concatenate::concatenate;
use polars_arrow::datatypes::{ArrowDataType, ArrowSchema, Field};
use polars_arrow::record_batch::RecordBatch;
use polars_buffer::Buffer;
use polars_parquet::read::{
    BasicDecompressor, ColumnChunkMetadata, FileMetadata, Filter, PageReader, RowGroupMetadata,
    column_iter_to_arrays, infer_schema,
};

use crate::damaged;

/// The first four bytes of a Parquet file, which are also its last four bytes.
const MAGIC: [u8; 4] = *b"PAR1";

/// Footer of a Parquet file.
#[derive(Clone, Debug)]
pub struct Footer {
    /// Metadata of the file and of its row groups.
    pub metadata: FileMetadata,
    /// Columns of the file. A column that is dictionary-encoded has the type of its values.
    pub schema: ArrowSchema,
}

impl Footer {
    /// Reads the footer of a file.
    ///
    /// # Errors
    /// A message if the file is not Parquet, or if its footer is damaged.
    pub fn read(file: &mut (impl Read + Seek)) -> Result<Self, String> {
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
        Ok(Self { metadata, schema: schema.iter_values().map(flat).collect() })
    }

    /// Returns the number of rows of the file.
    pub fn rows(&self) -> usize {
        self.metadata.num_rows
    }

    /// Reads a range of rows of the given columns.
    ///
    /// # Errors
    /// A message if a column is missing, or if the file is damaged.
    pub fn batch(
        &self,
        file: &mut (impl Read + Seek),
        names: &[&str],
        rows: Range<usize>,
    ) -> Result<RecordBatch, String> {
        let field =
            |name: &&str| self.schema.get(name).ok_or_else(|| format!("no column \"{name}\""));
        let fields: Vec<&Field> = names.iter().map(field).collect::<Result<_, _>>()?;
        let mut arrays: Vec<Vec<Box<dyn Array>>> = vec![Vec::new(); fields.len()];
        let mut first = 0;
        for group in &self.metadata.row_groups {
            let end = first + group.num_rows();
            let part = rows.start.max(first)..rows.end.min(end);
            if !part.is_empty() {
                for (field, arrays) in fields.iter().zip(&mut arrays) {
                    let chunk = Chunk::read(file, group, field)?;
                    arrays.extend(chunk.decode(part.start - first..part.end - first)?);
                }
            }
            first = end;
        }
        let joined = |(field, arrays): (&&Field, Vec<Box<dyn Array>>)| match &arrays[..] {
            [] => Ok(new_empty_array(field.dtype.clone())),
            _ => concatenate(&arrays.iter().map(AsRef::as_ref).collect::<Vec<_>>()),
        };
        let schema: ArrowSchema = fields.iter().map(|&field| field.clone()).collect();
        damaged::caught(|| {
            let arrays = fields.iter().zip(arrays).map(joined).collect::<Result<_, _>>()?;
            RecordBatch::try_new(rows.len(), Arc::new(schema), arrays)
        })
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
pub struct Chunk<'a> {
    field: &'a Field,
    /// The Parquet columns that make up this column. A column of lists consists of one Parquet column, although the
    /// format permits several Parquet columns.
    parts: Vec<(&'a ColumnChunkMetadata, Buffer<u8>)>,
}

impl<'a> Chunk<'a> {
    /// Reads the bytes of a column.
    ///
    /// # Errors
    /// A message that names the column if the bytes cannot be read, or if the group does not have the column.
    pub fn read(
        file: &mut (impl Read + Seek),
        group: &'a RowGroupMetadata,
        field: &'a Field,
    ) -> Result<Chunk<'a>, String> {
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
            false => Ok(Chunk { field, parts }),
        }
    }

    /// Decodes some rows of the group.
    ///
    /// # Errors
    /// A message that names the column if the bytes are damaged.
    pub fn decode(&self, rows: Range<usize>) -> Result<Vec<Box<dyn Array>>, String> {
        let Chunk { field, parts } = self;
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
