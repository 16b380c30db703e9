//! Times that are known by a range.

use std::fmt;

use replay_core::number::fixed;

/// By how much clock rates, caches and the order of the jobs change what a window of them took.
const MARGIN: f64 = 0.2;

/// What something takes, in seconds.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Seconds {
    /// By the mean of the samples.
    pub usual: f64,
    /// By the cheapest.
    pub least: f64,
    /// By the dearest.
    pub most: f64,
    /// No window came far enough: it may take any longer.
    pub open: bool,
}

impl Seconds {
    /// One sample.
    pub const fn exactly(seconds: f64) -> Self {
        Self { usual: seconds, least: seconds, most: seconds, open: false }
    }

    /// So many times as much.
    pub fn times(self, factor: f64) -> Self {
        let Self { usual, least, most, open } = self;
        Self { usual: usual * factor, least: least * factor, most: most * factor, open }
    }

    /// Both, one after the other.
    pub fn and(self, other: Self) -> Self {
        Self {
            usual: self.usual + other.usual,
            least: self.least + other.least,
            most: self.most + other.most,
            open: self.open || other.open,
        }
    }

    /// Both at once.
    pub fn beside(self, other: Self) -> Self {
        Self {
            usual: self.usual.max(other.usual),
            least: self.least.max(other.least),
            most: self.most.max(other.most),
            open: self.open || other.open,
        }
    }

    /// The mean of some, from the least to the most of them all; `None` of none.
    pub fn mean(all: impl Iterator<Item = Seconds> + Clone) -> Option<Self> {
        let count = all.clone().count();
        let least = all.clone().map(|one| one.least).reduce(f64::min)?;
        let most = all.clone().map(|one| one.most).fold(0.0, f64::max);
        let sum = all.fold(Seconds::default(), Seconds::and);
        Some(Self { usual: sum.usual / count as f64, least, most, open: sum.open })
    }

    /// The mean of so many, of each of which this tells the range: they are not all at one end.
    pub fn mean_of(self, count: usize) -> Self {
        let (usual, part) = (self.usual, 1.0 / (count.max(1) as f64).sqrt());
        let [least, most] = [self.least, self.most].map(|end| usual + (end - usual) * part);
        Self { least, most, ..self }
    }

    /// Less so much of it, of which nothing is less than none.
    pub fn less(self, part: f64) -> Self {
        let [usual, least, most] =
            [self.usual, self.least, self.most].map(|seconds| (seconds - part).max(0.0));
        Self { usual, least, most, ..self }
    }

    /// With the margin that every sample has.
    pub fn widened(self) -> Self {
        let (least, most) = (self.least * (1.0 - MARGIN), self.most * (1.0 + MARGIN));
        Self { least, most, ..self }
    }

    /// What it takes about, from, and to, for the cells of a table.
    pub fn cells(self) -> [String; 3] {
        match self {
            Self { open: true, least, .. } => {
                [format!("> {}", at_least(least)), at_least(least), "-".to_string()]
            }
            Self { usual, least, most, .. } => [usual, least, most].map(duration),
        }
    }
}

/// What a cell takes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cost {
    /// To make its machine and its strategy, with a first job.
    pub set_up: Seconds,
    /// To place each further job.
    pub job: Seconds,
}

impl Cost {
    /// Of so many jobs.
    pub fn of(&self, jobs: u64) -> Seconds {
        self.set_up.and(self.job.times(jobs.saturating_sub(1) as f64))
    }

    /// The mean of some; `None` of none.
    pub fn mean(all: impl Iterator<Item = Cost> + Clone) -> Option<Self> {
        let set_up = Seconds::mean(all.clone().map(|cost| cost.set_up))?;
        Some(Self { set_up, job: Seconds::mean(all.map(|cost| cost.job))? })
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { usual, least, most, open } = *self;
        match open {
            false if most < LEAST_TOLD => write!(f, "{}", duration(most)),
            true => write!(f, "more than {}", at_least(least)),
            false => {
                write!(f, "{} ({} to {})", duration(usual), duration(least), duration(most))
            }
        }
    }
}

/// A lower end: what is next to nothing is nothing.
fn at_least(seconds: f64) -> String {
    if seconds < LEAST_TOLD { "0 ms".to_string() } else { duration(seconds) }
}

/// Less than this is no number of milliseconds.
const LEAST_TOLD: f64 = 0.0005;

/// Seconds as people say them.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < LEAST_TOLD => "< 1 ms".to_string(),
        s if s < 1.0 => format!("{} ms", fixed(1000.0 * s, 0)),
        s if s < 100.0 => format!("{} s", fixed(s, 1)),
        s if s < 6000.0 => format!("{} min", fixed(s / 60.0, 1)),
        s if s < 360_000.0 => format!("{} h", fixed(s / 3600.0, 1)),
        s => format!("{} days", fixed(s / 86_400.0, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_has_the_range_of_all() {
        assert_eq!(Seconds::mean(std::iter::empty()), None);
        let samples = [1.0, 5.0, 3.0].map(Seconds::exactly);
        let mean = Seconds::mean(samples.into_iter()).expect("three samples");
        assert_eq!(mean, Seconds { usual: 3.0, least: 1.0, most: 5.0, open: false });
        let wide = mean.widened();
        assert!(wide.least < 1.0 && wide.usual == 3.0 && wide.most > 5.0);
        assert_eq!(mean.times(2.0).to_string(), "6.0 s (2.0 s to 10.0 s)");
        let open = Seconds { open: true, ..Seconds::exactly(2.0) };
        assert_eq!(mean.and(open).to_string(), "more than 3.0 s");
        assert_eq!(mean.and(open).cells(), ["> 3.0 s", "3.0 s", "-"]);
        let four = mean.mean_of(4);
        assert_eq!(four, Seconds { usual: 3.0, least: 2.0, most: 4.0, open: false });
        let beside = mean.beside(Seconds::exactly(4.0));
        assert_eq!(beside, Seconds { usual: 4.0, least: 4.0, most: 5.0, open: false });
    }

    #[test]
    fn times_are_said_in_units_that_fit() {
        let said = [0.0, 0.0004, 0.02, 2.0, 600.0, 7200.0, 864_000.0].map(duration);
        assert_eq!(said, ["< 1 ms", "< 1 ms", "20 ms", "2.0 s", "10.0 min", "2.0 h", "10.0 days"]);
        let open = |seconds: f64| Seconds { open: true, ..Seconds::exactly(seconds) };
        assert_eq!(Seconds::exactly(0.0).to_string(), "< 1 ms");
        assert_eq!(open(0.0).cells(), ["> 0 ms", "0 ms", "-"]);
        assert_eq!(open(7200.0).to_string(), "more than 2.0 h");
    }
}
