//! Candidates of a decision, the selection of candidates that can still win, and bounds that exclude candidates.

use crate::definition::Centres;
use replay_engine::allocator::ties::Slack;
use replay_engine::machine::Machine;
use replay_engine::topology::{Coord, Grid};

/// Candidate centres of one decision, in candidate order.
///
/// The candidates are those of [`Centres::list`], but the buffer of the list is reused.
#[derive(Debug)]
pub struct Candidates {
    centres: Centres,
    /// Coordinates by processor.
    coords: Vec<Coord>,
    list: Vec<Coord>,
    /// Dimension along which consecutive candidates are adjacent.
    along: usize,
    /// For each candidate, the first candidate of the run that contains this candidate. A run consists of consecutive
    /// candidates on one line.
    lines: Vec<u32>,
    /// Coordinates of free processors, by axis, in order of first appearance.
    positions: [Vec<u16>; 3],
    seen: [Vec<bool>; 3],
}

impl Candidates {
    /// Creates an empty list for the candidates of one strategy on `grid`.
    pub fn new(centres: Centres, grid: &Grid) -> Self {
        Self {
            centres,
            coords: grid.coords(),
            list: Vec::new(),
            along: grid.dimensions() - 1,
            lines: Vec::new(),
            positions: Default::default(),
            seen: [0, 1, 2].map(|axis| vec![false; grid.extent(axis)]),
        }
    }

    /// Lists the candidates for the free processors of a machine.
    pub fn list(&mut self, machine: &Machine) {
        let Self { centres, coords, list, positions, seen, .. } = self;
        list.clear();
        let free = coords.iter().zip(machine.free_map()).filter(|(_, free)| **free);
        let free = free.map(|(coord, _)| *coord);
        match centres {
            Centres::FreeProcessors => list.extend(free),
            Centres::CoordinateProduct => {
                positions.iter_mut().for_each(Vec::clear);
                seen.iter_mut().for_each(|seen| seen.fill(false));
                for coord in free {
                    let axes = seen.iter_mut().zip(&mut *positions);
                    for ((seen, positions), position) in axes.zip(coord) {
                        if !std::mem::replace(&mut seen[usize::from(position)], true) {
                            positions.push(position);
                        }
                    }
                }
                let [xs, ys, zs] = positions;
                for &x in &*xs {
                    for &y in &*ys {
                        list.extend(zs.iter().map(|&z| [x, y, z]));
                    }
                }
            }
        }
    }

    /// Returns the coordinates by processor.
    pub fn coords(&self) -> &[Coord] {
        &self.coords
    }

    /// Determines the runs of consecutive candidates that are on one line.
    pub fn find_lines(&mut self) {
        let Self { list, along, lines, .. } = self;
        let line = |mut centre: Coord| {
            centre[*along] = 0;
            centre
        };
        lines.clear();
        let mut first = 0;
        for (index, &centre) in (0u32..).zip(&*list) {
            if line(centre) != line(list[first as usize]) {
                first = index;
            }
            lines.push(first);
        }
    }

    /// Returns the first candidate of the run that ends at `index`. A run consists of consecutive candidates on one
    /// line. [`find_lines`](Self::find_lines) must be called first.
    pub fn first_of_line(&self, index: usize) -> usize {
        self.lines[index] as usize
    }

    /// Returns the number of candidates.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns a candidate by its position in candidate order.
    pub fn centre(&self, index: usize) -> Coord {
        self.list[index]
    }

    /// Returns the candidates before `index`, the latest first.
    pub fn earlier(&self, index: usize) -> impl Iterator<Item = Coord> + '_ {
        self.list[..index].iter().rev().copied()
    }

    /// Returns whether the centre of a candidate may be busy.
    pub fn may_be_busy(&self) -> bool {
        self.centres == Centres::CoordinateProduct
    }
}

/// Result of comparing the bounds of a centre's score with the scores that can still matter.
pub enum Verdict {
    /// The score may matter.
    Open,
    /// The score of this centre does not matter.
    Closed,
    /// No set of the requested size that contains the complete shells of this centre has a score that matters.
    Excluded,
}

/// The candidates that can still win while scores are computed.
#[derive(Debug, Default)]
pub struct Selection {
    /// If a slack is given, all candidates within the slack are kept; otherwise, only the first candidate with the best
    /// score is kept.
    slack: Option<Slack>,
    /// The highest score that can still matter.
    limit: u64,
    best: Option<(u64, usize)>,
    kept: Vec<(u64, usize)>,
}

