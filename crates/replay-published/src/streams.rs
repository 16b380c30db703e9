//! Published numbers of replicated job streams. This module computes the estimates of the points that rows need, and
//! the checks of rows and claims.

mod row;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::exchange::{pairs, with_swaps};
use super::{Check, LITERAL_ENGINE, Selection, Verdict, VerifyError};
use replay_engine::metrics::estimate::{Estimate, StopRule, student_t};
use replay_experiment::RunContext;
use replay_experiment::shaken::CONFIDENCE;
use replay_experiment::stream::{Estimates, Metric, estimate};
pub use row::{Key, Row, rows};

/// Seed of every published stream.
const SEED: u64 = 1;

/// Estimates of all points of a suite. In a view of these estimates, two strategies are exchanged or some replications
/// are missing.
#[derive(Clone)]
pub struct Runs<'a> {
    /// Estimates of all points. All points have equal numbers of replications, so that replications can be paired.
    estimates: Rc<BTreeMap<Key<'a>, Estimates>>,
    /// Estimates of all points, with more replications at the points of undecided rows.
    decided: Rc<BTreeMap<Key<'a>, Estimates>>,
    exchanged: Option<[&'a str; 2]>,
}

impl<'a> Runs<'a> {
    /// Computes the estimates of the points of the rows and of the points in `more`.
    ///
    /// The quick form has a fixed number of replications. If rows without messages are undecided, their points are
    /// replicated more often. The full form replicates until the half-widths of turnaround and utilization are at most
    /// 5 %, as in the papers.
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
            let context = RunContext::new(&selection.stop);
            let point = key.point()?;
            estimates.insert(key, estimate(context, &point, SEED, &rule, &WATCHED)?);
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

