//! The busy list: a list of all allocated sub-meshes, in the order that the search needs.
//!
//! Source: Bani-Mohammad 2008, section 3.3. Entries are sorted by the last coordinate of their
//! highest corner, in decreasing order. A piece of a plane that is above one prohibited region is
//! therefore also above all later regions. A new entry is inserted after the entries with equal
//! keys. Cost with m entries: m steps for an insertion, and m steps for the release of a job with
//! any number of entries.
//!
//! Inside the list, coordinates are *upright*: a position (x, y) of a 2D mesh is stored as (x, 0,
//! y). In upright coordinates, the last coordinate is always the third coordinate, as in 3D.

use crate::busy_list::plane::Region;
use replay_engine::allocator::submesh::SubMesh;
use replay_engine::topology::{Coord, Grid, NodeId};

/// An allocated sub-mesh.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    /// The sub-mesh in upright coordinates.
    pub allocated: Region,
    /// Processor at the lowest corner.
    base: NodeId,
}

impl Entry {
    /// Returns the sub-mesh. `flat` must be set if the mesh has two dimensions.
    fn unit(&self, flat: bool) -> SubMesh {
        let Region { low, high } = self.allocated;
        let base = upright(flat, low);
        let end = upright(flat, high);
        SubMesh { base, sides: [0, 1, 2].map(|axis| end[axis] + 1 - base[axis]) }
    }
}

/// Converts coordinates or sides to upright coordinates: moves the last dimension of the mesh to
/// the third position. The function is its own inverse.
fn upright(flat: bool, [x, y, z]: Coord) -> Coord {
    if flat { [x, z, y] } else { [x, y, z] }
}

/// The allocated sub-meshes of one mesh.
#[derive(Clone, Debug)]
pub(crate) struct BusyList {
    grid: Grid,
    entries: Vec<Entry>,
    /// For each processor, the volume of the entry whose base is this processor; 0 if no entry has
    /// this base.
    volumes: Vec<u32>,
}

impl BusyList {
    /// Creates the list of a mesh with every processor free.
    pub fn new(grid: &Grid) -> Self {
        Self { grid: grid.clone(), entries: Vec::new(), volumes: vec![0; grid.processors()] }
    }

    /// Returns the mesh.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Returns the number of positions along the three upright axes.
    pub fn extents(&self) -> Coord {
        self.upright(self.grid.axes().map(|axis| axis.extent))
    }

    /// Converts coordinates or sides to upright coordinates: moves the last dimension of the mesh
    /// to the third position. The function is its own inverse.
    pub fn upright(&self, at: Coord) -> Coord {
        upright(self.is_flat(), at)
    }

    /// Returns whether the mesh has two dimensions.
    pub fn is_flat(&self) -> bool {
        self.grid.dimensions() == 2
    }

    /// Returns the entries in list order, without the hypothetical sub-mesh to the left of the
    /// mesh.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the number of entries, without the hypothetical sub-mesh to the left of the mesh.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds a sub-mesh. The sub-mesh must be inside the mesh and must not overlap another entry.
    pub fn insert(&mut self, unit: SubMesh) {
        let allocated = Region { low: self.upright(unit.base), high: self.upright(unit.end()) };
        let base = self.grid.node(unit.base);
        self.volumes[base.index()] = unit.volume();
        let last = allocated.high[2];
        let position = self.entries.partition_point(|entry| entry.allocated.high[2] >= last);
        self.entries.insert(position, Entry { allocated, base });
    }

    /// Removes the entries of a job and calls `on_removed` with each of them. `nodes` are the
    /// processors of the job in the order of allocation. The processors determine the entries: each
    /// unit begins with its base, and the volume of a unit gives the start of the next unit.
    pub fn release(&mut self, nodes: &[NodeId], mut on_removed: impl FnMut(SubMesh)) {
        let mut next = 0;
        while let Some(base) = nodes.get(next) {
            let volume = std::mem::take(&mut self.volumes[base.index()]);
            debug_assert_ne!(volume, 0, "processor {} is not the base of a unit", base.0);
            next += (volume as usize).max(1);
        }
        let (volumes, flat) = (&self.volumes, self.is_flat());
        self.entries.retain(|entry| {
            let stays = volumes[entry.base.index()] != 0;
            if !stays {
                on_removed(entry.unit(flat));
            }
            stays
        });
    }

    /// Returns the volume of the entry with this base; 0 if there is no such entry.
    #[cfg(test)]
    pub fn volume_at(&self, base: NodeId) -> u32 {
        self.volumes[base.index()]
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.volumes.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::busy_list::cases::{grid, unit};

    fn keys(list: &BusyList) -> Vec<(u16, u32)> {
        list.entries.iter().map(|entry| (entry.allocated.high[2], entry.base.0)).collect()
    }

    #[test]
    fn entries_are_sorted_stably_by_decreasing_key() {
        let mut list = BusyList::new(&grid("6x6"));
        // The number of the node at position (x, y) is 6 x + y.
        for a in [[5, 2, 5, 2], [4, 3, 5, 3], [1, 4, 5, 5], [0, 2, 1, 3]] {
            list.insert(unit(&a));
        }
        assert_eq!(keys(&list), [(5, 10), (3, 27), (3, 2), (2, 32)]);
        assert_eq!(list.entries[0].allocated, Region { low: [1, 0, 4], high: [5, 0, 5] });
    }

    #[test]
    fn release_removes_all_units_of_a_job() {
        let mut list = BusyList::new(&grid("4x4x4"));
        let units = [[0, 0, 0, 1, 3, 3], [2, 0, 0, 3, 0, 1], [2, 0, 2, 2, 1, 2]].map(|a| unit(&a));
        units.iter().for_each(|&unit| list.insert(unit));
        let mut job = Vec::new();
        units[2].append_to(&grid("4x4x4"), &mut job);
        units[0].append_to(&grid("4x4x4"), &mut job);
        list.release(&job, |_| {});
        assert_eq!(keys(&list), [(1, 32)]);
        let mut rest = Vec::new();
        units[1].append_to(&grid("4x4x4"), &mut rest);
        list.release(&rest, |_| {});
        assert_eq!(list.len(), 0);
        assert!(list.volumes.iter().all(|&volume| volume == 0));
    }
}
