//! What the jobs of two strategies tell of the difference between them.

use replay_core::metrics::blocks::FEWEST;
use replay_core::number::fixed;
use replay_core::table::{Name, name};
use replay_experiment::compare::{Compared, JobRow, Pairs, REPLAYED, correct};

/// Strategies behind the first that it is compared with at most.
const MOST: usize = 12;

/// What every comparison of a page rests on.
pub const METHOD: &str = "95 % intervals: Student's t over weeks of submission, or over days where there are fewer than \
     eight weeks, of the jobs that both have. Verdicts are corrected by Holm's method for all pairs of \
     strategies, since the first is chosen by the same jobs; ~ where the difference is not significant.";

/// A strategy of a setting: its name, and its runs with the seed of each.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Runs {
    /// Its name.
    pub name: String,
    /// Seed and number of each of its runs.
    pub runs: Vec<(String, i64)>,
    /// The mean wait and the mean turnaround of each of its runs, as the table has them.
    pub times: Vec<[String; 2]>,
    /// Whether jobs ran on fewer processors than they asked for.
    pub folds: bool,
}

impl Runs {
    fn turnaround(&self) -> f64 {
        let values = self.times.iter().filter_map(|[_, turnaround]| turnaround.parse::<f64>().ok());
        let (count, sum) = values.fold((0u32, 0.0), |(n, sum), value| (n + 1, sum + value));
        if count == 0 { f64::INFINITY } else { sum / f64::from(count) }
    }
}

/// The first strategy of a setting against those behind it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TopStrategyComparison {
    /// Mean pairwise L1 against each of those that follow, up to one that it is told from.
    pairwise: Vec<Compared>,
    /// Mean distance against the next.
    distance: Option<Compared>,
    /// Turnaround and wait against the one of the others with the shortest turnaround; `None` if all wait equally long.
    times: Option<[Compared; 2]>,
    /// How many strategies there are.
    strategies: usize,
}

impl TopStrategyComparison {
    /// Compares the first with the others, which stand in their order; `jobs` gives those of a run.
    ///
    /// # Errors
    /// Those of `jobs`.
    pub fn of<E>(
        ranked: &[Runs],
        mut jobs: impl FnMut(i64) -> Result<Vec<JobRow>, E>,
    ) -> Result<Option<Self>, E> {
        let [first, others @ ..] = ranked else { return Ok(None) };
        let own: Vec<(&str, Vec<JobRow>)> = first
            .runs
            .iter()
            .map(|(seed, run)| Ok((seed.as_str(), jobs(*run)?)))
            .collect::<Result<_, E>>()?;
        let mut pairs = |other: &Runs| {
            let mut pairs = Pairs::default();
            for (seed, run) in &other.runs {
                if let Some((_, own)) = own.iter().find(|(one, _)| one == seed) {
                    pairs.extend(Pairs::new(&jobs(*run)?, own));
                }
            }
            Ok::<_, E>(pairs)
        };
        let compare = |pairs: &Pairs, other: &Runs, measure: Name| {
            let at = REPLAYED.measures.iter().position(|one| *one == measure)?;
            let all = [1, i64::MAX];
            let compared = pairs.compare([&other.name, &first.name], (&REPLAYED, at), all);
            (compared.jobs > 0).then_some(compared)
        };
        let mut told = Self { strategies: ranked.len(), ..Self::default() };
        for (place, other) in others.iter().take(MOST).enumerate() {
            let pairs = pairs(other)?;
            let Some(pairwise) = compare(&pairs, other, name::pairwise_l1) else { return Ok(None) };
            if place == 0 {
                told.distance = compare(&pairs, other, name::distance);
            }
            told.pairwise.push(pairwise);
        }
        // The first is chosen by its mean, so that any pair of strategies may be the one compared.
        let family = ranked.len() * others.len() / 2;
        correct(&mut told.pairwise, family);
        let apart = told.pairwise.iter().position(|one| one.verdict() == "better");
        told.pairwise.truncate(apart.map_or(MOST, |place| place + 1));
        if let Some(distance) = &mut told.distance {
            correct([distance], family);
        }
        let fastest = others.iter().min_by(|a, b| a.turnaround().total_cmp(&b.turnaround()));
        if let Some(fastest) = fastest.filter(|_| others.iter().any(|one| one.times != first.times))
        {
            let pairs = pairs(fastest)?;
            told.times = compare(&pairs, fastest, name::turnaround)
                .zip(compare(&pairs, fastest, name::wait))
                .map(<[_; 2]>::from);
            for one in told.times.iter_mut().flatten() {
                correct([one], family);
            }
        }
        Ok((!told.pairwise.is_empty()).then_some(told))
    }

