//! MC1x1 decisions for many tie configurations on one machine.
//!
//! The candidates of a decision are the same for all configurations. Scores are computed only once, and the sums of the
//! tie values only once per scan radius. To compute the tie value of a configuration from these sums, three products
//! per candidate are sufficient. If there are many configurations, tie values are computed for [16 configurations at a
//! time](LaneSelection). If the tie value of a candidate depends on the part taken from its last shell, this part is
//! selected once for all configurations.

use std::fmt;

use crate::definition::{CentreOptions, CentreRule, ShellOrder};
use crate::mc1x1::{CentreEvaluator, Mc1x1, OpenValue, TieCounts, TieSums, TieValue};
use crate::shell::down_on_shell;
use replay_engine::allocator::ties::{Slack, TieConfig, TieVector};
use replay_engine::cancel::{CancelToken, Cancelled};
use replay_engine::machine::{Count, LANES, Machine};
use replay_engine::topology::{Grid, NodeId};

/// Number of scan radii whose sums are computed in one pass.
const RADII_PER_PASS: usize = 4;
/// Smallest number of configurations for which tie values are computed 16 at a time.
const LANES_FROM: usize = 12;

/// Decides for many configurations of MC1x1.
pub trait Scorer: fmt::Debug + Send {
    /// Replaces a configuration. If the scorer does not count walls, the weight of walls must be 0.
    fn set_config(&mut self, config: u32, to: TieConfig);

    /// Clears the state of the previous machine, and writes the winning centre of each configuration in `members` to
    /// `winners`. `size` must be less than the number of free processors of `machine`.
    ///
    /// # Errors
    /// [`Cancelled`] if `stop` is cancelled.
    fn decide(
        &mut self,
        machine: &Machine,
        size: u32,
        members: &[u32],
        stop: &CancelToken,
        winners: &mut Vec<NodeId>,
    ) -> Result<(), Cancelled>;

    /// Appends the `size` processors around a winning centre of the last decision to `chosen`, which must be empty.
    fn collect(&mut self, machine: &Machine, centre: NodeId, size: u32, chosen: &mut Vec<NodeId>);
}

/// Returns a scorer for `grid`, which MC1x1 must [support](Mc1x1::takes). The vector and the slack in `options` are
/// ignored. Walls are counted if a configuration has a weight for them, or if `counts_walls` is set.
pub fn scorer(
    grid: &Grid,
    options: CentreOptions,
    configs: Vec<TieConfig>,
    counts_walls: bool,
) -> Box<dyn Scorer> {
    if options.order == ShellOrder::Greedy {
        Box::new(GreedyScorer { grid: grid.clone(), options, configs, sets: Vec::new() })
    } else if Mc1x1::<u16>::takes(grid) {
        Box::new(BatchScorer::<u16>::new(grid, options, configs, counts_walls))
    } else {
        Box::new(BatchScorer::<u32>::new(grid, options, configs, counts_walls))
    }
}

/// Scorer that decides by the definition, one configuration at a time.
#[derive(Debug)]
struct GreedyScorer {
    grid: Grid,
    options: CentreOptions,
    configs: Vec<TieConfig>,
    /// For each centre that won in the last decision, the winning set.
    sets: Vec<(NodeId, Vec<NodeId>)>,
}

impl Scorer for GreedyScorer {
    fn set_config(&mut self, config: u32, to: TieConfig) {
        self.configs[config as usize] = to;
    }

    fn decide(
        &mut self,
        machine: &Machine,
        size: u32,
        members: &[u32],
        stop: &CancelToken,
        winners: &mut Vec<NodeId>,
    ) -> Result<(), Cancelled> {
        winners.clear();
        self.sets.clear();
        for &member in members {
            let TieConfig { vector, slack } = self.configs[member as usize];
            let options = CentreOptions { tie: Some(vector), slack, ..self.options };
            let rule = CentreRule::mc1x1(options);
            if let Some(winner) = rule.choose(machine, &self.grid, size as usize, stop)? {
                let centre = self.grid.node(winner.centre);
                winners.push(centre);
                self.sets.push((centre, winner.nodes));
            }
        }
        Ok(())
    }

    fn collect(&mut self, _: &Machine, centre: NodeId, _: u32, chosen: &mut Vec<NodeId>) {
        let set = self.sets.iter().find(|(of, _)| *of == centre);
        chosen.extend(set.into_iter().flat_map(|(_, nodes)| nodes));
    }
}

