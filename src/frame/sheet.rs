use std::path::{Path, PathBuf};

use polars::io::parquet::write::BatchedWriter;
use polars::prelude::{DataFrame, KeyValueMetadata, ParquetWriter};

use super::build::frame;
use super::column::Column;
use super::{FrameError, Table, csv};
use crate::experiment::RunResult;
use crate::files::Whole;

/// One table as open files: Parquet, and CSV if asked for. They get their names in
/// [`Sheet::finish`], so that a torn file never has the name of a whole one.
pub(super) struct Sheet<Row: 'static> {
    columns: &'static [Column<Row>],
    parquet: Parquet,
    csv: Option<Csv>,
}

struct Parquet {
    path: PathBuf,
    file: Whole,
    writer: BatchedWriter<Whole>,
}

struct Csv {
    path: PathBuf,
    file: Whole,
}

impl<Row> Sheet<Row> {
    /// Creates the files in `dir`. The Parquet metadata gets the columns' units and
    /// meanings as `unit:NAME` and `about:NAME`, and `metadata`.
    pub fn create(
        dir: &Path,
        table: Table,
        columns: &'static [Column<Row>],
        metadata: &[(String, String)],
        csv: bool,
    ) -> Result<Self, FrameError> {
        let empty = |path: &Path| frame(columns, &[]).map_err(FrameError::frame(path));
        let path = dir.join(format!("{}.parquet", table.name()));
        let file = Whole::create(&path).map_err(FrameError::io(&path))?;
        let writer = ParquetWriter::new(file.clone())
            .with_key_value_metadata(Some(key_values(table, columns, metadata)))
            // One thread: results are many and small, and the runs need the cores.
            .set_parallel(false)
            .batched(empty(&path)?.schema())
            .map_err(FrameError::written(&path, &file))?;
        let parquet = Parquet { path, file, writer };
        let csv = if csv { Some(Csv::create(dir, table, &empty(dir)?)?) } else { None };
        Ok(Self { columns, parquet, csv })
    }

    /// Appends rows as one Parquet row group.
    pub fn append(&mut self, rows: &[(&RunResult, &Row)]) -> Result<(), FrameError> {
        if rows.is_empty() {
            return Ok(());
        }
        let Parquet { path, file, writer } = &mut self.parquet;
        let frame = frame(self.columns, rows).map_err(FrameError::frame(path))?;
        writer.write_batch(&frame).map_err(FrameError::written(path, file))?;
        self.csv.as_mut().map_or(Ok(()), |csv| csv.append(&frame, false))
    }

    /// Completes the files and gives them their names.
    pub fn finish(self) -> Result<Vec<PathBuf>, FrameError> {
        let Parquet { path, file, writer } = self.parquet;
        writer.finish().map_err(FrameError::written(&path, &file))?;
        let csv = self.csv.map(|Csv { path, file }| (path, file));
        let files = [(path, file)].into_iter().chain(csv);
        files
            .map(|(path, file)| file.finish().map_err(FrameError::io(&path)).map(|()| path))
            .collect()
    }
}

impl Csv {
    fn create(dir: &Path, table: Table, empty: &DataFrame) -> Result<Self, FrameError> {
        let path = dir.join(format!("{}.csv", table.name()));
        let file = Whole::create(&path).map_err(FrameError::io(&path))?;
        let mut csv = Self { path, file };
        csv.append(empty, true)?;
        Ok(csv)
    }

    fn append(&mut self, frame: &DataFrame, header: bool) -> Result<(), FrameError> {
        csv::append(frame, header, &mut self.file).map_err(FrameError::csv(&self.path))
    }
}

fn key_values<Row>(
    table: Table,
    columns: &[Column<Row>],
    metadata: &[(String, String)],
) -> KeyValueMetadata {
    let mut pairs = vec![
        ("table".to_string(), table.name().to_string()),
        ("about".to_string(), table.about().to_string()),
    ];
    for column in columns {
        pairs.push((format!("unit:{}", column.name), column.unit.to_string()));
        pairs.push((format!("about:{}", column.name), column.about.to_string()));
    }
    pairs.extend_from_slice(metadata);
    KeyValueMetadata::from_static(pairs)
}
