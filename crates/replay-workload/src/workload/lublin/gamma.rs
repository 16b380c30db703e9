//! Gamma distributions, from which arrival and run times are drawn.

use super::ParameterError;
use rand_distr::Gamma;
use serde::Serialize;

/// Maximum natural logarithm of a limit on durations. A duration of e^30 s is 340,000 years, and the sum of a hundred
/// thousand such durations still fits in 64 bits.
pub(super) const MAX_LOG_LIMIT: f64 = 30.0;

/// Number of draws above a limit after which the limit is treated as unreachable. With the published constants, fewer
/// than one draw in fifty is rejected.
pub(super) const MAX_DRAWS: u32 = 10_000;

/// A gamma distribution: mean `shape * scale`, variance `shape * scale^2`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GammaParameters {
    /// Shape, alpha in the paper; positive.
    pub shape: f64,
    /// Scale, beta in the paper; positive, in the unit of the drawn value.
    pub scale: f64,
}

impl GammaParameters {
    /// Creates a distribution from its shape and scale.
    #[must_use]
    pub const fn new(shape: f64, scale: f64) -> Self {
        Self { shape, scale }
    }

    /// Returns the distribution to draw from. Errors use `names` as the names of shape and scale.
    pub(super) fn distribution(
        self,
        names: [&'static str; 2],
    ) -> Result<Gamma<f64>, ParameterError> {
        for (parameter, value) in names.into_iter().zip([self.shape, self.scale]) {
            check(parameter, value, "positive and finite", |v| v > 0.0)?;
        }
        // Shape and scale are finite and positive here, so an error can only mean that the scale cannot be represented.
        Gamma::new(self.shape, self.scale).map_err(|_| ParameterError {
            parameter: names[1],
            value: self.scale,
            expected: "representable",
        })
    }
}

/// Checks that a value is finite and fulfils a condition.
pub(super) fn check(
    parameter: &'static str,
    value: f64,
    expected: &'static str,
    holds: impl Fn(f64) -> bool,
) -> Result<(), ParameterError> {
    if value.is_finite() && holds(value) {
        return Ok(());
    }
    Err(ParameterError { parameter, value, expected })
}

/// Checks that the natural logarithm of the longest duration is above 0 and at most 30.
pub(super) fn check_log_limit(parameter: &'static str, value: f64) -> Result<(), ParameterError> {
    check(parameter, value, "above 0 and at most 30", |v| v > 0.0 && v <= MAX_LOG_LIMIT)
}

/// Checks that a value is a probability.
pub(super) fn check_probability(parameter: &'static str, value: f64) -> Result<(), ParameterError> {
    check(parameter, value, "a probability from 0 to 1", |v| (0.0..=1.0).contains(&v))
}

/// Draws until a value is at most `limit`. Returns `None` after [`MAX_DRAWS`] values above the limit.
pub(super) fn draw_up_to(limit: f64, mut draw: impl FnMut() -> f64) -> Option<f64> {
    (0..MAX_DRAWS).map(|_| draw()).find(|&value| value <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_parameters_are_named() {
        for (shape, scale, wrong) in
            [(0.0, 1.0, "a"), (f64::NAN, 1.0, "a"), (1.0, -1.0, "b"), (1.0, f64::INFINITY, "b")]
        {
            let error = GammaParameters::new(shape, scale).distribution(["a", "b"]);
            assert_eq!(error.unwrap_err().parameter, wrong, "{shape} {scale}");
        }
        assert!(GammaParameters::new(2.0, 3.0).distribution(["a", "b"]).is_ok());
    }

    #[test]
    fn drawing_gives_up_only_when_all_values_are_too_large() {
        assert_eq!(draw_up_to(1.0, || 2.0), None);
        let mut value = 3.0;
        let next = || {
            value -= 1.0;
            value
        };
        assert_eq!(draw_up_to(1.0, next), Some(1.0));
    }
}
