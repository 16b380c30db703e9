//! Placement of frames by the busy list and its search, for all busy-list strategies.

use crate::busy_list::detect::{Detector, lowest};
use crate::busy_list::list::BusyList;
use crate::contiguous::frames::Frames;
use replay_engine::allocator::submesh::{Shapes, SubMesh, distinct, permutations, turned};
use replay_engine::allocator::{Census, MachineEvent, Request, RunSetup};
use replay_engine::cancel::Cancelled;
use replay_engine::topology::{Grid, NodeId};

/// A busy list with its search: it finds free positions for frames and adds the placed frames to the list.
#[derive(Clone, Debug)]
pub(crate) struct Placer {
    list: BusyList,
    detector: Detector,
    turning: bool,
    /// Map of free processors, if the search may use it.
    map: Option<Frames>,
    /// Whether each search lists all planes of admissible bases, as published.
    lists_all: bool,
}

impl Placer {
    /// Creates a placer for a mesh on which every processor is free. If `turning` is set, all orientations are tried.
    pub fn new(grid: &Grid, turning: bool) -> Self {
        Self {
            list: BusyList::new(grid),
            detector: Detector::default(),
            turning,
            map: None,
            lists_all: false,
        }
    }

    /// Makes every search list all planes of admissible bases and try equal orientations repeatedly, as published.
    pub fn listing_all(self) -> Self {
        Self { map: None, lists_all: true, ..self }
    }

    /// Adds a map of free processors for strategies that search for many shapes one after the other. With the map, a
    /// search for a shape without a free position costs only a search of the map. The map does not change the chosen
    /// positions.
    pub fn with_map(self) -> Self {
        let mut map = Frames::new(&self.grid().unwrapped());
        map.clear();
        Self { map: Some(map), ..self }
    }

    /// Returns the mesh.
    pub fn grid(&self) -> &Grid {
        self.list.grid()
    }

    /// Finds a free sub-mesh with exactly these sides and adds it to the list. If the placer was created with
    /// `turning`, the sub-mesh may have any orientation. Returns `None` if there is no such sub-mesh.
    pub fn place(&mut self, sides: [u16; 3]) -> Option<SubMesh> {
        let dimensions = self.grid().dimensions();
        let unit = match (self.turning, self.lists_all) {
            (false, _) => self.find(sides),
            (true, false) => distinct(sides, dimensions).find_map(|turned| self.find(turned)),
            (true, true) => permutations(sides, dimensions).find_map(|turned| self.find(turned)),
        }?;
        self.enter(unit);
        Some(unit)
    }

    fn find(&mut self, sides: [u16; 3]) -> Option<SubMesh> {
        let base = match &mut self.map {
            Some(map) => self.detector.first_on_map(&self.list, map, sides)?,
            None if self.lists_all => {
                self.list.upright(lowest(self.detector.all(&self.list, sides).first()?))
            }
            None => self.detector.first(&self.list, sides)?,
        };
        Some(SubMesh { base, sides })
    }

    /// Returns whether every allowed orientation of the frame of `asked` contains an allowed orientation of the frame
    /// of `refused`. If this condition holds, a search for `asked` fails whenever a search for `refused` fails.
    pub fn covers(&self, shapes: &mut Shapes, refused: Request, asked: Request) -> bool {
        let mut first = |request| shapes.of(request).first().copied();
        let Some((small, large)) = first(refused).zip(first(asked)) else { return false };
        let dimensions = self.grid().dimensions();
        let holds = |large: [u16; 3], small: [u16; 3]| (0..3).all(|i| small[i] <= large[i]);
        let orientations = |sides| turned(sides, dimensions, self.turning);
        orientations(large).all(|large| orientations(small).any(|small| holds(large, small)))
    }

    /// Begins a run: clears the list and the number of subtractions. If the token of the run is cancelled, every search
    /// ends without a result.
    pub fn begin(&mut self, setup: &RunSetup<'_>) {
        self.detector.stop = setup.stop.clone();
        self.list.clear();
        self.detector.subtractions = 0;
        if let Some(map) = &mut self.map {
            map.clear();
        }
    }

    /// Updates the list after an event: released units leave the list, and processors out of service enter it.
    pub fn on_event(&mut self, event: MachineEvent<'_>) {
        match event {
            MachineEvent::Released(nodes) | MachineEvent::NodesUp(nodes) => self.release(nodes),
            // Each processor becomes an entry of one processor.
            MachineEvent::NodesDown(nodes) => nodes.iter().for_each(|&node| {
                self.enter(SubMesh { base: self.grid().coord(node), sides: [1; 3] });
            }),
            _ => {}
        }
    }

    /// Returns the counters of a strategy. [`Census::operations`] counts the subtractions of the run. A subtraction
    /// removes a prohibited region from a plane or a piece of a plane.
    pub fn census(&self, blocks: u32, searches: u64) -> Census {
        Census { blocks, searches, busy_list: self.units(), operations: self.detector.subtractions }
    }

    /// Checks for cancellation.
    ///
    /// # Errors
    /// [`Cancelled`] if the token is cancelled.
    pub fn check(&self) -> Result<(), Cancelled> {
        self.detector.stop.check()
    }

    /// Adds a sub-mesh that is already busy.
    pub fn enter(&mut self, unit: SubMesh) {
        self.list.insert(unit);
        if let Some(map) = &mut self.map {
            map.take(&unit);
        }
    }

    /// Removes the sub-meshes of a job. `nodes` are the processors of the job in the order of allocation.
    pub fn release(&mut self, nodes: &[NodeId]) {
        let map = &mut self.map;
        self.list.release(nodes, |unit| {
            if let Some(map) = map {
                map.give(&unit);
            }
        });
    }

    /// Returns the number of sub-meshes in the list.
    pub fn units(&self) -> u32 {
        self.list.len() as u32
    }

    /// Returns the volume of the sub-mesh with this base; 0 if there is no such sub-mesh.
    #[cfg(test)]
    pub fn volume_at(&self, base: NodeId) -> u32 {
        self.list.volume_at(base)
    }
}
