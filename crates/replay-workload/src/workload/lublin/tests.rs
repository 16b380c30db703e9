//! Tests of the whole model, and moments of distributions for the tests of its parts.

use super::*;
use proptest::prelude::*;

/// Moments of a function of a gamma variable that is restricted to [0, limit]: probability mass, mean and mean square.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    pub(super) mass: f64,
    pub(super) mean: f64,
    square: f64,
}

impl Moments {
    pub(super) fn variance(&self) -> f64 {
        self.square - self.mean * self.mean
    }

    /// Returns the moments of a variable that is drawn from `first` with probability p, and otherwise from `second`. A
    /// value above the limit is drawn again.
    pub(super) fn mixture(p: f64, first: Self, second: Self) -> Self {
        let (a, b) = (p * first.mass, (1.0 - p) * second.mass);
        let mix = |x: f64, y: f64| (a * x + b * y) / (a + b);
        Self {
            mass: a + b,
            mean: mix(first.mean, second.mean),
            square: mix(first.square, second.square),
        }
    }
}

/// Returns the moments of `value(X)` for a gamma variable X, given X <= limit. The moments are computed by numerical
/// integration of the density, independently of the sampler.
pub(super) fn truncated_gamma(
    gamma: GammaParameters,
    limit: f64,
    value: impl Fn(f64) -> f64,
) -> Moments {
    const STEPS: u32 = 200_000;
    let mode = ((gamma.shape - 1.0) * gamma.scale).max(gamma.scale);
    let log_density = |x: f64| (gamma.shape - 1.0) * (x / mode).ln() - (x - mode) / gamma.scale;
    let integral = |to: f64, f: &dyn Fn(f64) -> f64| {
        let step = to / f64::from(STEPS);
        (0..STEPS)
            .map(|i| (f64::from(i) + 0.5) * step)
            .map(|x| f(x) * log_density(x).exp() * step)
            .sum::<f64>()
    };
    let below = integral(limit, &|_| 1.0);
    let far = gamma.shape * gamma.scale + 60.0 * gamma.scale * (1.0 + gamma.shape.sqrt());
    Moments {
        mass: below / integral(far, &|_| 1.0),
        mean: integral(limit, &value) / below,
        square: integral(limit, &|x| value(x).powi(2)) / below,
    }
}

/// Returns the three published variants of the model.
fn variants(processors: u32) -> [LublinFeitelson; 3] {
    [
        LublinFeitelson::batch_and_interactive(processors),
        LublinFeitelson::batch(processors),
        LublinFeitelson::untyped(processors),
    ]
}

#[test]
fn the_first_thousand_jobs_of_a_seed_are_pinned() {
    let digest = |model: &LublinFeitelson| {
        let mut hasher = blake3::Hasher::new();
        for job in model.generate(1_000, 1).expect("published constants") {
            let queue = job.kind.queue();
            let row = [job.submit, job.run, job.estimate, i64::from(job.size), queue];
            row.iter().for_each(|field| {
                hasher.update(&field.to_le_bytes());
            });
        }
        hasher.finalize().to_hex()[..16].to_owned()
    };
    let digests = variants(128).map(|model| digest(&model));
    assert_eq!(digests, ["5543333255771661", "08dedda7d1f657bd", "c103968f0ed9eaf0"]);
}

#[test]
fn mean_gaps_determine_the_share_of_kinds() {
    let jobs = LublinFeitelson::batch_and_interactive(128)
        .generate(100_000, 3)
        .expect("published constants");
    let rate = |class: JobClass| {
        let model = class.arrivals;
        let shape = model.gap.shape * model.rush_to_all;
        let all = GammaParameters { shape, ..model.gap };
        1.0 / truncated_gamma(all, model.log_limit, f64::exp).mean
    };
    let [interactive, batch] = [JobClass::interactive(128), JobClass::batch(128)].map(rate);
    let expected = interactive / (interactive + batch);
    let count = jobs.iter().filter(|job| job.kind == JobKind::Interactive).count();
    let share = count as f64 / jobs.len() as f64;
    assert!((share - expected).abs() < 0.02, "{share} {expected}");
}

