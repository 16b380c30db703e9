//! Published numbers of replicated streams: the rows of a table, the points they need, and
//! what they come to.

mod row;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::exchange::{pairs, with_swaps};
use super::{Check, Selection, Verdict, VerifyError};
use replay_core::metrics::estimate::{Estimate, StopRule, student_t};
use replay_experiment::RunContext;
use replay_experiment::shaken::CONFIDENCE;
use replay_experiment::stream::{Estimates, Metric, estimate_unless};
pub use row::{Key, Row, rows};

/// Seed of every published stream.
const SEED: u64 = 1;

/// The points of a suite, each estimated once; or a view of them, with two strategies exchanged or
/// without some of their replications.
#[derive(Clone)]
pub struct Runs<'a> {
    /// Those of equal replications, which can be compared one by one.
    estimates: Rc<BTreeMap<Key<'a>, Estimates>>,
    /// The same, with more replications of points whose rows they leave undecided.
    decided: Rc<BTreeMap<Key<'a>, Estimates>>,
    exchanged: Option<[&'a str; 2]>,
}

impl<'a> Runs<'a> {
    /// Estimates the points of the rows and `more`. Quickly: a fixed few replications, and more of
    /// points without messages whose rows they leave undecided; in full: until turnaround and utilization are known to 5 %, as in the papers.
    pub fn new(
        rows: &'a [Row],
        more: impl IntoIterator<Item = Key<'a>>,
        selection: &Selection,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Self, VerifyError> {
        let of_rows = rows.iter().flat_map(|row| [row.key(), row.baseline()]);
        let keys: BTreeSet<Key<'_>> = of_rows.chain(more).collect();
        let count = keys.len();
        let mut estimates = BTreeMap::new();
        for key in keys {
            let rule = rule(&key, selection.full)?;
            let watch = RunContext::new(&selection.stop);
            let point = key.point()?;
            estimates.insert(key, estimate_unless(watch, &point, SEED, &rule, &WATCHED)?);
            if estimates.len() % 20 == 0 || estimates.len() == count {
                progress(&format!("{} of {count} points", estimates.len()));
            }
        }
        let estimates = Rc::new(estimates);
        let mut runs = Self { decided: estimates.clone(), estimates, exchanged: None };
        for replications in MORE {
            runs.decide(rows, replications, selection, progress)?;
        }
        Ok(runs)
    }

    /// Replicates the points of undecided rows without messages so many times.
    fn decide(
        &mut self,
        rows: &'a [Row],
        replications: u64,
        selection: &Selection,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(), VerifyError> {
        let (mut keys, of_rows) = (BTreeSet::new(), self.of_rows());
        for row in rows.iter().filter(|row| !selection.full && row.network.is_empty()) {
            if row.check(&of_rows)?.verdict() == Verdict::Undecided {
                keys.extend([row.key(), row.baseline()]);
            }
        }
        let quick = StopRule::exactly(QUICK);
        keys.retain(|key| rule(key, false).is_ok_and(|rule| rule == quick));
        if keys.is_empty() {
            return Ok(());
        }
        progress(&format!("{} points again, {replications} times: undecided", keys.len()));
        let mut estimates = BTreeMap::clone(&self.decided);
        for key in keys {
            let (watch, rule) = (RunContext::new(&selection.stop), StopRule::exactly(replications));
            let again = estimate_unless(watch, &key.point()?, SEED, &rule, &WATCHED)?;
            estimates.insert(key, again);
        }
        self.decided = Rc::new(estimates);
        Ok(())
    }

    /// What rows are judged by.
    fn of_rows(&self) -> Self {
        Self { estimates: self.decided.clone(), ..self.clone() }
    }

    fn at<'k>(&'k self, key: &Key<'k>) -> Result<&'k Estimates, VerifyError> {
        let all: &BTreeMap<Key<'k>, Estimates> = &self.estimates;
        let other = self.exchanged.and_then(|[a, b]| match key.strategy {
            strategy if strategy == a => all.get(&Key { strategy: b, ..*key }),
            strategy if strategy == b => all.get(&Key { strategy: a, ..*key }),
            _ => None,
        });
        let missing = || VerifyError::Table(format!("{key:?} was not run"));
        other.or_else(|| all.get(key)).ok_or_else(missing)
    }

    /// A metric at one of the points.
    pub fn of(&self, key: &Key<'_>, metric: Metric) -> Result<Estimate, VerifyError> {
        Ok(self.at(key)?.of(metric))
    }

    /// A metric at one of the points over that at another, with the interval of paired
    /// replications.
    pub fn ratio(
        &self,
        key: &Key<'_>,
        base: &Key<'_>,
        metric: Metric,
    ) -> Result<Estimate, VerifyError> {
        Ok(self.at(key)?.ratio(self.at(base)?, metric))
    }

    /// The mean of a metric at one of the points.
    pub fn mean(&self, key: &Key<'_>, metric: Metric) -> Result<f64, VerifyError> {
        Ok(self.of(key, metric)?.mean)
    }

    /// The rows beside our estimates, with what they would come to if strategies were exchanged.
    pub fn checks(&self, rows: &[Row]) -> Result<Vec<Check>, VerifyError> {
        let judged = |runs: &Self| rows.iter().map(|row| row.check(runs)).collect();
        let of_rows = self.of_rows();
        of_rows.swapped(judged(&of_rows)?, |runs, _| judged(runs))
    }

    /// Claims about these points, as `claims` makes them of any view of the runs: their intervals, and
    /// what they would come to if strategies were exchanged.
    ///
    /// The intervals are those of a grouped jackknife, t √((g - 1) / g Σ (without group i - with all)²)
    /// over g groups of replications: for any number that follows from means over paired replications,
    /// a ratio, a difference or the largest of several.
    pub fn claims(
        &self,
        claims: impl Fn(&Self) -> Result<Vec<Check>, VerifyError>,
    ) -> Result<Vec<Check>, VerifyError> {
        let most = self.estimates.values().map(|estimates| estimates.replications).max();
        let groups = most.unwrap_or(0).min(GROUPS) as usize;
        let parts: Vec<Self> = (0..groups).map(|group| self.without(group, groups)).collect();
        let t = student_t(CONFIDENCE, groups.saturating_sub(1) as u64);
        let with_intervals = |exchanged: Option<[&'a str; 2]>| {
            let view = |runs: &Self| claims(&Self { exchanged, ..runs.clone() });
            let mut whole = view(self)?;
            let mut squares = vec![0.0; whole.len()];
            for part in &parts {
                for ((sum, all), without) in squares.iter_mut().zip(&whole).zip(view(part)?) {
                    if let (Some(all), Some(without)) = (all.value(), without.value()) {
                        *sum += (without - all).powi(2);
                    }
                }
            }
            let share = (groups as f64 - 1.0) / groups as f64;
            for (check, squares) in whole.iter_mut().zip(squares) {
                // Nothing that is the same without any of its replications has a width.
                check.margin = if squares > 0.0 { t * (share * squares).sqrt() } else { 0.0 };
            }
            Ok(whole)
        };
        self.swapped(with_intervals(None)?, |_, exchanged| with_intervals(Some(exchanged)))
    }

    /// The checks with what each comes to when two strategies are exchanged, if it then changes.
    fn swapped(
        &self,
        checks: Vec<Check>,
        judge: impl Fn(&Self, [&'a str; 2]) -> Result<Vec<Check>, VerifyError>,
    ) -> Result<Vec<Check>, VerifyError> {
        let strategies: BTreeSet<&'a str> = self.estimates.keys().map(|key| key.strategy).collect();
        // An indexing scheme is run for one claim, and no row is of it.
        let strategies: Vec<&'a str> =
            strategies.into_iter().filter(|name| !name.contains("index=")).collect();
        let exchanges = pairs(&strategies).filter(|[a, b]| plain(a) != plain(b));
        with_swaps(checks, exchanges, |pair| {
            judge(&Self { exchanged: Some(pair), ..self.clone() }, pair)
        })
    }

    /// The same points without a group of their replications.
    fn without(&self, group: usize, of: usize) -> Self {
        let less = |estimates: &Estimates| estimates.without(group, of);
        let estimates = self.estimates.iter().map(|(key, all)| (*key, less(all))).collect();
        Self { estimates: Rc::new(estimates), ..self.clone() }
    }
}

/// A strategy without its engine and its rule of splitting: another reading of a strategy is not another strategy.
fn plain(name: &str) -> String {
    let Some((strategy, parameters)) = name.split_once('[') else { return name.to_string() };
    let of_reading =
        |parameter: &&str| !["engine=", "splitting="].iter().any(|key| parameter.starts_with(key));
    let kept: Vec<&str> = parameters.trim_end_matches(']').split(',').filter(of_reading).collect();
    format!("{strategy}[{}]", kept.join(",")).trim_end_matches("[]").to_string()
}

/// Most groups of replications of a jackknife.
const GROUPS: u64 = 20;

/// How often a point is replicated at first.
fn rule(key: &Key<'_>, full: bool) -> Result<StopRule, VerifyError> {
    // Literal algorithms are slow, and what they count varies little.
    if key.point()?.allocator.name().get("engine") == Some("literal") {
        return Ok(StopRule::exactly(LITERAL));
    }
    Ok(match key.network {
        // As many runs as the report's, where they take seconds.
        "lo" => StopRule::exactly(match key.pattern {
            pattern if pattern.starts_with("all-to-all") && !full => 3,
            "n-body" if !full => 5,
            // Some means lie so near the bounds that ten do not tell.
            "multigrid" if full => 60,
            _ => 10,
        }),
        _ if full => StopRule::default(),
        _ => StopRule::exactly(QUICK),
    })
}

/// What is known to 5 % in the full form.
const WATCHED: [Metric; 3] = [Metric::FinishTime, Metric::Utilization, Metric::Turnaround];

/// Replications of the quick form.
const QUICK: u64 = 20;

/// Replications of points in the quick form whose rows fewer leave undecided.
const MORE: [u64; 2] = [60, 180];

/// Replications of literal algorithms in both forms.
const LITERAL: u64 = 4;

#[cfg(test)]
pub mod tests {
    use super::row::Relation;
    use super::*;

    #[test]
    fn a_reading_of_a_strategy_is_not_another_strategy() {
        for (name, expected) in [
            ("mbs", "mbs"),
            ("mbs[splitting=on-demand]", "mbs"),
            ("first-fit[engine=literal]", "first-fit"),
            ("mbs[splitting=on-demand,order=by-number]", "mbs[order=by-number]"),
            ("paging[size=1,walk=last-taken]", "paging[size=1,walk=last-taken]"),
        ] {
            assert_eq!(plain(name), expected);
        }
    }

    /// Every row names what can be run, and every number can be read.
    pub fn are_sound(rows: &[Row]) {
        for row in rows {
            for key in [row.key(), row.baseline()] {
                let point = key.point().expect("a point");
                point.allocator.build(&point.topology, 0).expect("it works there");
            }
            row.printed.parse::<f64>().expect("a number");
            assert_eq!(
                row.relation == Relation::Overlaps,
                row.printed_high.is_some(),
                "{}",
                row.id
            );
        }
    }
}
