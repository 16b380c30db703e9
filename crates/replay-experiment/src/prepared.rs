//! Cache of allocators: runs reuse the allocators that were built to check the grid.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::compatibility::Incompatible;
use replay_engine::allocator::Allocator;
use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::naming::NameError;
use replay_engine::topology::Topology;

/// Maximum number of processors, summed over the machines of all cached allocators. This maximum limits the memory of
/// the cache to about 250 MB.
const MOST_PROCESSORS: usize = 1 << 24;

/// Cached allocators, indexed by canonical name and machine.
type Built = HashMap<(String, Topology), Box<dyn Allocator>>;

/// Allocators that were built to check a grid and that no run has used yet. Clones share their contents.
#[derive(Clone, Default)]
pub struct Prepared {
    seed: u64,
    built: Arc<Mutex<Built>>,
}

impl Prepared {
    /// Creates an empty cache that builds allocators with the given seed, which is the first seed of the grid.
    pub fn new(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// Takes an allocator from the cache or builds a new allocator, and passes it to `check`, which must not begin a
    /// run. If the check succeeds, the allocator is stored in the cache.
    ///
    /// # Errors
    /// [`Incompatible`] if `check` fails, or if the strategy does not support the machine.
    pub fn check<T>(
        &self,
        allocator: &AllocatorSpec,
        machine: &Topology,
        check: impl FnOnce(&mut dyn Allocator) -> Result<T, Incompatible>,
    ) -> Result<T, Incompatible> {
        let built = self.take(allocator, machine, self.seed);
        let mut built = built.map_err(|error| Incompatible::on(machine, &error))?;
        let passed = check(built.as_mut())?;
        let mut kept = self.lock();
        let processors: usize = kept.keys().map(|(_, machine)| machine.processors()).sum();
        if processors < MOST_PROCESSORS {
            kept.insert(key(allocator, machine), built);
        }
        Ok(passed)
    }

    /// Returns an allocator for one run. The allocator is taken from the cache if possible; otherwise it is built.
    ///
    /// # Errors
    /// [`NameError`] if the strategy does not support the machine.
    pub fn take(
        &self,
        allocator: &AllocatorSpec,
        machine: &Topology,
        seed: u64,
    ) -> Result<Box<dyn Allocator>, NameError> {
        let kept = match seed == self.seed {
            true => self.lock().remove(&key(allocator, machine)),
            false => None,
        };
        kept.map_or_else(|| allocator.build(machine, seed), Ok)
    }

    fn lock(&self) -> MutexGuard<'_, Built> {
        self.built.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(allocator: &AllocatorSpec, machine: &Topology) -> (String, Topology) {
    (allocator.on(machine).to_string(), machine.clone())
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.lock().keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::compatibility::{check_grid, check_outages, check_strategies};
    use crate::grid::{ParameterGrid, Strategies};
    use crate::pool::Turn;
    use crate::resolve::ResolvedGrid;
    use crate::sweep::Plan;
    use crate::{RunContext, Trace, run_experiment};
    use replay_engine::allocator::AllocatorOptions;
    use replay_engine::cancel::CancelToken;
    use replay_engine::naming::{Entry, Table};
    use replay_engine::simulation::{OutageFile, Outages};
    use replay_engine::workload::{Policy, Window, Workload};
    use replay_mesh::random::RandomOptions;

    static BUILT: AtomicU32 = AtomicU32::new(0);

    /// The allocator `random`. The static variable `BUILT` counts how often this allocator is built.
    #[derive(Clone, PartialEq, Debug)]
    struct Counted;

    impl AllocatorOptions for Counted {
        fn build(&self, machine: &Topology, seed: u64) -> Result<Box<dyn Allocator>, String> {
            BUILT.fetch_add(1, Ordering::Relaxed);
            RandomOptions.build(machine, seed)
        }
    }

    /// The test performs the same checks and runs as a replay without a subcommand and as `replay sweep`, in the same
    /// order.
    #[test]
    fn builds_the_allocator_of_every_cell_once() {
        let text = "machines = ['4x4']\nschedulers = ['fcfs', 'easy']\nseeds = '3..5'";
        let mut grid =
            ParameterGrid::parse(text, "grid.toml", replay_strategies::standard()).expect("a grid");
        let table = Arc::new(Table::new("allocator", [Entry::new("counted", Counted)]));
        grid.strategies = Strategies::of(AllocatorSpec::new(&table, Counted));
        check_grid(&grid).expect("it works there");
        let swf = "; MaxProcs: 16\n1 0 -1 60 4\n2 5 -1 30 8\n".as_bytes();
        let (policy, window) = (&Policy::JOHNSON, &Window::ALL);
        let workload = Workload::from_reader(swf, "tiny.swf", policy, window, Default::default());
        let workload = Arc::new(workload.expect("a trace"));
        let down = "from,until,what\n10,20,node 0\n".as_bytes();
        let machine = &grid.machines[0];
        let down = OutageFile::read(down, "down.csv").expect("outages");
        let windows = down.on(machine).expect("they are of this machine");
        let outages = Arc::new(Outages { windows, ..Outages::default() });
        let traces = [machine.clone(), "5x4".parse().expect("a mesh")].map(|machine| {
            let trace = Trace::new(workload.clone(), machine, "johnson", &grid.schedulers);
            Arc::new(trace.with_outages(outages.clone()).prepared(grid.prepared.clone()))
        });
        check_strategies(&grid, [&traces[1].topology], &[]).expect("it works there");
        check_outages(&grid, &traces).expect("it supports them");
        assert_eq!(BUILT.load(Ordering::Relaxed), 2);
        let plan = Plan::new(grid, &traces).expect("a plan");
        let runs: Vec<u32> = (0..plan.len()).collect();
        let stop = CancelToken::new();
        let grid = ResolvedGrid { plan, traces: traces.to_vec() };
        run_experiment(&grid, &runs, Turn::InOrder, RunContext::new(&stop), |_, outcome| {
            outcome.expect("it runs");
            Ok::<_, NameError>(true)
        })
        .expect("it goes on");
        assert_eq!((grid.plan.len(), BUILT.load(Ordering::Relaxed)), (12, 12));
    }
}
