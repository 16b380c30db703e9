//! Shells around a centre: gathering a square shell, and selecting a part of any shell.

use crate::definition::{Metric, ShellOrder};
use replay_engine::machine::{Count, Machine};
use replay_engine::topology::{Axis, Coord, Grid, NodeId};

/// Selection of the processors that are taken from a last shell.
///
/// The carried order sorts by the distances to all earlier centres, the latest first. The result depends only on the
/// processors near the cut. The shell is therefore not sorted. Instead, each earlier centre narrows the shell to the
/// processors that still compare equal at the cut. The narrowing ends after a few centres.
#[derive(Debug)]
pub struct ShellCut<P = NodeId, D = u32> {
    undecided: Vec<P>,
    distances: Vec<D>,
    histogram: Vec<u32>,
}

impl<P, D> Default for ShellCut<P, D> {
    fn default() -> Self {
        Self { undecided: Vec::new(), distances: Vec::new(), histogram: Vec::new() }
    }
}

impl ShellCut {
    /// Moves `need` processors of `shell` to `chosen` in any order. `shell` must be in scan order. `earlier` are the
    /// centres before this centre in candidate order, the latest first. `coords` are the coordinates of all processors,
    /// by processor number.
    ///
    /// [`ShellOrder::Greedy`] is treated as scan order, because the definition makes the decisions with this order.
    #[allow(clippy::too_many_arguments)]
    pub fn take(
        &mut self,
        order: ShellOrder,
        metric: Metric,
        grid: &Grid,
        coords: &[Coord],
        earlier: impl Iterator<Item = Coord>,
        shell: &[NodeId],
        need: usize,
        chosen: &mut Vec<NodeId>,
    ) {
        if order != ShellOrder::Carried {
            chosen.extend_from_slice(&shell[..need]);
            return;
        }
        let apart = |c: &Coord, p: NodeId| {
            let p = &coords[p.index()];
            [0, 1, 2].map(|axis| u32::from(c[axis].abs_diff(p[axis])))
        };
        // On a mesh, distances skip the wrap-around check of each axis.
        match metric {
            _ if grid.is_wrapped() => {
                let distance = |&c: &Coord, p: NodeId| metric.distance(grid, c, coords[p.index()]);
                self.take_by(earlier, distance, shell, need, chosen);
            }
            Metric::Linf => {
                let distance = |c: &Coord, p: NodeId| {
                    let [x, y, z] = apart(c, p);
                    x.max(y).max(z)
                };
                self.take_by(earlier, distance, shell, need, chosen);
            }
            Metric::L1 => {
                let distance = |c: &Coord, p: NodeId| apart(c, p).iter().sum();
                self.take_by(earlier, distance, shell, need, chosen);
            }
        }
    }
}

impl<P: Copy, D: Count> ShellCut<P, D> {
    /// Takes processors like [`take`](ShellCut::take) in carried order, for any type of processor and centre and any
    /// distance function. Returns `false` if the part is determined by the scan order and not by the earlier centres.
    pub fn take_by<C>(
        &mut self,
        mut earlier: impl Iterator<Item = C>,
        distance: impl Fn(&C, P) -> D,
        shell: &[P],
        mut need: usize,
        chosen: &mut Vec<P>,
    ) -> bool {
        self.undecided.clear();
        self.undecided.extend_from_slice(shell);
        while need > 0 && need < self.undecided.len() {
            let Some(centre) = earlier.next() else { break };
            self.distances.clear();
            self.distances.extend(self.undecided.iter().map(|&p| distance(&centre, p)));
            let (mut least, mut most) = (D::MAX, D::default());
            for &distance in &self.distances {
                (least, most) = (least.min(distance), most.max(distance));
            }
            if least == most {
                continue;
            }
            let beyond = self.distances.iter().map(|distance| distance.minus(least).into());
            let cut = least.plus(D::of(nth_smallest(
                beyond,
                most.minus(least).into(),
                need,
                &mut self.histogram,
            )));
            let mut kept = 0;
            for i in 0..self.undecided.len() {
                let processor = self.undecided[i];
                if self.distances[i] < cut {
                    chosen.push(processor);
                    need -= 1;
                } else if self.distances[i] == cut {
                    self.undecided[kept] = processor;
                    kept += 1;
                }
            }
            self.undecided.truncate(kept);
        }
        chosen.extend_from_slice(&self.undecided[..need]);
        need == 0 || need == self.undecided.len()
    }
}

/// Returns the `need`-th smallest number of a sequence of numbers from 0 to `most`; `need` is at least one and at most
/// the length of the sequence. `histogram` is scratch memory.
#[inline]
pub fn nth_smallest(
    numbers: impl Iterator<Item = u32>,
    most: u32,
    need: usize,
    histogram: &mut Vec<u32>,
) -> usize {
    histogram.clear();
    histogram.resize(most as usize + 1, 0);
    numbers.for_each(|number| histogram[number as usize] += 1);
    let mut below = 0;
    let reaches = |&count: &u32| {
        below += count as usize;
        below >= need
    };
    histogram.iter().position(reaches).unwrap_or(0)
}

/// The free processors of one square shell, from which a part can be taken.
#[derive(Debug)]
pub struct SquareShell {
    grid: Grid,
    coords: Vec<Coord>,
    order: ShellOrder,
    shell: Vec<NodeId>,
    cut: ShellCut,
}

