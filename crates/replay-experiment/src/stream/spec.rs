use std::collections::HashSet;
use std::error::Error;

use super::{Counting, Estimates, Life, Metric, Point, PointError, arrivals_at, estimate};
use crate::compatibility::{
    ELSEWHERE, Incompatible, compatible_allocators, reject_unused_parameters,
    require_one_processor_per_point, require_sides,
};
use crate::contention::MessageSpec;
use crate::grid::{Values, once};
use crate::journal::CellId;
use crate::resolve::InputError;
use crate::{Prepared, RunContext};
use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::metrics::estimate::StopRule;
use replay_engine::naming::split_list;
use replay_engine::registries::Registries;
use replay_engine::scheduler::registry::SchedulerSpec;
use replay_engine::topology::{Topology, split_name};
use replay_engine::workload::stochastic::{
    Arrivals, Service, Sides, StochasticStream, TICKS_PER_UNIT,
};

const MACHINE: &str = "16x16";
const SCHEDULER: &str = "fcfs";
const SERVICE: &str = "exponential";
const ARRIVALS: &str = "1..10:1";
const ALLOCATORS: &str = "first-fit,best-fit,frame-sliding,paging,mbs";
const WATCHED: [Metric; 3] = [Metric::FinishTime, Metric::Utilization, Metric::Turnaround];

/// Maximum number of loads or arrival rates.
const MOST_LOADS: usize = 1000;

/// The settings of stochastic streams: every combination of machine, scheduler, allocator and load is a point.
/// [`resolve`](Self::resolve) checks the settings.
#[derive(Clone, PartialEq, Debug)]
pub struct StreamSpec {
    /// Names of machines, or lists of names; by default `16x16`.
    pub machines: Vec<String>,
    /// Offered loads, from 0 to 1; `None` if the number of arrivals is given.
    pub loads: Option<Values>,
    /// Arrivals per time unit; by default `1..10:1`.
    pub arrivals: Option<Values>,
    /// Distribution of the side lengths of jobs.
    pub sides: String,
    /// Distribution of service times; by default `exponential`. Only without a pattern.
    pub service: Option<String>,
    /// Communication pattern; with a pattern, messages determine the run times of jobs, and a time unit is a cycle.
    pub pattern: Option<String>,
    /// Settings of the messages; only with a pattern.
    pub messages: MessageSpec,
    /// Number of jobs of a replication.
    pub jobs: u32,
    /// What is counted.
    pub counting: Counting,
    /// Names of schedulers, or lists of names; by default `fcfs`.
    pub schedulers: Vec<String>,
    /// Names of allocators, or lists of names; by default several allocators, depending on the machines.
    pub allocators: Vec<String>,
    /// Seed of the first replication.
    pub seed: u64,
    /// When a point has enough replications.
    pub replications: ReplicationSpec,
}

/// Number of replications of a point.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ReplicationSpec {
    /// This number of replications.
    Exactly(u64),
    /// Replications until the intervals are precise.
    Until {
        /// Half-width of the 95 % intervals, as a share of the mean.
        precision: f64,
        /// Smallest number of replications.
        minimum: u64,
        /// Largest number of replications.
        maximum: u64,
    },
}

impl ReplicationSpec {
    /// Returns the stop rule.
    ///
    /// # Errors
    /// A usage error if the numbers contradict each other.
    pub fn resolve(self) -> Result<StopRule, InputError> {
        let rule = match self {
            Self::Exactly(replications) => StopRule::exactly(replications),
            Self::Until { precision, minimum, maximum } => {
                StopRule { relative: precision, minimum, maximum, ..StopRule::default() }
            }
        };
        if rule.minimum > rule.maximum {
            return Err(InputError::usage_message(format!(
                "--max-replications {} is less than --min-replications {}",
                rule.maximum, rule.minimum
            )));
        }
        match rule.problem() {
            Some(problem) => Err(InputError::usage_message(format!("stop rule: {problem}"))),
            None => Ok(rule),
        }
    }
}

