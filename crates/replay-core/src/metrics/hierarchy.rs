//! Leaves, blocks and levels of allocations on trees of switches and on blocks. Fragmentation of blocks over time.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::machine::FreeNodes;
use crate::table::measures;
use crate::topology::{Hierarchy, NodeId};
use crate::workload::JobId;

/// Position of one job in a tree of switches or in blocks. A leaf is a switch with nodes, or a base block.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct HierarchyPlacement {
    /// Number of leaves on which the job has nodes.
    pub leaves: u32,
    /// Minimum number of leaves that can hold the job on the idle machine. The largest leaves are used first.
    pub fewest_leaves: u32,
    /// Number of switches of level 1, or of blocks of the second size, that contain nodes of the job. A leaf that is not
    /// directly below a switch of level 1 counts as one. `None` if the machine has neither.
    pub upper_blocks: Option<u32>,
    /// On a tree, the level of the lowest switch above all nodes (0 for a leaf). On blocks, the index, from 0, of the
    /// smallest block size for which a single block holds all nodes. `None` if no switch or block contains all nodes.
    pub level: Option<u32>,
    /// Mean hop distance over pairs of nodes that run processes; 0 for one node.
    pub hops: f64,
    /// Number of nodes.
    pub nodes: u32,
    /// Whether the largest leaf is large enough for the job.
    pub fits_leaf: bool,
}

/// Measures positions on one machine; reuses its buffers.
#[derive(Clone, Debug)]
pub struct HierarchyLocality {
    hierarchy: Hierarchy,
    /// Level of each unit.
    levels: Vec<Option<u32>>,
    /// For each leaf, its switch of level 1 or its block of the second size; empty if the machine has neither.
    uppers: Vec<u32>,
    /// Prefix sums of the leaf sizes, in descending order of size.
    sums: Vec<u64>,
    units: Vec<u32>,
}

impl HierarchyLocality {
    /// Creates the buffers for a machine.
    pub fn new(hierarchy: &Hierarchy) -> Self {
        let (units, levels) = (hierarchy.units(), hierarchy.unit_levels());
        let upper = |leaf: u32| {
            let parent = units[leaf as usize].parent;
            parent.filter(|&parent| levels[parent as usize] == Some(1)).unwrap_or(leaf)
        };
        let uppers = match levels.contains(&Some(1)) {
            true => (0..units.len() as u32).map(upper).collect(),
            false => Vec::new(),
        };
        let mut sizes = vec![0_u64; units.len()];
        for node in 0..hierarchy.processors() as u32 {
            sizes[hierarchy.leaf(NodeId(node)) as usize] += 1;
        }
        sizes.retain(|&size| size > 0);
        sizes.sort_unstable_by_key(|&size| std::cmp::Reverse(size));
        let sums = sizes.iter().scan(0, |sum, size| {
            *sum += size;
            Some(*sum)
        });
        let sums = sums.collect();
        Self { hierarchy: hierarchy.clone(), levels, uppers, sums, units: Vec::new() }
    }

    /// Returns the position of a job with at least one node. `hops` is the mean distance between the nodes of the job.
    pub fn placement(&mut self, nodes: &[NodeId], hops: f64) -> HierarchyPlacement {
        let Self { hierarchy, levels, uppers, sums, units } = self;
        units.clear();
        units.extend(nodes.iter().map(|&node| hierarchy.leaf(node)));
        let distinct = |units: &mut Vec<u32>| {
            units.sort_unstable();
            units.dedup();
            units.len() as u32
        };
        let leaves = distinct(units);
        let upper_blocks = (!uppers.is_empty()).then(|| {
            units.iter_mut().for_each(|unit| *unit = uppers[*unit as usize]);
            distinct(units)
        });
        let size = nodes.len() as u64;
        HierarchyPlacement {
            leaves,
            fewest_leaves: sums.partition_point(|&sum| sum < size) as u32 + 1,
            upper_blocks,
            level: hierarchy.enclosing_unit(nodes).and_then(|unit| levels[unit as usize]),
            hops,
            nodes: nodes.len() as u32,
            fits_leaf: sums.first().is_some_and(|&largest| size <= largest),
        }
    }
}

