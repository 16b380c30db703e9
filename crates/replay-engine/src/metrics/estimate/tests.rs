//! Tests of intervals against tables and simulation, and of [`replicate`] against a sequential
//! loop.

use super::*;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1, StandardNormal};
use rayon::ThreadPoolBuilder;
use std::convert::Infallible;

#[test]
fn student_t_agrees_with_tables() {
    for (confidence, freedom, expected) in [
        (0.95, 1, 12.706_205),
        (0.95, 2, 4.302_653),
        (0.95, 9, 2.262_157),
        (0.95, 29, 2.045_230),
        (0.95, 999, 1.962_341),
        (0.95, 4_999, 1.960_439),
        (0.90, 9, 1.833_113),
        (0.99, 29, 2.756_386),
        (0.5, 1, 1.0),
    ] {
        let t = student_t(confidence, freedom);
        assert!((t - expected).abs() < 1e-5, "{confidence} {freedom}: {t}");
    }
    assert_eq!(student_t(0.95, 0), f64::INFINITY);
    for confidence in [0.0, 0.0009, 0.9999999, 1.0, -1.0, 95.0, f64::NAN] {
        assert!(student_t(confidence, 9).is_nan(), "{confidence}");
    }
    // There are closed forms of Student's t for one and two degrees of freedom.
    for confidence in [0.001, 0.3, 0.999, 0.999_999] {
        let cauchy = (std::f64::consts::FRAC_PI_2 * confidence).tan();
        let two = confidence * (2.0 / (1.0 - confidence * confidence)).sqrt();
        for (freedom, expected) in [(1, cauchy), (2, two)] {
            let t = student_t(confidence, freedom);
            assert!((t / expected - 1.0).abs() < 1e-5, "{confidence} {freedom}: {t} {expected}");
        }
    }
}

#[test]
fn student_t_is_continuous_where_the_expansion_begins() {
    for confidence in [0.001, 0.01, 0.3, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.999_999] {
        let normal = Normal::standard().inverse_cdf(0.5 + confidence / 2.0);
        for freedom in [MANY / 2, MANY - 1, MANY] {
            let (t, expanded) = (student_t(confidence, freedom), expansion(normal, freedom as f64));
            assert!((t / expanded - 1.0).abs() < 1e-6, "{confidence} {freedom}: {t} {expanded}");
        }
        let t = student_t(confidence, u64::MAX);
        assert!((t / normal - 1.0).abs() < 1e-12, "{confidence}: {t} {normal}");
        let few = (1..MANY + 3).map(|freedom| student_t(confidence, freedom));
        assert!(few.is_sorted_by(|a, b| *a > b * (1.0 - 1e-6)), "{confidence}");
    }
}

#[test]
fn fewer_than_two_values_have_no_interval() {
    let none = Accumulator::default();
    assert!(none.mean().is_nan() && none.variance().is_nan());
    let one: Accumulator = [3.0].into_iter().collect();
    let estimate = one.estimate(0.95);
    assert_eq!((estimate.mean, estimate.half_width), (3.0, f64::INFINITY));
    let same: Accumulator = [0.0; 5].into_iter().collect();
    assert_eq!(same.estimate(0.95).relative(), 0.0);
    let around_zero: Accumulator = [-1.0, 1.0].into_iter().collect();
    assert_eq!(around_zero.estimate(0.95).relative(), f64::INFINITY);
    let negative: Accumulator = [-4.0, -6.0].into_iter().collect();
    let estimate = negative.estimate(0.95);
    assert!((estimate.relative() - 12.706_205 / 5.0).abs() < 1e-5);
    assert_eq!(estimate.interval(), [-5.0 - estimate.half_width, -5.0 + estimate.half_width]);
}

#[test]
fn a_large_mean_does_not_affect_the_variance() {
    let values: Accumulator = [4.0, 7.0, 13.0, 16.0].into_iter().map(|x| x + 1e9).collect();
    assert_eq!((values.mean(), values.variance()), (1e9 + 10.0, 30.0));
}

