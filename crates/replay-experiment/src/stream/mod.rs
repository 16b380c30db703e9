//! Replicated runs of stochastic streams, as in published experiments on fragmentation and heavy tails.
//!
//! A [`Point`] is a stream of jobs on one machine, under one scheduler and one allocator. Replications use common
//! random numbers: with the same seed, a replication has the same jobs at every point. Differences between strategies
//! are therefore not caused by differences between jobs.

mod by_size;
mod metric;
mod record;
mod sample;
mod spec;

use std::fmt;

pub use by_size::{SizeEstimate, StreamSizeRow};
pub use metric::{Caption, Metric, Sample, SizeSample};
pub use sample::{SampleError, sample};
pub use spec::{ReplicationSpec, StreamSpec, Streams};

use serde::{Deserialize, Serialize};

use super::compatibility::{
    Incompatible, can_send, check_pair, reject_recorded_scheduler, require_one_processor_per_point,
    require_sides,
};
use super::contention::{MOST_SENT, Messages, stream_packets};
use super::journal::CellId;
use crate::{Experiment, Outcomes, RunContext, RunKey};
use replay_engine::allocator::Allocator;
use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::metrics::estimate::{
    Accumulator, Estimate, ReplicateError, Replicated, StopRule, replicate,
};
use replay_engine::metrics::{ScheduleMetrics, comparable};
use replay_engine::naming::NameError;
use replay_engine::number::{counted, plain};
use replay_engine::scheduler::registry::SchedulerSpec;
use replay_engine::table::{Column, Name, Table, names};
use replay_engine::topology::{Topology, content_digest};
use replay_engine::workload::stochastic::{Arrivals, StochasticStream};

/// A point: the parameters of a replicated experiment.
#[derive(Clone, Debug)]
pub struct Point {
    /// The machine.
    pub topology: Topology,
    /// The jobs.
    pub stream: StochasticStream,
    /// The scheduler.
    pub scheduler: SchedulerSpec,
    /// The allocator.
    pub allocator: AllocatorSpec,
    /// Source of the jobs' run times.
    pub life: Life,
    /// Selection of the jobs that are included in mean times.
    pub counting: Counting,
}

/// Minimum ratio of the mean wait to the time in which the jobs arrive, on an overloaded machine.
const OVERLOAD: f64 = 0.25;

/// Selects the jobs that are included in mean times, and the details that are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counting {
    /// Number of completions at the beginning that are excluded from mean times, because the system is not yet full.
    pub warm_up: u32,
    /// Whether to keep turnaround times by job size.
    pub by_size: bool,
    /// Number of completions after which measuring ends; `None` to measure until the end of the stream. Further jobs
    /// continue to arrive after measurement has ended. Times, utilizations, fragmentation, units and busy lists are
    /// measured until this number of completions is reached. Packets, distances, attempts, operations and searches are
    /// measured over all jobs of the stream.
    pub completions: Option<u32>,
}

/// Source of the jobs' run times.
#[derive(Clone, Debug)]
pub enum Life {
    /// The service times of the stream.
    RunTimes,
    /// The delivery of the jobs' messages. The service times of the stream are ignored, and a tick is a cycle.
    Messages(Messages),
}

/// Returns the arrivals with which the jobs of a stream request the share `load` of a machine's processor time.
///
/// # Errors
/// [`Incompatible`] if the load exceeds 1, which is the capacity of the machine, or if a distribution of the stream is
/// impossible.
pub fn arrivals_at(
    load: f64,
    stream: &StochasticStream,
    topology: &Topology,
) -> Result<Arrivals, Incompatible> {
    let once = StochasticStream { arrivals: Arrivals::Exponential { mean: 1.0 }, ..stream.clone() };
    // `share` is the load at one arrival per time unit.
    let share = once.offered_load().map_err(|error| Incompatible::new(error.to_string()))?;
    let rate = load / share;
    if load > 1.0 {
        let excess = format!(
            "{} is above 1, the capacity of the machine; --arrivals takes arrivals per time unit \
             ({} arrivals are this load on {topology})",
            plain(load),
            plain((rate * 1e6).round() / 1e6)
        );
        return Err(Incompatible::of("load", excess));
    }
    Ok(Arrivals::Exponential { mean: 1.0 / rate })
}

impl Point {
    names! {
        SIDES = "sides",
        SERVICE = "service",
        PATTERN = "pattern",
        FLITS = "flits",
        ARRIVALS = "arrivals",
    }