/// Sums over the jobs of a run.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct HierarchySums {
    jobs: i64,
    leaves: i64,
    /// Sum over jobs of `leaves` / `fewest_leaves`.
    ratio: f64,
    upper_blocks: i64,
    /// Number of jobs with a level.
    levelled: i64,
    level: i64,
    hops: f64,
    /// Number of jobs of several nodes. The next field is the number of jobs of several nodes that run in one leaf.
    several: i64,
    several_in_one: i64,
    /// Number of jobs of several nodes that fit into the largest leaf.
    fitting: i64,
    has_uppers: bool,
}

impl HierarchySums {
    /// Adds a job if the sign is 1; subtracts the job if the sign is -1.
    pub(super) fn add_job(&mut self, place: &HierarchyPlacement, sign: i64) {
        let several = place.nodes > 1;
        self.jobs += sign;
        self.leaves += sign * i64::from(place.leaves);
        self.ratio += sign as f64 * f64::from(place.leaves) / f64::from(place.fewest_leaves);
        self.has_uppers |= place.upper_blocks.is_some();
        self.upper_blocks += sign * i64::from(place.upper_blocks.unwrap_or(0));
        self.levelled += sign * i64::from(place.level.is_some());
        self.level += sign * i64::from(place.level.unwrap_or(0));
        self.hops += sign as f64 * place.hops;
        self.several += sign * i64::from(several);
        self.several_in_one += sign * i64::from(several && place.leaves == 1);
        self.fitting += sign * i64::from(several && place.fits_leaf);
    }

    /// Adds the sums of another replay.
    pub(super) fn add(&mut self, other: &Self) {
        self.jobs += other.jobs;
        self.leaves += other.leaves;
        self.ratio += other.ratio;
        self.upper_blocks += other.upper_blocks;
        self.levelled += other.levelled;
        self.level += other.level;
        self.hops += other.hops;
        self.several += other.several;
        self.several_in_one += other.several_in_one;
        self.fitting += other.fitting;
        self.has_uppers |= other.has_uppers;
    }

    fn mean(&self, sum: f64) -> f64 {
        sum / self.jobs as f64
    }

    fn share(sum: i64, of: i64) -> Option<f64> {
        (of > 0).then(|| sum as f64 / of as f64)
    }
}

measures! {
    /// Metrics of a run on a tree of switches or on blocks. Means are over jobs.
    #[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
    pub struct HierarchyMetrics, from sums: &HierarchySums {
        mean_leaves: f64 ["leaves"] "mean over jobs of the number of leaves (switches with nodes, or base blocks) on which a job has nodes; null on machines other than trees and blocks"
            = sums.mean(sums.leaves as f64);
        mean_leaf_ratio: f64 [""] "mean over jobs of the ratio of the number of leaves to the minimum number of \
            leaves that can hold the job on the idle machine"
            = sums.mean(sums.ratio);
        mean_upper_blocks: Option<f64> ["blocks"] "mean over jobs of the number of switches of level 1, or of blocks \
            of the second size, that contain nodes of the job; a leaf that is not directly below a switch of level 1 \
            counts as one; null if the machine has neither"
            = sums.has_uppers.then(|| sums.mean(sums.upper_blocks as f64));
        mean_level: Option<f64> ["levels"] "mean over jobs of the level of the lowest switch above all nodes of the job (0 for a leaf) or, on blocks, of the index (from 0) of the smallest block size with a block that holds all nodes of the job; jobs that are not in a single switch or block are excluded"
            = HierarchySums::share(sums.level, sums.levelled);
        mean_pair_hops: f64 ["hops"] "mean over jobs of the mean hop distance over pairs of nodes; 0 for a job of one node"
            = sums.mean(sums.hops);
        one_leaf_percent: Option<f64> ["%", rising] "share of jobs in one leaf, among the jobs of at least two nodes"
            = HierarchySums::share(100 * sums.several_in_one, sums.several);
        one_leaf_fitting_percent: Option<f64> ["%", rising] "share of jobs in one leaf, among the jobs of at least \
            two nodes that fit into the largest leaf"
            = HierarchySums::share(100 * sums.several_in_one, sums.fitting);
        block_fragmentation: Option<f64> ["nodes"] "time average of Slurm's fragmentation of the blocks, from the \
            first submission to the last completion; nodes out of service are treated as free; null on trees and for \
            repeated logs"
            = None;
        block_fragmentation_percent: Option<f64> ["%"] "block_fragmentation as a share of its value when no node is free"
            = None;
    }
}

