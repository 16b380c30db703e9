use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use replay_core::allocator::centre::{
    Slack, SlackError, SlackRule, TieBreaking, TieRule, TieVector, TieVectorError,
};

/// What a search tries: a tie vector, and how nearly tied candidates must be to compete by
/// it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Candidate {
    /// The vector.
    pub vector: TieVector,
    /// The slack.
    pub slack: Slack,
}

impl Candidate {
    /// With the vector reduced: candidates of one ratio and slack are one strategy.
    pub fn reduced(self) -> Self {
        Self { vector: self.vector.reduced(), ..self }
    }

    /// How an allocator breaks ties by it.
    pub fn tie_breaking(self) -> TieBreaking {
        TieBreaking { tie: TieRule::Vector(self.vector), slack: SlackRule::Fixed(self.slack) }
    }

    /// How likely two candidates are to choose the same: the nearer their places, the likelier. Near each other are
    /// candidates of one slack, then those of three scan radii, then those in which BF weighs as much beside the
    /// other factors, then WF. Few radii, because each has sums of its own.
    pub fn place(self) -> impl PartialOrd + Copy {
        let TieVector { scan_radius, available, wall, border } = self.vector;
        let [available, wall, border] =
            [available, wall, border].map(|factor| f64::from(factor.unsigned_abs()));
        let all = (available + wall + border).max(1.0);
        (self.slack, scan_radius.saturating_sub(1) / 3, border / all, wall / all)
    }

    /// `SR,AF,WF,BF`, or `SR,AF,WF,BF@SLACK`; without a slack it is `usual`.
    ///
    /// # Errors
    /// [`CandidateError`] if a part is not what it should be.
    pub fn parse(text: &str, usual: Slack) -> Result<Self, CandidateError> {
        let Some((vector, slack)) = text.split_once('@') else {
            return Ok(Self { vector: text.parse()?, slack: usual });
        };
        Ok(Self { vector: vector.parse()?, slack: slack.parse()? })
    }
}

/// Exact ties only.
impl From<TieVector> for Candidate {
    fn from(vector: TieVector) -> Self {
        Self { vector, slack: Slack::NONE }
    }
}

impl FromStr for Candidate {
    type Err = CandidateError;

    fn from_str(text: &str) -> Result<Self, CandidateError> {
        Self::parse(text, Slack::NONE)
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.vector.fmt(f)?;
        if self.slack.is_none() { Ok(()) } else { write!(f, "@{}", self.slack) }
    }
}

/// As it is written.
impl Serialize for Candidate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Candidate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A candidate that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CandidateError {
    /// Its vector.
    #[error(transparent)]
    Vector(#[from] TieVectorError),
    /// Its slack.
    #[error(transparent)]
    Slack(#[from] SlackError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_read_and_written() {
        let candidate: Candidate = "2,26,40,12@0.10".parse().expect("a candidate");
        assert_eq!(candidate.reduced().to_string(), "2,13,20,6@0.1");
        assert_eq!(candidate.to_string().parse(), Ok(candidate));
        let plain: Candidate = "2,13,20,6".parse().expect("a candidate");
        assert_eq!((plain.slack, plain.to_string().as_str()), (Slack::NONE, "2,13,20,6"));
        assert_eq!(Candidate::parse("2,13,20,6", candidate.slack), Ok(candidate.reduced()));
        for bad in ["2,13,20@0.1", "2,13,20,6@", "2,13,20,6@2", "2,13,20,6@0.1@0.1", "@0.1"] {
            assert!(bad.parse::<Candidate>().is_err(), "{bad}");
        }
    }

    #[test]
    fn alike_candidates_are_near_each_other() {
        let expected =
            ["2,4,1,0", "1,1,1,0", "3,4,1,4", "4,1,0,0", "9,0,0,1", "1,0,1,0@0.1", "1,0,0,1@0.1"];
        let mut candidates = expected.map(|one| one.parse::<Candidate>().expect("a candidate"));
        candidates.reverse();
        candidates.sort_by(|one, other| {
            one.place().partial_cmp(&other.place()).expect("numbers that compare")
        });
        assert_eq!(candidates.map(|one| one.to_string()), expected);
        // What only scales all factors, which chooses the same, is in the same place.
        let [once, twice] =
            ["2,1,3,2", "2,2,6,4"].map(|one| one.parse::<Candidate>().expect("a candidate"));
        assert!(once.place() == twice.place());
    }
}
