//! Names of the distributions of sides.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use super::{Interval, Share, SideLaw, Sides};
use crate::naming::{Description, Entry, Table, kind};

const ROUNDINGS: [(&str, bool); 2] = [("none", false), ("power-of-two", true)];

/// Names of the two choices: an interval is drawn for each side, or for each job.
const CHOICES: [(&str, bool); 2] = [("side", false), ("job", true)];

pub(super) static TABLE: LazyLock<Table<Sides>> = LazyLock::new(|| {
    const LO: &str = "Lo, Windisch, Liu, Nitzberg 1997";
    let side = || kind::integer(1..=u16::MAX).listed("a side");
    let uniform = Entry::new("uniform", Sides::UNIFORM)
        .about("All sides from low to high are equally likely.")
        .source(LO)
        .case("low", side(), "shortest side, processors", |s| match &mut s.law {
            SideLaw::Uniform { low, .. } => Some(low),
            _ => None,
        })
        .case("high", side().or("the machine's"), "longest side, processors", |s| {
            match &mut s.law {
                SideLaw::Uniform { high, .. } => Some(high),
                _ => None,
            }
        })
        .check(|sides| match sides.law {
            SideLaw::Uniform { low, high: Some(high) } if high < low => {
                Err(format!("low is {low}, but must be at most {high}"))
            }
            _ => Ok(()),
        });
    let mean = kind::positive().or("half the machine's side");
    let exponential = Entry::new("exponential", Sides::plain(SideLaw::Exponential { mean: None }))
        .about(
            "An exponential variable, truncated to an integer and limited to 1 and the machine's side.",
        )
        .source(LO)
        .case("mean", mean, "mean before truncation, processors", |s| match &mut s.law {
            SideLaw::Exponential { mean } => Some(mean),
            _ => None,
        });
    let increasing = Entry::new("increasing", Sides::plain(SideLaw::Increasing)).source(LO).about(
        "Large sides are frequent: probability .2 for the first half of the machine's side (at least 8), \
         .2 for the next quarter, .2 for the next eighth, .4 for the last eighth.",
    );
    let decreasing = Entry::new("decreasing", Sides::plain(SideLaw::Decreasing)).source(LO).about(
        "Small sides are frequent: probability .4 for the first eighth of the machine's side (at least 8), \
         .2 for the next eighth, .2 for the next quarter, .2 for the last half.",
    );
    let none = SideLaw::Intervals { intervals: Vec::new(), by_job: false };
    let intervals = Entry::new("intervals", Sides::plain(none))
        .about("Intervals with probabilities that add up to 1; the sides in an interval are equally likely.")
        .case(
            "sides",
            kind::list("low-high:probability,..."),
            "intervals in ascending order, processors",
            |s| match &mut s.law {
                SideLaw::Intervals { intervals, .. } => Some(intervals),
                _ => None,
            },
        )
        .case(
            "choice",
            kind::one_of(&CHOICES),
            "whether an interval is drawn for each side or for all sides of a job",
            |s| match &mut s.law {
                SideLaw::Intervals { by_job, .. } => Some(by_job),
                _ => None,
            },
        )
        .check(|sides| match &sides.law {
            SideLaw::Intervals { intervals, .. } => check(intervals),
            _ => Ok(()),
        });
    let fixed = Entry::new("fixed", Sides::plain(SideLaw::Fixed(1)))
        .about("Always the same side.")
        .case("side", side(), "the side, processors", |s| match &mut s.law {
            SideLaw::Fixed(side) => Some(side),
            _ => None,
        })
        .always();
    let subcubes = Entry::new("subcubes", Sides::plain(SideLaw::Subcubes { shares: Vec::new() }))
        .about(
            "Requests of 2^k processors, like the subcubes of a hypercube, with sides as equal as the machine allows.",
        )
        .source("Chang, Mohapatra 1996")
        .case(
            "shares",
            kind::list("probability,..."),
            "probabilities of k = 0, 1, 2, ..., which add up to 1",
            |s| match &mut s.law {
                SideLaw::Subcubes { shares } => Some(shares),
                _ => None,
            },
        )
        .check(|sides| match &sides.law {
            SideLaw::Subcubes { shares } => check_shares(shares),
            _ => Ok(()),
        });
    let shaped = |entry: Entry<Sides>| {
        let round = "round each side down to a power of two";
        let equal = "one side for all dimensions: squares and cubes";
        entry.param("round", kind::one_of(&ROUNDINGS), round, |s| &mut s.power_of_two).param(
            "equal",
            kind::yes_no(),
            equal,
            |s| &mut s.equal,
        )
    };
    let laws = [uniform, exponential, increasing, decreasing, intervals, fixed];
    Table::new("sides", laws.map(shaped).into_iter().chain([subcubes]))
});

/// Returns descriptions of all distributions of sides.
#[must_use]
pub fn descriptions() -> Vec<Description> {
    TABLE.descriptions()
}

/// Tolerance for the sum of the probabilities.
const SUM_TOLERANCE: f64 = 1e-9;

/// Checks that intervals ascend and that their probabilities add up to 1.
fn check(intervals: &[Interval]) -> Result<(), String> {
    if intervals.is_empty() {
        return Err("write the intervals: intervals[sides=1-4:0.5,5-8:0.5]".to_string());
    }
    let mut below = 0;
    for &Interval { low, high, probability } in intervals {
        if low <= below || high < low {
            return Err(format!("{low}-{high} is not above {below}: intervals must ascend from 1"));
        }
        if !(probability > 0.0 && probability.is_finite()) {
            return Err(format!("a probability is {probability}, but must be positive"));
        }
        below = high;
    }
    add_up(intervals.iter().map(|interval| interval.probability))
}

/// Checks the probabilities of subcubes.
fn check_shares(shares: &[Share]) -> Result<(), String> {
    if shares.is_empty() {
        return Err("write the probabilities: subcubes[shares=0.5,0.5]".to_string());
    }
    // The number of processors fits in 32 bits, so k is at most 31.
    if shares.len() > 32 {
        return Err(format!(
            "{} probabilities are given, but a machine has at most 31 dimensions",
            shares.len()
        ));
    }
    if let Some(Share(share)) = shares.iter().find(|Share(share)| !(0.0..=1.0).contains(share)) {
        return Err(format!("a probability is {share}, but must be from 0 to 1"));
    }
    add_up(shares.iter().map(|share| share.0))
}

fn add_up(probabilities: impl Iterator<Item = f64>) -> Result<(), String> {
    let sum: f64 = probabilities.sum();
    if (sum - 1.0).abs() > SUM_TOLERANCE {
        return Err(format!("the probabilities add up to {sum}, but must add up to 1"));
    }
    Ok(())
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(Self).map_err(|_| format!("\"{text}\" is not a probability, like 0.125"))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Parses `low-high:probability` or `side:probability`.
impl FromStr for Interval {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parse = || {
            let (sides, probability) = text.split_once(':')?;
            let (low, high) = sides.split_once('-').unwrap_or((sides, sides));
            Some(Self {
                low: low.trim().parse().ok()?,
                high: high.trim().parse().ok()?,
                probability: probability.trim().parse().ok()?,
            })
        };
        parse().ok_or_else(|| format!("\"{text}\" is not low-high:probability, like 1-4:0.5"))
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { low, high, probability } = self;
        if low == high {
            write!(f, "{low}:{probability}")
        } else {
            write!(f, "{low}-{high}:{probability}")
        }
    }
}