impl HierarchyMetrics {
    /// Returns the metrics of the recorded allocations; `None` on machines other than trees and blocks.
    pub(super) fn new(sums: &HierarchySums) -> Option<Self> {
        (sums.jobs > 0).then(|| Self::of(sums))
    }
}

/// Values for figures about a run on a tree or on blocks.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct HierarchySeries {
    /// Job sizes in ascending order, each with a mean over the jobs of this size. The averaged value is the minimum
    /// number of leaves that can hold the job on the idle machine.
    pub fewest_leaves: Vec<(u32, f64)>,
    /// Time averages of Slurm's fragmentation over consecutive spans; empty on trees. Each entry contains the middle of
    /// the span, in seconds since the first submission, and the average. The average is in percent of the fragmentation
    /// of a machine on which no node is free.
    pub block_fragmentation: Vec<(f64, f64)>,
}

/// Maximum number of spans of [`BlockFragmentation::series`].
const MAX_SPANS: i64 = 120;

/// Integrates Slurm's fragmentation of a block machine over time.
#[derive(Clone, Debug)]
pub struct BlockFragmentation {
    free: FreeNodes,
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
    pub fn new(hierarchy: &Hierarchy, origin: i64) -> Option<Self> {
        hierarchy.blocks()?;
        let none = FreeNodes::of(hierarchy, []);
        Some(Self {
            free: FreeNodes::all(hierarchy),
            held: HashMap::new(),
            origin,
            now: origin,
            spans: Vec::new(),
            width: 1,
            value: None,
            most: none.fragmentation(),
        })
    }

