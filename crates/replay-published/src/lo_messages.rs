//! Lo, Windisch, Liu, Nitzberg: the message-passing experiments (Table 2, Fig. 9).
//!
//! 1000 jobs on a 16 x 16 mesh are scheduled FCFS. Almost all jobs are in the queue from the beginning. A job runs
//! until its messages are delivered. The flit-level network and the patterns are the preset `lo`. Details that the
//! report leaves open were calibrated on Table 2. Agreement with Table 2 therefore supports the model but does not
//! prove it.
//!
//! # Three readings outside the preset
//!
//! Three readings of the report were chosen before any of them was run, and the runs confirmed the readings
//! (`results/experiments/table-2.md`):
//!
//! * Latency and blocking are not means over packets. Latency and blocking are means over jobs, and each job
//!   contributes the mean over its packets. replay shows both kinds of means.
//! * In all-to-all, the messages of an iteration are queued at once (`sends=at-once`): first all messages to rank 0,
//!   then all messages to rank 1, and so on. The last round is truncated when the quota of messages is used up.
//! * The ranks of a job follow its pages in the reverse order of allocation (`walk=last-taken`). Within each page,
//!   ranks are in row-major order.
//!
//! # Tolerances
//!
//! For one reference strategy, each measure of a pattern is judged as an absolute number. Finish times of First Fit
//! must agree within 8 %, latency and blocking of Random within 20 %, and dispersal of Random within 8 %. For all other
//! strategies, the measure is judged in percent of the reference, as in Fig. 9, with the intervals of paired
//! replications. Finish time and dispersal must agree within 8 %, latency within 10 %, and blocking within 20 %. The
//! tolerance for latency is smaller than the tolerance for the latency of the reference, because a common factor in the
//! latency of all strategies cancels. The dispersal of First Fit is 0 by construction and is not compared.
//!
//! Rows that are known to be beyond their tolerance are declared with the presumed reason. Sides have 2 to 16
//! processors, uniformly distributed. The appendix of the report prints 2 to 8 processors. With sides of 2 to 8
//! processors, however, the dispersal of Random would be half of the value in the table of the report. There are ten
//! replications, as in the report. The quick form has only five replications of n-body and three of all-to-all. The
//! full form has sixty replications of multigrid, because some of its means are close to the bounds.
//!
//! # Claims of section 4.2
//!
//! "Not significantly better" is judged with a bound of 5 %, which is the error that the report allows for its means.
//! "Only very slight variations" between the four indexing schemes is judged with a bound of 5 % in both directions.
//! "Much faster" is judged with a bound of 10 %.

use super::claim::claim;
use super::streams::{Key, Row, Runs, rows};
use super::{Check, Sample, Selection, Suite, Tolerance, VerifyError};
use replay_experiment::stream::Metric;

/// Suite `lo-messages`.
pub const SUITE: Suite = Suite {
    name: "lo-messages",
    about: "Lo, Windisch, Liu, Nitzberg: message passing on a flit-level wormhole mesh (Table 2, Fig. 9 and \
            the claims of the text)",
    full: Some("replicates ten times, multigrid sixty times"),
    verify,
};

pub(super) const TABLE: &str = include_str!("lo_messages.csv");

const ALL_TO_ALL: &str = "all-to-all[sends=at-once]";
const PATTERNS: [&str; 5] = [ALL_TO_ALL, "one-to-all", "n-body", "fft-2d", "multigrid"];
const PAGING_0: &str = "paging[walk=last-taken]";
const PAGING_1: &str = "paging[size=1,walk=last-taken]";
const PAGING_2: &str = "paging[size=2,walk=last-taken]";
const PAGING_3: &str = "paging[size=3,walk=last-taken]";
const PAGES: [&str; 4] = [PAGING_0, PAGING_1, PAGING_2, PAGING_3];
const STRATEGIES: [&str; 7] =
    ["random", "mbs", PAGING_0, PAGING_1, PAGING_2, PAGING_3, "first-fit"];
