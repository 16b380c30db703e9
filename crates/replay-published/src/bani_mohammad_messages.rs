//! S. O. Bani Mohammad, PhD thesis, chapter 4: GABL, MBS, Paging(0) and First Fit with
//! messages on a flit-level wormhole mesh.
//!
//! # Tolerances
//!
//! Ratios and Table 4.2 must be within 10 %. Bounds are applied as printed. Utilization in saturation does not depend
//! on the load. The utilization is therefore judged at all loads at which the machine is saturated. For packets of 64
//! flits, the loads are not printed. Five loads are therefore used for packets of 64 flits. The five loads range from a
//! sixteenth of the highest load for packets of 8 flits to this highest load. The largest gap over the five loads is
//! judged, and the order of the strategies (Figs 4.46 to 4.49) is judged at the lowest and at the highest of the five
//! loads. Packets of 16 and 32 flits are not simulated because of the run time; the thesis states that the results with
//! these packets are similar. The relative errors of Table 4.2 follow from its means and intervals, which are judged.
//!
//! # Two readings of ranks
//!
//! The thesis states: "Processors allocated to a job are mapped to a linear array of processors using row-major
//! indexing". In the literal reading, the ranks of a job are in row-major order over its whole allocation, regardless
//! of the units of the allocation. In the second reading, which follows Lo et al., ranks are in row-major order within
//! each unit, one unit after the other. Claims that compare GABL with other strategies under one-to-all and all-to-all
//! messages are judged under both readings. The literal reading uses MBS with blocks that are split on demand
//! (`mbs[splitting=on-demand]`). Rows that contradict the thesis are declared with their reasons. `results/experiments`
//! lists the readings that were tried.

use super::claim::claim;
use super::streams::{Key, Row, Runs, rows};
use super::{Check, Selection, Suite, Tolerance, VerifyError};
use replay_experiment::stream::Metric;

/// Suite `bani-mohammad-messages`.
pub const SUITE: Suite = Suite {
    name: "bani-mohammad-messages",
    about: "Bani-Mohammad: GABL with messages on a flit-level wormhole mesh (chapter 4: Table 4.2, figures, \
            claims of the text)",
    full: Some("replicates until the half-widths of turnaround and utilization are at most 5 %"),
    verify,
};

pub(super) const TABLE: &str = include_str!("bani_mohammad_messages.csv");

/// Network in which ranks are in row-major order over the whole allocation of a job.
const ROW_MAJOR: &str = "bani-mohammad row-major";
/// MBS in the literal reading.
const ON_DEMAND: &str = "mbs[splitting=on-demand]";

