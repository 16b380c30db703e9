//! Audit of the verdicts of the rows; the audit shows how many verdicts depend on the strategy.
//!
//! If a row would pass with any strategy, the row is not evidence that its strategy is implemented correctly. The *swap
//! test* changes the number of each judged row and judges the row again. The test either replaces the number by the
//! number of another strategy, or exchanges two strategies in all numbers of a claim. A swap is unnoticed if the row
//! still agrees with its declaration. For each suite, the numbers of unnoticed swaps, undecided rows and rows without a
//! swap are declared in [`BASELINES`]. Any difference from these numbers is reported as a complaint.

use super::{Cause, Check, Class, Measured, NotRun, Suite, Verdict};
use std::collections::BTreeMap;

use replay_engine::table::{Column, Sheet, Shown, Table};

/// The counts of one audited suite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AuditBaseline {
    /// Rows that are judged.
    pub judged: usize,
    /// Judged rows with the verdict "undecided", because their interval is too wide.
    pub undecided: usize,
    /// Judged rows without a swap.
    pub unswapped: usize,
    /// Number of swaps, summed over all judged rows.
    pub swaps: usize,
    /// Swaps that are unnoticed.
    pub unnoticed: usize,
}

/// Declared counts of each suite in its quick form: judged rows, undecided rows, rows without a swap, swaps and
/// unnoticed swaps. The counts of `johnson` exclude the log LLNL-T3D.
pub const BASELINES: [(&str, AuditBaseline); 10] = [
    ("johnson", AuditBaseline::new([146, 7, 53, 1106, 575])),
    ("lo", AuditBaseline::new([68, 3, 0, 456, 115])),
    ("lo-messages", AuditBaseline::new([181, 17, 0, 1833, 447])),
    ("bani-mohammad", AuditBaseline::new([169, 11, 6, 953, 441])),
    ("bani-mohammad-messages", AuditBaseline::new([310, 29, 6, 1250, 477])),
    ("turner", AuditBaseline::new([191, 7, 17, 304, 125])),
    ("chang-mohapatra", AuditBaseline::new([85, 17, 6, 742, 432])),
    ("bounds", AuditBaseline::new([8, 0, 0, 24, 0])),
    ("scheduling", AuditBaseline::new([15, 0, 3, 18, 0])),
    ("lublin", AuditBaseline::new([21, 0, 0, 42, 2])),
];

impl AuditBaseline {
    const fn new([judged, undecided, unswapped, swaps, unnoticed]: [usize; 5]) -> Self {
        Self { judged, undecided, unswapped, swaps, unnoticed }
    }
}

/// Audit of one suite.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Audit {
    /// Name of the suite.
    pub suite: &'static str,
    /// Measured counts.
    pub found: AuditBaseline,
    /// Declared counts; `None` for a suite without a declaration.
    pub baseline: Option<AuditBaseline>,
    /// Rows that did not run because their log is absent. If the logs of these rows were present, the counts of the
    /// audit would be higher.
    pub absent: usize,
    /// Judged rows that are declared to be beyond their tolerance.
    pub known: usize,
    /// All rows of the suite.
    pub rows: usize,
    /// Rows that are shown without a verdict.
    pub not_judged: usize,
    /// Rows that did not run.
    pub not_run: usize,
    /// Number of rows without a verdict, by reason.
    pub reasons: BTreeMap<String, usize>,
    /// Judged rows by [class](Class::ALL).
    pub classes: [usize; Class::ALL.len()],
    /// Unnoticed swaps by [cause](Cause::ALL).
    pub causes: [usize; Cause::ALL.len()],
}

