//! Arrival times of the Lublin-Feitelson model (the paper's section on arrivals).

use super::ParameterError;
use super::daily::{HALF_HOURS_PER_DAY, SECONDS_PER_HALF_HOUR, half_hour_weights};
use super::gamma::{GammaParameters, check, check_log_limit, draw_up_to};
use rand::Rng;
use rand_distr::{Distribution, Gamma};
use serde::Serialize;

/// Length of a half hour in seconds, as a float.
const HALF_HOUR: f64 = SECONDS_PER_HALF_HOUR as f64;

/// Gaps between arrivals. The natural logarithm of a gap in seconds is gamma distributed. The clock on which gaps are
/// measured runs faster in busy hours.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ArrivalModel {
    /// Distribution of the natural logarithm of the seconds between jobs in the rush hours (aarr and barr in the
    /// model).
    pub gap: GammaParameters,
    /// ARAR, the arrive-rush-to-all ratio. The shape parameter of gaps over the whole day is the shape of `gap` times
    /// this ratio.
    pub rush_to_all: f64,
    /// Distribution of the time of day of the arrivals, in half hours counted from 1 at midnight (anum and bnum in the
    /// model). The day runs from 5:00 to 5:00.
    pub daily: GammaParameters,
    /// Natural logarithm of the longest gap in seconds. Longer gaps are drawn again. The program `lublin99.c` uses 13
    /// (five days).
    pub log_limit: f64,
}

impl ArrivalModel {
    /// Returns the relative arrival rate of each half hour of the day from midnight; the mean is 1.
    ///
    /// # Errors
    /// [`ParameterError`] if a constant of `daily` is not positive.
    pub fn daily_weights(&self) -> Result<[f64; HALF_HOURS_PER_DAY], ParameterError> {
        self.daily.distribution(["arrivals.daily.shape", "arrivals.daily.scale"])?;
        Ok(half_hour_weights(self.daily))
    }

    /// Checks the constants and returns a clock at midnight.
    pub(super) fn clock(&self) -> Result<ArrivalClock, ParameterError> {
        let ratio = self.rush_to_all;
        check("arrivals.rush_to_all", ratio, "positive", |v| v > 0.0)?;
        check_log_limit("arrivals.log_limit", self.log_limit)?;
        let whole_day = GammaParameters::new(self.gap.shape * ratio, self.gap.scale);
        Ok(ArrivalClock {
            gap: whole_day.distribution(["arrivals.gap.shape", "arrivals.gap.scale"])?,
            log_limit: self.log_limit,
            weights: self.daily_weights()?,
            half_hours: 0.0,
            points: 0.0,
        })
    }
}

/// The state of an arrival stream. A gap is converted to points, one point per half hour. To pass a half hour of the
/// day, the clock needs a number of points equal to the weight of this half hour. Busy half hours thus contain more
/// arrivals than quiet half hours, and a whole day takes 48 points.
#[derive(Clone, Debug)]
pub(super) struct ArrivalClock {
    gap: Gamma<f64>,
    log_limit: f64,
    weights: [f64; HALF_HOURS_PER_DAY],
    /// Half hours since the start, a whole number.
    half_hours: f64,
    /// Points used in the current half hour; less than the weight of the half hour.
    points: f64,
}

impl ArrivalClock {
    pub(super) fn log_limit(&self) -> f64 {
        self.log_limit
    }

