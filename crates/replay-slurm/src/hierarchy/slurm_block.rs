//! Slurm's rule for blocks (`eval_nodes_block.c` of `topology/block`, Slurm 26.05).
//!
//! A job is placed in rounds: one round, or one round per segment. A round first chooses a block of the lowest level
//! whose blocks can hold the nodes of the round. Among the blocks with enough free nodes, a round chooses the block
//! with the fewest free nodes. The round then chooses base blocks in the chosen block. A round *stalls* if nodes are
//! still missing when it cannot use any further base block. The rule then excludes one of the chosen nodes and tries
//! again.
//!
//! Cost of a round: one pass over the base blocks to choose a block, one sort of the lower blocks of the chosen block,
//! and one sort of the base blocks of each used lower block.

mod choice;
#[cfg(test)]
mod tests;

use self::choice::Choice;
use crate::hierarchy::{Denied, FreeNodes};
use replay_engine::allocator::explain::{ExplanationLog, Listing};
use replay_engine::number::counted;
use replay_engine::topology::NodeId;
use replay_engine::topology::hierarchy::Blocks;

/// Options of the rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BlockOptions {
    /// Number of nodes of each part of a job; `None` if jobs are placed in one part.
    pub segment: Option<u32>,
    /// Whether different parts of a job must be in different base blocks.
    pub spread: bool,
    /// Whether all parts must be in one block of the lowest level whose blocks can hold the whole job.
    pub consolidate: bool,
    /// If `true`, a job is placed in one part in two cases: if its size is not a multiple of the segment, or if its
    /// size is at most the segment. If `false`, a job whose size is not a multiple of the segment is rejected.
    pub lenient: bool,
}

/// Slurm's rule for blocks, prepared for one machine.
#[derive(Clone, Debug)]
pub struct BlockRule {
    options: BlockOptions,
    base_size: u32,
    levels: Vec<u32>,
    /// Number of base blocks.
    count: usize,
    work: Work,
    pub(super) explanation: ExplanationLog,
}

/// Sizes of the blocks of a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Geometry {
    /// Number of base blocks of a block.
    per_block: usize,
    /// Number of base blocks of a lower block. Lower blocks are the largest blocks that are too small for the round.
    per_lower: usize,
    /// Maximum number of lower blocks that a round may use; `None` for no limit.
    limit: Option<usize>,
}

impl Geometry {
    /// Returns the number of nodes that a round can take from a block with the free nodes `block`, `all` in total.
    /// `sums` is scratch memory.
    fn reach(self, block: &[u32], all: u32, sums: &mut Vec<u32>) -> u32 {
        let Some(limit) = self.limit else { return all };
        let lower = block.chunks(self.per_lower).take(self.per_block / self.per_lower);
        sums.clear();
        sums.extend(lower.map(|lower| lower.iter().sum::<u32>()));
        sums.sort_unstable_by_key(|&sum| std::cmp::Reverse(sum));
        sums.iter().take(limit).sum()
    }
}

/// Buffers of a decision.
#[derive(Clone, Debug, Default)]
struct Work {
    /// For each base block, the number of nodes that an attempt may use: free nodes that no earlier attempt has
    /// excluded.
    usable: Vec<u32>,
    /// Nodes that earlier attempts have excluded; one bit for each node.
    removed: Vec<u64>,
    /// For each base block, the number of usable nodes that the attempt has not taken.
    idle: Vec<u32>,
    /// Base blocks from which nodes were taken, each with the number of nodes, round by round.
    taken: Vec<(usize, u32)>,
    /// Unused lower blocks of the chosen block, as (idle nodes, index), in ascending order.
    lower: Vec<(u32, usize)>,
    /// Unused base blocks of the current lower block, as (idle nodes, index), in ascending order.
    base: Vec<(u32, usize)>,
    sums: Vec<u32>,
    /// Number of idle nodes of each block that a round may choose.
    blocks: Vec<u32>,
}

/// Reason why an attempt failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Failure {
    /// No block has room for the first round or, if `consolidate` is not set, for a later round.
    NoBlock,
    /// A round stalled, or no node was left when the round began.
    Stalled,
    /// The attempt failed after it had chosen this group of base blocks.
    Group(usize),
}

