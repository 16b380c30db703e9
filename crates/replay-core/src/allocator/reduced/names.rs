//! `rsr`, `greedy-limit`, `limit`, `average-limit`.

use super::{Reduced, Rule, Speedup};
use crate::allocator::spec::AllocatorSpec;
use crate::allocator::{Allocator, AllocatorOptions};
use crate::naming::{Entry, NameError, Table, kind};
use crate::topology::Topology;

/// How jobs are folded, and for which strategy.
#[derive(Clone, PartialEq, Debug)]
pub struct ReducedOptions {
    /// When jobs are folded.
    pub rule: Rule,
    /// The strategy that places them; by the machine if `None`.
    pub inner: Option<AllocatorSpec>,
    /// How much longer they take.
    pub speedup: Speedup,
    /// Whether a job may be folded because too few processors are free for a strategy that has no
    /// other reason to refuse.
    pub extend: bool,
}

/// The strategy that places jobs on a machine where the options name none.
fn usual(topology: &Topology) -> Result<AllocatorSpec, NameError> {
    match topology {
        Topology::Grid(_) => "first-fit",
        Topology::Hypercube(_) => "cube-buddy",
        Topology::Cluster(_) => "elmer",
        Topology::Toruses(_) => "placements",
        Topology::Hierarchy(_) => "first-fit",
    }
    .parse()
}

/// Why a limit of 2^`k` processors folds nobody on this machine, if that is so.
fn idle_limit(k: u32, topology: &Topology) -> Result<(), String> {
    let processors = topology.processors();
    let most = match topology {
        // A mesh can need a larger subcube than its processors would.
        Topology::Hypercube(cube) => u32::from(cube.dimensions()),
        _ => match processors.next_power_of_two().ilog2() {
            // Jobs of one processor cannot be folded.
            0 => return Err("folds no job: the machine has one processor".to_string()),
            dimensions => dimensions - 1,
        },
    };
    match k > most {
        true => Err(format!(
            "folds no job: k={k} allows {} processors and the machine has {processors}; k is at most \
             {most} there",
            1u64 << k
        )),
        false => Ok(()),
    }
}

impl AllocatorOptions for ReducedOptions {
    fn on(&self, topology: &Topology) -> Self {
        let inner = self.inner.clone().or_else(|| usual(topology).ok());
        Self { inner: inner.map(|inner| inner.on(topology)), ..self.clone() }
    }

    fn build(&self, topology: &Topology, seed: u64) -> Result<Box<dyn Allocator>, String> {
        let text = |error: NameError| error.to_string();
        let inner = match &self.inner {
            Some(inner) => inner.clone(),
            None => usual(topology).map_err(text)?,
        };
        if let Rule::Limit { dimension } = self.rule {
            idle_limit(dimension, topology)?;
        }
        let built = inner.build(topology, seed).map_err(text)?;
        let capabilities = built.capabilities();
        if capabilities.folds {
            return Err(format!("inner={inner} folds jobs itself"));
        }
        let folds_refused = matches!(self.rule, Rule::Refused { .. });
        if folds_refused && capabilities.keeps_schedule && !self.extend {
            return Err(format!(
                "inner={inner} never refuses a job while enough processors are free; extend=yes folds \
                 jobs where fewer are"
            ));
        }
        Ok(Box::new(Reduced::new(built, self.rule, self.speedup, topology)))
    }
}

const SOURCE: &str = "Chang, Mohapatra 1996";

/// The four strategies.
pub fn table() -> Table<ReducedOptions> {
    let entry = |name, rule| {
        let usual = ReducedOptions { rule, inner: None, speedup: Speedup::Folds, extend: false };
        Entry::new(name, usual).source(SOURCE)
    };
    let rsr = entry("rsr", Rule::Refused { most: 1 })
        .about(
            "Restricted size reduction: a job that is refused is folded, at most t times, and runs longer \
             on fewer processors of another strategy. Under every scheduler but conservative, which \
             reserves at arrival what only the start decides.",
        )
        .case("t", kind::integer(1..=64), "most folds of a job", |o: &mut ReducedOptions| match &mut o
            .rule
        {
            Rule::Refused { most } => Some(most),
            _ => None,
        });
    let greedy = entry("greedy-limit", Rule::Refused { most: u32::MAX })
        .about("As rsr, but a job is folded until it is placed, down to one processor.");
    let limit = entry("limit", Rule::Limit { dimension: 5 })
        .about("Every job of more than 2^k processors is folded to 2^k, always, also one larger than the machine.")
        .case("k", kind::integer(0..=15), "log2 of the most processors of a job", |o| match &mut o
            .rule
        {
            Rule::Limit { dimension } => Some(dimension),
            _ => None,
        });
    let average = entry("average-limit", Rule::Average).about(
        "Every job is folded to the mean dimension, log2 of processors, that the jobs in the system ask \
         for.",
    );
    let extend = "whether a job is folded where only too few processors are free";
    let refusing =
        [rsr, greedy].map(|entry| entry.param("extend", kind::yes_no(), extend, |o| &mut o.extend));
    let all = refusing.into_iter().chain([limit, average]).map(|entry| {
        entry
            .param(
                "inner",
                kind::told::<AllocatorSpec>("an allocator")
                    .or("first-fit; cube-buddy on a hypercube, elmer on a cluster"),
                "the strategy that places jobs",
                |o| &mut o.inner,
            )
            .param(
                "speedup",
                kind::told::<Speedup>(
                    "folds|linear|amdahl[serial=..]|downey[parallelism=..,sigma=..]",
                ),
                "how much longer a job takes on fewer processors",
                |o| &mut o.speedup,
            )
    });
    Table::new("allocator", all)
}
