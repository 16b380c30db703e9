//! BlueGene/L allocation in midplanes (Aridor et al. 2005).
//!
//! The machine is a grid of units. On BlueGene/L, a unit is a midplane of 8 x 8 x 8 processors. A
//! job gets a box of whole units. A job with a shape gets a box of this shape, rounded up to whole
//! units along every dimension. For a job without shape, the size is rounded up to whole units, and
//! the job gets a box of this number of units. The first free box in the order of the 3D First Fit
//! is allocated. If there is no free box, the next permutation of the sides is tried. The
//! processors that rounding adds are lost to internal fragmentation. On a torus, boxes may wrap
//! around the edge.
//!
//! Cost: O(N) to determine which units are free, and a First Fit on the grid of units.

use crate::contiguous::frames::Frames;
use crate::contiguous::scan::Scan;
use replay_engine::allocator::explain::{self, ExplanationLog};
use replay_engine::allocator::submesh::{
    ROTATE, SHAPE, Shapes, Shaping, SubMesh, parse_sides, turned, volume,
};
use replay_engine::allocator::{
    Allocator, AllocatorOptions, Bounds, Capabilities, Census, MachineEvent, Refusal, Request,
    RunSetup, Stats, grid_of, require_free,
};
use replay_engine::machine::Machine;
use replay_engine::naming::{Entry, Table, kind};
use replay_engine::number::counted;
use replay_engine::topology::{Axis, Grid, NodeId, Topology};

/// The sides of a midplane of BlueGene/L.
const MIDPLANE: [u16; 3] = [8, 8, 8];

/// The midplane allocator. [`Census::operations`] counts the processors whose state is read and the
/// words that the search reads.
#[derive(Clone, Debug)]
pub struct Midplane {
    grid: Grid,
    unit: [u16; 3],
    turn: bool,
    /// Boxes of units for jobs without a shape.
    shapes: Shapes,
    /// Boxes of units for the current job.
    boxes: Vec<[u16; 3]>,
    turned: Vec<[u16; 3]>,
    units: Frames,
    free_units: Vec<bool>,
    census: Census,
    explanation: ExplanationLog,
}

impl Midplane {
    /// Creates an allocator for a 3D `grid` with units of these sides. Returns `None` if the grid
    /// does not consist of whole units or is not 3D.
    pub fn new(grid: &Grid, unit: [u16; 3], shaping: Shaping, turn: bool) -> Option<Self> {
        let whole = |i: usize| unit[i] > 0 && grid.axes()[i].extent.is_multiple_of(unit[i]);
        if grid.dimensions() != 3 || !(0..3).all(whole) {
            return None;
        }
        let axis = |i: usize| {
            let Axis { extent, wrapped } = grid.axes()[i];
            Axis { extent: extent / unit[i], wrapped }
        };
        let units = Grid::new(&[axis(0), axis(1), axis(2)])?;
        Some(Self {
            grid: grid.clone(),
            unit,
            turn,
            shapes: Shapes::new(&units, shaping, turn),
            boxes: Vec::new(),
            turned: Vec::new(),
            free_units: vec![false; units.processors()],
            units: Frames::new(&units),
            census: Census::default(),
            explanation: ExplanationLog::default(),
        })
    }

    /// Lists the boxes of units that can hold the job, in the order in which they are tried.
    fn list_boxes(&mut self, request: Request) {
        let unit = self.unit;
        self.boxes.clear();
        if let Some(shape) = request.shape {
            self.turned.clear();
            self.turned.extend(turned(shape, 3, self.turn));
            let whole = |sides: &[u16; 3]| std::array::from_fn(|i| sides[i].div_ceil(unit[i]));
            self.boxes.extend(self.turned.iter().map(whole));
        } else {
            let size = u64::from(request.size).div_ceil(volume(unit)) as u32;
            self.boxes.extend_from_slice(self.shapes.of(Request::of_size(size)));
        }
    }

    /// Determines which units are free. A unit is free if it has no busy processor.
    fn read_units(&mut self, machine: &Machine) {
        let [_, depth, height] = [0, 1, 2].map(|i| self.grid.extent(i));
        let [_, units_deep, units_high] = [0, 1, 2].map(|i| self.units.grid().extent(i));
        let [w, d, h] = self.unit.map(usize::from);
        self.free_units.fill(true);
        for (row, flags) in machine.free_map().chunks_exact(height).enumerate() {
            let (x, y) = (row / depth / w, row % depth / d);
            let units = &mut self.free_units[(x * units_deep + y) * units_high..];
            for (unit, flags) in units.iter_mut().zip(flags.chunks_exact(h)) {
                *unit &= !flags.contains(&false);
            }
        }
        self.census.operations += machine.processors() as u64;
        self.units.read(&self.free_units);
    }
}

