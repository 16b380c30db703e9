//! Detection of bases at which a frame is free.
//!
//! Source: Bani-Mohammad 2008, Figures 3.4 (3D) and 4.1 (2D). A frame that is free can be
//! pushed to the left until it meets the wall or an allocated sub-mesh; its base then lies
//! in a right border plane, and those planes less all prohibited regions are searched. So
//! a free frame is found iff there is one. With the printed procedure completed where it
//! would lose planes: the pieces of a divided plane are followed each on its own, a plane
//! partly off the mesh is clipped, and what outlasts the last region is kept.
//!
//! Cost with m entries: m planes less m regions, m^2 subtractions as long as planes stay
//! whole; each may fall into four.

use super::border::Admissible;
use super::list::BusyList;
use super::plane::{Plane, Span};
use super::region::Region;
use crate::allocator::contiguous::frames::Frames;
use crate::cancel::CancelToken;
use crate::topology::Coord;

/// The search, with the buffers it reuses.
#[derive(Clone, Debug, Default)]
pub(in crate::allocator) struct Detector {
    /// The prohibited region of each entry, in list order.
    regions: Vec<Region>,
    /// What is left of the plane at hand.
    work: Vec<Plane>,
    next: Vec<Plane>,
    /// Planes of admissible bases.
    found: Vec<Plane>,
    subtractions: u64,
    stop: CancelToken,
}

impl Detector {
    /// Prohibited regions subtracted from planes or pieces of planes so far.
    pub fn subtractions(&self) -> u64 {
        self.subtractions
    }

    /// Forgets the count.
    pub fn reset(&mut self) {
        self.subtractions = 0;
    }

    /// Once this flag is raised, nothing is found any more.
    pub fn stopped_by(&mut self, stop: &CancelToken) {
        self.stop = stop.clone();
    }

    /// The flag.
    pub fn stop(&self) -> &CancelToken {
        &self.stop
    }

    /// The lowest corner of the first of the planes that [`all`](Self::all) lists, without
    /// the subtractions after it is known.
    pub fn first(&mut self, list: &BusyList, sides: [u16; 3]) -> Option<Coord> {
        self.first_of(list, sides, |_| true)
    }

    /// The same with a map of what is free: planes without a base are not divided at all.
    pub fn first_on_map(
        &mut self,
        list: &BusyList,
        map: &mut Frames,
        sides: [u16; 3],
    ) -> Option<Coord> {
        map.find(sides);
        if !map.has_base() {
            return None;
        }
        // The upright axes are the map's outer, middle and lane dimensions.
        let range = |span: Span| usize::from(span.low)..=usize::from(span.high);
        let has_base =
            |plane: &Plane| map.has_base_in(plane.x.into(), range(plane.y), range(plane.z));
        self.first_of(list, sides, has_base)
    }

    /// The first of the border planes that `may` have a base.
    fn first_of(
        &mut self,
        list: &BusyList,
        sides: [u16; 3],
        may: impl Fn(&Plane) -> bool,
    ) -> Option<Coord> {
        let admissible = self.prohibit(list, sides)?;
        let base = if list.is_flat() {
            self.first_of_segments(admissible, may)
        } else {
            self.first_of_planes(admissible, may)
        };
        base.map(|base| list.upright(base))
    }

    /// All planes of admissible bases in upright coordinates, in the order in which the
    /// procedure adds them: what the literal engine computes whole to use the first.
    pub fn all(&mut self, list: &BusyList, sides: [u16; 3]) -> &[Plane] {
        self.found.clear();
        if let Some(admissible) = self.prohibit(list, sides) {
            let Self { regions, work, next, found, subtractions, stop } = self;
            for border in borders(regions, admissible) {
                if stop.is_raised() {
                    found.clear();
                    break;
                }
                work.clear();
                work.push(border);
                for region in regions.iter() {
                    *subtractions += work.len() as u64;
                    next.clear();
                    for plane in work.drain(..) {
                        let from = next.len();
                        plane.subtract(region, next);
                        // A piece above this region is above all later ones: it is final.
                        found.extend(next.extract_if(from.., |piece| piece.is_above(region)));
                    }
                    std::mem::swap(work, next);
                    if work.is_empty() {
                        break;
                    }
                }
                found.append(work);
            }
        }
        &self.found
    }

    /// Computes the prohibited regions; `None` if the frame is longer than the mesh.
    fn prohibit(&mut self, list: &BusyList, sides: [u16; 3]) -> Option<Admissible> {
        let sides = list.upright(sides);
        let admissible = Admissible::new(list.extents(), sides)?;
        let prohibited = list.entries().iter().map(|e| Region::prohibited(&e.allocated, sides));
        self.regions.clear();
        self.regions.extend(prohibited);
        Some(admissible)
    }

    /// In two dimensions a plane is a segment, which never falls into more than a part
    /// below and a part above the region. The part above is final, so that the first
    /// segment is known as soon as a region leaves one.
    fn first_of_segments(
        &mut self,
        admissible: Admissible,
        may: impl Fn(&Plane) -> bool,
    ) -> Option<Coord> {
        let Self { regions, subtractions, .. } = self;
        'borders: for border in borders(regions, admissible).filter(may) {
            let (x, low, mut high) = (border.x, border.z.low, border.z.high);
            for region in regions.iter() {
                *subtractions += 1;
                let (region_low, region_high) = (region.low[2], region.high[2]);
                if low > region_high {
                    break; // case 1, and out of reach of all later regions
                }
                if !(region.covers_x(x) & (region_low <= high)) {
                    continue; // case 1
                }
                if high > region_high {
                    return Some([x, 0, region_high + 1]); // cases 3 and 4
                }
                if low >= region_low {
                    continue 'borders; // case 5
                }
                high = region_low - 1; // case 2
            }
            return Some([x, 0, low]);
        }
        None
    }

    fn first_of_planes(
        &mut self,
        admissible: Admissible,
        may: impl Fn(&Plane) -> bool,
    ) -> Option<Coord> {
        let Self { regions, work, next, subtractions, stop, .. } = self;
        'borders: for border in borders(regions, admissible).filter(may) {
            if stop.is_raised() {
                return None;
            }
            work.clear();
            work.push(border);
            // The highest of the lowest z of the pieces.
            let mut top = border.z.low;
            for region in regions.iter() {
                if work.iter().any(|plane| plane.meets(region)) {
                    next.clear();
                    top = 0;
                    for plane in work.iter() {
                        *subtractions += 1;
                        let from = next.len();
                        plane.subtract(region, next);
                        for piece in &next[from..] {
                            if piece.is_above(region) {
                                return Some(lowest(piece));
                            }
                            top = top.max(piece.z.low);
                        }
                    }
                    std::mem::swap(work, next);
                    if work.is_empty() {
                        continue 'borders;
                    }
                } else {
                    // Nothing changes, but some piece may be out of reach.
                    *subtractions += work.len() as u64;
                    if top > region.high[2] {
                        return work.iter().find(|piece| piece.is_above(region)).map(lowest);
                    }
                }
            }
            return work.first().map(lowest);
        }
        None
    }
}

/// The right border planes in list order, the left wall first, clipped to frames on the
/// mesh.
fn borders(regions: &[Region], admissible: Admissible) -> impl Iterator<Item = Plane> {
    let of_entries = regions.iter().filter_map(move |region| admissible.right_border(region));
    std::iter::once(admissible.left_wall()).chain(of_entries)
}

/// The lowest corner of a plane.
pub(in crate::allocator) fn lowest(plane: &Plane) -> Coord {
    [plane.x, plane.y.low, plane.z.low]
}

#[cfg(test)]
mod tests;
