//! A machine and who holds it, as text.

use crate::experiment::snapshot::Snapshot;
use crate::topology::Topology;

/// How processors lie on a page: slices of rows of columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sheets {
    /// Columns, rows, slices; their product is the number of processors.
    pub sides: [usize; 3],
    /// Whether processors are numbered by columns, as on a grid, or by rows.
    by_columns: bool,
}

impl Sheets {
    /// A grid as it is, a slice for each z; a hypercube unfolded, the lower half of a processor's bits
    /// along x, the upper along y; hosts of a cluster in one row.
    pub fn of(topology: &Topology) -> Self {
        let by_columns = matches!(topology, Topology::Grid(_));
        let sides = match topology {
            Topology::Grid(grid) => [0, 1, 2].map(|axis| grid.extent(axis)),
            Topology::Hypercube(cube) => {
                let across = u32::from(cube.dimensions()).div_ceil(2);
                [1 << across, 1 << (u32::from(cube.dimensions()) - across), 1]
            }
            Topology::Cluster(_) => [topology.processors(), 1, 1],
        };
        Self { sides, by_columns }
    }

    /// The processor in a column, row and slice.
    pub fn processor(self, [x, y, z]: [usize; 3]) -> usize {
        let [columns, rows, slices] = self.sides;
        match self.by_columns {
            true => (x * rows + y) * slices + z,
            false => (z * rows + y) * columns + x,
        }
    }

    /// Values by processor as they lie on the page: column by column of a row, row by row, slice by slice.
    pub fn laid_out<T: Clone>(self, values: &[T]) -> Vec<T> {
        let [columns, rows, slices] = self.sides;
        let places = (0..slices)
            .flat_map(|z| (0..rows).flat_map(move |y| (0..columns).map(move |x| [x, y, z])));
        places.filter_map(|place| values.get(self.processor(place)).cloned()).collect()
    }
}

/// Symbols of jobs in the order of their starts; with more jobs they come again.
const SYMBOLS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// The symbol of job number `place` of a snapshot.
pub fn symbol(snapshot: &Snapshot, place: usize) -> char {
    match snapshot.asked == Some(place) {
        true => '#',
        false => char::from(SYMBOLS[place % SYMBOLS.len()]),
    }
}

/// By processor, which of the snapshot's jobs holds it; on a machine of so many.
pub fn holders(snapshot: &Snapshot, processors: usize) -> Vec<Option<usize>> {
    let mut holders = vec![None; processors];
    for (place, hold) in snapshot.holds.iter().enumerate() {
        for node in &hold.nodes {
            if let Some(holder) = holders.get_mut(node.index()) {
                *holder = Some(place);
            }
        }
    }
    holders
}

/// The machine as lines of text: a letter for each processor, `.` if it is free, `-` if it is out of
/// service, `#` if it is the asked job's. Rows from the largest y down, as on paper; slices of three dimensions one under the
/// other.
pub fn machine_map(topology: &Topology, snapshot: &Snapshot) -> Vec<String> {
    let sheets = Sheets::of(topology);
    let [columns, rows, slices] = sheets.sides;
    let holders = holders(snapshot, columns * rows * slices);
    let mut free = vec!['.'; holders.len()];
    for node in &snapshot.down {
        if let Some(free) = free.get_mut(node.index()) {
            *free = '-';
        }
    }
    let label = (rows.max(1) - 1).to_string().len();
    let mut lines = Vec::new();
    for z in 0..slices {
        if slices > 1 {
            lines.push(format!("z = {z}"));
        }
        for y in (0..rows).rev() {
            let cell = |x| {
                let at = sheets.processor([x, y, z]);
                holders[at].map_or(free[at], |place| symbol(snapshot, place))
            };
            let row: Vec<String> = (0..columns).map(|x| cell(x).to_string()).collect();
            lines.push(format!("{y:>label$}  {}", row.join(" ")));
        }
        // Every fifth column has its number.
        let mut axis = " ".repeat(label + 2);
        for x in (0..columns).step_by(5) {
            axis += &format!("{x:<10}");
        }
        lines.push(axis.trim_end().to_string());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::NodeId;

    #[test]
    fn processors_lie_where_their_numbers_say() {
        let sheets = |machine: &str| Sheets::of(&machine.parse().expect("a machine"));
        assert_eq!(sheets("4x3").sides, [4, 3, 1]);
        assert_eq!(sheets("hypercube:5").sides, [8, 4, 1]);
        for machine in ["4x3", "torus:4x3x2", "2x5x3"] {
            let topology: Topology = machine.parse().expect("a machine");
            let grid = topology.grid().expect("a grid");
            for at in grid.coords() {
                let place = Sheets::of(&topology).processor(at.map(usize::from));
                assert_eq!(place, grid.node(at).index(), "{machine} {at:?}");
            }
        }
        assert_eq!(sheets("2x3").laid_out(&[0, 1, 2, 3, 4, 5]), [0, 3, 1, 4, 2, 5]);
        assert_eq!(sheets("hypercube:5").processor([3, 2, 0]), 0b10_011);
    }

    #[test]
    fn a_map_has_a_letter_for_each_processor() {
        let (holds, down) = (Vec::new(), vec![NodeId(3), NodeId(7)]);
        let some_out = Snapshot { at: 0, holds, waiting: 0, asked: None, down };
        let empty = Snapshot { down: Vec::new(), ..some_out.clone() };
        let mesh = "7x2".parse().expect("a mesh");
        assert_eq!(machine_map(&mesh, &some_out)[..2], ["1  . - . - . . .", "0  . . . . . . ."]);
        let map = |machine: &str| machine_map(&machine.parse().expect("a machine"), &empty);
        assert_eq!(map("7x2"), ["1  . . . . . . .", "0  . . . . . . .", "   0         5"]);
        let slices = map("2x2x2");
        assert_eq!(slices[..2], ["z = 0", "1  . ."]);
        assert_eq!(slices.len(), 8);
    }
}
