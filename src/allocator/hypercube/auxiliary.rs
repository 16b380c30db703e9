//! The auxiliary free list (AFL; Turner 1995, chapter 3): what a mesh leaves of its subcube
//! is handed out, too.
//!
//! A job gets exactly its X x Y processors, embedded in a subcube. The aligned subcubes
//! that they leave go to the auxiliary free list, owned by the job. A request is first
//! looked for there: the first cube of the smallest dimension that is large enough, split
//! as in the [free list](super::free_list), the halves staying with their owner. Otherwise
//! a subcube comes from a cubic strategy, in the thesis the free list. Messages of jobs in
//! one subcube never share a channel under e-cube routing (theorem 1).
//!
//! When a job ends, its mesh and those of its cubes that nobody holds are
//! [coalesced](super::coalesce) and given back to the cubic strategy; cubes of it that
//! others hold have no owner from then on. The thesis is in two minds about a subcube that
//! came from the auxiliary list and whose owner still runs: by the figure it is given back
//! like any other ([`Release::Literal`]), by a remark it could return to its owner
//! ([`Release::Owner`]).
//!
//! Cost per decision: O(n) from a list, and O(k) for each of the at most O(k^2) cubes that
//! are left; that of the cubic strategy where it is asked; the processors handed out.

use super::coalesce::Coalescer;
use super::cube::Cube;
use super::cubic::{Subcubes, mesh_of};
use super::lists::CubeLists;
use super::mesh::Mesh;
use super::sides::{Sides, SidesRule};
use crate::allocator::{Allocator, Census, Refusal, Request};
use crate::machine::Machine;
use crate::topology::{Hypercube, NodeId};

/// Where a subcube goes that came from the auxiliary list and whose owner still runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Release {
    /// To the cubic strategy, as every other.
    #[default]
    Literal,
    /// To the auxiliary list, owned as before; its cubes do not merge with others there.
    Owner,
}

