//! Figures 4.2 to 4.27: jobs that request random meshes on a hypercube of ten dimensions.
//!
//! In saturation, all jobs of a stream arrive at the beginning, and the load is the mean number of running jobs. All
//! other points have Poisson arrivals. The time unit is the mean service time.

use std::collections::BTreeMap;
use std::fmt;

use super::{AFL, FL};
use crate::claim::claim;
use crate::exchange::{substitute, with_swaps};
use crate::{Check, Selection, Tolerance, VerifyError, defect};
use replay_engine::cancel::CancelToken;
use replay_engine::metrics::estimate::{Estimate, StopRule};
use replay_engine::scheduler::registry::SchedulerSpec;
use replay_engine::workload::stochastic::{Arrivals, StochasticStream};
use replay_experiment::RunContext;
use replay_experiment::stream::{Estimates, Life, Metric, Point, estimate};

const MACHINE: &str = "hypercube:10";
const SEED: u64 = 1;
const REPLICATIONS: u64 = 5;
/// Number of jobs of a replication in the quick form and in the full form.
const JOBS: [u32; 2] = [4_000, 20_000];
/// Percentages of small jobs (lambda in the thesis).
const SHARES: [u8; 5] = [10, 30, 50, 70, 90];
/// For each maximum side of the small jobs, the minimum sides of the large jobs with which these small jobs are mixed.
const LARGE: [(u16, &[u16]); 2] = [(8, &[9, 17, 20, 25, 28, 30]), (16, &[17, 20, 25, 28, 30])];
/// A load below all saturation loads. The smallest saturation load is 1.005, under the free list.
const BELOW: Load = Load::Tenths(8);

/// Distribution of the sides of meshes, up to 32.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Sizes {
    /// Uniform sides from 1 to `high`.
    Uniform { high: u16, square: bool },
    /// `share` percent of the jobs have uniform sides from 1 to `small`. All other jobs have uniform sides from `large`
    /// to 32.
    Mixed { small: u16, large: u16, share: u8 },
}

impl Sizes {
    fn mixed(small: u16, large: u16) -> impl Iterator<Item = Self> {
        SHARES.into_iter().map(move |share| Sizes::Mixed { small, large, share })
    }

    /// Returns the specification of the stream's sides.
    fn sides(self) -> String {
        match self {
            Sizes::Uniform { high, square: false } => format!("uniform[high={high}]"),
            Sizes::Uniform { high, square: true } => format!("uniform[high={high},equal=yes]"),
            Sizes::Mixed { small, large, share } => {
                let (some, rest) = (f64::from(share) / 100.0, f64::from(100 - share) / 100.0);
                format!("intervals[sides=1-{small}:{some},{large}-32:{rest},choice=job]")
            }
        }
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sizes::Uniform { high, square: true } => write!(f, "[1,{high}] square"),
            Sizes::Uniform { high, square: false } => write!(f, "[1,{high}]"),
            Sizes::Mixed { small, large, share } => {
                write!(f, "[1,{small}] {}, [{large},32]", f64::from(*share) / 100.0)
            }
        }
    }
}

/// Arrival rate of jobs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Load {
    /// All jobs arrive at once.
    Saturated,
    /// Load in tenths of a job per mean service time.
    Tenths(u8),
}

/// Estimates of all points that were requested. Each point is computed once.
struct Points {
    jobs: u32,
    known: BTreeMap<(Sizes, Load, &'static str), Estimates>,
    stop: CancelToken,
    /// Whether the two free lists are exchanged.
    exchanged: bool,
}

impl Points {
    /// Returns the estimates of a point. The estimates are computed on the first request.
    fn at(
        &mut self,
        sizes: Sizes,
        load: Load,
        strategy: &'static str,
    ) -> Result<&Estimates, VerifyError> {
        let strategy = substitute(self.exchanged.then_some([FL, AFL]), strategy);
        let key = (sizes, load, strategy);
        if !self.known.contains_key(&key) {
            let topology: replay_engine::topology::Topology = MACHINE.parse().map_err(defect)?;
            let arrivals = match load {
                Load::Saturated => Arrivals::AtOnce,
                Load::Tenths(tenths) => Arrivals::Exponential { mean: 10.0 / f64::from(tenths) },
            };
            let stream = StochasticStream {
                arrivals,
                sides: sizes.sides().parse().map_err(defect)?,
                jobs: self.jobs,
                ..StochasticStream::new(topology.extents())
            };
            let point = Point {
                stream,
                scheduler: SchedulerSpec::fcfs(),
                allocator: replay_strategies::allocator(strategy).map_err(defect)?,
                life: Life::RunTimes,
                counting: Default::default(),
                topology,
            };
            let rule = StopRule::exactly(REPLICATIONS);
            let context = RunContext::new(&self.stop);
            let watched = &[Metric::Turnaround];
            self.known.insert(key, estimate(context, &point, SEED, &rule, watched)?);
        }
        Ok(&self.known[&key])
    }

