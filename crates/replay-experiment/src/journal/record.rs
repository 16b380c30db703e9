//! One record, one line: `CHECK ID STATE JSON`.
//!
//! CHECK is the beginning of the BLAKE3 digest of the rest of the line, in hexadecimal.
//! JSON has no line breaks, so that a reader finds the next record after a damaged one.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::CellId;

const CHECK_DIGITS: usize = 16;
const DONE: &str = "done";
const FAILED: &str = "failed";

/// What became of a cell.
#[derive(Clone, Debug)]
pub enum Outcome<R> {
    /// Its result, as far as it is written down.
    Done(Box<R>),
    /// Why it could not be run.
    Failed(String),
}

/// The line of a record, with its end.
pub(super) fn encode(
    id: CellId,
    outcome: Result<&impl Serialize, &str>,
) -> Result<String, serde_json::Error> {
    let (state, json) = match outcome {
        Ok(result) => (DONE, serde_json::to_string(result)?),
        Err(why) => (FAILED, serde_json::to_string(why)?),
    };
    let body = format!("{id} {state} {json}");
    Ok(format!("{} {body}\n", check(body.as_bytes())))
}

/// Id of a line without its end, and whether the cell failed; `None` if it is damaged.
pub(super) fn head(line: &[u8]) -> Option<(CellId, bool)> {
    let (sum, body) = line.split_at_checked(CHECK_DIGITS)?;
    let body = body.strip_prefix(b" ")?;
    if check(body).as_bytes() != sum {
        return None;
    }
    let mut words = str::from_utf8(body).ok()?.splitn(3, ' ');
    Some((words.next()?.parse().ok()?, words.next()? == FAILED))
}

/// What became of the cell of a line without its end.
pub(super) fn decode<R: DeserializeOwned>(line: &str) -> Result<Outcome<R>, serde_json::Error> {
    let mut words = line.splitn(4, ' ').skip(2);
    let (state, json) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    match state {
        FAILED => serde_json::from_str(json).map(Outcome::Failed),
        _ => serde_json::from_str(json).map(Outcome::Done),
    }
}

fn check(body: &[u8]) -> String {
    blake3::hash(body).to_hex()[..CHECK_DIGITS].to_string()
}
