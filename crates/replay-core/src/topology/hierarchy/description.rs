//! Builds a machine from the entries of a description.

use std::collections::HashMap;
use std::fmt;

use super::blocks::{Blocks, MAX_SIZE_EXPONENT};
use super::natural::natural_order;
use super::tree::{Switch, Tree};
use super::{Hierarchy, HierarchyKind};
use crate::number::grouped;
use crate::sanitize::excerpt;
use crate::topology::{MAX_POINTS, NodeId};

/// A switch in a description.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SwitchEntry {
    /// Line of the file, from 1.
    pub line: usize,
    /// Name of the entry.
    pub name: String,
    /// Names of the nodes of the entry.
    pub nodes: Vec<String>,
    /// Names of the switches directly below this switch.
    pub switches: Vec<String>,
}

/// A base block in a description.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BlockEntry {
    /// Line of the file, from 1.
    pub line: usize,
    /// Name of the entry.
    pub name: String,
    /// Names of the nodes of the entry.
    pub nodes: Vec<String>,
}

/// The part of a description to which an error refers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Subject {
    /// The whole description.
    Machine,
    /// The switch with this name.
    Switch(String),
    /// The block with this name.
    Block(String),
    /// The block sizes.
    Sizes,
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Machine => Ok(()),
            Subject::Switch(name) => write!(f, "switch {}: ", excerpt(name)),
            Subject::Block(name) => write!(f, "block {}: ", excerpt(name)),
            Subject::Sizes => f.write_str("block sizes: "),
        }
    }
}

/// Error: a description does not define a machine.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{subject}{problem}")]
pub struct DescriptionError {
    /// Line of the file, from 1.
    pub line: usize,
    /// The switch or block to which the error refers.
    pub subject: Subject,
    /// Description of the problem.
    pub problem: String,
}

fn error(line: usize, subject: Subject, problem: String) -> DescriptionError {
    DescriptionError { line, subject, problem }
}

/// The node names in the order of their numbers, and the number of each name.
struct Nodes<'a> {
    names: Vec<&'a str>,
    numbers: HashMap<&'a str, u32>,
}

impl<'a> Nodes<'a> {
    /// Numbers the nodes of all entries. Each entry is given as its line, its subject and the names of its nodes.
    fn number(
        entries: impl Iterator<Item = (usize, Subject, &'a [String])>,
    ) -> Result<Self, DescriptionError> {
        let mut first: HashMap<&str, (usize, Subject)> = HashMap::new();
        for (line, subject, names) in entries {
            for name in names {
                if first.len() == MAX_POINTS {
                    let most = grouped(MAX_POINTS as u64);
                    let problem = format!("more than {most} nodes in the machine");
                    return Err(error(line, subject, problem));
                }
                if let Some((other, owner)) = first.insert(name, (line, subject.clone())) {
                    let owner = owner.to_string();
                    let owner = owner.trim_end_matches(": ");
                    let problem =
                        format!("node {} is in {owner} (line {other}) already", excerpt(name));
                    return Err(error(line, subject, problem));
                }
            }
        }
        let mut names: Vec<&str> = first.into_keys().collect();
        names.sort_unstable_by(|a, b| natural_order(a, b));
        let numbers = names.iter().copied().zip(0..).collect();
        Ok(Self { names, numbers })
    }

    /// Checks that no entry has the name of a node. `names` are the names of the entries.
    fn reject_names_of<'n>(
        &self,
        entries: impl Iterator<Item = (usize, Subject, &'a [String])> + Clone,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<(), DescriptionError> {
        for ((line, subject, _), name) in entries.clone().zip(names) {
            if self.numbers.contains_key(name) {
                let mut owners =
                    entries.clone().filter(|(_, _, nodes)| nodes.iter().any(|node| node == name));
                let of = owners.next().map_or(String::new(), |(line, owner, _)| {
                    format!(" of {} (line {line})", owner.to_string().trim_end_matches(": "))
                });
                let problem = format!("a node{of} has the same name; all names must be distinct");
                return Err(error(line, subject, problem));
            }
        }
        Ok(())
    }

    fn of(&self, names: &[String]) -> Vec<NodeId> {
        let mut all: Vec<NodeId> = names
            .iter()
            .filter_map(|name| self.numbers.get(&name[..]))
            .map(|&n| NodeId(n))
            .collect();
        all.sort_unstable();
        all
    }

    fn into_names(self) -> Vec<String> {
        self.names.into_iter().map(str::to_string).collect()
    }
}

/// An entry, given as its line, its name and the names of its nodes.
type Named<'a> = (usize, &'a str, &'a [String]);

/// Returns the position of each entry by name, and the nodes of all entries. `what` is an entry in error messages.
fn numbered<'a>(
    entries: impl Iterator<Item = Named<'a>> + Clone,
    what: &str,
    subject: impl Fn(&str) -> Subject + Copy,
) -> Result<(HashMap<&'a str, u32>, Nodes<'a>), DescriptionError> {
    let Some((first, ..)) = entries.clone().next() else {
        return Err(error(1, Subject::Machine, format!("there is no {what}")));
    };
    let names = entries.clone().map(|(line, name, _)| (line, name));
    let numbers = by_name(names, subject)?;
    let owned = entries.clone().map(move |(line, name, nodes)| (line, subject(name), nodes));
    let nodes = Nodes::number(owned.clone())?;
    if nodes.names.is_empty() {
        return Err(error(first, Subject::Machine, "there is no node".to_string()));
    }
    nodes.reject_names_of(owned, entries.map(|(_, name, _)| name))?;
    Ok((numbers, nodes))
}

