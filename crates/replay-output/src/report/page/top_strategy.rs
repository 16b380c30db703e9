//! Comparison of the top strategy of a setting with the other strategies, based on the tables of jobs.

use polars::prelude::DataFrame;

use replay_engine::metrics::blocks::FEWEST;
use replay_engine::metrics::{JobMeasures, Placement};
use replay_engine::number::fixed;
use replay_engine::table::Name;
use replay_experiment::shaken::Verdict;
use replay_results::compare::{Compared, Pairs, correct};
use replay_results::read::ReadError;

/// Maximum number of strategies compared with the top strategy.
const MOST: usize = 12;

/// Description of the method of all comparisons on a page.
pub const METHOD: &str = "95 % intervals: Student's t for the logarithm of the ratio over weeks of submission, or over \
     days if fewer than eight weeks have submissions, for the jobs that both strategies have. Verdicts are corrected by Holm's method for all pairs of \
     strategies, because the top strategy is chosen on the same jobs; ~ marks differences that are not significant.";

/// A strategy of a setting with its runs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Runs {
    /// Name of the strategy.
    pub name: String,
    /// Seed and run number of each run.
    pub runs: Vec<(String, i64)>,
    /// Mean wait and mean turnaround of each run.
    pub times: Vec<[Option<f64>; 2]>,
    /// Whether jobs ran on fewer processors than requested.
    pub folds: bool,
}

impl Runs {
    fn turnaround(&self) -> f64 {
        let values = self.times.iter().filter_map(|[_, turnaround]| *turnaround);
        let (count, sum) = values.fold((0u32, 0.0), |(n, sum), value| (n + 1, sum + value));
        if count == 0 { f64::INFINITY } else { sum / f64::from(count) }
    }
}

/// Comparison of the top strategy of a setting with the strategies ranked below it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TopStrategyComparison {
    /// Comparisons of mean pairwise L1 with the strategies ranked below the top strategy, up to the first significant
    /// difference.
    pairwise: Vec<Compared>,
    /// Comparison of the top strategy's mean processor distance with that of the next strategy in the ranking.
    distance: Option<Compared>,
    /// Comparisons of turnaround and wait with the strategy that has the shortest turnaround among the other
    /// strategies; `None` if waits and turnarounds are equal under all strategies.
    times: Option<[Compared; 2]>,
    /// Number of strategies.
    strategies: usize,
}

impl TopStrategyComparison {
    /// Compares the first of the ranked strategies with the other strategies. `jobs` returns the jobs of a run. Returns
    /// `None` if there is nothing to compare.
    ///
    /// # Errors
    /// Returns the errors of `jobs`.
    pub fn of(
        ranked: &[Runs],
        mut jobs: impl FnMut(i64) -> Result<DataFrame, ReadError>,
    ) -> Result<Option<Self>, ReadError> {
        let [first, others @ ..] = ranked else { return Ok(None) };
        let own = first.runs.iter().map(|(seed, run)| Ok((seed, jobs(*run)?)));
        let own: Vec<(_, DataFrame)> = own.collect::<Result<_, ReadError>>()?;
        let mut pairs = |other: &Runs| {
            let mut pairs = Pairs::default();
            for (seed, run) in &other.runs {
                if let Some((_, own)) = own.iter().find(|(one, _)| *one == seed) {
                    pairs.extend(Pairs::new(&jobs(*run)?, own)?)?;
                }
            }
            Ok::<_, ReadError>(pairs)
        };
        let compare = |pairs: &Pairs, other: &Runs, measure: Name| {
            if pairs.is_empty() {
                return Ok(None);
            }
            let compared = pairs.compare([&other.name, &first.name], measure)?;
            Ok::<_, ReadError>(Some(compared).filter(|compared| compared.jobs > 0))
        };
        let mut comparison = Self { strategies: ranked.len(), ..Self::default() };
        for (place, other) in others.iter().take(MOST).enumerate() {
            let pairs = pairs(other)?;
            let Some(pairwise) = compare(&pairs, other, Placement::PAIRWISE_L1)? else {
                return Ok(None);
            };
            if place == 0 {
                comparison.distance = compare(&pairs, other, Placement::DISTANCE)?;
            }
            comparison.pairwise.push(pairwise);
        }
        // The top strategy is selected by its mean, so every pair of strategies counts as a comparison in the
        // correction.
        let family = ranked.len() * others.len() / 2;
        correct(&mut comparison.pairwise, family);
        let apart = comparison.pairwise.iter().position(|one| one.verdict() == Verdict::Better);
        comparison.pairwise.truncate(apart.map_or(MOST, |place| place + 1));
        if let Some(distance) = &mut comparison.distance {
            correct([distance], family);
        }
        let fastest = others.iter().min_by(|a, b| a.turnaround().total_cmp(&b.turnaround()));
        if let Some(fastest) = fastest.filter(|_| others.iter().any(|one| one.times != first.times))
        {
            let pairs = pairs(fastest)?;
            comparison.times = compare(&pairs, fastest, JobMeasures::TURNAROUND)?
                .zip(compare(&pairs, fastest, JobMeasures::WAIT)?)
                .map(<[_; 2]>::from);
            for one in comparison.times.iter_mut().flatten() {
                correct([one], family);
            }
        }
        Ok((!comparison.pairwise.is_empty()).then_some(comparison))
    }

