//! The centre-based strategies, evaluated literally from their definition. For every candidate, the list of free
//! processors is sorted, and the resulting set of processors is scored.
//!
//! Tests compare the fast engines with this definition. The definition also produces explanations, and it makes the
//! decisions with `order=greedy`, for which there is no fast engine. Cost per decision: O(c f log f) for c candidates
//! and f free processors.

use std::collections::{HashMap, HashSet};

use replay_engine::allocator::candidate_set::{CandidateSet, ScoredCandidate, Term, Weight};
use replay_engine::allocator::explain::{ExplanationLog, LISTED, Listing, processor};
use replay_engine::allocator::ties::{Slack, TieVector, WallRule, walls_of};
use replay_engine::cancel::{CancelToken, Cancelled};
use replay_engine::machine::Machine;
use replay_engine::number::counted;
use replay_engine::topology::{Coord, Grid, NodeId, PairDistances};

/// Distance that defines shells.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Metric {
    /// L-infinity distance: shells are squares.
    Linf,
    /// L1 distance: shells are diamonds.
    L1,
}

impl Metric {
    /// Returns the shell number of `p` around `centre`.
    #[inline]
    pub fn distance(self, grid: &Grid, centre: Coord, p: Coord) -> u32 {
        match self {
            Metric::Linf => grid.linf(centre, p),
            Metric::L1 => grid.l1(centre, p),
        }
    }
}

/// Order in which processors are taken from the last shell if only a part of the shell is needed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ShellOrder {
    /// The free list is sorted by distance to one candidate centre after the other, with a stable sort. At the i-th
    /// centre, processors with equal distance are therefore ordered by their distance to centre i - 1, then to centre
    /// i - 2, and so on, and finally in scan order. The carried order reproduces the numbers of the paper.
    #[default]
    Carried,
    /// Scan order.
    Scan,
    /// Repeatedly selects the processor with the smallest total L1 distance to the processors already chosen. If
    /// distances are equal, the L1 distance to the centre decides, then scan order. Any free processor outside the
    /// complete shells may be selected.
    Greedy,
}

impl ShellOrder {
    /// Every order with its name.
    pub const ALL: [(&'static str, ShellOrder); 3] = [
        ("carried", ShellOrder::Carried),
        ("scan", ShellOrder::Scan),
        ("greedy", ShellOrder::Greedy),
    ];
}

/// Options of all centre-based strategies: tie-breaking, and choices that the papers do not specify.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CentreOptions {
    /// Tie vector; `None` if the first candidate with the best score wins.
    pub tie: Option<TieVector>,
    /// How walls count in the tie value.
    pub wall: WallRule,
    /// Order in which processors are taken from the last shell.
    pub order: ShellOrder,
    /// Tolerance for scores. Candidates with scores within this tolerance of the best score compete by tie value.
    pub slack: Slack,
}

/// Positions of the candidate centres.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Centres {
    /// The free processors, in scan order.
    FreeProcessors,
    /// All combinations of the x, y and z coordinates of free processors. Coordinates are in the order of
    /// first appearance in the scan-ordered list of free processors; x varies slowest.
    CoordinateProduct,
}

impl Centres {
    /// Returns the candidate centres for the free processors, in candidate order.
    pub fn list(self, free: &[Coord]) -> Vec<Coord> {
        match self {
            Centres::FreeProcessors => free.to_vec(),
            Centres::CoordinateProduct => {
                let [xs, ys, zs] = [0, 1, 2].map(|axis| {
                    let mut seen: Vec<u16> = Vec::new();
                    for coord in free {
                        if !seen.contains(&coord[axis]) {
                            seen.push(coord[axis]);
                        }
                    }
                    seen
                });
                let mut centres = Vec::with_capacity(xs.len() * ys.len() * zs.len());
                for &x in &xs {
                    for &y in &ys {
                        centres.extend(zs.iter().map(|&z| [x, y, z]));
                    }
                }
                centres
            }
        }
    }
}

/// Primary score of a set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Score {
    /// Sum of shell numbers.
    ShellSum,
    /// Sum of pairwise L1 distances.
    PairwiseL1,
}