/// Returns the position of each entry in the description, by the entry's name.
fn by_name<'a>(
    entries: impl Iterator<Item = (usize, &'a str)>,
    subject: impl Fn(&str) -> Subject,
) -> Result<HashMap<&'a str, u32>, DescriptionError> {
    let mut found: HashMap<&str, (u32, usize)> = HashMap::new();
    for (number, (line, name)) in (0..).zip(entries) {
        if name.is_empty() {
            return Err(error(line, subject(name), "the name is missing".to_string()));
        }
        if let Some((_, other)) = found.insert(name, (number, line)) {
            let problem = format!("line {other} has the same name");
            return Err(error(line, subject(name), problem));
        }
    }
    Ok(found.into_iter().map(|(name, (number, _))| (name, number)).collect())
}

impl Hierarchy {
    /// Returns the tree of these switches, which are listed in the order of the switch table. `label` is the name of
    /// the tree in listings.
    ///
    /// # Errors
    /// [`DescriptionError`] if there is no switch or no node, if there are too many nodes, if a name is used twice (also
    /// for a switch and a node), if a child is unknown, if a switch or node has two parents, if a switch has both nodes
    /// and switches below it, or if there is a cycle.
    pub fn of_switches(label: String, entries: &[SwitchEntry]) -> Result<Self, DescriptionError> {
        let subject = |name: &str| Subject::Switch(name.to_string());
        let named = entries.iter().map(|one| (one.line, &one.name[..], &one.nodes[..]));
        let (numbers, nodes) = numbered(named, "switch", subject)?;
        let mut switches: Vec<Switch> = entries
            .iter()
            .map(|entry| Switch {
                name: entry.name.clone(),
                parent: None,
                children: Vec::new(),
                nodes: nodes.of(&entry.nodes),
                level: 0,
            })
            .collect();
        for (number, entry) in (0..).zip(entries) {
            let at = |problem| error(entry.line, subject(&entry.name), problem);
            if !entry.nodes.is_empty() && !entry.switches.is_empty() {
                return Err(at(
                    "both nodes and switches are given; a switch has either nodes or switches"
                        .to_string(),
                ));
            }
            for name in &entry.switches {
                let Some(&child) = numbers.get(&name[..]) else {
                    return Err(at(format!("there is no switch {}", excerpt(name))));
                };
                if child == number {
                    return Err(at("the switch is below itself".to_string()));
                }
                if let Some(other) = switches[child as usize].parent {
                    let other = &entries[other as usize];
                    let (name, parent) = (excerpt(name), excerpt(&other.name));
                    let line = other.line;
                    let problem = format!(
                        "switch {name} is already below switch {parent} (line {line}); a switch has only one parent"
                    );
                    return Err(at(problem));
                }
                switches[child as usize].parent = Some(number);
            }
        }
        for child in 0..switches.len() {
            if let Some(parent) = switches[child].parent {
                switches[parent as usize].children.push(child as u32);
            }
        }
        let unreached = set_levels(&mut switches);
        if let Some(number) = unreached {
            let entry = &entries[number];
            let problem =
                "the switches form a cycle: this switch is indirectly below itself".to_string();
            return Err(error(entry.line, subject(&entry.name), problem));
        }
        let lines = entries.iter().map(|entry| entry.line).collect();
        Ok(Self::new(label, nodes.into_names(), HierarchyKind::Tree(Tree { switches }), lines))
    }

