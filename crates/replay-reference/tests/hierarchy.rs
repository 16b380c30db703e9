//! Compares the rules with their reference implementations on random machines in random states.

use std::collections::{BTreeMap, BTreeSet};

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use replay_engine::allocator::Times;
use replay_engine::topology::hierarchy::{BlockEntry, SwitchEntry};
use replay_engine::topology::{Hierarchy, NodeId};
use replay_reference::hierarchy as literal;
use replay_slurm::hierarchy::kueue::{KueueOptions, Level, Mode, Profile};
use replay_slurm::hierarchy::slurm_block::BlockOptions;
use replay_slurm::hierarchy::slurm_tree::{Since, TreeOptions};
use replay_slurm::hierarchy::{Denied, FreeNodes, Rule, RuleOptions};

const MACHINES: u64 = 400;
const DECISIONS: usize = 40;

fn one_in(rng: &mut ChaCha8Rng, times: u32) -> bool {
    rng.random_range(0..times) == 0
}

/// Returns distinct names of nodes in random order.
fn names(rng: &mut ChaCha8Rng, count: usize) -> Vec<String> {
    let mut all: Vec<String> = (0..count)
        .map(|node| match node % 3 {
            0 => format!("n{node}"),
            1 => format!("n{node:03}"),
            _ => format!("r{}n{}", node % 4, node / 4),
        })
        .collect();
    all.shuffle(rng);
    all
}

/// Generates a tree level by level. Leaves have different sizes; some leaves are empty. With `uniform`, all leaves have
/// the same depth.
fn tree(rng: &mut ChaCha8Rng, uniform: bool) -> Hierarchy {
    let leaves = rng.random_range(1..12);
    let sizes: Vec<usize> =
        (0..leaves).map(|_| if one_in(rng, 8) { 0 } else { rng.random_range(1..7) }).collect();
    let total = sizes.iter().sum::<usize>().max(1);
    let mut names = names(rng, total).into_iter();
    let mut entries: Vec<SwitchEntry> = Vec::new();
    let mut open: Vec<String> = Vec::new();
    for (leaf, size) in sizes.into_iter().enumerate() {
        let name = format!("l{leaf}");
        open.push(name.clone());
        let nodes = names.by_ref().take(size).collect();
        entries.push(SwitchEntry { name, nodes, ..SwitchEntry::default() });
    }
    if let Some(first) = entries.first_mut() {
        first.nodes.extend(names);
    }
    for level in 1..rng.random_range(1..5) {
        let mut above = Vec::new();
        let mut at = 0;
        while at < open.len() {
            let end = (at + rng.random_range(1..5)).min(open.len());
            if !uniform && one_in(rng, 6) {
                // These switches get a parent at a higher level, or no parent.
                above.extend(open[at..end].iter().cloned());
            } else {
                let name = format!("x{level}-{}", above.len() * 7 % 12 + 100 * above.len());
                let switches = open[at..end].to_vec();
                above.push(name.clone());
                entries.push(SwitchEntry { name, switches, ..SwitchEntry::default() });
            }
            at = end;
        }
        open = above;
    }
    entries.shuffle(rng);
    Hierarchy::of_switches("random".into(), &entries).expect("a tree")
}

fn blocks(rng: &mut ChaCha8Rng) -> Hierarchy {
    let count = rng.random_range(1..22);
    let base = rng.random_range(1..5);
    let size = |rng: &mut ChaCha8Rng| match rng.random_range(0..6) {
        0 => rng.random_range(0..6),
        _ => base,
    };
    let sizes: Vec<usize> = (0..count).map(|_| size(rng)).collect();
    let mut names = names(rng, sizes.iter().sum::<usize>().max(1)).into_iter();
    let mut entries: Vec<BlockEntry> = sizes
        .iter()
        .enumerate()
        .map(|(block, &size)| BlockEntry {
            name: format!("b{block}"),
            nodes: names.by_ref().take(size).collect(),
            line: 0,
        })
        .collect();
    if let Some(first) = entries.first_mut() {
        first.nodes.extend(names);
    }
    let mut sizes = vec![base as u32];
    sizes.extend((1..5).filter(|_| rng.random()).map(|level| (base as u32) << level));
    let sizes = if one_in(rng, 4) { None } else { Some((0, &sizes[..])) };
    Hierarchy::of_blocks("random".into(), &entries, sizes).expect("blocks")
}