impl Audit {
    /// Audits all checks of a suite.
    pub fn new(suite: &Suite, checks: &[Check]) -> Self {
        let judged = || checks.iter().filter(|check| check.is_judged());
        let baseline = BASELINES.iter().find(|(name, _)| *name == suite.name).map(|(_, it)| *it);
        let absent = |check: &&Check| {
            matches!(&check.ours, Measured::NotRun(NotRun::Absent(_) | NotRun::OtherLog(_)))
        };
        let count =
            |of: fn(&Verdict) -> bool| checks.iter().filter(|check| of(&check.verdict())).count();
        let found = AuditBaseline {
            judged: judged().count(),
            undecided: judged().filter(|check| check.verdict() == Verdict::Undecided).count(),
            unswapped: judged().filter(|check| check.swaps.is_empty()).count(),
            swaps: judged().map(|check| check.swaps.len()).sum(),
            unnoticed: judged().map(|check| check.unnoticed().count()).sum(),
        };
        Self {
            suite: suite.name,
            found,
            baseline,
            absent: checks.iter().filter(absent).count(),
            rows: checks.len(),
            not_judged: count(|verdict| matches!(verdict, Verdict::NotJudged(_))),
            not_run: count(|verdict| matches!(verdict, Verdict::NotRun(_))),
            reasons: reasons(checks),
            known: judged().filter(|check| check.known.is_some()).count(),
            classes: Class::ALL
                .map(|class| judged().filter(|check| check.class() == class).count()),
            causes: Cause::ALL.map(|cause| {
                let of = |check: &Check| {
                    check.unnoticed().filter(|swap| check.cause(swap) == cause).count()
                };
                judged().map(of).sum()
            }),
        }
    }

    /// Lists the reasons for rows without a verdict, the most frequent reason first.
    fn reasons_by_frequency(&self) -> String {
        let mut reasons: Vec<_> = self.reasons.iter().collect();
        reasons.sort_by_key(|(reason, rows)| (usize::MAX - **rows, *reason));
        let reasons = reasons.into_iter().map(|(reason, rows)| format!("{rows} {reason}"));
        reasons.collect::<Vec<_>>().join("; ")
    }

    /// Returns a message if rows could not be audited because their logs are absent.
    pub fn missing(&self) -> Option<String> {
        let Self { suite, absent, found, .. } = self;
        let what = match found.judged {
            0 => "nothing was audited",
            _ => "some rows were not audited",
        };
        (*absent > 0).then(|| {
            format!(
                "{suite}: {what}: the logs of {absent} rows are absent \
                 (replay fetch fetches them)"
            )
        })
    }

    /// Returns a message if the counts differ from the declared counts. If a log is absent, counts below the declared
    /// counts are accepted.
    pub fn complaint(&self) -> Option<String> {
        let (found, suite) = (self.found, self.suite);
        let declared = self.baseline?;
        let as_declared = match self.absent {
            0 => found == declared,
            _ => {
                found.judged <= declared.judged
                    && found.undecided <= declared.undecided
                    && found.unswapped <= declared.unswapped
                    && found.unnoticed <= declared.unnoticed
            }
        };
        (!as_declared).then(|| {
            format!(
                "{suite}: {} rows judged, {} undecided, {} without a swap, {} of {} swaps unnoticed; \
                 declared {}, {}, {}, {} of {}",
                found.judged,
                found.undecided,
                found.unswapped,
                found.unnoticed,
                found.swaps,
                declared.judged,
                declared.undecided,
                declared.unswapped,
                declared.unnoticed,
                declared.swaps,
            )
        })
    }

    /// Returns the audits as a printable table.
    pub fn sheet(audits: &[Self]) -> Sheet {
        // The reasons are a table of their own.
        let counts = Self::columns()
            .into_iter()
            .filter(|column| column.name == Check::SUITE || column.kind().is_number());
        let shown =
            counts.map(|column| Shown::column(column.name, column.name.text(), 0)).collect();
        Sheet::of(audits, shown)
    }
}

