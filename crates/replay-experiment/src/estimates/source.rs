//! Who says when jobs end.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use replay_core::workload::Job;

/// Where estimates come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The log (SWF field 9), as it stands there.
    Log,
    /// The run times: as good as estimates can be.
    Oracle,
    /// Those of the log, or modelled ones if it has none, dealt anew among jobs of the same size.
    Shuffled,
    /// For logs without: run time x (1 + x), x exponential with mean 2, rounded up to one of
    /// `ROUND` seconds where one is as much.
    Modelled,
}

/// What users like to ask for: 5, 15, 30 minutes, 1, 2, 4, 8, 12, 18, 24 and 36 hours.
pub const ROUND: [u32; 11] =
    [300, 900, 1800, 3600, 7200, 14_400, 28_800, 43_200, 64_800, 86_400, 129_600];

impl Source {
    /// All with their names.
    pub const ALL: [(&'static str, Self); 4] = [
        ("log", Self::Log),
        ("oracle", Self::Oracle),
        ("shuffled", Self::Shuffled),
        ("modelled", Self::Modelled),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, one)| *one == self).map_or("", |(name, _)| name)
    }

    /// Why it says [nothing](Self::limits) of a log.
    pub fn why_none(self) -> &'static str {
        match self {
            Self::Modelled => "for jobs of the log have estimates of their own",
            _ => "for no job of the log has an estimate",
        }
    }

    /// What is said of each job, in seconds. `None` if no job of the log has an estimate and this is
    /// [`Source::Log`], or if some have and this is [`Source::Modelled`].
    pub fn limits(self, jobs: &[Job], seed: u64) -> Option<Vec<Option<u32>>> {
        let has_any = jobs.iter().any(|job| job.limit.is_some());
        let log = || jobs.iter().map(|job| job.limit).collect::<Vec<_>>();
        match self {
            Self::Log => has_any.then(log),
            Self::Modelled => (!has_any).then(|| modelled(jobs, seed)),
            Self::Oracle => Some(jobs.iter().map(|job| Some(whole(job.run as f64))).collect()),
            Self::Shuffled => {
                let mut limits = if has_any { log() } else { modelled(jobs, seed) };
                shuffle(jobs, &mut limits, seed);
                Some(limits)
            }
        }
    }
}

/// Whole seconds, at least one; the cast stops at what 32 bits hold.
fn whole(seconds: f64) -> u32 {
    (seconds.ceil() as u32).max(1)
}

fn modelled(jobs: &[Job], seed: u64) -> Vec<Option<u32>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut draw = |job: &Job| {
        // From (0, 1]: the logarithm is finite.
        let uniform = 1.0 - rng.random::<f64>();
        let said = whole(job.run as f64 * (1.0 - 2.0 * uniform.ln()));
        Some(ROUND.into_iter().find(|&round| round >= said).unwrap_or(said))
    };
    jobs.iter().map(&mut draw).collect()
}

/// Fisher and Yates among the jobs of each size.
fn shuffle(jobs: &[Job], limits: &mut [Option<u32>], seed: u64) {
    let mut of_size: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    jobs.iter().enumerate().for_each(|(at, job)| of_size.entry(job.size).or_default().push(at));
    // Another stream than that of the model.
    let mut rng = ChaCha8Rng::seed_from_u64(seed.wrapping_add(1 << 32));
    for places in of_size.values() {
        for last in (1..places.len()).rev() {
            let other = rng.random_range(0..=last as u32) as usize;
            limits.swap(places[last], places[other]);
        }
    }
}
