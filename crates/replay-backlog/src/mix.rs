use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1, weighted::WeightedIndex};

use super::Estimates;
use replay_experiment::compatibility::Incompatible;
use replay_slurm::placement::Torus;
use replay_slurm::placement::tpu_v4::SLICES;

/// A job of a stream. All times are in units of the mean service time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Job {
    /// Number of processors.
    pub size: u32,
    /// Service time.
    pub service: f64,
    /// Estimated service time.
    pub estimate: f64,
}

/// Distribution of job sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mix {
    sizes: Sizes,
    /// Whether every tenth job takes half of the torus.
    half: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sizes {
    /// Distribution of the slices of TPU v4 pods.
    TpuV4,
    /// All sizes of the menu with equal probability.
    Uniform,
    /// Sizes of cubes with equal probability.
    Cubes,
    /// Sizes of elongated boxes, with equal probability. The longest side of such a box is at least four times as long
    /// as its shortest side.
    Slabs,
    /// Sizes up to 1/64 of the torus, with equal probability.
    Small,
    /// All sizes, with a probability that is inversely proportional to the size. With each doubling of the size, the
    /// mean service time of jobs of this size increases by a quarter of the overall mean.
    HeavyTail,
}

const fn mix(sizes: Sizes, half: bool) -> Mix {
    Mix { sizes, half }
}

impl Mix {
    /// Every mix with its name.
    pub const ALL: [(&'static str, Mix); 11] = [
        ("tpu-v4", mix(Sizes::TpuV4, false)),
        ("uniform", mix(Sizes::Uniform, false)),
        ("uniform-half", mix(Sizes::Uniform, true)),
        ("cubes", mix(Sizes::Cubes, false)),
        ("cubes-half", mix(Sizes::Cubes, true)),
        ("slabs", mix(Sizes::Slabs, false)),
        ("slabs-half", mix(Sizes::Slabs, true)),
        ("small", mix(Sizes::Small, false)),
        ("small-half", mix(Sizes::Small, true)),
        ("heavy-tail", mix(Sizes::HeavyTail, false)),
        ("heavy-tail-half", mix(Sizes::HeavyTail, true)),
    ];

    /// Name of the mix.
    pub fn name(&self) -> &'static str {
        Self::ALL.iter().find(|(_, mix)| mix == self).map_or("", |(name, _)| name)
    }

    /// Returns the sizes with their relative weights.
    fn shares(self, torus: &Torus) -> Vec<(u32, f64)> {
        let placements = torus.placements();
        let equally_likely = |keep: &dyn Fn([u16; 3]) -> bool| {
            let mut sizes: Vec<u32> =
                placements.iter().filter(|one| keep(one.sides)).map(|one| one.size).collect();
            sizes.dedup();
            sizes.into_iter().map(|size| (size, 1.0)).collect::<Vec<_>>()
        };
        let cells = torus.cells() as u32;
        let mut shares: Vec<(u32, f64)> = match self.sizes {
            Sizes::TpuV4 => {
                let of = |(sides, share): ([u16; 3], f64)| {
                    let mut sides = sides;
                    sides.sort_unstable();
                    let fits = placements.iter().find(|one| {
                        let mut other = one.sides;
                        other.sort_unstable();
                        other == sides
                    });
                    fits.map(|one| (one.size, share))
                };
                SLICES.into_iter().filter_map(of).collect()
            }
            Sizes::Uniform => equally_likely(&|_| true),
            Sizes::Cubes => equally_likely(&|[x, y, z]| x == y && y == z),
            Sizes::Slabs => {
                let flat = |sides: [u16; 3]| {
                    let (least, most) = (sides.iter().min(), sides.iter().max());
                    least.zip(most).is_some_and(|(least, most)| *most >= 4 * least)
                };
                equally_likely(&flat)
            }
            Sizes::Small => {
                let small = |sides: [u16; 3]| {
                    sides.iter().map(|&s| u32::from(s)).product::<u32>() <= cells / 64
                };
                equally_likely(&small)
            }
            Sizes::HeavyTail => {
                let mut all = equally_likely(&|_| true);
                all.iter_mut().for_each(|(size, share)| *share = 1.0 / f64::from(*size));
                all
            }
        };
        if self.half {
            let all: f64 = shares.iter().map(|share| share.1).sum();
            shares.push((cells / 2, all / 9.0));
        }
        shares
    }

    /// Generates the random jobs of one stream. The same seed gives the same sizes and service times for all kinds of
    /// estimates.
    ///
    /// # Errors
    /// [`Incompatible`] if the menu of the torus lacks a size of the mix.
    pub fn draw(
        self,
        torus: &Torus,
        jobs: usize,
        estimates: Estimates,
        seed: u64,
    ) -> Result<Vec<Job>, Incompatible> {
        let shares = self.shares(torus);
        let on_menu = |size: u32| torus.placements().iter().any(|one| one.size == size);
        let lacking = || {
            let name = self.name();
            let problem = format!("{name}: the menu does not have the sizes of this mix");
            Incompatible::of("mix", problem)
        };
        let index =
            WeightedIndex::new(shares.iter().map(|share| share.1)).map_err(|_| lacking())?;
        if !shares.iter().all(|share| on_menu(share.0)) {
            return Err(lacking());
        }
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mean_bits =
            shares.iter().map(|(size, share)| f64::from(*size).log2() * share).sum::<f64>()
                / shares.iter().map(|share| share.1).sum::<f64>();
        let mut all: Vec<Job> = (0..jobs)
            .map(|_| {
                let size = shares[index.sample(&mut random)].0;
                let longer = match self.sizes {
                    Sizes::HeavyTail => {
                        (1.0 + (f64::from(size).log2() - mean_bits) / 4.0).max(0.25)
                    }
                    _ => 1.0,
                };
                let unit: f64 = Exp1.sample(&mut random);
                let service = unit * longer;
                Job { size, service, estimate: service }
            })
            .collect();
        estimates.apply(&mut all, seed);
        Ok(all)
    }
}
