//! Reference implementations that follow the definitions of the strategies directly.

use std::collections::HashMap;

use crate::hypercube::auxiliary::Release;
use crate::hypercube::cubic::Subcubes;
use crate::hypercube::multiple_gray_code::MultipleGrayCode;
use replay_contract::{Expected, Oracle};
use replay_engine::allocator::subcube::{Cube, Mesh, gray};
use replay_engine::allocator::{MachineEvent, Request};
use replay_engine::machine::Machine;
use replay_engine::topology::NodeId;

/// Returns every subcube of `k` dimensions of a hypercube of `n` dimensions, in order of stars and
/// then of bases.
pub fn subcubes(n: u32, k: u32) -> impl Iterator<Item = Cube> {
    let masks = (0..1u32 << n).filter(move |stars| stars.count_ones() == k);
    masks.flat_map(move |stars| {
        (0..1u32 << n).filter(move |base| base & stars == 0).map(move |base| Cube { stars, base })
    })
}

/// Whether each processor is free.
#[derive(Clone)]
pub struct Free(pub Vec<bool>);

impl Free {
    pub fn new(n: u32) -> Self {
        Self(vec![true; 1 << n])
    }

    fn all(&self, cube: Cube) -> bool {
        (0..self.0.len() as u32).all(|node| !cube.contains(node) || self.0[node as usize])
    }

    fn set(&mut self, cube: Cube, free: bool) {
        for node in 0..self.0.len() as u32 {
            if cube.contains(node) {
                assert_ne!(self.0[node as usize], free, "{cube}");
                self.0[node as usize] = free;
            }
        }
    }
}

/// Returns the subcube of these processors; panics if they do not form one.
fn spanned(nodes: impl Iterator<Item = u32> + Clone) -> Cube {
    let base = nodes.clone().fold(u32::MAX, |all, node| all & node);
    let stars = nodes.clone().fold(0, |any, node| any | node ^ base);
    let cube = Cube { stars, base };
    assert_eq!(nodes.count(), cube.processors(), "{cube} is not a subcube");
    cube
}

/// Strategies that take the first free subcube of a list of candidates.
pub struct Ordered {
    pub free: Free,
    n: u32,
    candidates: fn(n: u32, k: u32) -> Vec<Cube>,
}

impl Ordered {
    pub fn buddy(n: u32) -> Self {
        let candidates =
            |n: u32, k: u32| (0..1u32 << (n - k)).map(|m| spanned(m << k..(m + 1) << k)).collect();
        Self { free: Free::new(n), n, candidates }
    }

    pub fn gray_code(n: u32) -> Self {
        let candidates = |n, k| ring(n, k, &(0..n as u8).collect::<Vec<_>>());
        Self { free: Free::new(n), n, candidates }
    }

    pub fn modified_buddy(n: u32) -> Self {
        let candidates = |n: u32, k: u32| match k {
            0 => (0..1 << n).map(|node| Cube { stars: 0, base: node }).collect(),
            _ => {
                let bits = n - k + 1;
                let partners =
                    (0..1u32 << bits).flat_map(|r| (0..bits).map(move |i| (r, r ^ 1 << i)));
                let range = |r: u32| r << (k - 1)..(r + 1) << (k - 1);
                partners.map(|(r, p)| spanned(range(r).chain(range(p)))).collect()
            }
        };
        Self { free: Free::new(n), n, candidates }
    }

    pub fn three_gray_codes(n: u32) -> Self {
        Self { free: Free::new(n), n, candidates: |n, k| rings(n, k, 3) }
    }

    pub fn multiple_gray_code(n: u32) -> Self {
        Self { free: Free::new(n), n, candidates: |n, k| rings(n, k, u32::MAX) }
    }
}

fn rings(n: u32, k: u32, codes: u32) -> Vec<Cube> {
    MultipleGrayCode::new(n, codes).codes.iter().flat_map(|code| ring(n, k, code)).collect()
}

/// Returns the subcubes along a Gray code by the rule of Chen and Shin. Bit i of the code is
/// dimension `code[i]`.
fn ring(n: u32, k: u32, code: &[u8]) -> Vec<Cube> {
    let place = |index: u32| {
        let word = gray::code(index % (1 << n));
        (0..n as usize).fold(0, |node, bit| node | (word >> bit & 1) << code[bit])
    };
    match k {
        0 => (0..1 << n)
            .map(|index| Cube { stars: 0, base: if code.is_empty() { 0 } else { place(index) } })
            .collect(),
        _ => {
            let half = k - 1;
            (0..1u32 << (n - half))
                .map(|r| spanned((r << half..(r + 2) << half).map(place)))
                .collect()
        }
    }
}

