//! Parents of switches in a description where a switch may be below several switches.
//!
//! A machine is a tree, so each switch keeps one parent:
//!
//! 1. Switches directly above the same switches have the same nodes at the same distances. One switch, the last of them
//!    in the table, stands for all of them. Lower switches are merged first, so that switches above merged switches can
//!    be merged too.
//! 2. A switch that is then still below several switches is kept below the last of them in the table. In Slurm, the
//!    last switch that lists a switch is its parent (`switch_record.c`).
//! 3. A switch below which no switch remains is removed.

use std::collections::{BTreeMap, HashMap};

use super::entries::{Simplification, SwitchEntry};

/// The parent of each switch. Switches are numbers in the table of the description.
pub(super) struct Parents {
    /// The switch that stands for each switch; usually the switch itself.
    merged: Vec<u32>,
    parents: Vec<Option<u32>>,
    /// Switches that have lost all switches below them.
    removed: Vec<bool>,
    /// Switch, earlier parent, and last parent, for each parent that a switch has lost; in table order of the earlier
    /// parents.
    lost: Vec<[u32; 3]>,
}

impl Parents {
    /// Returns the parents. `below` contains the switches directly below each switch.
    ///
    /// # Errors
    /// A switch that is indirectly below itself.
    pub fn of(mut below: Vec<Vec<u32>>) -> Result<Self, u32> {
        let order = bottom_up(&below)?;
        let mut merged: Vec<u32> = (0..below.len() as u32).collect();
        for level in order.chunk_by(|a, b| a.0 == b.0).skip(1) {
            // Switches above the same switches have the same level.
            let mut last: HashMap<&[u32], u32> = HashMap::new();
            for &(_, switch) in level {
                let children = &mut below[switch as usize];
                children.iter_mut().for_each(|child| *child = merged[*child as usize]);
                children.sort_unstable();
                children.dedup();
            }
            for &(_, switch) in level {
                last.insert(&below[switch as usize], switch);
            }
            for &(_, switch) in level {
                merged[switch as usize] = last[&below[switch as usize][..]];
            }
        }
        let (mut parents, mut lost) = (vec![None; below.len()], Vec::new());
        let above = (0..).zip(&below).filter(|&(switch, _)| merged[switch as usize] == switch);
        for (switch, children) in above {
            for &child in children {
                if let Some(earlier) = parents[child as usize].replace(switch) {
                    lost.push([child, earlier, switch]);
                }
            }
        }
        for [child, _, last] in &mut lost {
            *last = parents[*child as usize].unwrap_or(*last);
        }
        lost.sort_unstable_by_key(|&[child, earlier, _]| (earlier, child));
        let mut removed = vec![false; below.len()];
        for &(_, switch) in &order {
            let stays =
                |&child: &u32| parents[child as usize] == Some(switch) && !removed[child as usize];
            let children = &below[switch as usize];
            removed[switch as usize] = !children.is_empty() && !children.iter().any(stays);
        }
        Ok(Self { merged, parents, removed, lost })
    }

    /// Returns the switches that are part of the tree, in table order.
    pub fn kept(&self) -> Vec<u32> {
        let all = 0..self.merged.len() as u32;
        all.filter(|&switch| {
            self.merged[switch as usize] == switch && !self.removed[switch as usize]
        })
        .collect()
    }

    /// Returns the parent of a switch.
    pub fn parent(&self, switch: u32) -> Option<u32> {
        self.parents[switch as usize]
    }

    /// Returns how the tree differs from the description.
    pub fn simplifications(&self, entries: &[SwitchEntry]) -> Vec<Simplification> {
        let name = |switch: u32| entries[switch as usize].name.clone();
        let mut others: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for (switch, &merged) in (0..).zip(&self.merged).filter(|&(switch, &into)| into != switch) {
            others.entry(merged).or_default().push(name(switch));
        }
        let same = others
            .into_iter()
            .map(|(switch, others)| Simplification::SameSwitches { switch: name(switch), others });
        let later =
            self.lost.chunk_by(|a, b| a[1] == b[1]).map(|lost| Simplification::LaterParent {
                switch: name(lost[0][1]),
                children: lost.iter().map(|&[child, _, last]| [name(child), name(last)]).collect(),
                is_removed: self.removed[lost[0][1] as usize],
            });
        same.chain(later).collect()
    }
}

/// Returns all switches with their levels, from the leaves upwards and in table order within a level.
///
/// # Errors
/// A switch that is indirectly below itself.
fn bottom_up(below: &[Vec<u32>]) -> Result<Vec<(u32, u32)>, u32> {
    let mut above: Vec<Vec<u32>> = vec![Vec::new(); below.len()];
    for (switch, children) in (0..).zip(below) {
        children.iter().for_each(|&child| above[child as usize].push(switch));
    }
    let mut open: Vec<usize> = below.iter().map(Vec::len).collect();
    let mut levels = vec![0; below.len()];
    let mut ready: Vec<u32> =
        (0..below.len() as u32).filter(|&switch| open[switch as usize] == 0).collect();
    while let Some(switch) = ready.pop() {
        let least = levels[switch as usize] + 1;
        for &parent in &above[switch as usize] {
            levels[parent as usize] = least.max(levels[parent as usize]);
            open[parent as usize] -= 1;
            if open[parent as usize] == 0 {
                ready.push(parent);
            }
        }
    }
    if let Some(switch) = open.iter().position(|&open| open > 0) {
        return Err(switch as u32);
    }
    let mut order: Vec<(u32, u32)> = levels.into_iter().zip(0..).collect();
    order.sort_unstable();
    Ok(order)
}
