//! Selection of the winners of many configurations among the same candidates. 16 configurations are processed at a
//! time, one per lane.

use crate::allocator::centre::mc1x1::TieSums;
use crate::allocator::centre::tie::TieVector;
use crate::machine::LANES;
use crate::topology::NodeId;

/// Candidate of a decision, for one scan radius.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    pub score: u64,
    pub centre: NodeId,
    pub sums: TieSums,
    /// Number of the candidate, which is the same for every scan radius.
    pub number: u32,
}

/// Number of weights: AF, BF and WF.
const WEIGHTS: usize = 3;

/// Weights of all configurations.
#[derive(Debug, Default)]
pub struct Weights {
    by_config: [Vec<i32>; WEIGHTS],
    /// Largest magnitude of each weight.
    largest: [i64; WEIGHTS],
    any_negative: bool,
}

/// Candidate whose sums fit into 32 bits.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The sums that are multiplied by the weights. While `open` is not 0, the sum for WF excludes the last shell.
    sums: [i32; WEIGHTS],
    /// Lower and upper bound of the contribution of the last shell to the sum for WF; 0 if the contribution is known.
    open: [i32; 2],
    /// Rank by score, then by processor number. If tie values are equal, the lowest rank wins.
    rank: i32,
    /// Index of the candidate.
    candidate: u32,
}

/// Candidates of one decision and scan radius.
#[derive(Debug, Default)]
pub struct LaneSelection {
    exact: Vec<Entry>,
    open: Vec<Entry>,
    /// Candidates by rank; empty if ranks are in candidate order.
    order: Vec<u32>,
    /// Centres by rank.
    centres: Vec<NodeId>,
}

impl Weights {
    /// Replaces all weights by the weights of `vectors`.
    pub fn set(&mut self, vectors: impl Iterator<Item = TieVector>) {
        *self = Self { by_config: std::mem::take(&mut self.by_config), ..Self::default() };
        self.by_config.iter_mut().for_each(Vec::clear);
        for vector in vectors {
            let weights = [vector.available, vector.border, vector.wall];
            let columns = self.by_config.iter_mut().zip(&mut self.largest);
            for (weight, (column, largest)) in weights.into_iter().zip(columns) {
                column.push(weight);
                *largest = i64::from(weight.unsigned_abs()).max(*largest);
                self.any_negative |= weight < 0;
            }
        }
    }
}

impl LaneSelection {
    /// Lists the candidates of one scan radius. All configurations must admit these candidates. Returns `false` if
    /// their tie values may not fit into 32 bits.
    pub fn list(&mut self, candidates: &[Candidate], weights: &Weights) -> bool {
        let Self { exact, open, order, centres } = self;
        exact.clear();
        open.clear();
        order.clear();
        centres.clear();
        let mut largest = [0; WEIGHTS];
        // If scores differ, ranks are not in candidate order.
        let one_score = candidates.iter().all(|one| one.score == candidates[0].score);
        if !one_score {
            order.extend(0..candidates.len() as u32);
            order.sort_unstable_by_key(|&index| {
                (candidates[index as usize].score, candidates[index as usize].centre)
            });
        }
        for rank in 0..candidates.len() {
            let index = order.get(rank).map_or(rank, |&index| index as usize);
            let Candidate { centre, ref sums, .. } = candidates[index];
            centres.push(centre);
            let [low, high] = sums.last_wall;
            let is_exact = sums.is_exact();
            let most_wall = sums.wall.abs() + low.abs().max(high.abs());
            for (largest, sum) in largest.iter_mut().zip([sums.available, sums.border, most_wall]) {
                *largest = sum.abs().max(*largest);
            }
            let wall = if is_exact { sums.wall + low } else { sums.wall };
            let entry = Entry {
                sums: [sums.available, sums.border, wall].map(|sum| sum as i32),
                open: if is_exact { [0; 2] } else { [low as i32, high as i32] },
                rank: rank as i32,
                candidate: index as u32,
            };
            if !is_exact {
                open.push(entry);
                continue;
            }
            // A candidate never wins if an earlier candidate is at least as good for every configuration.
            let is_as_good = |other: &Entry| {
                let [ours, theirs] = [&entry.sums, &other.sums];
                if weights.any_negative {
                    return ours == theirs;
                }
                theirs[0] <= ours[0] && theirs[1] >= ours[1] && theirs[2] >= ours[2]
            };
            if !exact.iter().any(is_as_good) {
                exact.push(entry);
            }
        }
        let products = largest.iter().zip(weights.largest).map(|(&sum, w)| sum.saturating_mul(w));
        products.fold(0, i64::saturating_add) < i64::from(i32::MAX)
    }

    /// Returns the winning centre of up to 16 configurations, by lane. `close` returns the contribution of a
    /// candidate's last shell to the sum for WF; its argument is the index of the candidate.
    #[inline(always)]
    pub fn winners(
        &mut self,
        configs: &[u32],
        weights: &Weights,
        mut close: impl FnMut(usize) -> i64,
    ) -> [NodeId; LANES] {
        let Self { exact, open, centres, .. } = self;
        let mut lanes = [[0i32; LANES]; WEIGHTS];
        for (lanes, column) in lanes.iter_mut().zip(&weights.by_config) {
            for (lane, &config) in lanes.iter_mut().zip(configs) {
                *lane = column[config as usize];
            }
        }
        let wall = &lanes[2];
        let (mut best, mut first) = ([i32::MAX; LANES], [i32::MAX; LANES]);
        for entry in &*exact {
            enter(&mut best, &mut first, &values(&lanes, entry), entry.rank);
        }
        for entry in open {
            let mut value = values(&lanes, entry);
            if entry.open != [0; 2] {
                let mut matters = 0;
                for i in 0..LANES {
                    let most = (wall[i] * entry.open[0]).max(wall[i] * entry.open[1]);
                    matters |= mask(value[i] - most <= best[i]);
                }
                if matters == 0 {
                    continue;
                }
                let taken = close(entry.candidate as usize) as i32;
                entry.sums[2] += taken;
                entry.open = [0; 2];
                for i in 0..LANES {
                    value[i] -= wall[i] * taken;
                }
            }
            enter(&mut best, &mut first, &value, entry.rank);
        }
        first.map(|rank| centres.get(rank as usize).copied().unwrap_or(NodeId(u32::MAX)))
    }
}

/// Returns a number in which all bits are set if the condition holds, otherwise 0.
#[inline(always)]
fn mask(condition: bool) -> i32 {
    -i32::from(condition)
}

/// Returns the tie values of a candidate, by lane.
#[inline(always)]
fn values(weights: &[[i32; LANES]; WEIGHTS], entry: &Entry) -> [i32; LANES] {
    let ([available, border, wall], [a, b, w]) = (weights, entry.sums);
    let mut values = [0; LANES];
    for i in 0..LANES {
        values[i] = available[i] * a - border[i] * b - wall[i] * w;
    }
    values
}

/// Updates the winners with a candidate. The candidate wins in a lane if its value is lower than the best value so far,
/// or if the values are equal and its rank is lower.
#[inline(always)]
fn enter(best: &mut [i32; LANES], first: &mut [i32; LANES], values: &[i32; LANES], rank: i32) {
    for i in 0..LANES {
        let wins = mask(values[i] < best[i]) | (mask(values[i] == best[i]) & mask(rank < first[i]));
        best[i] = (values[i] & wins) | (best[i] & !wins);
        first[i] = (rank & wins) | (first[i] & !wins);
    }
}
