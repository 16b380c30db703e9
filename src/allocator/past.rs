//! What the past says of the rules that a strategy may go by, for strategies that tune themselves.
//!
//! Rules are points of some space. An observation counts for the points around it, too, by a
//! Gaussian kernel: good rules are neighbours of good ones, and single observations are mostly
//! noise (one changed decision changes all that follow). What was observed long ago fades.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Points drawn to choose one from.
const DRAWN: usize = 8;

/// Observed requests that halve the doubt in what they say.
const DOUBT: f64 = 4000.0;

/// Expected loss per request by point, up to a constant that all have in common.
#[derive(Clone, Debug)]
pub struct Past {
    /// By point, in requests: how much was observed near it.
    weights: Vec<f64>,
    /// By point: sum of the losses observed near it.
    losses: Vec<f64>,
}

impl Past {
    /// So many points, of which nothing is known.
    pub fn new(points: usize) -> Self {
        Self { weights: vec![0.0; points], losses: vec![0.0; points] }
    }

    /// The loss per request to expect at a point: what was observed around it, drawn
    /// towards 0 as long as that is little.
    pub fn expected(&self, point: usize) -> f64 {
        self.losses[point] / (self.weights[point] + DOUBT)
    }

    /// Takes in the sum of losses over some requests at a point, to which every point has a squared
    /// `distance` in widths of the kernel.
    pub fn observe(&mut self, requests: f64, loss: f64, distance: impl Fn(usize) -> f64) {
        for point in 0..self.weights.len() {
            let kernel = (-distance(point) / 2.0).exp();
            self.weights[point] += kernel * requests;
            self.losses[point] += kernel * loss;
        }
    }

    /// Takes in what was lost at some points over the same requests, where all else is older by so much.
    /// `distance` is squared, from a point that was observed to another.
    pub fn learn(
        &mut self,
        observed: &[(usize, f64)],
        requests: f64,
        memory: f64,
        distance: impl Fn(usize, usize) -> f64,
    ) {
        // Large jobs, or many, cost every rule more: what is common says nothing. It is
        // reckoned from what was expected, else good rules would make each other look bad.
        let beyond = |&(point, loss): &(usize, f64)| loss - requests * self.expected(point);
        let common = observed.iter().map(beyond).sum::<f64>() / observed.len().max(1) as f64;
        self.fade((-requests / memory).exp());
        for &(point, loss) in observed {
            self.observe(requests, loss - common, |other| distance(point, other));
        }
    }

    /// Leaves a share of all observations.
    pub fn fade(&mut self, kept: f64) {
        self.weights.iter_mut().chain(&mut self.losses).for_each(|sum| *sum *= kept);
    }

    /// The point of least expected loss.
    pub fn best(&self) -> usize {
        self.least(0..self.weights.len())
    }

    /// A point to look at: the best of a few drawn uniformly, so that what is good is
    /// seen more often and nothing is never seen.
    pub fn draw(&self, rng: &mut ChaCha8Rng) -> usize {
        // u32 draws are the same on every platform.
        let points = self.weights.len() as u32;
        self.least((0..DRAWN).map(|_| rng.random_range(0..points) as usize))
    }

    fn least(&self, points: impl Iterator<Item = usize>) -> usize {
        let expected = points.map(|point| (self.expected(point), point));
        expected.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0, |(_, point)| point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_faded_weighs_less_than_what_is_new() {
        let mut past = Past::new(9);
        let apart = |from: usize| move |point: usize| (from.abs_diff(point) as f64).powi(2);
        past.observe(1e6, -1e6, apart(0));
        let before = past.expected(0);
        past.fade(1e-3);
        past.observe(1e6, 1e6, apart(0));
        assert!(before < 0.0 && past.expected(0) > 0.9, "{before} {}", past.expected(0));
    }

    /// What all rules lose says nothing of any of them.
    #[test]
    fn a_loss_in_common_is_no_loss() {
        let mut past = Past::new(3);
        let alone = |from: usize, point: usize| if from == point { 0.0 } else { 1e6 };
        for _ in 0..50 {
            past.learn(&[(0, 910.0), (1, 900.0), (2, 890.0)], 1000.0, 1e6, alone);
        }
        assert_eq!(past.best(), 2);
        assert!(past.expected(1).abs() < 1e-9 && past.expected(2) < -0.008, "{past:?}");
    }
}