impl BlockRule {
    /// Creates the rule for a block machine.
    pub fn new(blocks: &Blocks, options: BlockOptions) -> Self {
        Self {
            options,
            base_size: blocks.base_size(),
            levels: blocks.levels().to_vec(),
            count: blocks.count(),
            work: Work::default(),
            explanation: ExplanationLog::default(),
        }
    }

    /// Returns the number of nodes of each part of a job; `None` if the job is placed in one part.
    ///
    /// # Errors
    /// [`Denied::BadConfig`] if the size of the job is not a multiple of the segment.
    pub fn segment(&self, size: u32) -> Result<Option<u32>, Denied> {
        let lenient = self.options.lenient;
        let holds = |&segment: &u32| segment < size || segment == size && !lenient;
        match self.options.segment.filter(holds) {
            Some(segment) if size.is_multiple_of(segment) => Ok(Some(segment)),
            Some(_) if !lenient => Err(Denied::BadConfig),
            _ => Ok(None),
        }
    }

    /// Returns whether every job is placed in one part.
    pub(super) fn has_no_segments(&self) -> bool {
        self.options.segment.is_none()
    }

    /// Checks that the size of a job is consistent with the segment.
    ///
    /// # Errors
    /// The reason why the job never starts.
    pub fn check(&self, size: u32) -> Result<(), String> {
        let segment = self.options.segment.unwrap_or(size);
        let consistent = self.segment(size).map(|_| ());
        consistent.map_err(|_| format!("n={size} is not a multiple of segment={segment}"))
    }