/// Returns random free nodes, which are selected individually or in groups of consecutive nodes.
fn state(rng: &mut ChaCha8Rng, machine: &Hierarchy) -> BTreeSet<u32> {
    let share = rng.random_range(1..10);
    let run = if rng.random() { 1 } else { 4 };
    let mut is_free = false;
    (0..machine.processors() as u32)
        .filter(|node| {
            if node % run == 0 {
                is_free = rng.random_range(0..10) < share;
            }
            is_free
        })
        .collect()
}

/// Returns a job size for which enough nodes are usually free.
fn size(rng: &mut ChaCha8Rng, free: usize) -> u32 {
    1 + rng.random_range(0..=free as u32)
}

fn found(
    rule: &mut Rule,
    machine: &Hierarchy,
    free: &BTreeSet<u32>,
    size: u32,
    times: Times,
) -> Result<BTreeSet<u32>, Denied> {
    let mut state = FreeNodes::of(machine, free.iter().map(|&node| NodeId(node)));
    let mut chosen = Vec::new();
    let result = rule.place(&mut state, size, times, &mut chosen);
    assert!(result.is_ok() || chosen.is_empty());
    result.map(|()| {
        assert_eq!(chosen.len(), size as usize);
        chosen.into_iter().map(|node| node.0).collect()
    })
}

/// Returns the times of a job that has waited for `waited` seconds.
fn after(waited: i64) -> Times {
    Times { now: waited, submitted: Some(0), limit: None, ..Times::default() }
}

#[test]
fn slurm_tree_agrees_with_its_literal_form() {
    for seed in 0..MACHINES {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let machine = tree(&mut rng, false);
        for _ in 0..DECISIONS {
            let options = TreeOptions {
                switches: rng.random::<bool>().then(|| rng.random_range(1..5)),
                wait: rng.random::<bool>().then_some(100),
                limit: one_in(&mut rng, 3).then_some(50),
                optional: one_in(&mut rng, 4),
                since: Since::ALL[rng.random_range(0..3usize)].1,
            };
            let mut rule = Rule::new(&machine, RuleOptions::Tree(options)).expect("a tree");
            let free = state(&mut rng, &machine);
            let (size, waited) = (size(&mut rng, free.len()), rng.random_range(0..400));
            let tree = machine.tree().expect("a tree");
            let expected = literal::slurm_tree::place(tree, &free, size as usize, options, waited);
            let found = found(&mut rule, &machine, &free, size, after(waited));
            assert_eq!(found, expected, "seed {seed}: {size} of {free:?}, {options:?}");
        }
    }
}

#[test]
fn tree_fit_agrees_with_its_literal_form() {
    for seed in 0..MACHINES {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let machine = tree(&mut rng, false);
        for _ in 0..DECISIONS {
            let mut rule = Rule::new(&machine, RuleOptions::Fit).expect("a tree");
            let free = state(&mut rng, &machine);
            // The running jobs have one node each. Some of these jobs have ended and have been replaced.
            let mut ends = BTreeMap::new();
            for node in 0..machine.processors() as u32 {
                let nodes = [NodeId(node)];
                for _ in 0..rng.random_range(0..3) {
                    let limit = rng.random_range(0..6);
                    rule.on_release(&machine, &nodes);
                    rule.on_start(
                        &machine,
                        &nodes,
                        Times { limit: Some(limit), ..Times::default() },
                    );
                    ends.insert(node, i64::from(limit));
                }
                if free.contains(&node) {
                    rule.on_release(&machine, &nodes);
                    ends.remove(&node);
                }
            }
            let size = size(&mut rng, free.len());
            let limit = (!one_in(&mut rng, 4)).then(|| rng.random_range(0..4));
            let times =
                Times { now: rng.random_range(0..4), limit, submitted: None, ..Times::default() };
            let end = limit.map(|limit| times.now + i64::from(limit));
            let tree = machine.tree().expect("a tree");
            let decision =
                literal::tree_fit::Decision { tree, free: &free, ends: &ends, now: times.now, end };
            let expected = decision.place(size as usize);
            let found = found(&mut rule, &machine, &free, size, times);
            assert_eq!(found, expected, "seed {seed}: {size} of {free:?}, {ends:?}, {times:?}");
        }
    }
}

