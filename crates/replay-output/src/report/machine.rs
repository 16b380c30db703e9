//! The jobs on a machine as text.

use std::sync::Arc;

use replay_engine::topology::hierarchy::HierarchyKind;
use replay_engine::topology::{Hierarchy, NodeId, Topology};
use replay_experiment::snapshot::Snapshot;

/// Layout of processors on a page: slices, which consist of rows and columns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sheets {
    /// Numbers of columns, rows and slices. The product of these numbers is the number of processors, plus the number
    /// of absent cells if leaves differ in size.
    pub sides: [usize; 3],
    /// Increment of the processor number to the next column, row and slice.
    steps: [usize; 3],
    /// Whether a slice is a group of hosts with one column per host.
    hosts: bool,
    /// Layout of the leaves of a tree or of blocks; `None` for other topologies.
    leaves: Option<Arc<Leaves>>,
}

/// Layout of a tree or of blocks: a row for each leaf.
#[derive(PartialEq, Eq, Debug)]
struct Leaves {
    /// Name of each row, in page order; empty for rows without a leaf.
    names: Vec<String>,
    /// The processor of each cell, in page order, or [`ABSENT`].
    cells: Vec<usize>,
}

/// Value of a cell without a processor. The rows of leaves that are smaller than the largest leaf contain cells without
/// a processor.
pub const ABSENT: usize = usize::MAX;

/// Maximum number of rows in a slice of a tree or of blocks.
const MOST_LEAVES: usize = 32;

/// Maximum number of nodes in a row. Larger leaves have several rows.
const LONGEST_ROW: usize = 128;

/// Maximum number of hosts side by side. The maximum applies if the hosts can be divided into equal groups of at least
/// half this number.
const MOST_ACROSS: usize = 25;

impl Sheets {
    /// Returns the layout of a topology. A grid has a slice for each z. For a hypercube, the lower half of the bits of
    /// a processor number is the column, and the upper half is the row. A cluster has a column for each host and a row
    /// for each priority level, in groups of hosts. A tree or blocks have a row for each leaf, with the first leaf at
    /// the top, and a cell for each node of the leaf. Large leaves have several rows. Multiple tori are laid out by processor
    /// number, row by row.
    pub fn of(topology: &Topology) -> Self {
        let sides = match topology {
            Topology::Grid(grid) => {
                let sides = [0, 1, 2].map(|axis| grid.extent(axis));
                // Processor numbers are in scan order, in which x varies slowest.
                let steps = [sides[1] * sides[2], sides[2], 1];
                return Self { sides, steps, hosts: false, leaves: None };
            }
            Topology::Hypercube(cube) => {
                let across = u32::from(cube.dimensions()).div_ceil(2);
                [1 << across, 1 << (u32::from(cube.dimensions()) - across), 1]
            }
            Topology::Cluster(cluster) => {
                let (hosts, levels) = (cluster.hosts() as usize, cluster.levels() as usize);
                let divides = |across: &usize| hosts.is_multiple_of(*across);
                let across = (MOST_ACROSS.div_ceil(2)..=MOST_ACROSS).rev().find(divides);
                let across = across.filter(|_| hosts > MOST_ACROSS).unwrap_or(hosts);
                let sides = [across, levels, hosts / across];
                return Self { sides, steps: [1, hosts, across], hosts: true, leaves: None };
            }
            Topology::MultiTorus(_) | Topology::Hierarchy(_) => {
                if let Some(sheets) = topology.hierarchy().and_then(Self::of_leaves) {
                    return sheets;
                }
                let all = topology.processors();
                let across =
                    (1..=MOST_ACROSS.min(all)).rev().find(|&across| all.is_multiple_of(across));
                let across = across.unwrap_or(all);
                [across, all / across, 1]
            }
        };
        Self { sides, steps: [1, sides[0], sides[0] * sides[1]], hosts: false, leaves: None }
    }