    /// Repeats the estimates of the points of undecided rows without messages, with `replications` replications.
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
        progress(&format!(
            "replicating {} points of undecided rows {replications} times",
            keys.len()
        ));
        let mut estimates = BTreeMap::clone(&self.decided);
        for key in keys {
            let (context, rule) =
                (RunContext::new(&selection.stop), StopRule::exactly(replications));
            let again = estimate(context, &key.point()?, SEED, &rule, &WATCHED)?;
            estimates.insert(key, again);
        }
        self.decided = Rc::new(estimates);
        Ok(())
    }

    /// Returns a view with the estimates that are used to judge rows.
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

    /// Returns the estimate of a metric at a point.
    pub fn of(&self, key: &Key<'_>, metric: Metric) -> Result<Estimate, VerifyError> {
        Ok(self.at(key)?.of(metric))
    }

    /// Returns the ratio of a metric at one point to the metric at another point, with the interval of paired
    /// replications.
    pub fn ratio(
        &self,
        key: &Key<'_>,
        base: &Key<'_>,
        metric: Metric,
    ) -> Result<Estimate, VerifyError> {
        Ok(self.at(key)?.ratio(self.at(base)?, metric))
    }

    /// Returns the mean of a metric at a point.
    pub fn mean(&self, key: &Key<'_>, metric: Metric) -> Result<f64, VerifyError> {
        Ok(self.of(key, metric)?.mean)
    }

    /// Computes the checks of rows, and the values of the checks after two strategies have been exchanged.
    pub fn checks(&self, rows: &[Row]) -> Result<Vec<Check>, VerifyError> {
        let judged = |runs: &Self| rows.iter().map(|row| row.check(runs)).collect();
        let of_rows = self.of_rows();
        of_rows.swapped(judged(&of_rows)?, |runs, _| judged(runs))
    }

    /// Computes the checks of claims with their intervals, and the values of the checks after two strategies have been
    /// exchanged. `claims` computes the claims from a view of the runs.
    ///
    /// The intervals are computed by a grouped jackknife over g groups of replications. The half-width of an interval
    /// is t √((g - 1) / g Σ (value without group i - value with all groups)²), where the sum is over all groups i. This
    /// method applies to any number that is computed from means over paired replications: a ratio, a difference, or the
    /// largest of several numbers.
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
                // A number that does not depend on the replications is exact.
                check.margin = if squares > 0.0 { t * (share * squares).sqrt() } else { 0.0 };
            }
            Ok(whole)
        };
        self.swapped(with_intervals(None)?, |_, exchanged| with_intervals(Some(exchanged)))
    }

    /// Adds to each check its value after each exchange of two strategies. Values that do not change are omitted.
    fn swapped(
        &self,
        checks: Vec<Check>,
        judge: impl Fn(&Self, [&'a str; 2]) -> Result<Vec<Check>, VerifyError>,
    ) -> Result<Vec<Check>, VerifyError> {
        let strategies: BTreeSet<&'a str> = self.estimates.keys().map(|key| key.strategy).collect();
        // Indexing schemes are run only for one claim and have no rows.
        let strategies: Vec<&'a str> =
            strategies.into_iter().filter(|name| !name.contains("index=")).collect();
        let exchanges = pairs(&strategies).filter(|[a, b]| plain(a) != plain(b));
        with_swaps(checks, exchanges, |pair| {
            judge(&Self { exchanged: Some(pair), ..self.clone() }, pair)
        })
    }

    /// Returns a view in which one group of replications is removed from every point.
    fn without(&self, group: usize, of: usize) -> Self {
        let less = |estimates: &Estimates| estimates.without(group, of);
        let estimates = self.estimates.iter().map(|(key, all)| (*key, less(all))).collect();
        Self { estimates: Rc::new(estimates), ..self.clone() }
    }
}

/// Returns the name of a strategy without the parameters for its engine and its splitting rule. Strategies that differ
/// only in these parameters are readings of the same strategy and are not exchanged.
fn plain(name: &str) -> String {
    let Some((strategy, parameters)) = name.split_once('[') else { return name.to_string() };
    let of_reading =
        |parameter: &&str| !["engine=", "splitting="].iter().any(|key| parameter.starts_with(key));
    let kept: Vec<&str> = parameters.trim_end_matches(']').split(',').filter(of_reading).collect();
    format!("{strategy}[{}]", kept.join(",")).trim_end_matches("[]").to_string()
}

/// Maximum number of groups of replications in a jackknife.
const GROUPS: u64 = 20;

/// Returns the stop rule for the first replications of a point. After the first replications, the points of undecided
/// rows are replicated more often.
fn rule(key: &Key<'_>, full: bool) -> Result<StopRule, VerifyError> {
    // Literal algorithms are slow, and the number of operations varies little between replications.
    if key.strategy.ends_with(LITERAL_ENGINE) {
        return Ok(StopRule::exactly(LITERAL));
    }
    Ok(match key.network {
        // Use the number of replications of the report, unless the replications take too long.
        "lo" => StopRule::exactly(match key.pattern {
            pattern if pattern.starts_with("all-to-all") && !full => 3,
            "n-body" if !full => 5,
            // With ten replications, means that are close to the bounds are undecided.
            "multigrid" if full => 60,
            _ => 10,
        }),
        _ if full => StopRule::default(),
        _ => StopRule::exactly(QUICK),
    })
}

/// In the full form, the half-widths of these metrics are at most 5 %.
const WATCHED: [Metric; 3] = [Metric::FinishTime, Metric::Utilization, Metric::Turnaround];

/// Number of replications of the quick form.
const QUICK: u64 = 20;

/// Increased numbers of replications in the quick form, for points of rows that are undecided with fewer replications.
const MORE: [u64; 2] = [60, 180];

/// Number of replications of literal algorithms in both forms.
const LITERAL: u64 = 4;

#[cfg(test)]
mod tests {
    use super::row::Relation;
    use super::*;
    use crate::{Sample, bani_mohammad, bani_mohammad_messages, lo, lo_messages};

    #[test]
    fn readings_of_one_strategy_are_not_exchanged() {
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

    #[test]
    fn every_row_is_readable_and_names_a_known_point() {
        let outside: fn(&Row) -> Sample = |_| Sample::Outside;
        for (table, sample, [count, fitted]) in [
            (lo::TABLE, lo::sample as fn(&Row) -> Sample, [32, 20]),
            // Table 2 has four measures for each of seven strategies and five patterns. The dispersal of First Fit is
            // not a row.
            (lo_messages::TABLE, outside, [5 * (4 * 7 - 1), 0]),
            (bani_mohammad::TABLE, bani_mohammad::sample, [92, 7]),
            (bani_mohammad_messages::TABLE, outside, [88, 0]),
        ] {
            let rows = rows(table).expect("a readable table");
            assert_eq!(rows.len(), count);
            assert_eq!(rows.iter().filter(|row| sample(row) == Sample::Fitted).count(), fitted);
            for row in rows {
                for key in [row.key(), row.baseline()] {
                    let point = key.point().expect("a point");
                    point.allocator.build(&point.topology, 0).expect("supported there");
                }
                row.printed.parse::<f64>().expect("a number");
                let is_interval = row.relation == Relation::Overlaps;
                assert_eq!(is_interval, row.printed_high.is_some(), "{}", row.id);
            }
        }
    }
}
