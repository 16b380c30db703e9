//! Slurm's fragmentation of a block machine over time.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::HierarchySeries;
use super::measure::{Finished, Measure, Needs, Scope, Setup, optional};
use crate::simulation::{Decision, Observer};
use crate::table::{Column, measures};
use crate::topology::{Hierarchy, NodeId};
use crate::workload::JobId;

/// Returns Slurm's measure of fragmentation of a block machine, in nodes (`topology_block.c`). `free` contains the
/// number of free nodes of each base block. The fragmentation is the number of nodes that are not free plus, for each
/// block size, the number of nodes in blocks of this size that are not entirely free. A base block counts as free if it
/// has at least as many free nodes as the base size. The fragmentation of a tree is 0.
pub fn fragmentation(hierarchy: &Hierarchy, free: &[u32]) -> u64 {
    let Some(blocks) = hierarchy.blocks() else { return 0 };
    let count = blocks.count() as u64;
    let mut sizes: Vec<(u64, bool)> = Vec::new();
    for &level in blocks.levels() {
        sizes.push((1 << level, false));
        if 1 << level >= count {
            break;
        }
    }
    let mut sum = 0;
    for block in 0..count {
        let whole = free[block as usize] >= blocks.base_size();
        for (size, open) in &mut sizes {
            let starts = block.is_multiple_of(*size) && *size <= count - block;
            if whole {
                *open |= starts && *size > 1;
            } else if *open || starts {
                sum += *size;
                *open = false;
            }
        }
    }
    let all_free: u64 = free.iter().map(|&nodes| u64::from(nodes)).sum();
    u64::from(blocks.base_size()) * sum + hierarchy.processors() as u64 - all_free
}

measures! {
    /// Time averages of Slurm's fragmentation. The argument contains the average in nodes and in percent.
    #[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
    pub struct BlockFragmentationMetrics, from mean: [f64; 2] {
        block_fragmentation: f64 ["nodes"] "time average of Slurm's fragmentation of the blocks, from the \
            first submission to the last completion; nodes out of service are treated as free; null on trees and for \
            repeated logs"
            = mean[0];
        block_fragmentation_percent: f64 ["%"] "block_fragmentation as a share of its value when no node is free"
            = mean[1];
    }
}

/// Maximum number of spans of [`HierarchySeries::block_fragmentation`].
const MAX_SPANS: i64 = 120;

/// Integrates Slurm's fragmentation of a block machine over time.
#[derive(Clone, PartialEq, Debug)]
pub struct BlockFragmentation {
    hierarchy: Hierarchy,
    /// Number of free nodes of each base block.
    free: Vec<u32>,
    /// Nodes of running jobs.
    held: HashMap<JobId, Box<[NodeId]>>,
    origin: i64,
    now: i64,
    /// Integrals over consecutive spans of [`width`](Self::width) seconds from the origin until now.
    spans: Vec<i128>,
    width: i64,
    /// The fragmentation since the last change; `None` if not computed.
    value: Option<u64>,
    /// The fragmentation when no node is free.
    most: u64,
}

impl BlockFragmentation {
    /// Creates the integral from time `origin` for an idle machine; `None` for a tree.
    fn of(hierarchy: &Hierarchy, origin: i64) -> Option<Self> {
        let blocks = hierarchy.blocks()?;
        let base_blocks = &hierarchy.units()[..blocks.count()];
        Some(Self {
            free: base_blocks.iter().map(|block| block.nodes).collect(),
            held: HashMap::new(),
            origin,
            now: origin,
            spans: Vec::new(),
            width: 1,
            value: None,
            most: fragmentation(hierarchy, &vec![0; base_blocks.len()]),
            hierarchy: hierarchy.clone(),
        })
    }

    fn advance(&mut self, now: i64) {
        if now > self.now {
            let value =
                *self.value.get_or_insert_with(|| fragmentation(&self.hierarchy, &self.free));
            while (now - self.origin - 1) / self.width >= MAX_SPANS {
                self.spans = self.spans.chunks(2).map(|pair| pair.iter().sum()).collect();
                self.width *= 2;
            }
            while self.now < now {
                let span = (self.now - self.origin) / self.width;
                let end = now.min(self.origin + (span + 1) * self.width);
                self.spans.resize(span as usize + 1, 0);
                self.spans[span as usize] += i128::from(value) * i128::from(end - self.now);
                self.now = end;
            }
        }
    }

    /// Records that a job takes free nodes.
    fn start(&mut self, job: JobId, nodes: &[NodeId], now: i64) {
        self.advance(now);
        nodes.iter().for_each(|&node| self.free[self.hierarchy.leaf(node) as usize] -= 1);
        self.held.insert(job, nodes.into());
        self.value = None;
    }