/// Rule of a centre-based strategy.
#[derive(Clone, Debug)]
pub struct CentreRule {
    /// Candidate centres.
    pub centres: Centres,
    /// Shape of the shells.
    pub metric: Metric,
    /// Primary score.
    pub score: Score,
    /// Tie-breaking, and choices that the papers do not specify.
    pub options: CentreOptions,
}

/// A candidate allocation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// Position in candidate order, from 0.
    pub order: usize,
    /// Primary score; lower is better.
    pub score: u64,
    /// Tie value; lower is better. The value is 0 without a tie vector.
    pub tie: i64,
    /// Sums from which the tie value is computed.
    pub terms: TieTerms,
    /// Position of the centre.
    pub centre: Coord,
    /// Processors, nearest first.
    pub nodes: Vec<NodeId>,
}

/// The sums of a tie value. Each field is a sum of weights w(p) as defined in [`TieVector`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TieTerms {
    /// Sum of the weights of free processors outside the candidate.
    pub free: i64,
    /// Sum of the weights of the candidate's processors that touch a wall.
    pub walls: i64,
    /// Sum of the weights of busy processors in the shell just outside the candidate.
    pub busy: i64,
}

/// Candidates of a decision that compete by tie value.
#[derive(Debug)]
pub struct Competition {
    /// Number of all candidates.
    pub candidates: usize,
    /// The best score.
    pub best: u64,
    /// Candidates whose score is within the slack, in candidate order.
    pub admitted: Vec<Candidate>,
}

impl CentreRule {
    /// Returns the rule of MC1x1: shells are squares, and the set with the smallest sum of shell numbers wins.
    pub fn mc1x1(options: CentreOptions) -> Self {
        let (centres, score) = (Centres::FreeProcessors, Score::ShellSum);
        Self { centres, metric: Metric::Linf, score, options }
    }

    /// Returns the rule of Gen-Alg: shells are diamonds around free processors, and the set with the smallest sum of
    /// pairwise distances wins.
    pub fn gen_alg(options: CentreOptions) -> Self {
        let (centres, score) = (Centres::FreeProcessors, Score::PairwiseL1);
        Self { centres, metric: Metric::L1, score, options }
    }

    /// Returns the rule of MM: shells are diamonds around the positions of [`Centres::CoordinateProduct`], and the set
    /// with the smallest sum of pairwise distances wins.
    pub fn mm(options: CentreOptions) -> Self {
        Self { centres: Centres::CoordinateProduct, ..Self::gen_alg(options) }
    }

    /// Returns the winner for `size` processors; `size` is at least one and less than the number of free processors.
    ///
    /// # Errors
    /// [`Cancelled`] if `stop` is cancelled.
    pub fn choose(
        &self,
        machine: &Machine,
        grid: &Grid,
        size: usize,
        stop: &CancelToken,
    ) -> Result<Option<Candidate>, Cancelled> {
        let competition = self.compete(machine, grid, size, self.options.slack, stop)?;
        // `min_by_key` keeps the first of equal elements.
        Ok(competition.admitted.into_iter().min_by_key(|one| (one.tie, one.score)))
    }

    /// Returns the number of distinct processor sets with the best primary score. `size` must satisfy the conditions of
    /// [`choose`](Self::choose).
    ///
    /// # Errors
    /// [`Cancelled`] if `stop` is cancelled.
    pub fn tied_sets(
        &self,
        machine: &Machine,
        grid: &Grid,
        size: usize,
        stop: &CancelToken,
    ) -> Result<u32, Cancelled> {
        let tied = self.compete(machine, grid, size, Slack::NONE, stop)?.admitted;
        let sets: HashSet<_> = tied.iter().map(Candidate::sorted_nodes).collect();
        Ok(sets.len() as u32)
    }

