//! Published numbers of replicated streams: the rows of a table, the points they need, and
//! what they come to.

use std::collections::{BTreeMap, BTreeSet};

use super::{Check, NotRun, Ours, Selection, Tolerance, VerifyError};
use crate::experiment::Watch;
use crate::experiment::contention::Messages;
use crate::experiment::stream::{Estimates, Life, Metric, Point, estimate_unless};
use crate::metrics::estimate::{Estimate, StopRule};
use crate::network::traffic::{Pattern, Preset};
use crate::topology::Topology;
use crate::workload::stochastic::{Arrivals, StochasticStream};

/// Seed of every published stream.
const SEED: u64 = 1;

/// A published number of a stream. A baseline field left empty is that of the row itself.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct Row {
    pub id: String,
    pub figure: String,
    pub machine: String,
    pub network: String,
    pub pattern: String,
    pub flits: String,
    pub sides: String,
    pub service: String,
    pub load: String,
    pub scheduler: String,
    pub strategy: String,
    pub metric: Metric,
    pub relation: Relation,
    pub base_machine: String,
    pub base_service: String,
    pub base_scheduler: String,
    pub base_strategy: String,
    pub printed: String,
    pub tolerance: f64,
    /// Why the number is shown but not judged, if it is not.
    pub unjudged: String,
    pub note: String,
}

/// How a printed number relates to what is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// The mean itself.
    Value,
    /// In percent of the baseline.
    Of,
    /// Percent more than the baseline.
    Above,
    /// Percent less than the baseline.
    Below,
    /// An upper bound of the mean.
    AtMost,
}

/// Reads a table of rows.
pub fn rows(table: &str) -> Result<Vec<Row>, VerifyError> {
    let rows: Result<_, csv::Error> =
        csv::Reader::from_reader(table.as_bytes()).into_deserialize().collect();
    rows.map_err(|e| VerifyError::Table(e.to_string()))
}

/// One point as the tables write it. Without a network jobs have run times.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Key<'a> {
    pub machine: &'a str,
    pub network: &'a str,
    pub pattern: &'a str,
    pub flits: &'a str,
    pub sides: &'a str,
    pub service: &'a str,
    pub load: &'a str,
    pub scheduler: &'a str,
    pub strategy: &'a str,
}

impl Key<'_> {
    fn point(&self) -> Result<Point, VerifyError> {
        fn table(e: impl std::fmt::Display) -> VerifyError {
            VerifyError::Table(e.to_string())
        }
        let topology: Topology = self.machine.parse().map_err(table)?;
        let load: f64 = self.load.parse().map_err(table)?;
        let mut stream = StochasticStream {
            arrivals: Arrivals::Exponential { mean: 1.0 / load },
            sides: self.sides.parse().map_err(table)?,
            service: self.service.parse().map_err(table)?,
            ..StochasticStream::new(topology.extents())
        };
        let mut life = Life::RunTimes;
        if !self.network.is_empty() {
            let preset = Preset::ALL.iter().find(|(name, _)| *name == self.network);
            let (_, preset) = preset.ok_or_else(|| table("no such network"))?;
            let pattern = Pattern::named(self.pattern, *preset);
            let pattern = pattern.ok_or_else(|| table("no such pattern"))?;
            let mut messages = Messages::new(*preset, pattern).map_err(table)?;
            messages.options.flits = self.flits.parse().map_err(table)?;
            stream.ticks_per_unit = 1;
            life = Life::Messages(messages);
        }
        Ok(Point {
            stream,
            scheduler: self.scheduler.parse().map_err(table)?,
            allocator: self.strategy.parse().map_err(table)?,
            life,
            counting: Default::default(),
            topology,
        })
    }
}

impl Row {
    /// The point of the row.
    pub fn key(&self) -> Key<'_> {
        Key {
            machine: &self.machine,
            network: &self.network,
            pattern: &self.pattern,
            flits: &self.flits,
            sides: &self.sides,
            service: &self.service,
            load: &self.load,
            scheduler: &self.scheduler,
            strategy: &self.strategy,
        }
    }

    /// The point it is compared with.
    fn baseline(&self) -> Key<'_> {
        fn or<'a>(own: &'a str, base: &'a str) -> &'a str {
            if base.is_empty() { own } else { base }
        }
        Key {
            machine: or(&self.machine, &self.base_machine),
            service: or(&self.service, &self.base_service),
            scheduler: or(&self.scheduler, &self.base_scheduler),
            strategy: or(&self.strategy, &self.base_strategy),
            ..self.key()
        }
    }

    fn what(&self) -> String {
        let Self { metric, scheduler, strategy, load, .. } = self;
        let metric = metric.words();
        let base = self.baseline();
        let against = || {
            let differs = [
                (base.strategy, self.strategy.as_str()),
                (base.scheduler, &self.scheduler),
                (base.machine, &self.machine),
                (base.service, &self.service),
            ];
            let named = differs.into_iter().filter(|(base, own)| base != own).map(|(base, _)| base);
            named.collect::<Vec<_>>().join(" ")
        };
        let relation = match self.relation {
            Relation::Value => String::new(),
            Relation::Of => format!(" in % of {}", against()),
            Relation::Above => format!(" % above {}", against()),
            Relation::Below => format!(" % below {}", against()),
            Relation::AtMost => " at most".to_string(),
        };
        format!("{metric} {scheduler} {strategy} load {load}{relation}")
    }

    /// The row with nothing beside it.
    pub fn not_run(&self, why: NotRun) -> Result<Check, VerifyError> {
        let check = claim(
            &self.figure,
            &self.streams(),
            &self.what(),
            &self.printed,
            f64::NAN,
            Tolerance::Relative(self.tolerance),
        )?;
        Ok(Check { ours: Ours::NotRun(why), note: self.note.clone(), ..check })
    }

    fn streams(&self) -> String {
        let Self { machine, network, pattern, flits, sides, service, .. } = self;
        match network.as_str() {
            "" => format!("{machine} {sides} {service}"),
            _ => format!("{machine} {sides} {pattern} {flits} flits"),
        }
    }

    /// The row beside our estimates.
    fn check(&self, runs: &Runs<'_>) -> Result<Check, VerifyError> {
        let metric = self.metric;
        let published: f64 = self.printed.parse().map_err(|_| {
            VerifyError::Table(format!("{}: \"{}\" is no number", self.id, self.printed))
        })?;
        let own = runs.of(&self.key(), metric)?;
        let ratio = runs.ratio(&self.key(), &self.baseline(), metric)?;
        let (ratio, ratio_margin) = (ratio.mean, 100.0 * ratio.half_width);
        let by = self.tolerance;
        let (ours, margin, tolerance) = match self.relation {
            Relation::Value => (own.mean, own.half_width, Tolerance::Relative(by)),
            Relation::AtMost => (own.mean, own.half_width, Tolerance::AtMost(by)),
            Relation::Of => (100.0 * ratio, ratio_margin, Tolerance::Relative(by)),
            Relation::Above => (
                100.0 * (ratio - 1.0),
                ratio_margin,
                Tolerance::Absolute(rounded(by * (100.0 + published))),
            ),
            Relation::Below => (
                100.0 * (1.0 - ratio),
                ratio_margin,
                Tolerance::Absolute(rounded(by * (100.0 - published))),
            ),
        };
        let check = Check {
            figure: self.figure.clone(),
            workload: self.streams(),
            log: Some(format!("{} x 1000 jobs", own.count)),
            what: self.what(),
            printed: self.printed.clone(),
            published,
            ours: Ours::Judged(ours),
            margin,
            tolerance,
            note: self.note.clone(),
            is_claim: false,
        };
        Ok(if self.unjudged.is_empty() { check } else { check.not_judged(&self.unjudged) })
    }
}

