//! Reference implementation of `slurm-block`, which operates on sets of blocks.

use std::collections::BTreeSet;

use replay_engine::topology::hierarchy::Blocks;
use replay_slurm::hierarchy::Denied;
use replay_slurm::hierarchy::slurm_block::BlockOptions;

type Nodes = BTreeSet<u32>;

enum Failure {
    Wait,
    Again { chosen: Nodes },
    Group(usize, usize),
}

struct Rule<'a> {
    blocks: &'a Blocks,
    options: BlockOptions,
    size: usize,
    segment: Option<usize>,
}

impl Rule<'_> {
    fn nodes(&self, first: usize, count: usize) -> impl Iterator<Item = u32> + '_ {
        let end = (first + count).min(self.blocks.count());
        (first..end.max(first)).flat_map(|block| self.blocks.nodes(block as u32)).map(|node| node.0)
    }

    fn idle(&self, free: &Nodes, first: usize, count: usize) -> usize {
        self.nodes(first, count).filter(|node| free.contains(node)).count()
    }

    fn raw(&self, nodes: usize) -> u32 {
        let base = self.blocks.base_size() as usize;
        let q = nodes.div_ceil(base);
        (0..).find(|&exponent| 1usize << exponent >= q).expect("some power")
    }

    /// Returns the size, in base blocks, of a block of the smallest level that has room for `nodes`
    /// nodes. Returns the number of all base blocks if no level has room.
    fn level(&self, nodes: usize) -> usize {
        let level = self.blocks.levels().iter().filter(|&&level| level >= self.raw(nodes)).min();
        level.map_or(self.blocks.count(), |level| 1 << level)
    }

    fn attempt(&self, begin: &Nodes) -> Result<Nodes, Failure> {
        let base = self.blocks.base_size() as usize;
        let count = self.blocks.count();
        let m = self.segment.unwrap_or(self.size);
        let per = self.level(m);
        let raw = self.raw(m);
        let lower = match raw {
            0 => 0,
            _ => *self.blocks.levels().iter().filter(|&&level| level < raw).max().expect("level 0"),
        };
        let w = 1usize << lower;
        let all_limit = m.div_ceil(w * base);
        let in_force = per != w * all_limit;
        let group_of = match (self.segment, self.options.consolidate, self.options.spread) {
            (Some(_), true, false) => Some(self.level(self.size)),
            (Some(g), true, true) => Some(self.level(g.div_ceil(base) * base * (self.size / g))),
            _ => None,
        };
        let mut group: Option<usize> = None;
        let mut free = begin.clone();
        let mut chosen = Nodes::new();
        for round in 0..self.size / m {
            let fail = |group: Option<usize>, other: Failure| match group {
                Some(first) => Failure::Group(first, group_of.expect("a group")),
                None => other,
            };
            if round > 0 && free.is_empty() {
                return Err(fail(group, Failure::Again { chosen }));
            }
            // B5
            let mut candidate: Option<(usize, usize)> = None;
            for first in (0..count).step_by(per) {
                let idle = self.idle(&free, first, per);
                let mut lowers: Vec<usize> = (0..per / w)
                    .map(|at| first + at * w)
                    .filter(|&at| at < count)
                    .map(|at| self.idle(&free, at, w.min(first + per - at)))
                    .collect();
                lowers.sort_unstable();
                let reach: usize = match in_force {
                    true => lowers.iter().rev().take(all_limit).sum(),
                    false => idle,
                };
                let allowed = match (group_of, group) {
                    (Some(size), Some(group)) => first >= group && first < group + size,
                    (Some(size), None) => self.idle(&free, first / size * size, size) >= self.size,
                    _ => true,
                };
                if allowed && reach >= m && candidate.is_none_or(|(fewest, _)| idle <= fewest) {
                    candidate = Some((idle, first));
                }
            }
            let Some((_, first)) = candidate else { return Err(fail(group, Failure::Wait)) };
            if let Some(size) = group_of {
                group = Some(first / size * size);
            }
            // B6, B7
            let end = (first + per).min(count);
            let lower_of = |block: usize| (block - first) / w;
            let began = free.clone();
            let low = |block: usize| {
                let at = first + lower_of(block) * w;
                self.idle(&began, at, w.min(end - at))
            };
            let (mut used, mut limit, mut rest) = (BTreeSet::new(), all_limit, m);
            while rest > 0 {
                let same = |used: &BTreeSet<usize>, block: usize| {
                    used.iter().any(|&one| lower_of(one) == lower_of(block))
                };
                let mut best: Option<usize> = None;
                for i in (first..end).filter(|block| !used.contains(block)) {
                    let Some(b) = best else {
                        best = Some(i);
                        continue;
                    };
                    if in_force && lower_of(i) != lower_of(b) {
                        let [same_i, same_b] = [same(&used, i), same(&used, b)];
                        if same_i != same_b {
                            best = Some(if same_i { i } else { b });
                            continue;
                        }
                        let [low_i, low_b] = [low(i), low(b)];
                        let [fit_i, fit_b] = [low_i >= rest, low_b >= rest];
                        if fit_i != fit_b {
                            best = Some(if fit_i { i } else { b });
                            continue;
                        }
                        if low_i != low_b {
                            best = Some(if (low_i < low_b) == fit_i { i } else { b });
                            continue;
                        }
                    }
                    let [idle_i, idle_b] = [i, b].map(|block| self.idle(&free, block, 1));
                    let [fit_i, fit_b] = [idle_i >= rest, idle_b >= rest];
                    let tighter = fit_i && (!fit_b || idle_i <= idle_b);
                    let fuller = !fit_i && !fit_b && idle_i >= idle_b;
                    if tighter || fuller {
                        best = Some(i);
                    }
                }
                let stalled =
                    |chosen: &Nodes, group| fail(group, Failure::Again { chosen: chosen.clone() });
                let Some(best) = best else { return Err(stalled(&chosen, group)) };
                let new = !same(&used, best);
                if in_force && new {
                    if limit == 0 {
                        return Err(stalled(&chosen, group));
                    }
                    limit -= 1;
                }
                let here = self.nodes(best, 1).filter(|node| free.contains(node)).take(rest);
                let here: Vec<u32> = here.collect();
                if here.is_empty() {
                    return Err(stalled(&chosen, group));
                }
                rest -= here.len();
                here.iter().for_each(|node| {
                    free.remove(node);
                });
                chosen.extend(here);
                used.insert(best);
            }
            if self.options.spread {
                for block in used {
                    self.nodes(block, 1).for_each(|node| {
                        free.remove(&node);
                    });
                }
            }
        }
        Ok(chosen)
    }
}

