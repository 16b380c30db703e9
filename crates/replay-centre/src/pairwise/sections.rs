//! Sections of balls, from which pairwise sums and costs are computed.

use crate::ball_counts::BallCounts;
use crate::diamond_counts::Shorts;
use replay_engine::machine::LANES;

/// 16 lanes of 32 bits.
pub type Words = [u32; LANES];

/// The complete shells around 16 neighbouring centres, divided into sections across each dimension.
///
/// Let S be the complete shells, L the number of the last shell, and P the part that is taken from
/// the last shell. The score is
///
/// ```text
/// pair(S) + sum over p in P of D(p) + pair(P)
/// ```
///
/// In the formula for the score, D(p), the *cost* of p, is the sum of the distances from p to all
/// processors of S. All terms are computed from the number of processors of S in each section. The
/// term pair(S) is a sum over the cuts between sections; D is a sum with one term for each
/// coordinate.
#[derive(Debug, Default)]
pub struct Sections {
    last: usize,
    cuts: [Cuts; 3],
    /// For each distance along the first and the second dimension, the smallest term of all
    /// positions at this distance or farther.
    least: [Vec<Words>; 2],
}

/// Type of a sum of products. The sum may overflow in lanes that are not used.
pub trait Sum: Copy + Default + Into<u64> {
    /// Adds a number.
    fn plus(self, number: u32) -> Self;
}

impl Sum for u32 {
    #[inline(always)]
    fn plus(self, number: u32) -> Self {
        self.wrapping_add(number)
    }
}

impl Sum for u64 {
    #[inline(always)]
    fn plus(self, number: u32) -> Self {
        self.wrapping_add(u64::from(number))
    }
}

/// The sections across one dimension, from the last shell on one side of the centre to the last
/// shell on the other side.
#[derive(Debug, Default)]
struct Cuts {
    /// Distance between the first section and the centre.
    behind: usize,
    ahead: usize,
    /// Whether the sections cover a wrapped dimension entirely.
    around: bool,
    counts: Vec<Shorts>,
    /// The terms of D.
    terms: Vec<Words>,
}

impl Sections {
    /// Computes the sections around the centre (a, b, lane) and the 15 centres after it. The last
    /// shell of all 16 centres is `last`.
    pub fn cut(&mut self, counts: &BallCounts, [a, b, lane]: [usize; 3], last: usize) {
        self.last = last;
        let extents = [0, 1, 2].map(|dimension| counts.extent(dimension));
        let row = a * extents[1] + b;
        for (dimension, cuts) in self.cuts.iter_mut().enumerate() {
            let at = [a, b, lane][dimension];
            let several = if dimension == 2 { LANES - 1 } else { 0 };
            cuts.span(counts, dimension, at, at + several, last);
            cuts.counts.clear();
            let (behind, ahead) = (cuts.behind as isize, cuts.ahead as isize);
            cuts.counts.extend((-behind..=ahead).map(|offset| {
                let Some(radius) = last.checked_sub(1 + offset.unsigned_abs()) else {
                    return [0; LANES];
                };
                let place =
                    || (at as isize + offset).rem_euclid(extents[dimension] as isize) as usize;
                let entry = |row| row * counts.pitch() + lane;
                match dimension {
                    0 => counts.within_plane(0, radius, entry(place() * extents[1] + b)),
                    1 => counts.within_plane(1, radius, entry(a * extents[1] + place())),
                    _ => counts.within_layer(radius, row, lane as isize + offset),
                }
            }));
        }
    }

    /// Returns the sums of pairwise distances in the complete shells, which contain `all`
    /// processors. The type `S` must be able to represent twice the sum.
    pub fn pairs<S: Sum>(&self, all: &Shorts) -> [u64; LANES] {
        let mut total = [0; LANES];
        for cuts in &self.cuts {
            let mut sums = [S::default(); LANES];
            let mut part = |before: &Shorts| {
                for i in 0..LANES {
                    let other = all[i].wrapping_sub(before[i]);
                    sums[i] = sums[i].plus(u32::from(before[i]) * u32::from(other));
                }
            };
            let mut before = [0; LANES];
            if cuts.around {
                cuts.for_arcs(|_, arc| part(arc));
            } else {
                for count in &cuts.counts {
                    plus(&mut before, count);
                    part(&before);
                }
            }
            let halves = u32::from(cuts.around);
            for i in 0..LANES {
                let sum: u64 = sums[i].into();
                total[i] += sum >> halves;
            }
        }
        total
    }