fn verify(
    selection: &Selection,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Check>, VerifyError> {
    let rows: Vec<Row> =
        rows(TABLE)?.into_iter().filter(|row| selection.includes(&row.pattern)).collect();
    let runs = Runs::new(&rows, points(selection), selection, progress)?;
    let mut checks = runs.checks(&rows)?;
    checks.extend(runs.claims(|runs| claims(runs, selection))?);
    Ok(checks)
}

/// Returns a point of chapter 4 on the 16x16 mesh with packets of 8 flits.
fn key<'a>(pattern: &'a str, sides: &'a str, load: &'a str, strategy: &'a str) -> Key<'a> {
    Key {
        machine: "16x16",
        network: "bani-mohammad",
        pattern,
        flits: "8",
        sides,
        service: "exponential",
        load,
        scheduler: "fcfs",
        strategy,
    }
}

/// Changes a point so that ranks are in row-major order over the whole allocation.
fn row_major(key: Key<'_>) -> Key<'_> {
    let strategy = if key.strategy == "mbs" { ON_DEMAND } else { key.strategy };
    Key { network: ROW_MAJOR, strategy, ..key }
}

/// Changes a point so that the machine is the 32x32 mesh.
fn wider(key: Key<'_>) -> Key<'_> {
    Key { machine: "32x32", ..key }
}

/// Changes a point so that packets have 64 flits.
fn longer(key: Key<'_>) -> Key<'_> {
    Key { flits: "64", ..key }
}

/// For each pattern, a load at which jobs with uniform sides hardly wait.
const LIGHT: [(&str, &str); 3] =
    [("one-to-all", "0.0025"), ("all-to-all", "0.0035"), ("random", "0.01")];

/// For each pattern, the heavy load for uniform sides and the heavy load for exponential sides.
const HEAVY: [(&str, &str, &str); 3] =
    [("one-to-all", "0.0205", "0.04"), ("all-to-all", "0.0305", "0.05"), ("random", "0.1", "0.1")];

/// Returns the figure for a pattern and a distribution of sides. Each metric has six figures; `first` is the number of
/// the first of these figures.
fn figure(first: usize, pattern: &str, sides: &str) -> String {
    let pattern = HEAVY.iter().position(|(name, ..)| *name == pattern).unwrap_or(0);
    format!("Fig. 4.{}", first + 2 * pattern + usize::from(sides == "exponential"))
}

/// Meshes for which the thesis plots the length m of the busy list and the number b of searches (beyond the first).
/// Each entry contains a mesh and its number of processors relative to the first mesh.
const MESHES: [(&str, f64); 3] = [("16x16", 1.0), ("20x20", 1.5625), ("24x24", 2.25)];

/// Plot for packets of 64 flits. The loads range from a sixteenth of the highest load for packets of 8 flits to this
/// highest load.
struct Long {
    pattern: &'static str,
    sides: &'static str,
    loads: [&'static str; 5],
    figure: &'static str,
    /// Strategies, each with the printed percentage by which the turnaround of GABL is lower than the turnaround of
    /// this strategy.
    printed: &'static [(&'static str, &'static str)],
}

const LONG: [Long; 3] = [
    Long {
        pattern: "one-to-all",
        sides: "uniform",
        loads: ["0.0013", "0.0026", "0.0051", "0.0103", "0.0205"],
        figure: "Fig. 4.46",
        printed: &[("paging", "45"), ("mbs", "40")],
    },
    Long {
        pattern: "all-to-all",
        sides: "uniform",
        loads: ["0.0019", "0.0038", "0.0076", "0.0153", "0.0305"],
        figure: "Fig. 4.48",
        printed: &[],
    },
    Long {
        pattern: "all-to-all",
        sides: "exponential",
        loads: ["0.0031", "0.0063", "0.0125", "0.025", "0.05"],
        figure: "Fig. 4.49",
        printed: &[("paging", "85"), ("mbs", "55")],
    },
];

/// A function that selects one of two points (packets of 64 flits, packets of 8 flits) and sets the order of ranks.
type Reading = fn([Key<'static>; 2]) -> Key<'static>;

impl Long {
    /// Returns the point with packets of 64 flits and the point with packets of 8 flits.
    fn keys<'a>(&self, load: &'a str, strategy: &'a str) -> [Key<'a>; 2] {
        let short = key(self.pattern, self.sides, load, strategy);
        [longer(short), short]
    }

    fn points(&self) -> impl Iterator<Item = Key<'static>> + '_ {
        let of_load = |load| {
            let both = ["gabl", "paging"].map(|strategy| self.keys(load, strategy));
            let mut points: Vec<Key<'static>> = both.into_iter().flatten().collect();
            if !self.printed.is_empty() {
                let mbs = self.keys(load, "mbs")[0];
                let gabl = self.keys(load, "gabl")[0];
                points.extend([mbs, row_major(mbs), row_major(gabl)]);
            }
            points
        };
        self.loads.into_iter().flat_map(of_load)
    }

    /// Returns the smallest ratio, over all loads, of the turnaround of GABL to the turnaround of another strategy.
    fn least<'a>(
        &self,
        runs: &Runs<'_>,
        other: &'a str,
        of: fn([Key<'a>; 2]) -> Key<'a>,
    ) -> Result<f64, VerifyError> {
        let mut least = f64::INFINITY;
        for load in self.loads {
            let turnaround =
                |strategy| runs.mean(&of(self.keys(load, strategy)), Metric::Turnaround);
            least = least.min(turnaround("gabl")? / turnaround(other)?);
        }
        Ok(least)
    }

    fn checks(&self, runs: &Runs<'_>) -> Result<Vec<Check>, VerifyError> {
        let Self { pattern, sides, loads, figure, printed } = self;
        let streams = format!("16x16 {sides} {pattern} 64 flits");
        let mut checks = Vec::new();
        for (other, percent) in *printed {
            let mut readings: Vec<(&str, Reading)> = vec![("", |[long, _]| long)];
            if *other == "mbs" {
                readings.push((READ_ROW_MAJOR, |[long, _]| row_major(long)));
            }
            for (reading, of) in readings {
                let ours = 100.0 * (1.0 - self.least(runs, other, of)?);
                let what = format!(
                    "turnaround of gabl under fcfs, % below {other}{reading}: largest value at loads {} to {}",
                    loads[0],
                    loads[loads.len() - 1]
                );
                let value: f64 = percent.parse().unwrap_or(f64::NAN);
                let tolerance = Tolerance::Absolute((100.0 - value) / 10.0);
                let check = claim(figure, &streams, &what, percent, ours, tolerance)?;
                let note = match reading {
                    "" => "",
                    _ => "literal reading: ranks row-major over the whole allocation",
                };
                let check = Check { is_claim: false, note: note.to_string(), ..check };
                let known =
                    LONG_KNOWN.iter().find(|(f, o, r, _)| (f, o, r) == (figure, other, &reading));
                checks.push(match known {
                    Some((.., ours)) => check.known(*ours, WHY_LONG),
                    None => check,
                });
            }
        }
        let ours = self.least(runs, "paging", |[long, _]| long)?
            / self.least(runs, "paging", |[_, short]| short)?;
        let what = "smallest ratio of turnaround of GABL to Paging(0) at five loads: 64 flits divided by 8 flits";
        let check = claim("claim 15", &streams, what, "1", ours, Tolerance::Below)?;
        checks.push(match (*pattern, *sides) {
            ("all-to-all", "uniform") => check.known(1.2386, WHY_LONG),
            ("all-to-all", _) => check.known(1.1951, WHY_LONG),
            _ => check,
        });
        Ok(checks)
    }
}

/// Declared differences with packets of 64 flits: figure, strategy, reading and measured value.
const LONG_KNOWN: [(&str, &str, &str, f64); 6] = [
    ("Fig. 4.46", "paging", "", 28.0137),
    ("Fig. 4.46", "mbs", "", -1.4976),
    ("Fig. 4.46", "mbs", READ_ROW_MAJOR, 3.5259),
    ("Fig. 4.49", "paging", "", 23.5396),
    ("Fig. 4.49", "mbs", "", -3.1451),
    ("Fig. 4.49", "mbs", READ_ROW_MAJOR, 1.3433),
];
const READ_ROW_MAJOR: &str = ", row-major ranks";

/// For each pattern and distribution of sides, the lowest and the highest load for packets of 64 flits. At these loads,
/// the order of the strategies is judged.
const ENDS: [(&str, &str, [&str; 2]); 4] = [
    ("one-to-all", "uniform", ["0.0013", "0.0205"]),
    ("one-to-all", "exponential", ["0.0025", "0.04"]),
    ("all-to-all", "uniform", ["0.0019", "0.0305"]),
    ("all-to-all", "exponential", ["0.0031", "0.05"]),
];

/// A reading of the order of ranks, given as a function that changes a point.
type Ranks = fn(Key<'_>) -> Key<'_>;
const READINGS: [(&str, Ranks); 2] = [("", |key| key), (READ_ROW_MAJOR, row_major)];

const WHY_LONG: &str = "long packets occupy the links of short paths for as much time as the links of long paths; the gaps do not widen at any load, in contrast to the thesis";

const STRATEGIES: [&str; 4] = ["gabl", "mbs", "paging", "first-fit"];

fn points(selection: &Selection) -> Vec<Key<'static>> {
    let mut points = Vec::new();
    for (pattern, uniform, exponential) in HEAVY {
        if !selection.includes(pattern) {
            continue;
        }
        for (sides, load) in [("uniform", uniform), ("exponential", exponential)] {
            let of = |strategy| key(pattern, sides, load, strategy);
            for strategy in STRATEGIES {
                points.extend([of(strategy), wider(of(strategy))]);
            }
            if pattern == "random" {
                points.extend(["gabl", "mbs", "paging"].map(|strategy| longer(of(strategy))));
            } else {
                points.extend(["gabl", "mbs"].map(|strategy| wider(row_major(of(strategy)))));
                points.push(row_major(of("paging")));
            }
            points.extend(MESHES.map(|(machine, _)| Key { machine, ..of("gabl") }));
            points.extend(["gabl", "mbs"].map(|strategy| row_major(of(strategy))));
        }
    }
    for long in LONG.iter().filter(|long| selection.includes(long.pattern)) {
        points.extend(long.points());
    }
    for (pattern, sides, loads) in
        ENDS.into_iter().filter(|(pattern, ..)| selection.includes(pattern))
    {
        for load in loads {
            let of = |strategy| longer(key(pattern, sides, load, strategy));
            points.extend(STRATEGIES.map(of));
            points.extend(["gabl", "mbs"].map(|strategy| row_major(of(strategy))));
        }
    }
    for (pattern, load) in LIGHT.into_iter().filter(|(pattern, _)| selection.includes(pattern)) {
        points.extend(["gabl", "mbs"].map(|strategy| key(pattern, "uniform", load, strategy)));
    }
    points
}

fn claims(runs: &Runs<'_>, selection: &Selection) -> Result<Vec<Check>, VerifyError> {
    let mut checks = Vec::new();
    for (pattern, uniform, exponential) in HEAVY {
        if !selection.includes(pattern) {
            continue;
        }
        for (sides, load) in [("uniform", uniform), ("exponential", exponential)] {
            let streams = format!("16x16 {sides} {pattern}, load {load}");
            let mean = |strategy, metric| runs.mean(&key(pattern, sides, load, strategy), metric);
            let turnaround = |strategy| mean(strategy, Metric::Turnaround);
            let gabl = turnaround("gabl")?;
            for (metric, name) in [(Metric::Turnaround, "turnaround"), (Metric::Wait, "wait")] {
                for (one, other) in [
                    ("gabl", "paging"),
                    ("gabl", "first-fit"),
                    ("mbs", "paging"),
                    ("paging", "first-fit"),
                ] {
                    let what = format!("{name} of {one} over {other}");
                    let ours = mean(one, metric)? / mean(other, metric)?;
                    // With random pairs and uniform sides, the thesis claims only a difference between GABL and the
                    // other strategies.
                    if pattern != "random" || sides != "uniform" || one == "gabl" {
                        checks.push(claim(
                            "claims 7, 8",
                            &streams,
                            &what,
                            "1",
                            ours,
                            Tolerance::Below,
                        )?);
                    }
                }
            }
            if pattern == "random" {
                checks.push(claim(
                    "claim 8",
                    &streams,
                    "turnaround of GABL over MBS: hardly differs",
                    "1",
                    gabl / turnaround("mbs")?,
                    Tolerance::Relative(0.05),
                )?);
            } else {
                let what = "turnaround of GABL over MBS";
                let ours = gabl / turnaround("mbs")?;
                let check = claim("claim 7", &streams, what, "1", ours, Tolerance::Below)?;
                let slower = SLOWER.iter().find(|(p, s, _)| (*p, *s) == (pattern, sides));
                checks.push(match slower {
                    Some((_, _, ours)) => check.known(*ours, WHY_SLOWER),
                    None => check,
                });
                let turnaround = |strategy| {
                    let key = row_major(key(pattern, sides, load, strategy));
                    runs.mean(&key, Metric::Turnaround)
                };
                let what = "turnaround of GABL over MBS, row-major ranks";
                let ours = turnaround("gabl")? / turnaround("mbs")?;
                let check = claim("claim 7", &streams, what, "1", ours, Tolerance::Below)?;
                let note = "literal reading: ranks row-major over the whole allocation";
                checks.push(Check { note: note.to_string(), ..check });
            }
            let utilization = |strategy| mean(strategy, Metric::Utilization);
            let three = [utilization("gabl")?, utilization("mbs")?, utilization("paging")?];
            let (low, high) = three.iter().fold((f64::INFINITY, 0.0), |(low, high), &value| {
                (value.min(low), value.max(high))
            });
            let check = claim(
                "claim 10",
                &streams,
                // The thesis prints utilizations of 71 to 75 %, a spread of 4 points.
                "utilization: largest minus smallest of GABL, MBS and Paging(0), percentage points",
                "4",
                high - low,
                Tolerance::AtMost(0.0),
            )?;
            checks.push(check.printed_bound());
            let check = claim(
                "claim 10",
                &streams,
                // For all loads, the thesis prints at most 50 % for First Fit and at least 71 % for the other
                // strategies.
                "utilization of First Fit over GABL",
                "0.704",
                utilization("first-fit")? / utilization("gabl")?,
                Tolerance::AtMost(0.0),
            )?;
            checks.push(check.printed_bound());
            let contiguous = |strategy| mean(strategy, Metric::Contiguous);
            checks.push(claim(
                "claim 11",
                &streams,
                "jobs in one unit: MBS over Paging(0)",
                "1",
                contiguous("mbs")? / contiguous("paging")?,
                Tolerance::Above,
            )?);
            checks.push(claim(
                "claim 11",
                &streams,
                "jobs in one unit: GABL over MBS",
                "2",
                contiguous("gabl")? / contiguous("mbs")?,
                Tolerance::Above,
            )?);
            checks.push(claim(
                "claim 12",
                &streams,
                "units of a job: GABL over MBS",
                "1",
                mean("gabl", Metric::Blocks)? / mean("mbs", Metric::Blocks)?,
                Tolerance::Below,
            )?);
            checks.extend(paths_and_waits(runs, pattern, sides, load)?);
            checks.extend(sizes(runs, pattern, sides, load)?);
            if pattern == "random" {
                checks.extend(lengths(runs, sides, load)?);
            }
        }
        checks.extend(busy_lists(runs, (pattern, uniform, exponential))?);
        checks.extend(units_and_lists(runs, pattern, uniform)?);
    }
    for long in LONG.iter().filter(|long| selection.includes(long.pattern)) {
        checks.extend(long.checks(runs)?);
    }
    for (pattern, sides, loads) in
        ENDS.into_iter().filter(|(pattern, ..)| selection.includes(pattern))
    {
        checks.extend(order_of_long(runs, pattern, sides, loads)?);
    }
    if HEAVY.iter().all(|(pattern, ..)| selection.includes(pattern)) {
        checks.push(largest_advantage(runs)?);
        checks.extend(contention(runs)?);
    }
    Ok(checks.into_iter().map(declared).collect())
}

/// Declares known differences from claims that GABL is better than MBS. The thesis prints no number for these claims.
fn declared(check: Check) -> Check {
    let is_of = |what: &str| what.contains("gabl over mbs") && !what.contains(READ_ROW_MAJOR);
    let behind = BEHIND_MBS.iter().find(|(figure, workload, _)| {
        (*figure, *workload) == (&check.figure, &check.workload) && is_of(&check.what)
    });
    match behind {
        Some((.., ours)) => check.known(*ours, WHY_SLOWER),
        None => check,
    }
}

/// Rows in which GABL is worse than MBS if ranks are in the order of allocation. Each entry contains the figure, the
/// workload and the measured ratio.
const BEHIND_MBS: [(&str, &str, f64); 14] = [
    ("section 4.3.2", "16x16 uniform one-to-all, load 0.0205", 1.0476),
    ("section 4.3.2", "16x16 exponential one-to-all, load 0.04", 1.0705),
    ("section 4.3.2", "16x16 uniform all-to-all, load 0.0305", 1.1562),
    ("section 4.3.2", "16x16 exponential all-to-all, load 0.05", 1.1449),
    ("Fig. 4.13", "16x16 exponential one-to-all, load 0.04", 1.1217),
    ("Fig. 4.14", "16x16 uniform all-to-all, load 0.0305", 1.2366),
    ("section 4.3.2.1", "uniform one-to-all, load 0.0205", 1.3609),
    ("section 4.3.2.1", "uniform all-to-all, load 0.0305", 1.0796),
    ("Fig. 4.41", "exponential one-to-all, load 0.04", 1.1577),
    ("Fig. 4.43", "exponential all-to-all, load 0.05", 1.0917),
    ("Fig. 4.46", "16x16 uniform one-to-all 64 flits", 1.0271),
    ("Fig. 4.47", "16x16 exponential one-to-all 64 flits", 1.0234),
    ("Fig. 4.48", "16x16 uniform all-to-all 64 flits", 1.0462),
    ("Fig. 4.49", "16x16 exponential all-to-all 64 flits", 1.0597),
];

/// Patterns and distributions of sides for which GABL is slower than MBS, with the measured ratio.
const SLOWER: [(&str, &str, f64); 4] = [
    ("one-to-all", "uniform", 1.2593),
    ("one-to-all", "exponential", 1.1203),
    ("all-to-all", "uniform", 1.2334),
    ("all-to-all", "exponential", 1.2276),
];

const WHY_SLOWER: &str = "with ranks in the order of allocation, the power-of-two squares of MBS have shorter paths than the \
    long strips of GABL; routing delay, packet length and order of shrinking do not change this; the literal reading of ranks has a \
    separate row (results/experiments/gabl-mbs.md)";

/// Checks claim 12: GABL allocates fewer units than MBS, and the difference increases when the load decreases.
fn units_and_lists(runs: &Runs<'_>, pattern: &str, heavy: &str) -> Result<Vec<Check>, VerifyError> {
    let light = LIGHT.iter().find(|(name, _)| *name == pattern).map_or(heavy, |(_, load)| load);
    let units = |load| -> Result<f64, VerifyError> {
        let of = |strategy| runs.mean(&key(pattern, "uniform", load, strategy), Metric::Blocks);
        Ok(of("gabl")? / of("mbs")?)
    };
    let streams = format!("16x16 uniform {pattern}, loads {light} and {heavy}");
    let what =
        "units of a job: ratio of GABL to MBS at heavy load, divided by this ratio at light load";
    let ours = units(heavy)? / units(light)?;
    Ok(vec![claim("claim 12", &streams, what, "1", ours, Tolerance::Above)?])
}

/// Checks claim 13 (Figs. 4.28 to 4.39). On every mesh, the busy list is longer (length m) with exponential sides than
/// with uniform sides. The number b of searches (beyond the first) is "less sensitive to the size of the mesh": b grows
/// by a smaller factor than the number of processors.
fn busy_lists(
    runs: &Runs<'_>,
    (pattern, uniform, exponential): (&str, &str, &str),
) -> Result<Vec<Check>, VerifyError> {
    let all = [("uniform", uniform), ("exponential", exponential)];
    let mean = |machine, (sides, load), metric| {
        runs.mean(&Key { machine, ..key(pattern, sides, load, "gabl") }, metric)
    };
    let mut checks = Vec::new();
    for streams in all {
        let m = |machine| mean(machine, streams, Metric::BusyList);
        let ours = m("24x24")? / m("16x16")?;
        let figure = figure(28, pattern, streams.0);
        let what = "m of GABL: 24x24 over 16x16, below the ratio of processors";
        let streams = format!("{} {pattern}, load {}", streams.0, streams.1);
        checks.push(claim(&figure, &streams, what, "2.25", ours, Tolerance::Below)?);
    }
    for (machine, processors) in MESHES {
        let m = |sides| mean(machine, sides, Metric::BusyList);
        let streams = format!("{machine} {pattern}");
        let what = "m of GABL: exponential over uniform sides";
        let ours = m(all[1])? / m(all[0])?;
        checks.push(claim("claim 13", &streams, what, "1", ours, Tolerance::Above)?);
        for streams in all.into_iter().filter(|_| processors > 1.0) {
            let b = |machine| mean(machine, streams, Metric::Searches);
            let what = format!("b of GABL: {machine} over 16x16, below the ratio of processors");
            let (ours, bound) = (b(machine)? / b("16x16")?, processors.to_string());
            let streams = format!("{} {pattern}, load {}", streams.0, streams.1);
            checks.push(claim("claim 13", &streams, &what, &bound, ours, Tolerance::Below)?);
        }
    }
    Ok(checks)
}

/// Checks the lengths of message paths, and compares GABL with MBS by turnaround and waits (section 4.3.2). The thesis
/// prints no numbers for these comparisons.
fn paths_and_waits(
    runs: &Runs<'_>,
    pattern: &str,
    sides: &str,
    load: &str,
) -> Result<Vec<Check>, VerifyError> {
    let streams = format!("16x16 {sides} {pattern}, load {load}");
    // Ranks do not affect random pairs.
    let readings = if pattern == "random" { &READINGS[..1] } else { &READINGS };
    let mut checks = Vec::new();
    let mut compare = |figure: &str, metric, one, other, tolerance| {
        for (reading, of) in readings {
            let mean = |strategy| runs.mean(&of(key(pattern, sides, load, strategy)), metric);
            let what = format!("{} of {one} over {other}{reading}", metric.caption().words);
            checks.push(claim(figure, &streams, &what, "1", mean(one)? / mean(other)?, tolerance)?);
        }
        Ok::<(), VerifyError>(())
    };
    let (below, above) = (Tolerance::Below, Tolerance::Above);
    match (pattern, sides) {
        ("random", _) => {
            compare("section 4.3.2", Metric::Hops, "paging", "gabl", above)?;
            compare("section 4.3.2", Metric::Hops, "paging", "mbs", above)?;
        }
        _ => {
            compare("section 4.3.2", Metric::Hops, "gabl", "mbs", below)?;
            compare("section 4.3.2", Metric::Hops, "gabl", "paging", below)?;
        }
    }
    if (pattern, sides) == ("random", "uniform") {
        compare("Fig. 4.10", Metric::Turnaround, "gabl", "mbs", below)?;
    }
    if !PRINTED_WAITS.contains(&(pattern, sides)) {
        compare(&figure(12, pattern, sides), Metric::Wait, "gabl", "mbs", below)?;
    }
    Ok(checks)
}

/// Patterns and distributions of sides for which the waits of GABL are printed in percent of the waits of MBS.
const PRINTED_WAITS: [(&str, &str); 3] =
    [("one-to-all", "uniform"), ("all-to-all", "exponential"), ("random", "exponential")];

const WHY_CONTENTION: &str = "a job sends five packets on average. With random pairs, it sends \
    several packets at once. With one-to-all, it sends one packet after another, and with \
    all-to-all, one process after another sends most packets. These two patterns therefore cause \
    less contention";

/// Checks section 4.3.2: with random pairs, packets wait for links for a shorter time than with the other patterns.
fn contention(runs: &Runs<'_>) -> Result<Vec<Check>, VerifyError> {
    let [one_to_all, all_to_all, random] = HEAVY;
    let mut checks = Vec::new();
    for (sides, known) in [("uniform", [69.54, 8.0249]), ("exponential", [28.613, 4.1262])] {
        let blocking = |(pattern, uniform, exponential)| {
            let load = if sides == "uniform" { uniform } else { exponential };
            runs.mean(&key(pattern, sides, load, "gabl"), Metric::Blocking)
        };
        for (other, known) in [one_to_all, all_to_all].into_iter().zip(known) {
            let ours = blocking(random)? / blocking(other)?;
            let what = format!(
                "blocking of a packet under GABL: value with random pairs divided by value with {}",
                other.0
            );
            let streams = format!("16x16 {sides}");
            let check = claim("section 4.3.2", &streams, &what, "1", ours, Tolerance::Below)?;
            checks.push(check.known(known, WHY_CONTENTION));
        }
    }
    Ok(checks)
}

/// Checks claim 14 and Figs 4.40 to 4.45, which are about results on larger machines.
fn sizes(
    runs: &Runs<'_>,
    pattern: &str,
    sides: &str,
    load: &str,
) -> Result<Vec<Check>, VerifyError> {
    let turnaround = |key: Key<'_>| runs.mean(&key, Metric::Turnaround);
    let at = |strategy| key(pattern, sides, load, strategy);
    let streams = format!("{sides} {pattern}, load {load}");
    let figure = figure(40, pattern, sides);
    let claim_14 = if sides == "uniform" { "claim 14" } else { &figure };
    let mut checks = Vec::new();
    for strategy in STRATEGIES {
        let ours = turnaround(wider(at(strategy)))? / turnaround(at(strategy))?;
        let what = format!("turnaround of {strategy}, 32x32 over 16x16");
        let check = claim(claim_14, &streams, &what, "1", ours, Tolerance::Above)?;
        checks.push(check);
    }
    // The order of the strategies is the same as on the smaller mesh. With random pairs, the strategies do not differ.
    if pattern == "random" {
        for other in ["mbs", "paging"] {
            let ours = turnaround(wider(at("gabl")))? / turnaround(wider(at(other)))?;
            let what = format!("turnaround of gabl over {other} on 32x32: ratio close to 1");
            checks.push(claim(&figure, &streams, &what, "1", ours, Tolerance::Relative(0.05))?);
        }
        return Ok(checks);
    }
    for (one, other) in [("gabl", "paging"), ("gabl", "first-fit"), ("paging", "first-fit")] {
        let ours = turnaround(wider(at(one)))? / turnaround(wider(at(other)))?;
        let what = format!("turnaround of {one} over {other} on 32x32");
        checks.push(claim(claim_14, &streams, &what, "1", ours, Tolerance::Below)?);
    }
    let beside_mbs = if sides == "uniform" { "section 4.3.2.1" } else { &figure };
    for (reading, of) in READINGS {
        let ours = turnaround(wider(of(at("gabl"))))? / turnaround(wider(of(at("mbs"))))?;
        let what = format!("turnaround of gabl over mbs on 32x32{reading}");
        checks.push(claim(beside_mbs, &streams, &what, "1", ours, Tolerance::Below)?);
    }
    Ok(checks)
}

/// Checks claim 15 and Figs 4.50 and 4.51: with random pairs, longer packets do not change the gaps between the
/// strategies.
fn lengths(runs: &Runs<'_>, sides: &str, load: &str) -> Result<Vec<Check>, VerifyError> {
    let at = |strategy| key("random", sides, load, strategy);
    let streams = format!("{sides} random, load {load}");
    let figure = figure(46, "random", sides);
    let mut checks = Vec::new();
    for (other, name) in [("paging", "Paging(0)"), ("mbs", "MBS")] {
        let share = |of: fn(Key<'_>) -> Key<'_>| -> Result<f64, VerifyError> {
            let turnaround = |strategy| runs.mean(&of(at(strategy)), Metric::Turnaround);
            Ok(turnaround("gabl")? / turnaround(other)?)
        };
        let ours = share(longer)? / share(|key| key)?;
        let what = format!(
            "turnaround of GABL over {name}: ratio with 64 flits divided by ratio with 8 flits"
        );
        let of_claim = (sides, other) == ("uniform", "paging");
        let place = if of_claim { "claim 15" } else { &figure };
        checks.push(claim(place, &streams, &what, "1", ours, Tolerance::Relative(0.1))?);
    }
    Ok(checks)
}

/// Checks Figs 4.46 to 4.49: with packets of 64 flits, GABL is faster than every other strategy.
fn order_of_long(
    runs: &Runs<'_>,
    pattern: &str,
    sides: &str,
    [low, high]: [&str; 2],
) -> Result<Vec<Check>, VerifyError> {
    let streams = format!("16x16 {sides} {pattern} 64 flits");
    let figure = figure(46, pattern, sides);
    let [own, literal] = READINGS;
    let mut checks = Vec::new();
    for (other, (reading, of)) in
        [("paging", own), ("first-fit", own), ("mbs", own), ("mbs", literal)]
    {
        let ratio = |load| {
            let at = |strategy| longer(of(key(pattern, sides, load, strategy)));
            let turnaround = |strategy| runs.mean(&at(strategy), Metric::Turnaround);
            Ok::<f64, VerifyError>(turnaround("gabl")? / turnaround(other)?)
        };
        let ours = ratio(low)?.max(ratio(high)?);
        let what = format!(
            "turnaround of gabl over {other}{reading}, the larger ratio of loads {low} and {high}"
        );
        checks.push(claim(&figure, &streams, &what, "1", ours, Tolerance::Below)?);
    }
    Ok(checks)
}

/// Checks claim 9: the advantage of GABL is largest with all-to-all messages.
fn largest_advantage(runs: &Runs<'_>) -> Result<Check, VerifyError> {
    let share = |(pattern, load, _): (&str, &str, &str)| -> Result<f64, VerifyError> {
        let turnaround =
            |strategy| runs.mean(&key(pattern, "uniform", load, strategy), Metric::Turnaround);
        Ok(turnaround("gabl")? / turnaround("first-fit")?)
    };
    let [one, all, random] = HEAVY.map(share);
    let ours = all? / one?.min(random?);
    let what = "turnaround of GABL over First Fit: ratio with all-to-all divided by the smallest ratio of the other patterns";
    claim("claim 9", "16x16 uniform", what, "1", ours, Tolerance::Below)
}
