use super::number::{grouped, power, stepped};

/// A linear or logarithmic range of an axis.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scale {
    min: f64,
    max: f64,
    kind: Kind,
    /// Distance of ticks, where it is already known.
    step: Option<f64>,
}

/// How values become places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Linear,
    Log,
    /// By the logarithm of 1 and the value, so that 0 has a place.
    LogFromZero,
}

/// A labelled position on an axis.
#[derive(Clone, PartialEq, Debug)]
pub struct Tick {
    /// Where.
    pub value: f64,
    /// What it says.
    pub label: String,
}

impl Scale {
    /// Exactly from `min` to `max`.
    pub fn linear(min: f64, max: f64) -> Self {
        let max = if max > min { max } else { min + 1.0 };
        Self { min, max, kind: Kind::Linear, step: None }
    }

    /// From a round number below `min` to a round number above `max`, with about so many
    /// steps between; these are its ticks.
    pub fn round(min: f64, max: f64, steps: usize) -> Self {
        // Neither the room nor the span of the largest numbers is a number.
        const LARGEST: f64 = f64::MAX / 16.0;
        let [min, max] = [min, max].map(|end| end.clamp(-LARGEST, LARGEST));
        // One value alone still gets room on both sides.
        let room = if max > min { 0.0 } else { (min.abs() * 0.1).max(0.5) };
        let (min, max) = (min - room, max + room);
        let step = step(max - min, steps);
        let ends = [(min / step + 1e-9).floor() * step, (max / step - 1e-9).ceil() * step];
        Self { step: Some(step), ..Self::linear(ends[0], ends[1]) }
    }

    /// Exactly from `min` to `max`, with a tick at each multiple of `step`.
    pub fn stepped(min: f64, max: f64, step: f64) -> Self {
        Self { step: Some(step), ..Self::linear(min, max) }
    }

    /// Logarithmic, exactly from `min` to `max`, both positive.
    pub fn log(min: f64, max: f64) -> Self {
        let min = min.max(f64::MIN_POSITIVE);
        Self { min, max: if max > min { max } else { min * 10.0 }, kind: Kind::Log, step: None }
    }

    /// Logarithmic from a number of the kind 1, 2, 5, 10 below `min` to one above `max`.
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

    /// From 0 to `max`, logarithmic for values far above 1: 0 is at the begin, 1 a third of a decade from it.
    pub fn log_from_zero(max: f64) -> Self {
        let max = if max > 0.0 { max } else { 1.0 };
        Self { min: 0.0, max, kind: Kind::LogFromZero, step: None }
    }

    /// The ends.
    pub fn range(self) -> (f64, f64) {
        (self.min, self.max)
    }

    /// Whether it is logarithmic.
    pub fn is_log(self) -> bool {
        self.kind == Kind::Log
    }

    /// Whether it is logarithmic with a place for 0.
    pub fn is_log_from_zero(self) -> bool {
        self.kind == Kind::LogFromZero
    }

    /// Where a value is between the ends: 0 at the lower, 1 at the upper.
    pub fn share(self, value: f64) -> f64 {
        match self.kind {
            Kind::Log => {
                (value.max(f64::MIN_POSITIVE) / self.min).log10() / (self.max / self.min).log10()
            }
            Kind::LogFromZero => value.max(0.0).ln_1p() / self.max.ln_1p(),
            Kind::Linear => (value - self.min) / (self.max - self.min),
        }
    }

    /// About so many labelled positions; on a round scale, one at each step.
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
        // All ticks of an axis are written alike.
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
        // An axis of less than a decade may have hardly one of these numbers.
        if ticks.len() < 3 && factors.len() > 1 {
            let even = Self { kind: Kind::Linear, step: None, ..self }.linear_ticks(about.min(6));
            if even.len() > ticks.len() {
                return even;
            }
        }
        ticks
    }
}

/// The step of the kind 1, 2, 5, 10 that comes nearest to cutting `span` into `count`
/// parts, by ratio.
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
    fn ticks_are_round() {
        assert_eq!(Scale::round(-3.9, 9.1, 6).range(), (-4.0, 10.0));
        assert_eq!(
            labels(Scale::linear(0.0, 1000.0), 5),
            ["0", "200", "400", "600", "800", "1,000"]
        );
        assert_eq!(labels(Scale::log(0.7, 12000.0), 6), ["1", "10", "100", "1,000", "10,000"]);
        assert_eq!(labels(Scale::log_round(4.0, 64.0), 6), ["2", "5", "10", "20", "50", "100"]);
        assert_eq!(labels(Scale::linear(0.0, 0.5), 5), ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
        // Less than a decade.
        assert_eq!(labels(Scale::log(3.0, 8.5), 4), ["3", "4", "5", "6", "7", "8"]);
    }

    #[test]
    fn zero_has_a_place_on_a_logarithmic_axis() {
        let scale = Scale::log_from_zero(9999.0);
        assert_eq!(labels(scale, 8), ["0", "1", "10", "100", "1,000", "10,000"]);
        assert_eq!((scale.share(0.0), scale.share(9999.0)), (0.0, 1.0));
        assert!((scale.share(99.0) - 0.5).abs() < 1e-12);
        assert!(!scale.is_log() && scale.is_log_from_zero());
    }

    proptest! {
        #[test]
        fn a_round_scale_covers_its_values(min in -1e6f64..1e6, span in 0f64..1e6, steps in 2usize..12) {
            let scale = Scale::round(min, min + span, steps);
            let (low, high) = scale.range();
            let hair = 1e-6 * (high - low);
            prop_assert!(low <= min + hair && min + span <= high + hair);
            prop_assert!((2..=2 * steps + 3).contains(&scale.ticks(steps).len()));
        }
    }
}
