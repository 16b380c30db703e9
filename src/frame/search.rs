use std::path::{Path, PathBuf};

use polars::prelude::{Column as Values, DataFrame, KeyValueMetadata, ParquetWriter, PolarsResult};

use super::FrameError;
use crate::experiment::search::SearchRow;
use crate::files::Whole;
use crate::report::{SEARCH_COLUMNS, SearchColumn, SearchKind, Value};

/// The table of a search: a row is an evaluation.
///
/// # Errors
/// Only if polars refuses the columns.
pub fn search_frame(rows: &[SearchRow]) -> PolarsResult<DataFrame> {
    let values = |column: &SearchColumn| {
        let name = column.name.into();
        let cells = rows.iter().map(|row| (column.get)(row));
        match column.kind {
            SearchKind::Text => Values::new(name, cells.map(text).collect::<Vec<_>>()),
            SearchKind::U64 => Values::new(name, cells.map(unsigned).collect::<Vec<_>>()),
            SearchKind::I64 => Values::new(name, cells.map(integer).collect::<Vec<_>>()),
            SearchKind::F64 => Values::new(name, cells.map(real).collect::<Vec<_>>()),
        }
    };
    DataFrame::new(rows.len(), SEARCH_COLUMNS.iter().map(values).collect())
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

fn unsigned(value: Value) -> Option<u64> {
    match value {
        Value::Unsigned(value) => Some(value),
        _ => None,
    }
}

fn integer(value: Value) -> Option<i64> {
    match value {
        Value::Integer(value) => Some(value),
        _ => None,
    }
}

fn real(value: Value) -> Option<f64> {
    match value {
        Value::Real(value) => Some(value),
        _ => None,
    }
}

/// Writes `search.parquet` into a folder, with the columns' units and meanings and
/// `metadata` in it. The file has its name only once it is whole.
///
/// # Errors
/// [`FrameError`] if the file cannot be written.
pub fn write_search(
    dir: &Path,
    metadata: &[(String, String)],
    rows: &[SearchRow],
) -> Result<PathBuf, FrameError> {
    let path = dir.join("search.parquet");
    let mut pairs = vec![
        ("table".to_string(), "search".to_string()),
        ("about".to_string(), "one row per evaluation of a search".to_string()),
    ];
    for column in &SEARCH_COLUMNS {
        pairs.push((format!("unit:{}", column.name), column.unit.to_string()));
        pairs.push((format!("about:{}", column.name), column.about.to_string()));
    }
    pairs.extend_from_slice(metadata);
    let mut frame = search_frame(rows).map_err(FrameError::frame(&path))?;
    let mut file = Whole::create(&path).map_err(FrameError::io(&path))?;
    ParquetWriter::new(&mut file)
        .with_key_value_metadata(Some(KeyValueMetadata::from_static(pairs)))
        .set_parallel(false)
        .finish(&mut frame)
        .map_err(FrameError::written(&path, &file))?;
    file.finish().map_err(FrameError::io(&path))?;
    Ok(path)
}
