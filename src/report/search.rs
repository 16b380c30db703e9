//! The results of a search as tables. What the columns are is said once, here.

use super::format::{Align, Sheet, Value};
use crate::experiment::search::{Candidate, Extent, Origin, Portability, Ratio, SearchRow, Spared};
use crate::number::{fixed, grouped};

/// What a column of a search holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SearchKind {
    /// Text.
    Text,
    /// Unsigned integer.
    U64,
    /// Signed integer.
    I64,
    /// Real number.
    F64,
}

/// A column of the table of a search.
#[derive(Debug)]
pub struct SearchColumn {
    /// Name.
    pub name: &'static str,
    /// What it holds.
    pub kind: SearchKind,
    /// Unit; empty for names, numbers of things and pure ratios.
    pub unit: &'static str,
    /// Meaning, and when it is null.
    pub about: &'static str,
    /// Its value.
    pub get: fn(&SearchRow) -> Value,
}

fn text(text: &str) -> Value {
    Value::Text(text.to_string())
}

fn factor(row: &SearchRow, which: fn(&crate::allocator::centre::TieVector) -> i64) -> Value {
    row.candidate.map_or(Value::Missing, |one| Value::Integer(which(&one.vector)))
}

fn share(row: &SearchRow, which: fn(Ratio) -> f64) -> Value {
    row.candidate.map(|one| which(Ratio::of(one.vector))).into()
}

fn yes(flag: Option<bool>) -> Value {
    flag.map_or(Value::Missing, |flag| text(if flag { "yes" } else { "no" }))
}

use SearchKind::{F64, I64, Text, U64};

/// The columns of the table of a search: a row is an evaluation.
#[rustfmt::skip]
pub static SEARCH_COLUMNS: [SearchColumn; 24] = [
    SearchColumn { name: "searched", kind: Text, unit: "", about: "traces that were searched, joined by +", get: |r| text(&r.searched) },
    SearchColumn { name: "rank", kind: U64, unit: "", about: "place among whole evaluations, from 1, those that keep the constraints first; null if not whole or not found by the search", get: |r| r.rank.into() },
    SearchColumn { name: "origin", kind: Text, unit: "", about: "found by the search; given by --tie; none, no tie-breaking", get: |r| text(origin(r.origin)) },
    SearchColumn { name: "tie", kind: Text, unit: "", about: "tie vector SR,AF,WF,BF, reduced; null without tie-breaking", get: |r| r.candidate.map_or(Value::Missing, |one| text(&one.vector.to_string())) },
    SearchColumn { name: "sr", kind: I64, unit: "shells", about: "scan radius", get: |r| factor(r, |v| v.scan_radius.into()) },
    SearchColumn { name: "af", kind: I64, unit: "", about: "available factor", get: |r| factor(r, |v| v.available.into()) },
    SearchColumn { name: "wf", kind: I64, unit: "", about: "wall factor", get: |r| factor(r, |v| v.wall.into()) },
    SearchColumn { name: "bf", kind: I64, unit: "", about: "border factor", get: |r| factor(r, |v| v.border.into()) },
    SearchColumn { name: "slack", kind: F64, unit: "", about: "share of the best score by which a candidate may be worse and compete by tie value; null without tie-breaking", get: |r| r.candidate.map(|one| one.slack.share()).into() },
    SearchColumn { name: "wall_share", kind: F64, unit: "", about: "WF / (AF + WF); 0 if both are 0; negative factors count as 0", get: |r| share(r, |ratio| ratio.wall) },
    SearchColumn { name: "border_share", kind: F64, unit: "", about: "BF / (AF + WF + BF); negative factors count as 0", get: |r| share(r, |ratio| ratio.border) },
    SearchColumn { name: "value", kind: F64, unit: "as the objective", about: "the objective, mean over the traces searched; null if stopped", get: |r| r.value.into() },
    SearchColumn { name: "improvement_percent", kind: F64, unit: "%", about: "improvement on no tie-breaking, mean over the traces searched; an upper bound if stopped", get: |r| Value::Real(r.improvement_percent) },
    SearchColumn { name: "test_improvement_percent", kind: F64, unit: "%", about: "the same on the test traces; null if not tried there", get: |r| r.test_improvement_percent.into() },
    SearchColumn { name: "feasible", kind: Text, unit: "", about: "whether all constraints hold, yes or no; null if stopped, and without tie-breaking", get: |r| yes(r.feasible) },
    SearchColumn { name: "excess_percent", kind: F64, unit: "%", about: "by how much constraints are exceeded at most; null as feasible", get: |r| r.excess_percent.into() },
    SearchColumn { name: "worst_size", kind: U64, unit: "processors", about: "job size whose mean pairwise L1 worsens most; null if stopped", get: |r| r.worst.as_ref().map(|w| u64::from(w.0)).into() },
    SearchColumn { name: "worst_jobs", kind: U64, unit: "jobs", about: "jobs of that size", get: |r| r.worst.as_ref().map(|w| w.1).into() },
    SearchColumn { name: "worst_percent", kind: F64, unit: "%", about: "how much it worsens; below 0 if it gains", get: |r| r.worst.as_ref().map(|w| w.2).into() },
    SearchColumn { name: "worst_trace", kind: Text, unit: "", about: "the trace in which", get: |r| r.worst.as_ref().map_or(Value::Missing, |w| text(&w.3)) },
    SearchColumn { name: "extent", kind: Text, unit: "", about: "whole; stopped, because certain not to be among the best; or prefix, a first part only", get: |r| text(extent(r.extent)) },
    SearchColumn { name: "share", kind: F64, unit: "", about: "share of the decisions that a prefix takes; null otherwise", get: |r| match r.extent { Extent::Prefix(share) => Value::Real(share), _ => Value::Missing } },
    SearchColumn { name: "evaluation", kind: U64, unit: "", about: "when the search asked for it, from 1; null if it did not", get: |r| r.evaluation.into() },
    SearchColumn { name: "decisions", kind: U64, unit: "decisions", about: "decisions replayed", get: |r| Value::Unsigned(r.decisions) },
];

fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::None => "none",
        Origin::Found => "found",
        Origin::Given => "given",
    }
}

fn extent(extent: Extent) -> &'static str {
    match extent {
        Extent::Whole => "whole",
        Extent::Stopped => "stopped",
        Extent::Prefix(_) => "prefix",
    }
}

/// Everything known of an evaluation, as named values.
pub fn search_row(row: &SearchRow) -> Vec<(&'static str, Value)> {
    SEARCH_COLUMNS.iter().map(|column| (column.name, (column.get)(row))).collect()
}

/// The table for people. Columns that say nothing are left out.
pub fn search_summary(objective: &str, rows: &[SearchRow]) -> Sheet {
    let several = rows.windows(2).any(|pair| pair[0].searched != pair[1].searched);
    let constrained = rows.iter().any(|row| row.feasible == Some(false));
    let tested = rows.iter().any(|row| row.test_improvement_percent.is_some());
    let mut header = Vec::new();
    if several {
        header.push(("searched", Align::Left));
    }
    header.extend([
        ("rank", Align::Right),
        ("tie", Align::Left),
        ("AF : WF : BF", Align::Left),
        (objective, Align::Right),
        ("better %", Align::Right),
    ]);
    if tested {
        header.push(("test %", Align::Right));
    }
    if constrained {
        header.push(("over limit %", Align::Right));
    }
    header.extend([
        ("worst size", Align::Right),
        ("its jobs", Align::Right),
        ("worse %", Align::Right),
    ]);
    let mut sheet = Sheet::new(&header);
    let dash = || "-".to_string();
    for row in rows {
        let mut cells = Vec::new();
        if several {
            cells.push(row.searched.clone());
        }
        cells.extend([
            match row.origin {
                Origin::Given => "given".to_string(),
                _ => row.rank.map_or_else(dash, grouped),
            },
            row.candidate.map_or_else(dash, |one| one.to_string()),
            ratios(row),
            row.value.map_or_else(dash, |value| fixed(value, 3)),
            fixed(row.improvement_percent, 3),
        ]);
        if tested {
            cells.push(row.test_improvement_percent.map_or_else(dash, |value| fixed(value, 3)));
        }
        if constrained {
            cells.push(row.excess_percent.map_or_else(dash, |value| fixed(value, 2)));
        }
        let worst = row.worst.as_ref();
        cells.extend([
            worst.map_or_else(dash, |worst| grouped(worst.0)),
            worst.map_or_else(dash, |worst| grouped(worst.1)),
            worst.map_or_else(dash, |worst| fixed(worst.2, 2)),
        ]);
        sheet.push(cells);
    }
    sheet
}