impl Table for Audit {
    const NAME: &'static str = "audit";
    const ROW: &'static str =
        "one row per suite of published numbers: how many of its verdicts could fail";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        vec![
            Column::text(Check::SUITE, "suite of published numbers", |audit: &Self| Some(audit.suite)),
            Column::new("rows", "rows", "printed numbers and claims of the suite", |audit: &Self| audit.rows as u64),
            Column::new("not_judged", "rows", "rows shown without a verdict", |audit: &Self| audit.not_judged as u64),
            Column::new("not_run", "rows", "rows that did not run", |audit: &Self| audit.not_run as u64),
            Column::new("absent", "rows", "rows that were not audited because their log is absent", |audit: &Self| audit.absent as u64),
            Column::new("judged", "rows", "judged rows", |audit: &Self| audit.found.judged as u64),
            Column::new("undecided", "rows", "judged rows with the verdict undecided, because their interval is too wide", |audit: &Self| audit.found.undecided as u64),
            Column::new("declared", "rows", "judged rows declared to be beyond their tolerance", |audit: &Self| audit.known as u64),
            Column::new("rows_claims", "rows", "judged rows: claims of the paper's text, with a bound chosen for replay", |audit: &Self| audit.classes[0] as u64),
            Column::new("rows_implied", "rows", "judged rows: numbers that follow from printed constants; replay computes its value from the same constants", |audit: &Self| audit.classes[1] as u64),
            Column::new("rows_calibrated", "rows", "judged rows whose published number is from the table on which the network was calibrated", |audit: &Self| audit.classes[2] as u64),
            Column::new("rows_fitted", "rows", "judged rows: numbers to which a rule or constant was fitted", |audit: &Self| audit.classes[3] as u64),
            Column::new("rows_out_of_sample", "rows", "judged rows: printed numbers to which nothing was fitted", |audit: &Self| audit.classes[4] as u64),
            Column::new("unswapped", "rows", "judged rows for which no other strategy's number is available", |audit: &Self| audit.found.unswapped as u64),
            Column::new("swaps", "swaps", "replacements of a judged row's number by the number of another strategy", |audit: &Self| audit.found.swaps as u64),
            Column::new("unnoticed", "swaps", "swaps after which the row still gets its declared verdict", |audit: &Self| audit.found.unnoticed as u64),
            Column::new("unnoticed_equal", "swaps", "unnoticed swaps in which the two numbers are equal: their intervals overlap, or they differ by at most 1 %", |audit: &Self| audit.causes[0] as u64),
            Column::new("unnoticed_bound", "swaps", "swaps of two unequal numbers that no check notices, because both numbers satisfy the bound", |audit: &Self| audit.causes[1] as u64),
            Column::new("unnoticed_wide", "swaps", "swaps of two unequal numbers that no check notices, because both numbers are within the tolerance", |audit: &Self| audit.causes[2] as u64),
            Column::new("reasons", "", "reasons for rows without a verdict, each with its number of rows", Self::reasons_by_frequency),
        ]
    }
}

/// Counts rows without a verdict by reason.
fn reasons(checks: &[Check]) -> BTreeMap<String, usize> {
    let mut reasons = BTreeMap::new();
    for check in checks {
        if let verdict @ (Verdict::NotJudged(_) | Verdict::NotRun(_)) = check.verdict() {
            *reasons.entry(verdict.to_string()).or_default() += 1;
        }
    }
    reasons
}

