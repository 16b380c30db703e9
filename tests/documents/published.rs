//! Generates the page about the results printed in papers. The page states which results are judged.
//!
//! `printed.csv` in this folder contains the number of results of each paper, counted by hand, and the names of the
//! corresponding rows of `replay verify`. `printed.csv` gives a reason for each result without a row.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;

use libtest_mimic::Failed;
use serde::de::DeserializeOwned;

use super::reference::cell;

/// The papers: key, authors, and suites of their rows.
const PAPERS: [(&str, &str, &[&str]); 5] = [
    ("johnson", "Johnson, Bunde, Leung", &["johnson"]),
    ("lo", "Lo, Windisch, Liu, Nitzberg", &["lo", "lo-messages"]),
    ("bani-mohammad", "Bani-Mohammad", &["bani-mohammad", "bani-mohammad-messages"]),
    ("turner", "Turner", &["turner"]),
    ("chang-mohapatra", "Chang, Mohapatra", &["chang-mohapatra"]),
];

/// A place in a paper with printed results.
#[derive(serde::Deserialize)]
struct Place {
    paper: String,
    place: String,
    /// Number of printed numbers and claims.
    printed: usize,
    /// `suite/figure` of the corresponding rows, separated by `|`.
    rows: String,
    /// Number of results without a row.
    other: usize,
    /// Reason why some results have no row.
    why: String,
}

/// A row of the last complete run of `replay verify`.
#[derive(serde::Deserialize)]
struct Row {
    suite: String,
    figure: String,
    workload: String,
    what: String,
    bound: String,
    out_of_sample: String,
    verdict: String,
}

impl Row {
    /// If the row has no verdict, returns `not judged` or `not run`, and the reason.
    fn without_verdict(&self) -> Option<(&str, &str)> {
        self.verdict.split_once(": ").filter(|(what, _)| what.starts_with("not "))
    }

