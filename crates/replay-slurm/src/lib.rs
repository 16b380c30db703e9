//! Allocators by the rules of Slurm and Kueue, and the files that describe their machines.
//!
//! | module | contents |
//! |---|---|
//! | [`torus3d`] | boxes from a menu on tori: Slurm's `topology/torus3d`, and placements chosen by rules or tie terms |
//! | [`placement`] | the menus, candidate boxes and costs that [`torus3d`] uses |
//! | [`hierarchy`] | trees of switches and blocks: Slurm's `topology/tree` and `topology/block`, Kueue's profiles, best fit |
//! | [`topology_file`] | `topology.conf` and `topology.yaml` |
//!
//! The rules follow the source code of Slurm and Kueue; the documentation of each module states versions and
//! functions. A decision on a torus compares all free boxes of the menu for the size of the job. A decision on a tree or on
//! blocks descends from the lowest switch, or the smallest block, that holds the job. [`boxes`] and [`hierarchies`] add
//! the strategies to the registries of a program:
//!
//! ```
//! use replay_engine::allocator::Request;
//! use replay_engine::machine::Machine;
//! use replay_engine::registries::Registries;
//!
//! let registries = replay_slurm::hierarchies(Registries::new());
//! let machine = Machine::new("tree:2x4".parse()?);
//! let mut rule = registries.allocators.read("slurm-tree")?.build(machine.topology(), 0)?;
//! let mut chosen = Vec::new();
//! rule.allocate(&machine, Request::of_size(3), &mut chosen)?;
//! assert_eq!(chosen.iter().map(|node| node.0).collect::<Vec<_>>(), [0, 1, 2]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod hierarchy;
pub mod placement;
pub mod topology_file;
pub mod torus3d;

use std::path::Path;
use std::sync::Arc;

use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::registries::{FileMachine, MachineFiles, Registries};
use replay_engine::topology::{Topology, split_name};

use crate::topology_file::TopologyFile;
use crate::torus3d::{Described, PlacementOptions};

/// Adds the strategies that place boxes of a menu on tori.
pub fn boxes(registries: Registries) -> Registries {
    registries.with_allocators(|all| all.with(torus3d::table(), AllocatorSpec::parse))
}

/// Adds the strategies for trees and blocks, and the reader of topology files.
pub fn hierarchies(registries: Registries) -> Registries {
    let registries = registries.with_allocators(|all| {
        all.with(hierarchy::slurm_tree_table(), AllocatorSpec::parse)
            .with(hierarchy::tree_fit_table(), AllocatorSpec::parse)
            .with(hierarchy::slurm_block_table(), AllocatorSpec::parse)
            .with(hierarchy::kueue_table(), AllocatorSpec::parse)
    });
    Registries { machine_files: Some(Arc::new(TopologyFiles)), ..registries }
}

/// Reader of `topology.conf` and `topology.yaml`.
struct TopologyFiles;

impl MachineFiles for TopologyFiles {
    fn read(&self, name: &str) -> Result<FileMachine, String> {
        let (path, entry) = split_name(name).unwrap_or((name, None));
        let is_conf = path.to_ascii_lowercase().ends_with(".conf");
        let is_hierarchy = |text: String| topology_file::yaml_is_hierarchy(&text, entry);
        if is_conf || topology_file::text_of(Path::new(path)).is_ok_and(is_hierarchy) {
            let machine = TopologyFile::of_machine(name.trim())?.machine;
            return Ok(FileMachine { topology: Topology::Hierarchy(machine), has_boxes: false });
        }
        let topology = path.parse::<Described>()?.machine(entry)?;
        Ok(FileMachine { topology, has_boxes: true })
    }

    fn of_allocator(&self, allocator: &AllocatorSpec) -> Option<Result<Topology, String>> {
        allocator.options::<PlacementOptions>()?.described()
    }
}

/// Returns the strategy of this crate with this name.
#[cfg(test)]
fn allocator(name: &str) -> Result<AllocatorSpec, replay_engine::naming::NameError> {
    hierarchies(boxes(Registries::new())).allocators.read(name)
}
