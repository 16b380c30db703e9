//! The winners of a crowd of ways among the same candidates: 16 ways at a time, one in each lane.

use super::candidate::Candidate;
use crate::allocator::centre::tie::TieVector;
use crate::machine::LANES;
use crate::topology::NodeId;

/// AF, BF and WF.
const FACTORS: usize = 3;

/// The factors of ways, by number, and what they are at most.
#[derive(Debug, Default)]
pub struct Factors {
    by_way: [Vec<i32>; FACTORS],
    most: [i64; FACTORS],
    any_negative: bool,
}

/// A candidate whose sums fit 32 bits.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// What the factors are multiplied by; of WF without the last shell, as long as that is open.
    sums: [i32; FACTORS],
    /// Between these is what the last shell adds for WF. Nothing is left of it if both are 0.
    open: [i32; 2],
    /// Place by score, then number of the processor: of equal values the least wins.
    rank: i32,
    /// Which of the candidates it is.
    of: u32,
}

/// Room for the candidates of a decision.
#[derive(Debug, Default)]
pub struct Crowd {
    settled: Vec<Entry>,
    open: Vec<Entry>,
    /// Candidates by rank, if that is not their order; and the processor of each.
    order: Vec<u32>,
    centres: Vec<NodeId>,
}

impl Factors {
    /// Of these vectors.
    pub fn set(&mut self, vectors: impl Iterator<Item = TieVector>) {
        *self = Self { by_way: std::mem::take(&mut self.by_way), ..Self::default() };
        self.by_way.iter_mut().for_each(Vec::clear);
        for vector in vectors {
            let factors = [vector.available, vector.border, vector.wall];
            for ((factor, of), most) in factors.iter().zip(&mut self.by_way).zip(&mut self.most) {
                of.push(*factor);
                *most = i64::from(factor.unsigned_abs()).max(*most);
                self.any_negative |= *factor < 0;
            }
        }
    }
}

impl Crowd {
    /// Takes in the candidates of one scan radius, all of which every way admits; false if their values may not
    /// fit 32 bits.
    pub fn survey(&mut self, candidates: &[Candidate], factors: &Factors) -> bool {
        let Self { settled, open, order, centres } = self;
        settled.clear();
        open.clear();
        order.clear();
        centres.clear();
        let mut most = [0; FACTORS];
        // Where scores differ, ranks are not in the order of candidates.
        let one_score = candidates.iter().all(|one| one.score == candidates[0].score);
        if !one_score {
            order.extend(0..candidates.len() as u32);
            order.sort_unstable_by_key(|&of| {
                (candidates[of as usize].score, candidates[of as usize].centre)
            });
        }
        for rank in 0..candidates.len() {
            let of = order.get(rank).map_or(rank, |&of| of as usize);
            centres.push(candidates[of].centre);
            let (sums, last) = candidates[of].sums.parts();
            let [low, high] = last;
            let largest = [sums[0], sums[1], sums[2].abs() + low.abs().max(high.abs())];
            for (most, sum) in most.iter_mut().zip(largest) {
                *most = sum.abs().max(*most);
            }
            let is_settled = low == high;
            let sums = if is_settled { [sums[0], sums[1], sums[2] + low] } else { sums };
            let entry = Entry {
                sums: sums.map(|sum| sum as i32),
                open: if is_settled { [0; 2] } else { last.map(|wall| wall as i32) },
                rank: rank as i32,
                of: of as u32,
            };
            if !is_settled {
                open.push(entry);
                continue;
            }
            // As good for every way as one before it: it wins nowhere.
            let as_good = |other: &Entry| {
                let [ours, theirs] = [&entry.sums, &other.sums];
                if factors.any_negative {
                    return ours == theirs;
                }
                theirs[0] <= ours[0] && theirs[1] >= ours[1] && theirs[2] >= ours[2]
            };
            if !settled.iter().any(as_good) {
                settled.push(entry);
            }
        }
        let value = most.iter().zip(factors.most).map(|(&sum, factor)| sum.saturating_mul(factor));
        value.fold(0, i64::saturating_add) < i64::from(i32::MAX)
    }

    /// The winning centre of up to 16 ways, by lane. `settle` tells of a candidate, by number, what its last shell
    /// adds for WF.
    #[inline(always)]
    pub fn winners(
        &mut self,
        ways: &[u32],
        factors: &Factors,
        mut settle: impl FnMut(usize) -> i64,
    ) -> [NodeId; LANES] {
        let Self { settled, open, centres, .. } = self;
        let mut lanes = [[0i32; LANES]; FACTORS];
        for (lanes, of) in lanes.iter_mut().zip(&factors.by_way) {
            for (lane, &way) in lanes.iter_mut().zip(ways) {
                *lane = of[way as usize];
            }
        }
        let wall = &lanes[2];
        let (mut best, mut first) = ([i32::MAX; LANES], [i32::MAX; LANES]);
        for entry in &*settled {
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
                let taken = settle(entry.of as usize) as i32;
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

/// All bits where the condition holds.
#[inline(always)]
fn mask(condition: bool) -> i32 {
    -i32::from(condition)
}

/// The tie values of a candidate, by lane.
#[inline(always)]
fn values(factors: &[[i32; LANES]; FACTORS], entry: &Entry) -> [i32; LANES] {
    let ([available, border, wall], [a, b, w]) = (factors, entry.sums);
    let mut values = [0; LANES];
    for i in 0..LANES {
        values[i] = available[i] * a - border[i] * b - wall[i] * w;
    }
    values
}

/// A candidate of this rank wins where its value is less than the best, or is it and its rank is less.
#[inline(always)]
fn enter(best: &mut [i32; LANES], first: &mut [i32; LANES], values: &[i32; LANES], rank: i32) {
    for i in 0..LANES {
        let wins = mask(values[i] < best[i]) | (mask(values[i] == best[i]) & mask(rank < first[i]));
        best[i] = (values[i] & wins) | (best[i] & !wins);
        first[i] = (rank & wins) | (first[i] & !wins);
    }
}
