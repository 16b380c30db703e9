//! Entries of the description of a machine, and what a description can lack.

use std::fmt;

use crate::sanitize::excerpt;

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

/// A property of a description that the machine does not have, because a machine is a tree or consists of blocks.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Simplification {
    /// Several switches are directly above the same switches. One switch of the machine stands for all of them.
    SameSwitches {
        /// The last of the switches, whose name the switch of the machine has.
        switch: String,
        /// The other switches, in table order.
        others: Vec<String>,
    },
    /// Switches below a switch are also below a later switch, and the switches below the two differ. They are kept
    /// below the last switch that lists them, which is the parent in Slurm.
    LaterParent {
        /// The earlier switch.
        switch: String,
        /// The switches that are kept below another switch, each with the name of this other switch.
        children: Vec<[String; 2]>,
        /// Whether no switch remains below the earlier switch, so that it is not part of the machine.
        is_removed: bool,
    },
    /// Nodes are listed several times. They are kept in the first entry that lists them.
    RepeatedNodes {
        /// Name of each node, of the entry that keeps the node, and of another entry that lists the node.
        nodes: Vec<[String; 3]>,
    },
}
