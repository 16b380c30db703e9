//! Random: a uniform random sample of the free processors (Lo et al., section 4).

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use replay_engine::allocator::explain::ExplanationLog;
use replay_engine::allocator::{
    Allocator, AllocatorOptions, Capabilities, Refusal, Request, RunSetup, require_free,
};
use replay_engine::machine::Machine;
use replay_engine::naming::{Entry, Table};
use replay_engine::number::counted;
use replay_engine::topology::{NodeId, Topology};

/// The Random allocator. The chosen processors depend on the seed and on all earlier requests.
#[derive(Debug)]
pub struct Random {
    seed: u64,
    rng: ChaCha8Rng,
    free: Vec<NodeId>,
    explanation: ExplanationLog,
}

impl Random {
    /// Creates an allocator with its own random stream.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            rng: ChaCha8Rng::seed_from_u64(seed),
            free: Vec::new(),
            explanation: ExplanationLog::default(),
        }
    }
}

impl Allocator for Random {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.explanation = setup.explanation.clone();
        self.rng = ChaCha8Rng::seed_from_u64(self.seed);
        Ok(())
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let size = request.size as usize;
        require_free(machine, request.size.into())?;
        self.free.clear();
        self.free.extend(machine.free_nodes());
        // The first `size` steps of a Fisher-Yates shuffle. Random `u32` values are the same on
        // every platform.
        for i in 0..size {
            let j = self.rng.random_range(i as u32..self.free.len() as u32);
            self.free.swap(i, j as usize);
        }
        chosen.extend_from_slice(&self.free[..size]);
        self.explanation.sentence(|| {
            let drawn: Vec<String> = chosen.iter().map(|node| node.0.to_string()).collect();
            format!(
                "processors drawn one after another from {}, with the random stream of seed {}: {}",
                counted(machine.free_count() as u64, "free processor"),
                self.seed,
                drawn.join(", ")
            )
        });
        Ok(())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { supports_outages: true, ..Capabilities::default() }
    }
}

/// Options of `random`, which has no parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RandomOptions;

impl AllocatorOptions for RandomOptions {
    fn build(&self, _topology: &Topology, seed: u64) -> Result<Box<dyn Allocator>, String> {
        Ok(Box::new(Random::new(seed)))
    }
}

/// Returns the table of `random`.
pub(crate) fn table() -> Table<RandomOptions> {
    let random = Entry::new("random", RandomOptions)
        .about("Selects free processors uniformly at random; --seed selects the random stream.")
        .source("Lo et al. 1997, section 4");
    Table::new("allocator", [random])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(seed: u64) -> Vec<u32> {
        let machine = Machine::new("10x10".parse().expect("a mesh"));
        let mut chosen = Vec::new();
        Random::new(seed)
            .allocate(&machine, Request::of_size(5), &mut chosen)
            .expect("all are free");
        chosen.iter().map(|n| n.0).collect()
    }

    #[test]
    fn a_seed_always_gives_the_same_draws() {
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn every_processor_is_drawn_equally_often() {
        let machine = Machine::new("4x5".parse().expect("a mesh"));
        let mut random = Random::new(7);
        let mut hits = [0u32; 20];
        for _ in 0..10_000 {
            let mut chosen = Vec::new();
            random.allocate(&machine, Request::of_size(6), &mut chosen).expect("all are free");
            chosen.iter().for_each(|n| hits[n.index()] += 1);
        }
        // The expected number of hits per processor is 3000, with standard deviation 46.
        assert!(hits.iter().all(|&n| (2750..3250).contains(&n)), "{hits:?}");
    }
}