    /// Returns a layout with a row for each leaf, or with several rows if the leaves are too large; `None` if there are
    /// no leaves.
    fn of_leaves(hierarchy: &Hierarchy) -> Option<Self> {
        let leaves = leaves(hierarchy);
        let largest = leaves.iter().map(|leaf| leaf.1.len()).max()?;
        let columns = largest.div_ceil(largest.div_ceil(LONGEST_ROW));
        // If a leaf has several rows, the name of each row after the first contains the number of the leaf's nodes in
        // the rows above.
        let rows_of = |(name, nodes): (&str, &[NodeId])| {
            let row = |(number, nodes): (usize, &[NodeId])| match number {
                0 => (name.to_string(), nodes.to_vec()),
                _ => (format!("{name} +{}", number * columns), nodes.to_vec()),
            };
            nodes.chunks(columns).enumerate().map(row).collect::<Vec<_>>()
        };
        let leaves: Vec<(String, Vec<NodeId>)> = leaves.into_iter().flat_map(rows_of).collect();
        let rows = leaves.len().min(MOST_LEAVES);
        let sides = [columns, rows, leaves.len().div_ceil(rows)];
        let mut names = vec![String::new(); rows * sides[2]];
        let mut cells = vec![ABSENT; columns * names.len()];
        for (at, (name, nodes)) in leaves.into_iter().enumerate() {
            // The first leaf of a slice is in its highest row.
            let row = at / rows * rows + rows - 1 - at % rows;
            names[row] = name;
            for (cell, node) in cells[row * columns..].iter_mut().zip(nodes) {
                *cell = node.index();
            }
        }
        let steps = [1, columns, columns * rows];
        let leaves = Some(Arc::new(Leaves { names, cells }));
        Some(Self { sides, steps, hosts: false, leaves })
    }

    /// Returns the names of the leaves that are drawn as rows. The names are in order of slices, and within a slice
    /// from the lowest row to the highest; the list is empty for machines that are neither trees nor blocks.
    pub fn row_names(&self) -> &[String] {
        self.leaves.as_ref().map_or(&[], |leaves| &leaves.names)
    }

    /// Returns whether any leaf has several rows.
    pub fn has_wrapped_rows(&self) -> bool {
        self.row_names().iter().any(|name| name.contains(" +"))
    }

    /// Returns the number of the processor in a column, row and slice, or [`ABSENT`].
    pub fn processor(&self, [x, y, z]: [usize; 3]) -> usize {
        if let Some(leaves) = &self.leaves {
            return leaves.cells[x + (y + z * self.sides[1]) * self.sides[0]];
        }
        x * self.steps[0] + y * self.steps[1] + z * self.steps[2]
    }

    /// Returns a one-line description of the layout of a hypercube; `None` for other topologies.
    pub fn unfolded(topology: &Topology) -> Option<String> {
        let Topology::Hypercube(cube) = topology else { return None };
        let [columns, rows, _] = Self::of(topology).sides;
        let across = columns.trailing_zeros();
        let bits = |low: u32, high: u32| match high - low {
            1 => format!("bit {low}"),
            _ => format!("bits {low} to {}", high - 1),
        };
        let up = match rows {
            1 => String::new(),
            _ => format!(", y {}", bits(across, cube.dimensions().into())),
        };
        Some(format!(
            "unfolded: x is {} of a processor's number{up}; neighbours differ in one bit",
            bits(0, across)
        ))
    }

    /// Returns the name of a slice; `None` if there is only one slice.
    pub fn slice_name(&self, z: usize) -> Option<String> {
        let [columns, rows, slices] = self.sides;
        if let Some(leaves) = self.leaves.as_ref().filter(|_| slices > 1) {
            let of_slice = &leaves.names[z * rows..(z + 1) * rows];
            let mut named = of_slice.iter().filter(|name| !name.is_empty());
            let last = named.next()?;
            return Some(format!("{} to {last}", named.next_back().unwrap_or(last)));
        }
        match (slices > 1, self.hosts) {
            (false, _) => None,
            (true, false) => Some(format!("z = {z}")),
            (true, true) => Some(format!("hosts {} to {}", z * columns, (z + 1) * columns - 1)),
        }
    }

    /// Returns the number of the first column of a slice.
    pub fn first_column(&self, z: usize) -> usize {
        if self.hosts { z * self.sides[0] } else { 0 }
    }

    /// Returns all processor numbers in page order: columns fastest, then rows, then slices. Cells without a processor
    /// are [`ABSENT`].
    pub fn processors(&self) -> impl Iterator<Item = usize> + '_ {
        let [columns, rows, slices] = self.sides;
        let places = 0..columns * rows * slices;
        places.map(move |i| self.processor([i % columns, i / columns % rows, i / columns / rows]))
    }
}