    /// Computes the terms of the cost D for every section; the complete shells contain `all`
    /// processors.
    pub fn weigh(&mut self, all: &Shorts) {
        for cuts in &mut self.cuts {
            cuts.weigh(all);
        }
    }

    /// Returns a lower bound of the cost D at all positions in the last shell or beyond this shell.
    pub fn least_cost(&mut self) -> Words {
        let last = self.last;
        let [first, second, third] = &self.cuts;
        let [one, two] = &mut self.least;
        first.least(one);
        second.least(two);
        let both = |sum: usize| {
            let mut least = [u32::MAX; LANES];
            for i in (sum + 1).saturating_sub(two.len())..one.len().min(sum + 1) {
                for lane in 0..LANES {
                    least[lane] = least[lane].min(one[i][lane].wrapping_add(two[sum - i][lane]));
                }
            }
            least
        };
        let mut least = [u32::MAX; LANES];
        let mut beyond = [u32::MAX; LANES];
        for distance in (0..=third.behind.max(third.ahead)).rev() {
            third.lower(distance, &mut beyond);
            if distance > last || last - distance > one.len() + two.len() - 2 {
                continue;
            }
            let rest = both(last - distance);
            for lane in 0..LANES {
                least[lane] = least[lane].min(rest[lane].saturating_add(beyond[lane]));
            }
        }
        least
    }

    /// Returns the term of D that one dimension adds for a position at `offset` from the centre of
    /// a lane.
    #[inline]
    pub fn term(&self, dimension: usize, offset: isize, lane: usize) -> u32 {
        let cuts = &self.cuts[dimension];
        cuts.terms[cuts.behind.wrapping_add_signed(offset)][lane]
    }

    /// Returns the distances by which the sections extend on both sides of the centres.
    pub fn span(&self, dimension: usize) -> [isize; 2] {
        [self.cuts[dimension].behind as isize, self.cuts[dimension].ahead as isize]
    }
}

impl Cuts {
    fn span(
        &mut self,
        counts: &BallCounts,
        dimension: usize,
        first: usize,
        end: usize,
        last: usize,
    ) {
        let extent = counts.extent(dimension);
        // Within a quarter of the extent, wrap-around does not shorten distances.
        self.around = counts.axes()[dimension].wrapped && 4 * last > extent;
        (self.behind, self.ahead) = match (self.around, counts.axes()[dimension].wrapped) {
            (true, _) => (extent / 2, (extent - 1) / 2),
            (false, true) => (last, last),
            (false, false) => (last.min(end.min(extent - 1)), last.min(extent - 1 - first)),
        };
    }

    /// Calls `take` for each arc of half the extent, with the arc's first section and its number of
    /// processors.
    fn for_arcs(&self, mut take: impl FnMut(usize, &Shorts)) {
        let half = self.counts.len() / 2;
        let mut arc = [0; LANES];
        self.counts[..half].iter().for_each(|count| plus(&mut arc, count));
        for start in 0..self.counts.len() {
            take(start, &arc);
            plus(&mut arc, &self.counts[(start + half) % self.counts.len()]);
            minus(&mut arc, &self.counts[start]);
        }
    }

    fn weigh(&mut self, all: &Shorts) {
        let sections = self.counts.len();
        let mut terms = std::mem::take(&mut self.terms);
        terms.clear();
        terms.resize(sections, [0; LANES]);
        for (position, count) in self.counts.iter().enumerate() {
            let distance =
                if self.around { position.min(sections - position) } else { position } as u32;
            for lane in 0..LANES {
                terms[0][lane] = terms[0][lane].wrapping_add(u32::from(count[lane]) * distance);
            }
        }
        if self.around {
            // One step along the circle increases the distance to each processor in the half behind
            // by one, and decreases the distance to each processor in the half ahead by one.
            let half = sections / 2;
            let mut steps = vec![[0; LANES]; sections];
            self.for_arcs(|start, arc| steps[start] = *arc);
            for position in 1..sections {
                let behind = &steps[(position + sections - half) % sections];
                let ahead = &steps[position];
                for lane in 0..LANES {
                    let gain = u32::from(behind[lane]).wrapping_sub(u32::from(ahead[lane]));
                    terms[position][lane] = terms[position - 1][lane].wrapping_add(gain);
                }
            }
        } else {
            let mut before = [0u16; LANES];
            for position in 1..sections {
                plus(&mut before, &self.counts[position - 1]);
                for lane in 0..LANES {
                    let gain = (2 * u32::from(before[lane])).wrapping_sub(u32::from(all[lane]));
                    terms[position][lane] = terms[position - 1][lane].wrapping_add(gain);
                }
            }
        }
        self.terms = terms;
    }

