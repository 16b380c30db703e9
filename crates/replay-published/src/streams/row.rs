//! A row of a table, and the point that it names.

use super::super::{Check, Measured, Sample, Tolerance, VerifyError};
use super::Runs;
use replay_core::metrics::estimate::Estimate;
use replay_core::topology::Topology;
use replay_core::workload::stochastic::{Arrivals, StochasticStream};
use replay_experiment::contention::Messages;
use replay_experiment::stream::{Life, Metric, Point};
use replay_network::traffic::{Pattern, Preset};

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
    /// What is printed of the baseline, of a [paired](Relation::Paired) row.
    #[serde(skip)]
    pub base_printed: Option<f64>,
    /// Whether rules or networks were chosen on the number; the file of the table sets it.
    #[serde(skip)]
    pub sample: Sample,
    /// Whether the text says it in words, and `printed` is our bound; the file of the table sets it.
    #[serde(skip)]
    pub is_claim: bool,
}

/// How a printed number relates to what is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// The mean itself.
    Value,
    /// In percent of the baseline.
    Of,
    /// The mean itself, compared as a percentage of the baseline, which is printed in another row: what
    /// both have in common cancels, and paired replications know the percentage better than either mean.
    Paired,
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
    let rows: Result<Vec<Row>, csv::Error> =
        csv::Reader::from_reader(table.as_bytes()).into_deserialize().collect();
    let mut rows = rows.map_err(|e| VerifyError::Table(e.to_string()))?;
    for at in 0..rows.len() {
        if rows[at].relation == Relation::Paired {
            rows[at].base_printed = Some(printed_baseline(&rows, &rows[at])?);
        }
    }
    Ok(rows)
}

/// What the table prints of the baseline of a paired row.
fn printed_baseline(rows: &[Row], of: &Row) -> Result<f64, VerifyError> {
    let is_base = |row: &&Row| {
        row.relation == Relation::Value && row.metric == of.metric && row.key() == of.baseline()
    };
    let printed = rows.iter().find(is_base).and_then(|row| row.printed.parse().ok());
    printed.ok_or_else(|| VerifyError::Table(format!("{}: no row of its baseline", of.id)))
}