/// Returns the name and the nodes of each leaf that has nodes, in the order of the description of the machine.
pub fn leaves(hierarchy: &Hierarchy) -> Vec<(&str, &[NodeId])> {
    match hierarchy.kind() {
        HierarchyKind::Tree(tree) => {
            let leaves = tree.switches().iter().filter(|switch| !switch.nodes.is_empty());
            leaves.map(|switch| (&switch.name[..], &switch.nodes[..])).collect()
        }
        HierarchyKind::Blocks(blocks) => {
            let all = (0..blocks.count() as u32).map(|it| (blocks.name(it), blocks.nodes(it)));
            all.filter(|leaf| !leaf.1.is_empty()).collect()
        }
    }
}

/// Symbols of jobs in the order of their starts. The symbols are repeated if there are more jobs than symbols.
const SYMBOLS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Returns the symbol of the job with index `place` in a snapshot.
pub fn symbol(snapshot: &Snapshot, place: usize) -> char {
    match snapshot.requested == Some(place) {
        true => '#',
        false => char::from(SYMBOLS[place % SYMBOLS.len()]),
    }
}

/// Returns, for each processor in [page order](Sheets::processors), the index of its job in the snapshot.
pub fn holders(snapshot: &Snapshot, sheets: &Sheets) -> Vec<Option<usize>> {
    let mut holders = vec![None; sheets.sides.iter().product()];
    for (place, hold) in snapshot.holds.iter().enumerate() {
        for node in &hold.nodes {
            if let Some(holder) = holders.get_mut(node.index()) {
                *holder = Some(place);
            }
        }
    }
    sheets.processors().map(|processor| holders.get(processor).copied().flatten()).collect()
}

