//! Conversion of column values to text.

use std::fmt::Write;

use polars_arrow::array::{
    Array, BinaryViewArray, BooleanArray, FixedSizeListArray, ListArray, PrimitiveArray,
    Utf8ViewArray,
};
use polars_arrow::datatypes::{ArrowDataType, TimeUnit};
use polars_arrow::types::NativeType;

use replay_workload::workload::civil;

/// Returns whether columns of this type are supported.
pub(super) fn is_known(dtype: &ArrowDataType) -> bool {
    use ArrowDataType as D;
    match dtype {
        D::Null | D::Boolean | D::Utf8View | D::BinaryView => true,
        D::Int8 | D::Int16 | D::Int32 | D::Int64 => true,
        D::UInt8 | D::UInt16 | D::UInt32 | D::UInt64 => true,
        D::Float32 | D::Float64 | D::Decimal(..) => true,
        D::Date32 | D::Timestamp(..) | D::Duration(_) => true,
        D::LargeList(inner) | D::FixedSizeList(inner, _) => is_known(&inner.dtype),
        _ => false,
    }
}

/// Function that writes the value at an index of an array as text.
type Format<'a> = Box<dyn Fn(usize, &mut String) + 'a>;

/// The values of a column as text, in order.
pub(super) struct Column<'a> {
    arrays: std::vec::IntoIter<(usize, Format<'a>)>,
    now: Option<(usize, Format<'a>)>,
    index: usize,
}

impl<'a> Column<'a> {
    pub fn new(arrays: &'a [Box<dyn Array>]) -> Column<'a> {
        let arrays: Vec<_> =
            arrays.iter().map(|array| (array.len(), format_of(array.as_ref()))).collect();
        Column { arrays: arrays.into_iter(), now: None, index: 0 }
    }

    /// Appends the next value to `out`.
    pub fn next(&mut self, out: &mut String) {
        loop {
            match &self.now {
                Some((length, format)) if self.index < *length => {
                    format(self.index, out);
                    self.index += 1;
                    return;
                }
                _ => {
                    self.now = self.arrays.next();
                    self.index = 0;
                    if self.now.is_none() {
                        return;
                    }
                }
            }
        }
    }
}

/// Returns a function that writes the values of an array as text; for unsupported types, the text is empty.
fn format_of(array: &dyn Array) -> Format<'_> {
    use ArrowDataType as D;
    match array.dtype() {
        D::Boolean => each::<BooleanArray>(array, |array, i, out| {
            out.push_str(if array.value(i) { "true" } else { "false" });
        }),
        D::Utf8View => each::<Utf8ViewArray>(array, |array, i, out| out.push_str(array.value(i))),
        D::BinaryView => each::<BinaryViewArray>(array, |array, i, out| {
            out.push_str(&String::from_utf8_lossy(array.value(i)));
        }),
        D::Int8 => number::<i8>(array),
        D::Int16 => number::<i16>(array),
        D::Int32 => number::<i32>(array),
        D::Int64 => number::<i64>(array),
        D::UInt8 => number::<u8>(array),
        D::UInt16 => number::<u16>(array),
        D::UInt32 => number::<u32>(array),
        D::UInt64 => number::<u64>(array),
        D::Float32 => values::<f32>(array, |value, out| real(f64::from(value), out)),
        D::Float64 => values::<f64>(array, real),
        D::Decimal(_, scale) => {
            let scale = 10f64.powi((*scale).min(60) as i32);
            values::<i128>(array, move |value, out| real(value as f64 / scale, out))
        }
        D::Date32 => values::<i32>(array, |day, out| moment(i64::from(day) * 86_400, "", out)),
        D::Timestamp(unit, zone) => {
            let (per_second, zone) = (per_second(*unit), if zone.is_some() { "Z" } else { "" });
            values::<i64>(array, move |value, out| moment(value.div_euclid(per_second), zone, out))
        }
        D::Duration(unit) => {
            let per_second = per_second(*unit) as f64;
            values::<i64>(array, move |value, out| real(value as f64 / per_second, out))
        }
        D::LargeList(_) => {
            let items = array.as_any().downcast_ref::<ListArray<i64>>();
            let Some((lists, items)) =
                items.map(|lists| (lists, format_of(lists.values().as_ref())))
            else {
                return Box::new(|_, _| {});
            };
            Box::new(move |i, out| {
                if !lists.is_null(i) {
                    let (start, end) = lists.offsets().start_end(i);
                    list(start..end, &items, out);
                }
            })
        }
        D::FixedSizeList(..) => {
            let items = array.as_any().downcast_ref::<FixedSizeListArray>();
            let Some((lists, items)) =
                items.map(|lists| (lists, format_of(lists.values().as_ref())))
            else {
                return Box::new(|_, _| {});
            };
            Box::new(move |i, out| {
                if !lists.is_null(i) {
                    list(i * lists.size()..(i + 1) * lists.size(), &items, out);
                }
            })
        }
        _ => Box::new(|_, _| {}),
    }
}

/// Appends the items that are not null, separated by commas.
fn list(items: std::ops::Range<usize>, format: &Format<'_>, out: &mut String) {
    for i in items {
        let before = out.len();
        format(i, out);
        if out.len() > before {
            out.push(',');
        }
    }
    // Remove the comma after the last item.
    if out.ends_with(',') {
        out.pop();
    }
}

fn each<'a, A: Array + 'static>(
    array: &'a dyn Array,
    format: impl Fn(&A, usize, &mut String) + 'a,
) -> Format<'a> {
    let array = array.as_any().downcast_ref::<A>();
    Box::new(move |i, out| {
        if let Some(array) = array.filter(|array| !array.is_null(i)) {
            format(array, i, out);
        }
    })
}

fn values<'a, T: NativeType>(
    array: &'a dyn Array,
    format: impl Fn(T, &mut String) + 'a,
) -> Format<'a> {
    each::<PrimitiveArray<T>>(array, move |array, i, out| format(array.value(i), out))
}

fn number<T: NativeType + std::fmt::Display>(array: &dyn Array) -> Format<'_> {
    values::<T>(array, |value, out| {
        // Writing to memory does not fail.
        let _ = write!(out, "{value}");
    })
}

/// Appends a finite number. For NaN and infinity, appends nothing, because pandas writes missing values as NaN.
fn real(value: f64, out: &mut String) {
    if value.is_finite() {
        let _ = write!(out, "{value}");
    }
}

/// Appends seconds since 1970 as `2026-03-01T08:00:00`.
fn moment(seconds: i64, zone: &str, out: &mut String) {
    let (day, clock) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, date) = civil(day);
    let (h, m, s) = (clock / 3600, clock / 60 % 60, clock % 60);
    let _ = write!(out, "{year:04}-{month:02}-{date:02}T{h:02}:{m:02}:{s:02}{zone}");
}

fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}
