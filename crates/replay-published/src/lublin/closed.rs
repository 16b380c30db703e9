//! Moments that follow from the constants, computed without generating jobs.

use std::ops::RangeInclusive;

use replay_engine::workload::lublin::HALF_HOURS_PER_DAY;

/// Constants of one class of jobs. The names of the constants are the same as in the generator.
#[derive(Clone, PartialEq, Debug, serde::Deserialize)]
pub struct Constants {
    pub class: String,
    serial: f64,
    power_of_two: f64,
    low: f64,
    medium: f64,
    high: f64,
    first_stage: f64,
    short_shape: f64,
    short_scale: f64,
    long_shape: f64,
    long_scale: f64,
    slope: f64,
    intercept: f64,
    gap_shape: f64,
    gap_scale: f64,
    day_shape: f64,
    day_scale: f64,
    rush_to_all: f64,
}

/// Logarithm of the longest run time and of the longest gap, both in seconds.
const LONGEST_RUN: f64 = 12.0;
const LONGEST_GAP: f64 = 13.0;

/// Half hour in which the day of the model begins (5:00), counted from 1 at midnight.
const DAY_START: usize = 11;

impl Constants {
    /// Returns the probability that a job needs `size` processors on a machine whose number of processors is
    /// `processors`, a power of two.
    ///
    /// A job has one processor with probability `serial`. For other jobs, the base-2 logarithm of the size has a
    /// two-stage uniform distribution. With probability `power_of_two`, the logarithm is rounded before the size is
    /// computed as a power of 2. With the remaining probability, the size is rounded after it has been computed.
    pub fn probability(&self, size: u32, processors: u32) -> f64 {
        let within = |from: f64, to: f64| {
            let part = |low: f64, high: f64| (to.min(high) - from.max(low)).max(0.0) / (high - low);
            self.first_stage * part(self.low, self.medium)
                + (1.0 - self.first_stage) * part(self.medium, self.high)
        };
        let (below, above) = (f64::from(size) - 0.5, f64::from(size) + 0.5);
        // Sizes that exceed the machine are reduced to the size of the machine.
        let top = if size == processors { f64::INFINITY } else { above.log2() };
        let any = 1.0 - self.serial - self.power_of_two;
        let mut probability = any * within(below.log2(), top);
        if size == 1 {
            probability += self.serial;
        } else if size.is_power_of_two() {
            let log = f64::from(size.ilog2());
            probability += self.power_of_two * within(log - 0.5, log + 0.5);
        }
        probability
    }

    /// Returns the mean of ln(run time in seconds) over jobs with sizes in `sizes`. A run time is e^x seconds, rounded
    /// down, and at least 1 second. x has a hyper-gamma distribution, truncated at the longest run time.
    pub fn mean_log_run(&self, sizes: RangeInclusive<u32>, processors: u32) -> f64 {
        let seconds = |x: f64| x.exp().floor().max(1.0).ln();
        let [short, long] =
            [(self.short_shape, self.short_scale), (self.long_shape, self.long_scale)]
                .map(|(shape, scale)| gamma(shape, scale, LONGEST_RUN, seconds));
        let mean = |size: u32| {
            let p = (self.slope * f64::from(size) + self.intercept).clamp(0.0, 1.0);
            let (a, b) = (p * short.mass, (1.0 - p) * long.mass);
            (a * short.mean + b * long.mean) / (a + b)
        };
        let (mut sum, mut weight) = (0.0, 0.0);
        for size in sizes {
            let probability = self.probability(size, processors);
            sum += probability * mean(size);
            weight += probability;
        }
        sum / weight
    }

    /// Returns the mean time between arrivals in seconds. The time between arrivals is e^x, where x has a gamma
    /// distribution, truncated at the longest gap. The daily cycle moves arrivals within the day and does not change
    /// the mean.
    pub fn mean_gap(&self) -> f64 {
        gamma(self.gap_shape * self.rush_to_all, self.gap_scale, LONGEST_GAP, f64::exp).mean
    }

    /// Returns the share of arrivals in each half hour, beginning at midnight. In the model, a day is from 5:00 to
    /// 5:00. The share of half hour i of this day is the probability that a gamma variable is within half a unit of i.
    pub fn daily_shares(&self) -> [f64; HALF_HOURS_PER_DAY] {
        let below = |x: f64| gamma(self.day_shape, self.day_scale, x, |_| 1.0).mass;
        let mut shares = [0.0; HALF_HOURS_PER_DAY];
        for i in DAY_START..DAY_START + HALF_HOURS_PER_DAY {
            let mass = below(i as f64 + 0.5) - below(i as f64 - 0.5);
            shares[(i - 1) % HALF_HOURS_PER_DAY] = mass;
        }
        let sum: f64 = shares.iter().sum();
        shares.map(|share| share / sum)
    }
}

/// The probability that a gamma variable is at most a limit, and the mean of a function of the variable over the values
/// that are at most this limit.
struct Truncated {
    mass: f64,
    mean: f64,
}

/// Integrates the gamma density by the midpoint rule.
fn gamma(shape: f64, scale: f64, limit: f64, value: impl Fn(f64) -> f64) -> Truncated {
    const STEPS: u32 = 20_000;
    let mode = ((shape - 1.0) * scale).max(scale);
    // The density is divided by its largest value to avoid overflow.
    let density = |x: f64| ((shape - 1.0) * (x / mode).ln() - (x - mode) / scale).exp();
    let integral = |to: f64, f: &dyn Fn(f64) -> f64| {
        let step = to / f64::from(STEPS);
        let middles = (0..STEPS).map(|i| (f64::from(i) + 0.5) * step);
        middles.map(|x| f(x) * density(x) * step).sum::<f64>()
    };
    let far = shape * scale + 40.0 * scale * (1.0 + shape.sqrt());
    let below = integral(limit, &|_| 1.0);
    Truncated {
        mass: below / integral(far.max(limit), &|_| 1.0),
        mean: integral(limit, &value) / below,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exponential_agrees_with_its_closed_form() {
        // With shape 1, the distribution is exponential. For scale 2, P(X <= 2) = 1 - e^-1.
        let found = gamma(1.0, 2.0, 2.0, |x| x);
        let mass = 1.0 - (-1.0f64).exp();
        assert!((found.mass - mass).abs() < 1e-6, "{}", found.mass);
        let mean = 2.0 * (1.0 - 2.0 * (-1.0f64).exp()) / mass;
        assert!((found.mean - mean).abs() < 1e-6, "{}", found.mean);
    }

    #[test]
    fn probabilities_of_sizes_and_half_hours_add_up_to_one() {
        for (class, constants) in super::super::classes().expect("a readable table") {
            let sizes: f64 = (1..=128).map(|size| constants.probability(size, 128)).sum();
            assert!((sizes - 1.0).abs() < 1e-9, "{class}: {sizes}");
            let day: f64 = constants.daily_shares().iter().sum();
            assert!((day - 1.0).abs() < 1e-9, "{class}: {day}");
        }
    }
}