impl Selection {
    /// Starts a decision. If a slack is given, all candidates within the slack are kept; otherwise, only the first
    /// candidate with the best score is kept.
    pub fn start(&mut self, slack: Option<Slack>) {
        (self.slack, self.limit, self.best) = (slack, u64::MAX, None);
        self.kept.clear();
    }

    /// Returns whether a candidate can still matter if its score is at least `at_least`.
    #[inline]
    pub fn is_open(&self, at_least: u64, index: usize) -> bool {
        at_least < self.limit
            || at_least == self.limit
                && (self.slack.is_some() || self.best.is_none_or(|(_, first)| index < first))
    }

    /// Compares a lower bound of a candidate's score with the scores that can still matter. `at_least` excludes the
    /// distances within the part that is taken from the last shell; `within` contains the [bounds](LeastPairs::of) of
    /// these distances.
    #[inline]
    pub fn verdict(&self, at_least: u64, within: [u64; 2], index: usize) -> Verdict {
        let [anywhere, in_shell] = within;
        if at_least + anywhere > self.limit {
            Verdict::Excluded
        } else if self.is_open(at_least + in_shell, index) {
            Verdict::Open
        } else {
            Verdict::Closed
        }
    }

    /// Enters a candidate's score. Each candidate may be entered only once.
    pub fn enter(&mut self, score: u64, index: usize) {
        if !self.is_open(score, index) {
            return;
        }
        if self.best.is_none_or(|best| (score, index) < best) {
            self.best = Some((score, index));
            self.limit = self.slack.map_or(score, |slack| slack.admitted(score));
        }
        if self.slack.is_some() {
            self.kept.push((score, index));
        }
    }

    /// Returns the best score and the first candidate that has this score.
    pub fn best(&self) -> Option<(u64, usize)> {
        self.best
    }

    /// Returns all admitted candidates with their scores, in candidate order.
    pub fn admitted(&mut self) -> &[(u64, usize)] {
        let limit = self.limit;
        self.kept.retain(|&(score, _)| score <= limit);
        self.kept.sort_unstable_by_key(|&(_, index)| index);
        &self.kept
    }
}

/// Lower bounds of the pairwise sum of a set of distinct processors, for any number of processors.
///
/// The pairwise sum is half the sum of the distances from each processor to all other processors. The sum of the
/// distances from one processor to m other processors is at least the sum of the distances from a position of an
/// infinite grid to the m positions nearest to it. If all processors are in one shell of the infinite grid, only the
/// nearest positions of the shell are considered.
#[derive(Debug)]
pub struct LeastPairs {
    dimensions: usize,
    /// Largest shell number at which wrap-around does not shorten any distance within a shell.
    flat: usize,
    anywhere: Vec<u64>,
    /// The bounds, indexed by shell number and number of processors; empty until first used.
    in_shells: Vec<Vec<u64>>,
}

impl LeastPairs {
    /// Largest shell for which separate bounds are computed. Larger shells use the bound for any processors, because
    /// computing separate bounds would take more time than it saves.
    const LARGEST_SHELL: usize = 64;

    /// Creates bounds for any number of processors of `grid`.
    pub fn new(grid: &Grid) -> Self {
        let axes = grid.axes().iter().filter(|axis| axis.extent > 1);
        let dimensions = axes.clone().count();
        let wrapped = axes.filter(|axis| axis.wrapped).map(|axis| usize::from(axis.extent) / 4);
        let positions = |distance: u64| match dimensions {
            0 | 1 => 2,
            2 => 4 * distance,
            _ => 4 * distance * distance + 2,
        };
        let flat = wrapped.min().unwrap_or(usize::MAX).min(Self::LARGEST_SHELL);
        let (mut distance, mut left, mut sum) = (1, positions(1), 0);
        let mut anywhere = vec![0];
        for m in 1..=grid.processors() as u64 {
            anywhere.push((m * sum).div_ceil(2));
            // The next processor has one more neighbour at the least possible distance.
            sum += distance;
            left -= 1;
            if left == 0 {
                distance += 1;
                left = positions(distance);
            }
        }
        Self { dimensions, flat, anywhere, in_shells: Vec::new() }
    }

    /// Returns the bounds for any `m` processors and for `m` processors of a shell.
    #[inline]
    pub fn of(&mut self, shell: usize, m: usize) -> [u64; 2] {
        [self.anywhere[m], self.in_shell(shell, m)]
    }