/// The points of a suite, each estimated once.
pub struct Runs<'a> {
    estimates: BTreeMap<Key<'a>, Estimates>,
}

impl<'a> Runs<'a> {
    /// Estimates the points of the rows and `more`. Quickly: a fixed few replications; in
    /// full: until turnaround and utilization are known to 5 %, as in the papers.
    pub fn new(
        rows: &'a [Row],
        more: impl IntoIterator<Item = Key<'a>>,
        selection: &Selection,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Self, VerifyError> {
        let quick = |replications| match selection.full {
            true => StopRule::default(),
            false => StopRule::exactly(replications),
        };
        let watched = [Metric::FinishTime, Metric::Utilization, Metric::Turnaround];
        let of_rows = rows.iter().flat_map(|row| [row.key(), row.baseline()]);
        let keys: BTreeSet<Key<'_>> = of_rows.chain(more).collect();
        let count = keys.len();
        let mut estimates = BTreeMap::new();
        for key in keys {
            let point = key.point()?;
            // Literal algorithms are slow, and what they count varies little.
            let literal = point.allocator.name().get("engine") == Some("literal");
            let rule = match (literal, key.network) {
                (true, _) => StopRule::exactly(LITERAL),
                (_, "") => quick(QUICK),
                // As many runs as the report's, where they take seconds.
                (_, "lo") => StopRule::exactly(match key.pattern {
                    "all-to-all" if !selection.full => 3,
                    "n-body" if !selection.full => 5,
                    // Some means lie so near the bounds that ten do not tell.
                    "multigrid" if selection.full => 60,
                    _ => 10,
                }),
                _ => quick(QUICK),
            };
            let watch = Watch::new(&selection.stop);
            estimates.insert(key, estimate_unless(watch, &point, SEED, &rule, &watched)?);
            if estimates.len() % 20 == 0 || estimates.len() == count {
                progress(&format!("{} of {count} points", estimates.len()));
            }
        }
        Ok(Self { estimates })
    }

    fn at(&self, key: &Key<'_>) -> Result<&Estimates, VerifyError> {
        let missing = || VerifyError::Table(format!("{key:?} was not run"));
        self.estimates.iter().find(|(known, _)| *known == key).map(|(_, e)| e).ok_or_else(missing)
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

    /// The rows beside our estimates.
    pub fn checks(&self, rows: &[Row]) -> Result<Vec<Check>, VerifyError> {
        rows.iter().map(|row| row.check(self)).collect()
    }
}

/// To six digits after the decimal point, as tolerances are shown.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// Replications of the quick form.
const QUICK: u64 = 20;

/// Replications of literal algorithms in both forms.
const LITERAL: u64 = 4;

/// A claim in words as a comparison of one number with a bound.
pub fn claim(
    figure: &str,
    streams: &str,
    what: &str,
    bound: &str,
    ours: f64,
    tolerance: Tolerance,
) -> Result<Check, VerifyError> {
    let published =
        bound.parse().map_err(|_| VerifyError::Table(format!("\"{bound}\" is no number")))?;
    Ok(Check {
        figure: figure.to_string(),
        workload: streams.to_string(),
        log: None,
        what: what.to_string(),
        printed: bound.to_string(),
        published,
        ours: Ours::Judged(ours),
        margin: 0.0,
        tolerance,
        note: String::new(),
        is_claim: true,
    })
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Every row names what can be run, and every number can be read.
    pub fn are_sound(rows: &[Row]) {
        for row in rows {
            for key in [row.key(), row.baseline()] {
                let point = key.point().expect("a point");
                point.allocator.build(&point.topology, 0).expect("it works there");
            }
            row.printed.parse::<f64>().expect("a number");
        }
    }
}
