//! The grammar of sides.

use super::super::names::{optional, unknown};
use super::law::check;
use super::{Interval, KIND, SideLaw, Sides};
use crate::naming::{Description, NameError, Parameter, StrategyName};
use std::fmt;
use std::str::FromStr;

const NO_YES: [(&str, bool); 2] = [("no", false), ("yes", true)];
const ROUNDINGS: [(&str, bool); 2] = [("none", false), ("power-of-two", true)];

impl Sides {
    /// The canonical name.
    #[must_use]
    pub fn name(&self) -> StrategyName {
        let mut name = StrategyName::plain(match self.law {
            SideLaw::Uniform { .. } => "uniform",
            SideLaw::Exponential { .. } => "exponential",
            SideLaw::Increasing => "increasing",
            SideLaw::Decreasing => "decreasing",
            SideLaw::Intervals(_) => "intervals",
            SideLaw::Fixed(_) => "fixed",
        });
        match &self.law {
            &SideLaw::Uniform { low, high } => {
                if low != 1 {
                    name.set("low", low.to_string());
                }
                if let Some(high) = high {
                    name.set("high", high.to_string());
                }
            }
            SideLaw::Exponential { mean: Some(mean) } => name.set("mean", mean.to_string()),
            SideLaw::Exponential { mean: None } | SideLaw::Increasing | SideLaw::Decreasing => {}
            SideLaw::Intervals(intervals) => {
                let texts: Vec<_> = intervals.iter().map(Interval::to_string).collect();
                name.set("sides", texts.join(","));
            }
            SideLaw::Fixed(side) => name.set("side", side.to_string()),
        }
        if self.power_of_two {
            name.set("round", "power-of-two");
        }
        if self.equal {
            name.set("equal", "yes");
        }
        name
    }
}

impl TryFrom<&StrategyName> for Sides {
    type Error = NameError;

    fn try_from(name: &StrategyName) -> Result<Self, NameError> {
        let keys = |own: &[&str]| name.expect_keys(KIND, &[own, &["round", "equal"]].concat());
        let law = match name.name.as_str() {
            "uniform" => {
                keys(&["low", "high"])?;
                let low = name.value(KIND, "low", 1)?;
                SideLaw::Uniform { low, high: optional(name, KIND, "high")? }
            }
            "exponential" => {
                keys(&["mean"])?;
                SideLaw::Exponential { mean: optional(name, KIND, "mean")? }
            }
            "increasing" => {
                keys(&[])?;
                SideLaw::Increasing
            }
            "decreasing" => {
                keys(&[])?;
                SideLaw::Decreasing
            }
            "intervals" => {
                keys(&["sides"])?;
                let parse = |part: &str| {
                    part.trim().parse().map_err(|problem: String| name.error(KIND, problem))
                };
                let text = name.get("sides").ok_or_else(|| {
                    name.error(KIND, "write the intervals: intervals[sides=1-4:0.5,5-8:0.5]")
                })?;
                SideLaw::Intervals(text.split(',').map(parse).collect::<Result<_, _>>()?)
            }
            "fixed" => {
                keys(&["side"])?;
                SideLaw::Fixed(name.value(KIND, "side", 1)?)
            }
            _ => {
                let known =
                    ["uniform", "exponential", "increasing", "decreasing", "intervals", "fixed"];
                return Err(unknown(name, KIND, &known));
            }
        };
        check(&law).map_err(|problem| name.error(KIND, problem))?;
        let power_of_two = name.choice(KIND, "round", false, &ROUNDINGS)?;
        Ok(Self { law, power_of_two, equal: name.choice(KIND, "equal", false, &NO_YES)? })
    }
}

/// `low-high:probability`, or `side:probability`.
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

/// All distributions of sides, for listings.
#[must_use]
pub fn descriptions() -> Vec<Description> {
    let parameter = |key, values: &str, default, about| Parameter {
        key,
        values: values.to_string(),
        default,
        about,
    };
    let entry = |name: &str, source, about: &str, mut parameters: Vec<Parameter>| {
        let round = "round each side down to a power of two";
        parameters.push(parameter("round", "none|power-of-two", "none", round));
        let equal = "one side for all dimensions: squares and cubes";
        parameters.push(parameter("equal", "no|yes", "no", equal));
        let (name, about) = (name.to_string(), about.to_string());
        Description { name, aliases: vec![], about, source, parameters }
    };
    const LO: &str = "Lo, Windisch, Liu, Nitzberg 1997";
    vec![
        entry(
            "uniform",
            LO,
            "All sides from low to high alike.",
            vec![
                parameter("low", "a side", "1", "shortest side, processors"),
                parameter("high", "a side", "the machine's", "longest side, processors"),
            ],
        ),
        entry(
            "exponential",
            LO,
            "An exponential variable, cut to its whole part and limited to 1 and the machine's side.",
            vec![parameter(
                "mean",
                "a positive number",
                "half the machine's side",
                "mean before cutting, processors",
            )],
        ),
        entry(
            "increasing",
            LO,
            "Large sides are frequent: probability .2 for the first half of the machine's side (at least 8), \
             .2 for the next quarter, .2 for the next eighth, .4 for the last eighth.",
            vec![],
        ),
        entry(
            "decreasing",
            LO,
            "Small sides are frequent: probability .4 for the first eighth of the machine's side (at least 8), \
             .2 for the next eighth, .2 for the next quarter, .2 for the last half.",
            vec![],
        ),
        entry(
            "intervals",
            "",
            "Intervals with probabilities that add up to 1; all sides of one interval alike.",
            vec![parameter(
                "sides",
                "low-high:probability,...",
                "none",
                "intervals in ascending order, processors",
            )],
        ),
        entry(
            "fixed",
            "",
            "Always the same side.",
            vec![parameter("side", "a side", "1", "the side, processors")],
        ),
    ]
}