    /// Arrivals per time unit. The point stores only the mean time between arrivals, which is the inverse of the number
    /// of arrivals per time unit. Several numbers can have the same inverse. Among the numbers with the same inverse,
    /// the function returns the number with the fewest digits: the number that the user gave.
    pub fn arrivals(&self) -> f64 {
        let mean = self.stream.arrivals.mean();
        let load = 1.0 / mean;
        let written = (0..17).filter_map(|digits| format!("{load:.digits$e}").parse().ok());
        written.into_iter().find(|&short: &f64| 1.0 / short == mean).unwrap_or(load)
    }

    /// Returns the ratio of the requested processor-time to the available processor-time; `None` if messages determine
    /// the run times.
    pub fn offered_load(&self) -> Option<f64> {
        match self.life {
            Life::RunTimes => self.stream.offered_load().ok(),
            Life::Messages(_) => None,
        }
    }

    /// Id of the estimates. Different points, seeds, stop rules and watched metrics have different ids.
    pub fn id(&self, seed: u64, rule: &StopRule, watched: &[Metric]) -> CellId {
        let Self { topology, stream, scheduler, allocator, life, counting } = self;
        let strategy = allocator.identity();
        let life = match life {
            Life::RunTimes => "run times".to_string(),
            Life::Messages(messages) => messages.digest(),
        };
        let StochasticStream { arrivals, sides, service, jobs, extents: [x, y, z], ticks_per_unit } =
            stream;
        let StopRule { relative, confidence, minimum, maximum } = rule;
        let Counting { warm_up, by_size, completions } = counting;
        let watched: Vec<&str> =
            watched.iter().map(|metric| metric.caption().column.text()).collect();
        let watched = watched.join(" ");
        let completions =
            completions.map(|jobs| format!("{jobs} completions\n")).unwrap_or_default();
        let machine = content_digest(topology)
            .map(|digest| format!("machine {digest}\n"))
            .unwrap_or_default();
        // Each line contains one field. Canonical names and numbers contain no line breaks.
        CellId::of(&format!(
            "replay stream 3\n{topology}\n{arrivals}\n{sides}\n{service}\n{jobs}\n{x} {y} {z}\n\
             {ticks_per_unit}\n{scheduler}\n{strategy}\n{life}\n{seed}\n\
             {relative} {confidence} {minimum} {maximum}\n{watched}\n{warm_up} {by_size}\n{completions}{machine}"
        ))
    }

    /// Returns whether jobs arrive faster than the machine serves them, so that the queue grows until the last arrival:
    /// the mean wait is longer than the mean service time and than a quarter of the time in which the jobs arrive. If the
    /// queue grows steadily, the mean wait is half of the time from the last arrival to the last completion.
    pub fn is_overloaded(&self, estimates: &Estimates) -> bool {
        let wait = estimates.of(Metric::Wait).mean;
        let jobs = self.counting.completions.unwrap_or(self.stream.jobs);
        let arrives = f64::from(jobs) / self.arrivals();
        wait > estimates.of(Metric::ServiceTime).mean && wait > OVERLOAD * arrives
    }

    /// Checks that the parameters do not contradict each other, and that the jobs of the first replication send at most
    /// [`MOST_SENT`] packets. `seed` is the seed of the replications.
    ///
    /// # Errors
    /// [`Incompatible`] that names the parameter, if the check fails.
    pub fn check(&self, seed: u64) -> Result<(), Incompatible> {
        let Self { topology, stream, scheduler, life, counting, allocator: _ } = self;
        reject_recorded_scheduler(std::slice::from_ref(scheduler))?;
        require_one_processor_per_point([topology])?;
        require_sides([topology])?;
        let problem = |error: &dyn fmt::Display| Incompatible::new(error.to_string());
        stream.offered_load().map_err(|error| problem(&error))?;
        let &Counting { warm_up, completions, by_size: _ } = counting;
        let (jobs, counted_jobs) = (stream.jobs, completions.unwrap_or(stream.jobs));
        if counted_jobs > jobs {
            let exceeds = format!("{counted_jobs}: exceeds the number of jobs, {jobs} (--jobs)");
            return Err(Incompatible::of("completions", exceeds));
        }
        if warm_up >= counted_jobs {
            let all = format!("{warm_up}: must be less than the {counted_jobs} jobs that complete");
            return Err(Incompatible::of("warm-up", all));
        }
        let Life::Messages(messages) = life else { return Ok(()) };
        if messages.window.is_some() {
            let links =
                "links is only for contend: link loads need the time of a job without other jobs";
            return Err(Incompatible::of("network", links));
        }
        if scheduler.uses_estimates() {
            let unknown = "uses estimates of run times, which jobs with --pattern do not have";
            return Err(Incompatible::of("sched", format!("{scheduler} {unknown}")));
        }
        messages.on(topology, seed, None).map_err(|error| problem(&error))?;
        let first = stream.generate(seed, 0).map_err(|error| problem(&error))?;
        let packets = stream_packets(messages, &first.jobs, seed);
        if packets > MOST_SENT {
            let sent = format!(
                "on {topology} the {} of a replication send about {packets:.0e} packets, and at most \
                 {MOST_SENT:.0e} are simulated; lower --quota or --jobs",
                counted(jobs, "job")
            );
            return Err(Incompatible::of("quota", sent));
        }
        Ok(())
    }