impl Release {
    /// Both with their names.
    pub const ALL: [(&'static str, Release); 2] =
        [("literal", Release::Literal), ("owner", Release::Owner)];
}

/// No cube.
const NONE: u32 = u32::MAX;

/// The auxiliary free list over a cubic strategy. [`Census::operations`] counts subcubes
/// that are handed out, left or given back.
#[derive(Clone, Debug)]
pub struct Auxiliary<S> {
    n: u32,
    sides: Sides,
    release: Release,
    subcubes: S,
    lists: CubeLists,
    /// By the base of a cube in the auxiliary list: the base of its owner's subcube, and
    /// the owner's cubes before and after it.
    owned: Vec<Owned>,
    /// By the base of its subcube.
    jobs: Vec<Option<Holding>>,
    /// Jobs placed so far.
    serial: u64,
    coalescer: Coalescer,
    pieces: Vec<Cube>,
    census: Census,
}

#[derive(Clone, Copy, Debug)]
struct Owned {
    owner: u32,
    before: u32,
    after: u32,
}

/// What a job holds and owns.
#[derive(Clone, Copy, Debug)]
struct Holding {
    host: Cube,
    mesh: Mesh,
    serial: u64,
    /// Base and serial of the job that owned the host.
    lender: Option<(u32, u64)>,
    /// Bases of its first and last cube in the auxiliary list.
    first: u32,
    last: u32,
}

impl<S: Subcubes> Auxiliary<S> {
    /// An auxiliary free list for `cube`, over `subcubes` of it.
    pub fn new(cube: &Hypercube, rule: SidesRule, release: Release, subcubes: S) -> Self {
        let n = u32::from(cube.dimensions());
        let nobody = Owned { owner: NONE, before: NONE, after: NONE };
        Self {
            n,
            sides: Sides::new(n, rule),
            release,
            subcubes,
            lists: CubeLists::new(n),
            owned: vec![nobody; cube.processors()],
            jobs: vec![None; cube.processors()],
            serial: 0,
            coalescer: Coalescer::new(n),
            pieces: Vec::new(),
            census: Census::default(),
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
        self.lists.has(cube).then(|| NodeId(self.owned[cube.base as usize].owner))
    }

    /// Adds a cube to the auxiliary list.
    fn add(&mut self, cube: Cube, owner: u32) {
        self.lists.push(cube);
        let Some(holding) = &mut self.jobs[owner as usize] else { return };
        let before = std::mem::replace(&mut holding.last, cube.base);
        match before {
            NONE => holding.first = cube.base,
            before => self.owned[before as usize].after = cube.base,
        }
        self.owned[cube.base as usize] = Owned { owner, before, after: NONE };
        self.census.operations += 1;
    }

    /// Takes a cube from the auxiliary list and its owner, whose base it returns.
    fn remove(&mut self, cube: Cube) -> u32 {
        self.lists.remove(cube);
        let Owned { owner, before, after } = self.owned[cube.base as usize];
        if let Some(holding) = &mut self.jobs[owner as usize] {
            match before {
                NONE => holding.first = after,
                before => self.owned[before as usize].after = after,
            }
            match after {
                NONE => holding.last = before,
                after => self.owned[after as usize].before = before,
            }
        }
        owner
    }

    /// A subcube of `k` dimensions from the auxiliary list, and the base of its owner.
    fn take_left(&mut self, k: u32) -> Option<(Cube, u32)> {
        let mut cube = self.lists.smallest(k)?;
        let owner = self.remove(cube);
        while cube.dimension() > k {
            let (low, high) = cube.split();
            self.add(high, owner);
            cube = low;
        }
        Some((cube, owner))
    }

    /// Whether the owner that lent a subcube still runs.
    fn lender(&self, holding: &Holding) -> Option<u32> {
        let (base, serial) = holding.lender?;
        let lender = self.jobs[base as usize].as_ref()?;
        (lender.serial == serial).then_some(base)
    }
}

impl<S: Subcubes> Allocator for Auxiliary<S> {
    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let mesh = mesh_of(&mut self.sides, self.n, request, machine.free_count())?;
        let (host, owner) = match self.take_left(mesh.dimension()) {
            Some((cube, owner)) => (cube, Some(owner)),
            None => (self.subcubes.take(mesh.dimension()).ok_or(Refusal::Fragmented)?, None),
        };
        let serial_of = |base: u32| self.jobs[base as usize].as_ref().map(|job| (base, job.serial));
        let lender = owner.and_then(serial_of);
        self.serial += 1;
        let serial = self.serial;
        let holding = Holding { host, mesh, serial, lender, first: NONE, last: NONE };
        self.jobs[host.base as usize] = Some(holding);
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

    fn released(&mut self, _machine: &Machine, nodes: &[NodeId]) {
        // The node at the origin of the mesh is the base of its subcube.
        let Some(base) = nodes.first() else { return };
        let Some(holding) = self.jobs[base.index()].take() else { return };
        let mut pieces = std::mem::take(&mut self.pieces);
        holding.mesh.append_region(&mut pieces);
        pieces.iter_mut().for_each(|cube| *cube = cube.within(holding.host));
        let mut next = holding.first;
        while next != NONE {
            let cube = self.lists.at(next);
            self.lists.remove(cube);
            pieces.push(cube);
            next = self.owned[next as usize].after;
        }
        self.coalescer.coalesce(&mut pieces);
        let lender = match self.release {
            Release::Literal => None,
            Release::Owner => self.lender(&holding),
        };
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

    fn census(&self) -> Census {
        self.census
    }

    fn has_units(&self) -> bool {
        true
    }

    fn never_refuses(&self) -> bool {
        false
    }

    fn reset(&mut self) {
        self.subcubes.clear();
        self.lists.clear();
        self.jobs.fill(None);
        self.census = Census::default();
    }
}
