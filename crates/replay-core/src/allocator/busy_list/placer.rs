//! Placing frames: the busy list and the search in it, as every strategy of the family
//! uses them.

use super::detect::{Detector, lowest};
use super::list::BusyList;
use crate::allocator::contiguous::frames::Frames;
use crate::allocator::submesh::{Shapes, SubMesh, distinct, permutations, turned};
use crate::allocator::{Engine, Request};
use crate::cancel::{CancelToken, Cancelled};
use crate::topology::{Axis, Coord, Grid, NodeId};

/// A busy list that finds places for frames and enters them.
#[derive(Clone, Debug)]
pub(in crate::allocator) struct Placer {
    list: BusyList,
    detector: Detector,
    turning: bool,
    engine: Engine,
    /// What is free, where the search may look it up.
    map: Option<Frames>,
}

impl Placer {
    /// For a mesh with every processor free; `turning` ones try all orientations. The fast
    /// engine stops at the first plane of admissible bases and tries equal orientations
    /// once; the literal one lists all planes, uses the first, and tries equal orientations
    /// again.
    pub fn new(grid: &Grid, turning: bool, engine: Engine) -> Self {
        let (list, detector) = (BusyList::new(grid), Detector::default());
        Self { list, detector, turning, engine, map: None }
    }

    /// The same with a map of what is free beside the list, for strategies that search for many
    /// shapes in turn: a shape without a place costs a look at the map. Places are the same; of the fast
    /// engine only, for the literal one stays as it was printed.
    pub fn with_map(self) -> Self {
        let axes: Vec<Axis> = (0..self.grid().dimensions())
            .map(|axis| Axis { extent: self.grid().axes()[axis].extent, wrapped: false })
            .collect();
        let map = Grid::new(&axes).filter(|_| self.engine == Engine::Fast).map(|mesh| {
            let mut map = Frames::new(&mesh);
            map.clear();
            map
        });
        Self { map, ..self }
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
        self.enter(unit);
        Some(unit)
    }

    fn find(&mut self, sides: [u16; 3]) -> Option<SubMesh> {
        let base: Coord = match self.engine {
            Engine::Fast => match &mut self.map {
                Some(map) => self.detector.first_on_map(&self.list, map, sides)?,
                None => self.detector.first(&self.list, sides)?,
            },
            Engine::Literal => {
                let plane = self.detector.all(&self.list, sides).first()?;
                self.list.upright(lowest(plane))
            }
        };
        Some(SubMesh { base, sides })
    }

    /// Whether all orientations of the `asked` frame that may be tried hold one of the `refused` frame, so
    /// that a search for the former finds nothing where one for the latter does not.
    pub fn covers(&self, shapes: &mut Shapes, refused: Request, asked: Request) -> bool {
        let mut first = |request| shapes.of(request).first().copied();
        let Some((small, large)) = first(refused).zip(first(asked)) else { return false };
        let dimensions = self.grid().dimensions();
        let holds = |large: [u16; 3], small: [u16; 3]| (0..3).all(|i| small[i] <= large[i]);
        let orientations = |sides| turned(sides, dimensions, self.turning);
        orientations(large).all(|large| orientations(small).any(|small| holds(large, small)))
    }

    /// Once this flag is raised, no place is found any more.
    pub fn stopped_by(&mut self, stop: &CancelToken) {
        self.detector.stopped_by(stop);
    }

    /// Whether places are still looked for.
    ///
    /// # Errors
    /// [`Cancelled`] once the flag is raised.
    pub fn check(&self) -> Result<(), Cancelled> {
        self.detector.stop().check()
    }

    /// Enters a sub-mesh that is busy already.
    pub fn enter(&mut self, unit: SubMesh) {
        self.list.insert(unit);
        if let Some(map) = &mut self.map {
            map.take(&unit);
        }
    }

    /// Enters processors that have left the machine, each for itself; [`release`](Self::release) takes
    /// them out again.
    pub fn enter_each(&mut self, nodes: &[NodeId]) {
        for &node in nodes {
            self.enter(SubMesh { base: self.grid().coord(node), sides: [1; 3] });
        }
    }

    /// Removes what was placed for a job that held `nodes`, as they were handed out.
    pub fn release(&mut self, nodes: &[NodeId]) {
        let map = &mut self.map;
        self.list.release(nodes, |unit| {
            if let Some(map) = map {
                map.give(&unit);
            }
        });
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
        if let Some(map) = &mut self.map {
            map.clear();
        }
    }
}
