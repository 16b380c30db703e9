//! Worked examples of the papers: the internal fragmentation of a single request on an empty machine.

use super::claim::claim;
use super::{Check, StrategySwap, Tolerance, VerifyError};
use crate::defect;
use replay_engine::allocator::Request;
use replay_engine::machine::Machine;
use replay_engine::topology::Topology;

/// Strategies that replace the example's strategy in the swap test.
const OTHERS: [&str; 4] = ["paging", "paging[size=1]", "paging[size=2]", "buddy"];

/// A request on an empty machine, and the printed waste.
pub struct Example {
    /// Section or figure of the paper.
    pub place: &'static str,
    pub machine: &'static str,
    pub strategy: &'static str,
    /// Requested processors.
    pub size: u32,
    /// Printed number of allocated processors that were not requested, in percent of the allocated processors.
    pub wasted: &'static str,
}

impl Example {
    /// Computes the check of the printed share.
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

    /// Returns the number of processors that a strategy allocates beyond the request, in percent of the allocated
    /// processors.
    fn wasted_by(&self, strategy: &str) -> Result<f64, VerifyError> {
        let topology: Topology = self.machine.parse().map_err(defect)?;
        let spec = replay_strategies::allocator(strategy).map_err(defect)?;
        let mut allocator = spec.build(&topology, 0).map_err(defect)?;
        let mut nodes = Vec::new();
        let request = Request::shaped(self.size, None);
        allocator
            .allocate(&Machine::new(topology), request, &mut nodes)
            .map_err(|refusal| defect(format!("{strategy}: {refusal:?}")))?;
        Ok(100.0 * (1.0 - f64::from(self.size) / nodes.len() as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn an_example_agrees_and_every_swap_is_noticed() {
        let (place, machine, strategy) = ("Fig. 1", "8x8", "paging[size=1]");
        let example = Example { place, machine, strategy, size: 6, wasted: "25" };
        let check = example.check().expect("a valid example");
        assert_eq!(check.verdict(), Verdict::Same);
        // With pages of side 4 and with the 4 x 4 square, the waste is 62.5 %. With single processors, the waste is 0
        // %.
        assert_eq!(check.swaps.len(), 3);
        assert_eq!(check.unnoticed().count(), 0);
    }
}
