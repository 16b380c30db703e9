use std::io::Write;

use polars::prelude::{AnyValue, DataFrame};

/// Appends the rows of a frame as CSV (RFC 4180 with line feeds), after a line of the columns'
/// names if `header` says so. Nulls are empty; a real number has the fewest digits that read
/// back as the same number, and always a point or an exponent.
pub(super) fn append(frame: &DataFrame, header: bool, out: impl Write) -> Result<(), csv::Error> {
    let mut writer = csv::Writer::from_writer(out);
    if header {
        writer.write_record(frame.columns().iter().map(|column| column.name().as_str()))?;
    }
    let mut digits = Vec::new();
    for row in 0..frame.height() {
        for column in frame.columns() {
            match column.get(row) {
                Ok(AnyValue::String(text)) => writer.write_field(text)?,
                Ok(AnyValue::Float64(value)) if value.is_finite() => {
                    digits.clear();
                    serde_json::to_writer(&mut digits, &value).map_err(std::io::Error::from)?;
                    writer.write_field(&digits)?;
                }
                Ok(AnyValue::Null) | Err(_) => writer.write_field("")?,
                Ok(value) => writer.write_field(value.to_string())?,
            }
        }
        writer.write_record(None::<&[u8]>)?;
    }
    Ok(writer.flush()?)
}
