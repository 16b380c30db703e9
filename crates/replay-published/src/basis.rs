//! Basis of a verdict: the source of the bound, and whether rules of replay were fitted to the printed number.

use replay_engine::naming::texts;

/// Whether, and how, a rule or a network of replay was fitted to a printed number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Sample {
    /// No rule or constant was fitted to the printed number.
    #[default]
    Outside,
    /// The printed number follows from printed constants. replay computes its value from the same constants.
    Implied,
    /// The printed number is in a table on which the constants of the network were calibrated.
    Calibrated,
    /// A rule or a constant was fitted to the printed number.
    Fitted,
}

texts! {
    /// Source of the bound of a verdict.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Bound {
        /// The paper makes a claim in words, and the bound was chosen for replay.
        Ours => "ours",
        /// The paper prints the number or the bound.
        Printed => "printed",
    }
}

texts! {
    /// Class of a judged row.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Class {
        /// Claim in words, with a bound chosen for replay.
        Claim => "claims with a bound chosen for replay",
        /// Printed number that follows from printed constants. replay computes its value from the same constants.
        Implied => "implied by printed constants",
        /// Printed number in a table on which the network was calibrated.
        Calibrated => "on a network calibrated on Table 2",
        /// Printed number to which a rule or a constant was fitted.
        Fitted => "fitted",
        /// Printed number to which no rule or constant was fitted.
        OutOfSample => "printed numbers out of sample",
    }
}

impl Class {
    /// Returns the class of a row. A row with [`Bound::Ours`] is always a claim, because it has no printed number.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_chosen_for_replay_makes_a_claim_of_every_sample() {
        for sample in [Sample::Outside, Sample::Implied, Sample::Calibrated, Sample::Fitted] {
            assert_eq!(Class::new(Bound::Ours, sample), Class::Claim);
        }
        assert_eq!(Class::new(Bound::Printed, Sample::Fitted), Class::Fitted);
        assert_eq!(Class::new(Bound::Printed, Sample::Outside), Class::OutOfSample);
    }
}
