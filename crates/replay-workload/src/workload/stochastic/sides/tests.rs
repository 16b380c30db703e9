use super::super::random;
use super::law::cut;
use super::names::TABLE;
use super::*;
use proptest::prelude::*;
use rand::SeedableRng;

fn sides(text: &str) -> Sides {
    text.parse().expect(text)
}

fn mean(text: &str, extent: u16) -> f64 {
    let probabilities = sides(text).probabilities(extent).expect("a side that fits");
    (1..=extent).zip(probabilities).map(|(side, p)| f64::from(side) * p).sum()
}

#[test]
fn exponential_sides_are_cut_and_limited() {
    for (x, side) in
        [(0.0, 1), (0.3, 1), (1.99, 1), (2.0, 2), (15.999, 15), (16.0, 16), (900.0, 16)]
    {
        assert_eq!(cut(x, 16), side, "{x}");
    }
    assert_eq!(cut(1e300, 16), 16);
}

#[test]
fn exponential_sides_have_the_means_of_the_thesis() {
    for (extent, expected) in
        [(8, 3.2655), (10, 4.0867), (12, 4.9212), (16, 6.6115), (32, 13.467), (64, 27.270)]
    {
        let mean = mean("exponential", extent);
        // The thesis prints five digits.
        let slack = if expected < 10.0 { 5e-5 } else { 5e-4 };
        assert!((mean - expected).abs() < slack, "{extent}: {mean}");
    }
    let probabilities = sides("exponential").probabilities(16).expect("fits");
    assert!((probabilities[0] - (1.0 - (-0.25_f64).exp())).abs() < 1e-15);
    assert!((probabilities[15] - (-2.0_f64).exp()).abs() < 1e-15);
}

/// Returns the sum of an interval's probabilities.
fn share(probabilities: &[f64], low: usize, high: usize) -> f64 {
    probabilities[low - 1..high].iter().sum()
}

#[test]
fn skewed_sides_are_those_printed_for_32() {
    let increasing = sides("increasing").probabilities(32).expect("fits");
    let decreasing = sides("decreasing").probabilities(32).expect("fits");
    for (probabilities, intervals) in [
        (increasing, [(1, 16, 0.2), (17, 24, 0.2), (25, 28, 0.2), (29, 32, 0.4)]),
        (decreasing, [(1, 4, 0.4), (5, 8, 0.2), (9, 16, 0.2), (17, 32, 0.2)]),
    ] {
        for (low, high, p) in intervals {
            assert!((share(&probabilities, low, high) - p).abs() < 1e-15);
            let inside = &probabilities[low - 1..high];
            assert!(inside.iter().all(|&each| each == inside[0]));
        }
    }
    assert!((mean("increasing", 32) - 23.3).abs() < 1e-12);
    assert!((mean("decreasing", 32) - 9.7).abs() < 1e-12);
}

#[test]
fn skewed_sides_fit_every_machine_from_8() {
    for extent in 8..300 {
        for (text, ends, p) in [
            ("increasing", [4, 6, 7, 8], [0.2, 0.2, 0.2, 0.4]),
            ("decreasing", [1, 2, 4, 8], [0.4, 0.2, 0.2, 0.2]),
        ] {
            let probabilities = sides(text).probabilities(extent).expect("at least 8");
            let mut low = 1;
            for (end, p) in ends.into_iter().zip(p) {
                let high = (usize::from(extent) * end).div_ceil(8);
                assert!((share(&probabilities, low, high) - p).abs() < 1e-12, "{text} {extent}");
                low = high + 1;
            }
        }
    }
}

#[test]
fn rounding_goes_down_to_a_power_of_two() {
    let rounded = sides("uniform[low=2,high=16,round=power-of-two]").probabilities(16);
    let mut expected = [0.0; 16];
    for (side, count) in [(2, 2.0), (4, 4.0), (8, 8.0), (16, 1.0)] {
        expected[side - 1] = count / 15.0;
    }
    for (p, expected) in rounded.expect("fits").into_iter().zip(expected) {
        assert!((p - expected).abs() < 1e-15, "{p} {expected}");
    }
}

#[test]
fn the_largest_number_gives_the_longest_side() {
    let largest = 1.0 - f64::EPSILON / 2.0;
    for extent in 1..=u16::MAX {
        let law = Sides::UNIFORM.axis(extent).expect("fits");
        assert_eq!((law.quantile(0.0), law.quantile(largest)), (1, extent));
    }
    for text in ["increasing", "decreasing", "exponential", "intervals[sides=1:0.3,2-3:0.7]"] {
        let law = sides(text).axis(32).expect("fits");
        let longest = if text.starts_with("intervals") { 3 } else { 32 };
        assert_eq!((law.quantile(0.0), law.quantile(largest)), (1, longest), "{text}");
    }
}