/// Paging(0) with each indexing scheme of Fig. 2 of the report, except row-major.
const INDEXED: [&str; 3] = [
    "paging[index=snake,walk=last-taken]",
    "paging[index=shuffled-row-major,walk=last-taken]",
    "paging[index=shuffled-snake,walk=last-taken]",
];

fn verify(
    selection: &Selection,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Check>, VerifyError> {
    let rows: Vec<Row> =
        rows(TABLE)?.into_iter().filter(|row| selection.includes(&row.pattern)).collect();
    let of_paging = |row: &&Row| row.strategy == PAGING_0 && row.metric == Metric::FinishTime;
    let indexed = rows
        .iter()
        .filter(of_paging)
        .flat_map(|row| INDEXED.map(|strategy| Key { strategy, ..row.key() }));
    let runs = Runs::new(&rows, indexed, selection, progress)?;
    let mut checks = runs.checks(&rows)?;
    for pattern in PATTERNS {
        if !rows.iter().any(|row| row.pattern == pattern) {
            continue;
        }
        checks.extend(runs.claims(|runs| Claims { runs, rows: &rows, pattern }.all())?);
    }
    // These rows and claims are about Table 2, on which the network was calibrated.
    Ok(checks.into_iter().map(|check| check.sample(Sample::Calibrated)).collect())
}

/// For each pattern, a measured value that contradicts the report. The value is the largest difference in the finish
/// time of Paging(0) between row-major and another indexing scheme, in percent of the finish time with row-major.
const INDEXING: [(&str, f64); 4] =
    [(ALL_TO_ALL, 15.8), ("n-body", 14.63), ("fft-2d", 14.14), ("multigrid", 23.42)];

/// Claims of the text about one pattern.
struct Claims<'a> {
    runs: &'a Runs<'a>,
    rows: &'a [Row],
    pattern: &'static str,
}