/// MC1x1 with many configurations, on one grid.
#[derive(Debug)]
struct BatchScorer<C> {
    /// Evaluator whose counts are recomputed for each decision, so that they stay in the cache. If each machine had its
    /// own counts, the counts would have to be loaded from main memory.
    evaluator: CentreEvaluator<C>,
    configs: Vec<TieConfig>,
    /// Common slack of all configurations; `None` if their slacks differ.
    slack: Option<Slack>,
    /// Distinct scan radii of the configurations, ascending.
    radii: Vec<u32>,
    /// Index of the scan radius of each configuration.
    radius_of: Vec<u32>,
    /// For each scan radius, whether a member of the decision uses this radius.
    wanted_radii: Vec<bool>,
    weights: Weights,
    selection: LaneSelection,
    /// Members with the current scan radius.
    same_radius: Vec<u32>,
    /// For each member in `same_radius`, its index in the list of all members.
    indices: Vec<u32>,
    /// Candidates by scan radius.
    candidates: Vec<Vec<Candidate>>,
    /// For each candidate, the sum of the wall weights of the part taken from its last shell; `None` until the sum is
    /// computed.
    taken: Vec<Option<u32>>,
    /// Candidates whose exact tie value is not yet known. Each entry contains (lower bound of the tie value, score,
    /// centre), the candidate number, and the data from which the exact value is computed.
    open: Vec<((i64, u64, NodeId), u32, OpenValue)>,
}

impl<C: Count> BatchScorer<C> {
    fn new(
        grid: &Grid,
        options: CentreOptions,
        configs: Vec<TieConfig>,
        counts_walls: bool,
    ) -> Self {
        let counts_walls = counts_walls || configs.iter().any(|config| config.vector.wall != 0);
        let mut scorer = Self {
            evaluator: CentreEvaluator::new(grid, options, counts_walls),
            configs,
            slack: None,
            radii: Vec::new(),
            radius_of: Vec::new(),
            wanted_radii: Vec::new(),
            weights: Weights::default(),
            selection: LaneSelection::default(),
            same_radius: Vec::new(),
            indices: Vec::new(),
            candidates: Vec::new(),
            taken: Vec::new(),
            open: Vec::new(),
        };
        scorer.index();
        scorer
    }

    /// Computes the common scan radii, slack and weights of the configurations.
    fn index(&mut self) {
        let Self { configs, radii, .. } = self;
        radii.clear();
        radii.extend(configs.iter().map(|config| config.vector.scan_radius));
        radii.sort_unstable();
        radii.dedup();
        let index = |one: &TieConfig| radii.partition_point(|&r| r < one.vector.scan_radius);
        self.radius_of.clear();
        self.radius_of.extend(configs.iter().map(|config| index(config) as u32));
        let first = configs.first().map(|config| config.slack);
        self.slack = first.filter(|&slack| configs.iter().all(|config| config.slack == slack));
        self.candidates.resize_with(self.candidates.len().max(radii.len()), Vec::new);
        self.weights.set(configs.iter().map(|config| config.vector));
    }