/// Returns, for each dimension of the machine, the share of each side in many draws.
fn sampled(sides: &Sides, extents: [u16; 3], draws: u32) -> [Vec<f64>; 3] {
    let sampler = sides.sampler(extents).expect("fits");
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut shares = extents.map(|extent| vec![0.0; usize::from(extent)]);
    for _ in 0..draws {
        for (share, side) in shares.iter_mut().zip(sampler.draw(&mut rng)) {
            share[usize::from(side) - 1] += 1.0 / f64::from(draws);
        }
    }
    shares
}

#[test]
fn sides_are_drawn_with_their_probabilities() {
    const DRAWS: u32 = 200_000;
    for text in [
        "uniform",
        "uniform[low=2,high=9,round=power-of-two]",
        "exponential",
        "exponential[mean=3]",
        "increasing",
        "decreasing",
        "intervals[sides=1-3:0.5,5:0.25,7-8:0.25]",
        "fixed[side=4]",
    ] {
        let extents = [10, 32, 1];
        for (shares, extent) in sampled(&sides(text), extents, DRAWS).iter().zip(extents) {
            let probabilities = sides(text).probabilities(extent).expect("fits");
            assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{text}");
            for (share, p) in shares.iter().zip(probabilities) {
                let slack = 5.0 * (p * (1.0 - p) / f64::from(DRAWS)).sqrt() + 1e-9;
                assert!((share - p).abs() <= slack, "{text} on {extent}: {share} {p}");
            }
        }
    }
}

#[test]
fn mean_sizes_are_exact() {
    let size = |text, extents| sides(text).mean_size(extents).expect("fits");
    assert_eq!(size("uniform", [32, 32, 1]), 16.5 * 16.5);
    assert!((size("uniform", [3, 5, 7]) - 2.0 * 3.0 * 4.0).abs() < 1e-12);
    assert_eq!(size("fixed[side=3]", [4, 4, 4]), 27.0);
    // The mean is (1 + 4 + 9) / 3, because the shortest side of the machine is 3.
    assert!((size("uniform[equal=yes]", [3, 5, 1]) - 14.0 / 3.0).abs() < 1e-12);
    assert!((size("uniform[equal=yes]", [3, 5, 4]) - 12.0).abs() < 1e-12);
    assert_eq!(size("uniform[equal=yes]", [1, 1, 1]), 1.0);
}

#[test]
fn sides_are_independent_unless_equal() {
    let shapes = |text| {
        let sides = sides(text);
        let sampler = sides.sampler([16, 16, 16]).expect("fits");
        let mut rng = random::stream(1, 0, random::Step::Sides);
        (0..20_000).map(|_| sampler.draw(&mut rng)).collect::<Vec<_>>()
    };
    let (free, equal) = (shapes("uniform"), shapes("uniform[equal=yes]"));
    assert!(equal.iter().all(|&[w, h, d]| w == h && h == d));
    assert!(free.iter().zip(&equal).all(|(free, equal)| free[0] == equal[0]));
    for (a, b) in [(0, 1), (0, 2), (1, 2)] {
        // The standard deviation of the sum of products is the variance of a side, 21.25, times sqrt(20000).
        let product = |s: &[u16; 3]| (f64::from(s[a]) - 8.5) * (f64::from(s[b]) - 8.5);
        let sum: f64 = free.iter().map(product).sum();
        assert!(sum.abs() < 5.0 * 21.25 * 20_000_f64.sqrt(), "{a} {b}: {sum}");
    }
}

/// Jobs are small or large: no request has sides from both intervals. Each interval occurs with its probability, and
/// the sides are independent and uniform within an interval.
#[test]
fn a_job_is_small_or_large() {
    let sides = sides("intervals[sides=1-8:0.3,17-32:0.7,choice=job]");
    let sampler = sides.sampler([32, 32, 1]).expect("fits");
    let mut rng = random::stream(1, 0, random::Step::Sides);
    let draws = 40_000;
    let mut counts = [[0u32; 33]; 33];
    for _ in 0..draws {
        let [x, y, z] = sampler.draw(&mut rng).map(usize::from);
        assert_eq!(z, 1);
        counts[x][y] += 1;
    }
    let mut size = 0.0;
    for (x, row) in counts.iter().enumerate() {
        for (y, &count) in row.iter().enumerate() {
            let expected = match (x, y) {
                (1..=8, 1..=8) => 0.3 / 64.0,
                (17..=32, 17..=32) => 0.7 / 256.0,
                _ => 0.0,
            } * f64::from(draws);
            size += expected * (x * y) as f64 / f64::from(draws);
            assert!(
                (f64::from(count) - expected).abs() <= 5.0 * expected.sqrt(),
                "{x} {y} {count}"
            );
        }
    }
    assert!((sides.mean_size([32, 32, 1]).expect("fits") - size).abs() < 1e-9);
}

