//! Exchanges with neighbours on a grid of processes: multigrid and nearest neighbours.
//!
//! Rank r has the coordinates (r mod g_x, (r / g_x) mod g_y, r / (g_x g_y)).

use super::pattern::{Active, Cycle, Grid, Steps};

/// A list of steps. In each step, processes send along one or several axes. Ranks outside the grid send nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exchange {
    sides: [u32; 3],
    moves: Vec<Move>,
    /// End of each step in `moves`.
    ends: Vec<usize>,
}

/// A packet along an axis of the grid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Move {
    axis: usize,
    /// Distance of the move, at least 1 and less than the side of the grid.
    by: u32,
    up: bool,
    wraps: bool,
    /// Whether all processes send; if not, only the processes with a point of the multigrid level send.
    all: bool,
}

impl Exchange {
    /// Returns the levels of a multigrid on the first 2^m of `n` processes, where m = floor(log2 n).
    pub fn multigrid(n: u32, grid: Grid, cycle: Cycle, steps: Steps, active: Active) -> Self {
        let m = n.ilog2();
        let Grid { dimensions, wrap } = grid;
        let sides = [0, 1, 2].map(|axis| match u32::from(dimensions) {
            of if axis < of => 1 << ((m + of - 1 - axis) / of),
            _ => 1,
        });
        let mut moves = Vec::new();
        for by in (0..).map(|level| 1 << level).take_while(|&by| by < sides[0]) {
            for axis in (0..3).filter(|&axis| by < sides[axis]) {
                let all = active == Active::All;
                moves.extend([true, false].map(|up| Move { axis, by, up, wraps: wrap, all }));
            }
        }
        match cycle {
            Cycle::Descent => {}
            Cycle::Ascent => moves.reverse(),
            Cycle::V => {
                moves.extend_from_within(..);
                let half = moves.len() / 2;
                moves[half..].reverse();
            }
        }
        let together = |a: &Move, b: &Move| match steps {
            Steps::Direction => false,
            Steps::Level => a.by == b.by,
        };
        let ends = moves.chunk_by(together).scan(0, |end, step| {
            *end += step.len();
            Some(*end)
        });
        Self { sides, ends: ends.collect(), moves }
    }

    /// Returns an exchange of each of `n` processes with its neighbours.
    pub fn neighbours(n: u32, dimensions: u8, wrap: bool) -> Self {
        let sides = balanced(n, dimensions);
        let axes = (0..3).filter(|&axis| sides[axis] > 1);
        // An axis of length two does not wrap around, because both directions would lead to the same neighbour.
        let moves = axes.flat_map(|axis| {
            let wraps = wrap && sides[axis] > 2;
            [true, false].map(|up| Move { axis, by: 1, up, wraps, all: true })
        });
        let moves: Vec<Move> = moves.collect();
        Self { sides, ends: (1..=moves.len()).collect(), moves }
    }

