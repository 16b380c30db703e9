use std::path::{Path, PathBuf};

use polars::prelude::{Column, DataFrame, KeyValueMetadata, ParquetWriter, PolarsResult};

use super::FrameError;
use crate::files::Whole;
use crate::report::Value;

/// A row of named values; all rows of a table have the same names in the same order.
pub type NamedRow = Vec<(&'static str, Value)>;

/// The frame of rows of named values. A column has the type of its first value that is
/// there; text if there is none.
///
/// # Errors
/// Only if polars refuses the columns.
pub fn values_frame(rows: &[NamedRow]) -> PolarsResult<DataFrame> {
    let names = rows.first().map_or(Vec::new(), |row| row.iter().map(|(name, _)| *name).collect());
    let column = |(at, name): (usize, &&str)| {
        let values = || rows.iter().map(move |row| &row[at].1);
        let name = (*name).into();
        match values().find(|value| **value != Value::Missing) {
            Some(Value::Integer(_)) => Column::new(name, values().map(integer).collect::<Vec<_>>()),
            Some(Value::Unsigned(_)) => {
                Column::new(name, values().map(unsigned).collect::<Vec<_>>())
            }
            Some(Value::Real(_)) => Column::new(name, values().map(real).collect::<Vec<_>>()),
            _ => Column::new(name, values().map(text).collect::<Vec<_>>()),
        }
    };
    DataFrame::new(rows.len(), names.iter().enumerate().map(column).collect())
}

fn integer(value: &Value) -> Option<i64> {
    if let Value::Integer(value) = value { Some(*value) } else { None }
}

fn unsigned(value: &Value) -> Option<u64> {
    if let Value::Unsigned(value) = value { Some(*value) } else { None }
}

fn real(value: &Value) -> Option<f64> {
    if let Value::Real(value) = value { Some(*value) } else { None }
}

fn text(value: &Value) -> Option<String> {
    (*value != Value::Missing).then(|| value.to_string())
}

/// Writes rows as `STEM.parquet` and `STEM.csv` into `dir`, which must be there; the
/// Parquet metadata gets `metadata`. A file has its name only once it is whole.
///
/// # Errors
/// [`FrameError`] if a file cannot be written.
pub fn write_values(
    dir: &Path,
    stem: &str,
    rows: &[NamedRow],
    metadata: &[(String, String)],
) -> Result<[PathBuf; 2], FrameError> {
    let [parquet, csv] =
        ["parquet", "csv"].map(|extension| dir.join(format!("{stem}.{extension}")));
    let mut frame = values_frame(rows).map_err(FrameError::frame(&parquet))?;
    let mut file = Whole::create(&parquet).map_err(FrameError::io(&parquet))?;
    ParquetWriter::new(&mut file)
        .with_key_value_metadata(Some(KeyValueMetadata::from_static(metadata.to_vec())))
        .finish(&mut frame)
        .map_err(FrameError::written(&parquet, &file))?;
    file.finish().map_err(FrameError::io(&parquet))?;
    let mut file = Whole::create(&csv).map_err(FrameError::io(&csv))?;
    super::csv::append(&frame, true, &mut file).map_err(FrameError::csv(&csv))?;
    file.finish().map_err(FrameError::io(&csv))?;
    Ok([parquet, csv])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn columns_have_the_type_of_their_values() {
        let dir = tempfile::tempdir().expect("a folder");
        let rows = vec![
            vec![("name", Value::from("a")), ("n", Value::Missing), ("x", Value::Real(0.1))],
            vec![("name", Value::from("b")), ("n", Value::Unsigned(7)), ("x", Value::Missing)],
        ];
        let [_, csv] = write_values(dir.path(), "t", &rows, &[]).expect("written");
        assert_eq!(fs::read_to_string(csv).expect("a file"), "name,n,x\na,,0.1\nb,7,\n");
        let frame = values_frame(&rows).expect("a frame");
        assert_eq!(frame.column("n").expect("there").null_count(), 1);
    }
}
