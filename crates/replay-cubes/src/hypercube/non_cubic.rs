//! Non-cubic allocation (Kim, Das and Lin 1991; Turner 1995, section 3.1): a job gets several subcubes. Each subcube is
//! adjacent to another subcube of the job.
//!
//! A job of p processors gets a subcube for each 1 in the binary representation of p, the largest subcube first. The
//! job thus gets exactly p processors: for example, 11 processors in cubes of 3, 1 and 0 dimensions. If the number of
//! cubes is limited, p is rounded up to the next number whose binary representation has no more ones than the permitted
//! number of cubes. For example, with at most two cubes, 11 becomes 12: cubes of 3 and 2 dimensions. The first cube
//! comes from the [free list](super::free_list). Each further cube is taken from the first listed cube that is large
//! enough and adjacent to a cube of the job; listed cubes are searched in order of increasing dimension. When a listed
//! cube is split and only one half is adjacent to the job, the adjacent half is used. If no listed cube is adjacent,
//! all free subcubes are searched, and the first adjacent subcube is taken. The thesis gives the example of 11
//! processors, but it does not specify the order of the search. A job is refused if one of its cubes is not available; the
//! free list is then as before the request.
//! Messages of jobs with several subcubes can share channels.
//!
//! Cost per decision: for each cube of the job, the number of listed cubes times the number of cubes of the job. If no
//! listed cube fits, a search of at most O(3^n / 64) is added.

use crate::hypercube::cubic::Subcubes;
use crate::hypercube::free_list::FreeList;
use replay_engine::allocator::explain::ExplanationLog;
use replay_engine::allocator::subcube::Cube;
use replay_engine::allocator::{
    Allocator, Bounds, Capabilities, Census, MachineEvent, Refusal, Request, RunSetup, Stats,
    require_free,
};
use replay_engine::machine::Machine;
use replay_engine::topology::{Hypercube, NodeId};

/// Non-cubic allocation. [`Census::operations`] counts the subcubes that are allocated and released.
#[derive(Clone, Debug)]
pub struct NonCubic {
    n: u32,
    pub(super) list: FreeList,
    /// Maximum number of cubes of a job.
    cubes: u32,
    /// Whether cubes of a job must be adjacent.
    adjacent: bool,
    /// Stars (spanned dimensions) of each allocated cube, indexed by the base of the cube.
    held: Vec<u32>,
    /// Cubes of the current job.
    taken: Vec<Cube>,
    census: Census,
    explanation: ExplanationLog,
}

impl NonCubic {
    /// Creates the strategy for `cube`. A job has at most `cubes` subcubes; `cubes` must be at least one. If `adjacent`
    /// is set, each subcube must be adjacent to a previous subcube of the job.
    pub fn new(cube: &Hypercube, cubes: u32, adjacent: bool) -> Self {
        let n = u32::from(cube.dimensions());
        Self {
            n,
            list: FreeList::new(n),
            cubes: cubes.max(1),
            adjacent,
            held: vec![0; cube.processors()],
            taken: Vec::new(),
            census: Census::default(),
            explanation: ExplanationLog::default(),
        }
    }

    /// Takes a subcube of `k` dimensions. If adjacency is required, the subcube is adjacent to a subcube that the job
    /// already has.
    fn take(&mut self, k: u32) -> Option<Cube> {
        if self.taken.is_empty() || !self.adjacent {
            return self.list.take(k);
        }
        let taken = &self.taken;
        let near = |cube: Cube| taken.iter().any(|own| own.distance(cube) == 1);
        let listed = (k..=self.n).find_map(|i| self.list.lists().of(i).find(|&cube| near(cube)));
        match listed {
            Some(cube) => Some(self.list.take_from(cube, k, near)),
            None => {
                let cube = self.list.recognise(k, near)?;
                self.list.carve(cube);
                Some(cube)
            }
        }
    }
}

/// Returns the smallest number that is at least `size` and has at most `ones` bits set; `ones` must be at least 1.
fn rounded(size: u32, ones: u32) -> u32 {
    let mut size = size;
    while size.count_ones() > ones {
        size += size & size.wrapping_neg();
    }
    size
}

impl Allocator for NonCubic {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.explanation = setup.explanation.clone();
        self.list.clear();
        self.census = Census::default();
        Ok(())
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        require_free(machine, request.size.into())?;
        let mut rest = rounded(request.size, self.cubes);
        require_free(machine, rest.into())?;
        self.taken.clear();
        // A refused request must not change later choices. Returning its cubes could merge them with halves that the
        // list keeps apart, so the list is restored. A single cube that is not found changes nothing.
        let before = (rest.count_ones() > 1).then(|| self.list.clone());
        while rest != 0 {
            let k = rest.ilog2();
            let found = self.take(k);
            self.explanation.sentence(|| match found {
                Some(cube) => format!("a subcube of {k} dimensions: {} is free", cube.text(self.n)),
                None => format!("a subcube of {k} dimensions: none is recognised"),
            });
            let Some(cube) = found else {
                if let Some(before) = before {
                    self.list = before;
                }
                return Err(Refusal::Fragmented);
            };
            self.taken.push(cube);
            rest ^= 1 << k;
        }
        for cube in &self.taken {
            self.held[cube.base as usize] = cube.stars;
            chosen.extend(cube.nodes());
        }
        let cubes = self.taken.len() as u32;
        self.census.add_job(cubes);
        self.census.operations += u64::from(cubes);
        Ok(())
    }

    fn on_event(&mut self, _machine: &Machine, event: MachineEvent<'_>) {
        match event {
            MachineEvent::Released(nodes) => {
                let mut next = 0;
                while let Some(base) = nodes.get(next) {
                    let cube = Cube { stars: self.held[base.index()], base: base.0 };
                    self.list.give(cube);
                    next += cube.processors();
                    self.census.busy_list -= 1;
                    self.census.operations += 1;
                }
            }
            _ => self.list.on_outage(event),
        }
    }

    fn capabilities(&self) -> Capabilities {
        // If later subcubes must be adjacent to the first subcube, the position of the first subcube can cause the
        // refusal.
        let refusals_last = !self.adjacent;
        Capabilities { refusals_last, supports_outages: true, ..Capabilities::coupled() }
    }

    fn bounds(&mut self, request: Request) -> Bounds {
        let rounded = rounded(request.size, self.cubes);
        Bounds { servable: rounded <= 1 << self.n, ..Bounds::up_to(rounded.into(), request) }
    }

    fn stats(&self) -> Stats {
        Stats { census: Some(self.census), ..Stats::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the example of the thesis, and sizes for which rounding carries over several bits.
    #[test]
    fn sizes_are_rounded_to_the_allowed_number_of_cubes() {
        assert_eq!((rounded(11, 3), rounded(11, 2), rounded(11, 1)), (11, 12, 16));
        assert_eq!((rounded(7, 2), rounded(128, 1), rounded(127, 6)), (8, 128, 128));
    }
}
