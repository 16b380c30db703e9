use super::number::{grouped, power, stepped};

/// Linear or logarithmic scale of an axis.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scale {
    min: f64,
    max: f64,
    kind: Kind,
    /// Distance between ticks, if it is fixed.
    step: Option<f64>,
}

/// Mapping from values to positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Linear,
    Log,
    /// The position is the logarithm of 1 plus the value, so that 0 has a position.
    LogFromZero,
}

/// A labelled position on an axis.
#[derive(Clone, PartialEq, Debug)]
pub struct Tick {
    /// Value at the tick.
    pub value: f64,
    /// Label of the tick.
    pub label: String,
}

impl Scale {
    /// Returns a linear scale from exactly `min` to exactly `max`.
    pub fn linear(min: f64, max: f64) -> Self {
        let max = if max > min { max } else { min + 1.0 };
        Self { min, max, kind: Kind::Linear, step: None }
    }

    /// Returns a linear scale with about `steps` round steps between its ticks. The ends are round numbers: the lower
    /// end is at or below `min`, and the upper end is at or above `max`.
    pub fn round(min: f64, max: f64, steps: usize) -> Self {
        // With larger values, the computation of the margin or the span would overflow.
        const LARGEST: f64 = f64::MAX / 16.0;
        let [min, max] = [min, max].map(|end| end.clamp(-LARGEST, LARGEST));
        // Extend the scale on both sides of a single value.
        let room = if max > min { 0.0 } else { (min.abs() * 0.1).max(0.5) };
        let (min, max) = (min - room, max + room);
        let step = step(max - min, steps);
        let ends = [(min / step + 1e-9).floor() * step, (max / step - 1e-9).ceil() * step];
        Self { step: Some(step), ..Self::linear(ends[0], ends[1]) }
    }

    /// Returns a linear scale from exactly `min` to exactly `max`, with a tick at each multiple of `step`.
    pub fn stepped(min: f64, max: f64, step: f64) -> Self {
        Self { step: Some(step), ..Self::linear(min, max) }
    }

    /// Returns a logarithmic scale from exactly `min` to exactly `max`. Both must be positive.
    pub fn log(min: f64, max: f64) -> Self {
        let min = min.max(f64::MIN_POSITIVE);
        Self { min, max: if max > min { max } else { min * 10.0 }, kind: Kind::Log, step: None }
    }

    /// Returns a logarithmic scale from a number at or below `min` to a number at or above `max`. Both ends of the
    /// scale belong to the series 1, 2, 5, 10.
    pub fn log_round(min: f64, max: f64) -> Self {
        let (mut low, mut high) = (min, max);
        for factor in [1.0, 2.0, 5.0] {
            let below = 10f64.powf((min / factor).log10().floor()) * factor;
            let above = 10f64.powf((max / factor).log10().ceil()) * factor;
            low = if factor == 1.0 { below } else { low.max(below) };
            high = if factor == 1.0 { above } else { high.min(above) };
        }
        Self::log(low, high)
    }

    /// Returns a scale from 0 to `max` that maps a value to the logarithm of 1 plus the value. For values far above 1,
    /// the scale is approximately logarithmic.
    pub fn log_from_zero(max: f64) -> Self {
        let max = if max > 0.0 { max } else { 1.0 };
        Self { min: 0.0, max, kind: Kind::LogFromZero, step: None }
    }

    /// Returns the lower and the upper end.
    pub fn range(self) -> (f64, f64) {
        (self.min, self.max)
    }

    /// Returns whether the scale is logarithmic without a position for 0.
    pub fn is_log(self) -> bool {
        self.kind == Kind::Log
    }

    /// Returns whether the scale is logarithmic with a position for 0.
    pub fn is_log_from_zero(self) -> bool {
        self.kind == Kind::LogFromZero
    }

    /// Returns the position of a value between the ends of the scale: 0 at the lower end, 1 at the upper end.
    pub fn share(self, value: f64) -> f64 {
        match self.kind {
            Kind::Log => {
                (value.max(f64::MIN_POSITIVE) / self.min).log10() / (self.max / self.min).log10()
            }
            Kind::LogFromZero => value.max(0.0).ln_1p() / self.max.ln_1p(),
            Kind::Linear => (value - self.min) / (self.max - self.min),
        }
    }

