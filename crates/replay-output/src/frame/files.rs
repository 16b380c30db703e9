use std::path::{Path, PathBuf};

use polars_parquet::write::{
    CompressionOptions, FileWriter, KeyValue, StatisticsOptions, Version, WriteOptions,
    get_dtype_encoding, row_group_iter, schema_to_metadata_key,
};

use super::{FrameError, frame};
use replay_engine::table::{Table, TableInfo, write_csv};
use replay_experiment::files::AtomicFile;

/// Open files of one table: a Parquet file and, on request, a CSV file. [`Files::finish`] renames the files to their
/// final names, so that an incomplete file never has a final name.
pub(super) struct Files {
    path: PathBuf,
    file: AtomicFile,
    writer: FileWriter<AtomicFile>,
    key_values: Vec<KeyValue>,
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
        let options = WriteOptions {
            statistics: StatisticsOptions::default(),
            version: Version::V1,
            compression: CompressionOptions::Zstd(None),
            data_page_size: None,
        };
        let writer = FileWriter::try_new(file.clone(), empty.schema().clone(), options)
            .map_err(FrameError::written(&path, &file))?;
        let mut key_values = key_values(&TableInfo::of::<Row>(), metadata);
        key_values.insert(0, schema_to_metadata_key(empty.schema()));
        let mut csv = csv.then(|| create("csv")).transpose()?;
        if let Some((path, file)) = &mut csv {
            write_csv::<Row>(&Row::columns(), [], true, file).map_err(FrameError::io(path))?;
        }
        Ok(Self { path, file, writer, key_values, csv })
    }

    /// Appends rows as one Parquet row group.
    pub fn append<Row: Table>(&mut self, rows: &[Row]) -> Result<(), FrameError> {
        if rows.is_empty() {
            return Ok(());
        }
        let batch = frame(rows).map_err(FrameError::frame(&self.path))?;
        // The columns are encoded on this thread, because results are numerous and small, and the replays need the cores.
        let encodings = self.writer.schema().iter_values().map(|it| get_dtype_encoding(&it.dtype));
        let fields = self.writer.parquet_schema().fields().to_vec();
        let options = self.writer.options();
        let group = row_group_iter(batch, encodings.collect(), fields, options);
        let written = self.writer.write(rows.len() as u64, group);
        written.map_err(FrameError::written(&self.path, &self.file))?;
        if let Some((path, file)) = &mut self.csv {
            write_csv(&Row::columns(), rows, false, file).map_err(FrameError::io(path))?;
        }
        Ok(())
    }

    /// Completes the files and renames them to their final names.
    pub fn finish(mut self) -> Result<Vec<PathBuf>, FrameError> {
        let written = self.writer.end(Some(self.key_values));
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

fn key_values(table: &TableInfo, metadata: &[(String, String)]) -> Vec<KeyValue> {
    let pair =
        |key: &str, value: &str| KeyValue { key: key.to_string(), value: Some(value.to_string()) };
    let mut pairs = vec![pair("table", table.name), pair("about", table.row)];
    for column in &table.columns {
        pairs.push(pair(&format!("unit:{}", column.name), column.unit));
        pairs.push(pair(&format!("about:{}", column.name), column.meaning));
    }
    pairs.extend(metadata.iter().map(|(key, value)| pair(key, value)));
    pairs
}
