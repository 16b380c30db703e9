use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp};

use super::Job;
use replay_slurm::placement::ties::{CandidateFilter, TermWeights};
use replay_slurm::torus3d::selection_rules::SelectionRule;

/// A rule that selects the placement of a job.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Rule {
    /// A job needs no placement: it starts if enough processors are free. The utilization under this rule is an upper
    /// bound of the utilization under all other rules.
    Count,
    /// The first free anchor.
    First,
    /// Slurm's rule, or the placement with the smallest weighted sum of terms.
    Selection(SelectionRule),
    /// The rule that has performed best so far on hypothetical machines.
    Auto,
}

const NONE: TermWeights =
    TermWeights { larger: 0, equal: 0, contact: 0, wall: 0, ends: 0, delay: 0 };

/// Creates a rule from weights. The rule considers all shapes and orientations.
const fn of(weights: TermWeights) -> Rule {
    Rule::Selection(SelectionRule::Terms(weights, CandidateFilter::All))
}

impl Rule {
    /// Slurm's rule.
    pub const SLURM: Rule = Rule::Selection(SelectionRule::Slurm);

    /// The rule whose only term is DL. Of all rules with a single term, the rule with the term DL gives the highest
    /// utilization.
    pub const DELAY: Rule = of(TermWeights { delay: 1, ..NONE });

    /// Every rule with its name: single terms, the best pairs of terms, and the self-tuning rule.
    pub const ALL: [(&'static str, Rule); 9] = [
        ("count", Rule::Count),
        ("first", Rule::First),
        ("slurm", Rule::SLURM),
        ("lf", of(TermWeights { larger: 1, ..NONE })),
        ("lf-eq", of(TermWeights { larger: 1, equal: 1, ..NONE })),
        ("nf", of(TermWeights { contact: 1, ..NONE })),
        ("dl", Rule::DELAY),
        // DL is measured in millionths of the mean service time. One larger box in LF therefore has the same weight as
        // a tenth of the mean service time in DL.
        ("dl-lf", of(TermWeights { delay: 1, larger: 100_000, ..NONE })),
        ("auto", Rule::Auto),
    ];

    /// Name of the rule.
    pub fn name(&self) -> &'static str {
        Self::ALL.iter().find(|(_, rule)| rule == self).map_or("", |(name, _)| name)
    }
}

/// Kind of estimates of service times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Estimates {
    /// The exact service time.
    Exact,
    /// The service time multiplied by 1 + x, where x is an exponential random variable with mean 2.
    Noisy,
    /// The service time of another job with the same size. This estimate contains no information about the job.
    Shuffled,
}

impl Estimates {
    /// All kinds of estimates with their names.
    pub const ALL: [(&'static str, Estimates); 3] = [
        ("exact", Estimates::Exact),
        ("noisy", Estimates::Noisy),
        ("shuffled", Estimates::Shuffled),
    ];

    /// Name of the kind.
    pub fn name(&self) -> &'static str {
        Self::ALL.iter().find(|(_, one)| one == self).map_or("", |(name, _)| name)
    }

    /// Sets the estimates of the jobs.
    pub(super) fn apply(self, jobs: &mut [Job], seed: u64) {
        // These random numbers are independent of the random numbers of the jobs.
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
                    let mut services: Vec<f64> =
                        places.iter().map(|&at| jobs[at].service).collect();
                    services.shuffle(&mut random);
                    places
                        .iter()
                        .zip(services)
                        .for_each(|(&at, service)| jobs[at].estimate = service);
                }
            }
        }
    }
}
