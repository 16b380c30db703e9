//! Tie-breaking among candidates.

use std::fmt;
use std::str::FromStr;

use crate::machine::Machine;
use crate::topology::{Grid, NodeId};

/// The tie-breaking vector (SR, AF, WF, BF) of Johnson, Bunde, Leung (section II).
///
/// Let L be the shell of the outermost chosen processor, M = L + SR, and w(p) = M - distance(centre, p) + 1. The tie
/// value is the following sum; lower is better:
///
/// ```text
///   AF * sum of w(p) over free processors outside the candidate with distance <= M
/// - WF * sum of w(p) over the candidate's own processors that touch a wall
/// - BF * sum of w(p) over busy processors at distance exactly L + 1
/// ```
///
/// If SR = 0, the tie value of every candidate is 0. Busy processors inside the candidate's shells and positions
/// outside the mesh do not count. Processors out of service do not count as busy processors, but they may count as
/// [walls](Machine::set_down_walls) of their neighbours.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct TieVector {
    /// SR: number of shells that are examined beyond the outermost shell of the candidate.
    pub scan_radius: u32,
    /// AF: weight of free processors near the candidate.
    pub available: i32,
    /// WF: weight of the candidate's processors that touch a wall.
    pub wall: i32,
    /// BF: weight of busy processors in the shell just outside the candidate.
    pub border: i32,
}

impl TieVector {
    /// The largest magnitude of a weight, and the largest scan radius.
    pub const MAX: i32 = 1_000_000;

    /// Creates the vector with entries SR, AF, WF, BF.
    ///
    /// # Errors
    /// A message if the magnitude of an entry exceeds [`MAX`](Self::MAX) or SR is negative.
    pub fn new(entries: [i32; 4]) -> Result<Self, &'static str> {
        if entries.iter().any(|v| v.unsigned_abs() > Self::MAX as u32) {
            return Err("the magnitude of an entry exceeds 1,000,000");
        }
        let [scan_radius, available, wall, border] = entries;
        let scan_radius = u32::try_from(scan_radius).map_err(|_| "the scan radius is negative")?;
        Ok(Self { scan_radius, available, wall, border })
    }

    /// Returns AF, WF and BF.
    pub fn factors(self) -> [i32; 3] {
        [self.available, self.wall, self.border]
    }

    /// Returns (SR, AF, WF, BF) with the factors AF, WF and BF divided by their greatest common divisor. Vectors whose
    /// factors have the same ratios define the same strategy.
    pub fn reduced(self) -> Self {
        let gcd = self.factors().iter().fold(0, |g, v| gcd(g, v.unsigned_abs()));
        if gcd <= 1 {
            return self;
        }
        let divide = |v: i32| v / gcd as i32;
        Self {
            available: divide(self.available),
            wall: divide(self.wall),
            border: divide(self.border),
            ..self
        }
    }

    /// Returns whether every candidate gets the same tie value.
    pub fn is_indifferent(&self) -> bool {
        self.scan_radius == 0 || self.factors() == [0; 3]
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl fmt::Display for TieVector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{},{}", self.scan_radius, self.available, self.wall, self.border)
    }
}

/// Error: the text of a tie vector does not consist of four integers in the permitted range.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("tie vector \"{0}\": {1} (write SR,AF,WF,BF such as 2,13,20,6)")]
pub struct TieVectorError(String, &'static str);

impl FromStr for TieVector {
    type Err = TieVectorError;

    /// Parses `2,13,20,6`, or `(2,13,20,6)` as printed in tables.
    fn from_str(text: &str) -> Result<Self, TieVectorError> {
        let error = |problem| TieVectorError(text.to_string(), problem);
        let entries = text.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        let parts: Option<Vec<i32>> =
            entries.unwrap_or(text).split(',').map(|part| part.trim().parse().ok()).collect();
        let entries = parts.and_then(|parts| parts.try_into().ok());
        let problem = match text.contains('@') {
            true => {
                "the slack is a separate parameter, not a part of the vector: mc1x1[tie=2,13,20,6,slack=0.1]"
            }
            false => "not four integers",
        };
        Self::new(entries.ok_or_else(|| error(problem))?).map_err(error)
    }
}

/// Tie rule as specified by a user.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum TieRule {
    /// `none`: the first candidate wins.
    #[default]
    First,
    /// `SR,AF,WF,BF`: the candidate with the lowest tie value wins.
    Vector(TieVector),
    /// `auto`: the candidate with the lowest tie value wins, and the tie vector is tuned during the replay.
    Auto,
}

impl TieRule {
    /// Returns the vector; `None` unless the rule is a fixed vector.
    pub fn vector(self) -> Option<TieVector> {
        match self {
            TieRule::Vector(vector) => Some(vector),
            TieRule::First | TieRule::Auto => None,
        }
    }
}

/// Rules for the choice among the candidates with the best score, or with scores close to the best score.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct TieBreaking {
    /// Rule that determines the tie values.
    pub tie: TieRule,
    /// Tolerance for scores that are worse than the best score.
    pub slack: SlackRule,
}

/// Tie vector and slack of one decision.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct TieConfig {
    /// The tie vector; indifferent if the first candidate with the best score wins.
    pub vector: TieVector,
    /// Tolerance for scores that are worse than the best score.
    pub slack: Slack,
}

impl TieConfig {
    /// Creates a configuration that breaks ties by the vector `tie` among candidates within `slack`. With `None`, the
    /// first candidate with the best score wins.
    pub fn new(tie: Option<TieVector>, slack: Slack) -> Self {
        match tie.filter(|vector| !vector.is_indifferent()) {
            // Without tie values, a candidate with a worse score never wins, so the slack has no effect.
            None => Self::default(),
            Some(vector) => Self { vector, slack },
        }
    }
}

