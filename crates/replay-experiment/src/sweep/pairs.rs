//! Which schedulers and strategies of a grid go together.

use crate::grid::ParameterGrid;
use replay_core::allocator::registry::AllocatorSpec;
use replay_core::naming::NameError;

/// All pairs of a grid's schedulers and strategies, in its order, but for those that cannot be: a strategy that
/// repeats the placements of a log goes with schedulers that repeat its starts, for at other times they are not
/// free. A pair is numbered without a list of all.
#[derive(Clone, Debug)]
pub struct Pairs {
    /// By scheduler, whether it repeats starts.
    repeats: Vec<bool>,
    strategies: usize,
    /// Strategies that repeat placements, ascending.
    bound: Vec<usize>,
}

impl Pairs {
    /// Those of a grid.
    ///
    /// # Errors
    /// None for a grid that was resolved, see [`Strategies::get`](crate::grid::Strategies::get).
    pub fn of(grid: &ParameterGrid) -> Result<Self, NameError> {
        let repeats = grid.schedulers.iter().map(|scheduler| scheduler.recorded().is_some());
        let strategies = grid.strategies.len();
        let recorded = grid.strategies.of_each(AllocatorSpec::recorded)?;
        let bound = (0..strategies).filter(|&index| recorded[index]).collect();
        Ok(Self { repeats: repeats.collect(), strategies, bound })
    }

    /// Whether a scheduler and a strategy go together.
    pub fn go_together(&self, scheduler: usize, strategy: usize) -> bool {
        self.repeats[scheduler] || !self.bound.contains(&strategy)
    }

    /// Strategies that go with a scheduler.
    fn width(&self, scheduler: usize) -> usize {
        self.strategies - if self.repeats[scheduler] { 0 } else { self.bound.len() }
    }

    /// Number of pairs.
    pub fn count(&self) -> usize {
        (0..self.repeats.len()).map(|scheduler| self.width(scheduler)).sum()
    }

    /// Pairs that are left out.
    pub fn left_out(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let schedulers = (0..self.repeats.len()).filter(|&scheduler| !self.repeats[scheduler]);
        schedulers
            .flat_map(|scheduler| self.bound.iter().map(move |&strategy| (scheduler, strategy)))
    }

    /// Scheduler and strategy of pair `pair`, below [`count`](Self::count).
    pub fn at(&self, pair: usize) -> (usize, usize) {
        let (mut scheduler, mut strategy) = (0, pair);
        while strategy >= self.width(scheduler) {
            strategy -= self.width(scheduler);
            scheduler += 1;
        }
        if !self.repeats[scheduler] {
            // Ascending: those before push it on one by one.
            for &bound in &self.bound {
                strategy += usize::from(bound <= strategy);
            }
        }
        (scheduler, strategy)
    }

    /// The pair of a scheduler and a strategy that [go together](Self::go_together).
    pub fn pair(&self, scheduler: usize, strategy: usize) -> usize {
        let before: usize = (0..scheduler).map(|scheduler| self.width(scheduler)).sum();
        let bound = match self.repeats[scheduler] {
            true => 0,
            false => self.bound.iter().filter(|&&bound| bound < strategy).count(),
        };
        before + strategy - bound
    }

    /// The first pair of a scheduler, or of all if it has none.
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
        /// As a list of all pairs has them.
        #[test]
        fn pairs_are_those_of_a_list(
            repeats in proptest::collection::vec(any::<bool>(), 1..5),
            is_bound in proptest::collection::vec(any::<bool>(), 1..7),
        ) {
            let bound = (0..is_bound.len()).filter(|&strategy| is_bound[strategy]).collect();
            let pairs = Pairs { repeats: repeats.clone(), strategies: is_bound.len(), bound };
            let all = (0..repeats.len()).flat_map(|s| (0..is_bound.len()).map(move |a| (s, a)));
            let goes = |&(s, a): &(usize, usize)| repeats[s] || !is_bound[a];
            let list: Vec<_> = all.clone().filter(goes).collect();
            prop_assert_eq!(pairs.count(), list.len());
            for (index, &(scheduler, strategy)) in list.iter().enumerate() {
                prop_assert_eq!(pairs.at(index), (scheduler, strategy));
                prop_assert_eq!(pairs.pair(scheduler, strategy), index);
                prop_assert!(pairs.go_together(scheduler, strategy));
                let first = list.iter().position(|pair| pair.0 == scheduler);
                prop_assert_eq!(Some(pairs.first_of(scheduler)), first);
            }
            let left: Vec<_> = all.filter(|pair| !goes(pair)).collect();
            prop_assert_eq!(pairs.left_out().collect::<Vec<_>>(), left);
        }
    }
}