    /// Chooses `size` nodes.
    pub fn place(
        &mut self,
        free: &mut FreeNodes,
        size: u32,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Denied> {
        let segment = self.segment(size)?;
        if size > free.count() {
            return Err(Denied::TooFewFree);
        }
        if size == 1 {
            chosen.extend(free.first());
            self.explanation.sentence(|| {
                "a job of one node gets the free node with the lowest number, regardless of blocks".to_string()
            });
            return Ok(());
        }
        if self.explanation.is_recording() {
            self.explain_geometry(size, segment);
        }
        let mut work = std::mem::take(&mut self.work);
        let found = self.attempts(free, size, segment, true, &mut work);
        if found == Some(true) {
            extend_from_taken(free, &mut work, chosen);
        }
        self.work = work;
        if found == Some(true) { Ok(()) } else { Err(Denied::NoPlace) }
    }

    /// Chooses base blocks, and the number of nodes to take from each, as [`place`](Self::place) does. Returns `None` if
    /// the choice depends on which nodes are free.
    pub(super) fn shares(
        &mut self,
        free: &FreeNodes,
        size: u32,
        shares: &mut Vec<(u32, u32)>,
    ) -> Option<Result<(), Denied>> {
        shares.clear();
        let segment = match self.segment(size) {
            Ok(segment) => segment,
            Err(denied) => return Some(Err(denied)),
        };
        if size > free.count() {
            return Some(Err(Denied::TooFewFree));
        }
        if size == 1 {
            return None;
        }
        let mut work = std::mem::take(&mut self.work);
        let found = self.attempts(free, size, segment, false, &mut work);
        if found == Some(true) {
            shares.extend(work.taken.iter().map(|&(block, count)| (block as u32, count)));
        }
        self.work = work;
        found.map(|found| if found { Ok(()) } else { Err(Denied::NoPlace) })
    }

    /// Repeats attempts until an attempt succeeds. Each failed attempt excludes nodes or base blocks from later
    /// attempts. Returns whether an attempt succeeds; the base blocks of this attempt are in `work.taken`. If the nodes
    /// of `free` are not `known`, returns `None` when a node must be excluded.
    fn attempts(
        &self,
        free: &FreeNodes,
        size: u32,
        segment: Option<u32>,
        known: bool,
        work: &mut Work,
    ) -> Option<bool> {
        work.usable.clear();
        work.usable.extend_from_slice(&free.below()[..self.count]);
        work.removed.clear();
        if known {
            work.removed.resize(free.hierarchy().processors().div_ceil(64), 0);
        }
        let mut available: u32 = work.usable.iter().sum();
        // Free nodes in ascending order. When an attempt stalls, the lowest taken node at or after the head of this
        // iterator is excluded.
        let mut cursor = free.iter().peekable();
        loop {
            if available < size {
                self.explanation.sentence(|| {
                    format!(
                        "{} are left for the attempt, fewer than the job needs: the job waits",
                        counted(available as u64, "free node")
                    )
                });
                return Some(false);
            }
            work.idle.clone_from(&work.usable);
            work.taken.clear();
            match self.attempt(free, size, segment, work) {
                Ok(()) => return Some(true),
                Err(Failure::NoBlock) => {
                    self.explanation.sentence(|| {
                        "no block is a candidate: the job waits, without another attempt"
                            .to_string()
                    });
                    return Some(false);
                }
                Err(_) if available <= size => {
                    self.explanation.sentence(|| {
                        "the attempt fails, and no free node can be excluded from another attempt: the job waits".to_string()
                    });
                    return Some(false);
                }
                Err(Failure::Group(first)) => {
                    let per_group = self.group(size, segment.unwrap_or(size));
                    self.explanation.sentence(|| {
                        format!(
                            "the attempt fails in its group: the next attempt excludes base blocks {} to {}",
                            self.block_name(free, first),
                            self.block_name(free, (first + per_group).min(self.count) - 1)
                        )
                    });
                    work.usable[first..(first + per_group).min(self.count)].fill(0);
                    available = work.usable.iter().sum();
                }
                Err(Failure::Stalled) if !known => return None,
                Err(Failure::Stalled) => {
                    let Some(&from) = cursor.peek() else { return Some(false) };
                    let found = lowest(free, work, from);
                    #[cfg(test)]
                    assert_eq!(found, tests::plain_lowest(free, work, from));
                    let Some(lowest) = found else { return Some(false) };
                    self.explanation.sentence(|| {
                        format!(
                            "the round stalls; the next attempt leaves out node {}, the lowest-numbered one of those taken from \
                             node {} on",
                            lowest.0, from.0
                        )
                    });
                    cursor.next_if(|_| lowest == from);
                    work.removed[lowest.index() / 64] |= 1 << (lowest.0 % 64);
                    work.usable[free.hierarchy().leaf(lowest) as usize] -= 1;
                    available -= 1;
                }
            }
        }
    }

    /// Performs all rounds of an attempt.
    fn attempt(
        &self,
        free: &FreeNodes,
        size: u32,
        segment: Option<u32>,
        work: &mut Work,
    ) -> Result<(), Failure> {
        let per_group = segment.filter(|_| self.options.consolidate);
        let per_group = per_group.map(|segment| self.group(size, segment));
        let segment = segment.unwrap_or(size);
        let geometry = self.geometry(segment);
        let mut group: Option<usize> = None;
        work.blocks.clear();
        work.blocks
            .extend(work.idle.chunks(geometry.per_block).map(|idle| idle.iter().sum::<u32>()));
        for round in 0..size / segment {
            let failed = |failure| match group {
                Some(first) => Failure::Group(first),
                None => failure,
            };
            if round > 0 && work.idle.iter().all(|&idle| idle == 0) {
                return Err(failed(Failure::Stalled));
            }
            let within = match (per_group, group) {
                (Some(per_group), Some(first)) => Within::Group(first, per_group),
                (Some(per_group), None) => Within::FullGroups(per_group, size),
                _ => Within::Machine,
            };
            let first = self.block(segment, geometry, within, work);
            #[cfg(test)]
            assert_eq!(first, self.plain_block(segment, geometry, within, &work.idle));
            if self.explanation.is_recording() {
                let rounds = size / segment;
                let title = match rounds {
                    rounds if per_group.is_some() => {
                        format!(
                            "round {} of {rounds}: blocks; only blocks of a group with enough free nodes are candidates",
                            round + 1
                        )
                    }
                    1 => "blocks".to_string(),
                    rounds => format!("round {} of {rounds}: blocks", round + 1),
                };
                self.explain_blocks(free, segment, geometry, first, &work.idle, title);
            }
            let first = first.ok_or(failed(Failure::NoBlock))?;
            if let Some(per_group) = per_group {
                group = Some(first / per_group * per_group);
            }
            let begin = work.taken.len();
            let done = self.round(segment, geometry, first, work);
            if self.explanation.is_recording() {
                self.explain_round(free, segment, geometry, first, work, begin, done);
            }
            if !done {
                return Err(group.map_or(Failure::Stalled, Failure::Group));
            }
            let Work { idle, taken, blocks, .. } = work;
            let all = &mut blocks[first / geometry.per_block];
            *all -= segment;
            if self.options.spread {
                for &(block, _) in &taken[begin..] {
                    *all -= std::mem::take(&mut idle[block]);
                }
            }
        }
        Ok(())
    }

    /// Returns the number of base blocks of a group; all parts of a job must be in one group.
    fn group(&self, size: u32, segment: u32) -> usize {
        let nodes = match self.options.spread {
            true => {
                let base = u64::from(self.base_size);
                u64::from(segment).div_ceil(base) * base * u64::from(size / segment)
            }
            false => size.into(),
        };
        self.level(nodes).map_or(self.count, |level| 1 << level)
    }

    /// Returns the exponent of the smallest power-of-two number of base blocks that can hold `nodes` nodes.
    fn raw_level(&self, nodes: u64) -> u32 {
        nodes.div_ceil(self.base_size.into()).next_power_of_two().ilog2()
    }

    /// Returns the level of the smallest block that can hold `nodes` nodes; `None` if only the whole machine can hold
    /// this number of nodes.
    fn level(&self, nodes: u64) -> Option<u32> {
        let raw = self.raw_level(nodes);
        self.levels.iter().copied().find(|&level| level >= raw)
    }

    fn geometry(&self, nodes: u32) -> Geometry {
        let raw = self.raw_level(nodes.into());
        let per_block = self.level(nodes.into()).map_or(self.count, |level| 1 << level);
        let lower = self.levels.iter().copied().rfind(|&level| level < raw).unwrap_or(0);
        let per_lower = 1usize << lower;
        let limit =
            u64::from(nodes).div_ceil(per_lower as u64 * u64::from(self.base_size)) as usize;
        let limit = Some(limit).filter(|limit| per_block != per_lower * limit);
        Geometry { per_block, per_lower, limit }
    }

    /// Chooses the block with the fewest free nodes among the blocks with enough free nodes. If several blocks have
    /// equally few free nodes, chooses the last of these blocks. Returns the first base block of the chosen block.
    fn block(
        &self,
        nodes: u32,
        geometry: Geometry,
        within: Within,
        work: &mut Work,
    ) -> Option<usize> {
        let per_block = geometry.per_block;
        let Work { idle, sums, blocks, .. } = work;
        let (begin, end) = match within {
            Within::Group(first, per_group) => (first, (first + per_group).min(self.count)),
            _ => (0, self.count),
        };
        let candidates = begin / per_block..end.div_ceil(per_block);
        if geometry.limit.is_none() && !matches!(within, Within::FullGroups(..)) {
            let blocks = &blocks[candidates.clone()];
            let large = blocks.iter().map(|&all| if all < nodes { u32::MAX } else { all });
            let fewest = large.min().filter(|&fewest| fewest < u32::MAX)?;
            let chosen = blocks.iter().rposition(|&all| all == fewest)?;
            return Some((candidates.start + chosen) * per_block);
        }
        let mut best: Option<(u32, usize)> = None;
        for at in candidates {
            let (first, all) = (at * per_block, blocks[at]);
            if all < nodes || best.is_some_and(|(fewest, _)| all > fewest) {
                continue;
            }
            let block = &idle[first..(first + per_block).min(self.count)];
            if let Within::FullGroups(per_group, size) = within {
                let group = first / per_group * per_group;
                let group = &idle[group..(group + per_group).min(self.count)];
                if group.iter().sum::<u32>() < size {
                    continue;
                }
            }
            if geometry.reach(block, all, sums) < nodes {
                continue;
            }
            best = Some((all, first));
        }
        best.map(|(_, first)| first)
    }

    /// Takes `nodes` nodes of the block that begins at base block `first`. Returns `false` if the round stalls.
    ///
    /// Base blocks of a lower block in use take precedence over all others, so the lower blocks are used one after the
    /// other. Without a limit, the whole block is used like one lower block.
    fn round(&self, nodes: u32, geometry: Geometry, first: usize, work: &mut Work) -> bool {
        let Geometry { per_block, per_lower, limit } = geometry;
        let Work { idle, taken, lower, base, .. } = work;
        let (per_lower, limit) = limit.map_or((per_block, 1), |limit| (per_lower, limit));
        let idle = &mut idle[first..(first + per_block).min(self.count)];
        lower.clear();
        lower.extend(idle.chunks(per_lower).map(|blocks| blocks.iter().sum()).zip(0..));
        lower.sort_unstable();
        let mut rest = nodes;
        for _ in 0..limit {
            let Some(begin) = best_lower(idle, lower, per_lower, rest) else { return false };
            let end = (begin + per_lower).min(idle.len());
            base.clear();
            base.extend(idle[begin..end].iter().copied().zip(begin..));
            base.sort_unstable();
            while let Some(&(most, fullest)) = base.last() {
                let chosen = match most >= rest {
                    true => base[best(base, rest).end - 1].1,
                    false => fullest,
                };
                let count = most.min(rest);
                if count == 0 {
                    return false;
                }
                idle[chosen] -= count;
                taken.push((first + chosen, count));
                rest -= count;
                if rest == 0 {
                    return true;
                }
                base.pop();
            }
        }
        false
    }
}

/// The blocks that a round may use.
#[derive(Clone, Copy)]
enum Within {
    Machine,
    /// Blocks of groups with enough free nodes; the values are the number of base blocks of a group and the required
    /// number of free nodes.
    FullGroups(usize, u32),
    /// Blocks of one group, given by its first base block and its number of base blocks.
    Group(usize, usize),
}

/// Returns whether a base block with `idle` free nodes replaces the best base block so far, which has `best` free
/// nodes.
#[inline]
fn replaces(idle: u32, best: u32, rest: u32) -> bool {
    match (idle >= rest, best >= rest) {
        (true, true) => idle <= best,
        (true, false) => true,
        (false, true) => false,
        (false, false) => idle >= best,
    }
}

/// Returns the range of the entries with the best number of idle nodes. The best number is the smallest number that is
/// at least `rest`; if there is no such number, it is the largest number. `entries` are in ascending order.
fn best(entries: &[(u32, usize)], rest: u32) -> std::ops::Range<usize> {
    let fits = entries.partition_point(|&(idle, _)| idle < rest);
    let Some(&(best, _)) = entries.get(fits).or(entries.last()) else { return 0..0 };
    let begin = entries[..fits].partition_point(|&(idle, _)| idle < best);
    begin..entries.partition_point(|&(idle, _)| idle <= best)
}

/// Removes the best lower block from `lower` and returns its first base block. The best lower block has the fewest idle
/// nodes among the lower blocks with at least `rest` idle nodes. If no lower block has `rest` idle nodes, the best
/// lower block is the one with the most idle nodes. Among equal lower blocks, the best base block decides.
fn best_lower(
    idle: &[u32],
    lower: &mut Vec<(u32, usize)>,
    per_lower: usize,
    rest: u32,
) -> Option<usize> {
    let equal = best(lower, rest);
    let mut chosen = equal.end.checked_sub(1)?;
    // If a lower block is a single base block, equal lower blocks need no comparison: the last one is the best.
    if per_lower > 1 && equal.len() > 1 {
        let mut most: Option<u32> = None;
        for at in equal {
            let begin = lower[at].1 * per_lower;
            for &idle in &idle[begin..(begin + per_lower).min(idle.len())] {
                if most.is_none_or(|most| replaces(idle, most, rest)) {
                    (most, chosen) = (Some(idle), at);
                }
            }
        }
    }
    Some(lower.remove(chosen).1 * per_lower)
}

/// Appends the nodes that an attempt has taken to `chosen`, in the order of `taken`. The first usable nodes of a base
/// block are taken first.
fn extend_from_taken(free: &FreeNodes, work: &mut Work, chosen: &mut Vec<NodeId>) {
    let Work { taken, removed, sums: earlier, .. } = work;
    earlier.clear();
    earlier.resize(free.below().len(), 0);
    for &(block, count) in &*taken {
        let is_usable = |node: NodeId| removed[node.index() / 64] >> (node.0 % 64) & 1 == 0;
        free.extend_from_leaf(block as u32, earlier[block], count, is_usable, chosen);
        earlier[block] += count;
    }
}

/// Returns the taken node with the lowest number that is at least `from`. The nodes of a base block are in ascending
/// order, so base blocks that contain only higher or lower nodes need no scan.
fn lowest(free: &FreeNodes, work: &mut Work, from: NodeId) -> Option<NodeId> {
    let Work { taken, removed, sums: earlier, .. } = work;
    earlier.clear();
    earlier.resize(free.below().len(), 0);
    let mut lowest: Option<NodeId> = None;
    for &(block, count) in &*taken {
        let ranks = earlier[block]..earlier[block] + count;
        earlier[block] = ranks.end;
        let nodes = free.hierarchy().nodes(block as u32);
        let is_lower = |&first: &NodeId| lowest.is_none_or(|lowest| first < lowest);
        if !nodes.first().is_some_and(is_lower) || nodes.last().is_none_or(|&last| last < from) {
            continue;
        }
        let mut rank = 0;
        for &node in nodes {
            let is_usable =
                free.contains(node) && removed[node.index() / 64] >> (node.0 % 64) & 1 == 0;
            if is_usable && node >= from && ranks.contains(&rank) {
                lowest = Some(lowest.map_or(node, |lowest| lowest.min(node)));
                break;
            }
            rank += u32::from(is_usable);
        }
    }
    lowest
}

/// Methods that write explanations. The methods repeat, from the state of a decision, the comparisons that led to this
/// decision.
impl BlockRule {
    fn block_name<'f>(&self, free: &'f FreeNodes, block: usize) -> &'f str {
        free.hierarchy().blocks().map_or("", |blocks| blocks.name(block as u32))
    }

    /// Describes segments, levels and the limit.
    fn explain_geometry(&self, size: u32, segment: Option<u32>) {
        self.explanation.sentence(|| {
            let nodes = segment.unwrap_or(size);
            let Geometry { per_block, per_lower, limit } = self.geometry(nodes);
            let parts = match segment {
                Some(segment) => {
                    let group = match self.options.consolidate {
                        true => {
                            let group = self.group(size, segment);
                            format!(", all in one group of {}", counted(group as u64, "base block"))
                        }
                        false => String::new(),
                    };
                    let spread = if self.options.spread { " on different base blocks" } else { "" };
                    format!(
                        "{} of {segment} nodes{spread}{group}; ",
                        counted((size / segment) as u64, "segment")
                    )
                }
                None => String::new(),
            };
            let block = match self.level(nodes.into()) {
                Some(level) => {
                    format!("a block of level {level}, {}", counted(per_block as u64, "base block"))
                }
                None => format!(
                    "the whole machine, {}, as no block size is large enough",
                    counted(per_block as u64, "base block")
                ),
            };
            let limit = match limit {
                Some(limit) => format!(
                    "; in this block, at most {} (each of {}) may be used",
                    counted(limit as u64, "lower block"),
                    counted(per_lower as u64, "base block")
                ),
                None => String::new(),
            };
            format!("{parts}{nodes} nodes need {block}{limit}")
        });
    }

    /// Lists the blocks in order. Among the blocks with enough free nodes, the block with the fewest free nodes wins;
    /// if several blocks have equally few free nodes, the last of these blocks wins.
    fn explain_blocks(
        &self,
        free: &FreeNodes,
        nodes: u32,
        geometry: Geometry,
        chosen: Option<usize>,
        idle: &[u32],
        title: String,
    ) {
        let per_block = geometry.per_block;
        let row = |first: usize| {
            let block = &idle[first..(first + per_block).min(self.count)];
            let all: u32 = block.iter().sum();
            let reach = geometry.reach(block, all, &mut Vec::new());
            let result = match (chosen == Some(first), reach >= nodes) {
                (true, _) => "chosen: fewest free nodes (if several are equal, the last)",
                (false, true) => "large enough",
                (false, false) if all >= nodes => {
                    "too few free nodes within the limit on lower blocks"
                }
                (false, false) => "too few free",
            };
            let last = first + block.len() - 1;
            let name = match last == first {
                true => self.block_name(free, first).to_string(),
                false => {
                    format!("{} to {}", self.block_name(free, first), self.block_name(free, last))
                }
            };
            vec![name, all.to_string(), reach.to_string(), result.to_string()]
        };
        // The chosen block comes first, because a listing keeps only its first rows.
        let all = (0..self.count).step_by(per_block).filter(|&first| Some(first) != chosen);
        let rows = chosen.into_iter().chain(all).map(row);
        self.explanation.list(|| Listing::of(title, &["block", "free", "reach", "result"], rows));
    }

    /// Describes a round for `nodes` nodes in the block that begins at base block `first`. The nodes taken in the round
    /// begin at index `begin` of `work.taken`.
    #[expect(clippy::too_many_arguments, reason = "the state of a round before and after")]
    fn explain_round(
        &self,
        free: &FreeNodes,
        nodes: u32,
        geometry: Geometry,
        first: usize,
        work: &Work,
        begin: usize,
        done: bool,
    ) {
        let (limit, taken) = (geometry.limit, &work.taken[begin..]);
        let end = (first + geometry.per_block).min(self.count);
        let mut idle = work.idle[first..end].to_vec();
        taken.iter().for_each(|&(block, count)| idle[block - first] += count);
        let mut choice = Choice::of(idle, geometry, nodes);
        for (number, &(block, count)) in (1..=CHOICES).zip(taken) {
            self.explain_choice(free, first, number, &choice, Some(block));
            choice.take(block - first, count);
        }
        // The choice that stalls.
        if !done && taken.len() < CHOICES {
            self.explain_choice(free, first, taken.len() + 1, &choice, None);
        }
        self.explanation.sentence(|| {
            let parts: Vec<String> = taken
                .iter()
                .map(|&(block, nodes)| format!("{nodes} of {}", self.block_name(free, block)))
                .collect();
            let parts = match parts.is_empty() {
                true => "no node".to_string(),
                false => parts.join(", "),
            };
            let end = match (done, limit) {
                (true, _) => String::new(),
                (false, Some(_)) => {
                    "; then the round stalls because of the limit on lower blocks or because of an empty base block"
                        .to_string()
                }
                (false, None) => "; then the round stalls".to_string(),
            };
            format!(
                "in the block that begins with {}, the round takes {parts}{end}",
                self.block_name(free, first)
            )
        });
    }

    /// Lists the unused base blocks in file order. For each base block, gives the reason why it replaced the best base
    /// block so far, or why it did not.
    fn explain_choice(
        &self,
        free: &FreeNodes,
        first: usize,
        number: usize,
        choice: &Choice,
        taken: Option<usize>,
    ) {
        let name = |block: usize| self.block_name(free, first + block);
        let (mut best, mut rows) = (None, Vec::new());
        for block in choice.unused() {
            let (replaces, why) = match best {
                None => (true, "first".to_string()),
                Some(other) => {
                    let (replaces, why) = choice.compare(block, other);
                    let verb = if replaces { "replaces" } else { "does not replace" };
                    (replaces, format!("{verb} {}: {why}", name(other)))
                }
            };
            if replaces {
                best = Some(block);
            }
            let lower = match choice.limit {
                Some(_) => choice.low(block).to_string(),
                None => String::new(),
            };
            rows.push(vec![name(block).to_string(), choice.idle[block].to_string(), lower, why]);
        }
        // Tests run without debug assertions.
        if cfg!(test) {
            assert!(taken.is_none() || best.map(|best| first + best) == taken);
        }
        self.explanation.list(|| {
            let wins = match best {
                Some(best) => format!("{} wins", name(best)),
                None => "no base block is left".to_string(),
            };
            let rest = counted(choice.rest as u64, "node");
            let title =
                format!("choice {number}, with {rest} to take: base blocks in file order; {wins}");
            Listing::of(title, &["base block", "free", "free in lower block", "comparison"], rows)
        });
    }
}

/// Maximum number of choices of a round that are explained.
const CHOICES: usize = 10;