/// Returns a text map of a machine. A processor is shown as the letter of its job, as `#` if its job is highlighted, as
/// `.` if the processor is free, or as `-` if it is out of service. A row of a tree or of blocks begins with the name
/// of its leaf. If a leaf has several rows, the name of each row after the first also contains the number of nodes in
/// the rows above, such as `s0-1 +100`. The first row has the largest y. Slices of a three-dimensional machine are
/// placed one below the other.
pub fn machine_map(topology: &Topology, snapshot: &Snapshot) -> Vec<String> {
    let sheets = Sheets::of(topology);
    let [columns, rows, slices] = sheets.sides;
    let holders = holders(snapshot, &sheets);
    let is_down = |processor: usize| snapshot.down.binary_search(&NodeId(processor as u32)).is_ok();
    let names = sheets.row_names();
    let label = match names.iter().map(|name| name.chars().count()).max() {
        Some(longest) => longest,
        None => (rows.max(1) - 1).to_string().len(),
    };
    let mut lines = Vec::new();
    for z in 0..slices {
        lines.extend(sheets.slice_name(z));
        for y in (0..rows).rev() {
            let cell = |x: usize| match holders[(z * rows + y) * columns + x] {
                Some(place) => symbol(snapshot, place),
                None if sheets.processor([x, y, z]) == ABSENT => ' ',
                None if is_down(sheets.processor([x, y, z])) => '-',
                None => '.',
            };
            let row: Vec<String> = (0..columns).map(|x| cell(x).to_string()).collect();
            let row = row.join(" ");
            match names.get(z * rows + y) {
                Some(name) if name.is_empty() => {}
                Some(name) => lines.push(format!("{name:<label$}  {row}").trim_end().to_string()),
                None => lines.push(format!("{y:>label$}  {row}")),
            }
        }
        // Every fifth column is numbered.
        let mut axis = " ".repeat(label + 2);
        for x in (0..columns).step_by(5) {
            axis += &format!("{:<10}", sheets.first_column(z) + x);
        }
        lines.push(axis.trim_end().to_string());
    }
    lines.extend(Sheets::unfolded(topology));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use replay_engine::topology::NodeId;

    #[test]
    fn layout_maps_positions_to_processor_numbers() {
        let sheets = |machine: &str| Sheets::of(&machine.parse().expect("a machine"));
        assert_eq!(sheets("4x3").sides, [4, 3, 1]);
        assert_eq!(sheets("torus:4x3x2").processor([1, 2, 1]), 11);
        assert_eq!(sheets("hypercube:5").sides, [8, 4, 1]);
        assert_eq!(sheets("cluster:6x2").sides, [6, 2, 1]);
        assert_eq!(sheets("cluster:6x2").processor([5, 1, 0]), 11);
        let groups = sheets("cluster:100x2");
        assert_eq!((groups.sides, groups.processor([3, 1, 2])), ([25, 2, 4], 100 + 53));
        assert_eq!(groups.slice_name(2).as_deref(), Some("hosts 50 to 74"));
        let mut all: Vec<usize> = groups.processors().collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..200));
        assert_eq!(sheets("cluster:97").sides, [97, 1, 1]);
        for machine in ["4x3", "torus:4x3x2", "2x5x3"] {
            let topology: Topology = machine.parse().expect("a machine");
            let grid = topology.grid().expect("a grid");
            for at in grid.coords() {
                let place = Sheets::of(&topology).processor(at.map(usize::from));
                assert_eq!(place, grid.node(at).index(), "{machine} {at:?}");
            }
        }
        assert_eq!(sheets("2x3").processors().collect::<Vec<_>>(), [0, 3, 1, 4, 2, 5]);
        assert_eq!(sheets("hypercube:5").processor([3, 2, 0]), 0b10_011);
    }

    #[test]
    fn leaves_are_rows() {
        let tree: Topology = "tree:2x2x3".parse().expect("a machine");
        let sheets = Sheets::of(&tree);
        assert_eq!((sheets.sides, sheets.processor([1, 3, 0])), ([3, 4, 1], 1));
        assert_eq!(sheets.row_names(), ["s0-3", "s0-2", "s0-1", "s0-0"]);
        let down = vec![NodeId(4)];
        let empty =
            Snapshot { at: 0, holds: Vec::new(), waiting: 0, requested: None, down, span: None };
        let expected = ["s0-0  . . .", "s0-1  . - .", "s0-2  . . .", "s0-3  . . .", "      0"];
        assert_eq!(machine_map(&tree, &empty), expected);
        let blocks: Topology = "block:40x2".parse().expect("a machine");
        let sheets = Sheets::of(&blocks);
        assert_eq!(sheets.sides, [2, 32, 2]);
        assert_eq!(sheets.slice_name(1).as_deref(), Some("b32 to b39"));
        let mut all: Vec<usize> = sheets.processors().filter(|&one| one != ABSENT).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..80));
        let wrapped = Sheets::of(&"tree:2x200".parse().expect("a machine"));
        assert_eq!(wrapped.sides, [100, 4, 1]);
        assert_eq!(wrapped.row_names(), ["s0-1 +100", "s0-1", "s0-0 +100", "s0-0"]);
        assert_eq!(wrapped.processor([99, 2, 0]), 199);
        assert!(wrapped.has_wrapped_rows() && !sheets.has_wrapped_rows());
    }

    #[test]
    fn machine_maps_have_one_symbol_per_processor() {
        let (holds, down) = (Vec::new(), vec![NodeId(3), NodeId(7)]);
        let some_out = Snapshot { at: 0, holds, waiting: 0, requested: None, down, span: None };
        let empty = Snapshot { down: Vec::new(), ..some_out.clone() };
        let mesh = "7x2".parse().expect("a mesh");
        assert_eq!(machine_map(&mesh, &some_out)[..2], ["1  . - . - . . .", "0  . . . . . . ."]);
        let map = |machine: &str| machine_map(&machine.parse().expect("a machine"), &empty);
        assert_eq!(map("7x2"), ["1  . . . . . . .", "0  . . . . . . .", "   0         5"]);
        let cube = map("hypercube:5");
        let unfolded = "unfolded: x is bits 0 to 2 of a processor's number, y bits 3 to 4; neighbours differ in one bit";
        assert_eq!((cube.len(), cube[5].as_str()), (6, unfolded));
        let unfolded = |cube: &str| Sheets::unfolded(&cube.parse().expect("a machine"));
        assert!(unfolded("hypercube:1").is_some_and(|line| {
            line.starts_with("unfolded: x is bit 0 of a processor's number; ")
        }));
        assert!(
            unfolded("hypercube:3")
                .is_some_and(|line| line.contains("bits 0 to 1 ") && line.contains("y bit 2;"))
        );
        assert_eq!(unfolded("4x4"), None);
        let slices = map("2x2x2");
        assert_eq!(slices[..2], ["z = 0", "1  . ."]);
        assert_eq!(slices.len(), 8);
    }
}
