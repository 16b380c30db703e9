use std::sync::Arc;

use super::{Problem, SearchError, SearchSpec, SearchTrace, Space, split, width};
use crate::grid::ParameterGrid;
use crate::{RunContext, Trace};
use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::scheduler::registry::SchedulerSpec;

/// The problems of a search, created after the settings of the search were checked.
pub struct Problems {
    /// Problems. Each problem is searched separately.
    pub searches: Vec<Problem>,
    /// One problem for each trace: first the searched traces, then the test traces.
    pub singles: Vec<Problem>,
    /// Number of test traces in `singles`.
    pub tests: usize,
    /// The exhaustive grid.
    pub grid: Space,
    /// The search space of the strategies that do not use the exhaustive grid.
    pub free: Space,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl Problems {
    /// Computes the schedules of the traces and measures each trace without tie-breaking. `grid` is the grid of the
    /// settings with its names looked up, `traces` contains the traces of the grid, and `tests` contains the traces of
    /// [`SearchSpec::test`].
    ///
    /// # Errors
    /// [`SearchError`] if the settings are invalid, if a trace cannot be split or simulated, or under the conditions of
    /// [`Problem::new`].
    pub fn new(
        spec: &SearchSpec,
        grid: &ParameterGrid,
        traces: &[Arc<Trace>],
        tests: &[Arc<Trace>],
        watch: RunContext<'_>,
    ) -> Result<Self, SearchError> {
        spec.check(grid)?;
        let (scheduler, allocator) = spec.strategies(grid)?;
        let (mut searched, mut held) = (traces.to_vec(), Vec::new());
        if let Some(share) = spec.split {
            let halves = traces.iter().map(|trace| split(trace, &scheduler, share));
            let halves = halves.map(|halves| halves.map(|[before, after]| (before, after)));
            (searched, held) = halves.collect::<Result<_, _>>()?;
        }
        held.extend(tests.iter().cloned());
        let space = spec.space();
        let widest = searched.iter().map(|trace| width(&trace.topology)).max().unwrap_or(1);
        let [_, most] = space.scan_radii.ends();
        let all_radii = || (1..=most.max(widest)).collect();
        let free = Space {
            scan_radii: spec.scan_radii.clone().unwrap_or_else(all_radii),
            ..space.clone()
        };
        let maker = Maker { spec, scheduler, allocator, watch };
        let parts = maker.parts(&searched, &held)?;
        let problem = |copies: &Vec<SearchTrace>| maker.problem(copies.clone());
        let singles = parts.iter().map(problem).collect::<Result<Vec<_>, _>>()?;
        let searches = match spec.each {
            true => singles[..searched.len()].to_vec(),
            false => vec![maker.problem(parts[..searched.len()].concat())?],
        };
        let settings = |message: &str| Err(SearchError::Settings(message.to_string()));
        if spec.each && searches.len() < 2 {
            return settings("--each: needs several traces to search");
        }
        if spec.scale_sr && singles.len() < 2 {
            return settings("--scale-sr: needs another trace on which the vectors are evaluated");
        }
        let seed = grid.seeds[0];
        Ok(Self { searches, singles, tests: held.len(), grid: space, free, seed })
    }
}

struct Maker<'a> {
    spec: &'a SearchSpec,
    scheduler: SchedulerSpec,
    allocator: AllocatorSpec,
    watch: RunContext<'a>,
}

impl Maker<'_> {
    /// Returns a part of a problem for each trace or, if there are perturbed copies, for each copy. Traces have
    /// distinct names.
    fn parts(
        &self,
        searched: &[Arc<Trace>],
        held: &[Arc<Trace>],
    ) -> Result<Vec<Vec<SearchTrace>>, SearchError> {
        let all: Vec<&Arc<Trace>> = searched.iter().chain(held).collect();
        // Returns whether traces with the same name differ in a property.
        let differ = |trace: &Trace, what: &dyn Fn(&Trace) -> String| {
            let namesakes = all.iter().filter(|other| other.workload.name == trace.workload.name);
            namesakes.map(|other| what(other)).any(|other| other != what(trace))
        };
        let copies = |trace: &&Arc<Trace>| -> Result<Vec<SearchTrace>, SearchError> {
            let mut name = trace.workload.name.clone();
            if differ(trace, &|trace| trace.topology.to_string()) {
                name += &format!(" on {}", trace.topology);
            }
            if differ(trace, &|trace| trace.policy.clone()) {
                name += &format!(" cleaned by {}", trace.policy);
            }
            let copies = match self.spec.shake {
                None => vec![Arc::clone(trace)],
                Some(shake) => (1..=shake.copies).map(|copy| trace.shaken(&shake, copy)).collect(),
            };
            let (objective, stop) = (&self.spec.objective, self.watch.stop);
            let part =
                |copy| SearchTrace::new(name.clone(), copy, &self.scheduler, objective, stop);
            copies.into_iter().map(part).collect()
        };
        all.iter().map(copies).collect()
    }

    fn problem(&self, parts: Vec<SearchTrace>) -> Result<Problem, SearchError> {
        let SearchSpec { objective, constraints, .. } = self.spec;
        let (objective, constraints) = (objective.clone(), constraints.clone());
        Problem::new(parts, self.allocator.clone(), objective, constraints, self.watch)
    }
}
