use std::fmt;
use std::str::FromStr;

/// The share of the best score by which a candidate may be worse and still compete by tie
/// value, then score, then order: 0 (exact ties only) to 1, in millionths. Johnson, Bunde,
/// Leung break exact ties; how much nearly tied candidates are worth is left to try.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Slack {
    millionths: u32,
}

const UNIT: u32 = 1_000_000;

impl Slack {
    /// Exact ties only.
    pub const NONE: Slack = Slack { millionths: 0 };

    /// Whether only exact ties compete.
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }

    /// A number from 0 to 1.
    pub fn share(self) -> f64 {
        f64::from(self.millionths) / f64::from(UNIT)
    }

    /// The highest score that still competes when `best` is the lowest.
    #[inline]
    pub fn admitted(self, best: u64) -> u64 {
        if self.is_none() {
            return best;
        }
        let margin = match best.checked_mul(u64::from(self.millionths)) {
            Some(product) => product / u64::from(UNIT),
            // Not more than `best`, for the slack is at most 1.
            None => (u128::from(best) * u128::from(self.millionths) / u128::from(UNIT)) as u64,
        };
        best.saturating_add(margin)
    }
}

impl fmt::Display for Slack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.share().fmt(f)
    }
}

/// A slack that is no number from 0 to 1 of at most six decimals.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("slack \"{0}\": write a number from 0 to 1 with at most six decimals")]
pub struct SlackError(String);

impl FromStr for Slack {
    type Err = SlackError;

    fn from_str(text: &str) -> Result<Self, SlackError> {
        let error = || SlackError(text.to_string());
        let share: f64 = text.trim().parse().map_err(|_| error())?;
        let millionths = share * f64::from(UNIT);
        let whole = millionths.round();
        if !(0.0..=1.0).contains(&share) || (millionths - whole).abs() > 1e-6 {
            return Err(error());
        }
        Ok(Self { millionths: whole as u32 })
    }
}

/// How the slack is found, as typed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SlackRule {
    /// A number.
    Fixed(Slack),
    /// `auto`: it is tuned during the replay, with the tie vector.
    Auto,
}

impl SlackRule {
    /// The slack where it is given, else none.
    pub fn fixed(self) -> Slack {
        match self {
            SlackRule::Fixed(slack) => slack,
            SlackRule::Auto => Slack::NONE,
        }
    }
}

impl Default for SlackRule {
    fn default() -> Self {
        SlackRule::Fixed(Slack::NONE)
    }
}

impl fmt::Display for SlackRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SlackRule::Fixed(slack) => slack.fmt(f),
            SlackRule::Auto => f.write_str("auto"),
        }
    }
}

impl FromStr for SlackRule {
    type Err = SlackError;

    fn from_str(text: &str) -> Result<Self, SlackError> {
        if text == "auto" { Ok(SlackRule::Auto) } else { text.parse().map(SlackRule::Fixed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_read_and_written() {
        for (text, written) in
            [("0", "0"), ("0.0", "0"), (" 0.05", "0.05"), ("1", "1"), ("1e-6", "0.000001")]
        {
            let slack: Slack = text.parse().expect(text);
            assert_eq!(slack.to_string(), written);
        }
        for bad in ["", "-0.1", "1.1", "0.0000001", "0.0000015", "nan", "inf", "a", "1,0"] {
            assert!(bad.parse::<Slack>().is_err(), "{bad}");
        }
    }

    #[test]
    fn what_binary_fractions_fall_short_of_is_admitted() {
        let slack: Slack = "0.07".parse().expect("a slack");
        assert_eq!([100, 99, 0].map(|best| slack.admitted(best)), [107, 105, 0]);
        assert_eq!(Slack::NONE.admitted(7), 7);
        assert_eq!(slack.admitted(u64::MAX), u64::MAX);
    }

    proptest! {
        #[test]
        fn every_slack_is_itself_again(millionths in 0..=UNIT, best in any::<u64>()) {
            let slack = Slack { millionths };
            prop_assert_eq!(slack.to_string().parse(), Ok(slack));
            let exact = u128::from(best) * u128::from(UNIT + millionths) / u128::from(UNIT);
            prop_assert_eq!(slack.admitted(best), u64::try_from(exact).unwrap_or(u64::MAX));
        }
    }
}
