//! The free processors of one shell, and part of them.

use crate::allocator::centre::carried::Cut;
use crate::allocator::centre::options::{Metric, ShellOrder};
use crate::machine::Machine;
use crate::topology::{Coord, Grid, NodeId};

/// Gathers a shell and takes part of it.
#[derive(Debug)]
pub struct Ring {
    grid: Grid,
    coords: Vec<Coord>,
    order: ShellOrder,
    shell: Vec<NodeId>,
    cut: Cut,
}

impl Ring {
    /// For the shells of `grid`.
    pub fn new(grid: &Grid, order: ShellOrder) -> Self {
        Self {
            coords: grid.coords(),
            grid: grid.clone(),
            order,
            shell: Vec::new(),
            cut: Cut::default(),
        }
    }

    /// Puts the free processors at distance `outermost` into the shell, in scan order,
    /// and those nearer into `inside`.
    pub fn gather(
        &mut self,
        machine: &Machine,
        centre: NodeId,
        outermost: u32,
        mut inside: Option<&mut Vec<NodeId>>,
    ) {
        self.shell.clear();
        let c = self.coords[centre.index()];
        let lane_axis = self.grid.dimensions() - 1;
        let [outer, lane] = [0, lane_axis].map(|i| self.grid.axes()[i].interval(c[i], outermost));
        let middle =
            if lane_axis == 2 { self.grid.axes()[1].interval(c[1], outermost) } else { (0, 1) };
        for x in positions(&self.grid, 0, outer) {
            for y in positions(&self.grid, 1, middle) {
                let (first, across) = if lane_axis == 2 {
                    ([x, y, 0], self.grid.linf([c[0], c[1], 0], [x, y, 0]))
                } else {
                    ([x, 0, 0], self.grid.axes()[0].distance(c[0], x))
                };
                let first = self.grid.node(first).index();
                let row = &machine.free_map()[first..first + self.grid.extent(lane_axis)];
                let node = |p: u16| NodeId((first + usize::from(p)) as u32);
                let is_free = |p: &u16| row[usize::from(*p)];
                let all = positions(&self.grid, lane_axis, lane);
                if across == outermost {
                    self.shell.extend(all.filter(is_free).map(node));
                    continue;
                }
                let on_shell =
                    |p: &u16| self.grid.axes()[lane_axis].distance(c[lane_axis], *p) == outermost;
                let (low, length) = (lane.0, lane.1 as i32);
                let [from, to] = [low, low + length - 1].map(|p| wrap(&self.grid, lane_axis, p));
                let ends = [from, to].into_iter().take(if from == to { 1 } else { 2 });
                self.shell.extend(ends.filter(on_shell).filter(is_free).map(node));
                if let Some(inside) = &mut inside {
                    inside.extend(all.filter(|p| !on_shell(p)).filter(is_free).map(node));
                }
            }
        }
        if self.grid.is_wrapped() {
            self.shell.sort_unstable();
        }
    }

    /// Moves `need` processors of the gathered shell around `centre` to `chosen`.
    pub fn take(
        &mut self,
        machine: &Machine,
        centre: NodeId,
        need: usize,
        chosen: &mut Vec<NodeId>,
    ) {
        let free = &machine.free_map()[..centre.index()];
        let earlier = free.iter().enumerate().rev().filter(|(_, free)| **free);
        let Self { grid, coords, order, shell, cut } = self;
        let coords: &[Coord] = coords;
        let earlier = earlier.map(|(id, _)| coords[id]);
        cut.take(*order, Metric::Linf, grid, coords, earlier, shell, need, chosen);
    }
}

/// Calls `visit` with every position at distance `shell` from `centre`, free or not, once.
pub fn on_shell(grid: &Grid, centre: NodeId, shell: u32, mut visit: impl FnMut(NodeId)) {
    let c = grid.coord(centre);
    let axes = grid.axes();
    let lane_axis = grid.dimensions() - 1;
    let interval = |axis: usize| axes[axis].interval(c[axis], shell);
    let lane = interval(lane_axis);
    let middle = if lane_axis == 2 { interval(1) } else { (0, 1) };
    for x in positions(grid, 0, interval(0)) {
        for y in positions(grid, 1, middle) {
            let (mut place, mut across) = ([x, y, 0], axes[0].distance(c[0], x));
            if lane_axis == 2 {
                across = across.max(axes[1].distance(c[1], y));
            } else {
                place[1] = 0;
            }
            let mut at = |p: u16| {
                place[lane_axis] = p;
                visit(grid.node(place));
            };
            if across == shell {
                positions(grid, lane_axis, lane).for_each(&mut at);
                continue;
            }
            let on_it = |p: &u16| axes[lane_axis].distance(c[lane_axis], *p) == shell;
            let (low, length) = (lane.0, lane.1 as i32);
            let [from, to] = [low, low + length - 1].map(|p| wrap(grid, lane_axis, p));
            let ends = [from, to].into_iter().take(if from == to { 1 } else { 2 });
            ends.filter(on_it).for_each(&mut at);
        }
    }
}

/// Processors out of service at distance `shell` from `centre`.
pub fn down_on_shell(grid: &Grid, machine: &Machine, centre: NodeId, shell: u32) -> u32 {
    let mut down = 0;
    on_shell(grid, centre, shell, |node| down += u32::from(machine.is_down(node)));
    down
}

/// The positions of an interval of one dimension, wrapped into range.
#[inline(always)]
fn positions(grid: &Grid, axis: usize, (low, length): (i32, u32)) -> impl Iterator<Item = u16> {
    (low..low + length as i32).map(move |p| wrap(grid, axis, p))
}

/// A position at most one turn out of range, wrapped into it.
#[inline(always)]
fn wrap(grid: &Grid, axis: usize, p: i32) -> u16 {
    let extent = grid.extent(axis) as i32;
    (if p < 0 {
        p + extent
    } else if p >= extent {
        p - extent
    } else {
        p
    }) as u16
}
