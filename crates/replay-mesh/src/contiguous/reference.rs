//! Brute-force definitions for tests, which examine every base and every processor of its frame.

use crate::contiguous::scan::Scan;
use replay_engine::machine::Machine;
use replay_engine::topology::{Coord, Grid, NodeId, Topology};

/// Returns a machine on which the processors with a flag are busy.
pub fn machine(topology: &str, busy: &[bool]) -> Machine {
    let mut machine = Machine::new(topology.parse().expect("a machine"));
    let taken: Vec<_> = machine.topology().nodes().filter(|node| busy[node.index()]).collect();
    machine.occupy(&taken);
    machine
}

/// Returns the machine's grid.
pub fn grid(machine: &Machine) -> &Grid {
    machine.topology().grid().expect("a grid")
}

/// Returns the processors of a frame; `None` if the frame extends past the mesh or is longer than
/// the torus.
pub fn frame(grid: &Grid, base: Coord, sides: [u16; 3]) -> Option<Vec<Coord>> {
    let legal = |i: usize| {
        let axis = grid.axes()[i];
        sides[i] <= axis.extent && (axis.wrapped || base[i] + sides[i] <= axis.extent)
    };
    if !(0..3).all(legal) {
        return None;
    }
    let at = |i: usize, offset: u16| (base[i] + offset) % grid.axes()[i].extent;
    let mut cells = Vec::new();
    for z in 0..sides[2] {
        for y in 0..sides[1] {
            cells.extend((0..sides[0]).map(|x| [at(0, x), at(1, y), at(2, z)]));
        }
    }
    Some(cells)
}

/// Returns whether a frame is inside the machine and all its processors are free.
pub fn is_free(machine: &Machine, base: Coord, sides: [u16; 3]) -> bool {
    let grid = grid(machine);
    frame(grid, base, sides)
        .is_some_and(|cells| cells.iter().all(|&cell| machine.is_free(grid.node(cell))))
}

/// Returns the bases of free frames in scan order.
pub fn bases(machine: &Machine, sides: [u16; 3], scan: Scan) -> Vec<Coord> {
    let grid = grid(machine);
    let mut bases: Vec<_> =
        grid.coords().into_iter().filter(|&base| is_free(machine, base, sides)).collect();
    bases.sort_by_key(|&base| scan.rank(grid, base));
    bases
}

/// Returns the numbers of a frame's processors in the order in which they are chosen.
pub fn nodes(grid: &Grid, base: Coord, sides: [u16; 3]) -> Vec<NodeId> {
    let cells = frame(grid, base, sides).expect("on the grid");
    cells.into_iter().map(|cell| grid.node(cell)).collect()
}

/// Returns the state of Fig. 4.3 of Bani-Mohammad 2008: 19 processors of a 6 x 6 mesh are free.
pub fn figure_4_3() -> Machine {
    let topology: Topology = "6x6".parse().expect("a mesh");
    let mut machine = Machine::new(topology);
    for (base, end) in [([1, 4], [5, 5]), ([0, 2], [1, 3]), ([4, 3], [5, 3]), ([5, 2], [5, 2])] {
        let sides = [end[0] - base[0] + 1, end[1] - base[1] + 1, 1];
        let taken = nodes(grid(&machine), [base[0], base[1], 0], sides);
        machine.occupy(&taken);
    }
    machine
}
