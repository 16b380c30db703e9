//! The terms of a candidate, and their sum as far as it may still win.

use super::delays::Delays;
use super::handles::{Handles, nearness};
use super::{Fixed, Known, Question, Ties};

impl Ties {
    /// The sum of a candidate's terms, if it is below this.
    pub(super) fn sum_below(
        &mut self,
        at: [usize; 2],
        question: &Question<'_>,
        delays: &[Delays],
        below: Option<i128>,
    ) -> Option<i128> {
        let Handles { larger, equal, contact, wall, ends, delay } = question.handles;
        let mut sum = 0;
        if contact != 0 || wall != 0 || ends != 0 {
            let [touched, walls, together] = self.beside(at, question);
            sum -= i128::from(contact) * i128::from(touched);
            sum -= i128::from(wall) * i128::from(walls);
            sum -= i128::from(ends) * i128::from(together);
        }
        // What only grows is broken off when it is too much.
        let most = below.filter(|_| larger >= 0 && equal >= 0 && delay >= 0);
        let delayed = i128::from(delay) * delays.first().map_or(0, |first| first.least_with_rest);
        if larger != 0 || equal != 0 {
            sum += self.lost(at, question, most.map(|most| most - sum - delayed))?;
        }
        if delay != 0 {
            sum += self.delayed(at, question, delays, most.map(|most| most - sum))?;
        }
        below.is_none_or(|below| sum < below).then_some(sum)
    }

    /// DL by its weight, if it is below this. Candidates that meet the same boxes have the same.
    fn delayed(
        &mut self,
        at: [usize; 2],
        question: &Question<'_>,
        delays: &[Delays],
        below: Option<i128>,
    ) -> Option<i128> {
        let [index, anchor] = at;
        let size = |alike: &[Vec<u32>; 3]| alike.iter().map(Vec::len).product::<usize>();
        let before = self.of_size(question.size).start..index;
        let mut key: usize = before.map(|index| size(&self.fixed.alike[index])).sum();
        let alike = &self.fixed.alike[index];
        let [x, y, z] = self.fixed.torus.placements()[index].place(anchor);
        let [x, y, z] = [alike[0][x], alike[1][y], alike[2][z]].map(|first| first as usize);
        key += (x * alike[1].len() + y) * alike[2].len() + z;
        let weight = i128::from(question.handles.delay);
        let is_too_much = |sum: i128| below.is_some_and(|below| weight * sum >= below);
        match self.delayed[key] {
            Known::Sum(sum) => return (!is_too_much(sum)).then_some(weight * sum),
            Known::AtLeast(sum) if is_too_much(sum) => return None,
            Known::AtLeast(_) => {}
        }
        let mut sum = 0;
        let rest = delays.iter().skip(1).map(|next| next.least_with_rest).chain([0]);
        for (delays, rest) in delays.iter().zip(rest) {
            sum += delays.with(self, at, question);
            if is_too_much(sum + rest) {
                self.delayed[key] = Known::AtLeast(sum + rest);
                return None;
            }
        }
        self.delayed[key] = Known::Sum(sum);
        Some(weight * sum)
    }

    /// LF and EQ by their weights, if they are below this.
    fn lost(
        &self,
        [index, anchor]: [usize; 2],
        question: &Question<'_>,
        below: Option<i128>,
    ) -> Option<i128> {
        let torus = &self.fixed.torus;
        let place = self.place([index, anchor]);
        let from = self.of_size(question.size);
        let mut lost = 0;
        for &other in &self.losers {
            // It meets itself.
            let count = self.open.count_near(torus, place, other) - u32::from(other == index);
            let weight = match from.contains(&other) {
                true => question.handles.equal,
                false => question.handles.larger,
            };
            lost += i128::from(weight) * i128::from(count) * i128::from(question.worth[other]);
            if below.is_some_and(|below| lost >= below) {
                return None;
            }
        }
        Some(lost)
    }

    /// NF, WF and EF.
    fn beside(&self, [placement, anchor]: [usize; 2], question: &Question<'_>) -> [u64; 3] {
        let Fixed { torus, wrapped, .. } = &*self.fixed;
        let one = &torus.placements()[placement];
        let (base, sides) = (one.base(anchor), one.sides);
        let [mut touched, mut walls, mut together] = [0; 3];
        for axis in 0..3 {
            let (side, length) = (u32::from(sides[axis]), u32::from(torus.sides[axis]));
            let mut extent = sides;
            extent[axis] = 1;
            let face: u64 = extent.iter().map(|&side| u64::from(side)).product();
            let at_edges = [base[axis] == 0, u32::from(base[axis]) + side == length];
            for (at_edge, outside) in at_edges.into_iter().zip([length - 1, side]) {
                if at_edge && !wrapped[axis] {
                    walls += face;
                    continue;
                }
                if side == length {
                    continue;
                }
                let mut beyond = base;
                beyond[axis] = ((u32::from(base[axis]) + outside) % length) as u16;
                let busy = |&cell: &u32| !self.open.free().contains(cell);
                for cell in torus.cells_in(beyond, extent).filter(busy) {
                    if self.down.cells.contains(cell) {
                        walls += u64::from(self.down.is_wall);
                        continue;
                    }
                    touched += 1;
                    together += self.together(cell, question);
                }
            }
        }
        [touched, walls, together]
    }

    /// How near the end of the job in a cell is to that of the new one.
    fn together(&self, cell: u32, question: &Question<'_>) -> u64 {
        if !question.told || !self.told.contains(cell) {
            return 0;
        }
        // A job that has outrun its estimate is to end now.
        let left = self.ends[cell as usize].saturating_sub(question.now);
        nearness(left.abs_diff(question.estimate), question.estimate).into()
    }
}
