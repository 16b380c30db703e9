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
pub struct DecayingLossModel {
    /// By point, in requests: how much was observed near it.
    weights: Vec<f64>,
    /// By point: sum of the losses observed near it.
    losses: Vec<f64>,
    /// By place among those observed together: the point that was there last, and how much of what is
    /// observed there counts for each point.
    kernels: Vec<(usize, Vec<f64>)>,
}

impl DecayingLossModel {
    /// So many points, of which nothing is known.
    pub fn new(points: usize) -> Self {
        Self { weights: vec![0.0; points], losses: vec![0.0; points], kernels: Vec::new() }
    }

    /// The loss per request to expect at a point: what was observed around it, drawn
    /// towards 0 as long as that is little.
    pub fn expected(&self, point: usize) -> f64 {
        self.losses[point] / (self.weights[point] + DOUBT)
    }

    /// Takes in the sum of losses over some requests at a point, of which each point has a share.
    fn take_in(&mut self, requests: f64, loss: f64, kernel: &[f64]) {
        let sums = self.weights.iter_mut().zip(&mut self.losses);
        for ((weight, lost), kernel) in sums.zip(kernel) {
            *weight += kernel * requests;
            *lost += kernel * loss;
        }
    }

    /// The same at a point to which every point has a squared `distance` in widths of the kernel.
    #[cfg(test)]
    pub fn observe(&mut self, requests: f64, loss: f64, distance: impl Fn(usize) -> f64) {
        let kernel: Vec<f64> =
            (0..self.weights.len()).map(|point| kernel(distance(point))).collect();
        self.take_in(requests, loss, &kernel);
    }

    /// Takes in what was lost at some points over the same requests, where all else is older by so much.
    /// `distance` is squared, from a point that was observed to another, and always the same.
    ///
    /// Kernels cost more than all that is done with them. They are kept by place among the observed: from
    /// one time to the next few of these move.
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
        self.kernels.resize(self.kernels.len().max(observed.len()), (usize::MAX, Vec::new()));
        for (place, &(point, loss)) in observed.iter().enumerate() {
            let (was, mut shares) = std::mem::take(&mut self.kernels[place]);
            if was != point {
                shares.clear();
                shares.extend((0..self.weights.len()).map(|other| kernel(distance(point, other))));
            }
            self.take_in(requests, loss - common, &shares);
            self.kernels[place] = (point, shares);
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

/// The share in an observation that a point has at a squared distance from it.
fn kernel(distance: f64) -> f64 {
    (-distance / 2.0).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_faded_weighs_less_than_what_is_new() {
        let mut past = DecayingLossModel::new(9);
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
        let mut past = DecayingLossModel::new(3);
        let alone = |from: usize, point: usize| if from == point { 0.0 } else { 1e6 };
        for _ in 0..50 {
            past.learn(&[(0, 910.0), (1, 900.0), (2, 890.0)], 1000.0, 1e6, alone);
        }
        assert_eq!(past.best(), 2);
        assert!(past.expected(1).abs() < 1e-9 && past.expected(2) < -0.008, "{past:?}");
    }
    /// Whoever moves among the observed, what is learned is what each observation by itself comes to.
    #[test]
    fn kept_kernels_are_those_of_the_points_that_are_there() {
        let apart = |from: usize, to: usize| (from.abs_diff(to) as f64 / 3.0).powi(2);
        let (mut kept, mut plain) = (DecayingLossModel::new(40), DecayingLossModel::new(40));
        for round in 0..30 {
            let at = |place: usize| {
                ((place * 13 + round / (place + 1) * 7) % 40, (place + round) as f64)
            };
            let observed: Vec<(usize, f64)> = (0..5).map(at).collect();
            kept.learn(&observed, 16.0, 100.0, apart);
            plain.kernels.clear();
            plain.learn(&observed, 16.0, 100.0, apart);
        }
        assert_eq!((&kept.weights, &kept.losses), (&plain.weights, &plain.losses));
    }
}