/// Returns a printable table of the rows without a verdict, by suite and reason.
pub fn without_verdict(audits: &[Audit]) -> Sheet {
    let rows: Vec<(&str, &String, &usize)> = audits
        .iter()
        .flat_map(|audit| audit.reasons.iter().map(|(reason, rows)| (audit.suite, reason, rows)))
        .collect();
    type Row<'a> = (&'a str, &'a String, &'a usize);
    let shown = vec![
        Shown::text("suite", |(suite, ..): &Row<'_>| Some(suite.to_string())),
        Shown::text("rows", |(_, _, rows): &Row<'_>| Some(rows.to_string())).right(),
        Shown::text("without a verdict", |(_, reason, _): &Row<'_>| Some(reason.to_string())),
    ];
    Sheet::of(&rows, shown)
}

/// Returns a printable table with one row per unnoticed swap.
pub fn unnoticed(checks: &[Check]) -> Sheet {
    let rows: Vec<(&Check, &super::StrategySwap)> = checks
        .iter()
        .filter(|check| check.is_judged())
        .flat_map(|check| check.unnoticed().map(move |swap| (check, swap)))
        .collect();
    type Row<'a> = (&'a Check, &'a super::StrategySwap);
    let shown = |value: f64| replay_engine::number::fixed(value, 3);
    let shown = vec![
        Shown::text("figure", |(check, _): &Row<'_>| Some(check.figure.clone())),
        Shown::text("workload", |(check, _): &Row<'_>| Some(check.workload.clone())),
        Shown::text("what", |(check, _): &Row<'_>| Some(check.what.clone())),
        Shown::text("unnoticed", |(_, swap): &Row<'_>| Some(swap.with.clone())),
        Shown::text("cause", |(check, swap): &Row<'_>| Some(check.cause(swap).to_string())),
        Shown::text("ours", move |(check, _): &Row<'_>| check.value().map(shown)).right(),
        Shown::text("swapped", move |(_, swap): &Row<'_>| Some(shown(swap.ours))).right(),
    ];
    Sheet::of(&rows, shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::claim;
    use crate::{SUITES, Sample, StrategySwap, Tolerance};

    fn check(ours: f64, swapped: &[f64]) -> Check {
        let swap = |&ours: &f64| StrategySwap { with: "another".to_string(), ours, margin: 0.0 };
        let claim = claim("", "", "", "100", ours, Tolerance::Relative(0.1)).expect("a number");
        Check { is_claim: false, swaps: swapped.iter().map(swap).collect(), ..claim }
    }

    #[test]
    fn every_suite_has_a_baseline() {
        assert_eq!(SUITES.map(|suite| suite.name), BASELINES.map(|(name, _)| name));
    }

    #[test]
    fn rows_are_counted_by_class_and_reason() {
        let claim = Check { is_claim: true, ..check(100.0, &[]) };
        let checks = [
            check(100.0, &[]),
            check(100.0, &[]).sample(Sample::Fitted),
            claim.clone(),
            claim.printed_bound(),
            check(100.0, &[]).not_judged("open question"),
            check(100.0, &[]).not_judged("open question"),
        ];
        let audit = Audit::new(&SUITES[0], &checks);
        assert_eq!(audit.causes, [0; 3]);
        assert_eq!((audit.rows, audit.not_judged, audit.not_run), (6, 2, 0));
        assert_eq!(audit.classes, [1, 0, 0, 1, 2]);
        assert_eq!(audit.reasons_by_frequency(), "2 not judged: open question");
    }

    #[test]
    fn a_swap_is_noticed_if_it_changes_the_declared_verdict() {
        let count = |check: &Check| check.unnoticed().count();
        assert_eq!(count(&check(100.0, &[109.0, 111.0, 120.0])), 1);
        // For a declared difference, a swap is unnoticed if the new number is near the declared number. The swap is
        // noticed if the new number agrees with the printed number.
        let known = check(150.0, &[100.0, 151.0, 200.0]).known(150.0, "why");
        assert_eq!(count(&known), 1);
    }

    #[test]
    fn counts_must_equal_the_baseline_unless_a_log_is_absent() {
        let suite = SUITES[0];
        let audit = |checks: &[Check]| Audit::new(&suite, checks);
        let checks = [check(100.0, &[109.0, 120.0]), check(100.0, &[])];
        let found = audit(&checks).found;
        let expected =
            AuditBaseline { judged: 2, undecided: 0, unswapped: 1, swaps: 2, unnoticed: 1 };
        assert_eq!(found, expected);
        assert_eq!(audit(&checks).causes, [0, 0, 1]);
        let complaint = |baseline, absent| {
            Audit { baseline: Some(baseline), absent, ..audit(&checks) }.complaint()
        };
        assert_eq!(complaint(expected, 0), None);
        let more = AuditBaseline { unnoticed: 2, ..expected };
        assert!(complaint(more, 0).is_some_and(|text| text.contains("1 of 2 swaps unnoticed")));
        assert_eq!(complaint(more, 1), None);
        assert!(complaint(AuditBaseline { unnoticed: 0, ..expected }, 1).is_some());
    }
}
