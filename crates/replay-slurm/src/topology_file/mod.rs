//! Reader of Slurm's `topology.conf` and `topology.yaml`, which describe trees and block machines.
//!
//! `topology.conf` has one entry per line. An entry consists of `key=value` pairs:
//!
//! ```text
//! SwitchName=s0 Nodes=n[00-17]          # a leaf
//! SwitchName=s1 Switches=s0             # a switch above other switches
//! BlockName=b0 Nodes=n[00-17]           # a base block, in a file without switches
//! BlockSizes=18,72
//! ```
//!
//! Keys are not case-sensitive. The output of `scontrol show topology`, which has further keys, is read as well.
//! `topology.yaml` is a list of topologies; this module reads topologies of the kinds `tree` and `block`.
//! [`placement::config`](crate::placement::config) reads topologies of the kind `torus3d`.

mod conf;
mod scontrol;
pub mod syntax;
mod write;
mod yaml;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use replay_engine::lines::LONGEST_TEXT;
use replay_engine::number::grouped;
use replay_engine::topology::hierarchy::{BlockEntry, DescriptionError, Subject, SwitchEntry};
use replay_engine::topology::{Hierarchy, MAX_POINTS, natural_order, split_name};
use replay_engine::workload::nodes;

pub use write::conf_text;
pub use yaml::is_hierarchy as yaml_is_hierarchy;

/// Error in a topology file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{file}:{line}: {problem}")]
pub struct TopologyFileError {
    /// The file name as given by the user.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// Description of the problem, including the name of the switch or block.
    pub problem: String,
}

/// A machine as described by a file.
#[derive(Clone, Debug)]
pub struct TopologyFile {
    /// The machine, which is displayed as the path of the file.
    pub machine: Hierarchy,
    /// Node names that the file lists out of natural order; `None` if all names are in natural order.
    pub misordered: Option<Misordered>,
}

/// Node names of a file that are out of natural order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misordered {
    /// Number of names that, in natural order, come before the name that precedes them in the file.
    pub count: usize,
    /// The first name that is out of order, preceded by the name before it in the file.
    pub first: [String; 2],
}

/// Compares each name with the previous name; returns `None` if all names are in natural order.
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
    /// The line of the block sizes, and the sizes.
    sizes: Option<(usize, Vec<u32>)>,
    /// Number of names in all lists.
    listed: usize,
}

/// Maximum number of names in all lists of a file. Upper switches in the output of `scontrol` repeat the nodes below.
const MOST_LISTED: usize = 8 * MAX_POINTS;

impl Entries {
    /// Returns the names of a host list.
    ///
    /// # Errors
    /// A message if the text is not a host list, or if the lists of the file have too many names.
    fn names(&mut self, list: &str) -> Result<Vec<String>, String> {
        let count = nodes::count(list).map_err(|error| error.to_string())?;
        if count > (MOST_LISTED - self.listed) as u64 {
            let most = grouped(MOST_LISTED as u64);
            return Err(format!("more than {most} names in the lists of the file"));
        }
        let names = nodes::names(list, MAX_POINTS as u64).map_err(|error| error.to_string())?;
        self.listed += names.len();
        Ok(names)
    }
}

/// Returns the text of a file.
///
/// # Errors
/// A message with the path of the file and the reason why it cannot be read.
pub fn text_of(path: &Path) -> Result<String, String> {
    let unreadable = |e: std::io::Error| format!("{}: cannot be read: {e}", path.display());
    let mut text = String::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(LONGEST_TEXT + 1).read_to_string(&mut text).map_err(unreadable)?;
    match text.len() as u64 > LONGEST_TEXT {
        true => Err(format!("{}: more than {LONGEST_TEXT} bytes", path.display())),
        false => Ok(text),
    }
}

impl TopologyFile {
    /// Parses the text of the file `path`: a `topology.conf` if `path` ends in `.conf`, otherwise a `topology.yaml`. In
    /// a YAML file, `entry` is the name of the topology to read. Without `entry`, the topology with `cluster_default:
    /// true` is read, or the first topology if there is no such topology.
    ///
    /// # Errors
    /// [`TopologyFileError`] with the line and the name of the switch or block.
    pub fn read(text: &str, path: &str, entry: Option<&str>) -> Result<Self, TopologyFileError> {
        let entries = match path.to_ascii_lowercase().ends_with(".conf") {
            true => conf::read(text).map_err(|(line, problem)| TopologyFileError {
                file: path.to_string(),
                line,
                problem,
            })?,
            false => yaml::read(text, path, entry)?,
        };
        let Entries { switches, blocks, sizes, .. } = entries;
        let described = |error: DescriptionError| TopologyFileError {
            file: path.to_string(),
            line: error.line,
            problem: error.to_string(),
        };
        let label = entry.map_or(path.to_string(), |entry| format!("{path}:{entry}"));
        let machine = match (switches.first(), blocks.first()) {
            (Some(_), Some(block)) => {
                let subject = Subject::Block(block.name.clone());
                let problem = "a file cannot contain both switches and blocks".into();
                return Err(described(DescriptionError { line: block.line, subject, problem }));
            }
            (Some(_), None) => match sizes {
                Some((line, _)) => {
                    let problem = "a file with switches cannot have block sizes".to_string();
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
        let names = switches.iter().flat_map(|switch| &switch.nodes);
        let misordered = misordered(names.chain(blocks.iter().flat_map(|block| &block.nodes)));
        Ok(Self { machine, misordered })
    }

    /// Opens and parses the file of a machine. If the [name](split_name) contains the name of a topology, the file must
    /// be a YAML file.
    ///
    /// # Errors
    /// A message with the file, the line and a description of the problem.
    pub fn of_machine(name: &str) -> Result<Self, String> {
        let (path, entry) = split_name(name).unwrap_or((name, None));
        match entry {
            Some(entry) if path.to_ascii_lowercase().ends_with(".conf") => Err(format!(
                "{path}: a topology.conf has one topology without a name; write {path}, not {path}:{entry}"
            )),
            entry => Self::open(path, entry),
        }
    }

    /// Opens and parses a file.
    ///
    /// # Errors
    /// A message with the file, the line and a description of the problem.
    pub fn open(path: &str, entry: Option<&str>) -> Result<Self, String> {
        let text = text_of(Path::new(path))?;
        Self::read(&text, path, entry).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests;