    /// Returns the part of a sentence that follows the mean of the top strategy. This part describes how the top
    /// strategy differs from the other strategies.
    pub fn lead(&self) -> String {
        let (apart, alike): (Vec<_>, Vec<_>) =
            self.pairwise.iter().partition(|one| one.verdict() == Verdict::Better);
        let distance = self.distance.as_ref().filter(|one| one.interval[0].is_finite());
        let distance = distance
            .map_or(String::new(), |one| format!(", mean processor distance {}", change(one)));
        match (&alike[..], apart.first()) {
            ([], Some(next)) => format!(", {} than under {}{distance}", change(next), next.base),
            ([next, more @ ..], apart) => {
                let more = match more.len() {
                    0 => String::new(),
                    1 => format!(" or {}", more[0].base),
                    n => format!(" or {n} more"),
                };
                let apart = apart.map_or(String::new(), |one| {
                    format!("; first significant difference: from {}, {}", one.base, change(one))
                });
                match next.verdict() {
                    Verdict::Same => format!(", the same for every job under {}{apart}", next.base),
                    _ => format!(
                        ", not significantly different from {}{more}: {}{distance}{apart}",
                        next.base,
                        change(next)
                    ),
                }
            }
            ([], None) => String::new(),
        }
    }

    /// Returns a sentence about the differences in waits and turnarounds.
    pub fn times(&self) -> String {
        match &self.times {
            None => format!(
                "Waits and turnarounds are the same under all {} strategies: none of them changes the schedule.",
                self.strategies
            ),
            Some([turnaround, wait]) => format!(
                "Compared with {}, which has the shortest mean turnaround among the others: turnaround {}, wait {}.",
                turnaround.base,
                change(turnaround),
                change(wait)
            ),
        }
    }
}

/// Describes a change with its interval.
fn change(of: &Compared) -> String {
    let [low, high] = of.interval;
    match of.verdict() {
        Verdict::Same => "the same for every job".to_string(),
        Verdict::Better => {
            format!(
                "{} % less (95 %: {} to {})",
                percent(-of.change),
                percent(-high),
                percent(-low)
            )
        }
        Verdict::Worse => {
            format!("{} % more (95 %: {} to {})", percent(of.change), percent(low), percent(high))
        }
        _ if of.blocks < FEWEST => {
            format!("~ (no interval, because the jobs cover fewer than {FEWEST} days)")
        }
        _ if !low.is_finite() => "~".to_string(),
        _ => format!("~ ({} %, 95 %: {} to {})", signed(of.change), signed(low), signed(high)),
    }
}

/// Formats a percentage in the same way as `replay compare`.
fn percent(value: f64) -> String {
    fixed(value, 2)
}

