//! Tests of whole streams.

use super::arrivals::descriptions;
use super::*;
use proptest::prelude::*;

fn lo(sides: &str, service: &str, arrivals: &str) -> StochasticStream {
    StochasticStream {
        arrivals: arrivals.parse().expect(arrivals),
        sides: sides.parse().expect(sides),
        service: service.parse().expect(service),
        ..StochasticStream::new([32, 32, 1])
    }
}

fn stream(model: &StochasticStream, seed: u64, replication: u64) -> Stream {
    model.generate(seed, replication).expect("a possible model")
}

fn column<T>(stream: &Stream, of: fn(&Job) -> T) -> Vec<T> {
    stream.jobs.iter().map(of).collect()
}

#[test]
fn the_jobs_of_a_seed_are_pinned() {
    let digest = |model: &StochasticStream, replication| {
        let stream = stream(model, 1, replication);
        let mut hasher = blake3::Hasher::new();
        for job in &stream.jobs {
            for field in [job.number, job.submit, job.run, job.estimate, i64::from(job.size)] {
                hasher.update(&field.to_le_bytes());
            }
            job.shape.iter().flatten().for_each(|side| {
                hasher.update(&side.to_le_bytes());
            });
        }
        hasher.finalize().to_hex()[..16].to_owned()
    };
    // A tick is a thousandth of a time unit, which is too coarse for the last bit of a logarithm to matter.
    let coarse = |model| StochasticStream { ticks_per_unit: 1000, ..model };
    let first = coarse(lo("uniform", "exponential", "exponential"));
    let second = coarse(lo("decreasing", "pareto", "exponential[rate=0.045]"));
    let third = coarse(lo("exponential", "normal", "at-once"));
    let digests = [digest(&first, 0), digest(&first, 1), digest(&second, 0), digest(&third, 0)];
    assert_eq!(
        digests,
        ["675c671e41a93361", "5fbca6634c828e79", "39db49806f46fc17", "02caaaaf4b04d289"]
    );
}

#[test]
fn another_load_stretches_the_same_arrivals() {
    let light = stream(&lo("uniform", "exponential", "exponential[mean=1]"), 7, 3);
    let heavy = stream(&lo("uniform", "exponential", "exponential[mean=0.25]"), 7, 3);
    assert_eq!(column(&light, |job| job.shape), column(&heavy, |job| job.shape));
    assert_eq!(column(&light, |job| job.run), column(&heavy, |job| job.run));
    for (light, heavy) in light.jobs.iter().zip(&heavy.jobs) {
        // Rounding changes each time by at most half a tick.
        assert!((light.submit - 4 * heavy.submit).abs() <= 2, "{light:?} {heavy:?}");
    }
    assert!(light.jobs[999].submit > 500 * i64::from(TICKS_PER_UNIT));
}

#[test]
fn each_step_has_its_own_numbers() {
    let base = stream(&lo("uniform", "exponential", "exponential"), 7, 3);
    let other = stream(&lo("exponential", "pareto", "exponential"), 7, 3);
    assert_eq!(column(&base, |job| job.submit), column(&other, |job| job.submit));
    assert_ne!(column(&base, |job| job.shape), column(&other, |job| job.shape));
    // Each value is a quantile at one random number, so equal random numbers give values in the same order.
    let follows = |values: &[i64], leader: &[i64]| {
        let mut order: Vec<usize> = (0..leader.len()).collect();
        order.sort_by_key(|&i| leader[i]);
        order.is_sorted_by_key(|&i| values[i])
    };
    let gaps = |stream: &Stream| -> Vec<i64> {
        let submits = column(stream, |job| job.submit);
        (0..submits.len()).map(|i| submits[i] - if i == 0 { 0 } else { submits[i - 1] }).collect()
    };
    let [runs, gaps] = [column(&base, |job| job.run), gaps(&base)];
    // Jobs that are long under one distribution are long under the other. The Pareto times are longer than the
    // exponential times, so fewer Pareto times are equal.
    assert!(follows(&runs, &column(&other, |job| job.run)));
    assert!(!follows(&runs, &gaps));
    // A request uses three random numbers.
    let widths = column(&base, |job| job.shape.map_or(0, |shape| i64::from(shape[0])));
    let widths = &widths[..333];
    for times in [runs, gaps] {
        let thirds: Vec<i64> = times.into_iter().step_by(3).take(333).collect();
        assert!(!follows(widths, &thirds));
    }
}

