//! How many packets a job sends.

use std::fmt;
use std::str::FromStr;

use super::random::{Purpose, stream, unit};
use crate::naming::{Description, NameError, Parameter, StrategyName, nearest};

const KIND: &str = "quota";
const NAMES: [&str; 2] = ["exponential", "fixed"];
const ROUNDINGS: [(&str, Rounding); 2] = [("up", Rounding::Up), ("nearest", Rounding::Nearest)];
const PERS: [(&str, Per); 2] = [("job", Per::Job), ("process", Per::Process)];

/// The largest number that can be asked for: beyond it a job would send for days.
pub const MOST_PACKETS: u64 = 1_000_000_000;

/// The packets of a job, always at least one.
///
/// ```
/// use replay::network::traffic::Quota;
/// let quota: Quota = "exponential[mean=6480]".parse()?;
/// assert_eq!(quota.to_string(), "exponential[mean=6480]");
/// // A job's quota depends on the seed and its number alone.
/// assert_eq!(quota.draw(1, 3, 16), quota.draw(1, 3, 81));
/// assert_eq!("fixed[packets=2,per=process]".parse::<Quota>()?.draw(1, 3, 16), 32);
/// # Ok::<(), replay::naming::NameError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Quota {
    /// How a number is drawn.
    pub law: Law,
    /// What it is the number of.
    pub per: Per,
}

/// The distribution of a quota.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Law {
    /// Exponential, made an integer of at least 1.
    Exponential {
        /// Mean before rounding, packets; positive and finite.
        mean: f64,
        /// How it is rounded.
        rounding: Rounding,
    },
    /// Always the same.
    Fixed {
        /// Packets; 0 reads as 1.
        packets: u64,
    },
}

/// How a number is made an integer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rounding {
    /// To the next integer above.
    Up,
    /// To the nearest integer, halves up.
    Nearest,
}

/// Whose packets a quota counts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Per {
    /// Those of all the job's processes together.
    Job,
    /// So many for each process; they too are counted together.
    Process,
}

impl Quota {
    /// Exactly so many packets.
    pub const fn fixed(packets: u64) -> Self {
        Self { law: Law::Fixed { packets }, per: Per::Job }
    }

    /// The packets of a job of so many processes.
    pub fn draw(&self, seed: u64, job: u64, processes: u32) -> u64 {
        let number = match self.law {
            Law::Fixed { packets } => packets,
            Law::Exponential { mean, rounding } => {
                // The inverse of the distribution function: one uniform number, whatever
                // the mean.
                let x = -mean * (-unit(&mut stream(seed, job, Purpose::Quota))).ln_1p();
                let whole = match rounding {
                    Rounding::Up => x.ceil(),
                    Rounding::Nearest => x.round(),
                };
                whole as u64
            }
        };
        let times = match self.per {
            Per::Job => 1,
            Per::Process => u64::from(processes).max(1),
        };
        number.max(1).saturating_mul(times)
    }

    /// The quotas with their parameters, for a listing.
    pub fn descriptions() -> Vec<Description> {
        let parameter = |key, values: &str, default, about| Parameter {
            key,
            values: values.to_string(),
            default,
            about,
        };
        let per = || {
            let about =
                "whether it is the number of all packets of the job, or divided by its processes";
            parameter("per", "job|process", "job", about)
        };
        let entry = |name: &str, about: &str, source, parameters| Description {
            name: name.to_string(),
            aliases: vec![],
            about: about.to_string(),
            source,
            parameters,
        };
        vec![
            entry(
                "exponential",
                "An exponential number of packets, at least 1.",
                "Lo, Windisch, Liu, Nitzberg, CIS-TR-94-11; Bani-Mohammad, PhD thesis, chapter 4",
                vec![
                    parameter(
                        "mean",
                        "a number above 0, at most 1000000000",
                        "5",
                        "mean before rounding, packets",
                    ),
                    parameter("round", "up|nearest", "up", "how it is made an integer"),
                    per(),
                ],
            ),
            entry(
                "fixed",
                "The same number of packets for all jobs.",
                "",
                vec![
                    parameter("packets", "an integer from 1 to 1000000000", "1", "packets"),
                    per(),
                ],
            ),
        ]
    }
}

impl TryFrom<&StrategyName> for Quota {
    type Error = NameError;

    fn try_from(name: &StrategyName) -> Result<Self, NameError> {
        let law = match name.name.as_str() {
            "exponential" => {
                name.expect_keys(KIND, &["mean", "round", "per"])?;
                let mean: f64 = name.value(KIND, "mean", 5.0)?;
                if !(mean > 0.0 && mean <= MOST_PACKETS as f64) {
                    let problem =
                        format!("mean is {mean}, but must be above 0 and at most {MOST_PACKETS}");
                    return Err(name.error(KIND, problem));
                }
                let rounding = name.choice(KIND, "round", Rounding::Up, &ROUNDINGS)?;
                Law::Exponential { mean, rounding }
            }
            "fixed" => {
                name.expect_keys(KIND, &["packets", "per"])?;
                let packets = name.value(KIND, "packets", 1)?;
                if !(1..=MOST_PACKETS).contains(&packets) {
                    let problem = format!("a job sends 1 to {MOST_PACKETS} packets");
                    return Err(name.error(KIND, problem));
                }
                Law::Fixed { packets }
            }
            other => {
                let problem = match nearest(other, NAMES.into_iter()) {
                    Some(near) => format!("unknown; did you mean \"{near}\"?"),
                    None => format!("unknown; known are {}", NAMES.join(", ")),
                };
                return Err(name.error(KIND, problem));
            }
        };
        Ok(Self { law, per: name.choice(KIND, "per", Per::Job, &PERS)? })
    }
}

impl FromStr for Quota {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let name: StrategyName =
            text.parse().map_err(|error: NameError| NameError { kind: KIND, ..error })?;
        Self::try_from(&name)
    }
}

impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut name = StrategyName::plain(NAMES[0]);
        match self.law {
            Law::Exponential { mean, rounding } => {
                name.set("mean", mean.to_string());
                if rounding == Rounding::Nearest {
                    name.set("round", "nearest");
                }
            }
            Law::Fixed { packets } => {
                name = StrategyName::plain(NAMES[1]);
                name.set("packets", packets.to_string());
            }
        }
        if self.per == Per::Process {
            name.set("per", "process");
        }
        name.fmt(f)
    }
}

#[cfg(test)]
mod tests;