    /// Runs the portable code, compiled for AVX2. The code uses only integers, so the results are the same.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn decide_avx2(
        &mut self,
        machine: &Machine,
        size: u32,
        members: &[u32],
        winners: &mut Vec<NodeId>,
    ) {
        self.decide_portable(machine, size, members, winners);
    }

    #[inline(always)]
    fn decide_portable(
        &mut self,
        machine: &Machine,
        size: u32,
        members: &[u32],
        winners: &mut Vec<NodeId>,
    ) {
        let CentreEvaluator { grid, free, scores, tie, .. } = &mut self.evaluator;
        free.update(machine);
        let slacks = || members.iter().map(|&config| self.configs[config as usize].slack);
        let widest = self.slack.or_else(|| slacks().max()).unwrap_or_default();
        let best = scores.compute(free, size, |best| widest.admitted(best));
        let admitted = widest.admitted(best);
        if let Some(only) = scores.only(admitted) {
            winners.resize(members.len(), only);
            return;
        }
        self.wanted_radii.clear();
        self.wanted_radii.resize(self.radii.len(), false);
        for &config in members {
            self.wanted_radii[self.radius_of[config as usize] as usize] = true;
        }
        tie.update(machine, grid);
        if TieCounts::is_narrow(free, machine.processors()) {
            self.list_candidates::<u16>(machine, size, admitted);
        } else {
            self.list_candidates::<u32>(machine, size, admitted);
        }
        // If all configurations have the same slack, all members admit all listed candidates.
        if members.len() >= LANES_FROM
            && self.slack.is_some()
            && self.decide_in_lanes(machine, members, winners)
        {
            return;
        }
        for &member in members {
            winners.push(self.winner(machine, member as usize, best));
        }
    }

    /// Lists the candidates with scores up to `admitted`, for each wanted scan radius.
    #[inline(always)]
    fn list_candidates<L: Count>(&mut self, machine: &Machine, size: u32, admitted: u64) {
        let CentreEvaluator { grid, free, scores, tie, .. } = &self.evaluator;
        let free_count = machine.free_count() as u32;
        let any_down = machine.down_count() > 0;
        let mut number = 0;
        let wanted_radii = || (0..self.radii.len()).filter(|&r| self.wanted_radii[r]);
        wanted_radii().for_each(|r| self.candidates[r].clear());
        for chunk in scores.chunks(admitted) {
            let mut wanted = [false; LANES];
            chunk.at_most(admitted).for_each(|i| wanted[i] = true);
            let mut left = wanted_radii();
            loop {
                // Indices of the next scan radii, and the radii themselves.
                let (mut indices, mut wide) = ([0; RADII_PER_PASS], [0; RADII_PER_PASS]);
                let mut count = 0;
                for r in left.by_ref().take(RADII_PER_PASS) {
                    (indices[count], wide[count]) = (r, self.radii[r]);
                    count += 1;
                }
                if count == 0 {
                    break;
                }
                let mut nearby = [[L::default(); LANES]; RADII_PER_PASS];
                let terms = tie.terms::<L>(
                    free,
                    chunk,
                    [size, free_count],
                    &wanted,
                    &wide[..count],
                    &mut nearby,
                );
                for ((&r, &scan_radius), nearby) in indices[..count].iter().zip(&wide).zip(&nearby)
                {
                    for (number, i) in (number..).zip((0..LANES).filter(|&i| wanted[i])) {
                        let (score, centre) = (u64::from(chunk.scores[i]), chunk.node(i));
                        let mut sums = tie.sums(&terms, nearby, scan_radius, i, size, free_count);
                        if any_down {
                            sums.exclude_down(&terms.outside(i), scan_radius, |shell| {
                                down_on_shell(grid, machine, centre, shell)
                            });
                        }
                        self.candidates[r].push(Candidate { score, centre, sums, number });
                    }
                }
            }
            number += wanted.iter().map(|&wanted| u32::from(wanted)).sum::<u32>();
        }
        self.taken.clear();
        self.taken.resize(number as usize, None);
    }

    /// Decides for 16 members at a time. All members must admit all candidates. Returns `false` if tie values may not
    /// fit into 32 bits.
    #[inline(always)]
    fn decide_in_lanes(
        &mut self,
        machine: &Machine,
        members: &[u32],
        winners: &mut Vec<NodeId>,
    ) -> bool {
        let Self { evaluator, candidates, weights, selection, same_radius, indices, taken, .. } =
            self;
        let CentreEvaluator { tie, shell, .. } = evaluator;
        winners.resize(members.len(), NodeId(u32::MAX));
        for r in (0..self.radii.len()).filter(|&r| self.wanted_radii[r]) {
            let (candidates, scan_radius) = (&candidates[r], self.radii[r]);
            if !selection.list(candidates, weights) {
                winners.clear();
                return false;
            }
            same_radius.clear();
            indices.clear();
            for (index, &config) in (0..).zip(members) {
                if self.radius_of[config as usize] as usize == r {
                    same_radius.push(config);
                    indices.push(index);
                }
            }
            for (configs, indices) in same_radius.chunks(LANES).zip(indices.chunks(LANES)) {
                let chosen = selection.winners(configs, weights, |candidate| {
                    let Candidate { sums, number, centre, .. } = &candidates[candidate];
                    let taken = taken[*number as usize]
                        .get_or_insert_with(|| tie.taken(sums.shell, machine, *centre, shell));
                    i64::from(scan_radius + 1) * i64::from(*taken)
                });
                for (&index, winner) in indices.iter().zip(chosen) {
                    winners[index as usize] = winner;
                }
            }
        }
        true
    }

    /// Returns the centre with the smallest (tie value, score) among the candidates within the slack of a
    /// configuration.
    #[inline(always)]
    fn winner(&mut self, machine: &Machine, config: usize, best_score: u64) -> NodeId {
        let Self { evaluator, candidates, configs, radius_of, taken, open, .. } = self;
        let CentreEvaluator { tie, shell, .. } = evaluator;
        let TieConfig { vector, slack } = configs[config];
        let admitted = slack.admitted(best_score);
        // Processor numbers are in scan order, so the smallest (tie value, score, centre) wins.
        let mut best = (i64::MAX, u64::MAX, NodeId(u32::MAX));
        open.clear();
        for candidate in &candidates[radius_of[config] as usize] {
            if candidate.score > admitted {
                continue;
            }
            let with = |value| (value, candidate.score, candidate.centre);
            match candidate.sums.value(vector) {
                TieValue::Exact(value) => best = best.min(with(value)),
                TieValue::AtLeast(bound, value) => match taken[candidate.number as usize] {
                    Some(taken) => best = best.min(with(value.close(vector, taken))),
                    None if with(bound) < best => {
                        open.push((with(bound), candidate.number, value));
                    }
                    None => {}
                },
            }
        }
        for &(bound, number, ref value) in open.iter() {
            if bound < best {
                let (_, score, centre) = bound;
                let weights = tie.taken(value.shell, machine, centre, shell);
                taken[number as usize] = Some(weights);
                best = best.min((value.close(vector, weights), score, centre));
            }
        }
        best.2
    }
}

