//! Claims about logs that the paper makes in words (sections I, III and IV).
//!
//! For a log that the archive has converted again after the publication, values have margins. The margin of an
//! improvement is the half-width of the 95 % range of single perturbed copies. The margin of a difference between two
//! improvements is the square root of the sum of the squared margins. A claim is undecided if the distance between the
//! bound and the value is smaller than the margin. The paper compares tie-breaking with other allocators only on
//! LLNL-T3D; replay judges the claims about this comparison on every log.

use std::collections::BTreeSet;

use super::Results;
use super::spread::{Spread, margin_of_improvement};
use crate::claim::claim;
use crate::exchange::{pairs, substitute, with_swaps};
use crate::{Check, Measured, NotRun, Tolerance, VerifyError};
use replay_engine::metrics::TieMetrics;

/// Curves of section IV.
const CURVES: [&str; 2] = ["hilbert", "snake"];
/// Allocators that Fig. 18 compares with tie-breaking.
const OTHERS: [&str; 5] = ["hilbert-best-fit", "snake-best-fit", "gen-alg", "mm", "mc1x1"];
const TIE: &str = "13,20,6";

/// A log, and the tie vectors that the paper names for this log.
struct Log {
    trace: &'static str,
    /// Best vector (Fig. 8).
    best: &'static str,
    /// A fifth of the mesh width, rounded.
    fifth: u32,
}

const LOGS: [Log; 5] = [
    Log { trace: "KTH-SP2-1996-2", best: "2,13,20,6", fifth: 2 },
    Log { trace: "LLNL-T3D-1996-1", best: "3,9,3,2", fifth: 3 },
    Log { trace: "SDSC-Par-1995-2.1-cln", best: "10,1,3,2", fifth: 4 },
    Log { trace: "SDSC-Par-1996-2.1-cln", best: "4,29,5,0", fifth: 4 },
    Log { trace: "LANL-CM5-1994-3.1-cln", best: "12,42,41,15", fifth: 6 },
];

/// Returns the strategies under FCFS that only claims need.
pub(super) fn strategies(trace: &str) -> Vec<String> {
    if !LOGS.iter().any(|log| log.trace == trace) {
        return Vec::new();
    }
    let curves =
        CURVES.iter().flat_map(|curve| [format!("{curve}-best-fit"), format!("{curve}-free-list")]);
    curves.chain(["gen-alg".to_string(), "mm".to_string()]).collect()
}

/// A view of the results, optionally with two strategies exchanged.
struct View<'a> {
    results: &'a Results,
    exchanged: Option<[&'a str; 2]>,
}

impl View<'_> {
    fn name<'b>(&'b self, strategy: &'b str) -> &'b str {
        substitute(self.exchanged, strategy)
    }

    /// Returns the mean pairwise distance in hops; NaN if the strategy was not run.
    fn mean(&self, scheduler: &str, strategy: &str) -> f64 {
        let key = (scheduler.to_string(), self.name(strategy).to_string());
        self.results.get(&key).map_or(f64::NAN, |result| result.metrics.pairwise.mean_pairwise_l1)
    }

    /// Returns the reduction of the mean pairwise distance by tie-breaking, in percent.
    fn improvement(&self, scheduler: &str, vector: &str) -> f64 {
        let tied = self.mean(scheduler, &tied(vector));
        100.0 * (1.0 - tied / self.mean(scheduler, "mc1x1"))
    }
}

fn tied(vector: &str) -> String {
    format!("mc1x1[tie={vector}]")
}

