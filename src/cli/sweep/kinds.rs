//! The cells of a plan by kind: a trace, a scheduler and a strategy.

use std::collections::{BTreeMap, HashMap};

use replay_core::allocator::centre::TieRule;
use replay_core::naming::NameError;
use replay_experiment::sweep::Plan;

/// With more strategies all of one entry of the grid are one: a sample needs time.
const STRATEGIES: usize = 64;

/// Runs by trace, scheduler and strategy.
pub type Kinds = BTreeMap<[usize; 3], Vec<u32>>;

/// The cells by kind, and the names of their strategies.
pub fn kinds(plan: &Plan, cells: &[u32]) -> Result<(Kinds, Vec<String>), NameError> {
    let of_grid = &plan.grid.strategies;
    let mut names = HashMap::new();
    let mut strategies = Vec::new();
    let mut of = of_grid.of_each(|strategy| {
        // One that tunes its vector does other work than one that has it.
        let tunes = strategy.tie_breaking().is_some_and(|breaking| breaking.tie == TieRule::Auto);
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
    let mut kinds = Kinds::new();
    for &run in cells {
        let [trace, _, scheduler, strategy, _] = plan.places(run);
        kinds.entry([trace, scheduler, of[strategy]]).or_default().push(run);
    }
    Ok((kinds, strategies))
}

/// Jobs of all cells of a kind.
pub fn weight(plan: &Plan, runs: &[u32]) -> u64 {
    plan.jobs(runs[0]).saturating_mul(runs.len() as u64)
}