impl Allocator for Midplane {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.explanation = setup.explanation.clone();
        self.census = Census::default();
        self.units.operations = 0;
        Ok(())
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let free = machine.free_count();
        require_free(machine, request.size.into())?;
        self.list_boxes(request);
        let mut refusal = Refusal::TooFewFree;
        for i in 0..self.boxes.len() {
            let sides = self.boxes[i];
            if volume(sides) * volume(self.unit) > free as u64 {
                continue;
            }
            if refusal == Refusal::TooFewFree {
                refusal = Refusal::Fragmented;
                self.read_units(machine);
            }
            self.units.find(sides);
            self.explanation.sentence(|| {
                let grid = self.units.grid();
                let places = counted(self.units.count(), "place");
                format!("a box of {} midplanes is free at {places}", explain::sides(grid, sides))
            });
            if let Some(base) = self.units.first(Scan::ColumnMajor) {
                let [base, sides] =
                    [base, sides].map(|corner| std::array::from_fn(|i| corner[i] * self.unit[i]));
                SubMesh { base, sides }.append_to(&self.grid, chosen);
                self.census.add_job(1);
                return Ok(());
            }
        }
        Err(refusal)
    }

    fn on_event(&mut self, _machine: &Machine, event: MachineEvent<'_>) {
        if let MachineEvent::Released(_) = event {
            self.census.busy_list = self.census.busy_list.saturating_sub(1);
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            refusals_last: true,
            chooses_by_free: true,
            supports_outages: true,
            ..Capabilities::coupled()
        }
    }

    fn bounds(&mut self, request: Request) -> Bounds {
        self.list_boxes(request);
        // If a unit is not a cube, rotated boxes can hold different numbers of units.
        let units = self.boxes.iter().map(|&sides| volume(sides)).max().unwrap_or(0);
        Bounds::up_to((units * volume(self.unit)).max(u64::from(request.size)), request)
    }

    fn stats(&self) -> Stats {
        let operations = self.census.operations + self.units.operations;
        Stats { census: Some(Census { operations, ..self.census }), ..Stats::default() }
    }

    fn refusal_covers(&mut self, refused: Request, asked: Request) -> bool {
        self.list_boxes(refused);
        let smaller = std::mem::take(&mut self.boxes);
        self.list_boxes(asked);
        // If boxes hold different numbers of units, the smallest box determines the reason of a
        // refusal.
        let have_equal_volume = self.boxes.windows(2).all(|two| volume(two[0]) == volume(two[1]));
        let holds = |sides: &[u16; 3]| {
            smaller.iter().any(|small| (0..3).all(|axis| small[axis] <= sides[axis]))
        };
        !self.boxes.is_empty() && have_equal_volume && self.boxes.iter().all(holds)
    }

    fn try_clone(&self) -> Option<Box<dyn Allocator>> {
        Some(Box::new(self.clone()))
    }
}

/// Options of `midplane`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MidplaneOptions {
    unit: Unit,
    turn: bool,
    shaping: Shaping,
}

/// Sides of a unit, written `8x8x8`.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Unit([u16; 3]);

impl std::str::FromStr for Unit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_sides(text).map(Unit).ok_or("a unit has three sides of at least 1, such as 8x8x8")
    }
}

impl std::fmt::Display for Unit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Unit([x, y, z]) = self;
        write!(f, "{x}x{y}x{z}")
    }
}

impl AllocatorOptions for MidplaneOptions {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        let (grid, Self { unit, turn, shaping }) = (grid_of(topology)?, *self);
        let problem = || format!("needs a 3D machine whose sides are multiples of the unit {unit}");
        Ok(Box::new(Midplane::new(grid, unit.0, shaping, turn).ok_or_else(problem)?))
    }
}

/// Returns the table of `midplane`.
pub fn table() -> Table<MidplaneOptions> {
    let default = MidplaneOptions { unit: Unit(MIDPLANE), turn: true, shaping: Shaping::default() };
    let midplane = Entry::new("midplane", default)
        .aliases(&["bluegene-l"])
        .about("The first free box of whole units (BlueGene/L: midplanes) that can hold the job, rotated if necessary; rounding up is internal fragmentation. 3D only. O(N) per decision.")
        .source("Aridor et al. 2005; Bani-Mohammad 2008, section 2.2.1")
        .param(
            "unit",
            kind::typed("WxDxH"),
            "sides of a unit in processors; each side of the machine must be a multiple of the side of the unit",
            |o| &mut o.unit,
        )
        .param("rotate", kind::yes_no(), ROTATE, |o| &mut o.turn)
        .param("shape", kind::one_of(&Shaping::ALL), SHAPE, |o| &mut o.shaping);
    Table::new("allocator", [midplane])
}

#[cfg(test)]
mod tests;
