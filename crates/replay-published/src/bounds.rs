//! Checks of proved approximation bounds in every state of small machines.
//!
//! The quality of an allocation is the sum of the pairwise L1 distances of its processors. Johnson, Bunde and Leung
//! (section II and related work) quote bounds for two strategies. Gen-Alg is a (2 - 2/k)-approximation for jobs of k
//! processors (Krumke et al. 1997). MM is a (2 - 1/(2d))-approximation on meshes of d dimensions (Bender et al. 2008):
//! 7/4 in two dimensions, 11/6 in three dimensions.
//!
//! # Method
//!
//! Each row applies a strategy to every set of free processors of a small mesh. The job sizes range from 2 to the
//! number of free processors minus 1, because a job that needs all free processors leaves no choice. Each allocation is
//! compared with the optimum, which [`Optima`] computes. A single violation contradicts the bound. The swap test
//! replaces the strategy by random processors and by other strategies without a proved bound. These replacements
//! violate the bound.

mod optima;

use crate::defect;
use rayon::prelude::*;

use super::claim::claim;
use super::{Check, Selection, StrategySwap, Suite, Tolerance, VerifyError};
pub use optima::Optima;
use replay_engine::allocator::{Request, RunSetup};
use replay_engine::cancel::CancelToken;
use replay_engine::machine::Machine;
use replay_engine::topology::{NodeId, Topology};

/// Suite `bounds`.
pub const SUITE: Suite = Suite {
    name: "bounds",
    about: "Johnson, Bunde, Leung: approximation bounds quoted for Gen-Alg and MM, compared with the optimal \
            allocation in every state of small meshes",
    full: Some("also runs meshes of 18 processors"),
    verify,
};

/// Meshes. All states of a mesh are tried. The flag is set for meshes that are tried only with `--full`.
const MESHES: [(&str, bool); 6] = [
    ("4x4", false),
    ("3x5", false),
    ("2x8", false),
    ("2x2x4", false),
    ("3x6", true),
    ("2x3x3", true),
];

const GEN_ALG: &str = "gen-alg";
const MM: &str = "mm";
/// Strategies without a proved bound.
const OTHERS: [&str; 3] = ["mc1x1", "row-major-free-list", "random"];

fn verify(
    selection: &Selection,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Check>, VerifyError> {
    let mut checks = Vec::new();
    for (mesh, slow) in MESHES {
        if !selection.includes(mesh) || slow && !selection.full {
            continue;
        }
        checks.extend(checks_on_mesh(mesh, &selection.stop)?);
        progress(&format!("{mesh}: every state"));
    }
    Ok(checks)
}

/// Comparison of one strategy with the optimum over every state of a mesh.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Worst {
    /// Number of decisions with more than one possible allocation.
    decisions: u64,
    /// Number of decisions with an optimal allocation.
    best: u64,
    /// Sum, over all decisions, of the ratio of the pairwise distance to the optimum.
    sum: f64,
    /// Largest ratio of the pairwise distance to the optimum.
    ratio: f64,
    /// Largest ratio of the pairwise distance to the optimum, divided by the bound 2 - 2/k.
    of_gen_alg: f64,
    /// Largest ratio of the pairwise distance to the optimum, divided by the bound 2 - 2/k, for jobs with k >= 3. For k
    /// = 2, the bound admits only the optimum.
    of_gen_alg_from_three: f64,
}

impl Worst {
    /// Adds a decision about `size` processors.
    fn push(&mut self, size: usize, ours: u32, best: u32) {
        // `best` is positive, because the distance of two or more processors is positive.
        let ratio = f64::from(ours) / f64::from(best);
        self.decisions += 1;
        self.best += u64::from(ours == best);
        self.sum += ratio;
        self.ratio = self.ratio.max(ratio);
        let share = ratio / (2.0 - 2.0 / size as f64);
        self.of_gen_alg = self.of_gen_alg.max(share);
        if size > 2 {
            self.of_gen_alg_from_three = self.of_gen_alg_from_three.max(share);
        }
    }

    fn join(self, other: Self) -> Self {
        Self {
            decisions: self.decisions + other.decisions,
            best: self.best + other.best,
            sum: self.sum + other.sum,
            ratio: self.ratio.max(other.ratio),
            of_gen_alg: self.of_gen_alg.max(other.of_gen_alg),
            of_gen_alg_from_three: self.of_gen_alg_from_three.max(other.of_gen_alg_from_three),
        }
    }
}

