//! Simulated systems and their points.

use std::collections::{BTreeMap, BTreeSet};

use crate::{VerifyError, defect};
use replay_engine::cancel::CancelToken;
use replay_engine::metrics::estimate::{Estimate, StopRule};
use replay_engine::scheduler::registry::SchedulerSpec;
use replay_engine::topology::Topology;
use replay_engine::workload::stochastic::{Arrivals, StochasticStream};
use replay_experiment::RunContext;
use replay_experiment::stream::{Counting, Estimates, Life, Metric, Point, estimate};

const SEED: u64 = 1;
pub const REPLICATIONS: u64 = 5;
/// Mean service time, in time units.
pub const SERVICE: f64 = 5.0;
/// Number of completions at the beginning of a replication that are excluded from the means.
const WARM_UP: u32 = 500;

/// Machine and distribution of requests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum System {
    /// 32x32 mesh. Requests have uniform sides; with `square`, they are squares.
    Mesh { square: bool },
    /// Hypercube of eight dimensions. Requests have 0 to 7 dimensions. Their distribution is uniform or, with `normal`,
    /// nearly normal.
    Cube { normal: bool },
}

impl System {
    pub fn machine(self) -> &'static str {
        match self {
            System::Mesh { .. } => "32x32",
            System::Cube { .. } => "hypercube:8",
        }
    }

    /// Returns the name of the machine and the distribution of its requests.
    pub fn name(self) -> String {
        let requests = match self {
            System::Mesh { square: false } => "uniform sides",
            System::Mesh { square: true } => "uniform squares",
            System::Cube { normal: false } => "uniform dimensions",
            System::Cube { normal: true } => "normal dimensions",
        };
        format!("{} {requests}", self.machine())
    }

    pub fn sides(self) -> &'static str {
        match self {
            System::Mesh { square: false } => "uniform",
            System::Mesh { square: true } => "uniform[equal=yes]",
            System::Cube { normal: false } => {
                "subcubes[shares=0.125,0.125,0.125,0.125,0.125,0.125,0.125,0.125]"
            }
            System::Cube { normal: true } => {
                "subcubes[shares=0.025,0.076,0.162,0.237,0.237,0.162,0.076,0.025]"
            }
        }
    }
}

/// Load in percent of the machine's capacity; `None` if all jobs arrive at once.
pub type Load = Option<u8>;

/// Estimates of all points that were requested. Each point is computed once.
pub struct Points {
    pub jobs: u32,
    pub stop: CancelToken,
    pub known: BTreeMap<(System, Load, String), Estimates>,
    /// Two strategies with exchanged estimates. The estimates are exchanged at the points at which both strategies were
    /// run.
    pub exchanged: Option<[String; 2]>,
}

impl Points {
    /// Creates a collection without estimates. Each replication has `jobs` jobs.
    pub fn new(jobs: u32, stop: CancelToken) -> Self {
        Self { jobs, stop, known: BTreeMap::new(), exchanged: None }
    }

    /// Returns the strategies of all points that have been computed.
    pub fn strategies(&self) -> Vec<String> {
        let names: BTreeSet<&String> = self.known.keys().map(|(_, _, name)| name).collect();
        names.into_iter().cloned().collect()
    }

    /// Returns the strategy whose estimates replace the estimates of `strategy` at this point.
    fn substitute<'a>(&'a self, strategy: &'a str, system: System, load: Load) -> &'a str {
        let other = self.exchanged.as_ref().and_then(|[a, b]| match strategy {
            strategy if strategy == a => Some(b),
            strategy if strategy == b => Some(a),
            _ => None,
        });
        let ran = |other: &&String| self.known.contains_key(&(system, load, (*other).clone()));
        other.filter(ran).map_or(strategy, String::as_str)
    }

    pub fn at(
        &mut self,
        system: System,
        load: Load,
        strategy: &str,
    ) -> Result<&Estimates, VerifyError> {
        let key = (system, load, self.substitute(strategy, system, load).to_string());
        if !self.known.contains_key(&key) {
            let point = point(system, load, &key.2, self.jobs)?;
            let rule = StopRule::exactly(REPLICATIONS);
            let context = RunContext::new(&self.stop);
            let watched = &[Metric::Turnaround];
            self.known.insert(key.clone(), estimate(context, &point, SEED, &rule, watched)?);
        }
        Ok(&self.known[&key])
    }

    /// Returns the ratio of a metric of one strategy to the metric of another strategy, with the same jobs.
    pub fn ratio(
        &mut self,
        metric: Metric,
        (system, load): (System, Load),
        strategy: &str,
        base: &str,
    ) -> Result<Estimate, VerifyError> {
        let own = self.at(system, load, strategy)?.clone();
        Ok(own.ratio(self.at(system, load, base)?, metric))
    }

    /// Returns the ratio of the mean turnaround of one strategy to the mean turnaround of another strategy.
    pub fn turnaround(
        &mut self,
        at: (System, u8),
        strategy: &str,
        base: &str,
    ) -> Result<Estimate, VerifyError> {
        self.ratio(Metric::Turnaround, (at.0, Some(at.1)), strategy, base)
    }

    /// Returns the ratio of the load that one strategy carries to the load that another strategy carries.
    pub fn carried(
        &mut self,
        system: System,
        strategy: &str,
        base: &str,
    ) -> Result<Estimate, VerifyError> {
        self.ratio(Metric::FinishTime, (system, None), base, strategy)
    }
}

/// Builds one point of the figures.
pub fn point(system: System, load: Load, strategy: &str, jobs: u32) -> Result<Point, VerifyError> {
    let topology: Topology = system.machine().parse().map_err(defect)?;
    let mut stream = StochasticStream {
        sides: system.sides().parse().map_err(defect)?,
        service: format!("exponential[mean={SERVICE}]").parse().map_err(defect)?,
        jobs,
        ..StochasticStream::new(topology.extents())
    };
    stream.arrivals = match load {
        None => Arrivals::AtOnce,
        // The arrival rate of the paper is load x system size / (mean job size x mean service time).
        Some(percent) => {
            let size = stream.mean_size().map_err(defect)?;
            let rate = topology.processors() as f64 / (size * SERVICE) * f64::from(percent) / 100.0;
            Arrivals::Exponential { mean: 1.0 / rate }
        }
    };
    // There is no warm-up if all jobs arrive at once.
    let warm_up = if load.is_some() { WARM_UP } else { 0 };
    Ok(Point {
        stream,
        scheduler: SchedulerSpec::fcfs(),
        allocator: replay_strategies::allocator(strategy).map_err(defect)?,
        life: Life::RunTimes,
        counting: Counting {
            warm_up,
            by_size: load == Some(70) && system.machine() != "32x32",
            completions: None,
        },
        topology,
    })
}