impl Claims<'_> {
    fn key(&self, strategy: &str) -> Result<Key<'_>, VerifyError> {
        let row = |row: &&Row| row.pattern == self.pattern && row.strategy == strategy;
        let missing = || VerifyError::Table(format!("no row of {} {strategy}", self.pattern));
        self.rows.iter().find(row).map(Row::key).ok_or_else(missing)
    }

    fn mean(&self, strategy: &str, metric: Metric) -> Result<f64, VerifyError> {
        self.runs.mean(&self.key(strategy)?, metric)
    }

    /// Returns the mean of a metric for each strategy.
    fn means(&self, metric: Metric) -> Result<Vec<(&'static str, f64)>, VerifyError> {
        STRATEGIES.into_iter().map(|name| Ok((name, self.mean(name, metric)?))).collect()
    }

    fn claim(
        &self,
        what: &str,
        bound: &str,
        ours: f64,
        tolerance: Tolerance,
    ) -> Result<Check, VerifyError> {
        claim("section 4.2", &format!("16x16 {}", self.pattern), what, bound, ours, tolerance)
    }

    fn all(&self) -> Result<Vec<Check>, VerifyError> {
        let finish = self.means(Metric::FinishTime)?;
        let of = |name: &str| finish.iter().find(|(n, _)| *n == name).map_or(f64::NAN, |(_, v)| *v);
        let worst_other = |name: &str| {
            let others = finish.iter().filter(|(other, _)| *other != name);
            others.map(|(_, value)| *value).fold(0.0, f64::max)
        };
        let best = finish.iter().map(|(_, v)| *v).fold(f64::INFINITY, f64::min);
        let mut checks = Vec::new();
        let what =
            "pairs of strategies (of 21) whose order by finish time differs from the printed order";
        let ours = f64::from(self.inversions(&finish)?);
        let check = self.claim(what, "0", ours, Tolerance::Absolute(0.0))?;
        checks.push(match self.pattern {
            ALL_TO_ALL => {
                check.known(3.0, "the finish time of First Fit is 11 % above the printed time, and the finish time of MBS is 2.5 % below the printed time")
            }
            "n-body" => check.known(4.0, "the finish time of Paging(1) is 17 % above the printed time, and the finish time of Paging(0) is 13 % below the printed time"),
            "multigrid" => check
                .known(1.0, "the printed times of Paging(1) and Paging(3) differ by 0.25 %, and the error of these times is 5 %"),
            _ => check,
        });
        if matches!(self.pattern, "n-body" | "fft-2d" | "multigrid") {
            let ours = of("random") / worst_other("random");
            let what = "finish time of Random over that of the slowest other strategy";
            checks.push(self.claim(what, "1", ours, Tolerance::Above)?);
        }
        if self.pattern == "one-to-all" {
            let ours = of("first-fit") / worst_other("first-fit");
            let what = "finish time of First Fit over that of the slowest other strategy";
            checks.push(self.claim(what, "1", ours, Tolerance::Above)?);
            let ours = 100.0 * (of("first-fit") / of("mbs") - 1.0);
            let what = "First Fit slower than MBS, %";
            checks.push(self.claim(what, "37", ours, Tolerance::Absolute(13.7))?.printed_bound());
        }
        if self.pattern == ALL_TO_ALL {
            let others = finish.iter().filter(|(name, _)| *name != PAGING_0).map(|(_, v)| *v);
            let ours = of(PAGING_0) / others.fold(f64::INFINITY, f64::min);
            let what = "finish time of Paging(0) over that of the fastest other strategy";
            checks.push(self.claim(what, "1", ours, Tolerance::Below)?);
        }
        let what = "MBS slower than the best, %";
        let ours = 100.0 * (of("mbs") / best - 1.0);
        checks.push(self.claim(what, "20", ours, Tolerance::AtMost(0.0))?);
        checks.extend(self.of_pattern(&of)?);
        let what = "finish time of the slower of MBS and Paging(0) over that of Random";
        let ours = of("mbs").max(of(PAGING_0)) / of("random");
        checks.push(self.claim(what, "1", ours, Tolerance::Below)?);
        let what =
            "finish time of Paging(0), largest difference of an indexing scheme from row-major, %";
        let check = self.claim(what, "5", self.indexing()?, Tolerance::AtMost(0.0))?;
        let known = INDEXING.iter().find(|(pattern, _)| *pattern == self.pattern);
        checks.push(match known {
            Some((_, ours)) => check.known(
                *ours,
                "the report prints no numbers; the shuffled schemes keep a job in squares, as MBS does",
            ),
            None => check,
        });
        let blocking = self.means(Metric::MeanBlocking)?;
        let own = self.mean("first-fit", Metric::MeanBlocking)?;
        let rank = 1 + blocking.iter().filter(|(_, other)| *other < own).count();
        let what = "rank of First Fit by blocking (1 is the lowest blocking)";
        checks.push(self.claim(what, "3", rank as f64, Tolerance::AtMost(0.0))?);
        let dispersal = self.means(Metric::WeightedDispersal)?;
        let most = dispersal.iter().filter(|(name, _)| *name != "random").map(|(_, v)| *v);
        let ours = self.mean("random", Metric::WeightedDispersal)? / most.fold(0.0, f64::max);
        let what = "weighted dispersal of Random over the largest of the other strategies";
        checks.push(self.claim(what, "1", ours, Tolerance::Above)?);
        Ok(checks)
    }

    /// Returns the checks of the claims of section 4.2 that are about a single pattern.
    fn of_pattern(&self, of: &dyn Fn(&str) -> f64) -> Result<Vec<Check>, VerifyError> {
        let mut checks = Vec::new();
        let pages = |from: usize| PAGES[from..].iter().map(|name| of(name));
        let least = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
        match self.pattern {
            ALL_TO_ALL => {
                let what = "finish time of MBS over First Fit: not degraded";
                let ours = of("mbs") / of("first-fit");
                checks.push(self.claim(what, "1", ours, Tolerance::Below)?);
                let what = "MBS faster than First Fit, %: not significantly";
                let ours = 100.0 * (1.0 - ours);
                let check = self.claim(what, "5", ours, Tolerance::AtMost(0.0))?;
                checks.push(check.known(
                    13.2,
                    "First Fit takes 11 % longer than printed (results/experiments/table-2.md)",
                ));
                let what = "finish time of Paging: smallest ratio of the value at a page size to the value at the preceding page size";
                let ours = least(&mut PAGES.windows(2).map(|pair| of(pair[1]) / of(pair[0])));
                checks.push(self.claim(what, "1", ours, Tolerance::Above)?);
                for (metric, name, known) in [
                    (Metric::WeightedDispersal, "dispersal", 1.17),
                    (Metric::MeanBlocking, "blocking", 1.142),
                ] {
                    let mut most: f64 = 0.0;
                    for pair in PAGES.windows(2) {
                        most = most.max(self.mean(pair[1], metric)? / self.mean(pair[0], metric)?);
                    }
                    let what = format!(
                        "{name} of Paging: largest ratio of the value at a page size to the value at the preceding page size"
                    );
                    let check = self.claim(&what, "1", most, Tolerance::Below)?;
                    let why = "in the report's own table, dispersal and blocking are higher for pages of four processors than for pages of one processor";
                    checks.push(check.known(known, why));
                }
            }
            "one-to-all" => {
                let what = "finish time of the slower of MBS and Paging(0) over that of the fastest other strategy";
                let others = [of("random"), of("first-fit")];
                let ours =
                    of("mbs").max(of(PAGING_0)) / least(&mut others.into_iter().chain(pages(1)));
                checks.push(self.claim(what, "1", ours, Tolerance::Below)?);
            }
            "n-body" => {
                let what = "finish time of Paging(2) over the best other page size";
                let others = [of(PAGING_0), of(PAGING_1), of(PAGING_3)];
                let ours = of(PAGING_2) / least(&mut others.into_iter());
                let check = self.claim(what, "1", ours, Tolerance::Below)?;
                checks.push(check.known(
                    1.035,
                    "Paging(0) takes 13 % less than printed (results/experiments/table-2.md)",
                ));
                let what = "the slowest of MBS, Paging(0) and Paging(2) over the faster of Random and \
                            First Fit, finish time: much faster";
                let ours = of("mbs").max(of(PAGING_0)).max(of(PAGING_2))
                    / of("random").min(of("first-fit"));
                checks.push(self.claim(what, "0.9", ours, Tolerance::Below)?);
            }
            _ => {
                let what = "finish time of MBS over the best page size";
                let ours = of("mbs") / least(&mut pages(0));
                checks.push(self.claim(what, "1", ours, Tolerance::Below)?);
            }
        }
        Ok(checks)
    }

    /// Returns the largest difference in the finish time of Paging(0) between row-major and another indexing scheme.
    /// The difference is in percent of row-major.
    fn indexing(&self) -> Result<f64, VerifyError> {
        let row_major = self.key(PAGING_0)?;
        let mut most: f64 = 0.0;
        for strategy in INDEXED {
            let other = Key { strategy, ..row_major };
            let ratio = self.runs.ratio(&other, &row_major, Metric::FinishTime)?;
            most = most.max(100.0 * (ratio.mean - 1.0).abs());
        }
        Ok(most)
    }

    /// Returns the number of pairs of strategies for which the order by finish time differs from the printed order.
    fn inversions(&self, ours: &[(&'static str, f64)]) -> Result<u32, VerifyError> {
        let mut printed = Vec::new();
        for (name, _) in ours {
            let row = self.rows.iter().find(|row| {
                row.pattern == self.pattern
                    && row.strategy == *name
                    && row.metric == Metric::FinishTime
            });
            let value = row.and_then(|row| row.printed.parse::<f64>().ok());
            printed.push(
                value.ok_or_else(|| VerifyError::Table(format!("no finish time of {name}")))?,
            );
        }
        let mut count = 0;
        for i in 0..ours.len() {
            for j in 0..i {
                let same = (ours[i].1 < ours[j].1) == (printed[i] < printed[j]);
                count += u32::from(!same);
            }
        }
        Ok(count)
    }
}
