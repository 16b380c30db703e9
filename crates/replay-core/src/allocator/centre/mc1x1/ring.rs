//! The free processors of one shell, and part of them.

use crate::allocator::centre::carried::Cut;
use crate::allocator::centre::options::{Metric, ShellOrder};
use crate::machine::Machine;
use crate::topology::{Axis, Coord, Grid, NodeId};

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
        inside: Option<&mut Vec<NodeId>>,
    ) {
        let Self { grid, coords, shell, .. } = self;
        let (c, axes) = (coords[centre.index()], grid.axes());
        let lane_axis = grid.dimensions() - 1;
        let (outer, lane) =
            (axes[0].interval(c[0], outermost), axes[lane_axis].interval(c[lane_axis], outermost));
        let middle = if lane_axis == 2 { axes[1].interval(c[1], outermost) } else { (0, 1) };
        shell.clear();
        let box_size = outer.1 * middle.1 * lane.1;
        let mut room = Room::for_more(shell, box_size);
        let mut inside = inside.map(|inside| Room::for_more(inside, box_size));
        for x in positions(grid, 0, outer) {
            for y in positions(grid, 1, middle) {
                let (first, across) = if lane_axis == 2 {
                    ([x, y, 0], axes[0].distance(c[0], x).max(axes[1].distance(c[1], y)))
                } else {
                    ([x, 0, 0], axes[0].distance(c[0], x))
                };
                let first = grid.node(first).index();
                let row =
                    Run { first, free: &machine.free_map()[first..][..grid.extent(lane_axis)] };
                if axes[lane_axis].wrapped {
                    let inside = inside.as_mut();
                    row.around(axes[lane_axis], c[lane_axis], outermost, across, &mut room, inside);
                    continue;
                }
                let (mut from, mut to) = (lane.0 as usize, lane.0 as usize + lane.1 as usize);
                if across == outermost {
                    row.push(from..to, &mut room);
                    continue;
                }
                let (position, reach) = (usize::from(c[lane_axis]), outermost as usize);
                if position >= reach {
                    row.push(from..from + 1, &mut room);
                    from += 1;
                }
                if position + reach < row.free.len() {
                    row.push(to - 1..to, &mut room);
                    to -= 1;
                }
                if let Some(inside) = &mut inside {
                    row.push(from..to, inside);
                }
            }
        }
        drop(room);
        if grid.is_wrapped() {
            shell.sort_unstable();
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
        let earlier = earlier.map(|(id, _)| coords[id]);
        cut.take(*order, Metric::Linf, grid, coords, earlier, shell, need, chosen);
    }
}

/// Processors in a row, from `first` on.
struct Run<'a> {
    first: usize,
    free: &'a [bool],
}

impl Run<'_> {
    /// Puts those free of some positions into the room.
    #[inline(always)]
    fn push(&self, positions: std::ops::Range<usize>, room: &mut Room<'_>) {
        let first = self.first + positions.start;
        for (number, &free) in (first as u32..).zip(&self.free[positions]) {
            room.put(NodeId(number), free);
        }
    }

    /// On a row that goes around, those free at distance `outermost` from a position into the shell, and those
    /// nearer into `inside`.
    fn around(
        &self,
        axis: Axis,
        position: u16,
        outermost: u32,
        across: u32,
        shell: &mut Room<'_>,
        inside: Option<&mut Room<'_>>,
    ) {
        let node = |p: u16| NodeId((self.first + usize::from(p)) as u32);
        let is_free = |p: u16| self.free[usize::from(p)];
        let (low, length) = axis.interval(position, outermost);
        let all = (low..low + length as i32).map(|p| wrap(axis, p));
        if across == outermost {
            all.for_each(|p| shell.put(node(p), is_free(p)));
            return;
        }
        let on_shell = |p: &u16| axis.distance(position, *p) == outermost;
        let [from, to] = [low, low + length as i32 - 1].map(|p| wrap(axis, p));
        let ends = [from, to].into_iter().take(if from == to { 1 } else { 2 });
        ends.filter(on_shell).for_each(|p| shell.put(node(p), is_free(p)));
        if let Some(inside) = inside {
            all.filter(|p| !on_shell(p)).for_each(|p| inside.put(node(p), is_free(p)));
        }
    }
}

/// Room at the end of a list. Whether a processor is free is a toss-up: putting it there and
/// counting it or not takes no guess.
struct Room<'a> {
    list: &'a mut Vec<NodeId>,
    count: usize,
}

impl<'a> Room<'a> {
    fn for_more(list: &'a mut Vec<NodeId>, most: u32) -> Self {
        let count = list.len();
        // One more, for one that does not count.
        list.resize(count + most as usize + 1, NodeId(0));
        Self { list, count }
    }

    #[inline(always)]
    fn put(&mut self, node: NodeId, counts: bool) {
        self.list[self.count] = node;
        self.count += usize::from(counts);
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        self.list.truncate(self.count);
    }
}

/// Calls `visit` with every position at distance `shell` from `centre`, free or not, once.
fn on_shell(grid: &Grid, centre: NodeId, shell: u32, mut visit: impl FnMut(NodeId)) {
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
            let [from, to] = [low, low + length - 1].map(|p| wrap(axes[lane_axis], p));
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
    let axis = grid.axes()[axis];
    (low..low + length as i32).map(move |p| wrap(axis, p))
}

/// A position at most one turn out of range, wrapped into it.
#[inline(always)]
fn wrap(axis: Axis, p: i32) -> u16 {
    let extent = i32::from(axis.extent);
    (if p < 0 {
        p + extent
    } else if p >= extent {
        p - extent
    } else {
        p
    }) as u16
}