    fn advance(&mut self, now: i64) {
        if now > self.now {
            let value = *self.value.get_or_insert_with(|| self.free.fragmentation());
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
    pub fn start(&mut self, job: JobId, nodes: &[NodeId], now: i64) {
        self.advance(now);
        self.free.take(nodes);
        self.held.insert(job, nodes.into());
        self.value = None;
    }

    /// Records that a job releases its nodes.
    pub fn end(&mut self, job: JobId, now: i64) {
        self.advance(now);
        let nodes = self.held.remove(&job).unwrap_or_default();
        self.free.give(&nodes);
        self.value = None;
    }

    /// Returns the time average of the fragmentation twice: in nodes, and in percent of the value when no node is free.
    /// Returns `None` if no time has passed.
    pub fn mean(&self) -> Option<[f64; 2]> {
        let span = self.now - self.origin;
        let sum: i128 = self.spans.iter().sum();
        let mean = (span > 0).then(|| sum as f64 / span as f64)?;
        Some([mean, self.percent(mean)])
    }

    fn percent(&self, nodes: f64) -> f64 {
        100.0 * nodes / self.most.max(1) as f64
    }

    /// Returns [`HierarchySeries::block_fragmentation`].
    pub fn series(&self) -> Vec<(f64, f64)> {
        let begins = (0..).map(|span| span * self.width);
        let mean = |(begin, &sum): (i64, &i128)| {
            let length = self.width.min(self.now - self.origin - begin);
            (begin as f64 + length as f64 / 2.0, self.percent(sum as f64 / length as f64))
        };
        begins.zip(&self.spans).map(mean).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Locality;
    use crate::topology::Topology;

    fn placed(machine: &str, nodes: &[u32]) -> HierarchyPlacement {
        let topology: Topology = machine.parse().expect("a machine");
        let nodes: Vec<NodeId> = nodes.iter().copied().map(NodeId).collect();
        let placement = Locality::new(&topology).placement(&nodes, nodes.len() as u32);
        placement.hierarchy.expect("a tree or blocks")
    }

    #[test]
    fn measures_jobs_on_a_tree() {
        let of = |nodes: &[u32]| {
            let it = placed("tree:2x2x4", nodes);
            (it.leaves, it.fewest_leaves, it.upper_blocks, it.level, it.hops)
        };
        assert_eq!(of(&[5]), (1, 1, Some(1), Some(0), 0.0));
        assert_eq!(of(&[4, 7]), (1, 1, Some(1), Some(0), 2.0));
        // One pair of nodes is in a leaf, and two pairs are connected by the switch above the leaf.
        assert_eq!(of(&[0, 1, 4]), (2, 1, Some(1), Some(1), 10.0 / 3.0));
        // Two pairs meet below the root, and four pairs cross the root. Five nodes need two leaves.
        assert_eq!(of(&[0, 4, 8, 12]), (4, 1, Some(2), Some(2), (2.0 * 4.0 + 4.0 * 6.0) / 6.0));
        assert_eq!(of(&[0, 1, 2, 3, 8]).1, 2);
        let leaf = placed("tree:18", &[0, 17]);
        assert_eq!((leaf.upper_blocks, leaf.level, leaf.fits_leaf), (None, Some(0), true));
        assert!(!placed("tree:2x2x4", &[0, 1, 2, 3, 4]).fits_leaf);
        let mesh: Topology = "4x4".parse().expect("a machine");
        assert_eq!(Locality::new(&mesh).placement(&[NodeId(0)], 1).hierarchy, None);
    }

    #[test]
    fn measures_jobs_on_blocks() {
        let of = |nodes: &[u32]| {
            let it = placed("block[4,16]:6x4", nodes);
            (it.leaves, it.upper_blocks, it.level, it.hops)
        };
        assert_eq!(of(&[0, 3]), (1, Some(1), Some(0), 2.0));
        assert_eq!(of(&[0, 15]), (2, Some(1), Some(1), 4.0));
        // Beyond the block of 16 there is no block, only the machine.
        assert_eq!(of(&[0, 16]), (2, Some(2), None, 6.0));
        assert_eq!(placed("block[4]:6x4", &[0, 4]).upper_blocks, None);
    }

    #[test]
    fn sums_over_jobs() {
        let mut means = crate::metrics::run::PlacementMeans::default();
        let topology: Topology = "tree:2x2x4".parse().expect("a machine");
        let mut locality = Locality::new(&topology);
        let mut jobs = |nodes: &[u32]| {
            let nodes: Vec<NodeId> = nodes.iter().copied().map(NodeId).collect();
            locality.placement(&nodes, nodes.len() as u32)
        };
        let all = [jobs(&[0]), jobs(&[1, 2]), jobs(&[3, 4, 5]), jobs(&[6, 7, 8, 9, 10, 11])];
        all.iter().for_each(|job| means.record(job));
        let again = jobs(&[0, 15]);
        means.record(&again);
        means.forget(&again);
        let run = HierarchyMetrics::new(&means.hierarchy).expect("metrics");
        assert_eq!(
            (run.mean_leaves, run.mean_leaf_ratio),
            (6.0 / 4.0, (1.0 + 1.0 + 2.0 + 1.0) / 4.0)
        );
        assert_eq!((run.mean_upper_blocks, run.mean_level), (Some(5.0 / 4.0), Some(3.0 / 4.0)));
        // Mean hops of the jobs of 1, 2, 3 and 6 nodes: the last job has 7 pairs within leaves and 8 pairs across the
        // root.
        let hops = [0.0, 2.0, (2.0 + 2.0 * 4.0) / 3.0, (7.0 * 2.0 + 8.0 * 6.0) / 15.0];
        assert!((run.mean_pair_hops - hops.iter().sum::<f64>() / 4.0).abs() < 1e-12);
        assert_eq!(run.one_leaf_percent, Some(100.0 / 3.0));
        assert_eq!(run.one_leaf_fitting_percent, Some(50.0));
        assert!(HierarchyMetrics::new(&HierarchySums::default()).is_none());
    }

    #[test]
    fn integrates_the_fragmentation_of_blocks() {
        // The fragmentation is 0 if all nodes are free, 21 if node 0 is busy, and 64 if all nodes are busy.
        let topology: Topology = "block[4,16]:6x4".parse().expect("a machine");
        let hierarchy = topology.hierarchy().expect("blocks");
        let mut blocks = BlockFragmentation::new(hierarchy, 10).expect("blocks");
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
        assert!(BlockFragmentation::new(tree.hierarchy().expect("a tree"), 0).is_none());
    }
}