#[test]
fn replications_and_seeds_differ() {
    let model = lo("uniform", "exponential", "exponential");
    let base = stream(&model, 7, 3);
    for other in [stream(&model, 7, 4), stream(&model, 8, 3), stream(&model, 3, 7)] {
        assert_ne!(column(&base, |job| job.shape), column(&other, |job| job.shape));
        assert_ne!(column(&base, |job| job.submit), column(&other, |job| job.submit));
        assert_ne!(column(&base, |job| job.run), column(&other, |job| job.run));
    }
}

#[test]
fn times_have_their_means() {
    const JOBS: u32 = 400_000;
    for (service, deviation) in [("exponential[mean=3]", 3.0), ("normal[mean=5,sd=2]", 2.0)] {
        let model =
            StochasticStream { jobs: JOBS, ..lo("uniform", service, "exponential[rate=5.8]") };
        let stream = stream(&model, 11, 0);
        let unit = f64::from(TICKS_PER_UNIT);
        let root = f64::from(JOBS).sqrt();
        let runs = stream.jobs.iter().map(|job| job.run as f64).sum::<f64>();
        let mean = runs / unit / f64::from(JOBS);
        assert!((mean - model.service.mean()).abs() < 4.0 * deviation / root, "{service}: {mean}");
        let last = stream.jobs[JOBS as usize - 1].submit as f64 / unit;
        assert!((5.8 * last / f64::from(JOBS) - 1.0).abs() < 4.0 / root, "{last}");
    }
}

#[test]
fn inter_arrival_times_are_exponential() {
    let model = StochasticStream { jobs: 100_000, ..lo("uniform", "exponential", "exponential") };
    let submits = column(&stream(&model, 2, 0), |job| job.submit);
    let gaps: Vec<f64> =
        submits.windows(2).map(|w| (w[1] - w[0]) as f64 / f64::from(TICKS_PER_UNIT)).collect();
    for at in [0.1, 0.5, 1.0, 2.0, 4.0] {
        let share = gaps.iter().filter(|&&gap| gap > at).count() as f64 / gaps.len() as f64;
        let p = f64::exp(-at);
        let slack = 5.0 * (p * (1.0 - p) / gaps.len() as f64).sqrt();
        assert!((share - p).abs() < slack, "{at}: {share} {p}");
    }
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let product: f64 = gaps.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
    let correlation = product / gaps.len() as f64;
    assert!(correlation.abs() < 5.0 / (gaps.len() as f64).sqrt(), "{correlation}");
}

#[test]
fn loads_have_closed_forms() {
    let model = lo("uniform", "exponential[mean=2]", "exponential[rate=1.5]");
    assert_eq!(model.mean_size(), Ok(16.5 * 16.5));
    let load = model.offered_load().expect("a possible model");
    assert!((load - 1.5 * 2.0 * 16.5 * 16.5 / 1024.0).abs() < 1e-12, "{load}");
    let at_once = lo("uniform", "exponential", "at-once");
    assert_eq!(at_once.offered_load(), Ok(f64::INFINITY));
    assert!(stream(&at_once, 1, 1).jobs.iter().all(|job| job.submit == 0));
}

#[test]
fn short_jobs_run_for_a_tick() {
    let mut model = lo("uniform", "exponential[mean=0.001]", "exponential");
    model.ticks_per_unit = 1;
    assert!(stream(&model, 1, 0).jobs.iter().all(|job| job.run == 1));
}

#[test]
fn errors_name_the_cause() {
    type Change = fn(&mut StochasticStream);
    let message = |change: Change| {
        let mut model = lo("uniform", "exponential", "exponential");
        change(&mut model);
        model.generate(1, 0).unwrap_err().to_string()
    };
    let cases: [(Change, &str); 8] = [
        (|m| m.extents[1] = 0, "a machine of 32 x 0 x 1 processors cannot be used"),
        (
            |m| m.extents = [65535; 3],
            "a machine of 65535 x 65535 x 65535 processors cannot be used",
        ),
        (|m| m.ticks_per_unit = 0, "a time unit must have at least one tick"),
        (
            |m| m.arrivals = Arrivals::Exponential { mean: -1.0 },
            "arrivals \"exponential[mean=-1]\": mean=\"-1\" is not a positive number",
        ),
        (
            |m| m.service = Service::Deterministic { time: f64::NAN },
            "service \"deterministic[time=NaN]\": time=\"NaN\" is not a positive number",
        ),
        (
            |m| m.sides = Sides::plain(SideLaw::Fixed(33)),
            "sides \"fixed[side=33]\": sides of up to 33 exceed the machine's side, 32",
        ),
        (
            |m| m.arrivals = Arrivals::Exponential { mean: 1e300 },
            "the jobs would last longer than 2^53 ticks, 1000000 ticks per time unit: choose fewer jobs \
             or fewer ticks",
        ),
        (
            // The time of each of the thousand jobs is far below the limit.
            |m| m.service = Service::Deterministic { time: 1e7 },
            "the jobs would last longer than 2^53 ticks, 1000000 ticks per time unit: choose fewer jobs \
             or fewer ticks",
        ),
    ];
    for (change, expected) in cases {
        assert_eq!(message(change), expected);
    }
    let none = StochasticStream { jobs: 0, ..StochasticStream::new([4, 4, 1]) };
    assert_eq!(stream(&none, 1, 0).jobs, []);
}

