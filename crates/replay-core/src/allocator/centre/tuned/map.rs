//! Map of the space of tie vectors and slacks, with their expected losses.
//!
//! Vectors whose weights have the same ratios are the same strategy, so the sum of the three
//! weights is fixed (`PARTS`). The map has a point for every combination of weights with this sum,
//! of a scan radius from a geometric sequence, and of a tuned slack.
//!
//! Cost per observation: one kernel value for each point; there are a few hundred points.

use rand_chacha::ChaCha8Rng;

use crate::allocator::centre::tie::{Slack, TieVector};
use crate::allocator::loss_model::DecayingLossModel;
use crate::topology::Grid;

/// Sum of the three weights.
const PARTS: i32 = 12;

/// Width of the kernel along each weight, as a fraction of the sum of weights.
const SHARE_WIDTH: f64 = 0.2;

/// Width of the kernel along the scan radius, in doublings of the radius.
const RADIUS_WIDTH: f64 = 1.0;

/// Values of the tuned slack; consecutive values are one step apart. Differences between values
/// increase, because the number of admitted scores increases with the slack.
const SLACKS: [&str; 6] = ["0", "0.025", "0.05", "0.1", "0.2", "0.4"];

/// Width of the kernel along the slack, in steps.
const SLACK_WIDTH: f64 = 1.0;

/// Expected loss per request by vector and slack, up to a constant that is common to all points.
#[derive(Clone, Debug)]
pub struct Map {
    points: Vec<Point>,
    losses: DecayingLossModel,
}

/// Tie vector and slack.
#[derive(Clone, Copy, Debug)]
struct Point {
    vector: TieVector,
    slack: Slack,
    /// Index of the slack among the tuned values.
    step: u32,
}

impl Map {
    /// Creates an empty map for `grid`. Scan radii are at most half the longest side of the grid,
    /// because larger radii around the middle cover the whole machine. All points have the slack
    /// `fixed`; with `None` the slack is tuned too.
    pub fn new(grid: &Grid, fixed: Option<Slack>) -> Self {
        let longest = grid.axes().iter().map(|axis| u32::from(axis.extent)).max().unwrap_or(1);
        let radii = std::iter::successors(Some(1u32), |r| Some((r * 4 / 3).max(r + 1)));
        let radii: Vec<u32> = radii.take_while(|&r| r <= (longest / 2).max(1)).collect();
        let slacks = match fixed {
            Some(slack) => vec![slack],
            // A test checks that the table parses.
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
        Self { losses: DecayingLossModel::new(points.len()), points }
    }

    /// Returns the vector and the slack at a point.
    pub fn rule(&self, point: usize) -> (TieVector, Slack) {
        (self.points[point].vector, self.points[point].slack)
    }

    /// Adds the losses of shadows over the same requests. Each loss is added at the point of its
    /// shadow. Older observations decay; `memory` is the time constant in requests.
    pub fn learn(&mut self, observed: &[(usize, f64)], requests: f64, memory: f64) {
        let Self { points, losses } = self;
        losses.learn(observed, requests, memory, |from, to| points[from].distance(&points[to]));
    }

    /// Returns the point with the smallest expected loss.
    pub fn best(&self) -> usize {
        self.losses.best()
    }

    /// Returns a point to observe next.
    pub fn draw(&self, rng: &mut ChaCha8Rng) -> usize {
        self.losses.draw(rng)
    }
}

impl Point {
    /// Returns the squared distance between two points, in widths of the kernel.
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
    fn maps_contain_every_division_at_every_radius() {
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

    /// If noisy losses increase with the distance from a vector, the best point is near this
    /// vector.
    #[test]
    fn the_best_point_is_near_the_least_loss() {
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
            let Map { points, losses } = &mut map;
            losses.observe(100.0, lost, |other| points[point].distance(&points[other]));
        }
        let (found, _) = map.rule(map.best());
        assert!(loss(found) <= 4, "{found}");
    }
}
