//! Cubic strategies: a job gets one subcube, namely the smallest subcube in which the job's mesh
//! can be embedded.
//!
//! Processors of the subcube outside the mesh are lost (internal fragmentation). A job is refused
//! if the strategy recognises no free subcube, even if enough processors are free (external
//! fragmentation).

use replay_engine::allocator::explain::ExplanationLog;
use replay_engine::allocator::subcube::{Cube, Mesh, Sides, SidesRule, mesh_of};
use replay_engine::allocator::{
    Allocator, Bounds, Capabilities, Census, MachineEvent, Refusal, Request, RunSetup, Stats,
};
use replay_engine::machine::Machine;
use replay_engine::topology::{Hypercube, NodeId};

/// Allocates free subcubes of a hypercube.
pub trait Subcubes: Send {
    /// Takes a free subcube of `k` dimensions. Returns `None` if the strategy recognises no free
    /// subcube. After a search has failed, the same search fails until [`give`](Self::give) is
    /// called.
    fn take(&mut self, k: u32) -> Option<Cube>;

    /// Marks the processors of a subcube as free; all of them must be busy.
    fn give(&mut self, cube: Cube);

    /// Takes a free subcube out of service until [`give`](Self::give) returns it. The strategy need
    /// not recognise the subcube.
    fn withdraw(&mut self, cube: Cube);

    /// Resets the state: the whole hypercube is free.
    fn clear(&mut self);

    /// Takes processors out of service or returns them to service; ignores all other events.
    fn on_outage(&mut self, event: MachineEvent<'_>) {
        match event {
            MachineEvent::NodesDown(nodes) => points(nodes).for_each(|node| self.withdraw(node)),
            MachineEvent::NodesUp(nodes) => points(nodes).for_each(|node| self.give(node)),
            _ => {}
        }
    }
}

/// Returns, for each processor, the subcube of this single processor.
pub fn points(nodes: &[NodeId]) -> impl Iterator<Item = Cube> + '_ {
    nodes.iter().map(|node| Cube { stars: 0, base: node.0 })
}

impl Subcubes for Box<dyn Subcubes> {
    fn take(&mut self, k: u32) -> Option<Cube> {
        (**self).take(k)
    }

    fn give(&mut self, cube: Cube) {
        (**self).give(cube);
    }

    fn withdraw(&mut self, cube: Cube) {
        (**self).withdraw(cube);
    }

    fn clear(&mut self) {
        (**self).clear();
    }
}

/// A cubic strategy. [`Census::operations`] counts the subcubes that are allocated and released.
#[derive(Clone, Debug)]
pub(crate) struct Cubic<S> {
    n: u32,
    sides: Sides,
    pub(super) subcubes: S,
    /// The stars of each job's subcube, by the base of the subcube.
    held: Vec<u32>,
    census: Census,
    explanation: ExplanationLog,
}

impl<S: Subcubes> Cubic<S> {
    /// Creates a strategy that takes its subcubes from `subcubes`, which must belong to `cube`.
    pub fn new(cube: &Hypercube, rule: SidesRule, subcubes: S) -> Self {
        let n = u32::from(cube.dimensions());
        Self {
            n,
            sides: Sides::new(n, rule),
            subcubes,
            held: vec![0; cube.processors()],
            census: Census::default(),
            explanation: ExplanationLog::default(),
        }
    }
}

/// Describes the result of the search for the subcube of a mesh.
pub(crate) fn describe_subcube(mesh: Mesh, found: Option<Cube>, n: u32) -> String {
    let (processors, k) = (mesh.processors(), mesh.dimension());
    let wanted =
        format!("the job's mesh of {processors} processors needs a subcube of {k} dimensions");
    match found {
        Some(cube) => format!("{wanted}: {} is free", cube.text(n)),
        None => format!("{wanted}: the strategy recognises no free subcube of this size"),
    }
}

impl<S: Subcubes> Allocator for Cubic<S> {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.explanation = setup.explanation.clone();
        self.subcubes.clear();
        self.census = Census::default();
        Ok(())
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let mesh = mesh_of(&mut self.sides, self.n, request, machine.free_count())?;
        let cube = self.subcubes.take(mesh.dimension());
        self.explanation.sentence(|| describe_subcube(mesh, cube, self.n));
        let cube = cube.ok_or(Refusal::Fragmented)?;
        mesh.append_to(cube, chosen);
        mesh.append_rest_to(cube, chosen);
        self.held[cube.base as usize] = cube.stars;
        self.census.add_job(1);
        self.census.operations += 1;
        Ok(())
    }

    fn on_event(&mut self, _machine: &Machine, event: MachineEvent<'_>) {
        match event {
            MachineEvent::Released(nodes) => {
                // The node at the origin of the mesh is the base of the subcube.
                if let Some(base) = nodes.first() {
                    self.subcubes.give(Cube { stars: self.held[base.index()], base: base.0 });
                    self.census.busy_list -= 1;
                    self.census.operations += 1;
                }
            }
            _ => self.subcubes.on_outage(event),
        }
    }

    fn capabilities(&self) -> Capabilities {
        // The strategy finds a free subcube whenever it recognises one, and the start of a job does
        // not free subcubes.
        let refusals_last = true;
        Capabilities { refusals_last, supports_outages: true, ..Capabilities::coupled() }
    }

    fn bounds(&mut self, request: Request) -> Bounds {
        match mesh_of(&mut self.sides, self.n, request, 1 << self.n) {
            // The job gets the whole subcube.
            Ok(mesh) => Bounds::up_to(1 << mesh.dimension(), request),
            Err(_) => Bounds { servable: false, ..Bounds::exact(request) },
        }
    }

    fn stats(&self) -> Stats {
        Stats { census: Some(self.census), ..Stats::default() }
    }
}