impl From<Option<TieVector>> for TieRule {
    fn from(vector: Option<TieVector>) -> Self {
        vector.map_or(TieRule::First, TieRule::Vector)
    }
}

impl fmt::Display for TieRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TieRule::First => f.write_str("none"),
            TieRule::Vector(vector) => vector.fmt(f),
            TieRule::Auto => f.write_str("auto"),
        }
    }
}

impl FromStr for TieRule {
    type Err = TieVectorError;

    fn from_str(text: &str) -> Result<Self, TieVectorError> {
        match text.trim() {
            "none" => Ok(TieRule::First),
            "auto" => Ok(TieRule::Auto),
            vector => vector.parse().map(TieRule::Vector),
        }
    }
}

/// Maximum number of walls that a processor touches, which occurs in the corners of a 3D mesh.
pub const MOST_WALLS: u32 = 3;

/// Returns the number of walls that a processor touches: walls of the machine, and neighbours out of service
/// that [count as walls](Machine::set_down_walls).
pub fn walls_of(machine: &Machine, grid: &Grid, node: NodeId) -> u32 {
    (grid.walls(grid.coord(node)) + machine.walls_by_down(node)).min(MOST_WALLS)
}

/// Weight of a processor's walls in the tie value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum WallRule {
    /// A processor that touches any wall counts once, even in a corner. Counting a processor only once reproduces the
    /// numbers of the paper.
    #[default]
    Once,
    /// A processor counts once for each wall that it touches, as in the text of the paper.
    PerWall,
}

impl WallRule {
    /// Every rule with its name.
    pub const ALL: [(&'static str, WallRule); 2] =
        [("once", WallRule::Once), ("per-wall", WallRule::PerWall)];

    /// Returns the weight of a processor that touches `walls` walls.
    pub fn weight(self, walls: u32) -> u32 {
        match self {
            WallRule::Once => walls.min(1),
            WallRule::PerWall => walls,
        }
    }
}

/// Tolerance for scores, as a fraction of the best score: a candidate competes if its score exceeds the best score by
/// at most this fraction. Competing candidates are compared by tie value, then by score, then by order. The fraction
/// ranges from 0 (only exact ties compete) to 1 and is stored in millionths. Johnson, Bunde, Leung break only exact
/// ties; the slack is an extension.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Slack {
    millionths: u32,
}

const UNIT: u32 = 1_000_000;

impl Slack {
    /// No tolerance: only exact ties compete.
    pub const NONE: Slack = Slack { millionths: 0 };

    /// Returns whether only exact ties compete.
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }

    /// Returns the slack as a number from 0 to 1.
    pub fn share(self) -> f64 {
        f64::from(self.millionths) / f64::from(UNIT)
    }

    /// Returns the highest score that still competes if the best score is `best`.
    #[inline]
    pub fn admitted(self, best: u64) -> u64 {
        if self.is_none() {
            return best;
        }
        let margin = match best.checked_mul(u64::from(self.millionths)) {
            Some(product) => product / u64::from(UNIT),
            // The additional score is at most `best`, because the slack is at most 1.
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

/// Error: a slack is not a number from 0 to 1 with at most six decimals.
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

/// Slack as specified by a user.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SlackRule {
    /// A fixed slack.
    Fixed(Slack),
    /// `auto`: the slack is tuned during the replay, together with the tie vector.
    Auto,
}

impl SlackRule {
    /// Returns the fixed slack; [`Slack::NONE`] for `auto`.
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
    fn rules_parse_and_display() {
        for text in ["none", "auto", "2,13,20,6"] {
            assert_eq!(text.parse::<TieRule>().map(|rule| rule.to_string()).as_deref(), Ok(text));
        }
        assert!("Auto".parse::<TieRule>().is_err());
    }

    #[test]
    fn vectors_of_one_ratio_reduce_to_one() {
        let reduced = |text: &str| text.parse::<TieVector>().map(|v| v.reduced().to_string());
        assert_eq!(reduced("2,26,40,12").as_deref(), Ok("2,13,20,6"));
        assert_eq!(reduced("2,0,0,0").as_deref(), Ok("2,0,0,0"));
        assert_eq!(reduced("4,0,9,0").as_deref(), Ok("4,0,1,0"));
        for same in ["(2,13,20,6)", " (2, 13, 20, 6) ", "(2,26,40,12)"] {
            assert_eq!(reduced(same).as_deref(), Ok("2,13,20,6"), "{same}");
        }
        for bad in [
            "",
            "1,2,3",
            "1,2,3,4,5",
            "-1,2,3,4",
            "a,b,c,d",
            "1,2,3,99999999",
            "(1,2,3,4",
            "1,2,3,4)",
            "((1,2,3,4))",
        ] {
            assert!(reduced(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn slack_parses_and_displays() {
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
    fn admits_scores_that_binary_fractions_would_miss() {
        let slack: Slack = "0.07".parse().expect("a slack");
        assert_eq!([100, 99, 0].map(|best| slack.admitted(best)), [107, 105, 0]);
        assert_eq!(Slack::NONE.admitted(7), 7);
        assert_eq!(slack.admitted(u64::MAX), u64::MAX);
    }

    proptest! {
        #[test]
        fn every_slack_survives_display_and_parse(millionths in 0..=UNIT, best in any::<u64>()) {
            let slack = Slack { millionths };
            prop_assert_eq!(slack.to_string().parse(), Ok(slack));
            let exact = u128::from(best) * u128::from(UNIT + millionths) / u128::from(UNIT);
            prop_assert_eq!(slack.admitted(best), u64::try_from(exact).unwrap_or(u64::MAX));
        }
    }
}
