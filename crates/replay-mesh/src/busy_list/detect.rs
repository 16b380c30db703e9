//! Detection of bases at which a frame is free.
//!
//! Source: Bani-Mohammad 2008, Figures 3.4 (3D) and 4.1 (2D). A free frame can be moved to the left
//! until it touches the wall or an allocated sub-mesh. After this move, the base of the frame is in
//! a right border plane. The search subtracts all prohibited regions from these planes, so it finds
//! a free frame iff there is a free frame. As published, the procedure loses some planes. This
//! implementation corrects the procedure: the pieces of a divided plane are followed separately, a
//! plane that is partly outside the mesh is clipped, and pieces that remain after the last region
//! are kept.
//!
//! Cost with m entries: m planes times m regions, that is, m^2 subtractions if planes are not
//! divided. Each subtraction may divide a plane into four pieces.

use crate::busy_list::border::Admissible;
use crate::busy_list::list::BusyList;
use crate::busy_list::plane::{Plane, Region, Span};
use crate::contiguous::frames::Frames;
use replay_engine::cancel::CancelToken;
use replay_engine::topology::Coord;

/// The search for bases, with reused buffers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Detector {
    /// Prohibited region of each entry, in list order.
    regions: Vec<Region>,
    /// Remaining pieces of the current plane.
    work: Vec<Plane>,
    next: Vec<Plane>,
    /// Planes of admissible bases.
    found: Vec<Plane>,
    /// Number of prohibited regions subtracted from planes or pieces of planes.
    pub subtractions: u64,
    /// Token; if it is cancelled, the search ends without a result.
    pub stop: CancelToken,
}

impl Detector {
    /// Returns the lowest corner of the first plane that [`all`](Self::all) would return. The
    /// search stops at this plane.
    pub fn first(&mut self, list: &BusyList, sides: [u16; 3]) -> Option<Coord> {
        self.first_of(list, sides, |_| true)
    }

    /// Returns the same corner as [`first`](Self::first). This method uses the map of free
    /// processors to skip planes that contain no free base.
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
        // The upright axes correspond to the outer, middle and lane dimensions of the map.
        let range = |span: Span| usize::from(span.low)..=usize::from(span.high);
        let has_base =
            |plane: &Plane| map.has_base_in(plane.x.into(), range(plane.y), range(plane.z));
        self.first_of(list, sides, has_base)
    }

    /// Returns the lowest corner of the first piece of a border plane that consists of admissible
    /// bases. Only border planes for which `may` returns true are considered.
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

    /// Returns all planes of admissible bases in upright coordinates, in the order in which the
    /// procedure adds them. The [published search](crate::published) uses the first plane.
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
                        // A piece of a plane above this region is above all later regions, so the
                        // piece is final.
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

    /// Computes the prohibited regions. Returns `None` if the frame is longer than the mesh.
    fn prohibit(&mut self, list: &BusyList, sides: [u16; 3]) -> Option<Admissible> {
        let sides = list.upright(sides);
        let admissible = Admissible::new(list.extents(), sides)?;
        let prohibited = list.entries().iter().map(|e| Region::prohibited(&e.allocated, sides));
        self.regions.clear();
        self.regions.extend(prohibited);
        Some(admissible)
    }

    /// Returns the first base on a 2D mesh. On a 2D mesh a plane is a segment. A region divides a
    /// segment into at most two parts: below and above the region. The part of the segment above
    /// the region is final. The first segment is therefore known as soon as there is a part above a
    /// region.
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
                    break; // case 1; the segment is also above all later regions
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
            // The largest `z.low` of all pieces.
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
                    // No piece changes, but a piece may be above all later regions.
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

/// Returns the right border planes in list order, beginning with the left wall. The planes are
/// clipped to bases of frames on the mesh.
fn borders(regions: &[Region], admissible: Admissible) -> impl Iterator<Item = Plane> {
    let of_entries = regions.iter().filter_map(move |region| admissible.right_border(region));
    std::iter::once(admissible.left_wall()).chain(of_entries)
}

/// Returns the lowest corner of a plane.
pub(crate) fn lowest(plane: &Plane) -> Coord {
    [plane.x, plane.y.low, plane.z.low]
}

#[cfg(test)]
mod tests;