/// The points of a [`StreamSpec`].
#[derive(Clone, Debug)]
pub struct Streams {
    /// The points, in the order machine, scheduler, allocator, load.
    pub points: Vec<Point>,
    /// Names of the machines.
    pub machines: Vec<String>,
    /// When a point has enough replications.
    pub rule: StopRule,
    /// Seed of the first replication.
    pub seed: u64,
}

impl Streams {
    /// Returns the id of the estimates of each point.
    pub fn ids(&self) -> Vec<CellId> {
        let id = |point: &Point| point.id(self.seed, &self.rule, &WATCHED);
        self.points.iter().map(id).collect()
    }

    /// Estimates the means of a point on the current rayon pool.
    ///
    /// # Errors
    /// [`PointError`] if a replication fails.
    pub fn estimate(&self, point: &Point, watch: RunContext<'_>) -> Result<Estimates, PointError> {
        estimate(watch, point, self.seed, &self.rule, &WATCHED)
    }
}

impl StreamSpec {
    /// Looks up all names and forms every combination of machine, scheduler, allocator and load.
    ///
    /// # Errors
    /// A usage error for a wrong setting; a data error if the file of a pattern is invalid.
    pub fn resolve(&self, registries: &Registries) -> Result<Streams, InputError> {
        let rule = self.replications.resolve()?;
        let loads = match (&self.loads, &self.arrivals) {
            (Some(loads), _) => positive("load", loads)?,
            (None, Some(arrivals)) => positive("arrivals", arrivals)?,
            (None, None) => positive("arrivals", &Values::listed(ARRIVALS))?,
        };
        let sides: Sides = self.sides.parse().map_err(InputError::usage)?;
        self.check_messages()?;
        let service = self.service.as_deref().unwrap_or(SERVICE);
        let service: Service = service.parse().map_err(InputError::usage)?;
        let life = match &self.pattern {
            Some(pattern) => Life::Messages(self.messages.resolve(pattern)?),
            None => Life::RunTimes,
        };
        let ticks_per_unit = if self.pattern.is_some() { 1 } else { TICKS_PER_UNIT };
        let schedulers: Vec<SchedulerSpec> =
            once(listed(&self.schedulers, SCHEDULER, |name| registries.schedulers.read(name))?);
        let machines = self.machines(registries)?;
        let prepared = Prepared::default();
        let allocators = match self.allocators.is_empty() {
            true => usual(registries, &machines, &schedulers, &prepared)?,
            false => listed(&self.allocators, "", |name| registries.allocators.read(name))?,
        };
        allocators.iter().try_for_each(reject_unused_parameters)?;
        let mut points = Vec::new();
        for topology in &machines {
            let stream = StochasticStream {
                sides: sides.clone(),
                service,
                jobs: self.jobs,
                ticks_per_unit,
                ..StochasticStream::new(topology.extents())
            };
            let arrivals = |&load: &f64| match self.loads {
                Some(_) => arrivals_at(load, &stream, topology),
                None => Ok(Arrivals::Exponential { mean: 1.0 / load }),
            };
            let arrivals = loads.iter().map(arrivals).collect::<Result<Vec<_>, _>>()?;
            let allocators = on_machine(&allocators, topology);
            for (scheduler, allocator) in schedulers.iter().flat_map(|scheduler| {
                allocators.iter().map(move |allocator| (scheduler, allocator))
            }) {
                let point = |&arrivals: &Arrivals| Point {
                    topology: topology.clone(),
                    stream: StochasticStream { arrivals, ..stream.clone() },
                    scheduler: scheduler.clone(),
                    allocator: allocator.clone(),
                    life: life.clone(),
                    counting: self.counting,
                };
                let of_pair: Vec<Point> = arrivals.iter().map(point).collect();
                // Points that differ only in their arrivals pass the same checks.
                if let Some(first) = of_pair.first() {
                    first.check(self.seed)?;
                    prepared.check(allocator, topology, |built| first.check_allocator(built))?;
                }
                points.extend(of_pair);
            }
        }
        if self.pattern.is_some() && self.arrivals.is_none() {
            let needed = format!(
                "needs --arrivals, the number of arrivals per cycle, such as 0.01; at the default, {ARRIVALS} per cycle, \
                 every machine is overloaded"
            );
            return Err(Incompatible::of("pattern", needed).into());
        }
        let machines = machines.iter().map(Topology::to_string).collect();
        Ok(Streams { points, machines, rule, seed: self.seed })
    }

