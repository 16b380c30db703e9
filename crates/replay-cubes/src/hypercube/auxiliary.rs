//! The auxiliary free list (AFL; Turner 1995, chapter 3): the parts of a subcube that a mesh leaves unused are also
//! allocated.
//!
//! A job gets exactly its X x Y processors, embedded in a subcube. The processors of the subcube that the mesh does not
//! use form aligned subcubes. The *unused cubes* of a job are added to the auxiliary free list; the job is their
//! *owner*. A request first searches the auxiliary free list for the first cube of the smallest sufficient dimension.
//! The cube is split as in the [free list](super::free_list), and the remaining halves keep their owner. If the list
//! has no sufficient cube, the job gets a subcube from a cubic strategy, which is the free list in the thesis. Under
//! e-cube routing, messages of a mesh never share a channel with messages of the jobs in its unused cubes (theorem 1).
//!
//! When a job ends, its mesh and its unused cubes that are not allocated are [coalesced](super::coalesce) and returned
//! to the cubic strategy. If other jobs use unused cubes of the ended job, these cubes no longer have an owner. The
//! thesis is ambiguous about one case: a job in a subcube from the auxiliary list ends while the owner of the subcube
//! still runs. According to the figure, the subcube returns to the cubic strategy ([`Release::Literal`]). According to
//! a remark in the thesis, the subcube could return to its owner ([`Release::Owner`]). With [`Release::Literal`], the
//! subcube merges with other free subcubes. A later job can then get a part of the merged subcube that is not an unused
//! cube of the owner. The messages of the later job can share channels with the messages of the owner; theorem 1 does
//! not cover this case. With [`Release::Owner`], messages of different jobs can share channels too. Suppose that a job
//! B in an unused cube of job A ends before a job C in an unused cube of B. When job C ends later, its cube returns to
//! the cubic strategy instead of the auxiliary list. [`Release::Heir`] is an extension that prevents this sharing of
//! channels. Cubes that return to an owner do not merge in the auxiliary list.
//!
//! Cost per decision: O(n) for taking a cube from a list; O(k) for each of the at most O(k^2) unused cubes;
//! the cost of the cubic strategy if it is used; and one step per allocated processor.

use crate::hypercube::chains::Chains;
use crate::hypercube::cubic::{Subcubes, describe_subcube, points};
use crate::hypercube::lists::{Coalescer, CubeLists};
use replay_engine::allocator::explain::ExplanationLog;
use replay_engine::allocator::subcube::{Cube, Mesh, Sides, SidesRule, mesh_of};
use replay_engine::allocator::{
    Allocator, Bounds, Capabilities, Census, MachineEvent, Refusal, Request, RunSetup, Stats,
};
use replay_engine::machine::Machine;
use replay_engine::topology::{Hypercube, NodeId};

/// Destination of a subcube from the auxiliary list when its job ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Release {
    /// The subcube always returns to the cubic strategy, as in the figure of the thesis.
    #[default]
    Literal,
    /// The subcube returns to the auxiliary list if its owner still runs, otherwise to the cubic strategy.
    Owner,
    /// The subcube returns to the auxiliary list if its owner still runs. When an owner ends, the ownership passes to
    /// the job that owns the ended job's subcube, if there is such a job.
    Heir,
}

