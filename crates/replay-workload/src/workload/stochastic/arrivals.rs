//! Arrival processes.

use super::random::{exponential, uniform};
use crate::naming::{Description, Entry, NameError, Table, kind, spelled};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// The arrival process of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Arrivals {
    /// A Poisson process: independent exponential inter-arrival times.
    Exponential {
        /// Mean inter-arrival time, in time units.
        mean: f64,
    },
    /// All jobs arrive at time 0 and are queued in the order in which they were drawn.
    AtOnce,
}

spelled!(Arrivals, TABLE);

impl Arrivals {
    /// Returns the mean inter-arrival time, in time units.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match *self {
            Self::Exponential { mean } => mean,
            Self::AtOnce => 0.0,
        }
    }

    /// Checks the parameters.
    pub(super) fn check(&self) -> Result<(), NameError> {
        TABLE.check(self)
    }

    /// Returns a clock at time 0.
    pub(super) fn clock(&self) -> Clock {
        Clock { mean: self.mean(), elapsed: 0.0 }
    }
}

/// The state of an arrival process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    mean: f64,
    /// Elapsed time in units of the mean inter-arrival time, so that another mean only rescales the
    /// arrivals.
    elapsed: f64,
}

impl Clock {
    /// Advances to the next arrival and returns its time, in time units since the start.
    pub(super) fn advance(&mut self, rng: &mut ChaCha8Rng) -> f64 {
        self.elapsed += exponential(uniform(rng));
        self.elapsed * self.mean
    }
}

static TABLE: LazyLock<Table<Arrivals>> = LazyLock::new(|| {
    fn mean(arrivals: &mut Arrivals) -> Option<&mut f64> {
        match arrivals {
            Arrivals::Exponential { mean } => Some(mean),
            Arrivals::AtOnce => None,
        }
    }
    let rate = "jobs per time unit (1 / mean), instead of mean";
    let exponential = Entry::new("exponential", Arrivals::Exponential { mean: 1.0 })
        .aliases(&["poisson"])
        .about("Independent exponential inter-arrival times (a Poisson process).")
        .source("Lo, Windisch, Liu, Nitzberg 1997; Bani-Mohammad 2008")
        .case("mean", kind::positive(), "mean inter-arrival time, time units", mean)
        .always()
        .alternative("rate", "mean", kind::positive(), rate, 1.0, |arrivals, rate: f64| {
            if let Some(mean) = mean(arrivals) {
                *mean = 1.0 / rate;
            }
        });
    let at_once = Entry::new("at-once", Arrivals::AtOnce).about("All jobs arrive at time 0.");
    Table::new("arrivals", [exponential, at_once])
});

/// Returns descriptions of all arrival processes.
#[must_use]
pub fn descriptions() -> Vec<Description> {
    TABLE.descriptions()
}