    /// Returns the ratio of a metric at one point to the metric at another point; both points use the same random
    /// numbers.
    fn ratio(
        &mut self,
        metric: Metric,
        load: Load,
        (sizes, strategy): (Sizes, &'static str),
        (base_sizes, base): (Sizes, &'static str),
    ) -> Result<Estimate, VerifyError> {
        let own = self.at(sizes, load, strategy)?.clone();
        Ok(own.ratio(self.at(base_sizes, load, base)?, metric))
    }

    /// Returns the ratio of a metric under the auxiliary free list to the metric under the free list.
    fn gain(&mut self, metric: Metric, load: Load, sizes: Sizes) -> Result<Estimate, VerifyError> {
        self.ratio(metric, load, (sizes, AFL), (sizes, FL))
    }
}

/// Returns the largest estimate if `most` is true, otherwise the smallest estimate; NaN if there are no estimates.
fn extreme(estimates: &[Estimate], most: bool) -> Estimate {
    let order = |a: &&Estimate, b: &&Estimate| a.mean.total_cmp(&b.mean);
    let found = if most { estimates.iter().max_by(order) } else { estimates.iter().min_by(order) };
    found.copied().unwrap_or(Estimate { count: 0, mean: f64::NAN, half_width: f64::NAN })
}

fn least(estimates: &[Estimate]) -> Estimate {
    extreme(estimates, false)
}

fn most(estimates: &[Estimate]) -> Estimate {
    extreme(estimates, true)
}

/// Checks all figures.
pub fn checks(
    selection: &Selection,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Check>, VerifyError> {
    let points = Points {
        jobs: JOBS[usize::from(selection.full)],
        known: BTreeMap::new(),
        stop: selection.stop.clone(),
        exchanged: false,
    };
    let mut suite = Claims { points, checks: Vec::new() };
    suite.all(progress)?;
    let checks = std::mem::take(&mut suite.checks);
    with_swaps(checks, [[FL, AFL]], |_| {
        suite.points.exchanged = true;
        suite.all(&mut |_| {})?;
        Ok(std::mem::take(&mut suite.checks))
    })
}

/// Measured values that contradict the text about larger limits (Q6, Q7): one row for FL and one row for AFL. A row
/// contains two ratios of the values with the limits [17,32] to the values with the limits [9,32]: the ratio of
/// utilization and the ratio of turnaround.
const SLIPS: [[f64; 2]; 2] = [[0.8023, 1.7499], [0.9315, 1.3579]];

/// Measured values that contradict the text (Q7): rows for FL and AFL, columns for small sides up to 8 and up to 16.
/// Each value is the largest ratio of the turnaround with one lower limit of the large sides to the turnaround with the
/// next smaller limit. The limits are from 17 to 30.
const RISES: [[f64; 2]; 2] = [[1.0, 1.0], [1.0762, 1.0988]];

struct Claims {
    points: Points,
    checks: Vec<Check>,
}

/// The strategies, with their names in the thesis.
const STRATEGIES: [(&str, &str); 2] = [("FL", FL), ("AFL", AFL)];

impl Claims {
    fn all(&mut self, progress: &mut dyn FnMut(&str)) -> Result<(), VerifyError> {
        self.uniform()?;
        progress("uniform sides");
        self.mixed()?;
        progress("small and large jobs: auxiliary list against free list");
        self.shares()?;
        self.limits()?;
        self.small_sides()?;
        progress("small and large jobs: trends");
        Ok(())
    }

    fn claim(
        &mut self,
        figure: &str,
        what: &str,
        bound: &str,
        ours: Estimate,
        tolerance: Tolerance,
    ) -> Result<(), VerifyError> {
        let check = claim(figure, MACHINE, what, bound, ours.mean, tolerance)?;
        let log = Some(format!("{REPLICATIONS} x {} jobs", self.points.jobs));
        self.checks.push(Check { margin: ours.half_width, log, ..check });
        Ok(())
    }

    /// Records a known difference of the last claim: our value is `ours`, which is beyond the tolerance, and `why` is
    /// the reason.
    fn known(&mut self, ours: f64, why: &str) {
        let last = self.checks.pop();
        self.checks.extend(last.map(|check| check.known(ours, why)));
    }

    /// Checks claims Q2 and Q3. With sides up to 16, the two free lists are about equal, because the cubes that remain
    /// free beside a mesh have at most six dimensions. With sides up to 32, the auxiliary free list is slightly better.
    fn uniform(&mut self) -> Result<(), VerifyError> {
        for (figure, high, square) in [
            ("Fig. 4.2, Q2", 16, true),
            ("Fig. 4.3, Q2", 16, false),
            ("Fig. 4.4, Q3", 32, true),
            ("Fig. 4.5, Q3", 32, false),
        ] {
            let sizes = Sizes::Uniform { high, square };
            let ours = self.points.gain(Metric::Utilization, Load::Saturated, sizes)?;
            let what = format!("{sizes}: AFL over FL, utilization at saturation");
            let tolerance = if high == 16 { Tolerance::Relative(0.05) } else { Tolerance::Above };
            self.claim(figure, &what, "1", ours, tolerance)?;
        }
        // The saturation loads under the free list are 5.7 and 7.2. One load is about half of the saturation load, and
        // the other load is over four fifths of the saturation load.
        for (figure, square, loads) in
            [("Fig. 4.2, Q2", true, [3, 5]), ("Fig. 4.3, Q2", false, [4, 6])]
        {
            let sizes = Sizes::Uniform { high: 16, square };
            for load in loads {
                let ours = self.points.gain(Metric::Turnaround, Load::Tenths(10 * load), sizes)?;
                let what = format!("{sizes}: AFL over FL, turnaround at load {load}");
                self.claim(figure, &what, "1", ours, Tolerance::Relative(0.05))?;
            }
        }
        for (figure, square, load) in [("Fig. 4.4, Q3", true, 10), ("Fig. 4.5, Q3", false, 13)] {
            let sizes = Sizes::Uniform { high: 32, square };
            let ours = self.points.gain(Metric::Turnaround, Load::Tenths(load), sizes)?;
            let what =
                format!("{sizes}: AFL over FL, turnaround at load {}", f64::from(load) / 10.0);
            self.claim(figure, &what, "1", ours, Tolerance::Below)?;
        }
        Ok(())
    }

    /// Checks claim Q4: the auxiliary free list is better with every mixture.
    fn mixed(&mut self) -> Result<(), VerifyError> {
        for (small, limits) in LARGE {
            for &large in limits {
                let sizes = format!("[1,{small}], [{large},32]");
                let gains = self.gains((small, large), Metric::Utilization, Load::Saturated)?;
                let what =
                    format!("{sizes}: AFL over FL, utilization at saturation, smallest ratio");
                self.claim("Figs 4.6-4.27, Q4", &what, "1", least(&gains), Tolerance::Above)?;
                let gains = self.gains((small, large), Metric::Turnaround, BELOW)?;
                let what = format!("{sizes}: AFL over FL, turnaround at load 0.8, largest ratio");
                let figure = "sections 1.2.2, 7.1, Q4";
                self.claim(figure, &what, "1", most(&gains), Tolerance::Below)?;
            }
        }
        Ok(())
    }

    /// Returns, for each share of small jobs, the ratio of a metric under the auxiliary free list to the metric under
    /// the free list.
    fn gains(
        &mut self,
        (small, large): (u16, u16),
        metric: Metric,
        load: Load,
    ) -> Result<Vec<Estimate>, VerifyError> {
        Sizes::mixed(small, large).map(|sizes| self.points.gain(metric, load, sizes)).collect()
    }

    /// Returns the largest ratio of a metric with one share of small jobs to the metric with the next smaller share.
    fn largest_step(
        &mut self,
        (small, large): (u16, u16),
        metric: Metric,
        load: Load,
        strategy: &'static str,
    ) -> Result<Estimate, VerifyError> {
        let all: Vec<Sizes> = Sizes::mixed(small, large).collect();
        let mut steps = Vec::new();
        for pair in all.windows(2) {
            steps.push(self.points.ratio(
                metric,
                load,
                (pair[1], strategy),
                (pair[0], strategy),
            )?);
        }
        Ok(most(&steps))
    }

    /// Checks claim Q5: turnaround and utilization decrease when the share of small jobs increases.
    fn shares(&mut self) -> Result<(), VerifyError> {
        for (figure, (small, limits)) in
            ["section 4.2, Q5", "section 4.3, Q5"].into_iter().zip(LARGE)
        {
            for (name, strategy) in STRATEGIES {
                for &large in limits {
                    for (metric, load, at) in [
                        (Metric::Utilization, Load::Saturated, "utilization at saturation"),
                        (Metric::Turnaround, BELOW, "turnaround at load 0.8"),
                    ] {
                        let ours = self.largest_step((small, large), metric, load, strategy)?;
                        let what = format!(
                            "{name}, [1,{small}], [{large},32]: {at}, largest ratio of the value at a share of small jobs to the value at the preceding share"
                        );
                        self.claim(figure, &what, "1", ours, Tolerance::Below)?;
                        if (strategy, small, large, metric) == (FL, 16, 17, Metric::Utilization) {
                            // These values were measured in the full form.
                            self.known(
                                1.013,
                                "if the share of small jobs increases from 0.7 to 0.9, \
                                 utilization rises by 1 %: large jobs run alone, and the machine \
                                 is fuller if more small jobs run between two large jobs",
                            );
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the ratios of a metric with one lower limit of the large sides to the metric with the next smaller
    /// limit. There is a ratio for each share of small jobs and each pair of limits of at least 17.
    fn limit_steps(
        &mut self,
        (small, limits): (u16, &[u16]),
        metric: Metric,
        load: Load,
        strategy: &'static str,
    ) -> Result<Vec<Estimate>, VerifyError> {
        let mut steps = Vec::new();
        for pair in limits.windows(2).filter(|pair| pair[0] >= 17) {
            for share in SHARES {
                let sizes = |large| Sizes::Mixed { small, large, share };
                let (own, base) = (sizes(pair[1]), sizes(pair[0]));
                steps.push(self.points.ratio(metric, load, (own, strategy), (base, strategy))?);
            }
        }
        Ok(steps)
    }

    /// Checks claims Q6 and Q7: if the lower limit of the large jobs is increased, utilization increases and, according
    /// to the text, turnaround "improves".
    fn limits(&mut self) -> Result<(), VerifyError> {
        let at = |small, large, share| Sizes::Mixed { small, large, share };
        for (name, strategy) in STRATEGIES {
            let of_strategy = usize::from(strategy == AFL);
            for (section, (small, limits)) in ["section 4.2", "section 4.3"].into_iter().zip(LARGE)
            {
                let of = (small, limits);
                let sizes = format!("{name}, [1,{small}], [17,32] to [30,32]");
                let steps = self.limit_steps(of, Metric::Utilization, Load::Saturated, strategy)?;
                let what = format!(
                    "{sizes}: utilization at saturation, smallest ratio of the value at a limit to the value at the preceding limit"
                );
                self.claim("section 4.2, Q6", &what, "1", least(&steps), Tolerance::Above)?;
                let steps = self.limit_steps(of, Metric::Turnaround, BELOW, strategy)?;
                let what = format!(
                    "{sizes}: turnaround at load 0.8, largest ratio of the value at a limit to the value at the preceding limit"
                );
                let figure = format!("{section}, Q7");
                self.claim(&figure, &what, "1", most(&steps), Tolerance::Below)?;
                self.known(
                    RISES[of_strategy][usize::from(small == 16)],
                    if strategy == FL {
                        "the free list allocates the whole machine to each of these large jobs, so \
                         that the lower limit of the large jobs has no effect"
                    } else {
                        "if the large jobs are larger, fewer processors remain for small jobs"
                    },
                );
            }
            let (own, base) = (at(8, 17, 90), at(8, 9, 90));
            let ends = ((own, strategy), (base, strategy));
            let ours = self.points.ratio(Metric::Utilization, Load::Saturated, ends.0, ends.1)?;
            let what = format!("{name}, [1,8] 0.9: utilization at saturation, [17,32] over [9,32]");
            self.claim("section 4.2, Q6", &what, "1", ours, Tolerance::Above)?;
            self.known(
                SLIPS[of_strategy][0],
                "from [9,32] to [17,32] the claim holds only for small shares of small jobs",
            );
            let (own, base) = (at(8, 17, 50), at(8, 9, 50));
            let ends = ((own, strategy), (base, strategy));
            let ours = self.points.ratio(Metric::Turnaround, BELOW, ends.0, ends.1)?;
            let what = format!("{name}, [1,8] 0.5: turnaround at load 0.8, [17,32] over [9,32]");
            self.claim("section 4.2, Q7", &what, "1", ours, Tolerance::Below)?;
            self.known(
                SLIPS[of_strategy][1],
                "large jobs that need the whole machine cannot shorten the queue; the text's \"improves\" \
                 may be an error",
            );
        }
        Ok(())
    }

    /// Checks claim Q8: if the upper limit of the small jobs is increased, turnaround and utilization increase. This
    /// effect grows with the share of small jobs. Under the free list, the sizes of small jobs have no effect if all
    /// small jobs fit at once.
    fn small_sides(&mut self) -> Result<(), VerifyError> {
        for (name, strategy) in STRATEGIES {
            for (metric, load, at) in [
                (Metric::Utilization, Load::Saturated, "utilization at saturation"),
                (Metric::Turnaround, BELOW, "turnaround at load 0.8"),
            ] {
                let mut steps = Vec::new();
                for share in SHARES {
                    let own = Sizes::Mixed { small: 8, large: 17, share };
                    let base = Sizes::Mixed { small: 16, large: 17, share };
                    steps.push(self.points.ratio(
                        metric,
                        load,
                        (own, strategy),
                        (base, strategy),
                    )?);
                }
                let what = format!("{name}, [17,32]: {at}, [1,8] over [1,16], most");
                self.claim("section 4.3, Q8", &what, "1", most(&steps), Tolerance::AtMost(0.0))?;
                let [first, .., last] = steps.as_slice() else { continue };
                let less = Estimate {
                    mean: first.mean - last.mean,
                    half_width: first.half_width.hypot(last.half_width),
                    ..*first
                };
                let what = format!(
                    "{name}, [17,32]: ratio of [1,8] to [1,16] with a share of small jobs of 0.1, minus this ratio with a share of 0.9"
                );
                self.claim("section 4.3, Q8", &what, "0", less, Tolerance::Above)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates points with a quarter of the number of jobs in the quick form.
    fn points() -> Points {
        Points { jobs: 1000, known: BTreeMap::new(), stop: CancelToken::new(), exchanged: false }
    }

    /// With few jobs, most rows are undecided because their intervals are wide. Even with wide intervals, no row may
    /// differ from its declaration.
    #[test]
    fn no_judged_claim_changes_undeclared_with_few_jobs() {
        let mut suite = Claims { points: points(), checks: Vec::new() };
        suite.uniform().expect("runs without error");
        assert_eq!(suite.checks.len(), 10);
        for check in suite.checks {
            assert_eq!(check.undeclared_change(), None, "{}: {:?}", check.what, check.ours);
        }
    }

    /// If each large job needs the whole machine and all small jobs fit at once, large jobs and batches of small jobs
    /// run alternately under FCFS. The small jobs of a batch run in parallel, and their number has a geometric
    /// distribution. With a share p of small jobs, the saturation load under the free list is 1 / ((1 - p) (1 - ln(1 -
    /// p))).
    #[test]
    fn the_free_list_saturates_where_its_closed_form_does() {
        let mut points = points();
        let mut saturation = |sizes| {
            let estimates = points.at(sizes, Load::Saturated, FL).expect("runs without error");
            let finish = estimates.of(Metric::FinishTime);
            let load = 1000.0 * estimates.of(Metric::ServiceTime).mean / finish.mean;
            (load, load * finish.half_width / finish.mean)
        };
        for (small, largest_share) in [(8, 90), (16, 70)] {
            for share in SHARES.into_iter().filter(|&share| share <= largest_share) {
                let [some, other] = [17, 30].map(|large| Sizes::Mixed { small, large, share });
                let rest = 1.0 - f64::from(share) / 100.0;
                let expected = 1.0 / (rest * (1.0 - rest.ln()));
                let (load, half_width) = saturation(some);
                assert!((load - expected).abs() < 0.03 * expected + half_width, "{some}: {load}");
                assert_eq!(saturation(other).0, load, "{other}");
            }
        }
    }

    #[test]
    fn every_workload_is_valid() {
        let mixed = LARGE.into_iter().flat_map(|(small, limits)| {
            limits.iter().flat_map(move |&large| Sizes::mixed(small, large))
        });
        let uniform = [16, 32]
            .into_iter()
            .flat_map(|high| [true, false].map(|square| Sizes::Uniform { high, square }));
        let all: Vec<Sizes> = mixed.chain(uniform).collect();
        assert_eq!(all.len(), 59);
        for sizes in all {
            let model = StochasticStream {
                sides: sizes.sides().parse().expect("sides"),
                ..StochasticStream::new([32, 32, 1])
            };
            assert!(model.mean_size().expect("valid sides") > 1.0, "{sizes}");
        }
    }
}
