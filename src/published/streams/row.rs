//! A row of a table, and the point that it names.

use super::super::claim::claim;
use super::super::{Check, NotRun, Ours, Tolerance, VerifyError};
use super::Runs;
use crate::experiment::contention::Messages;
use crate::experiment::stream::{Life, Metric, Point};
use crate::metrics::estimate::Estimate;
use crate::network::traffic::{Pattern, Preset};
use crate::topology::Topology;
use crate::workload::stochastic::{Arrivals, StochasticStream};

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
    /// The upper end, where an interval is printed.
    #[serde(default)]
    pub printed_high: Option<f64>,
    pub tolerance: f64,
    /// Why the number is shown but not judged, if it is not.
    pub unjudged: String,
    /// Our number, if it is known to be beyond the tolerance.
    pub known: Option<f64>,
    /// What is thought of the reason.
    pub known_why: String,
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
    /// The ends of its 95 % interval: ours must have a value in common with it.
    Overlaps,
    /// Half the width of its 95 % interval over the mean.
    RelativeError,
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
    pub(super) fn point(&self) -> Result<Point, VerifyError> {
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
    pub(super) fn baseline(&self) -> Key<'_> {
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
            Relation::Overlaps => {
                let high = self.printed_high.unwrap_or(f64::NAN);
                format!(": gap between our interval and the printed {} to {high}, %", self.printed)
            }
            Relation::RelativeError => ": relative error".to_string(),
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

    /// How far our interval is from the printed one, which begins at `low`, in percent of the latter's
    /// middle: 0 if they have a value in common. Any interval meets one that is wide enough: where ours reaches
    /// farther than the tolerance of the mean, that is the gap's own margin, and it decides nothing.
    fn gap(&self, own: &Estimate, low: f64) -> (f64, f64) {
        let high = self.printed_high.unwrap_or(low);
        let middle = (low + high) / 2.0;
        let [from, to] = own.interval();
        let gap = (low - to).max(from - high).max(0.0);
        let is_wide = own.half_width > self.tolerance * middle;
        let margin = if is_wide { own.half_width } else { 0.0 };
        (100.0 * gap / middle, 100.0 * margin / middle)
    }

    /// The row beside our estimates.
    pub(super) fn check(&self, runs: &Runs<'_>) -> Result<Check, VerifyError> {
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
            Relation::Overlaps => {
                let (gap, margin) = self.gap(&own, published);
                (gap, margin, Tolerance::Absolute(0.0))
            }
            Relation::RelativeError => (own.relative(), 0.0, Tolerance::Relative(by)),
        };
        // Of an interval nothing but the gap to it is compared.
        let is_gap = self.relation == Relation::Overlaps;
        let check = Check {
            figure: self.figure.clone(),
            workload: self.streams(),
            log: Some(format!("{} x 1000 jobs", own.count)),
            what: self.what(),
            printed: if is_gap { "0".to_string() } else { self.printed.clone() },
            published: if is_gap { 0.0 } else { published },
            ours: Ours::Judged(ours),
            margin,
            tolerance,
            note: self.note.clone(),
            is_claim: false,
            known: None,
            swaps: Vec::new(),
        };
        let check = match self.known {
            Some(ours) => check.known(ours, &self.known_why),
            None => check,
        };
        Ok(if self.unjudged.is_empty() { check } else { check.not_judged(&self.unjudged) })
    }
}

/// To six digits after the decimal point, as tolerances are shown.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_meets_the_printed_one_or_misses_it_by_a_share_of_its_middle() {
        let table = "id,figure,machine,network,pattern,flits,sides,service,load,scheduler,strategy,metric,\
                     relation,base_machine,base_service,base_scheduler,base_strategy,printed,printed_high,\
                     tolerance,unjudged,known,known_why,note\n\
                     a,f,8x8,,,,uniform,exponential,1,fcfs,mbs,turnaround,overlaps,,,,,90,110,0.2,,,,\n";
        let rows = super::super::rows(table).expect("a table");
        let gap = |mean, half_width| rows[0].gap(&Estimate { count: 20, mean, half_width }, 90.0);
        assert_eq!(gap(100.0, 1.0), (0.0, 0.0));
        assert_eq!(gap(80.0, 10.0), (0.0, 0.0));
        assert_eq!(gap(70.0, 5.0), (15.0, 0.0));
        assert_eq!(gap(130.0, 10.0), (10.0, 0.0));
        // An interval wider than the tolerance meets anything, and says nothing.
        assert_eq!(gap(130.0, 25.0), (0.0, 25.0));
    }
}