#[test]
fn names_are_canonical() {
    for (text, canonical) in [
        ("uniform[low=1]", "uniform"),
        ("uniform[high=16,low=2]", "uniform[low=2,high=16]"),
        ("Exponential[mean=16.0,round=none]", "exponential[mean=16]"),
        ("increasing[equal=yes,round=power-of-two]", "increasing[round=power-of-two,equal=yes]"),
        ("decreasing[equal=no]", "decreasing"),
        ("intervals[sides=1-1:.5, 2 - 4 : 0.50]", "intervals[sides=1:0.5,2-4:0.5]"),
        ("fixed", "fixed[side=1]"),
        ("intervals[choice=job,sides=1:1]", "intervals[sides=1:1,choice=job]"),
    ] {
        assert_eq!(sides(text).to_string(), canonical);
    }
}

#[test]
fn impossible_sides_are_refused() {
    for (text, problem) in [
        ("unifrom", "unknown; did you mean \"uniform\"?"),
        ("uniform[low=0]", "low=\"0\" is not an integer from 1 to 65535"),
        ("uniform[low=5,high=4]", "low is 5, but must be at most 4"),
        ("uniform[high=70000]", "high=\"70000\" is not an integer from 1 to 65535"),
        ("uniform[mean=4]", "unknown parameter \"mean\"; known are low, high, round, equal"),
        ("exponential[mean=-1]", "mean=\"-1\" is not a positive number"),
        ("fixed[side=0]", "side=\"0\" is not an integer from 1 to 65535"),
        ("fixed[equal=maybe]", "equal=\"maybe\" is not one of no, yes"),
        ("intervals", "write the intervals: intervals[sides=1-4:0.5,5-8:0.5]"),
        ("intervals[sides=1-4]", "\"1-4\" is not low-high:probability, like 1-4:0.5"),
        ("intervals[sides=0-4:1]", "0-4 is not above 0: intervals must ascend from 1"),
        ("intervals[sides=1-4:0.5,4-5:0.5]", "4-5 is not above 4: intervals must ascend from 1"),
        ("intervals[sides=1-4:0.5,8-5:0.5]", "8-5 is not above 4: intervals must ascend from 1"),
        ("intervals[sides=1-4:0.5]", "the probabilities add up to 0.5, but must add up to 1"),
        ("intervals[sides=1:nan]", "a probability is NaN, but must be positive"),
    ] {
        assert_eq!(text.parse::<Sides>().unwrap_err().problem, problem, "{text}");
    }
}

#[test]
fn sides_that_do_not_fit_the_machine_are_refused() {
    for (text, extent, problem) in [
        ("uniform[high=9]", 8, "sides of up to 9 exceed the machine's side, 8"),
        ("uniform[low=9]", 8, "sides of up to 9 exceed the machine's side, 8"),
        ("fixed[side=9]", 8, "sides of up to 9 exceed the machine's side, 8"),
        ("intervals[sides=3-9:1]", 8, "sides of up to 9 exceed the machine's side, 8"),
        ("increasing", 7, "the machine's side is 7, but must be at least 8"),
    ] {
        let error = sides(text).probabilities(extent).unwrap_err();
        assert_eq!((error.kind, error.problem.as_str()), ("sides", problem), "{text}");
        // A dimension that the machine does not have accepts any distribution.
        assert_eq!(sides(text).probabilities(1), Ok(vec![1.0]), "{text}");
    }
}

#[test]
fn the_listing_has_the_defaults() {
    // `intervals` and `subcubes` have required parameters.
    let plain = |name: &str| !["intervals", "subcubes"].contains(&name);
    for description in descriptions().into_iter().filter(|d| plain(&d.name)) {
        let listed = |key: &str| {
            description.parameters.iter().find(|p| p.key == key).map(|p| p.default.to_string())
        };
        let name = TABLE.name(&sides(&description.name));
        for (key, value) in &name.parameters {
            assert_eq!(Some(value), listed(key).as_ref(), "{name}");
        }
        assert_eq!(listed("round"), Some("none".to_string()));
    }
}

/// Generates valid distributions of all kinds for machines with sides of 8 or more.
pub(in super::super) fn any_sides() -> impl Strategy<Value = Sides> {
    let law = prop_oneof![
        (1_u16..=8, proptest::option::of(0_u16..8)).prop_map(|(low, more)| SideLaw::Uniform {
            low,
            high: more.map(|more| (low + more).min(8)),
        }),
        proptest::option::of(0.01..100.0).prop_map(|mean| SideLaw::Exponential { mean }),
        Just(SideLaw::Increasing),
        Just(SideLaw::Decreasing),
        (1_u16..=8).prop_map(SideLaw::Fixed),
        (1_u16..4, 0.001..0.999, any::<bool>()).prop_map(|(end, probability, by_job)| {
            let intervals = vec![
                Interval { low: 1, high: end, probability },
                Interval { low: end + 2, high: 8, probability: 1.0 - probability },
            ];
            SideLaw::Intervals { intervals, by_job }
        }),
    ];
    (law, any::<bool>(), any::<bool>()).prop_map(|(law, power_of_two, equal)| Sides {
        law,
        power_of_two,
        equal,
    })
}