#[test]
fn serial_and_power_of_two_jobs_have_their_share() {
    let jobs = LublinFeitelson::batch(128).generate(100_000, 9).expect("published constants");
    let share = |accept: fn(u32) -> bool| {
        jobs.iter().filter(|job| accept(job.size)).count() as f64 / jobs.len() as f64
    };
    let serial = share(|size| size == 1);
    assert!((serial - 0.2927).abs() < 0.008, "{serial}");
    // By definition, 96.1% of the sizes are powers of two. A few of the other 3.9% are powers of two by chance.
    let powers = share(u32::is_power_of_two);
    assert!((0.9613 - 0.003..0.9613 + 0.0387).contains(&powers), "{powers}");
}

#[test]
fn estimates_are_popular_values_as_accurate_as_in_logs() {
    let jobs = LublinFeitelson::batch_and_interactive(128)
        .generate(50_000, 4)
        .expect("published constants");
    assert!(jobs.iter().all(|job| POPULAR_ESTIMATES.contains(&job.estimate)));
    let long: Vec<_> = jobs.iter().filter(|job| job.run >= 300).collect();
    let sum: f64 = long.iter().map(|job| job.run as f64 / job.estimate as f64).sum();
    let used = sum / long.len() as f64;
    assert!((used - 0.56).abs() < 0.02, "{used}");
}

#[test]
fn a_target_load_is_reached() {
    for model in variants(256) {
        let jobs = model.with_load(0.6).generate(5_000, 8).expect("in reach");
        let load = offered_load(&jobs, 256).expect("a span");
        assert!((load - 0.6).abs() < 1e-5, "{load}");
    }
}

#[test]
fn batch_jobs_do_not_depend_on_interactive_ones() {
    let both = LublinFeitelson::batch_and_interactive(128);
    let mut batch = both.generate(2_000, 6).expect("published constants");
    batch.retain(|job| job.kind == JobKind::Batch);
    let alone = LublinFeitelson::batch(128).generate(batch.len(), 6);
    assert_eq!(Ok(batch), alone);
}

#[test]
fn errors_name_the_cause() {
    type Change = fn(&mut LublinFeitelson, &mut JobClass);
    let good = LublinFeitelson::batch(128);
    let message = |change: Change| {
        let (mut model, mut class) = (good.clone(), JobClass::batch(128));
        change(&mut model, &mut class);
        model.batch = model.batch.map(|_| class);
        model.generate(10, 1).unwrap_err().to_string()
    };
    let cases: [(Change, &str); 8] = [
        (|m, _| m.processors = 0, "the machine has no processors"),
        (
            |m, _| m.batch = None,
            "the model has no class of jobs: give interactive, batch or untyped jobs",
        ),
        (
            |_, c| c.sizes.serial = 1.5,
            "batch jobs: sizes.serial is 1.5, but must be a probability from 0 to 1",
        ),
        (
            |_, c| c.sizes.power_of_two = 0.75,
            "batch jobs: sizes.power_of_two is 0.75, but must be at most 1 - sizes.serial",
        ),
        (
            |_, c| c.run_times.long.scale = -1.0,
            "batch jobs: run_times.long.scale is -1, but must be positive and finite",
        ),
        (
            |_, c| c.run_times.log_limit = 0.001,
            "batch jobs: run time exceeded the limit of e^0.001 s in all 10000 draws",
        ),
        (|m, _| m.estimates.badness = f64::NAN, "estimates.badness is NaN, but must be at least 0"),
        (|m, _| m.target_load = Some(0.0), "an offered load of 0 cannot be reached"),
    ];
    for (change, expected) in cases {
        assert_eq!(message(change), expected);
    }
    assert_eq!(good.generate(0, 1), Ok(vec![]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn jobs_are_valid_on_any_machine(processors in 1_u32..3_000, seed: u64, jobs in 0_usize..300) {
        for model in variants(processors) {
            let drawn = model.generate(jobs, seed).expect("published constants");
            prop_assert_eq!(drawn.len(), jobs);
            prop_assert!(drawn.is_sorted_by_key(|job| job.submit));
            for job in &drawn {
                prop_assert!((1..=processors).contains(&job.size));
                prop_assert!(job.submit >= 0 && job.run >= 1 && job.estimate >= job.run);
            }
        }
    }

    #[test]
    fn a_longer_workload_begins_with_the_shorter(seed: u64, short in 0_usize..100) {
        for model in variants(64) {
            let long = model.generate(150, seed).expect("published constants");
            prop_assert_eq!(&long[..short], model.generate(short, seed).expect("same"));
        }
    }
}