    /// Returns the machine of these base blocks, which are given in file order. `sizes` contains the line number of the
    /// block sizes, and the sizes in nodes, beginning with the base size. If `sizes` is `None`, the base size is the
    /// number of nodes of the first block with nodes, and the levels are 0 to 4.
    ///
    /// # Errors
    /// [`DescriptionError`] if there is no block or no node, if a block has the name of another block or of a node, if
    /// a node is in two blocks, or if a size is not the base size times a power of two up to 2^15.
    pub fn of_blocks(
        label: String,
        entries: &[BlockEntry],
        sizes: Option<(usize, &[u32])>,
    ) -> Result<Self, DescriptionError> {
        let subject = |name: &str| Subject::Block(name.to_string());
        let named = entries.iter().map(|one| (one.line, &one.name[..], &one.nodes[..]));
        let (_, nodes) = numbered(named, "block", subject)?;
        let (base_size, levels) = match sizes {
            Some((line, sizes)) => {
                levels(sizes).map_err(|problem| error(line, Subject::Sizes, problem))?
            }
            None => {
                let mut sizes = entries.iter().map(|entry| entry.nodes.len() as u32);
                (sizes.find(|&size| size > 0).unwrap_or(1), (0..=4).collect())
            }
        };
        let blocks = Blocks {
            names: entries.iter().map(|entry| entry.name.clone()).collect(),
            nodes: entries.iter().map(|entry| nodes.of(&entry.nodes)).collect(),
            base_size,
            levels,
        };
        let lines = entries.iter().map(|entry| entry.line).collect();
        Ok(Self::new(label, nodes.into_names(), HierarchyKind::Blocks(blocks), lines))
    }
}

/// Sets the level of each switch from the levels of its children. Returns a switch on a cycle; `None` if there is no
/// cycle.
fn set_levels(switches: &mut [Switch]) -> Option<usize> {
    let mut open: Vec<usize> = switches.iter().map(|switch| switch.children.len()).collect();
    let mut ready: Vec<usize> = (0..switches.len()).filter(|&number| open[number] == 0).collect();
    while let Some(number) = ready.pop() {
        let level = switches[number].level + 1;
        if let Some(parent) = switches[number].parent.map(|parent| parent as usize) {
            switches[parent].level = switches[parent].level.max(level);
            open[parent] -= 1;
            if open[parent] == 0 {
                ready.push(parent);
            }
        }
    }
    open.iter().position(|&open| open > 0)
}

/// Returns the base size and the levels of the sizes.
fn levels(sizes: &[u32]) -> Result<(u32, Vec<u32>), String> {
    let base = sizes.first().copied().filter(|&base| base > 0);
    let base = base.ok_or("the base size (the first size) must be at least 1")?;
    let level = |&size: &u32| {
        let factor = Some(size / base).filter(|factor| factor.is_power_of_two());
        let level = factor.filter(|_| size.is_multiple_of(base)).map(u32::ilog2);
        level.filter(|&level| level <= MAX_SIZE_EXPONENT).ok_or_else(|| {
            format!("{size} is not {base} times a power of two from 1 to 2^{MAX_SIZE_EXPONENT}")
        })
    };
    let mut levels = sizes.iter().map(level).collect::<Result<Vec<u32>, String>>()?;
    levels.sort_unstable();
    levels.dedup();
    Ok((base, levels))
}