/// The factors over the first that is not 0, as the paper's Fig. 8 gives them; signs stay.
fn ratios(row: &SearchRow) -> String {
    let Some(Candidate { vector, .. }) = row.candidate else { return "-".to_string() };
    let factors = [vector.available, vector.wall, vector.border].map(f64::from);
    let unit = factors.iter().copied().find(|&factor| factor != 0.0).unwrap_or(1.0).abs();
    factors.map(|factor| fixed(factor / unit, 3)).join(" : ")
}

/// Vectors tried on traces, one row per pair, as named values.
pub fn portability_rows(matrix: &Portability) -> Vec<Vec<(&'static str, Value)>> {
    let mut rows = Vec::new();
    for (found, cells) in matrix.found.iter().zip(&matrix.cells) {
        for (part, cell) in matrix.parts.iter().zip(cells) {
            rows.push(vec![
                ("found", text(&found.candidate.to_string())),
                ("found_on", text(&found.on)),
                ("trace", text(&part.name)),
                ("topology", text(&part.topology)),
                ("tie", text(&cell.candidate.to_string())),
                ("value", Value::Real(cell.value)),
                ("baseline", Value::Real(part.baseline)),
                ("improvement_percent", Value::Real(cell.improvement_percent)),
                ("excess_percent", Value::Real(cell.excess_percent)),
            ]);
        }
    }
    rows
}

/// Improvements in percent by vector and trace.
pub fn portability_summary(matrix: &Portability) -> Sheet {
    let mut header = vec![("tie", Align::Left), ("found on", Align::Left)];
    header.extend(matrix.parts.iter().map(|part| (part.name.as_str(), Align::Right)));
    let mut sheet = Sheet::new(&header);
    for (found, cells) in matrix.found.iter().zip(&matrix.cells) {
        let mut row = vec![found.candidate.to_string(), found.on.clone()];
        row.extend(cells.iter().map(|cell| {
            let improvement = fixed(cell.improvement_percent, 3);
            let radius = cell.candidate.vector.scan_radius;
            match radius == found.candidate.vector.scan_radius {
                true => improvement,
                false => format!("{improvement} (SR {radius})"),
            }
        }));
        sheet.push(row);
    }
    sheet
}

/// Which work was not done, as named values; `whole` decisions make an evaluation.
pub fn spared_rows(
    searched: &str,
    spared: &Spared,
    equal_ratios: u64,
    whole: u64,
) -> Vec<Vec<(&'static str, Value)>> {
    [
        (
            "equal-ratio",
            true,
            equal_ratios,
            equal_ratios * whole,
            "vectors of the grid that break no tie or have the ratio of another",
        ),
        (
            "repeated",
            true,
            spared.repeats,
            spared.repeats * whole,
            "vectors that were asked for again",
        ),
        (
            "stopped",
            true,
            spared.stopped,
            spared.stopped_decisions,
            "evaluations stopped because certain not to be among the best",
        ),
        (
            "dropped",
            false,
            spared.dropped,
            spared.dropped_decisions,
            "vectors given up after a first part of the traces",
        ),
    ]
    .into_iter()
    .map(|(reason, exact, evaluations, decisions, about)| {
        vec![
            ("searched", text(searched)),
            ("reason", text(reason)),
            ("exact", yes(Some(exact))),
            ("evaluations", Value::Unsigned(evaluations)),
            ("decisions", Value::Unsigned(decisions)),
            ("about", text(about)),
        ]
    })
    .collect()
}
