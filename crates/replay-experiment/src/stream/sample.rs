//! One replication of a stochastic stream under one scheduler and one allocator.

use super::metric::Replication;
use super::{Life, Point, Sample};
use crate::compatibility::Incompatible;
use crate::{ProgressMeter, RunContext};
use replay_engine::allocator::{Reduction, Refusal};
use replay_engine::cancel::Cancelled;
use replay_engine::metrics::locality::mean_distance;
use replay_engine::metrics::{Locality, SystemRecorder};
use replay_engine::naming::NameError;
use replay_engine::simulation::{Decision, Observer, Simulation, SimulationError, Starts, State};
use replay_engine::topology::{NodeId, Topology};
use replay_engine::workload::stochastic::StochasticError;
use replay_engine::workload::{Job, JobId};
use replay_network::traffic::TrafficError;

/// Error from running a replication.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    /// The parameters of the stream are invalid.
    #[error(transparent)]
    Stream(#[from] StochasticError),
    /// The strategy does not support the machine.
    #[error(transparent)]
    Allocator(#[from] NameError),
    /// Parameters of the point contradict each other.
    #[error(transparent)]
    Incompatible(#[from] Incompatible),
    /// The machine has no network for messages.
    #[error(transparent)]
    Traffic(#[from] TrafficError),
    /// The simulation failed.
    #[error("{point}: {cause}")]
    Simulation {
        /// Description of the point.
        point: String,
        /// Cause of the failure.
        cause: SimulationError,
    },
    /// The stream of a backlog ended before its first job completed.
    #[error("the stream ends before any of its jobs ends; use more jobs")]
    Drained,
    /// Cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Runs one replication of a point unless it is cancelled.
///
/// # Errors
/// [`SampleError`] if the stream, strategy or network is invalid, or if the simulation fails or is cancelled.
pub fn sample(
    point: &Point,
    seed: u64,
    replication: u64,
    watch: RunContext<'_>,
) -> Result<Sample, SampleError> {
    let stop = watch.stop;
    stop.check()?;
    let generated = point.stream.generate_unless(seed, replication, stop);
    let stream = generated.map_err(|error| match error {
        StochasticError::Cancelled(cancelled) => cancelled.into(),
        error => SampleError::from(error),
    })?;
    // Each replication uses a different seed for random strategies and patterns.
    let own_seed = seed.wrapping_add(replication.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut allocator = point.allocator.build(&point.topology, own_seed)?;
    point.check_allocator(allocator.as_ref())?;
    let starts = CountStarts(ProgressMeter::new(watch, stream.jobs.len()).counted());
    let of_messages = matches!(point.life, Life::Messages(_));
    let distances = Distances::new(&point.topology, &stream.jobs, of_messages);
    let completions = point.counting.completions.map_or(stream.jobs.len(), |most| most as usize);
    let recorder = ForwardUntil::new(completions, SystemRecorder::new(stream.jobs.len()));
    let mut observers = ((recorder, starts), distances);
    let mut network = match &point.life {
        Life::RunTimes => None,
        Life::Messages(messages) => {
            Some(messages.on(&point.topology, own_seed, None)?.stopped_by(stop.clone()))
        }
    };
    let mut scheduler = point.scheduler.build(point.topology.slots() as u32);
    let simulation = Simulation::new(&stream.jobs, &point.topology, stop)
        .with_every_event()
        .ticks_per_second(f64::from(stream.ticks_per_unit));
    let simulation = match &mut network {
        Some(network) => simulation.with_service(network),
        None => simulation,
    };
    let ran =
        simulation.run(Starts::Scheduler(scheduler.as_mut()), allocator.as_mut(), &mut observers);
    let overhead = ran.map_err(|cause| match cause {
        SimulationError::Cancelled(stopped) => stopped.into(),
        cause => SampleError::Simulation { point: point.to_string(), cause },
    })?;
    let messages = network.map(|network| (*network.totals(), observers.1.weighted_dispersal));
    let ForwardUntil { observer: recorder, completed, .. } = &observers.0.0;
    let system = recorder.metrics(0, point.topology.processors(), &overhead);
    let warm_up = point.counting.warm_up as usize;
    let counted = match point.counting.completions {
        None => counted(recorder.ends(), warm_up),
        Some(_) => completed.iter().skip(warm_up).map(|job| job.index()).collect(),
    };
    let distances = observers.1.sums();
    let replication =
        Replication { stream: &stream, recorder, counted, system, messages, distances };
    let by_size = if point.counting.by_size { replication.by_size() } else { Default::default() };
    Ok(Sample { metrics: replication.metrics(), by_size })
}

/// Returns the indices of all jobs except the `warm_up` jobs that complete first. Jobs that complete at the same time
/// are ordered by index.
fn counted(ends: &[i64], warm_up: usize) -> Vec<usize> {
    let mut jobs: Vec<usize> = (0..ends.len()).collect();
    if (1..ends.len()).contains(&warm_up) {
        jobs.select_nth_unstable_by_key(warm_up, |&job| (ends[job], job));
    }
    jobs.split_off(warm_up.min(ends.len()))
}

/// Observer that forwards events to another observer until a given number of jobs have completed.
struct ForwardUntil<O> {
    observer: O,
    completions: usize,
    /// Completed jobs in order of completion.
    completed: Vec<JobId>,
}

impl<O: Observer> ForwardUntil<O> {
    fn new(completions: usize, observer: O) -> Self {
        Self { observer, completions, completed: Vec::new() }
    }

    /// Returns the observer, or `None` if events are no longer forwarded.
    fn active_observer(&mut self) -> Option<&mut O> {
        (self.completed.len() < self.completions).then_some(&mut self.observer)
    }
}

/// Defines observer methods that forward their event to the inner observer until forwarding has ended.
macro_rules! forward_while_active {
    ($($method:ident($($argument:ident: $type:ty),*);)*) => {
        $(fn $method(&mut self, $($argument: $type),*) {
            if let Some(observer) = self.active_observer() {
                observer.$method($($argument),*);
            }
        })*
    };
}

impl<O: Observer> Observer for ForwardUntil<O> {
    forward_while_active! {
        passed(from: i64, to: i64, state: &State);
        arrived(job: JobId, now: i64);
        refused(job: JobId, refusal: Refusal);
        reduced(job: JobId, requested: &Job, reduction: &Reduction);
        took(job: JobId, now: i64, slots: &[NodeId]);
        started(decision: Decision<'_>);
        cut_off(job: JobId, now: i64, nodes: &[NodeId], again: bool);
    }

    fn completed(&mut self, job: JobId, now: i64) {
        if let Some(observer) = self.active_observer() {
            observer.completed(job, now);
            self.completed.push(job);
        }
    }
}

/// Observer that counts started jobs for the progress display.
struct CountStarts<'a>(ProgressMeter<'a>);

impl Observer for CountStarts<'_> {
    fn started(&mut self, _: Decision<'_>) {
        self.0.started();
    }
}

/// Observer that sums the distances between the processors of jobs, once for each allocation.
struct Distances<'a> {
    locality: Locality,
    topology: &'a Topology,
    jobs: &'a [Job],
    /// Number of points of the job that starts next, if the job gets fewer points than requested.
    reduced: Option<u32>,
    pairwise_l1: u64,
    mean_pair: f64,
    /// Whether dispersals are also summed.
    disperses: bool,
    weighted_dispersal: f64,
}

impl<'a> Distances<'a> {
    fn new(topology: &'a Topology, jobs: &'a [Job], disperses: bool) -> Self {
        Self {
            locality: Locality::new(topology),
            topology,
            jobs,
            reduced: None,
            pairwise_l1: 0,
            mean_pair: 0.0,
            disperses,
            weighted_dispersal: 0.0,
        }
    }

    /// Returns two sums over all jobs, in hops: the sum of the jobs' pairwise L1 sums, and the sum of the jobs' mean
    /// distances between two processors.
    fn sums(&self) -> [f64; 2] {
        [self.pairwise_l1 as f64, self.mean_pair]
    }
}

impl Observer for Distances<'_> {
    fn reduced(&mut self, _: JobId, _: &Job, reduction: &Reduction) {
        self.reduced = Some(reduction.request.size);
    }

    fn started(&mut self, Decision { job, nodes, .. }: Decision<'_>) {
        let size = self.jobs[job.index()].size;
        let points = self.reduced.take().unwrap_or_else(|| self.topology.points(size));
        let pairwise_l1 = self.locality.between(nodes, points);
        self.pairwise_l1 += pairwise_l1;
        self.mean_pair += mean_distance(pairwise_l1, points);
        if self.disperses {
            let placement = self.locality.placement(nodes, nodes.len() as u32);
            self.weighted_dispersal += placement.weighted_dispersal;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{Counting, Metric};
    use proptest::prelude::*;
    use replay_engine::cancel::CancelToken;
    use replay_engine::scheduler::registry::SchedulerSpec;
    use replay_engine::workload::stochastic::{Arrivals, StochasticStream};

    /// On one processor under FCFS, jobs complete in order. The first jobs of a longer stream therefore equal the jobs
    /// of a shorter stream.
    #[test]
    fn measures_until_a_number_of_completions() {
        let metrics = |jobs, completions| {
            let point = Point {
                topology: "1x1".parse().expect("a machine"),
                stream: StochasticStream {
                    arrivals: Arrivals::Exponential { mean: 0.5 },
                    jobs,
                    ..StochasticStream::new([1, 1, 1])
                },
                scheduler: SchedulerSpec::fcfs(),
                allocator: replay_strategies::allocator("first-fit").expect("an allocator"),
                life: Life::RunTimes,
                counting: Counting { completions, ..Counting::default() },
            };
            let sample =
                sample(&point, 1, 0, RunContext::new(&CancelToken::new())).expect("it runs");
            [Metric::FinishTime, Metric::Turnaround, Metric::Utilization]
                .map(|metric| sample.metrics[metric as usize])
        };
        let first = metrics(40, None);
        assert_eq!(metrics(120, Some(40)), first);
        assert_eq!(metrics(40, Some(40)), first);
        assert_ne!(metrics(120, None), first);
    }

    #[test]
    fn excludes_the_first_completions() {
        let ends = [9, 3, 5, 3, 7];
        let sorted = |warm_up| {
            let mut jobs = counted(&ends, warm_up);
            jobs.sort_unstable();
            jobs
        };
        assert_eq!(sorted(0), [0, 1, 2, 3, 4]);
        // Jobs 1 and 3 end simultaneously.
        assert_eq!(sorted(1), [0, 2, 3, 4]);
        assert_eq!(sorted(3), [0, 4]);
        assert_eq!(sorted(5), [0usize; 0]);
        assert_eq!(sorted(6), [0usize; 0]);
    }

    proptest! {
        #[test]
        fn excludes_exactly_the_first_completions(
            ends in proptest::collection::vec(0i64..20, 0..40), warm_up in 0usize..45,
        ) {
            let left = counted(&ends, warm_up);
            prop_assert_eq!(left.len(), ends.len().saturating_sub(warm_up));
            let dropped = (0..ends.len()).filter(|job| !left.contains(job));
            let latest = dropped.map(|job| (ends[job], job)).max();
            prop_assert!(left.iter().all(|&job| Some((ends[job], job)) > latest));
        }
    }
}