    /// Checks the allocator of the point. `built` is the allocator, built for the machine.
    ///
    /// # Errors
    /// [`Incompatible`] if the scheduler, the machine or the messages do not support the allocator.
    pub fn check_allocator(&self, built: &dyn Allocator) -> Result<(), Incompatible> {
        check_pair(&self.allocator, built, &self.scheduler, &self.topology)?;
        match self.life {
            Life::RunTimes => Ok(()),
            Life::Messages(_) => can_send(&self.allocator, built),
        }
    }

    /// Returns the messages of the jobs, if they determine the run times.
    pub fn messages(&self) -> Option<&Messages> {
        match &self.life {
            Life::RunTimes => None,
            Life::Messages(messages) => Some(messages),
        }
    }
}

impl Point {
    /// Returns the columns that describe the point of a row.
    #[rustfmt::skip]
    fn columns<Row>(
        of: impl for<'a> Fn(&'a Row) -> &'a Point + Copy + Send + Sync + 'static,
    ) -> Vec<Column<Row>> {
        type C<Row> = Column<Row>;
        vec![
            C::new(RunKey::TOPOLOGY, "", "machine, such as 10x10", move |row| of(row).topology.to_string()),
            C::new(Point::SIDES, "", "distribution of the jobs' side lengths", move |row| of(row).stream.sides.to_string()),
            C::new(Point::SERVICE, "", "distribution of the service times; null if messages determine run times", move |row| of(row).messages().is_none().then(|| of(row).stream.service.to_string())),
            C::new(Point::PATTERN, "", "communication pattern; null if messages do not determine run times", move |row| of(row).messages().map(|messages| messages.program.pattern().to_string())),
            C::new(Point::FLITS, "flits", "flits per packet; null if messages do not determine run times", move |row| of(row).messages().map(|messages| messages.options.flits)),
            C::new(Point::ARRIVALS, "arrivals per time unit", "mean rate at which jobs arrive", move |row| of(row).arrivals()),
            C::new("offered_load", "", "ratio of requested to available processor-time; null if messages determine run times", move |row| of(row).offered_load()),
            C::new(RunKey::SCHEDULER, "", "scheduler", move |row| of(row).scheduler.to_string()),
            C::new(RunKey::ALLOCATOR, "", "allocator without its tie vector", move |row| of(row).allocator.without_tie().to_string()),
            C::new(RunKey::TIE, "", "tie vector SR,AF,WF,BF or auto; null without tie-breaking", move |row| of(row).allocator.tie().map(|tie| tie.to_string())),
        ]
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { topology, scheduler, allocator, stream, life, counting: _ } = self;
        write!(f, "{topology} {} arrivals {} ", stream.sides, self.arrivals())?;
        if let Life::Messages(messages) = life {
            write!(f, "{} ", messages.program.pattern())?;
        }
        write!(f, "{scheduler} {allocator}")
    }
}

/// Error from estimating a point.
pub type PointError = ReplicateError<SampleError>;

/// Estimates of all metrics of a point. The serialized form contains all replications without loss of precision.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(into = "record::Record", try_from = "record::Record")]
pub struct Estimates {
    samples: Vec<Sample>,
    values: Vec<Estimate>,
    confidence: f64,
    /// Number of replications.
    pub replications: u64,
    /// Whether the watched metrics meet the stop rule.
    pub met: bool,
}

