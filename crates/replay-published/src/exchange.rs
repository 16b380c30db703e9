//! Swaps of an audit: the values of rows after two strategies have been exchanged.

use std::fmt::Display;

use super::{Check, Measured, StrategySwap, VerifyError};

/// Adds one swap to a check for every exchange of two strategies that changes the value of the check. `judge` computes
/// the checks after two strategies have been exchanged; the order of the checks must not change.
pub(super) fn with_swaps<T: Display + Clone>(
    mut checks: Vec<Check>,
    exchanges: impl IntoIterator<Item = [T; 2]>,
    mut judge: impl FnMut([T; 2]) -> Result<Vec<Check>, VerifyError>,
) -> Result<Vec<Check>, VerifyError> {
    for pair in exchanges {
        let exchanged = judge(pair.clone())?;
        debug_assert_eq!(exchanged.len(), checks.len());
        for (check, swapped) in checks.iter_mut().zip(exchanged) {
            let (Measured::Judged(own), Measured::Judged(ours)) = (&check.ours, &swapped.ours)
            else {
                continue;
            };
            if own != ours {
                let with = format!("{} and {} exchanged", pair[0], pair[1]);
                check.swaps.push(StrategySwap { with, ours: *ours, margin: swapped.margin });
            }
        }
    }
    Ok(checks)
}

/// Returns the strategy that is exchanged with `name`; returns `name` itself if `name` is not exchanged.
pub(super) fn substitute<'a>(exchanged: Option<[&'a str; 2]>, name: &'a str) -> &'a str {
    match exchanged {
        Some([a, b]) if name == a => b,
        Some([a, b]) if name == b => a,
        _ => name,
    }
}

/// Iterates over all pairs of distinct strategies, in the order of the list.
pub(super) fn pairs<'a, T: Clone>(strategies: &'a [T]) -> impl Iterator<Item = [T; 2]> + 'a {
    let others =
        |(i, a): (usize, &'a T)| strategies[i + 1..].iter().map(move |b| [a.clone(), b.clone()]);
    strategies.iter().enumerate().flat_map(others)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tolerance;
    use crate::claim::claim;

    #[test]
    fn only_an_exchange_that_changes_the_value_is_a_swap() {
        let check = |ours| claim("Fig. 1", "8x8", "a over b", "1", ours, Tolerance::Below);
        let rows = |[a, b]: [f64; 2]| Ok(vec![check(a / b)?, check(0.5)?, check(a)?]);
        let strategies = ["a", "b", "c"];
        let value =
            |name: &str| [2.0, 4.0, 8.0][strategies.iter().position(|s| *s == name).unwrap_or(0)];
        let exchanged = |[a, b]: [&'static str; 2]| {
            let of = |name| substitute(Some([a, b]), name);
            rows([value(of("a")), value(of("b"))])
        };
        let checks = rows([2.0, 4.0]).expect("rows");
        let checks = with_swaps(checks, pairs(&strategies), exchanged).expect("rows");
        let swaps = |check: &Check| -> Vec<(String, f64)> {
            check.swaps.iter().map(|swap| (swap.with.clone(), swap.ours)).collect()
        };
        let with = |text: &str, ours| (format!("{text} exchanged"), ours);
        assert_eq!(
            swaps(&checks[0]),
            [with("a and b", 2.0), with("a and c", 2.0), with("b and c", 0.25)]
        );
        assert_eq!(swaps(&checks[1]), []);
        assert_eq!(swaps(&checks[2]), [with("a and b", 4.0), with("a and c", 8.0)]);
    }
}