proptest! {
    #[test]
    fn print_and_parse_are_inverse(sides in any_sides()) {
        prop_assert_eq!(sides.to_string().parse(), Ok(sides));
    }

    #[test]
    fn quantiles_ascend(sides in any_sides(), extent in 8_u16..100, a in 0.0..1.0, b in 0.0..1.0) {
        let law = sides.axis(extent).expect("fits");
        let [low, high] = [f64::min(a, b), f64::max(a, b)].map(|u| law.quantile(u));
        prop_assert!(1 <= low && low <= high && high <= extent, "{low} {high}");
    }

    /// The side at u is the first side at which the distribution function exceeds u.
    #[test]
    fn quantiles_invert_the_probabilities(sides in any_sides(), extent in 8_u16..40, u in 0.0..1.0) {
        let sides = Sides { power_of_two: false, ..sides };
        let side = sides.axis(extent).expect("fits").quantile(u);
        let probabilities = sides.probabilities(extent).expect("fits");
        let below: f64 = probabilities[..usize::from(side) - 1].iter().sum();
        let up_to = below + probabilities[usize::from(side) - 1];
        prop_assert!(below <= u + 1e-12 && u <= up_to + 1e-12, "{side}: {below} {u} {up_to}");
    }
}

#[test]
fn subcubes_are_as_nearly_square_as_the_machine_allows() {
    assert_eq!(nearly_square(0, [16, 16, 1]), Some([1, 1, 1]));
    assert_eq!(nearly_square(3, [16, 16, 1]), Some([4, 2, 1]));
    assert_eq!(nearly_square(7, [16, 16, 1]), Some([16, 8, 1]));
    assert_eq!(nearly_square(5, [32, 2, 1]), Some([16, 2, 1]));
    assert_eq!(nearly_square(4, [4, 4, 4]), Some([4, 2, 2]));
    // A power of two that fits within a side of 12 is at most 8.
    assert_eq!(nearly_square(7, [12, 12, 1]), None);
}

#[test]
fn subcubes_are_drawn_with_their_shares() {
    const DRAWS: u32 = 100_000;
    let normal = sides("subcubes[shares=0.025,0.076,0.162,0.237,0.237,0.162,0.076,0.025]");
    let extents = [16, 16, 1];
    let mean = normal.mean_size(extents).expect("it fits");
    // 0.025 x 129 + 0.076 x 66 + 0.162 x 36 + 0.237 x 24
    assert!((mean - 19.761).abs() < 1e-9, "{mean}");
    let sampler = normal.sampler(extents).expect("it fits");
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut counts = [0.0; 8];
    for _ in 0..DRAWS {
        let size: u32 = sampler.draw(&mut rng).into_iter().map(u32::from).product();
        assert!(size.is_power_of_two());
        counts[size.ilog2() as usize] += 1.0 / f64::from(DRAWS);
    }
    let SideLaw::Subcubes { shares } = &normal.law else { panic!("another law") };
    for (count, Share(p)) in counts.iter().zip(shares) {
        assert!(
            (count - p).abs() <= 5.0 * (p * (1.0 - p) / f64::from(DRAWS)).sqrt(),
            "{count} {p}"
        );
    }
    let whole = sides("subcubes[shares=0,0,1]");
    assert_eq!(whole.mean_size(extents), Ok(4.0));
    assert_eq!(whole.sampler(extents).expect("it fits").draw(&mut rng), [2, 2, 1]);
}

#[test]
fn bad_subcubes_are_refused() {
    for (text, complaint) in [
        ("subcubes", "write the probabilities"),
        ("subcubes[shares=0.5,0.4]", "add up to 0.9"),
        ("subcubes[shares=1.5,-0.5]", "from 0 to 1"),
        ("subcubes[shares=half,0.5]", "\"half\" is not a probability"),
        ("subcubes[shares=1,equal=yes]", "equal"),
    ] {
        let error = text.parse::<Sides>().expect_err(text).to_string();
        assert!(error.contains(complaint), "{error}");
    }
    let error =
        sides("subcubes[shares=0,0,0,0,0,0,0,1]").mean_size([8, 8, 1]).expect_err("too large");
    assert!(error.to_string().contains("2^7 processors"), "{error}");
}
