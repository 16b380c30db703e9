//! What the past says of tie vectors, as a map of their space.
//!
//! Vectors of one ratio are one strategy, so the three weights are shares of a fixed
//! number of parts: the map has a point for every division of the parts at every scan
//! radius of a geometric sequence. An observation counts for the points around it, too,
//! by a Gaussian kernel: good vectors are neighbours of good ones, and single
//! observations are mostly noise (one changed decision changes all that follow).
//! Cost per observation: one kernel value for each of some hundred points.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::allocator::centre::TieVector;
use crate::topology::Grid;

/// Parts that the three weights share.
const PARTS: i32 = 12;

/// Width of the kernel along each weight, as a share of the sum of weights.
const SHARE_WIDTH: f64 = 0.2;

/// Width of the kernel along the scan radius, in doublings.
const RADIUS_WIDTH: f64 = 1.0;

/// Observed requests that halve the doubt in what they say.
const DOUBT: f64 = 4000.0;

/// Points drawn to choose one from.
const DRAWN: usize = 8;

/// Expected loss per request by vector, up to a constant that all have in common.
#[derive(Clone, Debug)]
pub struct Map {
    vectors: Vec<TieVector>,
    /// By vector, in requests: how much was observed near it.
    weights: Vec<f64>,
    /// By vector: sum of the losses observed near it.
    losses: Vec<f64>,
}

impl Map {
    /// An empty map for `grid`. Scan radii go up to half its longest side: more than that
    /// around the middle sees the whole machine.
    pub fn new(grid: &Grid) -> Self {
        let longest = grid.axes().iter().map(|axis| u32::from(axis.extent)).max().unwrap_or(1);
        let radii = std::iter::successors(Some(1u32), |r| Some((r * 4 / 3).max(r + 1)));
        let mut vectors = Vec::new();
        for scan_radius in radii.take_while(|&r| r <= (longest / 2).max(1)) {
            for available in 0..=PARTS {
                for wall in 0..=PARTS - available {
                    let border = PARTS - available - wall;
                    vectors.push(TieVector { scan_radius, available, wall, border });
                }
            }
        }
        let zeros = vec![0.0; vectors.len()];
        Self { vectors, weights: zeros.clone(), losses: zeros }
    }

    /// The vector at a point.
    pub fn vector(&self, point: usize) -> TieVector {
        self.vectors[point]
    }

    /// The loss per request to expect at a point: what was observed around it, drawn
    /// towards 0 as long as that is little.
    pub fn expected(&self, point: usize) -> f64 {
        self.losses[point] / (self.weights[point] + DOUBT)
    }

    /// Takes in the sum of losses over some requests at a point.
    pub fn observe(&mut self, point: usize, requests: f64, loss: f64) {
        let at = self.vectors[point];
        for (i, vector) in self.vectors.iter().enumerate() {
            let doublings =
                (f64::from(vector.scan_radius) / f64::from(at.scan_radius)).log2() / RADIUS_WIDTH;
            let share = |a: i32, b: i32| f64::from(a - b) / f64::from(PARTS) / SHARE_WIDTH;
            let distance = doublings.powi(2)
                + share(vector.available, at.available).powi(2)
                + share(vector.wall, at.wall).powi(2)
                + share(vector.border, at.border).powi(2);
            let kernel = (-distance / 2.0).exp();
            self.weights[i] += kernel * requests;
            self.losses[i] += kernel * loss;
        }
    }

    /// Leaves a share of all observations.
    pub fn fade(&mut self, kept: f64) {
        self.weights.iter_mut().chain(&mut self.losses).for_each(|sum| *sum *= kept);
    }

    /// The point of least expected loss.
    pub fn best(&self) -> usize {
        self.least(0..self.vectors.len())
    }

    /// A point to look at: the best of a few drawn uniformly, so that what is good is
    /// seen more often and nothing is never seen.
    pub fn draw(&self, rng: &mut ChaCha8Rng) -> usize {
        // u32 draws are the same on every platform.
        let points = self.vectors.len() as u32;
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
    use crate::topology::Topology;
    use rand::SeedableRng;

    fn map(machine: &str) -> Map {
        let topology: Topology = machine.parse().expect("a machine");
        Map::new(topology.grid().expect("a grid"))
    }

    #[test]
    fn the_map_has_every_division_at_every_radius() {
        let radii = |machine| {
            let mut radii: Vec<_> = map(machine).vectors.iter().map(|v| v.scan_radius).collect();
            radii.dedup();
            radii
        };
        assert_eq!(radii("1x1"), [1]);
        assert_eq!(radii("10x10"), [1, 2, 3, 4, 5]);
        assert_eq!(radii("16x32"), [1, 2, 3, 4, 5, 6, 8, 10, 13]);
        let map = map("10x10");
        assert_eq!(map.vectors.len(), 5 * 91);
        let parts = |v: &TieVector| v.available + v.wall + v.border;
        assert!(map.vectors.iter().all(|v| parts(v) == PARTS && !v.is_indifferent()));
    }

    /// Noisy losses that grow with the distance from one vector lead to its neighbourhood.
    #[test]
    fn the_best_point_is_where_the_losses_are_least() {
        let mut map = map("10x10");
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let loss = |v: TieVector| {
            let off = (v.available - 6).abs() + (v.wall - 4).abs() + (v.border - 2).abs();
            off + 2 * (v.scan_radius as i32 - 3).abs()
        };
        for _ in 0..3000 {
            let point = map.draw(&mut rng);
            let noise = rng.random_range(-20..=20);
            map.observe(point, 100.0, 100.0 * f64::from(loss(map.vector(point)) + noise));
        }
        let found = map.vector(map.best());
        assert!(loss(found) <= 4, "{found}");
    }

    #[test]
    fn what_has_faded_weighs_less_than_what_is_new() {
        let mut map = map("4x4");
        map.observe(0, 1e6, -1e6);
        let before = map.expected(0);
        map.fade(1e-3);
        map.observe(0, 1e6, 1e6);
        assert!(before < 0.0 && map.expected(0) > 0.9, "{} {}", before, map.expected(0));
    }
}
