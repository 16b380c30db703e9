//! What a verdict rests on: where the bound comes from, and whether rules were chosen on the number.

use std::fmt;

/// Whether a printed number is independent of the rules and networks compared with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Sample {
    /// Nothing was chosen on it.
    #[default]
    Outside,
    /// It follows from constants that ours is computed from.
    Implied,
    /// Of a network whose constants were calibrated on the table that it belongs to.
    Calibrated,
    /// A rule or a constant was chosen on it.
    Fitted,
}

/// Who states the bound of a verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// The paper says it in words; the bound is ours.
    Ours,
    /// The paper prints the number.
    Printed,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Bound::Ours => "ours",
            Bound::Printed => "printed",
        })
    }
}

/// The classes of judged rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// A claim in words, with a bound of ours.
    Claim,
    /// A printed number that follows from constants that ours is computed from.
    Implied,
    /// A printed number of a network calibrated on its table.
    Calibrated,
    /// A printed number on which a rule or constant was chosen.
    Fitted,
    /// A printed number on which nothing was chosen.
    OutOfSample,
}

impl Class {
    /// Every class, in the order of summaries.
    pub const ALL: [Self; 5] =
        [Self::Claim, Self::Implied, Self::Calibrated, Self::Fitted, Self::OutOfSample];

    /// The class of a row. A bound of ours decides first: such a row claims nothing about a number.
    pub fn new(bound: Bound, sample: Sample) -> Self {
        match (bound, sample) {
            (Bound::Ours, _) => Self::Claim,
            (Bound::Printed, Sample::Implied) => Self::Implied,
            (Bound::Printed, Sample::Calibrated) => Self::Calibrated,
            (Bound::Printed, Sample::Fitted) => Self::Fitted,
            (Bound::Printed, Sample::Outside) => Self::OutOfSample,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Class::Claim => "claims with a bound of ours",
            Class::Implied => "implied by printed constants",
            Class::Calibrated => "on a network calibrated on Table 2",
            Class::Fitted => "fitted",
            Class::OutOfSample => "printed numbers out of sample",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_of_ours_is_a_claim_whatever_was_chosen() {
        for sample in [Sample::Outside, Sample::Implied, Sample::Calibrated, Sample::Fitted] {
            assert_eq!(Class::new(Bound::Ours, sample), Class::Claim);
        }
        assert_eq!(Class::new(Bound::Printed, Sample::Fitted), Class::Fitted);
        assert_eq!(Class::new(Bound::Printed, Sample::Outside), Class::OutOfSample);
    }
}