    /// Builds all candidates and returns the candidates whose scores are within `slack`. `size` must satisfy the
    /// conditions of [`choose`](Self::choose). A candidate is dropped as soon as a better score excludes it, because
    /// storing all candidates of a large machine would need too much memory.
    ///
    /// # Errors
    /// [`Cancelled`] if `stop` is cancelled.
    pub fn compete(
        &self,
        machine: &Machine,
        grid: &Grid,
        size: usize,
        slack: Slack,
        stop: &CancelToken,
    ) -> Result<Competition, Cancelled> {
        let mut list: Vec<NodeId> = machine.free_nodes().collect();
        let free: Vec<Coord> = list.iter().map(|&n| grid.coord(n)).collect();
        let scan = list.clone();
        let centres = self.centres.list(&free);
        let mut distances = PairDistances::new(machine.topology());
        let (mut best, mut admitted) = (u64::MAX, Vec::new());
        for (order, &centre) in centres.iter().enumerate() {
            stop.check()?;
            let distance = |n: &NodeId| self.metric.distance(grid, centre, grid.coord(*n));
            if self.options.order != ShellOrder::Carried {
                list.clone_from(&scan);
            }
            list.sort_by_key(distance);
            let nodes = match self.options.order {
                ShellOrder::Greedy => greedy(grid, centre, &scan, &list, size, distance, stop)?,
                ShellOrder::Carried | ShellOrder::Scan => list[..size].to_vec(),
            };
            let score = match self.score {
                Score::ShellSum => nodes.iter().map(|n| u64::from(distance(n))).sum(),
                Score::PairwiseL1 => distances.sum(&nodes),
            };
            if score < best {
                best = score;
                admitted.retain(|one: &Candidate| one.score <= slack.admitted(best));
            }
            if score <= slack.admitted(best) {
                let terms = self.tie_terms(machine, grid, centre, &nodes);
                let [available, wall, border] =
                    self.options.tie.unwrap_or_default().factors().map(i64::from);
                let tie = available * terms.free - wall * terms.walls - border * terms.busy;
                admitted.push(Candidate { order, score, tie, terms, centre, nodes });
            }
        }
        Ok(Competition { candidates: centres.len(), best, admitted })
    }

    /// Returns the sums from which the tie value of a set is computed. The sums are 0 if there is no tie vector.
    fn tie_terms(
        &self,
        machine: &Machine,
        grid: &Grid,
        centre: Coord,
        nodes: &[NodeId],
    ) -> TieTerms {
        let mut terms = TieTerms::default();
        self.for_each_weight(machine, grid, centre, nodes, |_, term, weight| {
            let sum = match term {
                Term::Free => &mut terms.free,
                Term::Wall => &mut terms.walls,
                Term::Busy => &mut terms.busy,
            };
            *sum += weight;
        });
        terms
    }

    /// For each processor that counts in the tie value of a set, calls `visit` with the processor, the term in which it
    /// counts, and its weight. Without a tie vector, `visit` is not called.
    pub fn for_each_weight(
        &self,
        machine: &Machine,
        grid: &Grid,
        centre: Coord,
        nodes: &[NodeId],
        mut visit: impl FnMut(NodeId, Term, i64),
    ) {
        let scan_radius = self.options.tie.map_or(0, |vector| vector.scan_radius);
        if scan_radius == 0 {
            return;
        }
        let distance = |n: NodeId| i64::from(self.metric.distance(grid, centre, grid.coord(n)));
        let outermost = nodes.iter().map(|&n| distance(n)).max().unwrap_or(0);
        let max_shell = outermost + i64::from(scan_radius);
        let mut member = vec![false; machine.processors()];
        nodes.iter().for_each(|n| member[n.index()] = true);
        for node in machine.topology().nodes() {
            let d = distance(node);
            let weight = max_shell - d + 1;
            if member[node.index()] {
                let walls = self.options.wall.weight(walls_of(machine, grid, node));
                if walls > 0 {
                    visit(node, Term::Wall, i64::from(walls) * weight);
                }
            } else if machine.is_free(node) && d <= max_shell {
                visit(node, Term::Free, weight);
            } else if !machine.is_free(node) && !machine.is_down(node) && d == outermost + 1 {
                visit(node, Term::Busy, weight);
            }
        }
    }
}

impl Candidate {
    /// Returns the processors in scan order, so that sets of processors can be compared.
    pub fn sorted_nodes(&self) -> Vec<NodeId> {
        let mut nodes = self.nodes.clone();
        nodes.sort_unstable();
        nodes
    }
}

