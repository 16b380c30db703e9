//! Serialized form of estimates in the journal. The serialized form contains all replications.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Estimates, Metric, Sample, SizeSample};
use replay_engine::metrics::estimate::Replicated;

/// Serialized form of [`Estimates`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    confidence: f64,
    met: bool,
    samples: Vec<Replication>,
}

/// A replication: the values of all metrics in the order of [`Metric::ALL`], and the results by job size.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Replication {
    metrics: Vec<Number>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    by_size: BTreeMap<u32, SizeSample>,
}

/// A number, or a word for values without a JSON form: `NaN`, `inf`, `-inf`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Number {
    Finite(f64),
    Word(String),
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        if value.is_finite() { Self::Finite(value) } else { Self::Word(value.to_string()) }
    }
}

impl Number {
    fn value(self) -> Result<f64, String> {
        match self {
            Self::Finite(value) => Ok(value),
            Self::Word(word) => word.parse().map_err(|_| format!("\"{word}\" is not a number")),
        }
    }
}

impl From<Estimates> for Record {
    fn from(estimates: Estimates) -> Self {
        let Estimates { samples, confidence, met, .. } = estimates;
        let replication = |sample: Sample| Replication {
            metrics: sample.metrics.map(Number::from).into(),
            by_size: sample.by_size,
        };
        let samples = samples.into_iter().map(replication).collect();
        Self { confidence, met, samples }
    }
}

impl TryFrom<Record> for Estimates {
    type Error = String;

    fn try_from(record: Record) -> Result<Self, String> {
        let sample = |Replication { metrics, by_size }| -> Result<Sample, String> {
            let values: Vec<f64> =
                metrics.into_iter().map(Number::value).collect::<Result<_, _>>()?;
            let metrics = values.try_into().map_err(|values: Vec<f64>| {
                format!("{} metrics instead of {}", values.len(), Metric::ALL.len())
            })?;
            Ok(Sample { metrics, by_size })
        };
        let samples = record.samples.into_iter().map(sample).collect::<Result<_, _>>()?;
        Ok(Estimates::new(Replicated::of(samples, record.met), record.confidence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Values that are written and read again are equal in every bit.
        #[test]
        fn serialization_is_lossless(
            numbers in prop::collection::vec(prop::num::f64::ANY, Metric::ALL.len() * 5),
            count in 1usize..=5,
            met: bool,
        ) {
            let samples: Vec<Sample> = numbers
                .chunks_exact(Metric::ALL.len())
                .take(count)
                .enumerate()
                .map(|(i, values)| Sample {
                    metrics: values.try_into().expect("a sample"),
                    by_size: (0..i as u32)
                        .map(|size| (size, SizeSample { jobs: 3, turnaround: 0.1 + f64::from(size) }))
                        .collect(),
                })
                .collect();
            let made = Estimates::new(Replicated::of(samples, met), 0.95);
            let text = serde_json::to_string(&made).expect("JSON");
            let read: Estimates = serde_json::from_str(&text).expect("estimates");
            // The debug forms are compared, because NaN does not equal itself.
            prop_assert_eq!(format!("{read:?}"), format!("{made:?}"));
        }
    }
}