/// Checks the claims about one log, and adds the swaps of these claims.
pub(super) fn claims(
    trace: &str,
    ran: &str,
    results: &Results,
    spreads: &[Spread],
) -> Result<Vec<Check>, VerifyError> {
    let ran = Some(ran);
    let Some(log) = LOGS.iter().find(|log| log.trace == trace) else { return Ok(Vec::new()) };
    let names: BTreeSet<&str> = results.keys().map(|(_, strategy)| strategy.as_str()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let judge = |exchanged| of_log(log, ran, &View { results, exchanged }, spreads);
    with_swaps(judge(None)?, pairs(&names), |pair| judge(Some(pair)))
}

/// Returns the claims about a log that was not run.
pub(super) fn not_run(
    trace: &str,
    ran: Option<&str>,
    why: &NotRun,
) -> Result<Vec<Check>, VerifyError> {
    let Some(log) = LOGS.iter().find(|log| log.trace == trace) else { return Ok(Vec::new()) };
    let view = View { results: &Results::new(), exchanged: None };
    let without_number =
        |check| Check { ours: Measured::NotRun(why.clone()), margin: 0.0, ..check };
    Ok(of_log(log, ran, &view, &[])?.into_iter().map(without_number).collect())
}

/// Iterates over the percentage of tied decisions in each simulation of MC1x1 without tie-breaking (Fig. 4).
pub(super) fn tied_percents(results: &Results) -> impl Iterator<Item = f64> {
    let of_mc1x1 = results.iter().filter(|((_, strategy), _)| strategy == "mc1x1");
    of_mc1x1.filter_map(|(_, result)| Some(result.metrics.ties?.tied_percent))
}

/// Checks section I: in most simulations, over 60 % of the allocations are tied. The claim is judged if at least four
/// logs were run.
pub(super) fn most_are_tied(percents: &[f64]) -> Result<Check, VerifyError> {
    let (tied, all) = (percents.iter().filter(|percent| **percent > 60.0).count(), percents.len());
    let what = format!("share of the {all} simulations with over 60 % of the allocations tied");
    let ours = tied as f64 / all.max(1) as f64;
    let check = claim("section I", "all logs", &what, "0.5", ours, Tolerance::Above)?;
    let absent = NotRun::Absent("replay fetch".to_string());
    Ok(if all < 8 { Check { ours: Measured::NotRun(absent), ..check } } else { check })
}

fn of_log(
    log: &Log,
    ran: Option<&str>,
    view: &View<'_>,
    spreads: &[Spread],
) -> Result<Vec<Check>, VerifyError> {
    let mut checks = Vec::new();
    let ties = ["fcfs", "easy"].map(|scheduler| {
        let key = (scheduler.to_string(), "mc1x1".to_string());
        view.results.get(&key).and_then(|result| result.metrics.ties)
    });
    let ties: Vec<_> = ties.into_iter().flatten().collect();
    let least = |of: fn(&TieMetrics) -> f64| ties.iter().map(of).fold(f64::INFINITY, f64::min);
    let most = |of: fn(&TieMetrics) -> f64| ties.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
    for (what, bound, ours, tolerance) in [
        ("least tied percent", "36", least(|ties| ties.tied_percent), Tolerance::Above),
        ("least mean tied", "16", least(|ties| ties.mean_tied), Tolerance::Above),
        ("largest mean tied", "138", most(|ties| ties.mean_tied), Tolerance::Below),
    ] {
        let check = claim("section I", log.trace, what, bound, ours, tolerance)?.printed_bound();
        checks.push(Check { log: ran.map(str::to_string), ..check });
    }
    let mut push = |section: &str, what: &str, bound: &str, ours: f64, margin: f64, tolerance| {
        let check = claim(section, log.trace, what, bound, ours, tolerance)?;
        let check = Check { log: ran.map(str::to_string), margin, ..check };
        checks.push(check);
        Ok::<(), VerifyError>(())
    };
    let margin = |scheduler| margin_of_improvement(spreads, log.trace, scheduler);
    let (fcfs, easy) = (margin("fcfs"), margin("easy"));
    let (above, below) = (Tolerance::Above, Tolerance::Below);
    let two = format!("2,{TIE}");
    let gain = |vector: &str| view.improvement("fcfs", vector);
    push("section III", "improvement % of (2,13,20,6)", "0", gain(&two), fcfs, above)?;
    let both = f64::hypot(fcfs, fcfs);
    if log.fifth != 2 {
        let fifth = format!("{},{TIE}", log.fifth);
        let what =
            format!("improvement % of ({fifth}), with a scan radius of a fifth of the width");
        push("section III", &what, "0", gain(&fifth), fcfs, above)?;
        let what = format!("improvement % of ({fifth}) minus that of (2,13,20,6)");
        // On LLNL-T3D, the two scan radii are similar, so the two improvements must be about equal.
        let side = if log.fifth == 3 { Tolerance::Absolute(0.2) } else { above };
        push("section III", &what, "0", gain(&fifth) - gain(&two), both, side)?;
    }
    let under_easy = view.improvement("easy", log.best);
    let what = format!("improvement % of ({}) under EASY", log.best);
    push("section III", &what, "0", under_easy, easy, above)?;
    let what = format!("improvement % of ({}) under EASY minus that under FCFS", log.best);
    let is_exception = log.trace.starts_with("SDSC-Par-1996");
    let side = if is_exception { below } else { above };
    let more = under_easy - gain(log.best);
    push("section III", &what, "0", more, f64::hypot(fcfs, easy), side)?;
    if is_exception {
        let what = "improvement % of (2,12,1,1), the fourth best, minus that of (4,23,4,0), the third best";
        let less = gain("2,12,1,1") - gain("4,23,4,0");
        push("section III", what, "0", less, both, below)?;
    }
    let mean = |strategy: &str| view.mean("fcfs", strategy);
    let margin = fcfs / 100.0;
    for curve in CURVES {
        let [best_fit, free_list] =
            ["best-fit", "free-list"].map(|rule| mean(&format!("{curve}-{rule}")));
        let what = format!("{curve} curve: distance under Best Fit over that under a free list");
        push("section IV", &what, "1", best_fit / free_list, margin, below)?;
    }
    let other = OTHERS.map(mean).into_iter().fold(f64::INFINITY, f64::min);
    let what = format!(
        "distance of mc1x1 ({}) over the smallest distance of the other strategies in Fig. 18",
        log.best
    );
    push("section IV", &what, "1", mean(&tied(log.best)) / other, margin, below)?;
    Ok(checks)
}