    /// Checks that the settings of messages are given only with a pattern, and those of run times only without one.
    fn check_messages(&self) -> Result<(), InputError> {
        match self.pattern {
            Some(_) if self.service.is_some() => {
                let message = "cannot be used with --pattern, because a job then ends when its messages are delivered";
                Err(Incompatible::of("service", message).into())
            }
            Some(_) if self.loads.is_some() => {
                let message = "with --pattern the work of a job is unknown before the job runs; use --arrivals, the number \
                               of arrivals per cycle";
                Err(Incompatible::of("load", message).into())
            }
            None if self.messages.is_given() => Err(InputError::usage_message(
                "--preset, --network, --quota, --flits and --mapping need --pattern",
            )),
            _ => Ok(()),
        }
    }

    fn machines(&self, registries: &Registries) -> Result<Vec<Topology>, InputError> {
        let default = [MACHINE.to_string()];
        let lists = if self.machines.is_empty() { &default[..] } else { &self.machines };
        let machine = |name: &str| match (split_name(name), &registries.machine_files) {
            (Some(_), Some(files)) => match files.read(name) {
                // The machines of a stream are named without the boxes that a file defines.
                Ok(machine) if !machine.has_boxes => Ok(machine.topology),
                Ok(_) => name.parse().map_err(InputError::usage),
                Err(problem) => Err(InputError::usage_message(format!("--machine: {problem}"))),
            },
            _ => name.parse().map_err(InputError::usage),
        };
        let names = lists.iter().flat_map(|list| split_list(list));
        let machines = names.map(machine).collect::<Result<Vec<Topology>, _>>()?;
        require_one_processor_per_point(&machines)?;
        require_sides(&machines)?;
        Ok(once(machines))
    }
}

/// Parses the names in lists; without lists, parses the default.
fn listed<T, E: Error + Send + Sync + 'static>(
    lists: &[String],
    default: &str,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<Vec<T>, InputError> {
    let default = [default.to_string()];
    let lists = if lists.is_empty() { &default[..] } else { lists };
    let names = lists.iter().flat_map(|list| split_list(list));
    names.map(|name| parse(name).map_err(InputError::usage)).collect()
}

/// Returns the distinct strategies on a machine.
fn on_machine(allocators: &[AllocatorSpec], machine: &Topology) -> Vec<AllocatorSpec> {
    let mut known = HashSet::new();
    let on_it = allocators.iter().map(|allocator| allocator.on(machine));
    on_it.filter(|allocator| known.insert(allocator.identity())).collect()
}

/// Returns the default allocators: on meshes and tori, the allocators of the paper; otherwise, the allocators that work
/// with every machine and scheduler.
///
/// # Errors
/// A usage error if there are no default allocators.
fn usual(
    registries: &Registries,
    machines: &[Topology],
    schedulers: &[SchedulerSpec],
    prepared: &Prepared,
) -> Result<Vec<AllocatorSpec>, InputError> {
    let named = |names| listed(&[], names, |name| registries.allocators.read(name));
    if machines.iter().all(|machine| machine.grid().is_some()) {
        return named(ALLOCATORS);
    }
    let kept = compatible_allocators(
        named(ELSEWHERE)?,
        machines,
        schedulers,
        prepared,
        &|_, _| Ok(()),
        |_, _| {},
    );
    match kept.is_empty() {
        true => Err(Incompatible::of(
            "alloc",
            format!(
                "none of {ALLOCATORS},{ELSEWHERE} works on every machine and with every scheduler; name other allocators \
                 (replay list allocators)"
            ),
        )
        .into()),
        false => Ok(kept),
    }
}

