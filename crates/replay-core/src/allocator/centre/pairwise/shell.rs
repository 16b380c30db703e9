use super::candidates::Candidates;
use super::sections::Sections;
use super::survey::pairs_of;
use super::undecided::Undecided;
use crate::allocator::centre::options::ShellOrder;
use crate::machine::BallCounts;
use crate::topology::{Axis, Coord, Grid, NodeId};

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
    undecided: Undecided,
    /// The dimension along which candidates follow each other.
    along: usize,
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
        let around = |axis: Axis| if axis.wrapped { axis.extent as i16 } else { 0 };
        Self {
            grid: grid.clone(),
            places: Default::default(),
            members: Vec::new(),
            costs: Vec::new(),
            part: Vec::new(),
            undecided: Undecided::new(grid.axes().map(around)),
            along: grid.dimensions() - 1,
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
                // No offset is longer than once around.
                let target = from[dimension] as isize + offset;
                let inside = (0..extent).contains(&target);
                let turn = if target < 0 { extent } else { -extent };
                let place = if inside { target } else { target + turn } as usize;
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

    /// What the `need` processors taken of the shell around a candidate add to the score.
    pub fn take(
        &mut self,
        order: ShellOrder,
        candidates: &Candidates,
        index: usize,
        need: usize,
    ) -> u64 {
        self.members.sort_unstable();
        self.part.clear();
        if order == ShellOrder::Carried {
            self.narrow(candidates, index, need);
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

    /// Takes `need` of the members in the carried order. Of the earlier candidates whole lines are passed over that tell
    /// nobody apart.
    fn narrow(&mut self, candidates: &Candidates, index: usize, mut need: usize) {
        let Self { undecided, members, part, along, .. } = self;
        undecided.start(members.iter().map(|member| member.coord));
        let is_decided =
            |undecided: &Undecided, need| need == 0 || need == undecided.numbers().len();
        let mut at = index;
        // Where the line begins that the candidates before `at` are on, while it may tell somebody apart.
        let mut heard = index;
        while at > 0 && !is_decided(undecided, need) {
            let centre = candidates.centre(at - 1);
            if at == heard {
                heard = candidates.first_of_line(at - 1);
                if undecided.is_deaf(centre, *along) {
                    at = heard;
                    continue;
                }
            }
            at -= 1;
            let before = undecided.numbers().len();
            need = undecided.narrow(centre, need, |number| part.push(members[number]));
            if undecided.numbers().len() < before && undecided.is_deaf(centre, *along) {
                at = heard;
            }
        }
        let rest = &undecided.numbers()[..need];
        part.extend(rest.iter().map(|&number| members[number as usize]));
    }
}
