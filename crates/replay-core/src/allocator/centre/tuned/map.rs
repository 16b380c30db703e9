//! Expected losses of tie vectors and slacks, as a map of their space.
//!
//! Vectors of one ratio are one strategy, so the three weights are shares of a fixed
//! number of parts: the map has a point for every division of the parts at every scan
//! radius of a geometric sequence, and every slack that is to be tuned.
//!
//! Cost per observation: one kernel value for each of some hundred points.

use rand_chacha::ChaCha8Rng;

use crate::allocator::centre::tie::{Slack, TieVector};
use crate::allocator::loss_model::DecayingLossModel;
use crate::topology::Grid;

/// Parts that the three weights share.
const PARTS: i32 = 12;

/// Width of the kernel along each weight, as a share of the sum of weights.
const SHARE_WIDTH: f64 = 0.2;

/// Width of the kernel along the scan radius, in doublings.
const RADIUS_WIDTH: f64 = 1.0;

/// Slacks that are tuned, each by a step from the next. Their steps grow, for the scores
/// that a slack admits grow with it.
const SLACKS: [&str; 6] = ["0", "0.025", "0.05", "0.1", "0.2", "0.4"];

/// Width of the kernel along the slack, in steps.
const SLACK_WIDTH: f64 = 1.0;

/// Expected loss per request by vector and slack, up to a constant that all have in common.
#[derive(Clone, Debug)]
pub struct Map {
    points: Vec<Point>,
    past: DecayingLossModel,
}

/// A way to break ties.
#[derive(Clone, Copy, Debug)]
struct Point {
    vector: TieVector,
    slack: Slack,
    /// Place of the slack among those that are tuned.
    step: u32,
}

impl Map {
    /// An empty map for `grid`. Scan radii go up to half its longest side: more than that
    /// around the middle sees the whole machine. All points have the slack `fixed`, unless
    /// it is `None`: then it is tuned, too.
    pub fn new(grid: &Grid, fixed: Option<Slack>) -> Self {
        let longest = grid.axes().iter().map(|axis| u32::from(axis.extent)).max().unwrap_or(1);
        let radii = std::iter::successors(Some(1u32), |r| Some((r * 4 / 3).max(r + 1)));
        let radii: Vec<u32> = radii.take_while(|&r| r <= (longest / 2).max(1)).collect();
        let slacks = match fixed {
            Some(slack) => vec![slack],
            // The table is checked by a test.
            None => SLACKS.iter().filter_map(|text| text.parse().ok()).collect(),
        };
        let mut points = Vec::new();
        for (slack, step) in slacks.into_iter().zip(0..) {
            for &scan_radius in &radii {
                for available in 0..=PARTS {
                    for wall in 0..=PARTS - available {
                        let border = PARTS - available - wall;
                        let vector = TieVector { scan_radius, available, wall, border };
                        points.push(Point { vector, slack, step });
                    }
                }
            }
        }
        Self { past: DecayingLossModel::new(points.len()), points }
    }

    /// The vector and the slack at a point.
    pub fn rule(&self, point: usize) -> (TieVector, Slack) {
        (self.points[point].vector, self.points[point].slack)
    }

    /// Takes in what shadows lost over the same requests, each at its point; what is older fades by
    /// the `memory`, in requests.
    pub fn learn(&mut self, observed: &[(usize, f64)], requests: f64, memory: f64) {
        let Self { points, past } = self;
        past.learn(observed, requests, memory, |from, to| points[from].distance(&points[to]));
    }

    /// The point of least expected loss.
    pub fn best(&self) -> usize {
        self.past.best()
    }

    /// A point to look at.
    pub fn draw(&self, rng: &mut ChaCha8Rng) -> usize {
        self.past.draw(rng)
    }
}

impl Point {
    /// Squared, in widths of the kernel.
    fn distance(&self, other: &Point) -> f64 {
        let (at, vector) = (self.vector, other.vector);
        let doublings =
            (f64::from(vector.scan_radius) / f64::from(at.scan_radius)).log2() / RADIUS_WIDTH;
        let steps = f64::from(other.step.abs_diff(self.step)) / SLACK_WIDTH;
        let share = |a: i32, b: i32| f64::from(a - b) / f64::from(PARTS) / SHARE_WIDTH;
        doublings.powi(2)
            + steps.powi(2)
            + share(vector.available, at.available).powi(2)
            + share(vector.wall, at.wall).powi(2)
            + share(vector.border, at.border).powi(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;
    use rand::{RngExt, SeedableRng};

    fn map(machine: &str) -> Map {
        let topology: Topology = machine.parse().expect("a machine");
        Map::new(topology.grid().expect("a grid"), Some(Slack::NONE))
    }

    #[test]
    fn the_map_has_every_division_at_every_radius() {
        let radii = |machine| {
            let mut radii: Vec<_> =
                map(machine).points.iter().map(|p| p.vector.scan_radius).collect();
            radii.dedup();
            radii
        };
        assert_eq!(radii("1x1"), [1]);
        assert_eq!(radii("10x10"), [1, 2, 3, 4, 5]);
        assert_eq!(radii("16x32"), [1, 2, 3, 4, 5, 6, 8, 10, 13]);
        let map = map("10x10");
        assert_eq!(map.points.len(), 5 * 91);
        let parts = |v: TieVector| v.available + v.wall + v.border;
        assert!(map.points.iter().all(|p| parts(p.vector) == PARTS && !p.vector.is_indifferent()));

        let topology: Topology = "10x10".parse().expect("a machine");
        let map = Map::new(topology.grid().expect("a grid"), None);
        assert_eq!(map.points.len(), SLACKS.len() * 5 * 91);
        let last = map.points.last().expect("points");
        assert_eq!((last.step as usize + 1, last.slack.to_string().as_str()), (6, "0.4"));
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
            let lost = 100.0 * f64::from(loss(map.rule(point).0) + noise);
            let Map { points, past } = &mut map;
            past.observe(100.0, lost, |other| points[point].distance(&points[other]));
        }
        let (found, _) = map.rule(map.best());
        assert!(loss(found) <= 4, "{found}");
    }
}