    fn label(&self) -> String {
        format!("{}/{}", self.suite, self.figure)
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, Failed> {
    let file = File::open(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let rows: Result<Vec<T>, _> = csv::Reader::from_reader(file).into_deserialize().collect();
    rows.map_err(|e| format!("{}: {e}", path.display()).into())
}

/// Returns the text of the page.
pub fn page(root: &Path) -> Result<String, Failed> {
    let rows: Vec<Row> = read(&root.join("results/verify.csv"))?;
    let places: Vec<Place> = read(&root.join("tests/documents/printed.csv"))?;
    let audit: Vec<BTreeMap<String, String>> = read(&root.join("results/verify-audit.csv"))?;
    are_complete(&places, &rows)?;
    for (name, is_whole) in [("verify-full", true), ("verify-all-to-all", false)] {
        let full: Vec<Row> = read(&root.join(format!("results/{name}.csv")))?;
        has_same_rows(name, &full, &rows, is_whole)?;
    }
    let mut page = String::from(
        "# Printed numbers\n\nNumbers and claims of the papers, and how \
         [the last complete run](../../../results/verify.md) judges them.\n",
    );
    by_paper(&mut page, &places, &rows)?;
    by_suite(&mut page, &rows)?;
    audited(&mut page, &audit)?;
    by_place(&mut page, &places, &rows)?;
    Ok(page)
}

/// Checks that all rows of a run with `--full` are also rows of the complete run. If `is_whole` is true, also checks
/// that the run with `--full` has all rows of the complete run in the same suites.
fn has_same_rows(name: &str, full: &[Row], rows: &[Row], is_whole: bool) -> Result<(), Failed> {
    let key = |row: &Row| [&row.suite, &row.figure, &row.workload, &row.what].map(String::clone);
    let suites: BTreeSet<&str> = full.iter().map(|row| row.suite.as_str()).collect();
    let of_suites = rows.iter().filter(|row| suites.contains(row.suite.as_str()));
    let (full, quick): (BTreeSet<_>, BTreeSet<_>) =
        (full.iter().map(key).collect(), of_suites.map(key).collect());
    let missing = quick.difference(&full).next().filter(|_| is_whole);
    match full.difference(&quick).next().or(missing) {
        Some(row) => {
            Err(format!("results/{name}.csv and verify.csv do not both have {row:?}").into())
        }
        None => Ok(()),
    }
}

/// Checks that each result has a row or a reason, and that each row of a paper belongs to a result.
fn are_complete(places: &[Place], rows: &[Row]) -> Result<(), Failed> {
    let mut answered = BTreeSet::new();
    for it in places {
        let at = format!("printed.csv: {}, {}", it.paper, it.place);
        let labels: Vec<&str> = it.rows.split('|').filter(|label| !label.is_empty()).collect();
        answered.extend(labels.iter().map(|label| label.to_string()));
        for label in &labels {
            if !rows.iter().any(|row| row.label() == *label) {
                return Err(format!("{at}: no row has the name {label}").into());
            }
        }
        let found = rows.iter().filter(|row| labels.contains(&row.label().as_str())).count();
        if found + it.other < it.printed || it.other > it.printed {
            return Err(
                format!("{at}: {} printed, {found} rows, {} other", it.printed, it.other).into()
            );
        }
        if (it.other > 0) == it.why.is_empty() {
            return Err(format!("{at}: results without a row need a reason, and only they").into());
        }
    }
    let of_papers =
        |row: &&Row| PAPERS.iter().any(|(_, _, suites)| suites.contains(&row.suite.as_str()));
    match rows.iter().filter(of_papers).find(|row| !answered.contains(&row.label())) {
        Some(row) => Err(format!("printed.csv: no place lists the rows {}", row.label()).into()),
        None => Ok(()),
    }
}

/// Numbers of results that are printed, judged, not judged, and not run.
#[derive(Clone, Copy, Default)]
struct ResultCounts {
    printed: usize,
    judged: usize,
    not_judged: usize,
    not_run: usize,
}

impl ResultCounts {
    /// Counts the results printed at a place of a paper. A result may have several rows, and is judged if at least one
    /// of its rows is judged. Repeated results are not counted.
    fn of(place: &Place, rows: &[Row]) -> Self {
        if place.why.starts_with("repeats") {
            return Self::default();
        }
        let labels: Vec<&str> = place.rows.split('|').collect();
        let rows = || rows.iter().filter(|row| labels.contains(&row.label().as_str()));
        let not_run = |row: &&Row| row.without_verdict().is_some_and(|(what, _)| what == "not run");
        let answered = place.printed - place.other;
        let judged = rows().filter(|row| row.without_verdict().is_none()).count().min(answered);
        let not_run = rows().filter(not_run).count().min(answered - judged);
        let not_judged = place.printed - judged - not_run;
        Self { printed: place.printed, judged, not_judged, not_run }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            printed: self.printed + other.printed,
            judged: self.judged + other.judged,
            not_judged: self.not_judged + other.not_judged,
            not_run: self.not_run + other.not_run,
        }
    }

    fn cells(self) -> String {
        format!("{} | {} | {} | {}", self.printed, self.judged, self.not_judged, self.not_run)
    }
}

fn by_paper(page: &mut String, places: &[Place], rows: &[Row]) -> Result<(), Failed> {
    *page += "\n## By paper\n\n*Printed* counts numbers and claims that can be checked, by hand; settings, \
              references, curves without numbers and repeated results are not counted. Places and reasons are listed [below](#by-place).\n\n\
              | paper | printed | judged | not judged | not run |\n|---|---:|---:|---:|---:|\n";
    let mut whole = ResultCounts::default();
    for (paper, authors, _) in PAPERS {
        let of_paper = places.iter().filter(|place| place.paper == paper);
        let counts = of_paper
            .map(|place| ResultCounts::of(place, rows))
            .fold(ResultCounts::default(), ResultCounts::plus);
        whole = whole.plus(counts);
        writeln!(page, "| {authors} | {} |", counts.cells())?;
    }
    writeln!(page, "| all | {} |", whole.cells())?;
    Ok(())
}

fn by_place(page: &mut String, places: &[Place], rows: &[Row]) -> Result<(), Failed> {
    *page += "\n## By place\n\nA result with several rows (interpretations, machines, distributions) counts once.\n";
    for (paper, authors, _) in PAPERS {
        write!(
            page,
            "\n### {authors}\n\n| place | printed | judged | not judged | not run | rows | why not |\n\
             |---|---:|---:|---:|---:|---|---|\n"
        )?;
        for place in places.iter().filter(|place| place.paper == paper) {
            let labels: Vec<&str> = place.rows.split('|').collect();
            let of_place = rows.iter().filter(|row| labels.contains(&row.label().as_str()));
            let reasons: BTreeSet<&str> =
                of_place.filter_map(|row| Some(row.without_verdict()?.1)).collect();
            let why = std::iter::once(place.why.as_str()).chain(reasons);
            let why: Vec<&str> = why.filter(|why| !why.is_empty()).collect();
            let labels = place.rows.replace('|', ", ");
            let (name, counts) = (cell(&place.place), ResultCounts::of(place, rows).cells());
            writeln!(
                page,
                "| {name} | {counts} | {} | {} |",
                cell(&labels),
                cell(&why.join("; "))
            )?;
        }
    }
    Ok(())
}

/// Numbers of rows of a suite by outcome.
#[derive(Default)]
struct Outcomes {
    rows: usize,
    judged: usize,
    agree: usize,
    undecided: usize,
    ours: usize,
    out_of_sample: usize,
    not_judged: usize,
    not_run: usize,
}

fn by_suite(page: &mut String, rows: &[Row]) -> Result<(), Failed> {
    let mut suites: Vec<(&str, Outcomes)> = Vec::new();
    for row in rows {
        if suites.last().is_none_or(|(last, _)| *last != row.suite) {
            suites.push((&row.suite, Outcomes::default()));
        }
        let Some((_, outcomes)) = suites.last_mut() else { continue };
        outcomes.rows += 1;
        match row.without_verdict() {
            Some(("not run", _)) => outcomes.not_run += 1,
            Some(_) => outcomes.not_judged += 1,
            None => {
                outcomes.judged += 1;
                outcomes.ours += usize::from(row.bound == "ours");
                outcomes.out_of_sample += usize::from(row.out_of_sample == "yes");
                outcomes.agree += usize::from(matches!(row.verdict.as_str(), "same" | "within"));
                outcomes.undecided += usize::from(row.verdict == "undecided");
            }
        }
    }
    *page += "\n## By suite\n\nA row is a number or a claim. *Bound of ours*: the paper states a claim in words, and we chose \
              its bound. *Out of sample*: no rule, constant or network was chosen on this statement of the \
              paper. Rows that disagree differ (a number) or contradict (a claim).\n\n\
              | suite | rows | judged | agree | undecided | disagree | bound of ours | out of sample | not judged | not run |\n\
              |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n";
    for (suite, it) in &suites {
        let Outcomes { rows, judged, agree, undecided, ours, out_of_sample, .. } = it;
        let disagree = judged - agree - undecided;
        writeln!(
            page,
            "| `{suite}` | {rows} | {judged} | {agree} | {undecided} | {disagree} | {ours} | {out_of_sample} | {} | {} |",
            it.not_judged, it.not_run
        )?;
    }
    Ok(())
}

/// Adds the section about classes of judged rows and swapped strategies.
fn audited(page: &mut String, audit: &[BTreeMap<String, String>]) -> Result<(), Failed> {
    const COLUMNS: [(&str, &str); 11] = [
        ("judged", "judged"),
        ("rows_claims", "claims"),
        ("rows_implied", "implied"),
        ("rows_calibrated", "calibrated"),
        ("rows_fitted", "fitted"),
        ("rows_out_of_sample", "out of sample"),
        ("swaps", "swaps"),
        ("unnoticed", "unnoticed"),
        ("unnoticed_equal", "equal"),
        ("unnoticed_bound", "bound"),
        ("unnoticed_wide", "wide"),
    ];
    *page += "\n## Power of the verdicts\n\n\
              [`replay verify --audit`](../../../results/verify-audit.csv), without `--shake`. *Claims* have a bound of ours. Of the \
              printed numbers, *implied* ones follow from constants that our number is computed from, *calibrated* ones belong to \
              the network that was calibrated on their table, *fitted* ones were used to choose a rule or a constant, and those \
              *out of sample* were not used. A *swap* replaces the number of a row by that of another strategy; it is unnoticed if \
              the verdict remains as declared. *Equal*: the intervals of both numbers have a value in common, or the numbers \
              differ by at most 1 % (a limit of ours). *Bound*: a claim in words holds for both. *Wide*: the tolerance admits both.\n\n";
    writeln!(page, "| suite | {} |", COLUMNS.map(|(_, title)| title).join(" | "))?;
    writeln!(page, "|---{}|", "|---:".repeat(COLUMNS.len()))?;
    let mut whole = [0; COLUMNS.len()];
    for row in audit {
        let of = |name: &str| row.get(name).ok_or(format!("verify-audit.csv: no column {name}"));
        write!(page, "| `{}` |", of("suite")?)?;
        for ((name, _), whole) in COLUMNS.iter().zip(&mut whole) {
            let count: usize = of(name)?.parse()?;
            *whole += count;
            write!(page, " {count} |")?;
        }
        page.push('\n');
    }
    writeln!(page, "| all | {} |", whole.map(|count| count.to_string()).join(" | "))?;
    Ok(())
}
