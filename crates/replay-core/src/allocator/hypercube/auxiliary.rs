//! The auxiliary free list (AFL; Turner 1995, chapter 3): what a mesh leaves of its subcube
//! is handed out, too.
//!
//! A job gets exactly its X x Y processors, embedded in a subcube. The aligned subcubes
//! that they leave go to the auxiliary free list, owned by the job. A request is first
//! looked for there: the first cube of the smallest dimension that is large enough, split
//! as in the [free list](super::free_list), the halves staying with their owner. Otherwise
//! a subcube comes from a cubic strategy, in the thesis the free list. Messages of a mesh
//! and of jobs in what it leaves never share a channel under e-cube routing (theorem 1).
//!
//! When a job ends, its mesh and those of its cubes that nobody holds are
//! [coalesced](super::coalesce) and given back to the cubic strategy; cubes of it that
//! others hold have no owner from then on. The thesis is in two minds about a subcube that
//! came from the auxiliary list and whose owner still runs: by the figure it is given back
//! like any other ([`Release::Literal`]), by a remark it could return to its owner
//! ([`Release::Owner`]). Given back, it merges with free subcubes, and a part of the result
//! that is no part of what the owner left can go to a job whose messages then meet the
//! owner's: theorem 1 does not cover it. With [`Release::Owner`] the same happens now and
//! then, where an owner ends before its tenants and within the subcube of a third job.
//! [`Release::Heir`] is this program's own and rules it out. Cubes that return to an owner
//! do not merge in the auxiliary list.
//!
//! Cost per decision: O(n) from a list, and O(k) for each of the at most O(k^2) cubes that
//! are left; that of the cubic strategy where it is asked; the processors handed out.

use super::chains::Chains;
use super::coalesce::Coalescer;
use super::cube::Cube;
use super::cubic::{Subcubes, mesh_of, points, subcube_in_words};
use super::lists::CubeLists;
use super::mesh::Mesh;
use super::sides::{Sides, SidesRule};
use crate::allocator::explain::ExplanationLog;
use crate::allocator::{
    Allocator, Bounds, Capabilities, Census, MachineEvent, Refusal, Request, RunSetup, Stats,
};
use crate::machine::Machine;
use crate::topology::{Hypercube, NodeId};

/// Where a subcube goes that came from the auxiliary list, if it can have an owner.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Release {
    /// To the cubic strategy, as every other: the thesis's figure.
    #[default]
    Literal,
    /// To the auxiliary list, if the owner still runs.
    Owner,
    /// The same; if the owner has ended, to the job from whose cubes the owner's subcube
    /// came if that still runs, and so on.
    Heir,
}

