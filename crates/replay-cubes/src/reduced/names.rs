//! Table of `rsr`, `greedy-limit`, `limit` and `average-limit`.

use crate::reduced::{Reduced, Rule, Speedup};
use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::allocator::{Allocator, AllocatorOptions};
use replay_engine::naming::{Entry, NameError, Registry, Table, kind};
use replay_engine::topology::Topology;

/// Options of the strategies that fold jobs.
#[derive(Clone, PartialEq)]
pub struct ReducedOptions {
    /// The strategies that can place jobs.
    strategies: InnerStrategies,
    /// When jobs are folded.
    pub rule: Rule,
    /// Strategy that places the jobs; `None` for the default of the machine.
    pub inner: Option<AllocatorSpec>,
    /// Relation between run time and number of processors.
    pub speedup: Speedup,
    /// Whether a job may be folded because too few processors are free. The option has an effect
    /// only if a lack of free processors is the only reason for which the inner strategy refuses
    /// jobs.
    pub extend: bool,
}

/// The strategies that can place jobs. All values are equal, because options are compared only within one registry.
#[derive(Clone)]
pub struct InnerStrategies(Registry<AllocatorSpec>);

impl PartialEq for InnerStrategies {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl InnerStrategies {
    /// Returns the default strategy that places jobs on a machine.
    fn default_on(&self, topology: &Topology) -> Result<AllocatorSpec, NameError> {
        self.0.read(match topology {
            Topology::Grid(_) | Topology::Hierarchy(_) => "first-fit",
            Topology::Hypercube(_) => "cube-buddy",
            Topology::Cluster(_) => "elmer",
            Topology::MultiTorus(_) => "placements",
        })
    }
}

/// Returns an error if a limit of 2^`k` processors never folds a job on this machine.
fn check_limit(k: u32, topology: &Topology) -> Result<(), String> {
    let processors = topology.processors();
    let most = match topology {
        // The subcube of a mesh can have more processors than the mesh.
        Topology::Hypercube(cube) => u32::from(cube.dimensions()),
        _ => match processors.next_power_of_two().ilog2() {
            // Jobs of one processor cannot be folded.
            0 => return Err("folds no job: the machine has one processor".to_string()),
            dimensions => dimensions - 1,
        },
    };
    match k > most {
        true => Err(format!(
            "folds no job: k={k} allows {} processors and the machine has {processors}; use k of at most \
             {most}",
            1u64 << k
        )),
        false => Ok(()),
    }
}

impl AllocatorOptions for ReducedOptions {
    fn on(&self, topology: &Topology) -> Self {
        let inner = self.inner.clone().or_else(|| self.strategies.default_on(topology).ok());
        Self { inner: inner.map(|inner| inner.on(topology)), ..self.clone() }
    }

    fn build(&self, topology: &Topology, seed: u64) -> Result<Box<dyn Allocator>, String> {
        let text = |error: NameError| error.to_string();
        let inner = match &self.inner {
            Some(inner) => inner.clone(),
            None => self.strategies.default_on(topology).map_err(text)?,
        };
        if let Rule::Limit { dimension } = self.rule {
            check_limit(dimension, topology)?;
        }
        let built = inner.build(topology, seed).map_err(text)?;
        let capabilities = built.capabilities();
        if capabilities.folds {
            return Err(format!("inner={inner} already folds jobs; use another strategy"));
        }
        let folds_refused = matches!(self.rule, Rule::Refused { .. });
        if folds_refused && capabilities.keeps_schedule && !self.extend {
            return Err(format!(
                "inner={inner} never refuses a job while enough processors are free; use extend=yes to fold jobs when too few processors are free"
            ));
        }
        Ok(Box::new(Reduced::new(built, self.rule, self.speedup, topology)))
    }
}

const SOURCE: &str = "Chang, Mohapatra 1996";

/// Returns the table of the four strategies. The strategies of `registry` place the jobs.
pub fn table(registry: &Registry<AllocatorSpec>) -> Table<ReducedOptions> {
    let entry = |name, rule| {
        let strategies = InnerStrategies(registry.clone());
        let (inner, speedup, extend) = (None, Speedup::Folds, false);
        Entry::new(name, ReducedOptions { strategies, rule, inner, speedup, extend }).source(SOURCE)
    };
    let rsr = entry("rsr", Rule::Refused { most: 1 })
        .about(
"Restricted size reduction: a refused job is folded at most t times. A folded job runs longer on fewer processors. Another strategy places the jobs. The scheduler conservative is not supported, because it reserves processors at arrival, before the number of folds is known.",
        )
        .case("t", kind::integer(1..=64), "maximum number of folding steps of a job", |o: &mut ReducedOptions| match &mut o
            .rule
        {
            Rule::Refused { most } => Some(most),
            _ => None,
        });
    let greedy = entry("greedy-limit", Rule::Refused { most: u32::MAX })
        .about("Like rsr, but a job is folded until it is placed, down to one processor.");
    let limit = entry("limit", Rule::Limit { dimension: 5 })
        .about("Every job of more than 2^k processors is folded to 2^k processors, including jobs larger than the machine.")
        .case("k", kind::integer(0..=15), "log2 of the largest number of processors of a job", |o| match &mut o
            .rule
        {
            Rule::Limit { dimension } => Some(dimension),
            _ => None,
        });
    let average = entry("average-limit", Rule::Average).about(
        "Every job is folded to the mean dimension, log2 of processors, of the requests in the \
         system.",
    );
    let extend =
        "whether a job is folded if the only reason for refusal is too few free processors";
    let refusing =
        [rsr, greedy].map(|entry| entry.param("extend", kind::yes_no(), extend, |o| &mut o.extend));
    let all = refusing.into_iter().chain([limit, average]).map(|entry| {
        entry
            .param(
                "inner",
                kind::strategy("an allocator", registry)
                    .or("first-fit; cube-buddy on a hypercube, elmer on a cluster"),
                "strategy that places jobs",
                |o| &mut o.inner,
            )
            .param(
                "speedup",
                kind::parsed::<Speedup>(
                    "folds|linear|amdahl[serial=..]|downey[parallelism=..,sigma=..]",
                ),
                "run time on fewer processors",
                |o| &mut o.speedup,
            )
    });
    Table::new("allocator", all)
}