    /// For each distance, sets the entry of `by_distance` to the smallest term of all positions at
    /// this distance or farther.
    fn least(&self, by_distance: &mut Vec<Words>) {
        let farthest = self.behind.max(self.ahead);
        by_distance.clear();
        by_distance.resize(farthest + 1, [u32::MAX; LANES]);
        let mut least = [u32::MAX; LANES];
        for distance in (0..=farthest).rev() {
            self.lower(distance, &mut least);
            by_distance[distance] = least;
        }
    }

    /// Replaces entries of `least` by the terms at a distance if the terms are smaller.
    fn lower(&self, distance: usize, least: &mut Words) {
        let sides = [
            (distance <= self.behind).then(|| self.behind - distance),
            (distance <= self.ahead).then_some(self.behind + distance),
        ];
        for position in sides.into_iter().flatten() {
            for (least, term) in least.iter_mut().zip(&self.terms[position]) {
                *least = (*least).min(*term);
            }
        }
    }
}

#[inline(always)]
fn plus(to: &mut Shorts, from: &Shorts) {
    for i in 0..LANES {
        to[i] = to[i].wrapping_add(from[i]);
    }
}

#[inline(always)]
fn minus(to: &mut Shorts, from: &Shorts) {
    for i in 0..LANES {
        to[i] = to[i].wrapping_sub(from[i]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_cases::{grids, machine};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// The sums, and the costs of every position in the last shell, agree with values computed
        /// from the distances of all pairs.
        #[test]
        fn sums_and_costs_agree_with_distances(
            grid in grids(), busy in 0.0..0.95f64, seed: u64, last in 0usize..9,
            pick: prop::sample::Index,
        ) {
            let machine = machine(&grid, busy, seed);
            let coords = grid.coords();
            let mut counts = BallCounts::new(&grid).expect("small");
            counts.update(&machine, &coords);
            counts.reach(last);
            let centre = *pick.get(&coords);
            let at = counts.at(centre);
            let (from, i) = (at / LANES * LANES, at % LANES);
            let (row, lane) = (from / counts.pitch(), from % counts.pitch());
            let of_row = [row / counts.extent(1), row % counts.extent(1), lane];
            let mut sections = Sections::default();
            sections.cut(&counts, of_row, last);
            let inner = last.checked_sub(1).map_or([0; LANES], |r| counts.within(r, from));
            let complete: Vec<_> = machine.free_nodes().map(|node| coords[node.index()])
                .filter(|&c| (grid.l1(centre, c) as usize) < last).collect();
            let pairs = complete.iter().enumerate().flat_map(|(n, a)| {
                complete[..n].iter().map(|b| u64::from(grid.l1(*a, *b)))
            });
            let pairs: u64 = pairs.sum();
            prop_assert_eq!(sections.pairs::<u32>(&inner)[i], pairs);
            prop_assert_eq!(sections.pairs::<u64>(&inner)[i], pairs);
            sections.weigh(&inner);
            let least = sections.least_cost()[i];
            for &p in coords.iter().filter(|&&p| grid.l1(centre, p) as usize >= last) {
                let cost: u32 = complete.iter().map(|&q| grid.l1(p, q)).sum();
                prop_assert!(least <= cost);
                if grid.l1(centre, p) as usize > last {
                    continue;
                }
                let terms = (0..3).map(|dimension| {
                    let of_grid = counts.dimensions()[dimension];
                    let extent = counts.extent(dimension) as isize;
                    let offset = p[of_grid] as isize - centre[of_grid] as isize;
                    let [behind, ahead] = sections.span(dimension);
                    let offset = [offset, offset - extent, offset + extent].into_iter()
                        .filter(|offset| (-behind..=ahead).contains(offset))
                        .filter(|&o| o == offset || counts.axes()[dimension].wrapped)
                        .min_by_key(|offset| offset.abs()).expect("within the span");
                    sections.term(dimension, offset, i)
                });
                prop_assert_eq!(terms.sum::<u32>(), cost);
            }
        }
    }
}
