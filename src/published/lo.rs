//! Lo, Windisch, Liu, Nitzberg: "Noncontiguous Processor Allocation Algorithms for
//! Mesh-Connected Multicomputers".
//!
//! # Fragmentation (Table 1, Figs. 5 to 8)
//!
//! 1000 jobs on a 32 x 32 mesh, FCFS; load is mean service over mean inter-arrival time. A
//! published mean must lie within 2 % (Paging) or 5 % (contiguous strategies) of a value in
//! our 95 % interval: the paper's own runs stop at a half-width of 5 %.
//!
//! # Tolerances of the claims
//!
//! The loads at which response times take off are read off plots ("about"); here it is the
//! load at which utilization reaches 90 % of its value at load 10, within 30 %. Ours contradicts
//! one of them, First Fit with decreasing sides, as does the paper: by its own Table 1 (39 %
//! utilization, 1000 jobs in 238 time units) it cannot lie below 3.8.

use super::claim::claim;
use super::streams::{Key, Row, Runs, rows};
use super::{Check, Selection, Suite, Tolerance, VerifyError};
use crate::experiment::stream::Metric;

/// The suite.
pub const SUITE: Suite = Suite {
    name: "lo",
    about: "Lo, Windisch, Liu, Nitzberg: fragmentation of contiguous allocation against Random, Paging \
            and MBS (Table 1, Figs. 5-8 and the claims of the text)",
    full: Some("replicates until turnaround and utilization are known to 5 %"),
    verify,
};

const TABLE: &str = include_str!("lo.csv");

/// The machine and discipline of Table 1.
fn key<'a>(sides: &'a str, load: &'a str, strategy: &'a str) -> Key<'a> {
    Key {
        machine: "32x32",
        sides,
        service: "exponential",
        load,
        scheduler: "fcfs",
        strategy,
        ..Key::default()
    }
}

/// Loads at which the plots of the paper and ours have a point.
const LOADS: [&str; 11] = ["0.5", "1", "1.5", "2", "2.5", "3", "4", "5", "6", "8", "10"];
const CONTIGUOUS: [&str; 3] = ["first-fit", "best-fit", "frame-sliding"];

fn verify(
    selection: &Selection,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Check>, VerifyError> {
    let rows: Vec<Row> =
        rows(TABLE)?.into_iter().filter(|row| selection.includes(&row.sides)).collect();
    let sides = |sides: &str| selection.includes(sides);
    let mut more = Vec::new();
    if sides("uniform") {
        more.extend([key("uniform", "10", "mbs"), key("uniform", "10", "random")]);
    }
    for name in ["uniform", "decreasing"].into_iter().filter(|name| sides(name)) {
        for load in LOADS {
            more.extend([key(name, load, "paging"), key(name, load, "first-fit")]);
        }
    }
    let runs = Runs::new(&rows, more, selection, progress)?;
    let mut checks = runs.checks(&rows)?;
    checks.extend(runs.claims(|runs| claims(runs, &sides))?);
    Ok(checks)
}

fn claims(runs: &Runs<'_>, sides: &dyn Fn(&str) -> bool) -> Result<Vec<Check>, VerifyError> {
    let mut checks = Vec::new();
    if sides("uniform") {
        let finish = |strategy| runs.mean(&key("uniform", "10", strategy), Metric::FinishTime);
        let (paging, mbs, random) = (finish("paging")?, finish("mbs")?, finish("random")?);
        checks.push(claim(
            "section 5.1",
            "32x32 uniform",
            "largest difference of finish time between Paging(0), MBS and Random",
            "0",
            (paging - mbs).abs().max((paging - random).abs()),
            Tolerance::Absolute(0.0),
        )?);
    }
    for (name, least) in [
        ("uniform", "72.39"),
        ("exponential", "69.36"),
        ("increasing", "70.18"),
        ("decreasing", "77.32"),
    ] {
        if !sides(name) {
            continue;
        }
        let mut best: f64 = 0.0;
        for strategy in CONTIGUOUS {
            best = best.max(runs.mean(&key(name, "10", strategy), Metric::Utilization)?);
        }
        let paging = runs.mean(&key(name, "10", "paging"), Metric::Utilization)?;
        checks.push(claim(
            "Table 1",
            &format!("32x32 {name}"),
            &format!(
                "utilization of the best contiguous strategy (ours; Paging(0) ours {paging:.2})"
            ),
            least,
            best,
            Tolerance::Below,
        )?);
    }
    let saturations = [
        ("uniform", "first-fit", "1.5"),
        ("uniform", "paging", "2.5"),
        ("decreasing", "first-fit", "3"),
        ("decreasing", "paging", "8"),
    ];
    for (name, strategy, load) in saturations.into_iter().filter(|(name, ..)| sides(name)) {
        let check = claim(
            "Figs. 5-8",
            &format!("32x32 {name}"),
            &format!("load at which {strategy} reaches 90 % of its utilization at load 10"),
            load,
            saturation(runs, name, strategy)?,
            Tolerance::Relative(0.3),
        )?;
        let contradicted = (name, strategy) == ("decreasing", "first-fit");
        checks.push(match contradicted {
            true => check.known(3.9069, "the paper's own Table 1 implies 3.8 or more"),
            false => check,
        });
    }
    Ok(checks)
}

/// The load at which utilization reaches 90 % of its value at the highest load, between
/// the points by a straight line.
fn saturation(runs: &Runs<'_>, sides: &str, strategy: &str) -> Result<f64, VerifyError> {
    let utilization = |load| runs.mean(&key(sides, load, strategy), Metric::Utilization);
    let goal = 0.9 * utilization(LOADS[LOADS.len() - 1])?;
    let mut before = (0.0, 0.0);
    for load in LOADS {
        let here = (load.parse().unwrap_or(f64::NAN), utilization(load)?);
        if here.1 >= goal {
            let share = (goal - before.1) / (here.1 - before.1);
            return Ok(before.0 + share * (here.0 - before.0));
        }
        before = here;
    }
    Ok(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::streams;

    #[test]
    fn every_published_row_can_be_read_and_names_something_we_run() {
        let rows = streams::rows(TABLE).expect("the table is sound");
        assert_eq!(rows.len(), 32);
        streams::tests::are_sound(&rows);
    }
}