/// Returns the processors of the complete shells and further free processors. Each further processor has the smallest
/// total L1 distance to the processors already chosen. `scan` contains the free processors in scan order, and `sorted`
/// contains them by distance to the centre.
fn greedy(
    grid: &Grid,
    centre: Coord,
    scan: &[NodeId],
    sorted: &[NodeId],
    size: usize,
    distance: impl Fn(&NodeId) -> u32,
    stop: &CancelToken,
) -> Result<Vec<NodeId>, Cancelled> {
    let last_shell = distance(&sorted[size - 1]);
    let complete = if sorted.get(size).is_some_and(|next| distance(next) == last_shell) {
        sorted.partition_point(|n| distance(n) < last_shell)
    } else {
        size
    };
    let mut chosen = sorted[..complete].to_vec();
    let mut rest: Vec<(u32, u32, NodeId)> = Vec::new();
    for &n in scan.iter().filter(|n| !chosen.contains(n)) {
        stop.check()?;
        let p = grid.coord(n);
        let total = chosen.iter().map(|&c| grid.l1(p, grid.coord(c))).sum();
        rest.push((total, grid.l1(p, centre), n));
    }
    while chosen.len() < size {
        stop.check()?;
        let Some(nearest) = (0..rest.len()).min_by_key(|&i| rest[i]) else { break };
        let (_, _, node) = rest.swap_remove(nearest);
        chosen.push(node);
        for (total, _, n) in &mut rest {
            *total += grid.l1(grid.coord(*n), grid.coord(node));
        }
    }
    Ok(chosen)
}

/// Map from each distinct processor set of the competing candidates to the number of the set. Sets are numbered from 1
/// in candidate order.
type SetNumbers = HashMap<Vec<NodeId>, usize>;

/// Records the candidates and the winner for `size` processors; `size` is less than the number of free processors.
///
/// # Errors
/// [`Cancelled`] if `stop` is cancelled.
pub fn explain(
    explanation: &ExplanationLog,
    rule: &CentreRule,
    machine: &Machine,
    grid: &Grid,
    size: usize,
    stop: &CancelToken,
) -> Result<(), Cancelled> {
    let mut competition = rule.compete(machine, grid, size, rule.options.slack, stop)?;
    let sets = set_numbers(competition.admitted.iter());
    explanation.sentence(|| describe_candidates(rule, competition.candidates));
    explanation.sentence(|| describe_scores(rule, &competition));
    let ranked = &mut competition.admitted;
    ranked.sort_by_key(|one| (one.tie, one.score, one.order));
    if let Some(vector) = rule.options.tie {
        explanation.sentence(|| {
            format!(
                "the tie vector is SR = {}, AF = {}, WF = {}, BF = {}: tie value = AF * free - WF * walls - BF * busy; the lowest wins, then the lower score, then the first candidate",
                vector.scan_radius,
                vector.available,
                vector.wall,
                vector.border,
            )
        });
    } else {
        explanation.sentence(|| {
            "there is no tie vector: among candidates with equal scores, the first wins".to_string()
        });
    }
    explanation.list(|| listing(rule, grid, ranked, &sets));
    explanation.candidates(|| scored_candidates(rule, machine, grid, ranked, &sets));
    let Some(first) = ranked.first() else { return Ok(()) };
    explanation.sentence(|| {
        let (number, centre) = (first.order + 1, processor(grid, first.centre));
        format!("candidate {number}, with its centre at processor {centre}, wins")
    });
    explanation.winner(first.nodes.clone());
    Ok(())
}

/// Returns the candidates in rank order. Only the first [`LISTED`] candidates, which are plotted, have all shells and
/// weights. Storing shells and weights for all candidates would need memory that is quadratic in the size of the
/// machine.
fn scored_candidates(
    rule: &CentreRule,
    machine: &Machine,
    grid: &Grid,
    ranked: &[Candidate],
    sets: &SetNumbers,
) -> CandidateSet {
    let scored = ranked.iter().enumerate().map(|(rank, one)| {
        let Candidate { order, score, tie, centre, ref nodes, .. } = *one;
        let mut weights = Vec::new();
        rule.for_each_weight(machine, grid, centre, nodes, |node, term, weight| {
            weights.push(Weight { node, term, weight });
        });
        let shell = |node| rule.metric.distance(grid, centre, grid.coord(node));
        let shells = if rank < LISTED {
            machine.topology().nodes().map(shell).collect()
        } else {
            weights = sums(&weights);
            vec![last_shell(rule, grid, one)]
        };
        ScoredCandidate {
            number: order + 1,
            centre,
            score,
            tie: rule.options.tie.map(|_| tie),
            set: sets.get(&one.sorted_nodes()).copied().unwrap_or(0),
            nodes: nodes.clone(),
            shells,
            weights,
        }
    });
    CandidateSet { vector: rule.options.tie, first: scored.collect(), more: 0 }
}

