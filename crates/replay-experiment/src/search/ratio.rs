//! The ratio of the three factors of a tie vector as a point of a square.
//!
//! Decisions depend only on the ratio AF : WF : BF. A search therefore needs two dimensions instead of three:
//!
//! * The wall share is WF / (AF + WF), and the border share is BF / (AF + WF + BF); both are from 0 to 1.
//!
//! A vector with AF = WF = 0 has the wall share 0.

use replay_engine::allocator::ties::TieVector;

/// Ratio of three nonnegative factors. At least one factor is positive.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ratio {
    /// The wall share, WF / (AF + WF).
    pub wall: f64,
    /// The border share, BF / (AF + WF + BF).
    pub border: f64,
}

impl Ratio {
    /// Returns the ratio of a vector. Negative factors are treated as 0.
    pub fn of(vector: TieVector) -> Self {
        let [a, w, b] = vector.factors().map(|factor| f64::from(factor.max(0)));
        let share = |part: f64, all: f64| if all > 0.0 { part / all } else { 0.0 };
        Self { wall: share(w, a + w), border: share(b, a + w + b) }
    }

    /// Returns AF, WF and BF, normalized such that their sum is 1.
    pub fn factors(self) -> [f64; 3] {
        let rest = 1.0 - self.border;
        [(1.0 - self.wall) * rest, self.wall * rest, self.border]
    }
}

/// Returns the reduced vector whose ratio is nearest to the ratio of the real numbers `factors`; its factors are
/// integers up to `largest`. Returns `None` if no factor is positive and finite.
///
/// A factor becomes 0 if its ratio to the largest factor is below half of `1 / largest`. If several vectors are equally
/// near, the vector with the smallest numbers is chosen.
pub fn nearest_vector(scan_radius: u32, factors: [f64; 3], largest: u32) -> Option<TieVector> {
    let factors = factors.map(|factor| factor.max(0.0));
    let most = factors.iter().fold(0.0, |most: f64, &factor| most.max(factor));
    if !(most > 0.0 && most.is_finite()) {
        return None;
    }
    let unit = factors.map(|factor| factor / most);
    let error = |scale: u32| {
        let off = |part: f64| {
            let exact = part * f64::from(scale);
            (exact - exact.round()).abs() / f64::from(scale)
        };
        unit.iter().fold(0.0, |worst: f64, &part| worst.max(off(part)))
    };
    let mut best = (largest.max(1), error(largest.max(1)));
    for scale in (1..largest).rev() {
        let error = error(scale);
        if error <= best.1 {
            best = (scale, error);
        }
    }
    let [available, wall, border] = unit.map(|part| (part * f64::from(best.0)).round() as i32);
    Some(TieVector { scan_radius, available, wall, border }.reduced())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn recovers_the_vector_of_the_paper() {
        let vector: TieVector = "2,13,20,6".parse().expect("a vector");
        let ratio = Ratio::of(vector);
        assert_eq!((ratio.wall, ratio.border), (20.0 / 33.0, 6.0 / 39.0));
        assert_eq!(nearest_vector(2, ratio.factors(), 100), Some(vector));
        assert_eq!(nearest_vector(2, [0.0, -1.0, f64::NAN], 100), None);
    }

    proptest! {
        #[test]
        fn vectors_up_to_the_largest_factor_are_their_own_nearest(
            a in 0i32..=100, w in 0i32..=100, b in 0i32..=100, scale in 0.001f64..1000.0,
        ) {
            prop_assume!(a + w + b > 0);
            let vector = TieVector { scan_radius: 3, available: a, wall: w, border: b }.reduced();
            let factors = [a, w, b].map(|factor| f64::from(factor) * scale);
            let found = nearest_vector(3, factors, 100).expect("a vector");
            // If two vectors are equally near within floating-point precision, the vector with the smaller numbers may
            // be chosen.
            let (x, y) = (Ratio::of(vector), Ratio::of(found));
            prop_assert!((x.wall - y.wall).abs() < 1e-9 && (x.border - y.border).abs() < 1e-9);
        }

        #[test]
        fn factors_and_shares_are_inverse(wall in 0.0f64..0.999, border in 0.0f64..0.999) {
            let [a, w, b] = Ratio { wall, border }.factors();
            prop_assert!((a + w + b - 1.0).abs() < 1e-12);
            prop_assert!((w / (a + w) - wall).abs() < 1e-9);
            prop_assert!((b / (a + w + b) - border).abs() < 1e-9);
        }
    }
}
