//! Converts Arrow tables of jobs to traces in the Standard Workload Format.

use std::fmt::Write;

use polars_arrow::array::{Array, PrimitiveArray, StructArray};
use polars_arrow::datatypes::{ArrowDataType, PhysicalType, PrimitiveType, TimeUnit};
use polars_arrow::ffi::{ArrowArrayStream, ArrowArrayStreamReader};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::error::DataError;

/// Names of columns. Each column name is given with the index (from 0) of the field of the Standard Workload Format
/// that the column fills. Columns with the same field are alternatives.
pub const COLUMNS: [(&str, usize); 14] = [
    ("job", 0),
    ("submit", 1),
    ("wait", 2),
    ("run", 3),
    ("run_time", 3),
    ("size", 4),
    ("processors", 4),
    ("estimate", 8),
    ("status", 10),
    ("user", 11),
    ("group", 12),
    ("application", 13),
    ("queue", 14),
    ("partition", 15),
];

/// Number of fields of a record.
const FIELDS: usize = 18;

/// Reads all batches of an object with an Arrow stream.
fn batches(table: &Bound<'_, PyAny>) -> PyResult<Vec<Box<dyn Array>>> {
    let Ok(capsule) = table.call_method0("__arrow_c_stream__") else {
        return Err(PyTypeError::new_err(format!(
            "{} is not a table with an Arrow stream (__arrow_c_stream__); pandas supports the interface from version 2.2",
            table.get_type().name()?
        )));
    };
    let capsule = capsule.cast_into::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast::<ArrowArrayStream>();
    let mut arrays = Vec::new();
    // SAFETY: `pointer_checked` has checked the name of the capsule. For a capsule with this name, the Arrow PyCapsule
    // interface guarantees that the pointer refers to a valid stream for the lifetime of the capsule. The capsule
    // outlives the reader and releases the stream.
    #[allow(unsafe_code)]
    unsafe {
        let mut reader =
            ArrowArrayStreamReader::try_new(&mut *pointer.as_ptr()).map_err(invalid)?;
        while let Some(array) = reader.next() {
            arrays.push(array.map_err(invalid)?);
        }
    }
    Ok(arrays)
}

