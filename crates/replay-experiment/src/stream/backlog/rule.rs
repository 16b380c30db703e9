use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp};

use super::Job;
use replay_core::allocator::torus3d::selection_rules::SelectionRule;
use replay_core::placement::ties::{CandidateFilter, TermWeights};

/// How a place is chosen.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Rule {
    /// None is needed: whoever finds enough free processors starts. A bound for all others.
    Count,
    /// The first free anchor.
    First,
    /// Slurm's rule, or the smallest weighted sum of terms.
    SelectionRule(SelectionRule),
    /// The way that did best so far, by machines beside the real one.
    Auto,
}

const NONE: TermWeights =
    TermWeights { larger: 0, equal: 0, contact: 0, wall: 0, ends: 0, delay: 0 };

/// Of all shapes and orientations.
const fn of(weights: TermWeights) -> Rule {
    Rule::SelectionRule(SelectionRule::Terms(weights, CandidateFilter::All))
}

impl Rule {
    /// Slurm's.
    pub const SLURM: Rule = Rule::SelectionRule(SelectionRule::Slurm);

    /// The strongest term alone.
    pub const DELAY: Rule = of(TermWeights { delay: 1, ..NONE });

    /// Every rule with its name: the terms alone, the strongest two, and what tunes itself.
    pub const ALL: [(&'static str, Rule); 9] = [
        ("count", Rule::Count),
        ("first", Rule::First),
        ("slurm", Rule::SLURM),
        ("lf", of(TermWeights { larger: 1, ..NONE })),
        ("lf-eq", of(TermWeights { larger: 1, equal: 1, ..NONE })),
        ("nf", of(TermWeights { contact: 1, ..NONE })),
        ("dl", Rule::DELAY),
        // Lengths of DL are in millionths: a larger box is worth a tenth of the mean service.
        ("dl-lf", of(TermWeights { delay: 1, larger: 100_000, ..NONE })),
        ("auto", Rule::Auto),
    ];

    /// Its name.
    pub fn name(&self) -> &'static str {
        Self::ALL.iter().find(|(_, rule)| rule == self).map_or("", |(name, _)| name)
    }
}

/// What jobs say of how long they will run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Estimates {
    /// The truth.
    Exact,
    /// The truth times 1 + x, x exponential with mean 2.
    Noisy,
    /// The truth of another job of the same size: they say nothing.
    Shuffled,
}

impl Estimates {
    /// All with their names.
    pub const ALL: [(&'static str, Estimates); 3] = [
        ("exact", Estimates::Exact),
        ("noisy", Estimates::Noisy),
        ("shuffled", Estimates::Shuffled),
    ];

    /// The name.
    pub fn name(&self) -> &'static str {
        Self::ALL.iter().find(|(_, one)| one == self).map_or("", |(name, _)| name)
    }

    /// Lets jobs say them.
    pub(super) fn give(self, jobs: &mut [Job], seed: u64) {
        // Apart from what the jobs themselves were drawn from.
        let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0x5eed_0fe5_7117_a7e5);
        match self {
            Estimates::Exact => {}
            Estimates::Noisy => {
                let Ok(noise) = Exp::new(0.5) else { return };
                for job in jobs {
                    job.estimate = job.service * (1.0 + noise.sample(&mut random));
                }
            }
            Estimates::Shuffled => {
                let mut sizes: Vec<u32> = jobs.iter().map(|job| job.size).collect();
                sizes.sort_unstable();
                sizes.dedup();
                for size in sizes {
                    let of_size = |jobs: &[Job]| -> Vec<usize> {
                        (0..jobs.len()).filter(|&at| jobs[at].size == size).collect()
                    };
                    let places = of_size(jobs);
                    let mut said: Vec<f64> = places.iter().map(|&at| jobs[at].service).collect();
                    said.shuffle(&mut random);
                    places.iter().zip(said).for_each(|(&at, said)| jobs[at].estimate = said);
                }
            }
        }
    }
}
