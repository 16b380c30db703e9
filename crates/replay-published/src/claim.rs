//! Claims that a paper makes in words.

use super::{Check, Measured, Sample, Tolerance, VerifyError};

/// Creates a row that compares a number with the bound of a claim in words.
///
/// # Errors
/// [`VerifyError::Table`] if `bound` is not a number.
pub fn claim(
    figure: &str,
    streams: &str,
    what: &str,
    bound: &str,
    ours: f64,
    tolerance: Tolerance,
) -> Result<Check, VerifyError> {
    let published =
        bound.parse().map_err(|_| VerifyError::Table(format!("\"{bound}\" is not a number")))?;
    Ok(Check {
        suite: "",
        figure: figure.to_string(),
        workload: streams.to_string(),
        log: None,
        what: what.to_string(),
        printed: bound.to_string(),
        published,
        ours: Measured::Judged(ours),
        margin: 0.0,
        tolerance,
        note: String::new(),
        is_claim: true,
        known: None,
        swaps: Vec::new(),
        over_packets: None,
        sample: Sample::Outside,
        printed_bound: false,
    })
}
