//! Names of machines that files describe.

use super::hierarchy::HierarchyKind;
use super::{NodeId, Topology};

/// Splits the name of a machine, `FILE` or `FILE:TOPOLOGY`, into the path of the file and the name of a topology in the
/// file. Returns `None` if the name is not the name of a file.
///
/// ```
/// use replay_engine::topology::split_name;
/// assert_eq!(split_name("a/topology.yaml:gpu"), Some(("a/topology.yaml", Some("gpu"))));
/// assert_eq!(split_name("topology.conf"), Some(("topology.conf", None)));
/// assert_eq!(split_name("torus:8x8"), None);
/// ```
pub fn split_name(name: &str) -> Option<(&str, Option<&str>)> {
    let name = name.trim();
    let is_file = |path: &str| {
        let path = path.to_ascii_lowercase();
        [".yaml", ".yml", ".conf"].iter().any(|ending| path.ends_with(ending))
    };
    if is_file(name) {
        return Some((name, None));
    }
    let mut splits = name.match_indices(':').map(|(at, _)| (&name[..at], &name[at + 1..]));
    splits.find(|(path, _)| is_file(path)).map(|(path, entry)| (path, Some(entry)))
}

/// Returns the digest of the switches, blocks, sizes and nodes of a machine that was read from a file. Returns `None`
/// for other machines, because the name of such a machine describes it completely.
pub fn content_digest(machine: &Topology) -> Option<String> {
    let machine = machine.hierarchy()?;
    split_name(&machine.to_string())?;
    let mut digest = blake3::Hasher::new();
    // Every name is preceded by its length, so that the boundaries between names are unambiguous.
    let mut add = |name: &str| _ = digest.update(format!("{} {name}\n", name.len()).as_bytes());
    let of_nodes = |nodes: &[NodeId], add: &mut dyn FnMut(&str)| {
        add(&format!("nodes {}", nodes.len()));
        nodes.iter().for_each(|node| add(&machine.names()[node.index()]));
    };
    let list = |numbers: &[u32]| {
        let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
        numbers.join(" ")
    };
    match machine.kind() {
        HierarchyKind::Tree(tree) => {
            for switch in tree.switches() {
                add(&switch.name);
                add(&format!("switches {}", list(&switch.children)));
                of_nodes(&switch.nodes, &mut add);
            }
        }
        HierarchyKind::Blocks(blocks) => {
            add(&format!("blocks of {} at levels {}", blocks.base_size(), list(blocks.levels())));
            for block in 0..blocks.count() as u32 {
                add(blocks.name(block));
                of_nodes(blocks.nodes(block), &mut add);
            }
        }
    }
    Some(digest.finalize().to_hex().to_string())
}