    /// Records that a job releases its nodes.
    fn end(&mut self, job: JobId, now: i64) {
        self.advance(now);
        let nodes = self.held.remove(&job).unwrap_or_default();
        nodes.iter().for_each(|&node| self.free[self.hierarchy.leaf(node) as usize] += 1);
        self.value = None;
    }

    /// Returns the time average of the fragmentation twice: in nodes, and in percent of the value when no node is free.
    /// Returns `None` if no time has passed.
    fn mean(&self) -> Option<[f64; 2]> {
        let span = self.now - self.origin;
        let sum: i128 = self.spans.iter().sum();
        let mean = (span > 0).then(|| sum as f64 / span as f64)?;
        Some([mean, self.percent(mean)])
    }

    fn percent(&self, nodes: f64) -> f64 {
        100.0 * nodes / self.most.max(1) as f64
    }

    /// Returns [`HierarchySeries::block_fragmentation`].
    fn series(&self) -> Vec<(f64, f64)> {
        let begins = (0..).map(|span| span * self.width);
        let mean = |(begin, &sum): (i64, &i128)| {
            let length = self.width.min(self.now - self.origin - begin);
            (begin as f64 + length as f64 / 2.0, self.percent(sum as f64 / length as f64))
        };
        begins.zip(&self.spans).map(mean).collect()
    }
}

impl Observer for BlockFragmentation {
    fn started(&mut self, Decision { job, now, nodes, .. }: Decision<'_>) {
        self.start(job, nodes, now);
    }

    fn cut_off(&mut self, job: JobId, now: i64, _nodes: &[NodeId], _again: bool) {
        self.end(job, now);
    }

    fn completed(&mut self, job: JobId, now: i64) {
        self.end(job, now);
    }
}

impl Measure for BlockFragmentation {
    type Metrics = Option<BlockFragmentationMetrics>;
    const NEEDS: Needs = Needs::Placements;

    fn new(setup: &Setup<'_>) -> Option<Self> {
        let hierarchy = setup.hierarchy?;
        let wanted = setup.placements && setup.scope != Scope::Allocations;
        wanted.then(|| Self::of(hierarchy, setup.origin))?
    }

    fn columns() -> Vec<Column<Option<BlockFragmentationMetrics>>> {
        optional(BlockFragmentationMetrics::columns())
    }

    fn finish(&self, _: &Finished<'_>) -> Option<BlockFragmentationMetrics> {
        self.mean().map(BlockFragmentationMetrics::of)
    }

    fn complete_series(&self, series: &mut HierarchySeries) {
        series.block_fragmentation = self.series();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;

    #[test]
    fn integrates_the_fragmentation_of_blocks() {
        // The fragmentation is 0 if all nodes are free, 21 if node 0 is busy, and 64 if all nodes are busy.
        let topology: Topology = "block[4,16]:6x4".parse().expect("a machine");
        let hierarchy = topology.hierarchy().expect("blocks");
        let mut blocks = BlockFragmentation::of(hierarchy, 10).expect("blocks");
        assert_eq!(blocks.mean(), None);
        blocks.start(JobId(0), &[NodeId(0)], 20);
        blocks.end(JobId(0), 30);
        blocks.start(JobId(1), &topology.nodes().collect::<Vec<_>>(), 30);
        blocks.end(JobId(1), 40);
        let mean = (21.0 + 64.0) / 3.0;
        assert_eq!(blocks.mean(), Some([mean, 100.0 * mean / 64.0]));
        let series = blocks.series();
        assert_eq!((series.len(), series[9], series[10].0), (30, (9.5, 0.0), 10.5));
        assert_eq!((series[10].1, series[29]), (100.0 * 21.0 / 64.0, (29.5, 100.0)));
        // With at most 120 spans, 1,000 s need spans of 16 s. The first span contains 10 idle seconds and 6 s with 21
        // nodes.
        blocks.start(JobId(2), &[NodeId(0)], 40);
        blocks.end(JobId(2), 1_010);
        let series = blocks.series();
        assert_eq!((series.len(), series[1].0), (63, 24.0));
        assert_eq!(series[0].1, 100.0 * (6.0 * 21.0 / 16.0) / 64.0);
        assert_eq!(series[62], (996.0, 100.0 * 21.0 / 64.0));
        let total = (21.0 + 64.0) * 10.0 + 970.0 * 21.0;
        assert_eq!(blocks.mean().map(|mean| mean[0]), Some(total / 1_000.0));
        let tree: Topology = "tree:2x4".parse().expect("a machine");
        assert!(BlockFragmentation::of(tree.hierarchy().expect("a tree"), 0).is_none());
    }
}