impl Release {
    /// All with their names.
    pub const ALL: [(&'static str, Release); 3] =
        [("literal", Release::Literal), ("owner", Release::Owner), ("heir", Release::Heir)];
}

/// The auxiliary free list over a cubic strategy. [`Census::operations`] counts subcubes
/// that are handed out, left or given back.
#[derive(Clone, Debug)]
pub struct Auxiliary<S> {
    n: u32,
    sides: Sides,
    release: Release,
    subcubes: S,
    lists: CubeLists,
    /// Bases of cubes in the auxiliary list, by the base of their owner's subcube.
    owned: Chains,
    /// Bases of subcubes that came from there, by that of the job which lent them.
    lent: Chains,
    /// By the base of a job's subcube.
    jobs: Vec<Option<Holding>>,
    coalescer: Coalescer,
    pieces: Vec<Cube>,
    census: Census,
    explanation: ExplanationLog,
}

/// What a job holds.
#[derive(Clone, Copy, Debug)]
struct Holding {
    host: Cube,
    mesh: Mesh,
}

impl<S: Subcubes> Auxiliary<S> {
    /// An auxiliary free list for `cube`, over `subcubes` of it.
    pub fn new(cube: &Hypercube, rule: SidesRule, release: Release, subcubes: S) -> Self {
        let n = u32::from(cube.dimensions());
        Self {
            n,
            sides: Sides::new(n, rule),
            release,
            subcubes,
            lists: CubeLists::new(n),
            owned: Chains::new(cube.processors()),
            lent: Chains::new(cube.processors()),
            jobs: vec![None; cube.processors()],
            coalescer: Coalescer::new(n),
            pieces: Vec::new(),
            census: Census::default(),
            explanation: ExplanationLog::default(),
        }
    }

    /// The cubic strategy.
    pub fn subcubes(&self) -> &S {
        &self.subcubes
    }

    /// The auxiliary list.
    pub fn lists(&self) -> &CubeLists {
        &self.lists
    }

    /// The owner of a cube in the auxiliary list, by the lowest processor of its subcube.
    pub fn owner(&self, cube: Cube) -> Option<NodeId> {
        self.lists.has(cube).then(|| self.owned.owner(cube.base).map(NodeId)).flatten()
    }

    /// Adds a cube to the auxiliary list.
    fn add(&mut self, cube: Cube, owner: u32) {
        self.lists.push(cube);
        self.owned.push(cube.base, owner);
        self.census.operations += 1;
    }

    /// A subcube of `k` dimensions from the auxiliary list, and the base of its owner.
    fn take_left(&mut self, k: u32) -> Option<(Cube, u32)> {
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

    /// A free processor is nobody's from now on. What it leaves of a cube in the auxiliary list stays
    /// there; it comes back without owner.
    fn lose(&mut self, node: Cube) {
        let listed = (0..=self.n).find_map(|k| self.lists.of(k).find(|cube| cube.includes(node)));
        let Some(mut cube) = listed else { return self.subcubes.lose(node) };
        self.lists.remove(cube);
        let Some(owner) = self.owned.remove(cube.base) else { return };
        while cube.dimension() > 0 {
            let (low, high) = cube.split();
            let (inside, outside) = if low.includes(node) { (low, high) } else { (high, low) };
            self.add(outside, owner);
            cube = inside;
        }
    }

    /// Notes who lent the subcube of a job.
    fn lend(&mut self, host: Cube, owner: u32) {
        if self.release != Release::Literal {
            self.lent.push(host.base, owner);
        }
    }

    /// Forgets what the job with this base has lent, and who lent to it, whom it returns:
    /// it ends.
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
        let host = match self.take_left(mesh.dimension()) {
            Some((cube, owner)) => {
                self.explanation.sentence(|| {
                    format!("what the job at processor {owner} leaves of its subcube has room")
                });
                self.explanation.sentence(|| subcube_in_words(mesh, Some(cube), self.n));
                self.lend(cube, owner);
                cube
            }
            None => {
                let cube = self.subcubes.take(mesh.dimension());
                self.explanation.sentence(|| "no job leaves enough of its subcube".to_string());
                self.explanation.sentence(|| subcube_in_words(mesh, cube, self.n));
                cube.ok_or(Refusal::Fragmented)?
            }
        };
        self.jobs[host.base as usize] = Some(Holding { host, mesh });
        let mut pieces = std::mem::take(&mut self.pieces);
        mesh.append_leftover(&mut pieces);
        pieces.drain(..).for_each(|cube| self.add(cube.within(host), host.base));
        self.pieces = pieces;
        mesh.append_to(host, chosen);
        self.census.blocks = 1;
        self.census.busy_list += 1;
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
            MachineEvent::NodesDown(nodes) => {
                points(nodes).for_each(|node| self.lose(node));
            }
            MachineEvent::NodesUp(nodes) => {
                points(nodes).for_each(|node| self.subcubes.give(node));
            }
            _ => {}
        }
    }

    fn capabilities(&self) -> Capabilities {
        // What a job leaves of its subcube is smaller than what was free before.
        let refusals_last = true;
        Capabilities { refusals_last, supports_outages: true, ..Capabilities::coupled() }
    }

    fn bounds(&mut self, request: Request) -> Bounds {
        match mesh_of(&mut self.sides, self.n, request, 1 << self.n) {
            // The mesh may be larger than the request by its rule.
            Ok(mesh) => Bounds::up_to(mesh.processors().into(), request),
            Err(_) => Bounds { servable: false, ..Bounds::exact(request) },
        }
    }

    fn stats(&self) -> Stats {
        Stats { census: Some(self.census), ..Stats::default() }
    }
}
