//! The centre-based family as defined, without shortcuts: every candidate's set is
//! built by sorting the free list, and scored.
//!
//! This is what the fast engines are tested against, and it runs in production where the
//! definition leaves nothing to shorten (`order=greedy`). Cost per decision: candidates
//! times free processors, times a logarithm.

use super::options::{CentreOptions, Metric, ShellOrder};
use super::slack::Slack;
use super::tie::{TieVector, walls_of};
use crate::allocator::rival::Term;
use crate::machine::Machine;
use crate::stop::{Stop, Stopped};
use crate::topology::{Coord, Grid, NodeId, PairDistances};

/// Where candidate centres are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Centres {
    /// Free processors, in scan order.
    FreeProcessors,
    /// Every position whose every coordinate occurs in some free processor; coordinates
    /// in order of first appearance in the scan-ordered free list, x outermost.
    CoordinateProduct,
}

impl Centres {
    /// The candidate centres for these free processors, in candidate order.
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

/// What the primary score of a set is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Score {
    /// Sum of shell numbers.
    ShellSum,
    /// Sum of pairwise L1 distances.
    PairwiseL1,
}

/// A member of the centre-based family.
#[derive(Clone, Debug)]
pub struct CentreRule {
    /// Candidate centres.
    pub centres: Centres,
    /// Shape of the shells.
    pub metric: Metric,
    /// Primary score.
    pub score: Score,
    /// Tie-breaking and open choices.
    pub options: CentreOptions,
}

/// A candidate allocation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// Primary score; lower is better.
    pub score: u64,
    /// Tie value; lower is better.
    pub tie: i64,
    /// Where its centre is.
    pub centre: Coord,
    /// The processors, nearest first.
    pub nodes: Vec<NodeId>,
}

/// The sums of which a tie value is made, each of weights w(p) of [`TieVector`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TieTerms {
    /// Over free processors outside the candidate.
    pub free: i64,
    /// Over the candidate's own processors along walls.
    pub walls: i64,
    /// Over busy processors just outside.
    pub busy: i64,
}

