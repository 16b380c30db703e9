//! Worked examples of the papers: what one request gets on an empty machine.

use super::claim::claim;
use super::{Check, StrategySwap, Tolerance, VerifyError};
use replay_core::allocator::Request;
use replay_core::allocator::registry::AllocatorSpec;
use replay_core::machine::Machine;
use replay_core::topology::Topology;

/// Strategies that one of an example is exchanged with.
const OTHERS: [&str; 4] = ["paging", "paging[size=1]", "paging[size=2]", "buddy"];

/// A request on an empty machine, and what a paper prints of it.
pub struct Example {
    /// Section or figure.
    pub place: &'static str,
    pub machine: &'static str,
    pub strategy: &'static str,
    /// Processors asked for.
    pub size: u32,
    /// Percent of the processors it gets that it did not ask for, as printed.
    pub wasted: &'static str,
}

impl Example {
    /// The printed share beside ours.
    pub fn check(&self) -> Result<Check, VerifyError> {
        let Self { place, machine, strategy, size, wasted } = *self;
        let what = format!("{size} processors under {strategy}: internal fragmentation %");
        let ours = self.wasted_by(strategy)?;
        let check = claim(place, machine, &what, wasted, ours, Tolerance::Absolute(0.5))?;
        let others = OTHERS.into_iter().filter(|other| *other != strategy);
        let swap = |with: &str| {
            let ours = self.wasted_by(with)?;
            Ok(StrategySwap { with: with.to_string(), ours, margin: 0.0 })
        };
        let swaps = others.map(swap).collect::<Result<_, VerifyError>>()?;
        Ok(Check { is_claim: false, swaps, ..check })
    }

    /// Percent of what a strategy gives that was not asked for.
    fn wasted_by(&self, strategy: &str) -> Result<f64, VerifyError> {
        let defect = |error: &dyn std::fmt::Display| VerifyError::Table(error.to_string());
        let topology: Topology = self.machine.parse().map_err(|e| defect(&e))?;
        let spec: AllocatorSpec = strategy.parse().map_err(|e| defect(&e))?;
        let mut allocator = spec.build(&topology, 0).map_err(|e| defect(&e))?;
        let mut nodes = Vec::new();
        let request = Request::shaped(self.size, None);
        allocator
            .allocate(&Machine::new(topology), request, &mut nodes)
            .map_err(|refusal| defect(&format!("{strategy}: {refusal:?}")))?;
        Ok(100.0 * (1.0 - f64::from(self.size) / nodes.len() as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn a_share_is_judged_and_every_other_strategy_is_noticed() {
        let (place, machine, strategy) = ("Fig. 1", "8x8", "paging[size=1]");
        let example = Example { place, machine, strategy, size: 6, wasted: "25" };
        let check = example.check().expect("it is served");
        assert_eq!(check.verdict(), Verdict::Same);
        // Pages of 4 x 4 waste 62.5 %, single processors nothing, a square of 4 x 4 62.5 %.
        assert_eq!(check.swaps.len(), 3);
        assert_eq!(check.unnoticed().count(), 0);
    }
}