impl<C: Count> Scorer for BatchScorer<C> {
    fn set_config(&mut self, config: u32, to: TieConfig) {
        self.configs[config as usize] = to;
        self.index();
    }

    fn decide(
        &mut self,
        machine: &Machine,
        size: u32,
        members: &[u32],
        _stop: &CancelToken,
        winners: &mut Vec<NodeId>,
    ) -> Result<(), Cancelled> {
        winners.clear();
        self.evaluator.switch_to(machine);
        if let &[config] = members {
            let config = self.configs[config as usize];
            winners.extend(self.evaluator.winner(machine, size, config));
            return Ok(());
        }
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") {
            // SAFETY: the line above has detected AVX2, which the call requires.
            #[allow(unsafe_code)]
            unsafe {
                self.decide_avx2(machine, size, members, winners);
            }
            return Ok(());
        }
        self.decide_portable(machine, size, members, winners);
        Ok(())
    }

    fn collect(&mut self, machine: &Machine, centre: NodeId, size: u32, chosen: &mut Vec<NodeId>) {
        self.evaluator.collect(machine, centre, size, chosen);
    }
}

/// Candidate of a decision, for one scan radius.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    score: u64,
    centre: NodeId,
    sums: TieSums,
    /// Number of the candidate, which is the same for every scan radius.
    number: u32,
}

/// Number of weights: AF, BF and WF.
const WEIGHTS: usize = 3;

/// Weights of all configurations.
#[derive(Debug, Default)]
struct Weights {
    by_config: [Vec<i32>; WEIGHTS],
    /// Largest magnitude of each weight.
    largest: [i64; WEIGHTS],
    any_negative: bool,
}

/// Candidate whose sums fit into 32 bits.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The sums that are multiplied by the weights. If `open` is not 0, the sum for WF excludes the last shell.
    sums: [i32; WEIGHTS],
    /// Lower and upper bound of the contribution of the last shell to the sum for WF; 0 if the contribution is known.
    open: [i32; 2],
    /// Rank of the candidate: by score, then by processor number. If tie values are equal, the lowest rank wins.
    rank: i32,
    /// Index of the candidate.
    candidate: u32,
}

/// Candidates of one decision and scan radius.
#[derive(Debug, Default)]
struct LaneSelection {
    exact: Vec<Entry>,
    open: Vec<Entry>,
    /// Candidates by rank; empty if ranks are in candidate order.
    order: Vec<u32>,
    /// Centres by rank.
    centres: Vec<NodeId>,
}

impl Weights {
    /// Replaces all weights by the weights of `vectors`.
    fn set(&mut self, vectors: impl Iterator<Item = TieVector>) {
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
    fn list(&mut self, candidates: &[Candidate], weights: &Weights) -> bool {
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
    fn winners(
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
