//! Compatible pairs of schedulers and strategies of a grid.

use crate::grid::ParameterGrid;
use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::naming::NameError;

/// All compatible pairs of schedulers and strategies of a grid, in grid order. A strategy that repeats recorded
/// placements is compatible only with a scheduler that repeats recorded start times, because the recorded processors
/// need not be free at other times. Pairs have numbers, but no list of the pairs is stored.
#[derive(Clone, Debug)]
pub struct Pairs {
    /// One flag per scheduler: `true` if the scheduler repeats recorded start times.
    repeats: Vec<bool>,
    strategies: usize,
    /// Indices of the strategies that repeat recorded placements, in ascending order.
    bound: Vec<usize>,
}

impl Pairs {
    /// Creates the pairs of a grid.
    ///
    /// # Errors
    /// A resolved grid causes no errors, see [`Strategies::get`](crate::grid::Strategies::get).
    pub fn of(grid: &ParameterGrid) -> Result<Self, NameError> {
        let repeats = grid.schedulers.iter().map(|scheduler| scheduler.recorded().is_some());
        let strategies = grid.strategies.len();
        let recorded = grid.strategies.of_each(AllocatorSpec::recorded)?;
        let bound = (0..strategies).filter(|&index| recorded[index]).collect();
        Ok(Self { repeats: repeats.collect(), strategies, bound })
    }

    /// Returns whether a scheduler and a strategy are compatible.
    pub fn are_compatible(&self, scheduler: usize, strategy: usize) -> bool {
        self.repeats[scheduler] || !self.bound.contains(&strategy)
    }

    /// Returns the number of strategies that are compatible with a scheduler.
    fn width(&self, scheduler: usize) -> usize {
        self.strategies - if self.repeats[scheduler] { 0 } else { self.bound.len() }
    }

    /// Number of compatible pairs.
    pub fn count(&self) -> usize {
        (0..self.repeats.len()).map(|scheduler| self.width(scheduler)).sum()
    }

    /// Returns the incompatible pairs.
    pub fn incompatible(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let schedulers = (0..self.repeats.len()).filter(|&scheduler| !self.repeats[scheduler]);
        schedulers
            .flat_map(|scheduler| self.bound.iter().map(move |&strategy| (scheduler, strategy)))
    }

    /// Returns the indices of the scheduler and the strategy of the pair with index `pair`, which must be below
    /// [`count`](Self::count).
    pub fn at(&self, pair: usize) -> (usize, usize) {
        let (mut scheduler, mut strategy) = (0, pair);
        while strategy >= self.width(scheduler) {
            strategy -= self.width(scheduler);
            scheduler += 1;
        }
        if !self.repeats[scheduler] {
            // So far, the index counts only compatible strategies. Each skipped strategy, in ascending order, shifts
            // the index by one.
            for &bound in &self.bound {
                strategy += usize::from(bound <= strategy);
            }
        }
        (scheduler, strategy)
    }

    /// Returns the index of the pair of a scheduler and a strategy, which must be
    /// [compatible](Self::are_compatible).
    pub fn pair(&self, scheduler: usize, strategy: usize) -> usize {
        let before: usize = (0..scheduler).map(|scheduler| self.width(scheduler)).sum();
        let bound = match self.repeats[scheduler] {
            true => 0,
            false => self.bound.iter().filter(|&&bound| bound < strategy).count(),
        };
        before + strategy - bound
    }

    /// Returns the index of the first pair of a scheduler, or 0 if the scheduler has no pairs.
    pub fn first_of(&self, scheduler: usize) -> usize {
        match self.width(scheduler) {
            0 => 0,
            _ => (0..scheduler).map(|scheduler| self.width(scheduler)).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The numbers of the pairs are the same as their positions in an explicit list.
        #[test]
        fn pairs_match_an_explicit_list(
            repeats in proptest::collection::vec(any::<bool>(), 1..5),
            is_bound in proptest::collection::vec(any::<bool>(), 1..7),
        ) {
            let bound = (0..is_bound.len()).filter(|&strategy| is_bound[strategy]).collect();
            let pairs = Pairs { repeats: repeats.clone(), strategies: is_bound.len(), bound };
            let all = (0..repeats.len()).flat_map(|s| (0..is_bound.len()).map(move |a| (s, a)));
            let is_compatible = |&(s, a): &(usize, usize)| repeats[s] || !is_bound[a];
            let list: Vec<_> = all.clone().filter(is_compatible).collect();
            prop_assert_eq!(pairs.count(), list.len());
            for (index, &(scheduler, strategy)) in list.iter().enumerate() {
                prop_assert_eq!(pairs.at(index), (scheduler, strategy));
                prop_assert_eq!(pairs.pair(scheduler, strategy), index);
                prop_assert!(pairs.are_compatible(scheduler, strategy));
                let first = list.iter().position(|pair| pair.0 == scheduler);
                prop_assert_eq!(Some(pairs.first_of(scheduler)), first);
            }
            let incompatible: Vec<_> = all.filter(|pair| !is_compatible(pair)).collect();
            prop_assert_eq!(pairs.incompatible().collect::<Vec<_>>(), incompatible);
        }
    }
}
