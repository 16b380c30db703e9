//! Model of the expected loss of tie rules, and search for the best rule, for strategies that tune themselves.
//!
//! Each rule is a point of a space. An observation also counts for nearby points, weighted by a Gaussian kernel. Good
//! rules are near other good rules. Single observations are mostly noise, because one changed decision changes all
//! later decisions. The weight of old observations decays.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Options of a strategy that tunes itself. A step is a request or a job start, as the strategy documents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tuning {
    /// Number of shadow machines, at least one.
    pub shadows: u32,
    /// Number of steps between two evaluations of the shadows, at least one.
    pub every: u32,
    /// Number of steps after which the weight of an observation has decayed to 1/e.
    pub memory: u32,
}

/// Search for the point with the smallest expected loss. Each shadow machine follows the rule at one point. After each
/// evaluation, one shadow moves to another point; the shadows take turns.
#[derive(Clone, Debug)]
pub struct Explorer {
    /// Options of the search.
    pub tuning: Tuning,
    rng: ChaCha8Rng,
    model: DecayingLossModel,
    /// Index of the next shadow that moves.
    next: usize,
    /// The point with the smallest expected loss at the last evaluation; point 0 before the first evaluation.
    pub best: usize,
    /// Number of steps since the last evaluation.
    pub since: u32,
}

impl Explorer {
    /// Creates a search among `points` points.
    pub fn new(points: usize, tuning: Tuning, seed: u64) -> Self {
        let (rng, model) = (ChaCha8Rng::seed_from_u64(seed), DecayingLossModel::new(points));
        Self { tuning, rng, model, next: 0, best: 0, since: 0 }
    }

    /// Returns a copy that is never due and does not learn.
    pub fn settled(&self) -> Self {
        let tuning = Tuning { every: u32::MAX, ..self.tuning };
        Self { tuning, rng: self.rng.clone(), model: DecayingLossModel::new(0), ..*self }
    }

    /// Returns a point to observe next.
    pub fn draw(&mut self) -> usize {
        self.model.draw(&mut self.rng)
    }

    /// Returns whether the shadows must be evaluated before the next step.
    pub fn is_due(&self) -> bool {
        self.since >= self.tuning.every
    }

    /// Adds the losses since the last evaluation and updates `best`. `observed` contains the point and the loss of each
    /// shadow; `distance` is as in [`DecayingLossModel::learn`]. Returns the index of the shadow that moves, and its new
    /// point.
    pub fn evaluate(
        &mut self,
        observed: &[(usize, f64)],
        distance: impl Fn(usize, usize) -> f64,
    ) -> (usize, usize) {
        let Tuning { every, memory, .. } = self.tuning;
        self.model.learn(observed, every.into(), memory.into(), distance);
        (self.best, self.since) = (self.model.best(), 0);
        let moved = (self.next, self.draw());
        self.next = (self.next + 1) % observed.len().max(1);
        moved
    }
}

/// Number of points that are sampled at random; the best of these points is chosen.
const DRAWN: usize = 8;

/// Number of observed requests after which an estimate is half of the observed mean loss.
const DOUBT: f64 = 4000.0;

/// For each point, the expected loss per request, up to a constant that is common to all points.
#[derive(Clone, Debug)]
pub struct DecayingLossModel {
    /// Decayed number of requests observed near each point.
    weights: Vec<f64>,
    /// Decayed sum of the losses observed near each point.
    losses: Vec<f64>,
    /// Cached kernels, one for each position in the list of observed points. Each entry contains the point that was
    /// last observed at this position. Each entry also contains, for each point of the model, the share of the observed
    /// losses that counts for this point.
    kernels: Vec<(usize, Vec<f64>)>,
}

impl DecayingLossModel {
    /// Creates a model of `points` points without observations.
    pub fn new(points: usize) -> Self {
        Self { weights: vec![0.0; points], losses: vec![0.0; points], kernels: Vec::new() }
    }