fn signed(value: f64) -> String {
    format!("{}{}", if value > 0.0 { "+" } else { "" }, percent(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use replay_results::compare::{TestJob as Job, jobs_of};

    const DAY: i64 = 86_400;

    /// Returns jobs that are spread over a hundred days, with the given pairwise L1 and turnaround.
    fn jobs(pairwise: fn(i64) -> f64, turnaround: f64) -> Vec<Job> {
        let measures = |i| [turnaround - 10.0, turnaround, 1.0, pairwise(i), pairwise(i) / 6.0];
        (0..200).map(|i| (i, i * DAY / 2, 4, measures(i))).collect()
    }

    /// Returns the comparison of runs, of which `jobs` returns the jobs.
    fn comparison(
        ranked: &[Runs],
        jobs: impl Fn(i64) -> Vec<Job>,
    ) -> Option<TopStrategyComparison> {
        let jobs = |run| Ok(jobs_of(&jobs(run))?);
        TopStrategyComparison::of(ranked, jobs).expect("known runs")
    }

    fn runs(name: &str, run: i64, turnaround: f64) -> Runs {
        Runs {
            name: name.to_string(),
            runs: vec![("0".to_string(), run)],
            times: vec![[Some(turnaround); 2]],
            folds: false,
        }
    }

    fn compared(ranked: &[Runs]) -> TopStrategyComparison {
        // Blocks of lower values alternate with blocks of higher values.
        let noise = |i: i64| if i / 14 % 2 == 0 { 85.0 } else { 120.0 };
        let of = |run| match run {
            1 => jobs(noise, 50.0),
            2 => jobs(|_| 125.0, 40.0),
            _ => jobs(|_| 100.0, 50.0),
        };
        comparison(ranked, of).expect("a comparison")
    }

    #[test]
    fn reports_the_lead_with_an_interval() {
        let comparison = compared(&[runs("a", 0, 50.0), runs("c", 2, 50.0)]);
        assert_eq!(
            comparison.lead(),
            ", 20.00 % less (95 %: 20.00 to 20.00) than under c, mean processor distance 20.00 % less \
             (95 %: 20.00 to 20.00)"
        );
        assert_eq!(
            comparison.times(),
            "Waits and turnarounds are the same under all 2 strategies: none of them changes the schedule."
        );
    }

    #[test]
    fn reports_the_first_significant_difference() {
        let comparison = compared(&[runs("a", 0, 50.0), runs("b", 1, 50.0), runs("c", 2, 40.0)]);
        let lead = comparison.lead();
        assert!(
            lead.starts_with(", not significantly different from b: ~ (-")
                && lead.contains("95 %: -"),
            "{lead}"
        );
        assert!(
            lead.ends_with(
                "; first significant difference: from c, 20.00 % less (95 %: 20.00 to 20.00)"
            ),
            "{lead}"
        );
        assert_eq!(
            comparison.times(),
            "Compared with c, which has the shortest mean turnaround among the others: turnaround 25.00 % more (95 %: 25.00 \
             to 25.00), wait 33.33 % more (95 %: 33.33 to 33.33)."
        );
        let same = compared(&[runs("a", 0, 50.0), runs("d", 3, 50.0)]);
        assert_eq!(same.lead(), ", the same for every job under d");
    }

    /// Checks that the best of ten strategies that differ only by chance is rarely reported as better than another
    /// strategy.
    #[test]
    fn rarely_reports_the_best_of_identical_strategies_as_better() {
        use rand::{RngExt, SeedableRng};
        let reports = 400;
        let called = (0..reports).filter(|&report| {
            let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(report);
            let mut of: Vec<Vec<Job>> = (0..10)
                .map(|_| {
                    let mut jobs = jobs(|_| 100.0, 50.0);
                    jobs.iter_mut().for_each(|job| job.3[3] *= 0.5 + rng.random::<f64>());
                    jobs
                })
                .collect();
            let sum = |jobs: &[Job]| jobs.iter().map(|job| job.3[3]).sum::<f64>();
            of.sort_by(|a, b| sum(a).total_cmp(&sum(b)));
            let ranked: Vec<Runs> = (0..10).map(|run| runs("s", run, 50.0)).collect();
            let comparison = comparison(&ranked, |run| of[run as usize].clone()).expect("several");
            comparison.pairwise.iter().any(|one| one.verdict() == Verdict::Better)
        });
        let percent = 100.0 * called.count() as f64 / reports as f64;
        assert!(percent <= 8.0, "the best is reported as better in {percent} % of reports");
    }

    #[test]
    fn returns_nothing_without_jobs_and_passes_errors_on() {
        let unknown =
            |run| Err(ReadError::Table { path: "t".into(), what: format!("no run {run}") });
        assert!(TopStrategyComparison::of(&[runs("a", 0, 1.0)], unknown).is_err());
        let two = [runs("a", 0, 50.0), runs("b", 1, 50.0)];
        assert_eq!(comparison(&two, |_| Vec::new()), None);
        assert_eq!(comparison(&[], |_| Vec::new()), None);
        // There is no interval if all jobs are in a single block.
        let day = |run| {
            let jobs = jobs(|_| 1.0, 50.0).into_iter();
            jobs.map(|(i, _, size, of)| (i, 0, size, of.map(|it| it * (1 + run) as f64))).collect()
        };
        let lead = comparison(&two, day).expect("two").lead();
        assert!(lead.contains("no interval, because the jobs cover fewer than 5 days"), "{lead}");
    }
}
