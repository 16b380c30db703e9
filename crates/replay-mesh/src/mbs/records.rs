//! Free block records: the free blocks of a machine by class, in list order.
//!
//! Each free processor is in exactly one free block. If all buddies of a block are free, they are always merged. A
//! block is therefore recorded iff all its processors are free and not all processors of its parent are free. Taking,
//! splitting, merging or releasing a block takes constant time ([`OrderedSet`]). With squares, a job of m processors
//! causes fewer than m / 3 merges when it ends (Lo et al. 1997, section 3.3.4).

use crate::mbs::forest::{BlockId, Forest};
use crate::mbs::ordered_set::OrderedSet;
use replay_engine::allocator::submesh::SubMesh;
use replay_engine::topology::NodeId;

/// Free blocks, and bases of blocks in use.
#[derive(Clone, Debug)]
pub struct Records {
    forest: Forest,
    /// Free blocks of each class, numbered in list order.
    free: Vec<OrderedSet>,
    /// For each processor, the block in use whose base is this processor.
    used: Vec<Option<BlockId>>,
    /// Number of blocks taken, divided, merged and released since the last reset.
    pub operations: u64,
}

impl Records {
    /// Creates the records of an empty machine: the initial blocks are free.
    pub fn new(forest: Forest) -> Self {
        let free = (0..forest.classes()).map(|class| OrderedSet::new(forest.len(class))).collect();
        let used = vec![None; forest.len(0)];
        let mut records = Self { forest, free, used, operations: 0 };
        records.reset();
        records
    }

    /// Returns the blocks of the machine.
    pub fn forest(&self) -> &Forest {
        &self.forest
    }

    /// Returns the number of free blocks of a class.
    #[inline]
    pub fn free(&self, class: usize) -> usize {
        self.free[class].len()
    }

    /// Describes the numbers of free blocks by size.
    pub fn describe(&self) -> String {
        let classes = (0..self.free.len()).rev().filter(|&class| self.free(class) > 0);
        let words = classes.map(|class| {
            let volume = self.forest.volume(class);
            format!("{} of {volume}", self.free(class))
        });
        match words.collect::<Vec<_>>() {
            words if words.is_empty() => "no block is free".to_string(),
            words => format!("free blocks: {}", words.join(", ")),
        }
    }

    /// Returns the free blocks of a class in list order.
    #[cfg(test)]
    pub fn free_blocks(&self, class: usize) -> impl Iterator<Item = SubMesh> + '_ {
        let blocks = self.free[class].iter().map(move |number| self.forest.block(class, number));
        blocks.map(|block| self.forest.area(block))
    }

    /// Creates free blocks of class `class` (generation of buddies; Lo et al., algorithm 2). The function finds the
    /// smallest class above `class` that has a free block, and divides the first block of this class repeatedly.
    /// Returns `false` if no larger block is free.
    pub fn generate(&mut self, class: usize) -> bool {
        let Some(from) = (class + 1..self.free.len()).find(|&from| !self.free[from].is_empty())
        else {
            return false;
        };
        for larger in (class + 1..=from).rev() {
            // The lower left buddy, the first block of its class, is divided further.
            if let Some(number) = self.free[larger].first() {
                self.divide(self.forest.block(larger, number));
            }
        }
        true
    }

    /// Takes the first free block of a class and appends its processors. Returns `false` if the class has no free
    /// block; larger classes are not searched.
    #[inline]
    pub fn take(&mut self, class: usize, nodes: &mut Vec<NodeId>) -> bool {
        let Some(number) = self.free[class].pop_first() else { return false };
        let block = self.forest.block(class, number);
        self.mark(block);
        self.forest.append_to(block, nodes);
        true
    }

    /// Takes all processors of an area, which need not consist of blocks. The processors must be free.
    pub fn carve(&mut self, area: SubMesh) {
        for root in 0..self.forest.initial().len() {
            self.carve_from(self.forest.initial()[root], &area);
        }
    }

    /// Takes single processors, which must be free. [`release`](Self::release) releases them.
    pub fn carve_each(&mut self, nodes: &[NodeId]) {
        for &node in nodes {
            self.carve(self.forest.cell(node));
        }
    }

    fn carve_from(&mut self, block: BlockId, area: &SubMesh) {
        let here = self.forest.area(block);
        if !here.overlaps(area) {
            return;
        }
        let number = self.forest.number(block);
        if contains(area, &here) {
            debug_assert!(self.free[self.forest.class(block)].contains(number), "{here:?}");
            self.free[self.forest.class(block)].remove(number);
            self.mark(block);
            return;
        }
        if self.free[self.forest.class(block)].contains(number) {
            self.divide(block);
        }
        for buddy in 0..self.forest.arity() as usize {
            self.carve_from(self.forest.children(block)[buddy], area);
        }
    }

    /// Releases every block in use whose base is one of `nodes`. If `nodes` are the processors of a job, the blocks of
    /// this job are released.
    pub fn release(&mut self, nodes: &[NodeId]) {
        for node in nodes {
            if let Some(block) = self.used[node.index()].take() {
                self.put_back(block);
            }
        }
    }

    /// Clears all blocks in use.
    pub fn reset(&mut self) {
        self.free.iter_mut().for_each(OrderedSet::clear);
        self.used.fill(None);
        self.operations = 0;
        for &block in self.forest.initial() {
            self.free[self.forest.class(block)].insert(self.forest.number(block));
        }
    }

    #[inline]
    fn mark(&mut self, block: BlockId) {
        self.used[self.forest.base(block).index()] = Some(block);
        self.operations += 1;
    }

    /// Replaces a free block by its buddies.
    fn divide(&mut self, block: BlockId) {
        let class = self.forest.class(block);
        self.free[class].remove(self.forest.number(block));
        for &buddy in self.forest.children(block) {
            self.free[class - 1].insert(self.forest.number(buddy));
        }
        self.operations += 1;
    }

    /// Records a block as free and merges it with its free buddies, repeatedly.
    fn put_back(&mut self, mut block: BlockId) {
        let class = self.forest.class(block);
        self.free[class].insert(self.forest.number(block));
        self.operations += 1;
        while let Some(parent) = self.forest.parent(block) {
            let free = &mut self.free[self.forest.class(block)];
            let buddies = self.forest.children(parent);
            if !buddies.iter().all(|&buddy| free.contains(self.forest.number(buddy))) {
                return;
            }
            buddies.iter().for_each(|&buddy| free.remove(self.forest.number(buddy)));
            self.free[self.forest.class(parent)].insert(self.forest.number(parent));
            self.operations += 1;
            block = parent;
        }
    }
}

/// Returns whether `outer` contains `inner`.
fn contains(outer: &SubMesh, inner: &SubMesh) -> bool {
    let (end, inner_end) = (outer.end(), inner.end());
    (0..3).all(|i| outer.base[i] <= inner.base[i] && inner_end[i] <= end[i])
}
