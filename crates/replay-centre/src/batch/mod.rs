//! Replay of MC1x1 with many tie configurations at once. Each configuration has its own machine, and the same jobs
//! start and end on all machines.
//!
//! A decision of MC1x1 depends only on the set of free processors, not on which jobs use the busy processors.
//! Configurations with the same free processors therefore share one *occupancy*, and each decision is made once per
//! occupancy. An occupancy is split in two cases: if its configurations choose different processors for a starting job,
//! or if they gave different processors to a job that now ends. Within an occupancy, configurations that gave the same
//! processors to every running job form one *group*. A group is split only when its configurations choose different
//! processors. Occupancies and groups that no longer differ are joined. Each configuration chooses the same processors
//! as in a separate replay; tests compare every choice.
//!
//! Memory: one machine per occupancy; there are at most as many occupancies as configurations.

mod scorer;

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::definition::CentreOptions;
use replay_engine::allocator::ties::TieConfig;
use replay_engine::allocator::{Batch, BatchPlacement, Refusal, settled_by_count};
use replay_engine::cancel::CancelToken;
use replay_engine::machine::Machine;
use replay_engine::topology::{Grid, NodeId, PairDistances, Topology};
use scorer::{Scorer, scorer};

/// A request for a machine that is not part of the batch. The request is decided with an additional configuration.
#[derive(Debug)]
pub struct ExternalQuery<'a> {
    /// Index of the occupancy whose state equals the state of the machine ([`BatchReplay::find`]).
    pub occupancy: usize,
    /// List to which the chosen processors are appended.
    pub chosen: &'a mut Vec<NodeId>,
}

/// One of the different choices in an occupancy: the winning centre, and the number of the processor set around this
/// centre.
type Choice = (NodeId, u32);

/// Machines of many configurations, on which the same jobs start and end.
#[derive(Debug)]
pub struct BatchReplay {
    scorer: Box<dyn Scorer>,
    /// Number of configurations, which is also the index of the configuration for external queries.
    configs: u32,
    occupancies: Vec<SharedOccupancy>,
    spare: Vec<SharedOccupancy>,
    spare_groups: Vec<Group>,
    sets: SetTable,
    /// For each processor, whether the processor is out of service. On some machines, a job may still use a processor
    /// that is out of service. The list is empty before the first outage.
    down: Vec<bool>,
    members: Vec<u32>,
    winners: Vec<NodeId>,
    choices: Vec<Choice>,
    chosen: Vec<NodeId>,
    /// Indices by hash.
    index: ByHash<usize>,
}

impl BatchReplay {
    /// Creates a replay with these configurations on copies of `machine`. The machine must have no running jobs, and
    /// MC1x1 must support its grid. The vector and the slack in `options` are ignored.
    pub fn new(
        machine: &Machine,
        grid: &Grid,
        options: CentreOptions,
        configs: Vec<TieConfig>,
    ) -> Self {
        let count = configs.len() as u32;
        Self::with_scorer(machine, count, scorer(grid, options, configs, false))
    }

    /// Creates a replay like [`new`](Self::new) with an additional configuration for [external queries](ExternalQuery).
    /// The configurations of this replay can be [replaced](Self::set_config).
    pub fn adaptive(
        machine: &Machine,
        grid: &Grid,
        options: CentreOptions,
        mut configs: Vec<TieConfig>,
        external: TieConfig,
    ) -> Self {
        let count = configs.len() as u32;
        configs.push(external);
        Self::with_scorer(machine, count, scorer(grid, options, configs, true))
    }

    fn with_scorer(machine: &Machine, configs: u32, scorer: Box<dyn Scorer>) -> Self {
        let mut first = SharedOccupancy::new(machine.clone());
        first.groups.push(Group::new((0..configs).collect()));
        let mut down = Vec::new();
        if machine.down_count() > 0 {
            down.extend(machine.topology().nodes().map(|node| machine.is_down(node)));
        }
        Self {
            scorer,
            configs,
            occupancies: vec![first],
            spare: Vec::new(),
            spare_groups: Vec::new(),
            sets: SetTable::new(machine.topology()),
            down,
            members: Vec::new(),
            winners: Vec::new(),
            choices: Vec::new(),
            chosen: Vec::new(),
            index: ByHash::default(),
        }
    }