/// Converts an error of the Arrow reader to an exception.
fn invalid(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Reads a column of numbers. Times and durations are converted to seconds and rounded down.
fn numbers(name: &str, array: &dyn Array) -> PyResult<Vec<Option<i64>>> {
    let per_second = match array.dtype() {
        ArrowDataType::Timestamp(unit, _) | ArrowDataType::Duration(unit) => match unit {
            TimeUnit::Second => 1,
            TimeUnit::Millisecond => 1_000,
            TimeUnit::Microsecond => 1_000_000,
            TimeUnit::Nanosecond => 1_000_000_000,
        },
        _ => 1,
    };
    macro_rules! of {
        ($type:ty, $convert:expr) => {
            array.as_any().downcast_ref::<PrimitiveArray<$type>>().map(|values| {
                let convert: fn($type) -> Option<i64> = $convert;
                values
                    .iter()
                    .map(|value| value.and_then(|&value| convert(value)))
                    .collect::<Vec<_>>()
            })
        };
    }
    let values = match array.dtype().to_physical_type() {
        PhysicalType::Primitive(PrimitiveType::Int8) => of!(i8, |it| Some(it.into())),
        PhysicalType::Primitive(PrimitiveType::Int16) => of!(i16, |it| Some(it.into())),
        PhysicalType::Primitive(PrimitiveType::Int32) => of!(i32, |it| Some(it.into())),
        PhysicalType::Primitive(PrimitiveType::Int64) => of!(i64, Some),
        PhysicalType::Primitive(PrimitiveType::UInt8) => of!(u8, |it| Some(it.into())),
        PhysicalType::Primitive(PrimitiveType::UInt16) => of!(u16, |it| Some(it.into())),
        PhysicalType::Primitive(PrimitiveType::UInt32) => of!(u32, |it| Some(it.into())),
        PhysicalType::Primitive(PrimitiveType::UInt64) => of!(u64, |it| i64::try_from(it).ok()),
        PhysicalType::Primitive(PrimitiveType::Float32) => of!(f32, |it| rounded(it.into())),
        PhysicalType::Primitive(PrimitiveType::Float64) => of!(f64, rounded),
        PhysicalType::Null => Some(vec![None; array.len()]),
        _ => None,
    };
    let Some(values) = values else {
        let dtype = array.dtype();
        return Err(PyTypeError::new_err(format!(
            "column {name} has type {dtype:?}; use numbers, times or durations"
        )));
    };
    Ok(values.into_iter().map(|it| it.map(|it: i64| it.div_euclid(per_second))).collect())
}

/// Exclusive upper limit of the times of a trace, in seconds.
const MAX_SECONDS: u64 = 1 << 53;

/// Checks the value of a column that fills the field `place`. Rows are counted from 0, as in data frames.
fn checked(name: &str, place: usize, row: usize, value: Option<i64>) -> PyResult<Option<i64>> {
    let wrong = |what: String| Err(DataError::new_err(format!("column {name}, row {row}: {what}")));
    match (place, value) {
        (1 | 3 | 4, None) => {
            wrong("the value is null; every job needs submit, run and size".into())
        }
        (4, Some(size)) if u32::try_from(size).is_err() => {
            wrong(format!("{size} is not a number of processors"))
        }
        (1 | 2 | 3 | 8, Some(time)) if time.unsigned_abs() >= MAX_SECONDS => {
            wrong(format!("{time} s is out of range; times must be below 2^53 s"))
        }
        _ => Ok(value),
    }
}

/// Rounds a number; `None` if the number is not finite.
fn rounded(value: f64) -> Option<i64> {
    value.is_finite().then(|| value.round() as i64)
}

/// Writes the rows of a table as records, ordered by submission time. Timestamps are converted to seconds since the first
/// submission.
pub fn records(table: &Bound<'_, PyAny>, processors: u32) -> PyResult<String> {
    let mut rows: Vec<[Option<i64>; FIELDS]> = Vec::new();
    let mut dated = false;
    for batch in batches(table)? {
        let Some(batch) = batch.as_any().downcast_ref::<StructArray>() else {
            return Err(PyTypeError::new_err("the Arrow stream has no columns"));
        };
        let from = rows.len();
        rows.resize(from + batch.len(), [None; FIELDS]);
        let mut filled = [""; FIELDS];
        for (field, array) in batch.fields().iter().zip(batch.values()) {
            let of_name = |(name, _): &&(&str, usize)| *name == field.name.as_str();
            let Some(&(name, place)) = COLUMNS.iter().find(of_name) else { continue };
            let other = std::mem::replace(&mut filled[place], name);
            if !other.is_empty() {
                return Err(DataError::new_err(format!(
                    "columns {other} and {name} have the same meaning; remove one"
                )));
            }
            dated |= place == 1 && matches!(array.dtype(), ArrowDataType::Timestamp(..));
            for (index, value) in (from..).zip(numbers(name, array.as_ref())?) {
                rows[index][place] = checked(name, place, index, value)?;
            }
        }
        for (names, place) in [("submit", 1), ("run", 3), ("size", 4)] {
            if filled[place].is_empty() {
                let known: Vec<&str> = batch.fields().iter().map(|it| it.name.as_str()).collect();
                let message = format!("no column {names}; the table has {}", known.join(", "));
                return Err(DataError::new_err(message));
            }
        }
    }
    // The sort is stable: jobs with the same submission time keep their order.
    rows.sort_by_key(|row| row[1]);
    let origin = if dated { rows.iter().find_map(|row| row[1]).unwrap_or(0) } else { 0 };
    let mut text = format!("; Version: 2.2\n; MaxProcs: {processors}\n");
    if dated {
        text += &format!("; UnixStartTime: {origin}\n");
    }
    for (number, mut row) in (1..).zip(rows) {
        row[0] = row[0].or(Some(number));
        row[1] = row[1].map(|submit| submit - origin);
        row[7] = row[4];
        row[10] = row[10].or(Some(1));
        let fields = row.map(|value| value.unwrap_or(-1).to_string());
        let _ = writeln!(text, "{}", fields.join(" "));
    }
    Ok(text)
}
