//! Values that `scontrol show topology` prints and a `topology.conf` does not have.
//!
//! ```text
//! SwitchName=leaf01 Level=0 LinkSpeed=1 Nodes=n[0-1]
//! SwitchName=root Level=1 LinkSpeed=1 Nodes=n[0-3] Switches=leaf[01-02]
//!
//! BlockName=b0 BlockIndex=0 Nodes=n[0-3] BlockSize=4
//! AggregatedBlock=b[0-1] BlockIndex=2 Nodes=n[0-7] BlockSize=8
//! ```
//!
//! Only the base size and the sizes of aggregated blocks are new. All other values repeat what the remaining entries
//! define, so a contradiction means that the output is incomplete or was edited.

use std::collections::{HashMap, HashSet};

use crate::topology_file::Entries;
use replay_engine::sanitize::excerpt;

/// The printed values of all entries.
#[derive(Default)]
pub struct Printed {
    /// The switches with a level.
    pub switches: Vec<PrintedSwitch>,
    /// A value for each base block, in the order of the base blocks.
    pub blocks: Vec<PrintedBlock>,
    /// The blocks of larger sizes.
    pub aggregated: Vec<AggregatedBlock>,
}

/// The printed values of a switch.
pub struct PrintedSwitch {
    /// Index of the switch in the entries.
    pub entry: usize,
    /// `Level`; leaves have level 0.
    pub level: u32,
    /// `Nodes` of a switch above level 0; empty for a leaf.
    pub nodes: Vec<String>,
}

/// The printed values of a base block.
pub struct PrintedBlock {
    /// `BlockIndex`: position of the block, from 0.
    pub index: Option<u32>,
    /// `BlockSize`: the base size.
    pub size: Option<u32>,
}

/// A block that consists of several base blocks.
pub struct AggregatedBlock {
    /// Line of the file, from 1.
    pub line: usize,
    /// The list of base blocks as text.
    pub name: String,
    /// Names of the base blocks.
    pub blocks: Vec<String>,
    /// Names of the nodes; empty if the entry lists no nodes.
    pub nodes: Vec<String>,
    /// Size of the block in nodes.
    pub size: u32,
}

/// Line of a problem, and its description.
type Problem = (usize, String);

impl Printed {
    /// Checks the values against the entries. Sorts the base blocks by their index, and sets the block sizes.
    ///
    /// # Errors
    /// The line and a description of the first contradiction.
    pub fn apply(self, entries: &mut Entries) -> Result<(), Problem> {
        self.check_switches(entries)?;
        self.apply_blocks(entries)
    }

    fn check_switches(&self, entries: &Entries) -> Result<(), Problem> {
        let mut printed: HashMap<&str, (&PrintedSwitch, &[String])> = HashMap::new();
        for switch in &self.switches {
            let entry = &entries.switches[switch.entry];
            let nodes = if switch.level == 0 { &entry.nodes } else { &switch.nodes };
            printed.insert(&entry.name, (switch, nodes));
        }
        for switch in &self.switches {
            let (entry, level) = (&entries.switches[switch.entry], switch.level);
            let at =
                |problem| Err((entry.line, format!("switch {}: {problem}", excerpt(&entry.name))));
            if (level == 0) != entry.switches.is_empty() {
                let switches =
                    if level == 0 { "there are Switches" } else { "Switches is missing" };
                return at(format!(
                    "Level={level}, but {switches}; the line may be cut (unset SLURM_TOPO_LEN and run scontrol again)"
                ));
            }
            let below: Option<Vec<_>> =
                entry.switches.iter().map(|name| printed.get(&name[..])).collect();
            // The machine reports unknown switches; switches without a level have no nodes to compare.
            let Some(below) = below.filter(|below| !below.is_empty()) else { continue };
            let highest = below.iter().map(|(switch, _)| switch.level).max().unwrap_or(0);
            if highest.checked_add(1) != Some(level) {
                return at(format!(
                    "Level={level}, but the highest switch below it has Level={highest}"
                ));
            }
            if !switch.nodes.is_empty() {
                let nodes = below.iter().flat_map(|(_, nodes)| *nodes);
                if let Some(problem) = differing(&switch.nodes, nodes, "the switches below it") {
                    return at(problem);
                }
            }
        }
        Ok(())
    }

