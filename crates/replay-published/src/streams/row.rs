//! A row of a table of published numbers, and its point.

use super::super::{Check, Measured, Sample, Tolerance, VerifyError};
use super::Runs;
use crate::defect;
use replay_engine::metrics::estimate::Estimate;
use replay_engine::topology::Topology;
use replay_engine::workload::stochastic::{Arrivals, StochasticStream};
use replay_experiment::contention::Messages;
use replay_experiment::stream::{Life, Metric, Point};
use replay_network::traffic::{Pattern, Preset};

/// A published number of a job stream. If a field of the baseline is empty, the baseline has the same value as the row.
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
    /// Upper end of the printed interval, if an interval is printed.
    #[serde(default)]
    pub printed_high: Option<f64>,
    pub tolerance: f64,
    /// Reason why the number is shown but not judged; empty if it is judged.
    pub unjudged: String,
    /// Declared measured value, if the value is known to be beyond the tolerance.
    pub known: Option<f64>,
    /// Presumed reason of a declared difference.
    pub known_why: String,
    pub note: String,
    /// Printed number of the baseline of a [paired](Relation::Paired) row.
    #[serde(skip)]
    pub base_printed: Option<f64>,
    /// Whether rules and networks of replay were fitted to the number. The suite sets this field.
    #[serde(skip)]
    pub sample: Sample,
    /// Whether the text makes a claim in words. For a claim, `printed` is a bound that was chosen for replay. The suite
    /// sets this field.
    #[serde(skip)]
    pub is_claim: bool,
}

/// Relation of a printed number to the measured metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// The printed number is the mean.
    Value,
    /// The printed number is the mean in percent of the baseline.
    Of,
    /// The printed number is the mean. The mean is compared as a percentage of the baseline. Another row contains the
    /// printed number of the baseline. Errors that are common to the mean and the baseline cancel. Paired replications
    /// estimate the percentage more precisely than the mean or the baseline.
    Paired,
    /// The printed number is the percentage by which the mean is above the baseline.
    Above,
    /// The printed number is the percentage by which the mean is below the baseline.
    Below,
    /// The printed number is an upper bound of the mean.
    AtMost,
    /// The printed numbers are the ends of the 95 % interval of the mean. replay's interval must overlap this interval.
    Overlaps,
    /// The printed number is the ratio of the half-width of the 95 % interval to the mean.
    RelativeError,
}

/// Reads a table of rows.
///
/// # Errors
/// [`VerifyError::Table`] if a row is unreadable, or if the table has no row for the baseline of a paired row.
pub fn rows(table: &str) -> Result<Vec<Row>, VerifyError> {
    let rows: Result<Vec<Row>, csv::Error> =
        csv::Reader::from_reader(table.as_bytes()).into_deserialize().collect();
    let mut rows = rows.map_err(defect)?;
    for at in 0..rows.len() {
        if rows[at].relation == Relation::Paired {
            rows[at].base_printed = Some(printed_baseline(&rows, &rows[at])?);
        }
    }
    Ok(rows)
}

/// Returns the printed number of the baseline of a paired row.
fn printed_baseline(rows: &[Row], of: &Row) -> Result<f64, VerifyError> {
    let is_base = |row: &&Row| {
        row.relation == Relation::Value && row.metric == of.metric && row.key() == of.baseline()
    };
    let printed = rows.iter().find(is_base).and_then(|row| row.printed.parse().ok());
    printed.ok_or_else(|| {
        VerifyError::Table(format!("{}: the table has no row for the baseline", of.id))
    })
}

/// A point as written in the tables. If the network is empty, jobs have run times instead of messages. The name of the
/// network may be followed by a space and the [mapping](replay_network::traffic::Mapping) of ranks; without a mapping,
/// the default mapping is used.
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
        let topology: Topology = self.machine.parse().map_err(defect)?;
        let load: f64 = self.load.parse().map_err(defect)?;
        let mut stream = StochasticStream {
            arrivals: Arrivals::Exponential { mean: 1.0 / load },
            sides: self.sides.parse().map_err(defect)?,
            service: self.service.parse().map_err(defect)?,
            ..StochasticStream::new(topology.extents())
        };
        let mut life = Life::RunTimes;
        if !self.network.is_empty() {
            let (network, mapping) = self.network.split_once(' ').unwrap_or((self.network, ""));
            let preset = Preset::ALL.iter().find(|(name, _)| *name == network);
            let (_, preset) = preset.ok_or_else(|| defect("unknown network"))?;
            let pattern = Pattern::named(self.pattern, *preset);
            let pattern = pattern.ok_or_else(|| defect("unknown pattern"))?;
            let mut messages = Messages::new(*preset, pattern).map_err(defect)?;
            messages.options.flits = self.flits.parse().map_err(defect)?;
            if !mapping.is_empty() {
                messages.options.mapping = mapping.parse().map_err(defect)?;
            }
            stream.ticks_per_unit = 1;
            life = Life::Messages(messages);
        }
        Ok(Point {
            stream,
            scheduler: replay_strategies::scheduler(self.scheduler).map_err(defect)?,
            allocator: crate::allocator(self.strategy).map_err(defect)?,
            life,
            counting: Default::default(),
            topology,
        })
    }
}

impl Row {
    /// Returns the point of the row.
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

    /// Returns the point of the baseline, with which the row is compared.
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
        let metric = metric.caption().words;
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

    /// Returns the gap between replay's interval and the printed interval, and the margin of the gap. The gap and its
    /// margin are in percent of the middle of the printed interval, which begins at `low`. The gap is 0 if the
    /// intervals overlap. If the half-width of replay's interval exceeds the tolerance of the mean, the margin is this
    /// half-width, and the row is undecided. Without this rule, a very wide interval would agree with any printed
    /// interval.
    fn gap(&self, own: &Estimate, low: f64) -> (f64, f64) {
        let high = self.printed_high.unwrap_or(low);
        let middle = (low + high) / 2.0;
        let [from, to] = own.interval();
        let gap = (low - to).max(from - high).max(0.0);
        let is_wide = own.half_width > self.tolerance * middle;
        let margin = if is_wide { own.half_width } else { 0.0 };
        (100.0 * gap / middle, 100.0 * margin / middle)
    }

    /// Returns the mean over packets if the metric is a mean over jobs.
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

    /// Computes the check of the row.
    pub(super) fn check(&self, runs: &Runs<'_>) -> Result<Check, VerifyError> {
        let metric = self.metric;
        let low: f64 = self.printed.parse().map_err(|_| {
            VerifyError::Table(format!("{}: \"{}\" is not a number", self.id, self.printed))
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
            // For a printed interval, only the gap between the intervals is compared.
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

/// Rounds to six digits after the decimal point, like displayed tolerances.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_between_intervals_is_in_percent_of_the_printed_middle() {
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
        // The interval is wider than the tolerance, so the row is undecided, although the intervals overlap.
        assert_eq!(gap(130.0, 25.0), (0.0, 25.0));
    }

    #[test]
    fn a_paired_row_finds_the_printed_number_of_its_baseline() {
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
    fn a_network_name_may_include_the_mapping_of_ranks() {
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