/// One point as the tables write it. Without a network jobs have run times; behind the name of a network,
/// and a space, stands the [mapping](replay_network::traffic::Mapping) of ranks if it is not the default.
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
            let (network, mapping) = self.network.split_once(' ').unwrap_or((self.network, ""));
            let preset = Preset::ALL.iter().find(|(name, _)| *name == network);
            let (_, preset) = preset.ok_or_else(|| table("no such network"))?;
            let pattern = Pattern::named(self.pattern, *preset);
            let pattern = pattern.ok_or_else(|| table("no such pattern"))?;
            let mut messages = Messages::new(*preset, pattern).map_err(table)?;
            messages.options.flits = self.flits.parse().map_err(table)?;
            if !mapping.is_empty() {
                messages.options.mapping = mapping.parse().map_err(table)?;
            }
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
            Relation::Of | Relation::Paired => format!(" in % of {}", against()),
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

    fn streams(&self) -> String {
        let Self { machine, network, pattern, flits, sides, service, .. } = self;
        match network.as_str() {
            "" => format!("{machine} {sides} {service}"),
            name => {
                let ranks = name.split_once(' ').map(|(_, mapping)| mapping);
                let ranks = ranks.map_or(String::new(), |mapping| format!(", {mapping} ranks"));
                format!("{machine} {sides} {pattern} {flits} flits{ranks}")
            }
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

    /// Of a mean over jobs the same as a mean over packets.
    fn over_packets(&self, runs: &Runs<'_>) -> Result<Option<f64>, VerifyError> {
        let metric = match self.metric {
            Metric::MeanLatency => Metric::Latency,
            Metric::MeanBlocking => Metric::Blocking,
            _ => return Ok(None),
        };
        Ok(match self.relation {
            Relation::Paired => {
                Some(100.0 * runs.ratio(&self.key(), &self.baseline(), metric)?.mean)
            }
            _ => Some(runs.mean(&self.key(), metric)?),
        })
    }

    /// The row beside our estimates.
    pub(super) fn check(&self, runs: &Runs<'_>) -> Result<Check, VerifyError> {
        let metric = self.metric;
        let low: f64 = self.printed.parse().map_err(|_| {
            VerifyError::Table(format!("{}: \"{}\" is no number", self.id, self.printed))
        })?;
        let own = runs.of(&self.key(), metric)?;
        let ratio = runs.ratio(&self.key(), &self.baseline(), metric)?;
        let (ratio, ratio_margin) = (ratio.mean, 100.0 * ratio.half_width);
        let by = self.tolerance;
        let (printed, published) = match (self.relation, self.base_printed) {
            (Relation::Paired, Some(base)) => {
                let share = 100.0 * low / base;
                (format!("{share:.1}"), (10.0 * share).round() / 10.0)
            }
            // Of an interval nothing but the gap to it is compared.
            (Relation::Overlaps, _) => ("0".to_string(), 0.0),
            _ => (self.printed.clone(), low),
        };
        let (ours, margin, tolerance) = match self.relation {
            Relation::Value => (own.mean, own.half_width, Tolerance::Relative(by)),
            Relation::AtMost => (own.mean, own.half_width, Tolerance::AtMost(by)),
            Relation::Of | Relation::Paired => {
                (100.0 * ratio, ratio_margin, Tolerance::Relative(by))
            }
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
                let (gap, margin) = self.gap(&own, low);
                (gap, margin, Tolerance::Absolute(0.0))
            }
            Relation::RelativeError => (own.relative(), 0.0, Tolerance::Relative(by)),
        };
        let note = match self.relation {
            Relation::Paired if self.note.is_empty() => format!("printed: {}", self.printed),
            Relation::Paired => format!("printed: {}; {}", self.printed, self.note),
            _ => self.note.clone(),
        };
        let check = Check {
            suite: "",
            figure: self.figure.clone(),
            workload: self.streams(),
            log: Some(format!("{} x 1000 jobs", own.count)),
            what: self.what(),
            printed,
            published,
            ours: Measured::Judged(ours),
            margin,
            tolerance,
            note,
            is_claim: self.is_claim,
            known: None,
            swaps: Vec::new(),
            over_packets: self.over_packets(runs)?,
            sample: self.sample,
            printed_bound: false,
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

    #[test]
    fn a_paired_row_finds_what_is_printed_of_its_baseline() {
        let head = "id,figure,machine,network,pattern,flits,sides,service,load,scheduler,strategy,metric,\
                    relation,base_machine,base_service,base_scheduler,base_strategy,printed,\
                    tolerance,unjudged,known,known_why,note\n";
        let row = |id, strategy, relation, base, printed| {
            format!(
                "{id},f,8x8,lo,n-body,8,uniform,exponential,1,fcfs,{strategy},latency,{relation},,,,{base},\
                 {printed},0.1,,,,\n"
            )
        };
        let base = row("a", "random", "value", "", "40");
        let paired = row("b", "mbs", "paired", "random", "30");
        let table = rows(&format!("{head}{base}{paired}")).expect("a table");
        assert_eq!(table[1].base_printed, Some(40.0));
        assert_eq!(table[1].what(), "latency fcfs mbs load 1 in % of random");
        assert!(rows(&format!("{head}{paired}")).is_err());
    }

    #[test]
    fn a_network_may_name_its_ranks() {
        let key = |network| Key {
            machine: "8x8",
            network,
            pattern: "one-to-all",
            flits: "8",
            sides: "uniform",
            service: "exponential",
            load: "1",
            scheduler: "fcfs",
            strategy: "mbs",
        };
        let mapping = |network| {
            let point = key(network).point().expect("a point");
            point.messages().map(|messages| messages.options.mapping.to_string())
        };
        assert_eq!(mapping("bani-mohammad").as_deref(), Some("allocation"));
        assert_eq!(mapping("bani-mohammad row-major").as_deref(), Some("row-major"));
        assert!(key("bani-mohammad sideways").point().is_err());
    }
}
