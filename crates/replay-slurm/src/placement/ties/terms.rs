//! The terms of a candidate. The computation of a sum stops as soon as the candidate can no longer
//! win.

use crate::placement::ties::delays::Delays;
use crate::placement::ties::weights::{TermWeights, nearness};
use crate::placement::ties::{Fixed, Known, TieQuery, Ties};

impl Ties {
    /// Returns the weighted sum of a candidate's terms; `None` if the sum is not below the limit
    /// `below`.
    pub(super) fn sum_below(
        &mut self,
        at: [usize; 2],
        query: &TieQuery<'_>,
        delays: &[Delays],
        below: Option<i128>,
    ) -> Option<i128> {
        let TermWeights { larger, equal, contact, wall, ends, delay } = query.weights;
        let mut sum = 0;
        if contact != 0 || wall != 0 || ends != 0 {
            let [touched, walls, together] = self.contact_terms(at, query);
            sum -= i128::from(contact) * i128::from(touched);
            sum -= i128::from(wall) * i128::from(walls);
            sum -= i128::from(ends) * i128::from(together);
        }
        // With nonnegative weights, the sum cannot decrease, so the computation stops when the sum
        // is too large.
        let most = below.filter(|_| larger >= 0 && equal >= 0 && delay >= 0);
        let delayed = i128::from(delay) * delays.first().map_or(0, |first| first.lower_bound);
        if larger != 0 || equal != 0 {
            sum += self.lost(at, query, most.map(|most| most - sum - delayed))?;
        }
        if delay != 0 {
            sum += self.delayed(at, query, delays, most.map(|most| most - sum))?;
        }
        below.is_none_or(|below| sum < below).then_some(sum)
    }

    /// Returns the terms of a candidate in the order LF, EQ, NF, WF, EF, DL. A term whose weight in the query is 0 may be
    /// 0 instead.
    pub(super) fn terms(
        &mut self,
        at: [usize; 2],
        query: &TieQuery<'_>,
        delays: &[Delays],
    ) -> [i128; 6] {
        let TermWeights { larger, equal, contact, wall, ends, delay } = query.weights;
        let mut terms = [0; 6];
        if larger != 0 || equal != 0 {
            let place = self.place(at);
            let equals = self.of_size(query.size);
            for &other in &self.blockable {
                let own = u32::from(other == at[0]);
                let count = self.open.count_overlapping(&self.fixed.torus, place, other) - own;
                let lost = i128::from(count) * i128::from(query.worth[other]);
                terms[usize::from(equals.contains(&other))] += lost;
            }
        }
        if contact != 0 || wall != 0 || ends != 0 {
            let contact_terms = self.contact_terms(at, query);
            terms[2..5].copy_from_slice(&contact_terms.map(i128::from));
        }
        if delay != 0 {
            let unit = TieQuery { weights: TermWeights::only(5), ..*query };
            terms[5] = self.delayed(at, &unit, delays, None).unwrap_or_default();
        }
        terms
    }

    /// Returns DL times its weight; `None` if the product is not below the limit `below`.
    /// Candidates that overlap the same boxes share the result.
    fn delayed(
        &mut self,
        at: [usize; 2],
        query: &TieQuery<'_>,
        delays: &[Delays],
        below: Option<i128>,
    ) -> Option<i128> {
        let [index, anchor] = at;
        let size = |equivalent_positions: &[Vec<u32>; 3]| {
            equivalent_positions.iter().map(Vec::len).product::<usize>()
        };
        let before = self.of_size(query.size).start..index;
        let mut key: usize =
            before.map(|index| size(&self.fixed.equivalent_positions[index])).sum();
        let equivalent_positions = &self.fixed.equivalent_positions[index];
        let [x, y, z] = self.fixed.torus.placements()[index].place(anchor);
        let [x, y, z] =
            [equivalent_positions[0][x], equivalent_positions[1][y], equivalent_positions[2][z]]
                .map(|first| first as usize);
        key += (x * equivalent_positions[1].len() + y) * equivalent_positions[2].len() + z;
        let weight = i128::from(query.weights.delay);
        let is_too_large = |sum: i128| below.is_some_and(|below| weight * sum >= below);
        match self.delayed[key] {
            Known::Sum(sum) => return (!is_too_large(sum)).then_some(weight * sum),
            Known::AtLeast(sum) if is_too_large(sum) => return None,
            Known::AtLeast(_) => {}
        }
        let mut sum = 0;
        let rest = delays.iter().skip(1).map(|next| next.lower_bound).chain([0]);
        for (delays, rest) in delays.iter().zip(rest) {
            sum += delays.with(self, at, query);
            if is_too_large(sum + rest) {
                self.delayed[key] = Known::AtLeast(sum + rest);
                return None;
            }
        }
        self.delayed[key] = Known::Sum(sum);
        Some(weight * sum)
    }

    /// Returns the weighted sum of LF and EQ; `None` if the sum is not below the limit `below`.
    fn lost(
        &self,
        [index, anchor]: [usize; 2],
        query: &TieQuery<'_>,
        below: Option<i128>,
    ) -> Option<i128> {
        let torus = &self.fixed.torus;
        let place = self.place([index, anchor]);
        let from = self.of_size(query.size);
        let mut lost = 0;
        for &other in &self.blockable {
            // The count includes the candidate, because a box overlaps itself.
            let count =
                self.open.count_overlapping(torus, place, other) - u32::from(other == index);
            let weight = match from.contains(&other) {
                true => query.weights.equal,
                false => query.weights.larger,
            };
            lost += i128::from(weight) * i128::from(count) * i128::from(query.worth[other]);
            if below.is_some_and(|below| lost >= below) {
                return None;
            }
        }
        Some(lost)
    }

    /// Returns NF, WF and EF.
    fn contact_terms(&self, [placement, anchor]: [usize; 2], query: &TieQuery<'_>) -> [u64; 3] {
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
                    together += self.together(cell, query);
                }
            }
        }
        [touched, walls, together]
    }

    /// Returns the nearness of two ends: the end of the job in a cell, and the end of the new job.
    fn together(&self, cell: u32, query: &TieQuery<'_>) -> u64 {
        if !query.has_estimate || !self.estimated.contains(cell) {
            return 0;
        }
        // A job that has exceeded its estimate is expected to end now.
        let left = self.ends[cell as usize].saturating_sub(query.now);
        nearness(left.abs_diff(query.estimate), query.estimate).into()
    }
}
