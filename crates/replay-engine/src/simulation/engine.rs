//! The entry point of every simulation.

use super::coupled::simulate;
use super::input::{Input, Overhead};
use super::replay::replay;
use super::{Observer, Outages, RunTimes, Service, SimulationError, Timeline, TimelineError};
use crate::allocator::Allocator;
use crate::cancel::CancelToken;
use crate::partitions::JobPartitions;
use crate::scheduler::Scheduler;
use crate::topology::Topology;
use crate::workload::{Follows, Job};

/// A run of jobs on a machine. The methods that return `Self` configure the run; [`run`](Self::run) starts it.
///
/// ```
/// use replay_engine::allocator::{Allocator, Refusal, Request, require_free};
/// use replay_engine::cancel::CancelToken;
/// use replay_engine::machine::Machine;
/// use replay_engine::metrics::SystemRecorder;
/// use replay_engine::scheduler::registry::SchedulerSpec;
/// use replay_engine::simulation::{Simulation, Starts};
/// use replay_engine::topology::{NodeId, Topology};
/// use replay_engine::workload::Job;
///
/// /// Allocates the free processors with the lowest numbers.
/// struct Lowest;
///
/// impl Allocator for Lowest {
///     fn allocate(
///         &mut self, machine: &Machine, request: Request, chosen: &mut Vec<NodeId>,
///     ) -> Result<(), Refusal> {
///         require_free(machine, request.size.into())?;
///         chosen.extend(machine.free_nodes().take(request.size as usize));
///         Ok(())
///     }
/// }
///
/// let (jobs, stop) = ([Job::exact(0, 10, 6), Job::exact(1, 10, 4)], CancelToken::new());
/// let topology: Topology = "3x3".parse()?;
/// let mut fcfs = SchedulerSpec::fcfs().build(9);
/// let mut recorder = SystemRecorder::new(jobs.len());
/// let simulation = Simulation::new(&jobs, &topology, &stop).with_every_event();
/// simulation.run(Starts::Scheduler(fcfs.as_mut()), &mut Lowest, &mut recorder)?;
/// assert_eq!(recorder.starts(), [0, 10]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Simulation<'a> {
    pub(super) input: Input<'a>,
    service: Option<&'a mut dyn Service>,
    every_event: bool,
    ticks_per_second: f64,
}

/// The source of start times.
pub enum Starts<'s> {
    /// A scheduler, whose queue must be empty, selects the jobs, and the allocator places them.
    Scheduler(&'s mut dyn Scheduler),
    /// A timeline that was computed for these jobs on this machine. The allocator must place every job at its start
    /// time.
    Timeline(&'s Timeline),
}

/// Returns whether every run with this allocator is [coupled](Simulation::is_coupled). Every run is coupled if the
/// allocator may change the schedule, or if it allocates whole units: the use of units is measured over time.
pub fn is_always_coupled(allocator: &dyn Allocator) -> bool {
    !allocator.capabilities().keeps_schedule || allocator.stats().census.is_some()
}

impl<'a> Simulation<'a> {
    /// Creates a run of `jobs`, which must be in order of submission. Raising `stop` cancels the run.
    pub fn new(jobs: &'a [Job], topology: &'a Topology, stop: &'a CancelToken) -> Self {
        static NONE: Outages = Outages::NONE;
        let (outages, timed, count_ties) = (&NONE, false, false);
        let (follows, partitions) = (&[][..], None);
        let input = Input { jobs, topology, follows, outages, partitions, stop, timed, count_ties };
        Self { input, service: None, every_event: false, ticks_per_second: 1.0 }
    }

    /// Makes jobs with predecessors arrive after all of them have ended. `follows` contains the predecessors of each job,
    /// without cycles, or is empty.
    pub fn with_chains(mut self, follows: &'a [Vec<Follows>]) -> Self {
        self.input.follows = follows;
        self
    }

    /// Adds outages, during which processors are out of service.
    pub fn with_outages(mut self, outages: &'a Outages) -> Self {
        self.input.outages = outages;
        self
    }

    /// Restricts each job to the nodes of its partition. The scheduler must be [built for these
    /// partitions](crate::scheduler::SchedulerOptions::build_partitioned), and the allocator must choose nodes within
    /// them ([`Partitioned`](crate::allocator::Partitioned)). Such a run has no timeline.
    pub fn with_partitions(mut self, partitions: Option<&'a JobPartitions>) -> Self {
        self.input.partitions = partitions;
        self
    }

    /// Makes `service` determine the run times; the run times of the jobs are ignored.
    pub fn with_service(mut self, service: &'a mut dyn Service) -> Self {
        self.service = Some(service);
        self
    }

    /// Makes the run coupled, so that every event is reported to the observer, even if a replay would suffice.
    pub fn with_every_event(self) -> Self {
        Self { every_event: true, ..self }
    }

    /// Sets the number of time units per second. The times of the jobs are in these units. The default is 1.
    pub fn ticks_per_second(self, ticks_per_second: f64) -> Self {
        Self { ticks_per_second, ..self }
    }

    /// Measures the wall-clock time of the allocator in a coupled run.
    pub fn timed(mut self) -> Self {
        self.input.timed = true;
        self
    }

    /// Sets whether to count [tied sets](crate::allocator::Stats::tied_sets) in a replay.
    pub fn counting_ties(mut self, count_ties: bool) -> Self {
        self.input.count_ties = count_ties;
        self
    }

    /// Returns whether the run is coupled, with scheduler and allocator in one event loop. In a run that is not
    /// coupled, the schedule does not depend on the allocator, and the run replays a [timeline](Timeline).
    pub fn is_coupled(&self, allocator: &dyn Allocator) -> bool {
        let Self { input, service, every_event, .. } = self;
        *every_event
            || service.is_some()
            || !input.outages.is_empty()
            || input.partitions.is_some()
            || is_always_coupled(allocator)
    }

    /// Computes the schedule of `scheduler`, which is valid for every allocator that does not influence the schedule.
    ///
    /// # Errors
    /// [`TimelineError`] if a job is larger than the machine or never starts, or on cancellation.
    pub fn schedule(&self, scheduler: &mut dyn Scheduler) -> Result<Timeline, TimelineError> {
        let Input { jobs, topology, follows, stop, .. } = self.input;
        Timeline::compute_after(jobs, follows, topology.processors() as u32, scheduler, stop)
    }

    /// Runs the jobs until all have ended or the observer [is done](Observer::is_done).
    ///
    /// # Errors
    /// [`SimulationError`] if the strategies do not support the input or each other, if a job can never start, or on
    /// cancellation.
    pub fn run<O: Observer>(
        self,
        starts: Starts<'_>,
        allocator: &mut dyn Allocator,
        observer: &mut O,
    ) -> Result<Overhead, SimulationError> {
        let computed;
        let timeline = match starts {
            Starts::Timeline(timeline) => timeline,
            Starts::Scheduler(scheduler) if self.is_coupled(allocator) => {
                let Self { input, service, ticks_per_second, .. } = self;
                let mut own;
                let service: &mut dyn Service = match service {
                    Some(service) => service,
                    None => {
                        let sharing = allocator.service(ticks_per_second);
                        own = sharing.unwrap_or_else(|| Box::new(RunTimes::default()));
                        own.as_mut()
                    }
                };
                return simulate(input, scheduler, allocator, service, observer);
            }
            Starts::Scheduler(scheduler) => {
                computed = self.schedule(scheduler)?;
                &computed
            }
        };
        replay(timeline, self.input, allocator, observer)?;
        Ok(Overhead::default())
    }
}