    /// Returns the expected loss per request at a point. The estimate is shrunk towards 0 if there are few observations
    /// near the point.
    pub fn expected(&self, point: usize) -> f64 {
        self.losses[point] / (self.weights[point] + DOUBT)
    }

    /// Adds the sum of losses over `requests` requests; `kernel` holds the share of the losses that counts for each
    /// point.
    fn take_in(&mut self, requests: f64, loss: f64, kernel: &[f64]) {
        let sums = self.weights.iter_mut().zip(&mut self.losses);
        for ((weight, lost), kernel) in sums.zip(kernel) {
            *weight += kernel * requests;
            *lost += kernel * loss;
        }
    }

    /// Adds one observation; `distance` returns the squared distance of a point from the observation, measured in
    /// kernel widths.
    pub fn observe(&mut self, requests: f64, loss: f64, distance: impl Fn(usize) -> f64) {
        let kernel: Vec<f64> =
            (0..self.weights.len()).map(|point| kernel(distance(point))).collect();
        self.take_in(requests, loss, &kernel);
    }

    /// Adds the losses of several points over the same requests and decays older observations by
    /// `exp(-requests / memory)`. `distance` returns the squared distance between an observed point and another
    /// point; the distances must not change between calls.
    ///
    /// Computing kernels dominates the cost. Kernels are cached by position in `observed`, because few of the observed
    /// points change between calls.
    pub fn learn(
        &mut self,
        observed: &[(usize, f64)],
        requests: f64,
        memory: f64,
        distance: impl Fn(usize, usize) -> f64,
    ) {
        // Large or many jobs increase the loss of every rule, so the common part is subtracted. The common part is
        // measured relative to the expected losses. Without this reference, a good rule would appear bad among other
        // good rules.
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

    /// Multiplies the weight of all observations by `kept`.
    pub fn fade(&mut self, kept: f64) {
        self.weights.iter_mut().chain(&mut self.losses).for_each(|sum| *sum *= kept);
    }

    /// Returns the point with the smallest expected loss.
    pub fn best(&self) -> usize {
        self.least(0..self.weights.len())
    }

    /// Returns a point to observe next: the best of a few points that are sampled uniformly. Good points are thus
    /// observed more often, and every point can be selected.
    pub fn draw(&self, rng: &mut ChaCha8Rng) -> usize {
        // Random `u32` values are the same on every platform.
        let points = self.weights.len() as u32;
        self.least((0..DRAWN).map(|_| rng.random_range(0..points) as usize))
    }

    fn least(&self, points: impl Iterator<Item = usize>) -> usize {
        let expected = points.map(|point| (self.expected(point), point));
        expected.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0, |(_, point)| point)
    }
}

/// Returns the share of an observation that counts for a point at this squared distance from the observation.
fn kernel(distance: f64) -> f64 {
    (-distance / 2.0).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_observations_count_less_than_new_ones() {
        let mut model = DecayingLossModel::new(9);
        let apart = |from: usize| move |point: usize| (from.abs_diff(point) as f64).powi(2);
        model.observe(1e6, -1e6, apart(0));
        let before = model.expected(0);
        model.fade(1e-3);
        model.observe(1e6, 1e6, apart(0));
        assert!(before < 0.0 && model.expected(0) > 0.9, "{before} {}", model.expected(0));
    }

    /// A loss common to all rules does not change their order.
    #[test]
    fn a_common_loss_is_ignored() {
        let mut model = DecayingLossModel::new(3);
        let alone = |from: usize, point: usize| if from == point { 0.0 } else { 1e6 };
        for _ in 0..50 {
            model.learn(&[(0, 910.0), (1, 900.0), (2, 890.0)], 1000.0, 1e6, alone);
        }
        assert_eq!(model.best(), 2);
        assert!(model.expected(1).abs() < 1e-9 && model.expected(2) < -0.008, "{model:?}");
    }
    /// The model is the same with cached and with recomputed kernels when observed points change position.
    #[test]
    fn cached_kernels_equal_recomputed_ones() {
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
