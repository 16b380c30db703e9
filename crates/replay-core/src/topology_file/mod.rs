//! `topology.conf` and `topology.yaml` of Slurm as descriptions of trees and block machines.
//!
//! `topology.conf` has one entry a line, of `key=value` pairs:
//!
//! ```text
//! SwitchName=s0 Nodes=n[00-17]          # a leaf
//! SwitchName=s1 Switches=s0             # a switch above others
//! BlockName=b0 Nodes=n[00-17]           # a base block, in a file without switches
//! BlockSizes=18,72
//! ```
//!
//! Keys are read in any case, `#` begins a comment, `\` at the end of a line continues it. `topology.yaml` is a list of
//! topologies, of which those of the kinds `tree` and `block` are read here. A file of the kind `torus3d` is read by
//! [`placement::config`](crate::placement::config).

mod conf;
mod yaml;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::lines::LONGEST_TEXT;
use crate::topology::hierarchy::{BlockEntry, DescriptionError, Subject, SwitchEntry};
use crate::topology::{Hierarchy, natural_order};

pub use yaml::is_hierarchy as yaml_is_hierarchy;

/// What is wrong with a file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{file}:{line}: {problem}")]
pub struct TopologyFileError {
    /// As the user named it.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// What is wrong, with the name of the switch or block.
    pub problem: String,
}

/// A machine as described by a file.
#[derive(Clone, Debug)]
pub struct TopologyFile {
    /// The machine; it displays as the path of the file.
    pub machine: Hierarchy,
    /// What deserves a look although it is no error.
    pub warnings: Vec<String>,
    /// Node names that the file lists out of natural order, if there are any.
    pub misordered: Option<Misordered>,
}

/// Node names of a file that are out of natural order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misordered {
    /// Number of names that are smaller than the name before them.
    pub count: usize,
    /// The first such name, behind the one before it.
    pub first: [String; 2],
}

/// Compares each name with the one before it.
fn misordered<'a>(names: impl Iterator<Item = &'a String>) -> Option<Misordered> {
    let mut found: Option<Misordered> = None;
    let mut before: Option<&String> = None;
    for name in names {
        if let Some(before) = before.filter(|before| natural_order(before, name).is_gt()) {
            let first = || Misordered { count: 0, first: [before.clone(), name.clone()] };
            found.get_or_insert_with(first).count += 1;
        }
        before = Some(name);
    }
    found
}

/// The entries of a file.
#[derive(Debug, Default)]
struct Entries {
    switches: Vec<SwitchEntry>,
    blocks: Vec<BlockEntry>,
    /// Line and sizes.
    sizes: Option<(usize, Vec<u32>)>,
}

/// Whether a machine of this name is a file.
pub fn is_file_name(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    [".yaml", ".yml", ".conf"].iter().any(|ending| name.ends_with(ending))
}

/// The text of a file.
///
/// # Errors
/// Why it cannot be read, with its path.
pub fn text_of(path: &Path) -> Result<String, String> {
    let told = |e: std::io::Error| format!("{}: cannot be read: {e}", path.display());
    let mut text = String::new();
    let file = File::open(path).map_err(told)?;
    file.take(LONGEST_TEXT + 1).read_to_string(&mut text).map_err(told)?;
    match text.len() as u64 > LONGEST_TEXT {
        true => Err(format!("{}: more than {LONGEST_TEXT} bytes", path.display())),
        false => Ok(text),
    }
}

impl TopologyFile {
    /// Reads the text of a file called `path`: `topology.conf` if it ends in `.conf`, else YAML, of which `entry` names the
    /// topology to read ([default](crate::placement::config): that with `cluster_default: true`, else the first).
    ///
    /// # Errors
    /// [`TopologyFileError`] with line and name.
    pub fn read(text: &str, path: &str, entry: Option<&str>) -> Result<Self, TopologyFileError> {
        let entries = match path.to_ascii_lowercase().ends_with(".conf") {
            true => conf::read(text).map_err(|(line, problem)| TopologyFileError {
                file: path.to_string(),
                line,
                problem,
            })?,
            false => yaml::read(text, path, entry)?,
        };
        let Entries { switches, blocks, sizes } = entries;
        let described = |error: DescriptionError| TopologyFileError {
            file: path.to_string(),
            line: error.line,
            problem: error.to_string(),
        };
        let label = path.to_string();
        let machine = match (switches.first(), blocks.first()) {
            (Some(_), Some(block)) => {
                let subject = Subject::Block(block.name.clone());
                let problem = "it stands beside switches; a file describes a tree or blocks".into();
                return Err(described(DescriptionError { line: block.line, subject, problem }));
            }
            (Some(_), None) => match sizes {
                Some((line, _)) => {
                    let problem = "they stand beside switches".to_string();
                    let subject = Subject::Sizes;
                    return Err(described(DescriptionError { line, subject, problem }));
                }
                None => Hierarchy::of_switches(label, &switches),
            },
            (None, Some(_)) => {
                let sizes = sizes.as_ref().map(|(line, sizes)| (*line, &sizes[..]));
                Hierarchy::of_blocks(label, &blocks, sizes)
            }
            (None, None) => {
                let problem = "there is neither a switch nor a block".to_string();
                let subject = Subject::Machine;
                return Err(described(DescriptionError { line: 1, subject, problem }));
            }
        };
        let machine = machine.map_err(described)?;
        let base = machine.blocks().map_or(0, |blocks| blocks.base_size());
        let small = blocks.iter().filter(|block| block.nodes.len() < base as usize);
        let warnings = small
            .map(|BlockEntry { line, name, nodes }| {
                let nodes = nodes.len();
                format!("line {line}: block {name}: {nodes} nodes, fewer than the base size {base}")
            })
            .collect();
        let names = switches.iter().flat_map(|switch| &switch.nodes);
        let misordered = misordered(names.chain(blocks.iter().flat_map(|block| &block.nodes)));
        Ok(Self { machine, warnings, misordered })
    }

    /// Reads a file.
    ///
    /// # Errors
    /// What is wrong, with file and line.
    pub fn open(path: &str, entry: Option<&str>) -> Result<Self, String> {
        let text = text_of(Path::new(path))?;
        Self::read(&text, path, entry).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests;
