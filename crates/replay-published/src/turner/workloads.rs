//! Figures 4.2 to 4.27: random meshes on a hypercube of ten dimensions.
//!
//! Saturation is a stream of which all jobs are there at the beginning; its load is the mean
//! number of jobs that run. Other points have Poisson arrivals. Times are in mean service times.

use std::collections::BTreeMap;
use std::fmt;

use super::{AFL, FL, defect};
use crate::claim::claim;
use crate::exchange::with_swaps;
use crate::{Check, Selection, Tolerance, VerifyError};
use replay_core::cancel::CancelToken;
use replay_core::metrics::estimate::{Estimate, StopRule};
use replay_core::scheduler::registry::SchedulerSpec;
use replay_core::workload::stochastic::{Arrivals, StochasticStream};
use replay_experiment::RunContext;
use replay_experiment::stream::{Estimates, Life, Metric, Point, estimate_unless};

const MACHINE: &str = "hypercube:10";
const SEED: u64 = 1;
const REPLICATIONS: u64 = 5;
/// Jobs of a replication in the quick form, and in full.
const JOBS: [u32; 2] = [4_000, 20_000];
/// Percentages of small jobs, the thesis's lambda.
const SHARES: [u8; 5] = [10, 30, 50, 70, 90];
/// Least sides of large jobs, and with which small ones they are mixed.
const LARGE: [(u16, &[u16]); 2] = [(8, &[9, 17, 20, 25, 28, 30]), (16, &[17, 20, 25, 28, 30])];
/// A load below every saturation: the free list's least is 1.005.
const BELOW: Load = Load::Tenths(8);

/// Sides of the meshes, up to 32.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Sizes {
    /// Uniform sides up to this.
    Uniform { high: u16, square: bool },
    /// Uniform up to `small` for `share` percent of the jobs, from `large` on for the others.
    Mixed { small: u16, large: u16, share: u8 },
}

impl Sizes {
    fn mixed(small: u16, large: u16) -> impl Iterator<Item = Self> {
        SHARES.into_iter().map(move |share| Sizes::Mixed { small, large, share })
    }

    /// The name of the sides of the stream.
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

/// How fast jobs come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Load {
    /// All at once.
    Saturated,
    /// So many tenths of a mean service time's jobs.
    Tenths(u8),
}

/// The points, each estimated once.
struct Points {
    jobs: u32,
    known: BTreeMap<(Sizes, Load, &'static str), Estimates>,
    stop: CancelToken,
    /// Whether the two lists take each other's place.
    exchanged: bool,
}

impl Points {
    /// Estimates a point, if that was not done yet.
    fn at(
        &mut self,
        sizes: Sizes,
        load: Load,
        strategy: &'static str,
    ) -> Result<&Estimates, VerifyError> {
        let strategy = match (self.exchanged, strategy) {
            (true, FL) => AFL,
            (true, AFL) => FL,
            (_, strategy) => strategy,
        };
        let key = (sizes, load, strategy);
        if !self.known.contains_key(&key) {
            let topology: replay_core::topology::Topology = MACHINE.parse().map_err(defect)?;
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
                allocator: strategy.parse().map_err(defect)?,
                life: Life::RunTimes,
                counting: Default::default(),
                topology,
            };
            let rule = StopRule::exactly(REPLICATIONS);
            let watch = RunContext::new(&self.stop);
            let watched = &[Metric::Turnaround];
            self.known.insert(key, estimate_unless(watch, &point, SEED, &rule, watched)?);
        }
        Ok(&self.known[&key])
    }

    /// A metric of one point over that of another, whose jobs are drawn from the same numbers.
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

    /// The auxiliary list over the free list.
    fn gain(&mut self, metric: Metric, load: Load, sizes: Sizes) -> Result<Estimate, VerifyError> {
        self.ratio(metric, load, (sizes, AFL), (sizes, FL))
    }
}

/// The least and the most of some estimates; of none, not a number.
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

/// The checks of all figures.
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

/// Of FL and AFL what contradicts the text on larger limits (Q6, Q7): utilization with [17,32] over [9,32], and
/// turnaround.
const SLIPS: [[f64; 2]; 2] = [[0.8023, 1.7499], [0.9315, 1.3579]];

/// Of FL and AFL, with small sides up to 8 and up to 16: turnaround with a limit of the large sides over that with the
/// limit before, from 17 to 30, the most. All four contradict the text (Q7).
const RISES: [[f64; 2]; 2] = [[1.0, 1.0], [1.0762, 1.0988]];

struct Claims {
    points: Points,
    checks: Vec<Check>,
}