    /// Advances to the next arrival and returns its time in seconds since the start; `None` if all gaps exceed the
    /// limit.
    pub(super) fn advance(&mut self, rng: &mut impl Rng) -> Option<i64> {
        const DAY: f64 = HALF_HOURS_PER_DAY as f64;
        let log_gap = draw_up_to(self.log_limit, || self.gap.sample(rng))?;
        let points = self.points + log_gap.exp() / HALF_HOUR;
        // Skip whole days first, so that the loop passes through at most one day.
        self.points = points % DAY;
        self.half_hours += (points - self.points).round();
        loop {
            let weight = self.weights[(self.half_hours % DAY) as usize];
            if self.points < weight {
                let elapsed = (self.half_hours + self.points / weight) * HALF_HOUR;
                return Some(elapsed as i64);
            }
            self.points -= weight;
            self.half_hours += 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::JobClass;
    use super::super::tests::truncated_gamma;
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    const ARRIVALS: usize = 1_000_000;

    fn arrivals(model: &ArrivalModel, seed: u64) -> Vec<i64> {
        let mut clock = model.clock().expect("possible constants");
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        (0..ARRIVALS).map(|_| clock.advance(&mut rng).expect("limit in reach")).collect()
    }

    #[test]
    fn mean_gap_is_that_of_the_exponential_of_a_gamma() {
        for class in [JobClass::batch(128), JobClass::interactive(128), JobClass::untyped(128)] {
            let model = class.arrivals;
            let all = GammaParameters { shape: model.gap.shape * model.rush_to_all, ..model.gap };
            let gap = truncated_gamma(all, model.log_limit, f64::exp);
            let last = *arrivals(&model, 5).last().expect("arrivals");
            let mean = last as f64 / ARRIVALS as f64;
            let slack = 5.0 * (gap.variance() / ARRIVALS as f64).sqrt();
            assert!(slack < 0.05 * gap.mean, "the test would accept anything: {gap:?}");
            assert!((mean - gap.mean).abs() < slack, "{mean} {gap:?}");
        }
    }

    /// Returns the number of arrivals in each half hour of the day, divided by the average over all half hours.
    fn daily_shares(model: &ArrivalModel) -> [f64; HALF_HOURS_PER_DAY] {
        let mut shares = [0.0; HALF_HOURS_PER_DAY];
        for submit in arrivals(model, 7) {
            let half_hour = submit / SECONDS_PER_HALF_HOUR % HALF_HOURS_PER_DAY as i64;
            shares[half_hour as usize] += HALF_HOURS_PER_DAY as f64 / ARRIVALS as f64;
        }
        shares
    }

    #[test]
    fn regular_gaps_reproduce_the_daily_cycle() {
        for class in [JobClass::batch(128), JobClass::interactive(128), JobClass::untyped(128)] {
            // Gaps are about 1,130 s, plus or minus a quarter. The gaps of this model are far less bursty than the
            // published gaps.
            let model = ArrivalModel { gap: GammaParameters::new(700.0, 0.01), ..class.arrivals };
            let weights = model.daily_weights().expect("possible constants");
            for (share, weight) in daily_shares(&model).iter().zip(weights) {
                assert!((share - weight).abs() < 0.01, "{share} {weight}");
            }
        }
    }

    #[test]
    fn published_gaps_follow_the_daily_cycle_too() {
        for class in [JobClass::batch(128), JobClass::interactive(128), JobClass::untyped(128)] {
            let weights = class.arrivals.daily_weights().expect("possible constants");
            let shares = daily_shares(&class.arrivals);
            // Single half hours are noisy because arrivals come in bursts. The sum from 9:00 to 18:00 is not noisy.
            let [share, weight] = [shares, weights].map(|w| w[18..36].iter().sum::<f64>() / 48.0);
            assert!(weight > 0.5, "the working day is busy: {weight}");
            assert!((share - weight).abs() < 0.015, "{share} {weight}");
        }
    }

    #[test]
    fn a_flat_day_turns_gaps_into_time_unchanged() {
        // The logarithm of a gap is 10 within 1e-3, so each gap is about 22,026 s, which is about twelve half hours.
        let model = ArrivalModel {
            gap: GammaParameters::new(1e8, 1e-7),
            rush_to_all: 1.0,
            daily: GammaParameters::new(1.0, 1e9),
            log_limit: 13.0,
        };
        let times = arrivals(&model, 11);
        let gap = 10_f64.exp();
        for (n, &time) in times.iter().enumerate().step_by(1_000) {
            let expected = gap * (n + 1) as f64;
            assert!((time as f64 / expected - 1.0).abs() < 6e-3, "{n}: {time} {expected}");
        }
    }

    #[test]
    fn gaps_beyond_every_limit_are_reported() {
        let model = ArrivalModel {
            log_limit: 0.01,
            gap: GammaParameters::new(1e8, 1e-7),
            ..JobClass::batch(128).arrivals
        };
        let mut clock = model.clock().expect("possible constants");
        assert_eq!(clock.advance(&mut ChaCha8Rng::seed_from_u64(1)), None);
    }
}
