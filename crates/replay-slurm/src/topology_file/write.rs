//! Writer of `topology.conf`.

use std::fmt::Write;

use crate::topology_file::TopologyFile;
use replay_engine::topology::hierarchy::{Hierarchy, HierarchyKind, host_list};

/// Returns the text of a `topology.conf` that defines a machine. The first line is a comment with the name of the
/// machine.
///
/// # Errors
/// A message if a name of a switch, a block or a node cannot be written, because it would be read as several names or as
/// another name.
pub fn conf_text(machine: &Hierarchy) -> Result<String, String> {
    let mut text = format!("# {}\n", machine.to_string().replace(char::is_control, "\u{fffd}"));
    let name = |node: &replay_engine::topology::NodeId| &machine.names()[node.index()][..];
    let mut entry = |key: &str, name: &str, list_key: &str, list: String| {
        let list = if list.is_empty() { list } else { format!(" {list_key}={list}") };
        // Writing to a text does not fail.
        _ = writeln!(text, "{key}={name}{list}");
    };
    match machine.kind() {
        HierarchyKind::Tree(tree) => {
            let switches = tree.switches();
            for switch in switches {
                let children = switch.children.iter();
                let children = children.map(|&child| &switches[child as usize].name[..]);
                let (key, list) = match switch.children.is_empty() {
                    true => ("Nodes", host_list(switch.nodes.iter().map(name))),
                    false => ("Switches", host_list(children)),
                };
                entry("SwitchName", &switch.name, key, list);
            }
        }
        HierarchyKind::Blocks(blocks) => {
            for block in 0..blocks.count() as u32 {
                let list = host_list(blocks.nodes(block).iter().map(name));
                entry("BlockName", blocks.name(block), "Nodes", list);
            }
            let sizes: Vec<String> = blocks.sizes().iter().map(u32::to_string).collect();
            entry("BlockSizes", &sizes.join(","), "", String::new());
        }
    }
    match TopologyFile::read(&text, "topology.conf", None) {
        Ok(read) if read.machine == *machine => Ok(text),
        _ => Err(format!(
            "{machine}: a topology.conf cannot have all names of this machine; rename switches, blocks or nodes whose names \
             contain blanks or one of # \\ \" , [ ] ="
        )),
    }
}