impl Subcubes for Ordered {
    fn take(&mut self, k: u32) -> Option<Cube> {
        // Every code recognises every single processor. With several codes, single processors are
        // therefore tried in order of their addresses.
        let mut candidates = (self.candidates)(self.n, k);
        if k == 0 && candidates.len() > 1 << self.n {
            candidates.sort();
        }
        let cube = candidates.into_iter().find(|&cube| self.free.all(cube))?;
        self.free.set(cube, false);
        Some(cube)
    }

    fn give(&mut self, cube: Cube) {
        self.free.set(cube, true);
    }

    fn withdraw(&mut self, cube: Cube) {
        self.free.set(cube, false);
    }

    fn clear(&mut self) {
        self.free = Free::new(self.n);
    }
}

/// The free list as defined in section 4.2 of the specification.
#[derive(Clone)]
pub struct FreeList {
    pub n: u32,
    pub lists: Vec<Vec<Cube>>,
}

impl FreeList {
    pub fn new(n: u32) -> Self {
        let mut lists = vec![vec![]; n as usize + 1];
        lists[n as usize].push(Cube::whole(n));
        Self { n, lists }
    }

    fn holds(&self, node: u32) -> bool {
        self.lists.iter().flatten().any(|cube| cube.contains(node))
    }

    pub fn all_free(&self, cube: Cube) -> bool {
        cube.nodes().all(|node| self.holds(node.0))
    }

    fn take_from(
        &mut self,
        dimension: usize,
        at: usize,
        k: u32,
        keep: impl Fn(Cube) -> bool,
    ) -> Cube {
        let mut cube = self.lists[dimension].remove(at);
        while cube.dimension() > k {
            let (low, high) = cube.split();
            let (kept, other) = if keep(low) { (low, high) } else { (high, low) };
            self.lists[other.dimension() as usize].push(other);
            cube = kept;
        }
        cube
    }

    fn carve(&mut self, cube: Cube) {
        let overlapping: Vec<Cube> = self
            .lists
            .iter()
            .flatten()
            .copied()
            .filter(|other| other.distance(cube) == 0)
            .collect();
        for mut rest in overlapping {
            self.lists[rest.dimension() as usize].retain(|&other| other != rest);
            while !cube.includes(rest) {
                let along = (0..self.n)
                    .rev()
                    .find(|&d| rest.stars >> d & 1 == 1 && cube.stars >> d & 1 == 0);
                let (low, high) = rest.halves(along.expect("a dimension that only rest spans"));
                let (inside, outside) =
                    if low.distance(cube) == 0 { (low, high) } else { (high, low) };
                self.lists[outside.dimension() as usize].push(outside);
                rest = inside;
            }
        }
    }
}

impl Subcubes for FreeList {
    fn take(&mut self, k: u32) -> Option<Cube> {
        if let Some(dimension) = (k as usize..=self.n as usize).find(|&i| !self.lists[i].is_empty())
        {
            return Some(self.take_from(dimension, 0, k, |_| true));
        }
        let cube = subcubes(self.n, k).find(|&cube| self.all_free(cube))?;
        self.carve(cube);
        Some(cube)
    }

    fn give(&mut self, cube: Cube) {
        let list = &mut self.lists[cube.dimension() as usize];
        let partner = list.iter().position(|&other| other.merged(cube).is_some());
        match partner.map(|at| list.remove(at).merged(cube)) {
            Some(Some(merged)) => self.give(merged),
            _ => list.push(cube),
        }
    }

    fn withdraw(&mut self, cube: Cube) {
        self.carve(cube);
    }

    fn clear(&mut self) {
        *self = Self::new(self.n);
    }
}

/// The greedy maximal set, rebuilt for every request.
pub struct MaximalSet {
    pub free: Free,
    n: u32,
}

impl MaximalSet {
    pub fn new(n: u32) -> Self {
        Self { free: Free::new(n), n }
    }