    /// How the first is told from those behind it, to follow its mean.
    pub fn lead(&self) -> String {
        let (apart, alike): (Vec<_>, Vec<_>) =
            self.pairwise.iter().partition(|one| one.verdict() == "better");
        let distance = self.distance.as_ref().filter(|one| one.interval[0].is_finite());
        let distance = distance.map_or(String::new(), |one| {
            format!(", mean distance of its processors {}", change(one))
        });
        match (&alike[..], apart.first()) {
            ([], Some(next)) => format!(", {} than under {}{distance}", change(next), next.base),
            ([next, more @ ..], apart) => {
                let more = match more.len() {
                    0 => String::new(),
                    1 => format!(" nor from {}", more[0].base),
                    n => format!(" nor from {n} more"),
                };
                let apart = apart.map_or(String::new(), |one| {
                    format!("; the first that it is told from is {}: {}", one.base, change(one))
                });
                match next.verdict() {
                    "same" => format!(", the same for every job under {}{apart}", next.base),
                    _ => format!(
                        ", not told from {}{more}: {}{distance}{apart}",
                        next.base,
                        change(next)
                    ),
                }
            }
            ([], None) => String::new(),
        }
    }

    /// A sentence about waits and turnarounds.
    pub fn times(&self) -> String {
        match &self.times {
            None => format!(
                "Waits and turnarounds are the same under all {}: none of them changes the schedule.",
                self.strategies
            ),
            Some([turnaround, wait]) => format!(
                "Against {}, of the others the one with the shortest mean turnaround: turnaround {}, wait {}.",
                turnaround.base,
                change(turnaround),
                change(wait)
            ),
        }
    }
}

/// A change in words, with its interval.
fn change(of: &Compared) -> String {
    let [low, high] = of.interval;
    match of.verdict() {
        "same" => "the same for every job".to_string(),
        "better" => {
            format!(
                "{} % less (95 %: {} to {})",
                percent(-of.change),
                percent(-high),
                percent(-low)
            )
        }
        "worse" => {
            format!("{} % more (95 %: {} to {})", percent(of.change), percent(low), percent(high))
        }
        _ if of.blocks < FEWEST => {
            format!("~ (jobs of fewer than {FEWEST} days have no interval)")
        }
        _ if !low.is_finite() => "~".to_string(),
        _ => format!("~ ({} %, 95 %: {} to {})", signed(of.change), signed(low), signed(high)),
    }
}

/// Percent as `replay compare` writes them.
fn percent(value: f64) -> String {
    fixed(value, 2)
}