/// Returns the share of the trials in which the interval contains the true mean.
fn coverage(trials: u64, mean: f64, estimate: impl Fn(&mut ChaCha8Rng) -> Estimate) -> f64 {
    let covers = |trial| {
        let [low, high] = estimate(&mut ChaCha8Rng::seed_from_u64(trial)).interval();
        (low..=high).contains(&mean)
    };
    (0..trials).filter(|&trial| covers(trial)).count() as f64 / trials as f64
}

#[test]
fn intervals_of_normal_values_have_the_stated_coverage() {
    const TRIALS: u64 = 20_000;
    for (confidence, count) in [(0.95, 3), (0.95, 10), (0.8, 5)] {
        let normal = |rng: &mut ChaCha8Rng| -> f64 { StandardNormal.sample(rng) };
        let covered = coverage(TRIALS, 50.0, |rng| {
            (0..count)
                .map(|_| 50.0 + 7.0 * normal(rng))
                .collect::<Accumulator>()
                .estimate(confidence)
        });
        let slack = 4.0 * (confidence * (1.0 - confidence) / TRIALS as f64).sqrt();
        assert!((covered - confidence).abs() < slack, "{confidence} {count}: {covered}");
    }
}

/// Returns the value of a replication: an exponential number with mean 1, drawn from a random
/// stream of this replication.
fn exponential(seed: u64, replication: u64) -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(replication);
    Exp1.sample(&mut rng)
}

#[test]
fn the_stop_rule_keeps_most_of_the_coverage() {
    let rule = StopRule { relative: 0.1, ..StopRule::default() };
    let covered = coverage(1_000, 1.0, |rng| {
        let seed = rng.next_u64();
        let run = |replication| Ok::<_, Infallible>([exponential(seed, replication)]);
        let result = replicate(&rule, &[0], run).expect("finite");
        assert!(result.met && result.samples.len() > 30);
        result.estimates(0.95)[0]
    });
    assert!((0.91..0.96).contains(&covered), "{covered}");
}

/// Reference implementation of [`replicate`]. The function runs replications one after another, and
/// recomputes all statistics after each replication.
fn replicate_sequentially(
    rule: &StopRule,
    watched: &[usize],
    run: impl Fn(u64) -> [f64; 2],
) -> (u64, bool) {
    for count in rule.minimum..=rule.maximum {
        let met = watched.iter().all(|&index| {
            let values = || (0..count).map(|replication| run(replication)[index]);
            let mean = values().sum::<f64>() / count as f64;
            let squares: f64 = values().map(|value| (value - mean).powi(2)).sum();
            let error = (squares / (count - 1) as f64 / count as f64).sqrt();
            student_t(rule.confidence, count - 1) * error <= rule.relative * mean.abs()
        });
        if met {
            return (count, true);
        }
    }
    (rule.maximum, false)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn results_do_not_depend_on_threads_and_batches(
        seed: u64,
        relative in 0.08..0.5,
        minimum in 2_u64..40,
        more in 0_u64..150,
        watched in prop::sample::subsequence(vec![0_usize, 1], 0..=2),
    ) {
        let rule = StopRule { relative, minimum, maximum: minimum + more, ..StopRule::default() };
        let run = |replication| {
            let value = exponential(seed, replication);
            [value, value * value]
        };
        let results = [1, 2, 5].map(|threads| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| replicate(&rule, &watched, |r| Ok::<_, Infallible>(run(r))))
                .expect("finite")
        });
        let expected = replicate_sequentially(&rule, &watched, run);
        for result in &results {
            prop_assert_eq!((result.samples.len() as u64, result.met), expected);
            prop_assert_eq!(result, &results[0]);
        }
        let samples: Vec<[f64; 2]> = (0..expected.0).map(run).collect();
        prop_assert_eq!(&results[0].samples, &samples);
        let first: Accumulator = samples.iter().map(|sample| sample[0]).collect();
        prop_assert_eq!(results[0].measures[0], first);
    }
}

