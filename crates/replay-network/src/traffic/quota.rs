//! The number of packets that a job sends.

use std::sync::LazyLock;

use super::random::{Purpose, stream, unit};
use replay_engine::naming::{Description, Entry, Table, kind, spelled};

const ROUNDINGS: [(&str, Rounding); 2] = [("up", Rounding::Up), ("nearest", Rounding::Nearest)];
const PERS: [(&str, Per); 2] = [("job", Per::Job), ("process", Per::Process)];

/// Largest permitted quota. A job with more packets would send for days.
pub const MOST_PACKETS: u64 = 1_000_000_000;

/// The number of packets of a job, which is always at least 1.
///
/// ```
/// use replay_network::traffic::Quota;
/// let quota: Quota = "exponential[mean=6480]".parse()?;
/// assert_eq!(quota.to_string(), "exponential[mean=6480]");
/// // The quota of a job depends only on the seed and the job's number.
/// assert_eq!(quota.draw(1, 3, 16), quota.draw(1, 3, 81));
/// assert_eq!("fixed[packets=2,per=process]".parse::<Quota>()?.draw(1, 3, 16), 32);
/// # Ok::<(), replay_engine::naming::NameError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Quota {
    /// Distribution of the number of packets.
    pub law: Law,
    /// Whether the number of packets is for the whole job or for each process.
    pub per: Per,
}

/// The distribution of a quota.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Law {
    /// Exponential, rounded to an integer of at least 1.
    Exponential {
        /// Mean before rounding, in packets; positive and finite.
        mean: f64,
        /// Rule for rounding.
        rounding: Rounding,
    },
    /// Always the same number of packets.
    Fixed {
        /// Number of packets; 0 is replaced by 1.
        packets: u64,
    },
}

/// The rule by which a number is rounded to an integer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rounding {
    /// The number is rounded up to the next integer.
    Up,
    /// The number is rounded to the nearest integer; halves are rounded up.
    Nearest,
}

/// The packets that a quota counts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Per {
    /// The packets of all processes of the job together.
    Job,
    /// The quota is multiplied by the number of processes. Even with a quota per process, the packets of all processes
    /// are counted together.
    Process,
}

impl Quota {
    /// Returns a quota of exactly `packets` packets.
    pub const fn fixed(packets: u64) -> Self {
        Self { law: Law::Fixed { packets }, per: Per::Job }
    }

    /// Draws the number of packets of a job with `processes` processes.
    pub fn draw(&self, seed: u64, job: u64, processes: u32) -> u64 {
        let number = match self.law {
            Law::Fixed { packets } => packets,
            Law::Exponential { mean, rounding } => {
                // The inverse of the distribution function needs exactly one uniform random number, regardless of the
                // mean.
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

    /// Returns descriptions of the quotas and their parameters.
    pub fn descriptions() -> Vec<Description> {
        TABLE.descriptions()
    }
}

static TABLE: LazyLock<Table<Quota>> = LazyLock::new(|| {
    let law = |law| Quota { law, per: Per::Job };
    let exponential =
        Entry::new("exponential", law(Law::Exponential { mean: 5.0, rounding: Rounding::Up }))
            .about("An exponentially distributed number of packets, at least 1.")
            .source(
                "Lo, Windisch, Liu, Nitzberg, CIS-TR-94-11; Bani-Mohammad, PhD thesis, chapter 4",
            )
            .case(
                "mean",
                kind::positive_to(MOST_PACKETS as f64),
                "mean before rounding, packets",
                |q| match &mut q.law {
                    Law::Exponential { mean, .. } => Some(mean),
                    Law::Fixed { .. } => None,
                },
            )
            .always()
            .case(
                "round",
                kind::one_of(&ROUNDINGS),
                "how the number is rounded to an integer",
                |q| match &mut q.law {
                    Law::Exponential { rounding, .. } => Some(rounding),
                    Law::Fixed { .. } => None,
                },
            );
    let packets =
        kind::integer(1..=MOST_PACKETS).listed(format!("an integer from 1 to {MOST_PACKETS}"));
    let fixed = Entry::new("fixed", law(Law::Fixed { packets: 1 }))
        .about("The same number of packets for all jobs.")
        .case("packets", packets, "packets", |q| match &mut q.law {
            Law::Fixed { packets } => Some(packets),
            Law::Exponential { .. } => None,
        })
        .always();
    let per = |entry: Entry<Quota>| {
        let about = "whether the number is for the whole job or for each of its processes";
        entry.param("per", kind::one_of(&PERS), about, |q| &mut q.per)
    };
    Table::new("quota", [per(exponential), per(fixed)])
});

spelled!(Quota, TABLE);

#[cfg(test)]
mod tests;