    /// Returns the index of the occupancy whose state equals the state of `machine`; `None` if there is no such
    /// occupancy.
    pub fn find(&self, machine: &Machine) -> Option<usize> {
        self.occupancies.iter().position(|one| one.machine.has_same_state(machine))
    }

    /// Replaces a configuration for all later decisions.
    pub fn set_config(&mut self, config: u32, to: TieConfig) {
        self.scorer.set_config(config, to);
    }

    /// Replaces the configuration of external queries for all later decisions.
    pub fn set_external(&mut self, to: TieConfig) {
        self.scorer.set_config(self.configs, to);
    }

    /// Starts a job of `size` processors on every machine and calls `observe` for each group. On a machine with too few
    /// free processors, the job starts without processors.
    ///
    /// # Errors
    /// [`Refusal`] if a machine had too few free processors, or if `stop` is cancelled.
    pub fn start_with(
        &mut self,
        slot: usize,
        size: u32,
        stop: &CancelToken,
        mut external: Option<ExternalQuery<'_>>,
        observe: &mut dyn FnMut(BatchPlacement<'_>),
    ) -> Result<(), Refusal> {
        self.sets.open(slot);
        let before = self.occupancies.len();
        let mut outcome = Ok(());
        for at in 0..before {
            let external = external.as_mut().filter(|external| external.occupancy == at);
            let common = match self.decide(at, size, slot, stop, external) {
                Ok(common) => common,
                Err(refusal) => {
                    outcome = Err(refusal);
                    Some(NO_SET)
                }
            };
            if let Some(set) = common {
                self.place(at, slot, set, observe);
                continue;
            }
            // Configurations with the first choice stay in this occupancy. The configurations with any other choice
            // move to a new occupancy, one for each choice.
            let first = self.choices[0].1;
            for choice in 1..self.choices.len() {
                let other = self.choices[choice].1;
                if self.choices[..choice].iter().all(|&(_, set)| set != other) {
                    self.move_away(at, other);
                    self.place(self.occupancies.len() - 1, slot, other, observe);
                }
            }
            self.place(at, slot, first, observe);
        }
        self.remove_empty();
        if self.sets.count(slot) > 1 {
            self.join_occupancies();
        }
        outcome
    }

    /// Decides for an occupancy. If all configurations of the occupancy choose the same processor set, returns the
    /// number of this set. If the configurations choose different sets, returns `None`; `winners` then contains the
    /// chosen centres, in the order of `members`, and `choices` contains the sets.
    fn decide(
        &mut self,
        at: usize,
        size: u32,
        slot: usize,
        stop: &CancelToken,
        external: Option<&mut ExternalQuery<'_>>,
    ) -> Result<Option<u32>, Refusal> {
        let Self { scorer, occupancies, sets, members, winners, choices, chosen, .. } = self;
        let SharedOccupancy { machine, groups, .. } = &occupancies[at];
        chosen.clear();
        if settled_by_count(machine, size as usize, chosen)? {
            if let Some(external) = external {
                external.chosen.extend_from_slice(chosen);
            }
            return Ok(Some(sets.number(slot, chosen)));
        }
        members.clear();
        groups.iter().for_each(|group| members.extend_from_slice(&group.configs));
        members.extend(external.iter().map(|_| self.configs));
        scorer.decide(machine, size, members, stop, winners)?;
        if let Some(external) = external
            && let Some(winner) = winners.pop()
        {
            scorer.collect(machine, winner, size, external.chosen);
        }
        choices.clear();
        let mut same = true;
        for &winner in winners.iter() {
            if choices.iter().all(|&(centre, _)| centre != winner) {
                chosen.clear();
                scorer.collect(machine, winner, size, chosen);
                let set = sets.number(slot, chosen);
                same &= choices.first().is_none_or(|&(_, first)| first == set);
                choices.push((winner, set));
            }
        }
        Ok(choices.first().map(|&(_, set)| set).filter(|_| same))
    }

    /// Moves the configurations of an occupancy that choose `set` to a new occupancy, which is appended to the list.
    fn move_away(&mut self, at: usize, set: u32) {
        self.split(at);
        let Self { occupancies, spare_groups, winners, choices, .. } = self;
        let Some((moved_to, occupancies)) = occupancies.split_last_mut() else { return };
        // `winners` keeps only the entries of the configurations that stay, in the same order.
        let (mut member, mut kept) = (0, 0);
        for group in &mut occupancies[at].groups {
            let mut moved: Option<Group> = None;
            let mut stay = 0;
            for i in 0..group.configs.len() {
                let (config, winner) = (group.configs[i], winners[member]);
                member += 1;
                if choices.contains(&(winner, set)) {
                    let moved = moved.get_or_insert_with(|| {
                        let mut moved = spare_groups.pop().unwrap_or_default();
                        moved.copy_from(group);
                        moved
                    });
                    moved.configs.push(config);
                } else {
                    (group.configs[stay], winners[kept]) = (config, winner);
                    (stay, kept) = (stay + 1, kept + 1);
                }
            }
            group.configs.truncate(stay);
            moved_to.groups.extend(moved);
        }
        winners.truncate(kept);
        remove_empty_groups(&mut occupancies[at], spare_groups);
    }

    /// Appends a copy of an occupancy, without groups.
    fn split(&mut self, at: usize) {
        let from = &self.occupancies[at];
        let mut copy =
            self.spare.pop().unwrap_or_else(|| SharedOccupancy::new(from.machine.clone()));
        copy.copy_from(from);
        self.occupancies.push(copy);
    }

    /// Assigns a set, or [`NO_SET`], to the job in a slot, for all groups of an occupancy.
    fn place(
        &mut self,
        at: usize,
        slot: usize,
        set: u32,
        observe: &mut dyn FnMut(BatchPlacement<'_>),
    ) {
        let occupancy = &mut self.occupancies[at];
        occupancy.groups.iter_mut().for_each(|group| group.start(slot, set));
        if set == NO_SET {
            return;
        }
        let set = self.sets.get(slot, set);
        occupancy.occupy(set);
        for Group { configs, .. } in &mut occupancy.groups {
            observe(BatchPlacement { nodes: &set.nodes, pairwise_l1: set.pairwise_l1, configs });
        }
    }

    /// Removes groups without configurations, and occupancies without groups.
    fn remove_empty(&mut self) {
        for at in (0..self.occupancies.len()).rev() {
            remove_empty_groups(&mut self.occupancies[at], &mut self.spare_groups);
            if self.occupancies[at].groups.is_empty() {
                self.spare.push(self.occupancies.swap_remove(at));
            }
        }
    }

    /// Releases the set of the job in a slot, in all groups of an occupancy. Released processors that were withdrawn
    /// while the job ran go out of service now.
    fn release(&mut self, at: usize, slot: usize, set: u32) {
        let occupancy = &mut self.occupancies[at];
        occupancy.groups.iter_mut().for_each(|group| group.end(slot));
        if set == NO_SET {
            return;
        }
        let set = self.sets.get(slot, set);
        occupancy.release(set);
        if !self.down.is_empty() {
            let leaving = set.nodes.iter().filter(|node| self.down[node.index()]);
            leaving.for_each(|&node| occupancy.withdraw(node));
        }
    }

    /// Takes processors out of service on all machines. Free processors go out of service immediately, busy processors
    /// when their jobs end.
    pub fn withdraw(&mut self, nodes: &[NodeId]) {
        let Some(first) = self.occupancies.first() else { return };
        self.down.resize(first.machine.processors(), false);
        for &node in nodes {
            self.down[node.index()] = true;
            for one in self.occupancies.iter_mut().filter(|one| one.machine.is_free(node)) {
                one.withdraw(node);
            }
        }
    }

    /// Returns processors to service on all machines.
    pub fn restore(&mut self, nodes: &[NodeId]) {
        for &node in nodes {
            if let Some(down) = self.down.get_mut(node.index()) {
                *down = false;
            }
            for one in self.occupancies.iter_mut().filter(|one| one.machine.is_down(node)) {
                one.restore(node);
            }
        }
    }

    /// Joins equal occupancies.
    fn join_occupancies(&mut self) {
        let Self { occupancies, index, spare, .. } = self;
        let is_equal =
            |a: &SharedOccupancy, b: &SharedOccupancy| a.machine.has_same_state(&b.machine);
        join(occupancies, index, SharedOccupancy::hash, is_equal, |into, mut from| {
            into.groups.append(&mut from.groups);
            spare.push(from);
        });
    }

    /// Joins equal groups of each occupancy.
    fn join_groups(&mut self) {
        let Self { occupancies, index, spare_groups, .. } = self;
        for SharedOccupancy { groups, .. } in occupancies {
            join(
                groups,
                index,
                Group::hash,
                |a, b| a.sets == b.sets,
                |into, mut from| {
                    into.configs.append(&mut from.configs);
                    spare_groups.push(from);
                },
            );
        }
    }

    /// Returns three numbers of processors for the machine of each configuration: the processors that are free, that
    /// are out of service, and that will go out of service when their job ends.
    #[cfg(test)]
    pub fn counts(&self) -> Vec<[usize; 3]> {
        let mut counts = Vec::new();
        for SharedOccupancy { machine, groups, .. } in &self.occupancies {
            let down = self.down.iter().filter(|&&down| down).count();
            let here = [machine.free_count(), machine.down_count(), down - machine.down_count()];
            let configs = groups.iter().flat_map(|group| &group.configs);
            counts.extend(configs.map(|&config| (config, here)));
        }
        counts.sort_unstable();
        counts.into_iter().map(|(_, here)| here).collect()
    }
}

impl Batch for BatchReplay {
    fn occupancies(&self) -> usize {
        self.occupancies.len()
    }

    fn start(
        &mut self,
        slot: usize,
        size: u32,
        stop: &CancelToken,
        observe: &mut dyn FnMut(BatchPlacement<'_>),
    ) -> Result<(), Refusal> {
        self.start_with(slot, size, stop, None, observe)
    }

    fn end(&mut self, slot: usize) {
        let differed = self.sets.count(slot) > 1;
        for at in 0..self.occupancies.len() {
            let set =
                |occupancy: &SharedOccupancy, group: usize| occupancy.groups[group].sets[slot];
            let first = set(&self.occupancies[at], 0);
            let mut next = 1;
            while differed && next < self.occupancies[at].groups.len() {
                let other = set(&self.occupancies[at], next);
                if other == first {
                    next += 1;
                    continue;
                }
                self.split(at);
                let Some((moved_to, occupancies)) = self.occupancies.split_last_mut() else {
                    return;
                };
                let groups = &mut occupancies[at].groups;
                moved_to
                    .groups
                    .extend(groups.extract_if(next.., |group| group.sets[slot] == other));
                self.release(self.occupancies.len() - 1, slot, other);
            }
            self.release(at, slot, first);
        }
        self.sets.close(slot);
        if differed {
            self.join_occupancies();
            self.join_groups();
        }
    }
}

fn remove_empty_groups(occupancy: &mut SharedOccupancy, spare: &mut Vec<Group>) {
    spare.extend(occupancy.groups.extract_if(.., |group| group.configs.is_empty()));
}

/// Merges each item into the first item equal to it. `index` is scratch memory.
fn join<T>(
    items: &mut Vec<T>,
    index: &mut ByHash<usize>,
    hash: impl Fn(&T) -> u64,
    is_equal: impl Fn(&T, &T) -> bool,
    mut merge: impl FnMut(&mut T, T),
) {
    if items.len() < 2 {
        return;
    }
    index.clear();
    let mut at = 0;
    while at < items.len() {
        let first = *index.entry(hash(&items[at])).or_insert(at);
        if first == at || !is_equal(&items[first], &items[at]) {
            at += 1;
            continue;
        }
        let from = items.swap_remove(at);
        merge(&mut items[first], from);
    }
}

/// Set number of a job without processors.
const NO_SET: u32 = u32::MAX;

/// Map with keys that are already hashes.
type ByHash<T> = HashMap<u64, T, BuildHasherDefault<Unhashed>>;

/// State on which decisions depend: the set of free processors. Which jobs use the busy processors does not matter.
#[derive(Debug)]
struct SharedOccupancy {
    machine: Machine,
    /// Groups of configurations; any two groups differ in the processors of some running job.
    groups: Vec<Group>,
    /// Hash of the free processors and of the processors out of service.
    hash: u64,
}

/// Configurations that gave the same processor set to every running job.
#[derive(Debug, Default)]
struct Group {
    /// Set number of the job in each slot.
    sets: Vec<u32>,
    /// Numbers of the configurations.
    configs: Vec<u32>,
    /// Hash of all running jobs and their sets.
    hash: u64,
}

impl SharedOccupancy {
    /// Creates an occupancy from a machine. Its hash starts at 0 and can be compared only with the hashes of copies of
    /// this occupancy.
    fn new(machine: Machine) -> Self {
        Self { machine, groups: Vec::new(), hash: 0 }
    }

    /// Copies the machine of another occupancy, and removes all groups.
    fn copy_from(&mut self, other: &Self) {
        self.machine.copy_from(&other.machine);
        self.hash = other.hash;
        self.groups.clear();
    }

    /// Marks the processors of `set` as busy.
    fn occupy(&mut self, set: &ProcessorSet) {
        self.hash = self.hash.wrapping_sub(set.hash);
        self.machine.occupy(&set.nodes);
    }

    /// Marks the processors of `set` as free.
    fn release(&mut self, set: &ProcessorSet) {
        self.hash = self.hash.wrapping_add(set.hash);
        self.machine.release(&set.nodes);
    }

    /// Takes a free processor out of service.
    fn withdraw(&mut self, node: NodeId) {
        self.hash = self.hash.wrapping_add(hash_of_down(node)).wrapping_sub(hash_of(node));
        self.machine.withdraw(&[node]);
    }

    /// Returns a processor to service.
    fn restore(&mut self, node: NodeId) {
        self.hash = self.hash.wrapping_sub(hash_of_down(node)).wrapping_add(hash_of(node));
        self.machine.restore(&[node]);
    }

    /// Returns a hash of the occupancy. Different occupancies nearly always have different hashes.
    fn hash(&self) -> u64 {
        self.hash
    }
}

impl Group {
    /// Creates a group of configurations without running jobs.
    fn new(configs: Vec<u32>) -> Self {
        Self { configs, ..Self::default() }
    }

    /// Copies the jobs of another group, and removes all configurations.
    fn copy_from(&mut self, other: &Self) {
        self.sets.clone_from(&other.sets);
        self.hash = other.hash;
        self.configs.clear();
    }

    /// Assigns a set to the job in a slot.
    fn start(&mut self, slot: usize, set: u32) {
        if slot >= self.sets.len() {
            self.sets.resize(slot + 1, NO_SET);
        }
        self.sets[slot] = set;
        self.hash = self.hash.wrapping_add(hash_of_job(slot, set));
    }

    /// Ends the job in a slot.
    fn end(&mut self, slot: usize) {
        self.hash = self.hash.wrapping_sub(hash_of_job(slot, self.sets[slot]));
        self.sets[slot] = NO_SET;
    }

    /// Returns a hash of the running jobs and their sets. Different groups nearly always have different hashes.
    fn hash(&self) -> u64 {
        self.hash
    }
}

/// Set of processors that at least one configuration gave to a running job.
#[derive(Debug)]
struct ProcessorSet {
    /// Sum of the hashes of the processors.
    hash: u64,
    /// Processors in the order in which the set was first chosen.
    nodes: Vec<NodeId>,
    /// Sum of hop distances over all pairs of processors of the set.
    pairwise_l1: u64,
}

/// Processor sets of all running jobs, indexed by the slot of the job. Each set is stored once for all configurations
/// that choose this set.
#[derive(Debug)]
struct SetTable {
    by_slot: Vec<Slot>,
    /// Hashes by processor.
    hashes: Vec<u64>,
    distances: PairDistances,
    spare: Vec<Vec<NodeId>>,
    sorted: [Vec<NodeId>; 2],
}

/// Processor sets of one job.
#[derive(Debug, Default)]
struct Slot {
    sets: Vec<ProcessorSet>,
    /// Number of the first set with each hash.
    first: ByHash<u32>,
}

impl SetTable {
    /// Creates a table without running jobs.
    fn new(topology: &Topology) -> Self {
        Self {
            by_slot: Vec::new(),
            hashes: topology.nodes().map(hash_of).collect(),
            distances: PairDistances::new(topology),
            spare: Vec::new(),
            sorted: Default::default(),
        }
    }

    /// Prepares a slot for a job, which has no set yet.
    fn open(&mut self, slot: usize) {
        if slot >= self.by_slot.len() {
            self.by_slot.resize_with(slot + 1, Slot::default);
        }
    }

    /// Returns the number of a set among the sets of its job; adds the set if it is new.
    fn number(&mut self, slot: usize, nodes: &[NodeId]) -> u32 {
        let hash = nodes.iter().fold(0u64, |sum, node| sum.wrapping_add(self.hashes[node.index()]));
        let first = self.by_slot[slot].first.get(&hash).copied();
        if let Some(first) = first {
            // Different sets can have the same hash.
            for number in first..self.count(slot) as u32 {
                let has_same_hash = self.get(slot, number).hash == hash;
                if has_same_hash && self.is_equal(slot, number, nodes) {
                    return number;
                }
            }
        }
        let mut kept = self.spare.pop().unwrap_or_default();
        kept.clear();
        kept.extend_from_slice(nodes);
        let pairwise_l1 = self.distances.sum(nodes);
        let Slot { sets, first } = &mut self.by_slot[slot];
        let number = sets.len() as u32;
        sets.push(ProcessorSet { hash, nodes: kept, pairwise_l1 });
        first.entry(hash).or_insert(number);
        number
    }

    /// Returns whether a set has these processors, in any order.
    fn is_equal(&mut self, slot: usize, number: u32, nodes: &[NodeId]) -> bool {
        let kept = &self.by_slot[slot].sets[number as usize].nodes;
        if kept == nodes {
            return true;
        }
        let [first_sorted, second_sorted] = &mut self.sorted;
        for (sorted, nodes) in [(&mut *first_sorted, &kept[..]), (&mut *second_sorted, nodes)] {
            sorted.clear();
            sorted.extend_from_slice(nodes);
            sorted.sort_unstable();
        }
        first_sorted == second_sorted
    }

    /// Returns a set of the job in a slot.
    fn get(&self, slot: usize, number: u32) -> &ProcessorSet {
        &self.by_slot[slot].sets[number as usize]
    }

    /// Returns the number of sets of the job in a slot.
    fn count(&self, slot: usize) -> usize {
        self.by_slot[slot].sets.len()
    }

    /// Removes the sets of the job in a slot.
    fn close(&mut self, slot: usize) {
        let Slot { sets, first } = &mut self.by_slot[slot];
        self.spare.extend(sets.drain(..).map(|set| set.nodes));
        first.clear();
    }
}

fn hash_of(node: NodeId) -> u64 {
    mix(u64::from(node.0))
}

fn hash_of_down(node: NodeId) -> u64 {
    mix(1 << 32 | u64::from(node.0))
}

fn hash_of_job(slot: usize, set: u32) -> u64 {
    mix((slot as u64) << 32 | u64::from(set))
}

/// Spreads a number over 64 bits (the finalizer of SplitMix64; Steele, Lea, Flood 2014).
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Hasher that returns `u64` keys unchanged, for keys that are already hashes.
#[derive(Clone, Copy, Debug, Default)]
struct Unhashed(u64);

impl Hasher for Unhashed {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_equal_in_any_order() {
        let mut sets = SetTable::new(&"4x4".parse().expect("a mesh"));
        sets.open(2);
        let number = |sets: &mut SetTable, nodes: &[u32]| {
            sets.number(2, &nodes.iter().map(|&node| NodeId(node)).collect::<Vec<_>>())
        };
        assert_eq!(number(&mut sets, &[0, 1, 4]), 0);
        assert_eq!(number(&mut sets, &[0, 1, 5]), 1);
        assert_eq!(number(&mut sets, &[4, 0, 1]), 0);
        assert_eq!(
            (sets.count(2), sets.get(2, 0).pairwise_l1, sets.get(2, 1).pairwise_l1),
            (2, 4, 4)
        );
        sets.close(2);
        assert_eq!((sets.count(2), number(&mut sets, &[5, 1, 0])), (0, 0));
    }
}