impl CentreRule {
    /// All candidates for `size` processors, in candidate order. `size` must be at least
    /// one and less than the number of free processors.
    pub fn candidates(&self, machine: &Machine, grid: &Grid, size: usize) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        // Nobody raises this flag.
        let _ = self.visit(machine, grid, size, &Stop::new(), |one| candidates.push(one));
        candidates
    }

    /// Calls `take` with the candidates one by one, until `stop` is raised.
    pub(super) fn visit(
        &self,
        machine: &Machine,
        grid: &Grid,
        size: usize,
        stop: &Stop,
        mut take: impl FnMut(Candidate),
    ) -> Result<(), Stopped> {
        let mut list: Vec<NodeId> = machine.free_nodes().collect();
        let free: Vec<Coord> = list.iter().map(|&n| grid.coord(n)).collect();
        let scan = list.clone();
        for centre in self.centres.list(&free) {
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
                Score::PairwiseL1 => PairDistances::new(machine.topology()).sum(&nodes),
            };
            let tie = self
                .options
                .tie
                .map_or(0, |vector| self.tie_value(machine, grid, vector, centre, &nodes));
            take(Candidate { score, tie, centre, nodes });
        }
        Ok(())
    }

    /// The winner for `size` processors; the same bounds on `size` as
    /// [`CentreRule::candidates`].
    pub fn choose(&self, machine: &Machine, grid: &Grid, size: usize) -> Option<Candidate> {
        self.choose_unless(&Stop::new(), machine, grid, size).ok()?
    }

    /// [`CentreRule::choose`], unless or until `stop` is raised.
    ///
    /// # Errors
    /// [`Stopped`].
    pub fn choose_unless(
        &self,
        stop: &Stop,
        machine: &Machine,
        grid: &Grid,
        size: usize,
    ) -> Result<Option<Candidate>, Stopped> {
        let admitted = self.admitted(stop, machine, grid, size, self.options.slack)?;
        // `min_by_key` keeps the first of equals.
        Ok(admitted.into_iter().min_by_key(|c| (c.tie, c.score)))
    }

    /// Number of distinct sets with the best primary score; the same bounds on `size`.
    pub fn tied_sets(&self, machine: &Machine, grid: &Grid, size: usize) -> u32 {
        self.tied_sets_unless(&Stop::new(), machine, grid, size).unwrap_or(0)
    }

    /// [`CentreRule::tied_sets`], unless or until `stop` is raised.
    ///
    /// # Errors
    /// [`Stopped`].
    pub fn tied_sets_unless(
        &self,
        stop: &Stop,
        machine: &Machine,
        grid: &Grid,
        size: usize,
    ) -> Result<u32, Stopped> {
        let tied = self.admitted(stop, machine, grid, size, Slack::NONE)?.into_iter().map(|c| {
            let mut nodes = c.nodes;
            nodes.sort_unstable();
            nodes
        });
        Ok(tied.collect::<std::collections::HashSet<_>>().len() as u32)
    }

    /// The candidates whose scores a slack admits, in candidate order. Those that it does not
    /// are dropped as they come: all of a large machine take more memory than there is.
    fn admitted(
        &self,
        stop: &Stop,
        machine: &Machine,
        grid: &Grid,
        size: usize,
        slack: Slack,
    ) -> Result<Vec<Candidate>, Stopped> {
        let (mut best, mut admitted) = (u64::MAX, Vec::new());
        self.visit(machine, grid, size, stop, |one| {
            if one.score < best {
                best = one.score;
                admitted.retain(|c: &Candidate| c.score <= slack.admitted(best));
            }
            if one.score <= slack.admitted(best) {
                admitted.push(one);
            }
        })?;
        Ok(admitted)
    }

    /// Tie value of a candidate set.
    pub fn tie_value(
        &self,
        machine: &Machine,
        grid: &Grid,
        vector: TieVector,
        centre: Coord,
        nodes: &[NodeId],
    ) -> i64 {
        let terms = self.tie_terms(machine, grid, vector, centre, nodes);
        let [available, wall, border] = vector.factors().map(i64::from);
        available * terms.free - wall * terms.walls - border * terms.busy
    }

    /// What the tie value of a candidate set is made of; all 0 if SR is.
    pub fn tie_terms(
        &self,
        machine: &Machine,
        grid: &Grid,
        vector: TieVector,
        centre: Coord,
        nodes: &[NodeId],
    ) -> TieTerms {
        let mut terms = TieTerms::default();
        self.weigh(machine, grid, vector, centre, nodes, |_, term, weight| {
            let sum = match term {
                Term::Free => &mut terms.free,
                Term::Wall => &mut terms.walls,
                Term::Busy => &mut terms.busy,
            };
            *sum += weight;
        });
        terms
    }

    /// Calls `take` with each processor that counts in a tie value, in which sum, and how much.
    #[inline]
    pub(super) fn weigh(
        &self,
        machine: &Machine,
        grid: &Grid,
        vector: TieVector,
        centre: Coord,
        nodes: &[NodeId],
        mut take: impl FnMut(NodeId, Term, i64),
    ) {
        if vector.scan_radius == 0 {
            return;
        }
        let distance = |n: NodeId| i64::from(self.metric.distance(grid, centre, grid.coord(n)));
        let outermost = nodes.iter().map(|&n| distance(n)).max().unwrap_or(0);
        let max_shell = outermost + i64::from(vector.scan_radius);
        let mut member = vec![false; machine.processors()];
        nodes.iter().for_each(|n| member[n.index()] = true);
        for node in machine.topology().nodes() {
            let d = distance(node);
            let weight = max_shell - d + 1;
            if member[node.index()] {
                let walls = self.options.wall.weight(walls_of(machine, grid, node));
                if walls > 0 {
                    take(node, Term::Wall, i64::from(walls) * weight);
                }
            } else if machine.is_free(node) && d <= max_shell {
                take(node, Term::Free, weight);
            } else if !machine.is_free(node) && !machine.is_down(node) && d == outermost + 1 {
                take(node, Term::Busy, weight);
            }
        }
    }
}

/// Complete shells, then one by one the free processor of least total L1 distance to
/// those already chosen. `scan` and `sorted` hold the free processors in scan order and
/// by distance to the centre.
fn greedy(
    grid: &Grid,
    centre: Coord,
    scan: &[NodeId],
    sorted: &[NodeId],
    size: usize,
    distance: impl Fn(&NodeId) -> u32,
    stop: &Stop,
) -> Result<Vec<NodeId>, Stopped> {
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
