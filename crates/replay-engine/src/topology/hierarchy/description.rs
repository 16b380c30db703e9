//! Builds a machine from the entries of a description.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::blocks::{Blocks, MAX_SIZE_EXPONENT};
use super::entries::{BlockEntry, DescriptionError, Simplification, Subject, SwitchEntry};
use super::natural::natural_order;
use super::parents::Parents;
use super::tree::{Switch, Tree};
use super::{Hierarchy, HierarchyKind};
use crate::number::grouped;
use crate::sanitize::excerpt;
use crate::topology::{MAX_POINTS, NodeId};

fn error(line: usize, subject: Subject, problem: String) -> DescriptionError {
    DescriptionError { line, subject, problem }
}

/// The nodes of a description.
struct Nodes<'a> {
    /// Names in the order of the numbers of the nodes.
    names: Vec<&'a str>,
    /// For each entry, its nodes in ascending order.
    of_entries: Vec<Vec<NodeId>>,
    /// For each repetition, the name of the node, and the positions of the entry that keeps it and of the other entry.
    repeated: Vec<(&'a str, usize, usize)>,
}

impl<'a> Nodes<'a> {
    /// Numbers the nodes of all entries.
    fn number(
        entries: &[Named<'a>],
        subject: impl Fn(&str) -> Subject,
    ) -> Result<Self, DescriptionError> {
        let (mut owners, mut repeated) = (HashMap::<&str, usize>::new(), Vec::new());
        for (at, &(line, entry, nodes)) in entries.iter().enumerate() {
            for name in nodes {
                match owners.entry(name) {
                    Entry::Occupied(owner) => repeated.push((&name[..], *owner.get(), at)),
                    Entry::Vacant(free) => _ = free.insert(at),
                }
                if owners.len() > MAX_POINTS {
                    let most = grouped(MAX_POINTS as u64);
                    let problem = format!("more than {most} nodes in the machine");
                    return Err(error(line, subject(entry), problem));
                }
            }
        }
        for &(line, entry, _) in entries {
            if let Some(&owner) = owners.get(entry) {
                let (other, owner, _) = entries[owner];
                let owner = subject(owner).to_string();
                let problem = format!(
                    "a node of {} (line {other}) has the same name; all names must be distinct",
                    owner.trim_end_matches(": ")
                );
                return Err(error(line, subject(entry), problem));
            }
        }
        let mut owned: Vec<(&str, usize)> = owners.into_iter().collect();
        owned.sort_unstable_by(|(a, _), (b, _)| natural_order(a, b));
        let mut of_entries = vec![Vec::new(); entries.len()];
        for (number, &(_, owner)) in (0..).zip(&owned) {
            of_entries[owner].push(NodeId(number));
        }
        let names = owned.into_iter().map(|(name, _)| name).collect();
        Ok(Self { names, of_entries, repeated })
    }

    /// Returns the nodes that are listed several times; `None` if there are none.
    fn simplification(&self, entries: &[Named<'a>]) -> Option<Simplification> {
        let name = |at: usize| entries[at].1.to_string();
        let nodes = self.repeated.iter();
        let nodes: Vec<_> =
            nodes.map(|&(node, a, b)| [node.to_string(), name(a), name(b)]).collect();
        (!nodes.is_empty()).then_some(Simplification::RepeatedNodes { nodes })
    }

    fn into_names(self) -> Vec<String> {
        self.names.into_iter().map(str::to_string).collect()
    }
}

/// An entry, given as its line, its name and the names of its nodes.
type Named<'a> = (usize, &'a str, &'a [String]);

/// Returns the position of each entry by name, and the nodes of all entries. `what` is an entry in error messages.
fn numbered<'a>(
    entries: &[Named<'a>],
    what: &str,
    subject: impl Fn(&str) -> Subject + Copy,
) -> Result<(HashMap<&'a str, u32>, Nodes<'a>), DescriptionError> {
    let Some(&(first, ..)) = entries.first() else {
        return Err(error(1, Subject::Machine, format!("there is no {what}")));
    };
    let names = entries.iter().map(|&(line, name, _)| (line, name));
    let numbers = by_name(names, subject)?;
    let nodes = Nodes::number(entries, subject)?;
    if nodes.names.is_empty() {
        return Err(error(first, Subject::Machine, "there is no node".to_string()));
    }
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
    /// A node that is listed several times is kept in the first leaf that lists it. If a switch is below several
    /// switches, the tree is [simplified](Self::simplifications).
    ///
    /// # Errors
    /// [`DescriptionError`] if there is no switch or no node, if there are too many nodes, if a name is used twice (also
    /// for a switch and a node), if a child is unknown, if a switch has both nodes and switches below it, or if there is
    /// a cycle.
    pub fn of_switches(label: String, entries: &[SwitchEntry]) -> Result<Self, DescriptionError> {
        let subject = |name: &str| Subject::Switch(name.to_string());
        let named: Vec<Named<'_>> =
            entries.iter().map(|one| (one.line, &one.name[..], &one.nodes[..])).collect();
        let (numbers, mut nodes) = numbered(&named, "switch", subject)?;
        let mut below = Vec::new();
        for (number, entry) in (0..).zip(entries) {
            let at = |problem| error(entry.line, subject(&entry.name), problem);
            if !entry.nodes.is_empty() && !entry.switches.is_empty() {
                return Err(at(
                    "both nodes and switches are given; a switch has either nodes or switches"
                        .to_string(),
                ));
            }
            let mut children = Vec::new();
            for name in &entry.switches {
                let Some(&child) = numbers.get(&name[..]) else {
                    return Err(at(format!("there is no switch {}", excerpt(name))));
                };
                if child == number {
                    return Err(at("the switch is below itself".to_string()));
                }
                children.push(child);
            }
            below.push(children);
        }
        let parents = Parents::of(below).map_err(|number| {
            let entry = &entries[number as usize];
            let problem = "the switches form a cycle: this switch is indirectly below itself";
            error(entry.line, subject(&entry.name), problem.to_string())
        })?;
        let mut simplifications = parents.simplifications(entries);
        simplifications.extend(nodes.simplification(&named));
        let kept = parents.kept();
        let mut numbers = vec![0; entries.len()];
        for (number, &entry) in (0..).zip(&kept) {
            numbers[entry as usize] = number;
        }
        let mut switches: Vec<Switch> = kept
            .iter()
            .map(|&entry| Switch {
                name: entries[entry as usize].name.clone(),
                parent: parents.parent(entry).map(|parent| numbers[parent as usize]),
                children: Vec::new(),
                nodes: std::mem::take(&mut nodes.of_entries[entry as usize]),
                level: 0,
            })
            .collect();
        for child in 0..switches.len() {
            if let Some(parent) = switches[child].parent {
                switches[parent as usize].children.push(child as u32);
            }
        }
        set_levels(&mut switches);
        let lines = kept.iter().map(|&entry| entries[entry as usize].line).collect();
        let kind = HierarchyKind::Tree(Tree { switches });
        Ok(Self::new(label, nodes.into_names(), kind, lines, simplifications))
    }

    /// Returns the machine of these base blocks, which are given in file order. `sizes` contains the line number of the
    /// block sizes, and the sizes in nodes, beginning with the base size. If `sizes` is `None`, the base size is the
    /// number of nodes of the first block with nodes, and the levels are 0 to 4.
    ///
    /// A node that is listed several times is kept in the first block that lists it.
    ///
    /// # Errors
    /// [`DescriptionError`] if there is no block or no node, if a block has the name of another block or of a node, or
    /// if a size is not the base size times a power of two up to 2^15.
    pub fn of_blocks(
        label: String,
        entries: &[BlockEntry],
        sizes: Option<(usize, &[u32])>,
    ) -> Result<Self, DescriptionError> {
        let subject = |name: &str| Subject::Block(name.to_string());
        let named: Vec<Named<'_>> =
            entries.iter().map(|one| (one.line, &one.name[..], &one.nodes[..])).collect();
        let (_, mut nodes) = numbered(&named, "block", subject)?;
        let (base_size, levels) = match sizes {
            Some((line, sizes)) => {
                levels(sizes).map_err(|problem| error(line, Subject::Sizes, problem))?
            }
            None => {
                let mut sizes = nodes.of_entries.iter().map(|nodes| nodes.len() as u32);
                (sizes.find(|&size| size > 0).unwrap_or(1), (0..=4).collect())
            }
        };
        let simplifications = nodes.simplification(&named).into_iter().collect();
        let blocks = Blocks {
            names: entries.iter().map(|entry| entry.name.clone()).collect(),
            nodes: std::mem::take(&mut nodes.of_entries),
            base_size,
            levels,
        };
        let lines = entries.iter().map(|entry| entry.line).collect();
        let kind = HierarchyKind::Blocks(blocks);
        Ok(Self::new(label, nodes.into_names(), kind, lines, simplifications))
    }
}

/// Sets the level of each switch from the levels of its children. There must be no cycle.
fn set_levels(switches: &mut [Switch]) {
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