impl Release {
    /// Every release rule with its name.
    pub const ALL: [(&'static str, Release); 3] =
        [("literal", Release::Literal), ("owner", Release::Owner), ("heir", Release::Heir)];
}

/// The auxiliary free list on top of a cubic strategy. [`Census::operations`] counts the subcubes that are allocated,
/// left unused or returned.
#[derive(Clone, Debug)]
pub struct Auxiliary<S> {
    n: u32,
    sides: Sides,
    release: Release,
    pub(super) subcubes: S,
    pub(super) lists: CubeLists,
    /// Bases of the cubes in the auxiliary list, by the base of the owner's subcube.
    owned: Chains,
    /// Bases of subcubes taken from the auxiliary list, by the base of the lender's subcube.
    lent: Chains,
    /// Running jobs, indexed by the base of their subcube.
    jobs: Vec<Option<Holding>>,
    coalescer: Coalescer,
    pieces: Vec<Cube>,
    census: Census,
    explanation: ExplanationLog,
}

/// Subcube and mesh of a running job.
#[derive(Clone, Copy, Debug)]
struct Holding {
    host: Cube,
    mesh: Mesh,
}

impl<S: Subcubes> Auxiliary<S> {
    /// Creates an auxiliary free list for `cube`. `subcubes` is the cubic strategy, which must belong to `cube`.
    pub fn new(cube: &Hypercube, rule: SidesRule, release: Release, subcubes: S) -> Self {
        let n = u32::from(cube.dimensions());
        Self {
            n,
            sides: Sides::new(n, rule),
            release,
            subcubes,
            lists: CubeLists::new(n),
            owned: Chains::new(cube.processors(), cube.processors()),
            lent: Chains::new(cube.processors(), cube.processors()),
            jobs: vec![None; cube.processors()],
            coalescer: Coalescer::new(n),
            pieces: Vec::new(),
            census: Census::default(),
            explanation: ExplanationLog::default(),
        }
    }

    /// Returns the owner of a cube in the auxiliary list. The owner is identified by the lowest processor of its
    /// subcube.
    #[cfg(test)]
    pub fn owner(&self, cube: Cube) -> Option<NodeId> {
        self.lists.has(cube).then(|| self.owned.owner(cube.base).map(NodeId)).flatten()
    }

    /// Adds a cube to the auxiliary list.
    fn add(&mut self, cube: Cube, owner: u32) {
        self.lists.push(cube);
        self.owned.push(cube.base, owner);
        self.census.operations += 1;
    }

    /// Takes a subcube of `k` dimensions from the auxiliary list. Returns the subcube and the base of its owner.
    fn take_unused(&mut self, k: u32) -> Option<(Cube, u32)> {
        let mut cube = self.lists.smallest(k)?;
        self.lists.remove(cube);
        let owner = self.owned.remove(cube.base)?;
        while cube.dimension() > k {
            let (low, high) = cube.split();
            self.add(high, owner);
            cube = low;
        }
        Some((cube, owner))
    }

    /// Removes a free processor that goes out of service. If the processor is in a cube of the auxiliary list, the rest
    /// of this cube stays in the list. When the processor returns to service, it has no owner.
    fn withdraw(&mut self, node: Cube) {
        let listed = (0..=self.n).find_map(|k| self.lists.of(k).find(|cube| cube.includes(node)));
        let Some(mut cube) = listed else { return self.subcubes.withdraw(node) };
        self.lists.remove(cube);
        let Some(owner) = self.owned.remove(cube.base) else { return };
        while cube.dimension() > 0 {
            let (low, high) = cube.split();
            let (inside, outside) = if low.includes(node) { (low, high) } else { (high, low) };
            self.add(outside, owner);
            cube = inside;
        }
    }

    /// Records the owner of the subcube that a job gets from the auxiliary list.
    fn lend(&mut self, host: Cube, owner: u32) {
        if self.release != Release::Literal {
            self.lent.push(host.base, owner);
        }
    }

    /// Updates the records of lent subcubes when the job whose subcube has this base ends. Removes the record of the
    /// subcube that was lent to the job. In addition, removes the records of the subcubes that the job lent; with
    /// [`Release::Heir`], the job's lender becomes the lender of these subcubes. Returns the base of the job that lent
    /// the subcube to the ended job.
    fn settle(&mut self, base: u32) -> Option<u32> {
        let lender = self.lent.remove(base);
        let heir = lender.filter(|_| self.release == Release::Heir);
        while let Some(tenant) = self.lent.first(base) {
            self.lent.remove(tenant);
            heir.into_iter().for_each(|heir| self.lent.push(tenant, heir));
        }
        lender
    }
}

impl<S: Subcubes> Allocator for Auxiliary<S> {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.explanation = setup.explanation.clone();
        self.subcubes.clear();
        self.lists.clear();
        self.owned.clear();
        self.lent.clear();
        self.jobs.fill(None);
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
        let host = match self.take_unused(mesh.dimension()) {
            Some((cube, owner)) => {
                self.explanation.sentence(|| {
                    format!("the unused part of the subcube of the job at processor {owner} is large enough")
                });
                self.explanation.sentence(|| describe_subcube(mesh, Some(cube), self.n));
                self.lend(cube, owner);
                cube
            }
            None => {
                let cube = self.subcubes.take(mesh.dimension());
                self.explanation.sentence(|| {
                    "no job leaves a large enough part of its subcube unused".to_string()
                });
                self.explanation.sentence(|| describe_subcube(mesh, cube, self.n));
                cube.ok_or(Refusal::Fragmented)?
            }
        };
        self.jobs[host.base as usize] = Some(Holding { host, mesh });
        let mut pieces = std::mem::take(&mut self.pieces);
        mesh.append_leftover(&mut pieces);
        pieces.drain(..).for_each(|cube| self.add(cube.within(host), host.base));
        self.pieces = pieces;
        mesh.append_to(host, chosen);
        self.census.add_job(1);
        self.census.operations += 1;
        Ok(())
    }

    fn on_event(&mut self, _machine: &Machine, event: MachineEvent<'_>) {
        match event {
            MachineEvent::Released(nodes) => {
                // The node at the origin of the mesh is the base of its subcube.
                let Some(base) = nodes.first() else { return };
                let Some(holding) = self.jobs[base.index()].take() else { return };
                let mut pieces = std::mem::take(&mut self.pieces);
                holding.mesh.append_region(&mut pieces);
                pieces.iter_mut().for_each(|cube| *cube = cube.within(holding.host));
                while let Some(left) = self.owned.first(base.0) {
                    self.owned.remove(left);
                    let cube = self.lists.at(left);
                    self.lists.remove(cube);
                    pieces.push(cube);
                }
                self.coalescer.coalesce(&mut pieces);
                let lender = self.settle(base.0);
                for cube in pieces.drain(..) {
                    match lender {
                        Some(lender) => self.add(cube, lender),
                        None => {
                            self.subcubes.give(cube);
                            self.census.operations += 1;
                        }
                    }
                }
                self.pieces = pieces;
                self.census.busy_list -= 1;
            }
            MachineEvent::NodesDown(nodes) => points(nodes).for_each(|node| self.withdraw(node)),
            _ => self.subcubes.on_outage(event),
        }
    }

    fn capabilities(&self) -> Capabilities {
        // The unused cubes of a job that starts are smaller than the cube of every refused request, so they cannot
        // serve a refused request.
        let refusals_last = true;
        Capabilities { refusals_last, supports_outages: true, ..Capabilities::coupled() }
    }

    fn bounds(&mut self, request: Request) -> Bounds {
        match mesh_of(&mut self.sides, self.n, request, 1 << self.n) {
            // The mesh may be larger than the request.
            Ok(mesh) => Bounds::up_to(mesh.processors().into(), request),
            Err(_) => Bounds { servable: false, ..Bounds::exact(request) },
        }
    }

    fn stats(&self) -> Stats {
        Stats { census: Some(self.census), ..Stats::default() }
    }
}