/// Returns the nodes of a job.
pub fn place(
    blocks: &Blocks,
    free: &Nodes,
    size: usize,
    options: BlockOptions,
) -> Result<Nodes, Denied> {
    let segment = options.segment.map(|segment| segment as usize).filter(|&g| g <= size);
    if segment.is_some_and(|g| !size.is_multiple_of(g)) {
        return Err(Denied::BadConfig);
    }
    if size > free.len() {
        return Err(Denied::TooFewFree);
    }
    if size == 1 {
        return Ok(free.iter().take(1).copied().collect());
    }
    let rule = Rule { blocks, options, size, segment };
    let mut free = free.clone();
    let mut cursor: Option<(Vec<u32>, usize)> = None;
    loop {
        if free.len() < size {
            return Err(Denied::NoPlace);
        }
        match rule.attempt(&free) {
            Ok(nodes) => return Ok(nodes),
            Err(Failure::Wait) => return Err(Denied::NoPlace),
            Err(_) if free.len() <= size => return Err(Denied::NoPlace),
            Err(Failure::Group(first, count)) => rule.nodes(first, count).for_each(|node| {
                free.remove(&node);
            }),
            Err(Failure::Again { chosen }) => {
                let (order, at) = cursor.get_or_insert_with(|| (free.iter().copied().collect(), 0));
                let Some(&from) = order.get(*at) else { return Err(Denied::NoPlace) };
                let Some(&node) = chosen.range(from..).next() else {
                    return Err(Denied::NoPlace);
                };
                *at += usize::from(node == from);
                free.remove(&node);
            }
        }
    }
}