    /// Returns the bound for `m` processors of a shell.
    #[inline]
    pub fn in_shell(&mut self, shell: usize, m: usize) -> u64 {
        if shell > self.flat {
            return self.anywhere[m];
        }
        if self.in_shells.len() <= shell {
            self.in_shells.resize(shell + 1, Vec::new());
        }
        if self.in_shells[shell].is_empty() {
            self.in_shells[shell] = in_shell(self.dimensions, shell as i32);
        }
        self.in_shells[shell][m]
    }
}

/// Computes the bounds for the processors of one shell, indexed by the number of processors. The bounds are computed
/// from the distances between each position and its nearest positions. Because of symmetry, positions with non-negative
/// ascending coordinates are sufficient.
fn in_shell(dimensions: usize, shell: i32) -> Vec<u64> {
    let range = |used: bool, most: i32| if used { -most..=most } else { 0..=0 };
    let mut positions: Vec<[i32; 3]> = Vec::new();
    for x in range(dimensions > 2, shell) {
        for y in range(dimensions > 1, shell - x.abs()) {
            let z = shell - x.abs() - y.abs();
            positions.push([x, y, z]);
            if z > 0 {
                positions.push([x, y, -z]);
            }
        }
    }
    // Entry m is the smallest sum of the distances from one position to m other positions.
    let mut sums = vec![u64::MAX; positions.len()];
    let mut at = vec![0u32; 2 * shell as usize + 1];
    for p in positions.iter().filter(|[x, y, z]| 0 <= *x && x <= y && y <= z) {
        at.fill(0);
        for q in &positions {
            let distance: i32 = p.iter().zip(q).map(|(a, b)| (a - b).abs()).sum();
            at[distance as usize] += 1;
        }
        let (mut others, mut sum) = (0, 0);
        for (distance, &count) in at.iter().enumerate() {
            for _ in 0..count {
                sum += distance as u64;
                sums[others] = sums[others].min(sum);
                others += 1;
            }
        }
    }
    // The first position that is counted is the position itself.
    let of = |(others, sum): (u64, u64)| ((others + 1) * sum).div_ceil(2);
    [0].into_iter().chain((0..).zip(sums).map(of)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The pairwise sum of a set is never below the bound.
        #[test]
        fn sets_are_not_below_their_bound(
            dimensions in 1usize..=3, shell in 0usize..5, picks: Vec<prop::sample::Index>,
        ) {
            let extent = 20;
            let mut axes = vec![1; 3 - dimensions];
            axes.resize(3, extent);
            let axes: Vec<_> = axes.into_iter()
                .map(|extent| replay_engine::topology::Axis { extent, wrapped: false }).collect();
            let grid = Grid::new(&axes).expect("a grid");
            let mut least = LeastPairs::new(&grid);
            let centre = axes.iter().map(|axis| axis.extent / 2).collect::<Vec<_>>();
            let centre = [centre[0], centre[1], centre[2]];
            let of_shell: Vec<_> = grid.coords().into_iter()
                .filter(|&c| grid.l1(c, centre) as usize == shell).collect();
            let mut set: Vec<_> = picks.iter().map(|pick| *pick.get(&of_shell)).collect();
            set.sort_unstable();
            set.dedup();
            let pairs = set.iter().enumerate()
                .flat_map(|(i, a)| set[..i].iter().map(|b| u64::from(grid.l1(*a, *b))));
            let sum: u64 = pairs.sum();
            prop_assert!(least.in_shell(shell, set.len()) <= sum);
            prop_assert!(least.anywhere[set.len()] <= sum);
            let all: u64 = of_shell.iter().enumerate()
                .flat_map(|(i, a)| of_shell[..i].iter().map(|b| u64::from(grid.l1(*a, *b)))).sum();
            prop_assert!(least.in_shell(shell, of_shell.len()) <= all);
        }
    }

    #[test]
    fn bounds_in_a_shell_exceed_bounds_anywhere() {
        let mut least = LeastPairs::new(&Grid::mesh2(40, 40).expect("a mesh"));
        // The distance between any two of the four processors around a centre is two, even if they are opposite.
        assert_eq!((least.anywhere[4], least.in_shell(1, 4)), (6, 12));
        assert!(least.in_shell(12, 24) > 3 * least.anywhere[24]);
    }
}