    /// Returns approximately `about` labelled positions; on a scale with fixed steps, returns a position for each step.
    pub fn ticks(self, about: usize) -> Vec<Tick> {
        match self.kind {
            Kind::Linear => self.linear_ticks(about),
            Kind::Log => self.log_ticks(about),
            Kind::LogFromZero => {
                let zero = Tick { value: 0.0, label: "0".to_string() };
                let positive = Self { min: 1.0, kind: Kind::Log, ..self };
                let others = if self.max > 1.0 { positive.log_ticks(about) } else { Vec::new() };
                std::iter::once(zero).chain(others).collect()
            }
        }
    }

    fn linear_ticks(self, about: usize) -> Vec<Tick> {
        let step = self.step.unwrap_or_else(|| step(self.max - self.min, about));
        let first = (self.min / step - 1e-6).ceil() as i64;
        let last = (self.max / step + 1e-6).floor() as i64;
        let tick = |i: i64| {
            let value = i as f64 * step;
            Tick { value, label: stepped(value, step) }
        };
        (first..=last).map(tick).collect()
    }

    fn log_ticks(self, about: usize) -> Vec<Tick> {
        let (first, last) = (self.min.log10().floor() as i32, self.max.log10().ceil() as i32);
        let decades = (self.max / self.min).log10();
        let factors: &[f64] = if decades * 3.0 <= about as f64 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let every = (decades / about as f64).ceil().max(1.0) as i32;
        let inside = |value: f64| value >= self.min * 0.999 && value <= self.max * 1.001;
        // Format all ticks of an axis in the same way.
        let plain = self.min >= 0.001 && self.max < 1e5;
        let label = |v: f64| match plain {
            true => grouped(v, (-v.log10().floor()).max(0.0) as usize),
            false => power(v, 0),
        };
        let ticks: Vec<Tick> = (first..=last)
            .filter(|exponent| exponent.rem_euclid(every) == 0)
            .flat_map(|exponent| factors.iter().map(move |factor| factor * 10f64.powi(exponent)))
            .filter(|&value| inside(value))
            .map(|value| Tick { value, label: label(value) })
            .collect();
        // On an axis of less than a decade, this series may give too few ticks; use the ticks of a linear scale
        // instead.
        if ticks.len() < 3 && factors.len() > 1 {
            let even = Self { kind: Kind::Linear, step: None, ..self }.linear_ticks(about.min(6));
            if even.len() > ticks.len() {
                return even;
            }
        }
        ticks
    }
}

/// Returns a step of the series 1, 2, 5, 10 that divides `span` into approximately `count` parts.
fn step(span: f64, count: usize) -> f64 {
    let raw = span / count.max(1) as f64;
    let magnitude = 10f64.powf(raw.log10().floor());
    let factor = match raw / magnitude {
        r if r < 2f64.sqrt() => 1.0,
        r if r < 10f64.sqrt() => 2.0,
        r if r < 50f64.sqrt() => 5.0,
        _ => 10.0,
    };
    factor * magnitude
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(scale: Scale, about: usize) -> Vec<String> {
        scale.ticks(about).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(Scale::round(-3.9, 9.1, 6).range(), (-4.0, 10.0));
        assert_eq!(
            labels(Scale::linear(0.0, 1000.0), 5),
            ["0", "200", "400", "600", "800", "1,000"]
        );
        assert_eq!(labels(Scale::log(0.7, 12000.0), 6), ["1", "10", "100", "1,000", "10,000"]);
        assert_eq!(labels(Scale::log_round(4.0, 64.0), 6), ["2", "5", "10", "20", "50", "100"]);
        assert_eq!(labels(Scale::linear(0.0, 0.5), 5), ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
        // This axis covers less than one decade.
        assert_eq!(labels(Scale::log(3.0, 8.5), 4), ["3", "4", "5", "6", "7", "8"]);
    }

    #[test]
    fn logarithmic_axis_has_a_position_for_zero() {
        let scale = Scale::log_from_zero(9999.0);
        assert_eq!(labels(scale, 8), ["0", "1", "10", "100", "1,000", "10,000"]);
        assert_eq!((scale.share(0.0), scale.share(9999.0)), (0.0, 1.0));
        assert!((scale.share(99.0) - 0.5).abs() < 1e-12);
        assert!(!scale.is_log() && scale.is_log_from_zero());
    }

    proptest! {
        #[test]
        fn round_scale_covers_its_values(min in -1e6f64..1e6, span in 0f64..1e6, steps in 2usize..12) {
            let scale = Scale::round(min, min + span, steps);
            let (low, high) = scale.range();
            let hair = 1e-6 * (high - low);
            prop_assert!(low <= min + hair && min + span <= high + hair);
            prop_assert!((2..=2 * steps + 3).contains(&scale.ticks(steps).len()));
        }
    }
}