impl Estimates {
    fn new(runs: Replicated<Sample>, confidence: f64) -> Self {
        Self {
            values: runs.estimates(confidence),
            replications: runs.samples.len() as u64,
            met: runs.met,
            confidence,
            samples: runs.samples,
        }
    }

    /// Returns the estimates without the replications of one group. The replications are divided into `of` groups;
    /// group `group` consists of the replication with index `group` and every `of`-th replication after it. The
    /// uncertainty of a derived number is estimated from how much it changes when one group is left out (jackknife).
    pub fn without(&self, group: usize, of: usize) -> Self {
        let kept = self.samples.iter().enumerate().filter(|(at, _)| at % of != group);
        let kept = kept.map(|(_, sample)| sample.clone()).collect();
        Self::new(Replicated::of(kept, self.met), self.confidence)
    }

    /// Returns whether the strategy runs jobs on fewer processors than requested; see [`comparable`].
    pub fn folds(&self) -> bool {
        comparable::folds(Some(self.of(Metric::Folded).mean))
    }

    /// Returns the estimate of a metric with a confidence interval; NaN if the strategy does not provide the metric.
    pub fn of(&self, metric: Metric) -> Estimate {
        self.values[metric as usize]
    }

    /// Returns the ratio of two means of a metric: its mean at this point, divided by its mean at another point. `base`
    /// contains the estimates of the other point, which has the same seed. In each replication, both points have the
    /// same jobs. The confidence interval is therefore computed from paired differences (delta method), and is much
    /// narrower than the intervals of the two means suggest.
    pub fn ratio(&self, base: &Self, metric: Metric) -> Estimate {
        let at = metric as usize;
        let both = self.samples.iter().zip(&base.samples);
        paired(both.map(|(a, b)| (a.metrics[at], b.metrics[at])), self.confidence)
    }
}

/// Returns the ratio of the mean of the first values to the mean of the second values, with a confidence interval from
/// paired differences.
fn paired(pairs: impl Iterator<Item = (f64, f64)> + Clone, confidence: f64) -> Estimate {
    let (own, other): (Accumulator, Accumulator) =
        (pairs.clone().map(|(a, _)| a).collect(), pairs.clone().map(|(_, b)| b).collect());
    let ratio = own.mean() / other.mean();
    let residuals: Accumulator = pairs.map(|(a, b)| a - ratio * b).collect();
    let half_width = residuals.estimate(confidence).half_width / other.mean().abs();
    Estimate { count: own.count(), mean: ratio, half_width }
}

/// Replicates a point on the current rayon pool until the `watched` metrics meet the rule. Soon after the context is
/// cancelled, the function fails with [`SampleError::Cancelled`].
///
/// # Errors
/// [`PointError`] if the point is invalid, or if a replication fails or is cancelled.
pub fn estimate(
    watch: RunContext<'_>,
    point: &Point,
    seed: u64,
    rule: &StopRule,
    watched: &[Metric],
) -> Result<Estimates, PointError> {
    let invalid = |error: Incompatible| PointError::Run { replication: 0, error: error.into() };
    point.check(seed).map_err(invalid)?;
    let watched: Vec<usize> = watched.iter().map(|&metric| metric as usize).collect();
    let runs = replicate(rule, &watched, |replication| sample(point, seed, replication, watch))?;
    Ok(Estimates::new(runs, rule.confidence))
}

/// Points whose results are estimated from replications.
pub struct EstimatedPoints<'a, P, F>(pub &'a [P], pub F);

