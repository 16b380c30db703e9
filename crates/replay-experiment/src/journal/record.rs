//! Format of a record, which is one line: `CHECK ID STATE JSON`.
//!
//! CHECK is the first 16 hexadecimal digits of the BLAKE3 digest of the rest of the line. The JSON contains no line
//! breaks, so that a reader finds the next record after a damaged record.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::CellId;

const CHECKSUM_DIGITS: usize = 16;
const DONE: &str = "done";
const FAILED: &str = "failed";

/// Outcome of a cell.
#[derive(Clone, Debug)]
pub enum Outcome<R> {
    /// The cell has finished; the value is the recorded part of its result.
    Done(Box<R>),
    /// The cell failed; the value is the reason.
    Failed(String),
}

/// Encodes a record as a line, including the line break.
pub(super) fn encode(
    id: CellId,
    outcome: Result<&impl Serialize, &str>,
) -> Result<String, serde_json::Error> {
    let (state, json) = match outcome {
        Ok(result) => (DONE, serde_json::to_string(result)?),
        Err(reason) => (FAILED, serde_json::to_string(reason)?),
    };
    let body = format!("{id} {state} {json}");
    Ok(format!("{} {body}\n", checksum(body.as_bytes())))
}

/// Parses the beginning of a line, which must not include the line break. Returns the id of the cell, and whether the
/// cell failed; `None` if the line is damaged.
pub(super) fn head(line: &[u8]) -> Option<(CellId, bool)> {
    let (sum, body) = line.split_at_checked(CHECKSUM_DIGITS)?;
    let body = body.strip_prefix(b" ")?;
    if checksum(body).as_bytes() != sum {
        return None;
    }
    let mut fields = str::from_utf8(body).ok()?.splitn(3, ' ');
    Some((fields.next()?.parse().ok()?, fields.next()? == FAILED))
}

/// Decodes the outcome of a cell from a line, which must not include the line break.
pub(super) fn decode<R: DeserializeOwned>(line: &str) -> Result<Outcome<R>, serde_json::Error> {
    let mut fields = line.splitn(4, ' ').skip(2);
    let (state, json) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
    match state {
        FAILED => serde_json::from_str(json).map(Outcome::Failed),
        _ => serde_json::from_str(json).map(Outcome::Done),
    }
}

fn checksum(body: &[u8]) -> String {
    blake3::hash(body).to_hex()[..CHECKSUM_DIGITS].to_string()
}