impl SquareShell {
    /// Creates an empty shell for `grid`.
    pub fn new(grid: &Grid, order: ShellOrder) -> Self {
        Self {
            coords: grid.coords(),
            grid: grid.clone(),
            order,
            shell: Vec::new(),
            cut: ShellCut::default(),
        }
    }

    /// Puts the free processors at distance `outermost` into the shell, in scan order, and nearer free processors into
    /// `inside`.
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
        let mut on_shell = Appender::new(shell, box_size);
        let mut inside = inside.map(|inside| Appender::new(inside, box_size));
        for x in positions(grid, 0, outer) {
            for y in positions(grid, 1, middle) {
                let (first, across) = if lane_axis == 2 {
                    ([x, y, 0], axes[0].distance(c[0], x).max(axes[1].distance(c[1], y)))
                } else {
                    ([x, 0, 0], axes[0].distance(c[0], x))
                };
                let first = grid.node(first).index();
                let row = RowSlice {
                    first,
                    free: &machine.free_map()[first..][..grid.extent(lane_axis)],
                };
                if axes[lane_axis].wrapped {
                    let inside = inside.as_mut();
                    row.around(
                        axes[lane_axis],
                        c[lane_axis],
                        outermost,
                        across,
                        &mut on_shell,
                        inside,
                    );
                    continue;
                }
                let (mut from, mut to) = (lane.0 as usize, lane.0 as usize + lane.1 as usize);
                if across == outermost {
                    row.push(from..to, &mut on_shell);
                    continue;
                }
                let (position, reach) = (usize::from(c[lane_axis]), outermost as usize);
                if position >= reach {
                    row.push(from..from + 1, &mut on_shell);
                    from += 1;
                }
                if position + reach < row.free.len() {
                    row.push(to - 1..to, &mut on_shell);
                    to -= 1;
                }
                if let Some(inside) = &mut inside {
                    row.push(from..to, inside);
                }
            }
        }
        drop(on_shell);
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

/// The processors of a row; `first` is the number of the first processor.
struct RowSlice<'a> {
    first: usize,
    free: &'a [bool],
}

impl RowSlice<'_> {
    /// Appends the free processors at some positions.
    #[inline(always)]
    fn push(&self, positions: std::ops::Range<usize>, appender: &mut Appender<'_>) {
        let first = self.first + positions.start;
        for (number, &free) in (first as u32..).zip(&self.free[positions]) {
            appender.push_if(NodeId(number), free);
        }
    }

    /// Appends the free processors of a wrapped row: processors at distance `outermost` from `position` to the shell,
    /// and nearer processors to `inside`.
    fn around(
        &self,
        axis: Axis,
        position: u16,
        outermost: u32,
        across: u32,
        shell: &mut Appender<'_>,
        inside: Option<&mut Appender<'_>>,
    ) {
        let node = |p: u16| NodeId((self.first + usize::from(p)) as u32);
        let is_free = |p: u16| self.free[usize::from(p)];
        let (low, length) = axis.interval(position, outermost);
        let all = (low..low + length as i32).map(|p| wrap(axis, p));
        if across == outermost {
            all.for_each(|p| shell.push_if(node(p), is_free(p)));
            return;
        }
        let on_shell = |p: &u16| axis.distance(position, *p) == outermost;
        let [from, to] = [low, low + length as i32 - 1].map(|p| wrap(axis, p));
        let ends = [from, to].into_iter().take(if from == to { 1 } else { 2 });
        ends.filter(on_shell).for_each(|p| shell.push_if(node(p), is_free(p)));
        if let Some(inside) = inside {
            all.filter(|p| !on_shell(p)).for_each(|p| inside.push_if(node(p), is_free(p)));
        }
    }
}

/// Appends free processors to a list without a branch. A branch would be hard to predict. Every processor is therefore
/// written to the list, and the count grows only for free processors.
struct Appender<'a> {
    list: &'a mut Vec<NodeId>,
    count: usize,
}

impl<'a> Appender<'a> {
    fn new(list: &'a mut Vec<NodeId>, most: u32) -> Self {
        let count = list.len();
        // The additional entry receives the last processor if this processor is not free.
        list.resize(count + most as usize + 1, NodeId(0));
        Self { list, count }
    }

    #[inline(always)]
    fn push_if(&mut self, node: NodeId, is_free: bool) {
        self.list[self.count] = node;
        self.count += usize::from(is_free);
    }
}

impl Drop for Appender<'_> {
    fn drop(&mut self) {
        self.list.truncate(self.count);
    }
}

/// Returns the number of processors out of service at distance `shell` from `centre`.
pub fn down_on_shell(grid: &Grid, machine: &Machine, centre: NodeId, shell: u32) -> u32 {
    let c = grid.coord(centre);
    let along = |axis: usize| positions(grid, axis, grid.axes()[axis].interval(c[axis], shell));
    let mut down = 0;
    for x in along(0) {
        for y in along(1) {
            for p in along(2).map(|z| [x, y, z]).filter(|&p| grid.linf(c, p) == shell) {
                down += u32::from(machine.is_down(grid.node(p)));
            }
        }
    }
    down
}

/// Returns the positions of an interval of one dimension, wrapped into range.
#[inline(always)]
fn positions(grid: &Grid, axis: usize, (low, length): (i32, u32)) -> impl Iterator<Item = u16> {
    let axis = grid.axes()[axis];
    (low..low + length as i32).map(move |p| wrap(axis, p))
}

/// Wraps a position that is at most one extent out of range.
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
