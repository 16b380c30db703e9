use std::path::{Path, PathBuf};

use polars::io::parquet::write::{BatchedWriter, KeyValueMetadata};
use polars::prelude::ParquetWriter;

use super::{FrameError, frame};
use replay_engine::table::{Table, TableInfo, write_csv};
use replay_experiment::files::AtomicFile;

/// Open files of one table: a Parquet file and, on request, a CSV file. [`Files::finish`] renames the files to their
/// final names, so that an incomplete file never has a final name.
pub(super) struct Files {
    path: PathBuf,
    file: AtomicFile,
    writer: BatchedWriter<AtomicFile>,
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
        Ok(Self { path, file, writer, csv })
    }

    /// Appends rows as one Parquet row group.
    pub fn append<Row: Table>(&mut self, rows: &[Row]) -> Result<(), FrameError> {
        if rows.is_empty() {
            return Ok(());
        }
        let batch = frame(rows).map_err(FrameError::frame(&self.path))?;
        let written = self.writer.write_batch(&batch);
        written.map_err(FrameError::written(&self.path, &self.file))?;
        if let Some((path, file)) = &mut self.csv {
            write_csv(&Row::columns(), rows, false, file).map_err(FrameError::io(path))?;
        }
        Ok(())
    }

    /// Completes the files and renames them to their final names.
    pub fn finish(self) -> Result<Vec<PathBuf>, FrameError> {
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
