//! The daily cycle: the distribution of arrivals over the half hours of a day (the paper's section on arrivals).

use super::GammaParameters;

/// Length of the daily cycle in half hours.
pub const HALF_HOURS_PER_DAY: usize = 48;

/// Length of one step of the daily cycle, in seconds.
pub const SECONDS_PER_HALF_HOUR: i64 = 1800;

/// First half hour of the model's day, counted from 1 at midnight: 11 is 5:00 to 5:30 in the
/// morning. The gamma density is not periodic, so the cycle must be cut where few jobs arrive.
const DAY_START: usize = 11;

/// Nodes and weights of the five-point Gauss-Legendre rule on [-1, 1].
const GAUSS: [(f64, f64); 5] = [
    (-0.906_179_845_938_664, 0.236_926_885_056_189_1),
    (-0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
    (0.0, 0.568_888_888_888_888_9),
    (0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
    (0.906_179_845_938_664, 0.236_926_885_056_189_1),
];

/// Returns the relative arrival rate of each half hour of the day from midnight; the mean is 1.
///
/// The weight of half hour i (from 1) is proportional to the probability that a gamma variable is within half a unit of
/// i. For half hours before the day's start, i + 48 is used instead of i. Only ratios matter, so the density is
/// integrated without its constant factor. For the published cycles, which are wide, the integration rule is exact to
/// 1e-8. The program `lublin99.c` uses differences of the incomplete gamma function instead.
pub(super) fn half_hour_weights(daily: GammaParameters) -> [f64; HALF_HOURS_PER_DAY] {
    let log_density = |x: f64| (daily.shape - 1.0) * x.ln() - x / daily.scale;
    let hours = DAY_START..DAY_START + HALF_HOURS_PER_DAY;
    let nodes = |i: usize| GAUSS.map(|(node, weight)| (log_density(i as f64 + node / 2.0), weight));
    // Densities are computed relative to the largest density of the day, so that the densities do not overflow even if
    // the cycle is narrow.
    let peak =
        hours.clone().flat_map(nodes).fold(f64::NEG_INFINITY, |peak, (log, _)| peak.max(log));

    let mut weights = [0.0; HALF_HOURS_PER_DAY];
    for i in hours {
        weights[(i - 1) % HALF_HOURS_PER_DAY] =
            nodes(i).iter().map(|(log, weight)| weight * (log - peak).exp()).sum();
    }
    let mean = weights.iter().sum::<f64>() / HALF_HOURS_PER_DAY as f64;
    weights.map(|weight| weight / mean)
}

#[cfg(test)]
mod tests {
    use super::super::JobClass;
    use super::*;

    /// Returns P(X > x) for a gamma distribution with an integer shape (Erlang), as a finite sum.
    fn erlang_tail(shape: u32, scale: f64, x: f64) -> f64 {
        let x = x / scale;
        let mut term = (-x).exp();
        let mut sum = term;
        for n in 1..shape {
            term *= x / f64::from(n);
            sum += term;
        }
        sum
    }

    #[test]
    fn weights_are_differences_of_the_distribution_function() {
        for (shape, scale) in [(6, 5.274), (9, 3.668), (30, 1.0)] {
            let weights = half_hour_weights(GammaParameters::new(f64::from(shape), scale));
            let day = erlang_tail(shape, scale, 10.5) - erlang_tail(shape, scale, 58.5);
            for i in 11..59_usize {
                let x = i as f64;
                let share = erlang_tail(shape, scale, x - 0.5) - erlang_tail(shape, scale, x + 0.5);
                let weight = weights[(i - 1) % 48];
                assert!((weight - 48.0 * share / day).abs() < 1e-8, "{shape} {i}");
            }
        }
    }

    #[test]
    fn the_published_cycles_peak_after_noon_and_are_lowest_before_dawn() {
        let half_hour = |hour: f64| (hour * 2.0) as usize;
        for (class, peak) in [
            (JobClass::batch(128), half_hour(13.0)),
            (JobClass::interactive(128), half_hour(14.0)),
            (JobClass::untyped(128), half_hour(13.5)),
        ] {
            let weights = half_hour_weights(class.arrivals.daily);
            let by_weight = |a: &usize, b: &usize| weights[*a].total_cmp(&weights[*b]);
            assert_eq!((0..48).max_by(by_weight), Some(peak));
            let lowest = (0..48).min_by(by_weight).expect("48 half hours");
            assert!((half_hour(3.0)..=half_hour(5.5)).contains(&lowest), "{lowest}");
            assert!((weights.iter().sum::<f64>() - 48.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_very_narrow_cycle_has_finite_weights() {
        for daily in [GammaParameters::new(1e5, 3e-4), GammaParameters::new(1e-9, 1e-3)] {
            let weights = half_hour_weights(daily);
            assert!(weights.iter().all(|w| w.is_finite() && *w >= 0.0));
            assert!((weights.iter().sum::<f64>() - 48.0).abs() < 1e-9);
        }
    }
}