    fn apply_blocks(self, entries: &mut Entries) -> Result<(), Problem> {
        let of = |block: usize, problem: &str| {
            let block = &entries.blocks[block];
            Err((block.line, format!("block {}: {problem}", excerpt(&block.name))))
        };
        let base = self.blocks.iter().find_map(|block| block.size);
        if let Some(base) = base
            && let Some(at) = self.blocks.iter().position(|block| block.size != Some(base))
        {
            return of(
                at,
                &format!("BlockSize is not {base}, the BlockSize of another base block"),
            );
        }
        let mut order: Vec<(u32, usize)> = Vec::new();
        if self.blocks.iter().any(|block| block.index.is_some()) {
            for (at, block) in self.blocks.iter().enumerate() {
                match block.index {
                    Some(index) => order.push((index, at)),
                    None => return of(at, "BlockIndex is missing, but other blocks have it"),
                }
            }
            order.sort_unstable();
            for (expected, &(index, at)) in (0..).zip(&order) {
                if index != expected {
                    let problem = format!("BlockIndex={index}, but the next index is {expected}");
                    return of(at, &problem);
                }
            }
            entries.blocks = order.iter().map(|&(_, at)| entries.blocks[at].clone()).collect();
        }
        let Some(base) = base else {
            return match self.aggregated.first() {
                Some(block) => Err((
                    block.line,
                    "AggregatedBlock needs base blocks with BlockSize".to_string(),
                )),
                None => Ok(()),
            };
        };
        if let Some((line, _)) = entries.sizes {
            return Err((line, "BlockSizes cannot be combined with BlockSize".to_string()));
        }
        let mut sizes = vec![base];
        for block in &self.aggregated {
            block.check(entries, base).map_err(|problem| {
                let name = excerpt(&block.name);
                (block.line, format!("aggregated block {name}: {problem}"))
            })?;
            sizes.push(block.size);
        }
        let line = self.aggregated.first().map_or(entries.blocks[0].line, |block| block.line);
        entries.sizes = Some((line, sizes));
        Ok(())
    }
}

impl AggregatedBlock {
    /// Checks that the block consists of the base blocks at a multiple of their number, and that it has their nodes.
    fn check(&self, entries: &Entries, base: u32) -> Result<(), String> {
        let factor = self.size.checked_div(base).filter(|factor| factor * base == self.size);
        let Some(factor) = factor.filter(|&factor| factor > 1) else {
            return Err(format!(
                "BlockSize={} is not a multiple of the base size {base}",
                self.size
            ));
        };
        let first = self.blocks.first().map_or("", |name| &name[..]);
        let Some(first) = entries.blocks.iter().position(|block| block.name == first) else {
            return Err(format!("there is no block {}", excerpt(first)));
        };
        let end = first.saturating_add(factor as usize).min(entries.blocks.len());
        let blocks = &entries.blocks[first..end];
        let names = blocks.iter().map(|block| &block.name);
        if !first.is_multiple_of(factor as usize) || !names.eq(&self.blocks) {
            return Err(format!(
                "a block of {} nodes consists of {factor} consecutive base blocks, the first of which has an index that is \
                 a multiple of {factor}",
                self.size
            ));
        }
        let nodes = blocks.iter().flat_map(|block| &block.nodes);
        let listed = Some(&self.nodes).filter(|nodes| !nodes.is_empty());
        listed.and_then(|listed| differing(listed, nodes, "its base blocks")).map_or(Ok(()), Err)
    }
}

/// Returns how a list of nodes differs from the nodes of the parts; `None` if both contain the same nodes.
fn differing<'a>(
    listed: &[String],
    of_parts: impl Iterator<Item = &'a String> + Clone,
    parts: &str,
) -> Option<String> {
    let all: HashSet<&String> = listed.iter().collect();
    if let Some(node) = of_parts.clone().find(|node| !all.contains(node)) {
        return Some(format!("Nodes does not contain {}, a node of {parts}", excerpt(node)));
    }
    let of_parts: HashSet<&String> = of_parts.collect();
    let other = listed.iter().find(|node| !of_parts.contains(node))?;
    Some(format!("Nodes contains {}, which is not a node of {parts}", excerpt(other)))
}