/// A strategy as the thesis names it.
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

    /// The claim made last is known to be contradicted: at `ours`, and why.
    fn known(&mut self, ours: f64, why: &str) {
        let last = self.checks.pop();
        self.checks.extend(last.map(|check| check.known(ours, why)));
    }

    /// About equal up to 16, where nothing left has more than six dimensions; slightly better up to
    /// 32.
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
        // At about a half and at over four fifths of the free list's saturation loads, 5.7 and 7.2.
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

    /// The auxiliary list is better with every mixture.
    fn mixed(&mut self) -> Result<(), VerifyError> {
        for (small, limits) in LARGE {
            for &large in limits {
                let sizes = format!("[1,{small}], [{large},32]");
                let gains = self.gains((small, large), Metric::Utilization, Load::Saturated)?;
                let what = format!("{sizes}: AFL over FL, utilization at saturation, least");
                self.claim("Figs 4.6-4.27, Q4", &what, "1", least(&gains), Tolerance::Above)?;
                let gains = self.gains((small, large), Metric::Turnaround, BELOW)?;
                let what = format!("{sizes}: AFL over FL, turnaround at load 0.8, most");
                let figure = "sections 1.2.2, 7.1, Q4";
                self.claim(figure, &what, "1", most(&gains), Tolerance::Below)?;
            }
        }
        Ok(())
    }

    /// The auxiliary list over the free list, with each share of small jobs.
    fn gains(
        &mut self,
        (small, large): (u16, u16),
        metric: Metric,
        load: Load,
    ) -> Result<Vec<Estimate>, VerifyError> {
        Sizes::mixed(small, large).map(|sizes| self.points.gain(metric, load, sizes)).collect()
    }

    /// The largest of the steps from one share of small jobs to the next.
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

    /// With more small jobs turnaround and utilization fall.
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
                            "{name}, [1,{small}], [{large},32]: {at}, with a share of small jobs over that with the one before, most"
                        );
                        self.claim(figure, &what, "1", ours, Tolerance::Below)?;
                        if (strategy, small, large, metric) == (FL, 16, 17, Metric::Utilization) {
                            // In the full form.
                            self.known(
                                1.013,
                                "from 0.7 to 0.9 of small jobs utilization rises by 1 %: large jobs run alone, and \
                                 the more small ones come between two of them, the fuller the machine is",
                            );
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// With each share of small jobs the steps from one lower limit of the large ones to the next, from 17 on.
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

    /// Larger large jobs raise utilization, and as the text has it "improve" turnaround.
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
                    "{sizes}: utilization at saturation over that with the limit before, least"
                );
                self.claim("section 4.2, Q6", &what, "1", least(&steps), Tolerance::Above)?;
                let steps = self.limit_steps(of, Metric::Turnaround, BELOW, strategy)?;
                let what = format!(
                    "{sizes}: turnaround at load 0.8 over that with the limit before, most"
                );
                let figure = format!("{section}, Q7");
                self.claim(&figure, &what, "1", most(&steps), Tolerance::Below)?;
                self.known(
                    RISES[of_strategy][usize::from(small == 16)],
                    if strategy == FL {
                        "a free list gives every one of these large jobs the whole machine, so that their limit \
                         changes nothing"
                    } else {
                        "the larger the large jobs, the less they leave for small ones"
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
                "from [9,32] to [17,32] the claim holds for small shares of small jobs only",
            );
            let (own, base) = (at(8, 17, 50), at(8, 9, 50));
            let ends = ((own, strategy), (base, strategy));
            let ours = self.points.ratio(Metric::Turnaround, BELOW, ends.0, ends.1)?;
            let what = format!("{name}, [1,8] 0.5: turnaround at load 0.8, [17,32] over [9,32]");
            self.claim("section 4.2, Q7", &what, "1", ours, Tolerance::Below)?;
            self.known(
                SLIPS[of_strategy][1],
                "large jobs that need the whole machine cannot shorten the queue; the text's \"improves\" \
                 may be a slip",
            );
        }
        Ok(())
    }

    /// Larger small jobs raise turnaround and utilization, the more so the more there are. Where they
    /// all fit together with the free list their sizes do not matter.
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
                let what =
                    format!("{name}, [17,32]: the same with 0.1 of small jobs less that with 0.9");
                self.claim("section 4.3, Q8", &what, "0", less, Tolerance::Above)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points of a quarter of the jobs.
    fn points() -> Points {
        Points { jobs: 1000, known: BTreeMap::new(), stop: CancelToken::new(), exchanged: false }
    }

    /// With so few jobs most intervals are too wide to decide, but nothing is beyond them.
    #[test]
    fn no_claim_that_is_judged_is_false() {
        let mut suite = Claims { points: points(), checks: Vec::new() };
        suite.uniform().expect("they run");
        assert_eq!(suite.checks.len(), 10);
        for check in suite.checks {
            assert_eq!(check.surprise(), None, "{}: {:?}", check.what, check.ours);
        }
    }

    /// If large jobs need the whole machine and small ones always fit together, FCFS runs one large
    /// job in turn with a batch of small ones: of small jobs a geometric number in parallel. With a
    /// share p of small jobs the free list saturates at 1 / ((1 - p) (1 - ln(1 - p))).
    #[test]
    fn the_free_list_saturates_where_its_closed_form_does() {
        let mut points = points();
        let mut saturation = |sizes| {
            let estimates = points.at(sizes, Load::Saturated, FL).expect("it runs");
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
    fn every_workload_can_be_drawn() {
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
            assert!(model.mean_size().expect("they fit") > 1.0, "{sizes}");
        }
    }
}