#[test]
fn arrivals_are_written_as_mean_or_rate() {
    for (text, canonical) in [
        ("exponential", "exponential[mean=1]"),
        ("poisson[rate=4]", "exponential[mean=0.25]"),
        ("exponential[rate=0.105]", "exponential[mean=9.523809523809524]"),
        ("at_once", "at-once"),
    ] {
        assert_eq!(text.parse::<Arrivals>().expect(text).to_string(), canonical);
    }
    for (text, problem) in [
        ("exponential[mean=1,rate=1]", "mean and rate are alternatives; give only one"),
        ("exponential[rate=0]", "rate=\"0\" is not a positive number"),
        // The rate is positive, but its inverse is not finite.
        ("exponential[rate=1e-320]", "mean=\"inf\" is not a positive number"),
        ("at-once[mean=1]", "unknown parameter \"mean\"; this name has no parameters"),
        ("weekly", "unknown; known are exponential, at-once"),
    ] {
        assert_eq!(text.parse::<Arrivals>().unwrap_err().problem, problem, "{text}");
    }
    for description in descriptions() {
        assert!(description.name.parse::<Arrivals>().is_ok());
    }
}

#[test]
fn a_model_is_serialised_by_its_names() {
    let model = lo("increasing", "pareto", "exponential[rate=10]");
    let json = serde_json::to_string(&model).expect("plain data");
    assert_eq!(
        json,
        r#"{"arrivals":"exponential[mean=0.1]","sides":"increasing","service":"pareto[k=15,q=4241,alpha=1]","jobs":1000,"extents":[32,32,1],"ticks_per_unit":1000000}"#
    );
    let service: Result<Service, _> = serde_json::from_str(r#""pareto[k=0]""#);
    let error = service.unwrap_err().to_string();
    assert!(error.contains("k=\"0\" is not a positive number"), "{error}");
    assert_eq!(serde_json::from_str::<Sides>(r#""increasing""#).ok(), Some(model.sides));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn jobs_are_valid_on_any_machine(
        sides in sides::tests::any_sides(),
        service in service::tests::services(),
        extents in prop::array::uniform3(prop_oneof![Just(1_u16), 8..40_u16]),
        mean in 1e-3..1e3,
        seed: u64,
        replication: u64,
        jobs in 0_u32..200,
    ) {
        let (arrivals, ticks_per_unit) = (Arrivals::Exponential { mean }, TICKS_PER_UNIT);
        let model = StochasticStream { arrivals, sides, service, jobs, extents, ticks_per_unit };
        let drawn = stream(&model, seed, replication);
        prop_assert_eq!(drawn.jobs.len(), jobs as usize);
        prop_assert!(drawn.jobs.is_sorted_by_key(|job| job.submit));
        for (number, job) in (1..).zip(&drawn.jobs) {
            let shape = job.shape.expect("a shape");
            prop_assert!(shape.iter().zip(extents).all(|(&side, extent)| (1..=extent).contains(&side)));
            prop_assert!(!model.sides.power_of_two || shape.iter().all(|side| side.is_power_of_two()));
            let size: u32 = shape.iter().map(|&side| u32::from(side)).product();
            let expected =
                Job { number, size, run: job.run.max(1), estimate: job.run, line: 0, ..*job };
            prop_assert_eq!(*job, expected);
            prop_assert!(job.submit >= 0);
        }
        let longer = stream(&StochasticStream { jobs: jobs + 50, ..model }, seed, replication);
        prop_assert_eq!(&longer.jobs[..drawn.jobs.len()], drawn.jobs);
    }
}
