//! The grammar of service times.

use super::super::names::{unknown, with};
use super::{KIND, Service};
use crate::naming::{Description, NameError, Parameter, StrategyName};

const EXPONENTIAL: &str = "exponential";
const PARETO: &str = "pareto";
const NORMAL: &str = "normal";
const DETERMINISTIC: &str = "deterministic";

impl Service {
    /// The canonical name.
    #[must_use]
    pub fn name(&self) -> StrategyName {
        match *self {
            Self::Exponential { mean } => with(EXPONENTIAL, [("mean", mean)]),
            Self::BoundedPareto { k, q, alpha } => {
                with(PARETO, [("k", k), ("q", q), ("alpha", alpha)])
            }
            Self::TruncatedNormal { mean, sd, low, high } => {
                with(NORMAL, [("mean", mean), ("sd", sd), ("low", low), ("high", high)])
            }
            Self::Deterministic { time } => with(DETERMINISTIC, [("time", time)]),
        }
    }
}

impl TryFrom<&StrategyName> for Service {
    type Error = NameError;

    fn try_from(name: &StrategyName) -> Result<Self, NameError> {
        let keys = |known: &[&str]| name.expect_keys(KIND, known);
        let value = |key, default: f64| name.value(KIND, key, default);
        let service = match name.name.as_str() {
            EXPONENTIAL => {
                keys(&["mean"])?;
                Self::Exponential { mean: value("mean", 1.0)? }
            }
            PARETO | "bounded-pareto" => {
                keys(&["k", "q", "alpha"])?;
                let (k, q) = (value("k", 15.0)?, value("q", 4241.0)?);
                Self::BoundedPareto { k, q, alpha: value("alpha", 1.0)? }
            }
            NORMAL | "truncated-normal" => {
                keys(&["mean", "sd", "low", "high"])?;
                let (mean, sd) = (value("mean", 5.0)?, value("sd", 2.0)?);
                let (low, high) = (value("low", 0.0)?, value("high", f64::INFINITY)?);
                Self::TruncatedNormal { mean, sd, low, high }
            }
            DETERMINISTIC | "constant" => {
                keys(&["time"])?;
                Self::Deterministic { time: value("time", 1.0)? }
            }
            _ => return Err(unknown(name, KIND, &[EXPONENTIAL, PARETO, NORMAL, DETERMINISTIC])),
        };
        service.check()?;
        Ok(service)
    }
}

/// All distributions of service times, for listings.
#[must_use]
pub fn descriptions() -> Vec<Description> {
    let parameter = |key, values: &str, default, about| Parameter {
        key,
        values: values.to_string(),
        default,
        about,
    };
    let positive = |key, default, about| parameter(key, "a positive number", default, about);
    let entry = |name: &str, aliases: &[&'static str], source, about: &str, parameters| {
        let (name, about) = (name.to_string(), about.to_string());
        Description { name, aliases: aliases.to_vec(), about, source, parameters }
    };
    vec![
        entry(
            EXPONENTIAL,
            &[],
            "Lo, Windisch, Liu, Nitzberg 1997",
            "Exponential service times.",
            vec![positive("mean", "1", "mean, time units")],
        ),
        entry(
            PARETO,
            &["bounded-pareto"],
            "Bani-Mohammad 2008, eq. 5.1",
            "Bounded Pareto, a heavy tail: density proportional to x^(-alpha-1) from k to q. The defaults \
             have mean 84.968 and median 29.894.",
            vec![
                positive("k", "15", "shortest, time units"),
                positive("q", "4241", "longest, time units"),
                positive("alpha", "1", "tail index: the smaller, the heavier the tail"),
            ],
        ),
        entry(
            NORMAL,
            &["truncated-normal"],
            "",
            "Normal, restricted to the interval from low to high; mean and sd are those before the \
             restriction.",
            vec![
                positive("mean", "5", "mean, time units"),
                positive("sd", "2", "standard deviation, time units"),
                parameter("low", "a number from 0", "0", "shortest, time units"),
                parameter("high", "a number above low, or inf", "inf", "longest, time units"),
            ],
        ),
        entry(
            DETERMINISTIC,
            &["constant"],
            "",
            "The same service time for all jobs.",
            vec![positive("time", "1", "service time, time units")],
        ),
    ]
}
