use super::sections::Sections;
use super::survey::pairs_of;
use crate::allocator::centre::options::ShellOrder;
use crate::machine::BallCounts;
use crate::topology::{Coord, Grid, NodeId};

/// The last shell around one centre of any grid.
#[derive(Debug)]
pub struct Shell {
    grid: Grid,
    /// By dimension: positions that the shell may reach.
    places: [Vec<Place>; 3],
    /// Free processors and the sums of their distances to the complete shells, in scan order.
    members: Vec<Member>,
    costs: Vec<u32>,
    part: Vec<Member>,
    undecided: Vec<Member>,
    distances: Vec<u16>,
    histogram: Vec<u16>,
    /// By dimension: a position, and the distance of every position to it.
    rows: [(u16, Vec<u16>); 3],
    histograms: [Vec<u32>; 3],
}

/// A position of one dimension, its distance from the centre's, and its part of the sum of
/// distances to the complete shells.
#[derive(Clone, Copy, Debug)]
struct Place {
    distance: usize,
    place: usize,
    cost: u32,
}

/// A free processor, where it is, and the sum of its distances to the complete shells.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Member {
    node: NodeId,
    coord: Coord,
    cost: u32,
}

impl Shell {
    /// Shells on `grid`.
    pub fn new(grid: &Grid) -> Self {
        let row = |axis: usize| {
            let all = 0..grid.axes()[axis].extent;
            (0, all.map(|position| grid.axes()[axis].distance(0, position) as u16).collect())
        };
        Self {
            grid: grid.clone(),
            places: Default::default(),
            members: Vec::new(),
            costs: Vec::new(),
            part: Vec::new(),
            undecided: Vec::new(),
            distances: Vec::new(),
            histogram: Vec::new(),
            rows: [row(0), row(1), row(2)],
            histograms: [0, 1, 2].map(|axis| vec![0; grid.extent(axis)]),
        }
    }

    /// Gathers the shell `last` around the centre of lane `i`. Returns the sum of the
    /// `need` lowest costs, at least one.
    #[allow(clippy::too_many_arguments)]
    pub fn gather(
        &mut self,
        counts: &BallCounts,
        sections: &Sections,
        nodes: &[NodeId],
        coords: &[Coord],
        [a, b, lane]: [usize; 3],
        i: usize,
        last: usize,
        need: usize,
    ) -> u64 {
        let from = [a, b, lane + i];
        for (dimension, places) in self.places.iter_mut().enumerate() {
            let [behind, ahead] = sections.span(dimension);
            let extent = counts.extent(dimension) as isize;
            let wrapped = counts.axes()[dimension].wrapped;
            places.clear();
            places.extend((-behind..=ahead).filter_map(|offset| {
                let target = from[dimension] as isize + offset;
                let inside = (0..extent).contains(&target);
                let place = if inside { target } else { target.rem_euclid(extent) } as usize;
                let cost = sections.term(dimension, offset, i);
                (inside || wrapped).then_some(Place {
                    distance: offset.unsigned_abs(),
                    place,
                    cost,
                })
            }));
        }
        // The place after the centre's.
        let middle = self.places[2].iter().position(|place| place.distance == 0).unwrap_or(0);
        self.members.clear();
        for x in &self.places[0] {
            let Some(last) = last.checked_sub(x.distance) else { continue };
            for y in &self.places[1] {
                let Some(rest) = last.checked_sub(y.distance) else { continue };
                let row = (x.place * counts.extent(1) + y.place) * counts.pitch();
                let before = middle.checked_sub(rest).filter(|_| rest > 0);
                for z in before.into_iter().chain([middle + rest]) {
                    let Some(z) = self.places[2].get(z) else { continue };
                    if counts.is_free(row + z.place) {
                        let node = nodes[row + z.place];
                        let cost = x.cost + y.cost + z.cost;
                        self.members.push(Member { node, coord: coords[node.index()], cost });
                    }
                }
            }
        }
        self.costs.clear();
        self.costs.extend(self.members.iter().map(|member| member.cost));
        if need < self.costs.len() {
            self.costs.select_nth_unstable(need);
        }
        self.costs[..need].iter().map(|&cost| u64::from(cost)).sum()
    }

    /// What the `need` processors taken of the shell add to the score. `earlier` are the
    /// candidates before this one, the latest first.
    pub fn take(
        &mut self,
        order: ShellOrder,
        earlier: impl Iterator<Item = Coord>,
        need: usize,
    ) -> u64 {
        self.members.sort_unstable();
        self.part.clear();
        if order == ShellOrder::Carried {
            self.narrow(earlier, need);
        } else {
            self.part.extend_from_slice(&self.members[..need]);
        }
        self.histograms.iter_mut().for_each(|histogram| histogram.fill(0));
        let mut sum = 0;
        for member in &self.part {
            sum += u64::from(member.cost);
            for (histogram, position) in self.histograms.iter_mut().zip(member.coord) {
                histogram[usize::from(position)] += 1;
            }
        }
        sum + pairs_of(&self.grid, &self.histograms)
    }

    /// Takes `need` of the members in the carried order: the same narrowing as
    /// [`Cut::take_by`](crate::allocator::centre::Cut::take_by), with distances looked up.
    fn narrow(&mut self, earlier: impl Iterator<Item = Coord>, mut need: usize) {
        self.undecided.clear();
        self.undecided.extend_from_slice(&self.members);
        for centre in earlier {
            if need == self.undecided.len() || need == 0 {
                break;
            }
            self.look_from(centre);
            let (mut least, mut most) = (u16::MAX, 0);
            let [x, y, z] = &self.rows;
            self.distances.clear();
            self.distances.extend(self.undecided.iter().map(|Member { coord, .. }| {
                let [along_x, along_y, along_z] = *coord;
                let distance = x.1[usize::from(along_x)]
                    + y.1[usize::from(along_y)]
                    + z.1[usize::from(along_z)];
                (least, most) = (least.min(distance), most.max(distance));
                distance
            }));
            if least == most {
                continue;
            }
            let cut = least + self.distance_at_cut(least, most, need);
            let mut kept = 0;
            for i in 0..self.undecided.len() {
                let member = self.undecided[i];
                if self.distances[i] < cut {
                    self.part.push(member);
                    need -= 1;
                } else if self.distances[i] == cut {
                    self.undecided[kept] = member;
                    kept += 1;
                }
            }
            self.undecided.truncate(kept);
        }
        self.part.extend_from_slice(&self.undecided[..need]);
    }

    /// Makes the distances those from a centre.
    fn look_from(&mut self, centre: Coord) {
        for ((axis, row), place) in self.grid.axes().iter().zip(&mut self.rows).zip(centre) {
            if row.0 != place {
                row.0 = place;
                for (distance, position) in row.1.iter_mut().zip(0..) {
                    *distance = axis.distance(place, position) as u16;
                }
            }
        }
    }

    /// The distance of the `need`-th nearest, less the least.
    fn distance_at_cut(&mut self, least: u16, most: u16, need: usize) -> u16 {
        self.histogram.clear();
        self.histogram.resize(usize::from(most - least) + 1, 0);
        for &distance in &self.distances {
            self.histogram[usize::from(distance - least)] += 1;
        }
        let mut below = 0;
        let reaches = |&count: &u16| {
            below += usize::from(count);
            below >= need
        };
        self.histogram.iter().position(reaches).unwrap_or(0) as u16
    }
}
