use std::path::{Path, PathBuf};

use polars::io::parquet::write::{BatchedWriter, KeyValueMetadata};
use polars::prelude::{DataFrame, ParquetWriter};

use super::{FrameError, frame};
use replay_engine::table::{Table, TableInfo, write_csv};
use replay_experiment::files::AtomicFile;

/// Minimum size in bytes of a Parquet row group in memory, except for the last one. The writer keeps a description of each
/// group, which needs more memory than the rows if the groups are small.
const GROUP_BYTES: usize = 1 << 24;

/// Open files of one table: a Parquet file and, on request, a CSV file. [`Files::finish`] renames the files to their
/// final names, so that an incomplete file never has a final name.
pub(super) struct Files {
    path: PathBuf,
    file: AtomicFile,
    writer: BatchedWriter<AtomicFile>,
    /// Rows that are not written yet, and their size in bytes.
    waiting: DataFrame,
    bytes: usize,
    csv: Option<(PathBuf, AtomicFile)>,
}

impl Files {
    /// Creates the files in `dir`. The Parquet metadata contains `metadata`, the unit of each column as `unit:NAME`,
    /// and the meaning of each column as `about:NAME`.
    pub fn create<Row: Table>(
        dir: &Path,
        metadata: &[(String, String)],
        csv: bool,
    ) -> Result<Self, FrameError> {
        let create = |end: &str| {
            let path = dir.join(format!("{}.{end}", Row::NAME));
            AtomicFile::create(&path).map_err(FrameError::io(&path)).map(|file| (path, file))
        };
        let (path, file) = create("parquet")?;
        let empty = frame::<Row>(&[]).map_err(FrameError::frame(&path))?;
        // The columns are encoded on this thread, because results are numerous and small, and the replays need the cores.
        let writer = ParquetWriter::new(file.clone())
            .set_parallel(false)
            .with_key_value_metadata(Some(key_values(&TableInfo::of::<Row>(), metadata)))
            .batched(empty.schema())
            .map_err(FrameError::written(&path, &file))?;
        let mut csv = csv.then(|| create("csv")).transpose()?;
        if let Some((path, file)) = &mut csv {
            write_csv::<Row>(&Row::columns(), [], true, file).map_err(FrameError::io(path))?;
        }
        Ok(Self { path, file, writer, waiting: empty, bytes: 0, csv })
    }

    /// Appends rows. They are written as one Parquet row group with the next rows, if there are few.
    pub fn append<Row: Table>(&mut self, rows: &[Row]) -> Result<(), FrameError> {
        if rows.is_empty() {
            return Ok(());
        }
        let batch = frame(rows).map_err(FrameError::frame(&self.path))?;
        self.bytes += batch.estimated_size();
        self.waiting.vstack_mut_owned(batch).map_err(FrameError::frame(&self.path))?;
        if self.bytes >= GROUP_BYTES {
            self.flush()?;
        }
        if let Some((path, file)) = &mut self.csv {
            write_csv(&Row::columns(), rows, false, file).map_err(FrameError::io(path))?;
        }
        Ok(())
    }

    /// Writes the rows that are waiting as one Parquet row group.
    pub fn flush(&mut self) -> Result<(), FrameError> {
        self.bytes = 0;
        let empty = self.waiting.clear();
        let mut group = std::mem::replace(&mut self.waiting, empty);
        if group.height() == 0 {
            return Ok(());
        }
        // Each chunk of a column would be a group.
        group.rechunk_mut();
        let written = self.writer.write_batch(&group);
        written.map_err(FrameError::written(&self.path, &self.file))
    }

    /// Completes the files and renames them to their final names.
    pub fn finish(mut self) -> Result<Vec<PathBuf>, FrameError> {
        self.flush()?;
        let written = self.writer.finish();
        written.map_err(FrameError::written(&self.path, &self.file))?;
        let files = [(self.path, self.file)].into_iter().chain(self.csv);
        files
            .map(|(path, file)| file.finish().map_err(FrameError::io(&path)).map(|()| path))
            .collect()
    }
}

/// Writes a table as Parquet and CSV into the existing directory `dir`. The Parquet metadata contains the
/// documentation of the columns and `metadata`. Files are written atomically.
///
/// # Errors
/// [`FrameError`] if a file cannot be written.
pub fn write<Row: Table>(
    dir: &Path,
    rows: &[Row],
    metadata: &[(String, String)],
) -> Result<Vec<PathBuf>, FrameError> {
    let mut files = Files::create::<Row>(dir, metadata, true)?;
    files.append(rows)?;
    files.finish()
}

fn key_values(table: &TableInfo, metadata: &[(String, String)]) -> KeyValueMetadata {
    let pair = |key: &str, value: &str| (key.to_string(), value.to_string());
    let mut pairs = vec![pair("table", table.name), pair("about", table.row)];
    for column in &table.columns {
        pairs.push(pair(&format!("unit:{}", column.name), column.unit));
        pairs.push(pair(&format!("about:{}", column.name), column.meaning));
    }
    pairs.extend_from_slice(metadata);
    KeyValueMetadata::from_static(pairs)
}