impl<P, R, F> Experiment for EstimatedPoints<'_, P, F>
where
    P: fmt::Display + Sync,
    R: Send,
    F: Fn(&P, RunContext<'_>) -> Result<R, PointError> + Sync,
{
    type Row = R;
    type Error = String;

    fn run(&self, cells: &[u32], context: RunContext<'_>) -> Result<Outcomes<Self>, NameError> {
        let run = |&cell: &u32| {
            let point = &self.0[cell as usize];
            match self.1(point, context) {
                Err(ReplicateError::Run { error: SampleError::Cancelled(_), .. }) => None,
                outcome => Some(outcome.map_err(|error| format!("{point}: {error}"))),
            }
        };
        Ok(cells.iter().map(run).collect())
    }
}

/// A row of the table of streams: a point and its estimates.
#[derive(Clone, Debug)]
pub struct StreamRow(pub Point, pub Estimates);

impl StreamRow {
    names! {
        REPLICATIONS = "replications",
    }
}

impl Table for StreamRow {
    const NAME: &'static str = "stream";
    const ROW: &'static str = "one row per point: a stream of jobs on a machine, under a scheduler and an allocator; measures are means over its replications";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        type C = Column<StreamRow>;
        let mut columns = Point::columns(|StreamRow(point, _): &Self| point);
        columns.extend([
            C::new(ScheduleMetrics::jobs, "jobs", "number of jobs of the run, size, group or replication", |StreamRow(point, _)| point.stream.jobs),
            C::new("warm_up", "jobs", "number of first completions excluded from mean times", |StreamRow(point, _)| point.counting.warm_up),
            C::new(StreamRow::REPLICATIONS, "replications", "number of replications", |StreamRow(_, estimates)| estimates.replications),
        ]);
        for metric in Metric::ALL {
            let Caption { column, unit, meaning, half_width, half_width_meaning, .. } = metric.caption();
            columns.push(C::new(column, unit, meaning, move |StreamRow(_, estimates)| estimates.of(metric).mean));
            columns.push(C::new(half_width, unit, half_width_meaning, move |StreamRow(_, estimates)| estimates.of(metric).half_width));
        }
        columns
    }

    fn is_ranked_last(&self, column: Name) -> bool {
        self.1.folds() && comparable::is_distance(column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use replay_engine::cancel::CancelToken;
    use replay_network::traffic::Preset;

    fn point(arrivals: Arrivals, counting: Counting) -> Point {
        Point {
            topology: "4x4".parse().expect("a machine"),
            stream: StochasticStream { arrivals, jobs: 40, ..StochasticStream::new([4, 4, 1]) },
            scheduler: SchedulerSpec::fcfs(),
            allocator: replay_strategies::allocator("random").expect("an allocator"),
            life: Life::RunTimes,
            counting,
        }
    }

    #[test]
    fn contradictory_parameters_are_refused() {
        let pattern = "n-body".parse().expect("a pattern");
        let messages = Messages::new(Preset::Lo, pattern).expect("no file");
        let links = Messages { window: Some(9), ..messages.clone() };
        let quota = "fixed[packets=1000000000]".parse().expect("a quota");
        let many = Messages { quota, ..messages.clone() };
        let once = Arrivals::Exponential { mean: 1.0 };
        let plain = point(once, Counting::default());
        let with =
            |messages: &Messages| Point { life: Life::Messages(messages.clone()), ..plain.clone() };
        let counting = |warm_up, completions| {
            point(once, Counting { warm_up, completions, ..Counting::default() })
        };
        let easy = SchedulerSpec::easy();
        for (parameter, point) in [
            ("completions", counting(0, Some(41))),
            ("warm-up", counting(40, None)),
            ("warm-up", counting(9, Some(9))),
            ("network", with(&links)),
            ("sched", Point { scheduler: easy.clone(), ..with(&messages) }),
            ("quota", with(&many)),
        ] {
            let (stop, rule) = (CancelToken::new(), StopRule::exactly(2));
            match estimate(RunContext::new(&stop), &point, 0, &rule, &[]) {
                Err(PointError::Run { error: SampleError::Incompatible(error), .. }) => {
                    assert_eq!(error.parameter, Some(parameter), "{error}");
                }
                other => panic!("{parameter}: {other:?}"),
            }
        }
        for point in [counting(39, Some(40)), with(&messages), Point { scheduler: easy, ..plain }] {
            assert_eq!(point.check(0), Ok(()));
        }
        let of_load = |load| {
            arrivals_at(
                load,
                &point(once, Counting::default()).stream,
                &"4x4".parse().expect("a machine"),
            )
        };
        assert_eq!(of_load(1.5).expect_err("above 1").parameter, Some("load"));
        let at_half = point(of_load(0.5).expect("below 1"), Counting::default());
        assert_eq!(at_half.offered_load(), Some(0.5));
    }

    proptest! {
        /// The arrival rate is returned exactly as the user gave it, although only its inverse is stored.
        #[test]
        fn arrivals_are_shown_as_given(digits in 1u32..1_000_000, places in 0usize..7) {
            let text = format!("{digits}e-{places}");
            let load: f64 = text.parse().expect("a number");
            let arrivals = Arrivals::Exponential { mean: 1.0 / load };
            prop_assert_eq!(point(arrivals, Counting::default()).arrivals(), load);
        }
    }
}