/// Checks both bounds on one mesh.
fn checks_on_mesh(mesh: &str, stop: &CancelToken) -> Result<Vec<Check>, VerifyError> {
    let topology: Topology = mesh.parse().map_err(defect)?;
    let optima = Optima::new(&topology);
    let of = |strategy: &'static str| -> Result<(&str, Worst), VerifyError> {
        Ok((strategy, worst(&topology, &optima, strategy, stop)?))
    };
    let [gen_alg, mm] = [of(GEN_ALG)?, of(MM)?];
    let others = OTHERS.map(of).into_iter().collect::<Result<Vec<_>, _>>()?;
    let dimensions = topology.grid().map_or(0, |grid| grid.dimensions());
    let mm_bound = 2.0 - 1.0 / (2 * dimensions) as f64;
    let check = |what: &str, bound: f64, own: (&str, Worst), value: fn(&Worst) -> f64| {
        let bounded = Tolerance::AtMost(0.0);
        let printed = format!("{bound}");
        let check =
            claim("section II", mesh, what, &printed, value(&own.1), bounded)?.printed_bound();
        let Worst { decisions, best, sum, of_gen_alg_from_three, .. } = own.1;
        let larger = match own.0 {
            GEN_ALG => format!("; at most {of_gen_alg_from_three:.3} for three processors or more"),
            _ => String::new(),
        };
        let note = format!(
            "the optimum is reached in {:.2} % of decisions; on average, the distance is {:.4} times the optimum{larger}",
            100.0 * best as f64 / decisions as f64,
            sum / decisions as f64,
        );
        let swap = |(name, other): &(&str, Worst)| StrategySwap {
            with: format!("{name} instead of {}", own.0),
            ours: value(other),
            margin: 0.0,
        };
        Ok::<Check, VerifyError>(Check {
            log: Some(format!("{decisions} decisions: every set of free processors, every size")),
            note,
            swaps: others.iter().map(swap).collect(),
            ..check
        })
    };
    Ok(vec![
        check(
            "pairwise distance under Gen-Alg: largest ratio to the optimum, divided by 2 - 2/k",
            1.0,
            gen_alg,
            |worst| worst.of_gen_alg,
        )?,
        check("pairwise distance under MM: largest ratio to the optimum", mm_bound, mm, |worst| {
            worst.ratio
        })?,
    ])
}

/// Number of sets of free processors per parallel task.
const BATCH: usize = 1 << 10;

/// Applies a strategy to every state of a machine and compares each allocation with the optimum.
fn worst(
    topology: &Topology,
    optima: &Optima,
    strategy: &str,
    stop: &CancelToken,
) -> Result<Worst, VerifyError> {
    let spec = replay_strategies::allocator(strategy).map_err(defect)?;
    let batches = optima.sets().div_ceil(BATCH);
    let parts = (0..batches).into_par_iter().map(|batch| {
        stop.check()?;
        let mut allocator = spec.build(topology, batch as u64).map_err(defect)?;
        let (mut worst, mut chosen) = (Worst::default(), Vec::new());
        for free in batch * BATCH..((batch + 1) * BATCH).min(optima.sets()) {
            let is_busy = |node: &NodeId| free & 1 << node.index() == 0;
            let mut machine = Machine::new(topology.clone());
            machine.occupy(&topology.nodes().filter(is_busy).collect::<Vec<_>>());
            allocator.begin(&RunSetup::default()).map_err(defect)?;
            for size in 2..machine.free_count() {
                chosen.clear();
                let request = Request::of_size(size as u32);
                allocator.allocate(&machine, request, &mut chosen).map_err(defect)?;
                let set = chosen.iter().fold(0, |set, node| set | 1 << node.index());
                worst.push(size, optima.distance(set), optima.best(free, size));
            }
        }
        Ok(worst)
    });
    let parts: Vec<Worst> = parts.collect::<Result<_, VerifyError>>()?;
    Ok(parts.into_iter().fold(Worst::default(), Worst::join))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn both_bounds_hold_in_every_state_and_random_processors_violate_them() {
        for mesh in ["3x4", "2x2x3"] {
            let checks = checks_on_mesh(mesh, &CancelToken::new()).expect("small meshes");
            for check in &checks {
                assert_eq!(check.verdict(), Verdict::Within, "{check:?}");
                let breaks = |name: &str| {
                    let of = |swap: &&StrategySwap| swap.with.starts_with(name);
                    check.swaps.iter().find(of).is_some_and(|swap| swap.ours > check.published)
                };
                assert!(breaks("random"), "{check:?}");
                assert!(breaks("row-major-free-list"), "{check:?}");
            }
            // There are 2^12 sets. For each set, the job sizes range from 2 to the number of free processors minus 1.
            let decisions: u64 = (3..=12).map(|n| binomial(12, n) * (n - 2)).sum();
            assert!(
                checks[0].log.as_ref().is_some_and(|log| log.starts_with(&decisions.to_string()))
            );
        }
    }

    fn binomial(n: u64, k: u64) -> u64 {
        (1..=k).fold(1, |value, i| value * (n + 1 - i) / i)
    }
}