    /// Returns the number of steps.
    pub fn steps(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Appends the ranks that send in a step.
    pub fn senders(&self, step: u32, senders: &mut Vec<u32>) {
        let ranks = 0..self.sides.iter().product();
        senders.extend(ranks.filter(|&rank| self.target(step, rank, 0).is_some()));
    }

    /// Returns the number of packets of a rank in a step.
    pub fn count(&self, step: u32, rank: u32) -> u64 {
        self.targets(step, rank).count() as u64
    }

    /// Returns the receiver of packet number `k` of a rank in a step; `None` if the rank sends fewer packets.
    pub fn target(&self, step: u32, rank: u32, k: u64) -> Option<u32> {
        self.targets(step, rank).nth(k as usize)
    }

    fn targets(&self, step: u32, rank: u32) -> impl Iterator<Item = u32> {
        let step = step as usize;
        let first = if step == 0 { 0 } else { self.ends[step - 1] };
        self.moves[first..self.ends[step]].iter().filter_map(move |&by| self.moved(by, rank))
    }

    /// Returns the rank to which a move leads; `None` if there is no such rank.
    fn moved(&self, along: Move, rank: u32) -> Option<u32> {
        let Move { axis, by, up, wraps, all } = along;
        let [x, y, z] = self.sides;
        let mut at = [rank % x, rank / x % y, rank / (x * y)];
        // If not all processes send, a process sends only if its coordinates are multiples of the stride.
        let takes_part = all || (0..3).all(|b| at[b].is_multiple_of(by.min(self.sides[b])));
        if at[2] >= z || !takes_part {
            return None;
        }
        let side = self.sides[axis];
        at[axis] += if up { by } else { side - by };
        // For a downward move, the coordinate has been increased by the side minus the distance. There is a neighbour
        // below exactly if the result is at least the side.
        if !wraps && (at[axis] >= side) == up {
            return None;
        }
        at[axis] %= side;
        Some((at[2] * y + at[1]) * x + at[0])
    }
}

/// Returns the sides of the grid that has exactly `n` processes and the smallest sum of sides. The longest side is
/// first.
fn balanced(n: u32, dimensions: u8) -> [u32; 3] {
    let divisors = |n: u32| (1..=n.isqrt()).filter(move |d| n.is_multiple_of(*d));
    let plane = |n: u32, z: u32| {
        // The sum decreases as the shorter side approaches the square root of `n`.
        let y = divisors(n).next_back().unwrap_or(1);
        [n / y, y, z]
    };
    match dimensions {
        1 => [n, 1, 1],
        2 => plane(n, 1),
        _ => divisors(n)
            .map(|z| plane(n / z, z))
            .filter(|[_, y, z]| y >= z)
            .min_by_key(|sides| sides.iter().sum::<u32>())
            .unwrap_or([n, 1, 1]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a multigrid as in the preset of Lo et al.
    fn multigrid(n: u32, cycle: Cycle) -> Exchange {
        let grid = Grid { dimensions: 3, wrap: true };
        Exchange::multigrid(n, grid, cycle, Steps::Direction, Active::Level)
    }

    /// Returns the coordinates of senders and receivers.
    fn pairs(exchange: &Exchange, step: u32) -> Vec<([u32; 3], [u32; 3])> {
        let [x, y, _] = exchange.sides;
        let at = |rank: u32| [rank % x, rank / x % y, rank / (x * y)];
        let mut senders = Vec::new();
        exchange.senders(step, &mut senders);
        let target = |rank| exchange.target(step, rank, 0).expect("a sender");
        senders.into_iter().map(|rank| (at(rank), at(target(rank)))).collect()
    }

    #[test]
    fn a_multigrid_has_the_steps_of_its_levels() {
        let exchange = multigrid(64, Cycle::Descent);
        assert_eq!((exchange.sides, exchange.steps()), ([4, 4, 4], 12));
        let steps: Vec<_> = (0..12).map(|step| pairs(&exchange, step)).collect();
        assert_eq!(steps.iter().map(Vec::len).sum::<usize>(), 432);
        assert!(steps[1].contains(&([0, 3, 2], [3, 3, 2])));
        assert!(steps[2].contains(&([1, 3, 2], [1, 0, 2])));
        // With stride 2, the eight processes with even coordinates send.
        assert_eq!(steps[11].len(), 8);
        assert!(steps[11].contains(&([2, 0, 0], [2, 0, 2])));
    }

    #[test]
    fn the_longer_axes_of_a_multigrid_come_first() {
        let sides = |n| multigrid(n, Cycle::Descent).sides;
        let known = [(2, [2, 1, 1]), (4, [2, 2, 1]), (8, [2, 2, 2]), (256, [8, 8, 4])];
        assert!(known.iter().all(|&(n, expected)| sides(n) == expected));
        assert_eq!(sides(255), sides(128));
        // Stride 4 occurs on x and y only, because a grid of 8 x 8 x 4 has 2 x 2 x 1 points at this level.
        let exchange = multigrid(256, Cycle::Descent);
        assert_eq!(exchange.steps(), 16);
        let at: Vec<_> = pairs(&exchange, 13).into_iter().map(|(from, _)| from).collect();
        assert_eq!(at, [[0, 0, 0], [4, 0, 0], [0, 4, 0], [4, 4, 0]]);
    }

    #[test]
    fn a_v_cycle_returns_by_the_same_steps() {
        let (down, v) = (multigrid(64, Cycle::Descent), multigrid(64, Cycle::V));
        assert_eq!(v.steps(), 2 * down.steps());
        for step in 0..12 {
            assert_eq!(pairs(&v, step), pairs(&down, step));
            assert_eq!(pairs(&v, 23 - step), pairs(&down, step));
        }
        let up = multigrid(64, Cycle::Ascent);
        assert!((0..12).all(|step| pairs(&up, step) == pairs(&down, 11 - step)));
    }

    /// A step for a whole level sends the same packets as the six steps of the level. The test covers all choices of
    /// active processes and all grids.
    #[test]
    fn a_level_has_the_packets_of_its_steps() {
        for (dimensions, wrap, active, packets) in [
            (3, true, Active::Level, 432),
            (3, true, Active::All, 64 * 6 * 2),
            (3, false, Active::Level, 3 * 2 * (3 * 16 + 4)),
            (2, true, Active::Level, 4 * (64 + 16 + 4)),
            (1, false, Active::All, 2 * (63 + 62 + 60 + 56 + 48 + 32)),
        ] {
            let of = |steps| {
                let grid = Grid { dimensions, wrap };
                Exchange::multigrid(64, grid, Cycle::Descent, steps, active)
            };
            let (whole, parts) = (of(Steps::Level), of(Steps::Direction));
            let all = |exchange: &Exchange, rank: u32| -> Vec<u32> {
                (0..exchange.steps())
                    .flat_map(|step| exchange.targets(step, rank).collect::<Vec<_>>())
                    .collect()
            };
            assert_eq!(whole.steps(), 6 / u32::from(dimensions));
            assert!((0..64).all(|rank| all(&whole, rank) == all(&parts, rank)));
            let sent: u64 = (0..whole.steps())
                .map(|step| (0..64).map(|rank| whole.count(step, rank)).sum::<u64>())
                .sum();
            assert_eq!(sent, packets, "{dimensions} {wrap} {active:?}");
        }
    }

    #[test]
    fn neighbours_differ_by_one() {
        for (n, dimensions, wrap) in [(6, 2, false), (7, 2, true), (12, 3, true), (5, 1, false)] {
            let exchange = Exchange::neighbours(n, dimensions, wrap);
            let mut found: Vec<_> =
                (0..exchange.steps()).flat_map(|step| pairs(&exchange, step)).collect();
            let mut expected = Vec::new();
            let [x, y, z] = exchange.sides;
            assert_eq!(x * y * z, n);
            for rank in 0..n {
                let from = [rank % x, rank / x % y, rank / (x * y)];
                for axis in 0..3 {
                    for c in 0..exchange.sides[axis] {
                        let side = exchange.sides[axis];
                        let gap = c.abs_diff(from[axis]);
                        if gap == 1 || (wrap && side > 2 && gap == side - 1) {
                            let mut to = from;
                            to[axis] = c;
                            expected.push((from, to));
                        }
                    }
                }
            }
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn grids_are_as_square_as_possible() {
        assert_eq!(balanced(81, 2), [9, 9, 1]);
        assert_eq!(balanced(72, 2), [9, 8, 1]);
        assert_eq!(balanced(7, 3), [7, 1, 1]);
        for n in 1..200 {
            let sum = |sides: [u32; 3]| sides.iter().sum::<u32>();
            let all = (1..=n).flat_map(|y| (1..=n).map(move |z| [n / (y * z).max(1), y, z]));
            let least = all.filter(|s| s.iter().product::<u32>() == n).map(sum).min();
            assert_eq!(Some(sum(balanced(n, 3))), least, "{n}");
            assert!(balanced(n, 3).is_sorted_by(|a, b| a >= b));
        }
    }
}
