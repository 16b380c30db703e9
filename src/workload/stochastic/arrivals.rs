//! When jobs come.

use super::names::{optional, positive, text_form, unknown, with};
use super::random::{exponential, uniform};
use crate::naming::{Description, NameError, Parameter, StrategyName};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

const KIND: &str = "arrivals";

/// The arrival process.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Arrivals {
    /// A Poisson process: independent exponential inter-arrival times.
    Exponential {
        /// Mean inter-arrival time, time units.
        mean: f64,
    },
    /// All jobs are there at time 0, and wait in the order in which they were drawn.
    AtOnce,
}

text_form!(Arrivals, KIND);

impl Arrivals {
    /// Mean inter-arrival time, time units.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match *self {
            Self::Exponential { mean } => mean,
            Self::AtOnce => 0.0,
        }
    }

    /// The canonical name.
    #[must_use]
    pub fn name(&self) -> StrategyName {
        match *self {
            Self::Exponential { mean } => with("exponential", [("mean", mean)]),
            Self::AtOnce => StrategyName::plain("at-once"),
        }
    }

    /// Complains of impossible parameters.
    pub(super) fn check(&self) -> Result<(), NameError> {
        match *self {
            Self::Exponential { mean } => {
                positive("mean", mean).map_err(|problem| self.name().error(KIND, problem))
            }
            Self::AtOnce => Ok(()),
        }
    }

    /// A clock at time 0.
    pub(super) fn clock(&self) -> Clock {
        Clock { mean: self.mean(), elapsed: 0.0 }
    }
}

/// Where an arrival process stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    mean: f64,
    /// In mean inter-arrival times, so that another mean rescales every arrival and does nothing else.
    elapsed: f64,
}

impl Clock {
    /// Moves to the next arrival: time units since the start.
    pub(super) fn advance(&mut self, rng: &mut ChaCha8Rng) -> f64 {
        self.elapsed += exponential(uniform(rng));
        self.elapsed * self.mean
    }
}

impl TryFrom<&StrategyName> for Arrivals {
    type Error = NameError;

    fn try_from(name: &StrategyName) -> Result<Self, NameError> {
        let arrivals = match name.name.as_str() {
            "exponential" | "poisson" => {
                name.expect_keys(KIND, &["mean", "rate"])?;
                let [mean, rate] = [optional(name, KIND, "mean")?, optional(name, KIND, "rate")?];
                let mean = match (mean, rate) {
                    (Some(_), Some(_)) => {
                        return Err(name.error(KIND, "mean and rate say the same: give one"));
                    }
                    (mean, Some(rate)) => {
                        positive("rate", rate).map_err(|problem| name.error(KIND, problem))?;
                        mean.unwrap_or(1.0 / rate)
                    }
                    (mean, None) => mean.unwrap_or(1.0),
                };
                Self::Exponential { mean }
            }
            "at-once" => {
                name.expect_keys(KIND, &[])?;
                Self::AtOnce
            }
            _ => return Err(unknown(name, KIND, &["exponential", "at-once"])),
        };
        arrivals.check()?;
        Ok(arrivals)
    }
}

/// All arrival processes, for listings.
#[must_use]
pub fn descriptions() -> Vec<Description> {
    let positive = |key, about| Parameter {
        key,
        values: "a positive number".to_string(),
        default: "1",
        about,
    };
    vec![
        Description {
            name: "exponential".to_string(),
            aliases: vec!["poisson"],
            about: "Independent exponential inter-arrival times (a Poisson process).".to_string(),
            source: "Lo, Windisch, Liu, Nitzberg 1997; Bani-Mohammad 2008",
            parameters: vec![
                positive("mean", "mean inter-arrival time, time units"),
                positive("rate", "jobs per time unit, 1 / mean: instead of mean"),
            ],
        },
        Description {
            name: "at-once".to_string(),
            aliases: vec![],
            about: "All jobs are there at time 0.".to_string(),
            source: "",
            parameters: vec![],
        },
    ]
}
