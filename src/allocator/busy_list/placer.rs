//! Placing frames: the busy list and the search in it, as every strategy of the family
//! uses them.

use super::detect::{Detector, lowest};
use super::list::BusyList;
use crate::allocator::Engine;
use crate::allocator::submesh::{SubMesh, distinct, permutations};
use crate::stop::{Stop, Stopped};
use crate::topology::{Coord, Grid, NodeId};

/// A busy list that finds places for frames and enters them.
#[derive(Clone, Debug)]
pub(in crate::allocator) struct Placer {
    list: BusyList,
    detector: Detector,
    turning: bool,
    engine: Engine,
}

impl Placer {
    /// For a mesh with every processor free; `turning` ones try all orientations. The fast
    /// engine stops at the first plane of admissible bases and tries equal orientations
    /// once; the literal one lists all planes, uses the first, and tries equal orientations
    /// again.
    pub fn new(grid: &Grid, turning: bool, engine: Engine) -> Self {
        Self { list: BusyList::new(grid), detector: Detector::default(), turning, engine }
    }

    /// The mesh.
    pub fn grid(&self) -> &Grid {
        self.list.grid()
    }

    /// Enters a free sub-mesh of exactly these sides, in some orientation if turning.
    /// `None` if there is none.
    pub fn place(&mut self, sides: [u16; 3]) -> Option<SubMesh> {
        let dimensions = self.grid().dimensions();
        let unit = match (self.turning, self.engine) {
            (false, _) => self.find(sides),
            (true, Engine::Fast) => {
                distinct(sides, dimensions).find_map(|turned| self.find(turned))
            }
            (true, Engine::Literal) => {
                permutations(sides, dimensions).find_map(|turned| self.find(turned))
            }
        }?;
        self.list.insert(unit);
        Some(unit)
    }

    fn find(&mut self, sides: [u16; 3]) -> Option<SubMesh> {
        let base: Coord = match self.engine {
            Engine::Fast => self.detector.first(&self.list, sides)?,
            Engine::Literal => {
                let plane = self.detector.all(&self.list, sides).first()?;
                self.list.upright(lowest(plane))
            }
        };
        Some(SubMesh { base, sides })
    }

    /// Once this flag is raised, no place is found any more.
    pub fn stopped_by(&mut self, stop: &Stop) {
        self.detector.stopped_by(stop);
    }

    /// Whether places are still looked for.
    ///
    /// # Errors
    /// [`Stopped`] once the flag is raised.
    pub fn check(&self) -> Result<(), Stopped> {
        self.detector.stop().check()
    }

    /// Enters a sub-mesh that is busy already.
    pub fn enter(&mut self, unit: SubMesh) {
        self.list.insert(unit);
    }

    /// Removes what was placed for a job that held `nodes`, as they were handed out.
    pub fn release(&mut self, nodes: &[NodeId]) {
        self.list.release(nodes);
    }

    /// Sub-meshes in the list.
    pub fn units(&self) -> u32 {
        self.list.len() as u32
    }

    /// Volume of the sub-mesh with this base; 0 if there is none.
    #[cfg(test)]
    pub fn volume_at(&self, base: NodeId) -> u32 {
        self.list.volume_at(base)
    }

    /// Subtractions of a prohibited region from a plane or a piece of one since the last
    /// reset.
    pub fn subtractions(&self) -> u64 {
        self.detector.subtractions()
    }

    /// Empties the list and forgets the count.
    pub fn reset(&mut self) {
        self.list.clear();
        self.detector.reset();
    }
}