#[test]
fn accepts_measures_in_a_vector() {
    let run = |replication: u64| Ok::<_, Infallible>(vec![1.0, replication as f64, f64::NAN]);
    let result = replicate(&StopRule::exactly(5), &[1], run).expect("watched measures are finite");
    assert_eq!((result.samples.len(), result.met), (5, false));
    assert_eq!((result.measures[1].mean(), result.measures[1].variance()), (2.0, 2.5));
    assert!(result.measures[2].mean().is_nan());
}

#[test]
fn errors_describe_the_problem() {
    type Run = fn(u64) -> Result<Vec<f64>, &'static str>;
    let message = |rule: StopRule, watched: &[usize], run: Run| {
        replicate(&rule, watched, run).unwrap_err().to_string()
    };
    let rule = StopRule::default();
    let good: Run = |_| Ok(vec![1.0]);
    let cases: [(StopRule, &[usize], Run, &str); 9] = [
        (
            StopRule { confidence: 95.0, ..rule },
            &[],
            good,
            "stop rule: the confidence is 95; it must be from 0.001 to 0.999999",
        ),
        (
            StopRule { relative: f64::NAN, ..rule },
            &[],
            good,
            "stop rule: the relative half-width is NaN; it must be above 0",
        ),
        (
            StopRule { maximum: 29, ..rule },
            &[],
            good,
            "stop rule: the minimum of 30 replications exceeds the maximum of 29",
        ),
        (StopRule::exactly(0), &[], good, "stop rule: there must be at least one replication"),
        (
            rule,
            &[1],
            good,
            "cannot watch the measure with index 1 (from 0): a replication has only 1 measure",
        ),
        (
            rule,
            &[0],
            |r| Ok(vec![1.0 / (20 - r.min(20)) as f64]),
            "replication 20: measure 0 is inf",
        ),
        (
            rule,
            &[],
            |r| Ok(vec![1.0; 1 + usize::from(r == 3)]),
            "replication 3 has 2 measures, the first has 1",
        ),
        (
            rule,
            &[0],
            |r| if r % 10 == 7 { Err("no power") } else { Ok(vec![1.0]) },
            "replication 7: no power",
        ),
        // The failure with the lowest replication number is reported, not the earliest failure in
        // time.
        (
            rule,
            &[0],
            |r| match r {
                2 => {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                    Err("late")
                }
                3.. => Err("early"),
                _ => Ok(vec![1.0]),
            },
            "replication 2: late",
        ),
    ];
    for (rule, watched, run, expected) in cases {
        assert_eq!(message(rule, watched, run), expected);
    }
}

#[test]
fn ignores_a_failure_beyond_the_stop() {
    // The rule is satisfied after 33 replications, within the batch from 30 to 45.
    let run = |replication| match replication {
        0 => Ok([9.0]),
        1..40 => Ok([1.0]),
        _ => Err("not needed"),
    };
    let spread = |count: f64| {
        let mean = (count + 8.0) / count;
        student_t(0.95, count as u64 - 1) * (8.0 / count) / mean
    };
    let rule = StopRule { relative: spread(33.0) * (1.0 + 1e-9), ..StopRule::default() };
    let result = replicate(&rule, &[0], run).expect("stopped before the failure");
    assert_eq!((result.samples.len(), result.met), (33, true));
}

#[test]
fn a_rule_parses_from_toml() {
    let rule: StopRule = toml::from_str("relative = 0.02\nmaximum = 100").expect("a rule");
    assert_eq!(rule, StopRule { relative: 0.02, maximum: 100, ..StopRule::default() });
    assert!(toml::from_str::<StopRule>("relativ = 0.02").is_err());
}