    /// Returns the set, in the order in which it is built.
    pub fn set(&self) -> Vec<Cube> {
        let (mut rest, mut set) = (self.free.clone(), vec![]);
        let largest = |rest: &Free| {
            (0..=self.n).rev().find_map(|k| subcubes(self.n, k).find(|&cube| rest.all(cube)))
        };
        while let Some(cube) = largest(&rest) {
            rest.set(cube, false);
            set.push(cube);
        }
        set
    }
}

impl Subcubes for MaximalSet {
    fn take(&mut self, k: u32) -> Option<Cube> {
        let set = self.set();
        let large = set.into_iter().filter(|cube| cube.dimension() >= k);
        let mut cube = large.min_by_key(|cube| cube.dimension())?;
        while cube.dimension() > k {
            cube = cube.split().0;
        }
        self.free.set(cube, false);
        Some(cube)
    }

    fn give(&mut self, cube: Cube) {
        self.free.set(cube, true);
    }

    fn withdraw(&mut self, cube: Cube) {
        self.free.set(cube, false);
    }

    fn clear(&mut self) {
        self.free = Free::new(self.n);
    }
}

/// Merges complementary pairs, dimension by dimension, in list order.
pub fn coalesce(n: u32, cubes: Vec<Cube>) -> Vec<Cube> {
    let mut lists = vec![vec![]; n as usize + 1];
    cubes.into_iter().for_each(|cube| lists[cube.dimension() as usize].push(cube));
    for dimension in 0..n as usize {
        let mut at = 0;
        while at < lists[dimension].len() {
            let cube = lists[dimension][at];
            match (at + 1..lists[dimension].len())
                .find(|&other| cube.merged(lists[dimension][other]).is_some())
            {
                Some(other) => {
                    let partner = lists[dimension].remove(other);
                    lists[dimension].remove(at);
                    lists[dimension + 1].extend(cube.merged(partner));
                }
                None => at += 1,
            }
        }
    }
    lists.into_iter().rev().flatten().collect()
}

/// The auxiliary free list as defined in sections 4.3 to 4.5 of the specification. Jobs are
/// identified by numbers.
pub struct Auxiliary {
    pub n: u32,
    pub base: FreeList,
    pub lists: Vec<Vec<(Cube, usize)>>,
    pub jobs: Vec<Job>,
    release: Release,
    /// The running jobs, by their first processors.
    running: HashMap<NodeId, usize>,
}

impl Oracle for Auxiliary {
    fn expect(&mut self, machine: &Machine, request: Request) -> Expected {
        let mesh = Mesh::new(request.shape.expect("a shape").map(u32::from));
        // The definition does not describe requests for more processors than are free.
        if 1 << mesh.dimension() > machine.free_count() {
            return Expected::Refused(None);
        }
        let Some(job) = self.allocate(mesh) else { return Expected::Refused(None) };
        let mut nodes = vec![];
        mesh.append_to(self.jobs[job].host, &mut nodes);
        self.running.insert(nodes[0], job);
        Expected::Nodes(nodes)
    }

    fn on_event(&mut self, _: &Machine, event: MachineEvent<'_>) {
        if let MachineEvent::Released(nodes) = event {
            let job = self.running.remove(&nodes[0]).expect("a job");
            self.release(job);
        }
    }
}

pub struct Job {
    pub host: Cube,
    pub mesh: Mesh,
    pub running: bool,
    lender: Option<usize>,
    /// Cubes that the job owns, whether they are allocated or not.
    ownership: Vec<Cube>,
}

impl Auxiliary {
    pub fn new(n: u32, release: Release) -> Self {
        let lists = vec![vec![]; n as usize + 1];
        Self { n, base: FreeList::new(n), lists, jobs: vec![], release, running: HashMap::new() }
    }

    fn allocate(&mut self, mesh: Mesh) -> Option<usize> {
        let k = mesh.dimension() as usize;
        if k > self.n as usize {
            return None;
        }
        let left = (k..=self.n as usize).find(|&i| !self.lists[i].is_empty());
        let (host, lender) = match left {
            Some(dimension) => {
                let (mut cube, owner) = self.lists[dimension].remove(0);
                self.jobs[owner].ownership.retain(|&own| own != cube);
                while cube.dimension() as usize > k {
                    let (low, high) = cube.split();
                    self.lists[high.dimension() as usize].push((high, owner));
                    self.jobs[owner].ownership.push(high);
                    cube = low;
                }
                // The cube stays in the owner's list until the owner ends, even if another job uses
                // it.
                self.jobs[owner].ownership.push(cube);
                (cube, Some(owner))
            }
            None => (self.base.take(k as u32)?, None),
        };
        let job = self.jobs.len();
        let mut ownership = vec![];
        mesh.append_leftover(&mut ownership);
        for cube in &mut ownership {
            *cube = cube.within(host);
            self.lists[cube.dimension() as usize].push((*cube, job));
        }
        self.jobs.push(Job { host, mesh, running: true, lender, ownership });
        Some(job)
    }