#[test]
fn slurm_block_agrees_with_its_literal_form() {
    for seed in 0..2 * MACHINES {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let machine = blocks(&mut rng);
        for _ in 0..DECISIONS {
            let free = state(&mut rng, &machine);
            let mut size = size(&mut rng, free.len());
            let options = BlockOptions {
                segment: rng.random::<bool>().then(|| rng.random_range(1..9)),
                spread: one_in(&mut rng, 3),
                consolidate: one_in(&mut rng, 3),
                lenient: false,
            };
            if let Some(segment) = options.segment.filter(|_| !one_in(&mut rng, 8)) {
                size = size.next_multiple_of(segment);
                if size as usize > free.len() && size > segment {
                    size -= segment;
                }
            }
            let mut rule = Rule::new(&machine, RuleOptions::Block(options)).expect("blocks");
            let blocks = machine.blocks().expect("blocks");
            let expected = literal::slurm_block::place(blocks, &free, size as usize, options);
            let found = found(&mut rule, &machine, &free, size, after(0));
            assert_eq!(found, expected, "seed {seed}: {size} of {free:?}, {options:?}, {blocks:?}");
        }
    }
}

#[test]
fn kueue_agrees_with_its_literal_form() {
    for seed in 0..MACHINES {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let machine = tree(&mut rng, true);
        let tree = machine.tree().expect("a tree");
        let top = tree.roots().map(|root| tree.switches()[root as usize].level).max().unwrap_or(0);
        for _ in 0..DECISIONS {
            let level = |rng: &mut ChaCha8Rng| match rng.random_range(0..top + 3) {
                0 => None,
                1 => Some(Level::Node),
                level => Some(Level::Switch(level - 2)),
            };
            let profile = Profile::ALL[rng.random_range(0..4usize)].1;
            let slice = rng.random::<bool>().then(|| rng.random_range(1..5));
            let options = KueueOptions {
                mode: Mode::ALL[rng.random_range(0..4usize)].1,
                level: level(&mut rng),
                slice: slice.filter(|_| profile != Profile::Most),
                slice_level: level(&mut rng),
                profile,
                lenient: one_in(&mut rng, 4),
            };
            let free = state(&mut rng, &machine);
            let mut size = size(&mut rng, free.len());
            if let Some(slice) = options.slice.filter(|_| !one_in(&mut rng, 8)) {
                size = size.next_multiple_of(slice);
            }
            let mut rule = Rule::new(&machine, RuleOptions::Kueue(options)).expect("a tree");
            let path = |node: NodeId| {
                let parent = |&at: &u32| tree.switches()[at as usize].parent;
                let above = std::iter::successors(Some(machine.leaf(node)), parent);
                let mut path: Vec<String> =
                    above.map(|at| tree.switches()[at as usize].name.clone()).collect();
                path.reverse();
                path.push(machine.names()[node.index()].clone());
                path
            };
            let nodes = (0..machine.processors() as u32).map(NodeId);
            let slots = nodes.map(|node| (path(node), u64::from(free.contains(&node.0)))).collect();
            let number = |name: &String| {
                machine.names().iter().position(|other| other == name).expect("a node") as u32
            };
            let expected = match size as usize > free.len() {
                true if options.levels(size, top).is_err() => Err(Denied::BadConfig),
                true => Err(Denied::TooFewFree),
                false => literal::kueue::place(&slots, top, size, options)
                    .map(|pods| pods.keys().map(|path| number(&path[path.len() - 1])).collect()),
            };
            let found = found(&mut rule, &machine, &free, size, after(0));
            assert_eq!(found, expected, "seed {seed}: {size} of {free:?}, {options:?}, {tree:?}");
        }
    }
}
