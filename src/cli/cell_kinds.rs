//! Kinds of cells: two cells are of one kind if they have the same trace and the same scheduler, and if their
//! strategies belong to one group. Cells of one kind take about the same time.

use std::collections::{BTreeMap, HashMap};

use replay_engine::allocator::ties::TieRule;
use replay_engine::naming::NameError;
use replay_experiment::sweep::Plan;

/// Maximum number of groups of strategies, unless the grid has more allocator entries. If there would be more groups,
/// all strategies of one allocator entry of the grid form a group.
const STRATEGIES: usize = 64;

/// Kind of a cell: the indices of its trace, its scheduler and its group of strategies.
pub type CellKind = [usize; 3];

/// Groups of the strategies of a plan. Cells that differ only in strategies of one group take about the same time.
pub struct CellKinds {
    /// For each strategy of the grid, the index of its group in `strategies`.
    of: Vec<usize>,
    /// Names of the groups: names of strategies, without given tie vectors.
    pub strategies: Vec<String>,
}

impl CellKinds {
    /// Groups the strategies of a plan.
    ///
    /// # Errors
    /// [`NameError`] if a strategy cannot be built.
    pub fn new(plan: &Plan) -> Result<Self, NameError> {
        let of_grid = &plan.grid.strategies;
        let mut names = HashMap::new();
        let mut strategies = Vec::new();
        let mut of = of_grid.of_each(|strategy| {
            // A strategy that tunes its tie vector is in a separate group, because it takes longer than a strategy with
            // a given vector.
            let tunes =
                strategy.tie_breaking().is_some_and(|breaking| breaking.tie == TieRule::Auto);
            let name = if tunes { strategy.name() } else { strategy.without_tie() }.to_string();
            *names.entry(name).or_insert_with_key(|name| {
                strategies.push(name.clone());
                strategies.len() - 1
            })
        })?;
        if strategies.len() > STRATEGIES.max(plan.grid.file.allocator.len()) {
            of = (0..of_grid.len()).map(|index| of_grid.entry(index)).collect();
            strategies = plan.grid.file.allocator.iter().map(|entry| entry.name.clone()).collect();
        }
        Ok(Self { of, strategies })
    }

    /// Returns the kind of the cell with number `run`.
    pub fn of(&self, plan: &Plan, run: u32) -> CellKind {
        let [trace, _, scheduler, strategy, _] = plan.places(run);
        [trace, scheduler, self.of[strategy]]
    }

    /// Groups cells by kind.
    pub fn cells(&self, plan: &Plan, cells: &[u32]) -> BTreeMap<CellKind, Vec<u32>> {
        let mut kinds = BTreeMap::<_, Vec<u32>>::new();
        for &run in cells {
            kinds.entry(self.of(plan, run)).or_default().push(run);
        }
        kinds
    }
}