    /// Ends a job and returns its coalesced cubes.
    fn release(&mut self, job: usize) -> Vec<Cube> {
        self.jobs[job].running = false;
        let mut cubes = vec![];
        self.jobs[job].mesh.append_region(&mut cubes);
        let host = self.jobs[job].host;
        cubes.iter_mut().for_each(|cube| *cube = cube.within(host));
        for cube in std::mem::take(&mut self.jobs[job].ownership) {
            let list = &mut self.lists[cube.dimension() as usize];
            if let Some(at) = list.iter().position(|&entry| entry == (cube, job)) {
                list.remove(at);
                cubes.push(cube);
            }
        }
        let cubes = coalesce(self.n, cubes);
        let running = |&lender: &usize| self.jobs[lender].running;
        let first = self.jobs[job].lender;
        let lender = match self.release {
            Release::Literal => None,
            Release::Owner => first.filter(running),
            Release::Heir => {
                std::iter::successors(first, |&lender| self.jobs[lender].lender).find(running)
            }
        };
        for &cube in &cubes {
            match lender {
                Some(lender) => {
                    self.lists[cube.dimension() as usize].push((cube, lender));
                    let ownership = &mut self.jobs[lender].ownership;
                    ownership.retain(|&own| own != cube);
                    ownership.push(cube);
                }
                None => self.base.give(cube),
            }
        }
        cubes
    }
}

/// Non-cubic allocation with the reference free list.
pub struct NonCubic {
    pub base: FreeList,
    pub cubes: u32,
    pub adjacent: bool,
    /// The cubes of the running jobs, by their first processors.
    pub held: HashMap<NodeId, Vec<Cube>>,
}

impl Oracle for NonCubic {
    fn expect(&mut self, machine: &Machine, request: Request) -> Expected {
        let n = self.base.n;
        // The definition does not describe requests for more processors than are free.
        let rounded = (request.size..=1 << n).find(|size| size.count_ones() <= self.cubes);
        if rounded.is_none_or(|size| size as usize > machine.free_count()) {
            return Expected::Refused(None);
        }
        let Some(cubes) = self.allocate(request.size) else { return Expected::Refused(None) };
        let nodes: Vec<NodeId> = cubes.iter().flat_map(|cube| cube.nodes()).collect();
        self.held.insert(nodes[0], cubes);
        Expected::Nodes(nodes)
    }

    fn on_event(&mut self, _: &Machine, event: MachineEvent<'_>) {
        if let MachineEvent::Released(nodes) = event {
            let cubes = self.held.remove(&nodes[0]).expect("a job");
            cubes.into_iter().for_each(|cube| self.base.give(cube));
        }
    }
}

impl NonCubic {
    fn allocate(&mut self, size: u32) -> Option<Vec<Cube>> {
        let n = self.base.n;
        let mut rest = (size..=1 << n).find(|size| size.count_ones() <= self.cubes)?;
        let before = self.base.lists.clone();
        let mut taken: Vec<Cube> = vec![];
        while rest > 0 {
            let k = rest.ilog2();
            let near = |cube: Cube| taken.iter().any(|own| own.distance(cube) == 1);
            let cube = if taken.is_empty() || !self.adjacent {
                self.base.take(k)
            } else {
                let lists = &self.base.lists;
                let places = (k as usize..=n as usize)
                    .flat_map(|i| (0..lists[i].len()).map(move |at| (i, at)));
                let place = places.clone().find(|&(i, at)| near(lists[i][at]));
                match place {
                    Some((i, at)) => Some(self.base.take_from(i, at, k, near)),
                    None => {
                        let cube =
                            subcubes(n, k).find(|&cube| self.base.all_free(cube) && near(cube));
                        cube.into_iter().for_each(|cube| self.base.carve(cube));
                        cube
                    }
                }
            };
            let Some(cube) = cube else {
                self.base.lists = before;
                return None;
            };
            taken.push(cube);
            rest -= 1 << k;
        }
        Some(taken)
    }
}
