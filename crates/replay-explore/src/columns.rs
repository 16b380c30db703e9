//! Columns of integers as the page reads them: deltas or values as varints, deflated, and base64.

use std::io::Write;

use flate2::{Compression, write::DeflateEncoder};
use serde::Serialize;

/// Description of a column: where its bytes are and how they decode.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ColumnInfo {
    /// Name of the column.
    name: String,
    /// Number of values.
    length: usize,
    /// First byte of the deflated column in the data.
    offset: usize,
    /// Number of deflated bytes.
    bytes: usize,
    /// Number of inflated bytes.
    inflated: usize,
    /// Whether each value is the difference from the value before.
    delta: bool,
    /// Whether 0 encodes an absent value, and `n + 1` the zigzag code `n`.
    nullable: bool,
    /// Whether the inflated bytes are JSON instead of varints.
    json: bool,
}

/// Columns, one after another.
#[derive(Debug, Default)]
pub struct Columns {
    infos: Vec<ColumnInfo>,
    data: Vec<u8>,
}

impl Columns {
    /// Returns the descriptions of the columns.
    pub fn infos(&self) -> &[ColumnInfo] {
        &self.infos
    }

    /// Returns all columns as base64.
    pub fn base64(&self) -> String {
        base64(&self.data)
    }

    /// Adds a column of integers.
    pub fn integers(&mut self, name: impl Into<String>, values: &[i64]) {
        self.shorter(name.into(), values.len(), false, |delta| {
            let mut bytes = Vec::with_capacity(values.len());
            let mut before = 0;
            for &value in values {
                varint(zigzag(if delta { value.wrapping_sub(before) } else { value }), &mut bytes);
                before = value;
            }
            bytes
        });
    }

    /// Adds a column of integers that may be absent; an absent value repeats the value before for the difference.
    pub fn optional(&mut self, name: impl Into<String>, values: &[Option<i64>]) {
        self.shorter(name.into(), values.len(), true, |delta| {
            let mut bytes = Vec::with_capacity(values.len());
            let mut before = 0;
            for value in values {
                match *value {
                    None => varint(0, &mut bytes),
                    Some(value) => {
                        let code = zigzag(if delta { value.wrapping_sub(before) } else { value });
                        varint(code.saturating_add(1), &mut bytes);
                        before = value;
                    }
                }
            }
            bytes
        });
    }

    /// Adds a value as JSON.
    ///
    /// # Errors
    /// [`serde_json::Error`] if the value has no JSON form.
    pub fn json(&mut self, name: &str, value: &impl Serialize) -> serde_json::Result<()> {
        let text = serde_json::to_vec(value)?;
        self.push(ColumnInfo { json: true, ..info(name.to_string(), 1) }, &text, deflated(&text));
        Ok(())
    }

    /// Adds the shorter of the two encodings: values, or differences.
    fn shorter(
        &mut self,
        name: String,
        length: usize,
        nullable: bool,
        encode: impl Fn(bool) -> Vec<u8>,
    ) {
        let [(plain, packed), (deltas, packed_deltas)] = [false, true].map(|delta| {
            let bytes = encode(delta);
            let packed = deflated(&bytes);
            (bytes, packed)
        });
        let delta = packed_deltas.len() < packed.len();
        let (bytes, packed) = if delta { (deltas, packed_deltas) } else { (plain, packed) };
        self.push(ColumnInfo { delta, nullable, ..info(name, length) }, &bytes, packed);
    }

    fn push(&mut self, info: ColumnInfo, inflated: &[u8], packed: Vec<u8>) {
        let (offset, bytes) = (self.data.len(), packed.len());
        self.data.extend(packed);
        self.infos.push(ColumnInfo { offset, bytes, inflated: inflated.len(), ..info });
    }
}

fn info(name: String, length: usize) -> ColumnInfo {
    let (offset, bytes, inflated) = (0, 0, 0);
    ColumnInfo { name, length, offset, bytes, inflated, delta: false, nullable: false, json: false }
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    // Writing to a vector does not fail.
    written.unwrap_or_default()
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for part in bytes.chunks(3) {
        let at = |i: usize| u32::from(part.get(i).copied().unwrap_or_default());
        let code = at(0) << 16 | at(1) << 8 | at(2);
        for i in 0..4 {
            let digit = ALPHABET[(code >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= part.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_zigzag_varints() {
        let mut bytes = Vec::new();
        [0, -1, 1, 64, i64::MIN].map(zigzag).into_iter().for_each(|v| varint(v, &mut bytes));
        assert_eq!(bytes[..4], [0, 1, 2, 0x80]);
        assert_eq!(bytes[4], 1);
        assert_eq!(bytes.len(), 5 + 10);
    }

    #[test]
    fn sorted_columns_are_differences() {
        let mut columns = Columns::default();
        columns.integers("sorted", &(0..1000).map(|i| i * 7).collect::<Vec<_>>());
        columns.integers("small", &[3; 1000]);
        assert!(columns.infos()[0].delta);
        assert!(columns.infos()[0].bytes < 30 && columns.infos()[1].bytes < 30);
        assert_eq!(columns.infos()[1].offset, columns.infos()[0].bytes);
    }

    #[test]
    fn base64_has_padding() {
        let texts = ["", "f", "fo", "foo", "foob"].map(|text| base64(text.as_bytes()));
        assert_eq!(texts, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]);
    }
}
