use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use replay_engine::allocator::ties::{
    Slack, SlackError, SlackRule, TieBreaking, TieRule, TieVector, TieVectorError,
};

/// Candidate of a search: a tie vector and a slack. If the score of a processor set differs from the best score by at
/// most the slack, the set is compared by tie value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Candidate {
    /// The tie vector.
    pub vector: TieVector,
    /// The slack.
    pub slack: Slack,
}

impl Candidate {
    /// Returns the candidate with the reduced vector. Candidates with equal ratio and slack are the same strategy.
    pub fn reduced(self) -> Self {
        Self { vector: self.vector.reduced(), ..self }
    }

    /// Returns the tie-breaking rule of an allocator for this candidate.
    pub fn tie_breaking(self) -> TieBreaking {
        TieBreaking { tie: TieRule::Vector(self.vector), slack: SlackRule::Fixed(self.slack) }
    }

    /// Compares two candidates. In this order, candidates that are likely to make the same decisions are close to each
    /// other. The order is by slack, by group of the scan radius (1 to 3, 4 to 6, ...), by the share of BF in the sum of
    /// the factors, and by the share of WF in this sum. The groups of radii are small, because candidates with different
    /// radii cannot share sums.
    pub fn by_similarity(&self, other: &Self) -> Ordering {
        let [one, other] = [self, other].map(|candidate| candidate.similarity_key());
        one.partial_cmp(&other).unwrap_or(Ordering::Equal)
    }

    fn similarity_key(self) -> impl PartialOrd + Copy {
        let TieVector { scan_radius, available, wall, border } = self.vector;
        let [available, wall, border] =
            [available, wall, border].map(|factor| f64::from(factor.unsigned_abs()));
        let all = (available + wall + border).max(1.0);
        (self.slack, scan_radius.saturating_sub(1) / 3, border / all, wall / all)
    }

    /// Parses `SR,AF,WF,BF` or `SR,AF,WF,BF@SLACK`. If the text has no slack, `usual` is used.
    ///
    /// # Errors
    /// [`CandidateError`] if the vector or the slack is malformed.
    pub fn parse(text: &str, usual: Slack) -> Result<Self, CandidateError> {
        let Some((vector, slack)) = text.split_once('@') else {
            return Ok(Self { vector: text.parse()?, slack: usual });
        };
        Ok(Self { vector: vector.parse()?, slack: slack.parse()? })
    }
}

/// Creates a candidate without slack, which applies only to exact ties.
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

/// Error from parsing a candidate.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CandidateError {
    /// The vector is malformed.
    #[error(transparent)]
    Vector(#[from] TieVectorError),
    /// The slack is malformed.
    #[error(transparent)]
    Slack(#[from] SlackError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_and_formats_candidates() {
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
    fn similar_candidates_are_close() {
        let expected =
            ["2,4,1,0", "1,1,1,0", "3,4,1,4", "4,1,0,0", "9,0,0,1", "1,0,1,0@0.1", "1,0,0,1@0.1"];
        let mut candidates = expected.map(|one| one.parse::<Candidate>().expect("a candidate"));
        candidates.reverse();
        candidates.sort_by(Candidate::by_similarity);
        assert_eq!(candidates.map(|one| one.to_string()), expected);
        // Vectors with equal ratios make the same decisions and compare equal.
        let [once, twice] =
            ["2,1,3,2", "2,2,6,4"].map(|one| one.parse::<Candidate>().expect("a candidate"));
        assert_eq!(once.by_similarity(&twice), Ordering::Equal);
    }
}
