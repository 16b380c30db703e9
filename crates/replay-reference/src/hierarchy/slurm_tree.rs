//! Reference implementation of `slurm-tree`, which scans the switch table for each leaf.

use std::collections::BTreeSet;

use replay_engine::topology::hierarchy::Tree;
use replay_slurm::hierarchy::Denied;
use replay_slurm::hierarchy::slurm_tree::{Since, TreeOptions};

fn ancestors(tree: &Tree, switch: usize) -> Vec<usize> {
    let parent = |&at: &usize| tree.switches()[at].parent.map(|parent| parent as usize);
    std::iter::successors(Some(switch), parent).collect()
}

/// Returns the number of edges between two switches.
fn distance(tree: &Tree, a: usize, b: usize) -> Option<usize> {
    let (of_a, of_b) = (ancestors(tree, a), ancestors(tree, b));
    let up = of_a.iter().position(|one| of_b.contains(one))?;
    let down = of_b.iter().position(|one| *one == of_a[up])?;
    Some(up + down)
}

/// Returns 1 if `i` is better than `j`, 0 if they are equal, and -1 if `i` is worse. The second
/// result is whether `i` fits.
fn compare(tree: &Tree, count: &[usize], mut i: usize, mut j: usize, rest: usize) -> (i32, bool) {
    let switches = tree.switches();
    loop {
        let [fits_i, fits_j] = [count[i] >= rest, count[j] >= rest];
        if fits_i && fits_j && count[i] != count[j] {
            return (if count[i] < count[j] { 1 } else { -1 }, true);
        }
        if fits_i != fits_j {
            return (if fits_i { 1 } else { -1 }, fits_i);
        }
        let [above_i, above_j] = [i, j].map(|one| switches[one].parent);
        if !fits_i && above_i != above_j {
            let (Some(p), Some(q)) = (above_i, above_j) else { panic!("beyond the top") };
            (i, j) = (p as usize, q as usize);
            continue;
        }
        let order = count[i].cmp(&count[j]).then(switches[j].level.cmp(&switches[i].level));
        return (order as i32, fits_i);
    }
}

/// Returns the nodes of a job that uses no topology. Slurm scans the sets of consecutive nodes for each set that it takes.
fn consecutive(free: &BTreeSet<u32>, size: usize) -> BTreeSet<u32> {
    let (mut nodes, mut unused) = (BTreeSet::new(), free.clone());
    while nodes.len() < size {
        let rest = size - nodes.len();
        let mut sets: Vec<Vec<u32>> = Vec::new();
        for &node in free {
            let follows = |set: &Vec<u32>| set.last().is_some_and(|&last| last + 1 == node);
            match sets.last_mut().filter(|set| follows(set)) {
                Some(set) => set.push(node),
                None => sets.push(vec![node]),
            }
        }
        // A set is used only once; its nodes are used from the first one on.
        let mut best: Option<&Vec<u32>> = None;
        for set in sets.iter().filter(|set| unused.contains(&set[0])) {
            let is_better = match best {
                None => true,
                Some(best) if set.len() >= rest => best.len() < rest || set.len() < best.len(),
                Some(best) => set.len() > best.len(),
            };
            best = if is_better { Some(set) } else { best };
        }
        let best = best.expect("enough free nodes");
        nodes.extend(best.iter().take(rest));
        best.iter().for_each(|node| _ = unused.remove(node));
    }
    nodes
}

/// Returns the nodes of a job.
pub fn place(
    tree: &Tree,
    free: &BTreeSet<u32>,
    size: usize,
    options: TreeOptions,
    waited: i64,
) -> Result<BTreeSet<u32>, Denied> {
    let switches = tree.switches();
    if size > free.len() {
        return Err(Denied::TooFewFree);
    }
    if size == 1 && options.since == Since::Slurm2605 {
        return Ok(free.iter().take(1).copied().collect());
    }
    if options.optional && options.switches.is_none() {
        return Ok(consecutive(free, size));
    }
    let leaf_count =
        |leaf: usize| switches[leaf].nodes.iter().filter(|node| free.contains(&node.0)).count();
    let mut all = vec![0; switches.len()];
    for leaf in 0..switches.len() {
        ancestors(tree, leaf).into_iter().for_each(|above| all[above] += leaf_count(leaf));
    }
    let mut top = None;
    for switch in 0..switches.len() {
        let level = switches[switch].level;
        if all[switch] >= size && top.is_none_or(|top: usize| level >= switches[top].level) {
            top = Some(switch);
        }
    }
    let Some(top) = top else { return Err(Denied::NoPlace) };
    let mut count = vec![0; switches.len()];
    for leaf in (0..switches.len()).filter(|&leaf| ancestors(tree, leaf).contains(&top)) {
        ancestors(tree, leaf).into_iter().for_each(|above| count[above] += leaf_count(leaf));
    }
    let mut total = vec![0; switches.len()];
    let (mut nodes, mut leaves) = (BTreeSet::new(), 0);
    while nodes.len() < size {
        let rest = size - nodes.len();
        let mut best: Option<usize> = None;
        for i in 0..switches.len() {
            if switches[i].level > 0 || count[i] == 0 || !ancestors(tree, i).contains(&top) {
                continue;
            }
            let Some(j) = best else {
                best = Some(i);
                continue;
            };
            let (order, fits) = compare(tree, &count, i, j, rest);
            let closer = match options.since {
                Since::Slurm2205 => order >= 0,
                _ => fits,
            };
            if total[i] < total[j] && closer || total[i] == total[j] && order > 0 {
                best = Some(i);
            }
        }
        let best = best.expect("the top has enough");
        let here =
            switches[best].nodes.iter().map(|node| node.0).filter(|node| free.contains(node));
        nodes.extend(here.take(rest));
        leaves += 1;
        for (switch, total) in total.iter_mut().enumerate() {
            *total += distance(tree, best, switch).unwrap_or(0);
        }
        let former = count[best];
        let marked = ancestors(tree, best).into_iter();
        let marked = marked.take(if options.since == Since::Slurm2205 { 1 } else { usize::MAX });
        marked.for_each(|above| count[above] -= former);
    }
    match options.switches {
        Some(most) if size > 1 && leaves > most && waited < options.patience().into() => {
            Err(Denied::Switches)
        }
        _ => Ok(nodes),
    }
}