/// Returns one weight per term: the sum of the weights of the term.
fn sums(weights: &[Weight]) -> Vec<Weight> {
    let mut sums: Vec<Weight> = Vec::new();
    for weight in weights {
        match sums.iter_mut().find(|sum| sum.term == weight.term) {
            Some(sum) => sum.weight += weight.weight,
            None => sums.push(*weight),
        }
    }
    sums
}

fn last_shell(rule: &CentreRule, grid: &Grid, one: &Candidate) -> u32 {
    let shell = |&node: &NodeId| rule.metric.distance(grid, one.centre, grid.coord(node));
    one.nodes.iter().map(shell).max().unwrap_or(0)
}

fn describe_candidates(rule: &CentreRule, candidates: usize) -> String {
    let centres = match rule.centres {
        Centres::FreeProcessors => "every free processor is a candidate centre",
        Centres::CoordinateProduct => {
            "every combination of the coordinates of free processors is a candidate centre"
        }
    };
    let order = match rule.options.order {
        ShellOrder::Carried => "in the order left by the preceding candidate",
        ShellOrder::Scan => "in scan order",
        ShellOrder::Greedy => {
            "one by one, each with the least distance to the processors already chosen"
        }
    };
    format!(
        "{centres}: {}; each candidate takes whole shells around its centre and, from the last shell, only the processors that are still needed, {order}",
        counted(candidates as u64, "candidate")
    )
}

fn describe_scores(rule: &CentreRule, competition: &Competition) -> String {
    let Competition { best, admitted, .. } = competition;
    let (slack, ties) = (rule.options.slack, rule.options.tie);
    let score = match rule.score {
        Score::ShellSum => "sum of shell numbers",
        Score::PairwiseL1 => "sum of pairwise distances",
    };
    let equal = || admitted.iter().filter(|one| one.score == *best);
    let mut text = format!(
        "the best score ({score}) is {best}; {} {}, with {}",
        counted(equal().count() as u64, "candidate"),
        if equal().count() == 1 { "has it" } else { "have it" },
        counted(set_numbers(equal()).len() as u64, "distinct set"),
    );
    if !slack.is_none() && ties.is_some() {
        text += &format!(
            "; with a slack of {}, candidates with scores up to {} compete: {}",
            slack.share(),
            slack.admitted(*best),
            counted(admitted.len() as u64, "candidate")
        );
    }
    text
}

/// Numbers the distinct sets of candidates.
fn set_numbers<'a>(candidates: impl Iterator<Item = &'a Candidate>) -> SetNumbers {
    let mut sets = HashMap::new();
    for one in candidates {
        let number = sets.len() + 1;
        sets.entry(one.sorted_nodes()).or_insert(number);
    }
    sets
}

fn listing(rule: &CentreRule, grid: &Grid, ranked: &[Candidate], sets: &SetNumbers) -> Listing {
    let with_ties = rule.options.tie.is_some();
    let mut columns = vec!["candidate", "centre", "last shell", "score", "set"];
    if with_ties {
        columns.extend(["free", "walls", "busy", "tie value"]);
    }
    let rows = ranked.iter().map(|one| {
        let mut row = vec![
            (one.order + 1).to_string(),
            processor(grid, one.centre),
            last_shell(rule, grid, one).to_string(),
            one.score.to_string(),
            sets.get(&one.sorted_nodes()).map_or(String::new(), usize::to_string),
        ];
        if with_ties {
            let terms = [one.terms.free, one.terms.walls, one.terms.busy, one.tie];
            row.extend(terms.map(|term| term.to_string()));
        }
        row
    });
    Listing::of("the candidates that compete, the winner first", &columns, rows)
}