fn signed(value: f64) -> String {
    format!("{}{}", if value > 0.0 { "+" } else { "" }, percent(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400;

    /// Jobs of a hundred days by what each has of pairwise L1 and of turnaround.
    fn jobs(pairwise: fn(i64) -> f64, turnaround: f64) -> Vec<JobRow> {
        let job = |i: i64| JobRow {
            number: i,
            submit: i * DAY / 2,
            start: i * DAY / 2,
            size: 4,
            measures: JobRow::measures([
                turnaround - 10.0,
                turnaround,
                1.0,
                pairwise(i),
                pairwise(i) / 6.0,
            ]),
        };
        (0..200).map(job).collect()
    }

    fn runs(name: &str, run: i64, turnaround: &str) -> Runs {
        Runs {
            name: name.to_string(),
            runs: vec![("0".to_string(), run)],
            times: vec![[turnaround, turnaround].map(str::to_string)],
            folds: false,
        }
    }

    fn told(ranked: &[Runs]) -> TopStrategyComparison {
        // In one week more, in the next less.
        let noise = |i: i64| if i / 14 % 2 == 0 { 85.0 } else { 120.0 };
        let of = |run| match run {
            0 => Ok(jobs(|_| 100.0, 50.0)),
            1 => Ok(jobs(noise, 50.0)),
            2 => Ok(jobs(|_| 125.0, 40.0)),
            3 => Ok(jobs(|_| 100.0, 50.0)),
            _ => Err(run),
        };
        TopStrategyComparison::of(ranked, of).expect("runs that are there").expect("something")
    }

    #[test]
    fn who_leads_comes_with_an_interval() {
        let said = told(&[runs("a", 0, "50"), runs("c", 2, "50")]);
        assert_eq!(
            said.lead(),
            ", 20.00 % less (95 %: 20.00 to 20.00) than under c, mean distance of its processors 20.00 % less \
             (95 %: 20.00 to 20.00)"
        );
        assert_eq!(
            said.times(),
            "Waits and turnarounds are the same under all 2: none of them changes the schedule."
        );
    }

    #[test]
    fn what_cannot_be_told_is_said_with_the_first_that_can() {
        let said = told(&[runs("a", 0, "50"), runs("b", 1, "50"), runs("c", 2, "40")]);
        let lead = said.lead();
        assert!(lead.starts_with(", not told from b: ~ (-") && lead.contains("95 %: -"), "{lead}");
        assert!(
            lead.ends_with(
                "; the first that it is told from is c: 20.00 % less (95 %: 20.00 to 20.00)"
            ),
            "{lead}"
        );
        assert_eq!(
            said.times(),
            "Against c, of the others the one with the shortest mean turnaround: turnaround 25.00 % more (95 %: 25.00 \
             to 25.00), wait 33.33 % more (95 %: 33.33 to 33.33)."
        );
        let same = told(&[runs("a", 0, "50"), runs("d", 3, "50")]);
        assert_eq!(same.lead(), ", the same for every job under d");
    }

    /// Of ten strategies that differ by chance alone the best is rarely called better than another.
    #[test]
    fn the_best_of_identical_strategies_is_rarely_called_better() {
        use rand::{RngExt, SeedableRng};
        let reports = 400;
        let called = (0..reports).filter(|&report| {
            let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(report);
            let mut of: Vec<Vec<JobRow>> = (0..10)
                .map(|_| {
                    let mut jobs = jobs(|_| 100.0, 50.0);
                    jobs.iter_mut().for_each(|job| job.measures[3] *= 0.5 + rng.random::<f64>());
                    jobs
                })
                .collect();
            let sum = |jobs: &[JobRow]| jobs.iter().map(|job| job.measures[3]).sum::<f64>();
            of.sort_by(|a, b| sum(a).total_cmp(&sum(b)));
            let ranked: Vec<Runs> = (0..10).map(|run| runs("s", run, "50")).collect();
            let told =
                TopStrategyComparison::of(&ranked, |run| Ok::<_, ()>(of[run as usize].clone()));
            let told = told.expect("jobs").expect("several");
            told.pairwise.iter().any(|one| one.verdict() == "better")
        });
        let percent = 100.0 * called.count() as f64 / reports as f64;
        assert!(percent <= 8.0, "the best is called better in {percent} % of reports");
    }

    #[test]
    fn nothing_is_said_without_jobs_and_errors_are_passed_on() {
        assert_eq!(TopStrategyComparison::of(&[runs("a", 0, "1")], |_| Err(())), Err(()));
        let none = TopStrategyComparison::of(&[runs("a", 0, "1"), runs("b", 1, "1")], |_| {
            Ok::<_, ()>(Vec::new())
        });
        assert_eq!(none, Ok(None));
        assert_eq!(TopStrategyComparison::of(&[], |_| Ok::<_, ()>(Vec::new())), Ok(None));
        // Of one block nothing can be told.
        let day = |scale: f64| -> Vec<JobRow> {
            jobs(|_| 1.0, 50.0)
                .into_iter()
                .map(|job| JobRow {
                    submit: 0,
                    measures: job.measures.map(|value| value * scale),
                    ..job
                })
                .collect()
        };
        let of = |run| Ok::<_, ()>(day(1.0 + run as f64));
        let said =
            TopStrategyComparison::of(&[runs("a", 0, "50"), runs("b", 1, "50")], of).expect("jobs");
        assert!(said.expect("two").lead().contains("jobs of fewer than 5 days have no interval"));
    }
}