/// Returns the distinct positive numbers of a list of numbers and ranges.
fn positive(field: &'static str, list: &Values) -> Result<Vec<f64>, Incompatible> {
    let texts = list.texts().map_err(|e| Incompatible::of(field, e.to_string()))?;
    if texts.len() > MOST_LOADS {
        let problem = format!("{} values, more than {MOST_LOADS}", texts.len());
        return Err(Incompatible::of(field, problem));
    }
    let number = |text: &String| {
        let value = text.trim().parse::<f64>().ok();
        value
            .filter(|value| *value > 0.0 && value.is_finite())
            .ok_or_else(|| Incompatible::of(field, format!("\"{text}\" is not a positive number")))
    };
    let mut known = HashSet::new();
    let mut loads = texts.iter().map(number).collect::<Result<Vec<_>, _>>()?;
    loads.retain(|load| known.insert(load.to_bits()));
    Ok(loads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use replay_engine::cancel::CancelToken;

    fn spec() -> StreamSpec {
        StreamSpec {
            machines: vec!["8x8".to_string()],
            loads: None,
            arrivals: Some(Values::listed("1,2,1")),
            sides: "uniform".to_string(),
            service: None,
            pattern: None,
            messages: MessageSpec::default(),
            jobs: 20,
            counting: Counting::default(),
            schedulers: Vec::new(),
            allocators: vec!["first-fit,mbs".to_string()],
            seed: 0,
            replications: ReplicationSpec::Exactly(2),
        }
    }

    fn resolved(spec: &StreamSpec) -> Result<Streams, InputError> {
        spec.resolve(replay_strategies::standard())
    }

    #[test]
    fn every_combination_is_a_point_that_can_be_estimated() {
        let spec =
            StreamSpec { schedulers: vec!["fcfs,easy".to_string(), "fcfs".to_string()], ..spec() };
        let streams = resolved(&spec).expect("valid settings");
        assert_eq!((streams.points.len(), streams.ids().len()), (8, 8));
        let stop = CancelToken::new();
        let estimates =
            streams.estimate(&streams.points[0], RunContext::new(&stop)).expect("a mean");
        assert_eq!(estimates.replications, 2);
    }

    #[test]
    fn an_error_names_its_setting() {
        let wrong = |change: fn(&mut StreamSpec)| {
            let mut spec = spec();
            change(&mut spec);
            resolved(&spec).expect_err("wrong settings").to_string()
        };
        for (error, begin) in [
            (wrong(|spec| spec.arrivals = Some(Values::listed("0"))), "arrivals: \"0\" is not"),
            (wrong(|spec| spec.loads = Some(Values::listed("x"))), "load: \"x\" is not"),
            (wrong(|spec| spec.messages.flits = Some(4)), "--preset, --network, --quota"),
            (
                wrong(|spec| {
                    spec.pattern = Some("n-body".to_string());
                    spec.service = Some("pareto".to_string());
                }),
                "service: cannot be used with",
            ),
            (
                wrong(|spec| {
                    spec.pattern = Some("n-body".to_string());
                    spec.messages.preset = Some("loo".to_string());
                }),
                "preset: \"loo\": unknown; did you mean",
            ),
            (wrong(|spec| spec.counting.warm_up = 20), "warm-up: 20: must be less"),
            (wrong(|spec| spec.replications = ReplicationSpec::Exactly(0)), "stop rule: "),
        ] {
            assert!(error.starts_with(begin), "{error}");
        }
    }
}
