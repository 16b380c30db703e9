//! MC1x1 with many tie configurations on one machine.
//!
//! The candidates of a decision are the same for all configurations. Scores are computed only once, and the sums of the
//! tie values only once per scan radius. The tie value of a configuration then needs three products per candidate. If
//! there are many configurations, tie values are computed for [16 configurations at a time](LaneSelection). If the tie
//! value of a candidate depends on the part taken from its last shell, this part is selected once for all
//! configurations.

use std::fmt;

use super::simd::{Candidate, LaneSelection, Weights};
use crate::allocator::centre::definition::{CentreOptions, CentreRule, ShellOrder};
use crate::allocator::centre::mc1x1::{CentreEvaluator, Mc1x1, OpenValue, TieCounts, TieValue};
use crate::allocator::centre::shell::down_on_shell;
use crate::allocator::centre::tie::{Slack, TieConfig};
use crate::cancel::{CancelToken, Cancelled};
use crate::machine::{Count, LANES, Machine};
use crate::topology::{Grid, NodeId};

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
    /// Winning sets of the last decision, by centre.
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
    /// Evaluator whose counts are recomputed for each decision, so that they stay in the cache. If counts were stored
    /// per machine, they would have to be loaded from main memory.
    evaluator: CentreEvaluator<C>,
    configs: Vec<TieConfig>,
    /// Slack of all configurations, if they have the same slack.
    slack: Option<Slack>,
    /// Distinct scan radii of the configurations, ascending.
    radii: Vec<u32>,
    /// Index of the scan radius of each configuration.
    radius_of: Vec<u32>,
    /// Whether each scan radius is used by a member of the decision.
    wanted_radii: Vec<bool>,
    weights: Weights,
    selection: LaneSelection,
    /// Members with the current scan radius.
    same_radius: Vec<u32>,
    /// Indices of the members in `same_radius`.
    indices: Vec<u32>,
    /// Candidates by scan radius.
    candidates: Vec<Vec<Candidate>>,
    /// For each candidate, the sum of the wall weights of the part taken from its last shell; `None` until the sum is
    /// computed.
    taken: Vec<Option<u32>>,
    /// Candidates with a bound of the tie value instead of the exact value: (bound, score, centre), the candidate
    /// number, and the data from which the exact value is computed.
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

    /// The portable code, compiled for wider vectors. The code uses only integers.
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
        // With a common slack all members admit all candidates.
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
                // The next scan radii, and their indices.
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
        // Candidates are in scan order, so the smallest tuple is the winner.
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
                let weights = tie.taken(value.shell(), machine, centre, shell);
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
