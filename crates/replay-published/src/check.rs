//! A row of published numbers: the printed number, the measured value, the tolerance and the verdict.

use std::fmt;

use super::basis::{Bound, Class, Sample};
use super::tolerance::Tolerance;
use replay_engine::naming::texts;
use replay_engine::number::fixed;
use replay_engine::table::{Column, Sheet, Shown, Table, names};

/// Verdict of a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The measured value is equal to the printed number in all printed digits.
    Same,
    /// The measured value is within the tolerance.
    Within,
    /// One part of the 95 % interval is within the tolerance, and another part is beyond the tolerance. A number with a
    /// two-sided tolerance is undecided only if the measured value is beyond the tolerance, or if its interval is wider
    /// than the tolerance. More replications would give a verdict.
    Undecided,
    /// The measured value is beyond the tolerance of a printed number.
    Differs,
    /// The measured value is beyond the bound of a claim that the paper makes in words.
    Contradicts,
    /// The measured value is shown without a verdict. The string contains the reason.
    NotJudged(String),
    /// The check was not run.
    NotRun(NotRun),
}

/// Measured value, and whether it is judged.
#[derive(Clone, PartialEq, Debug)]
pub enum Measured {
    /// The value is judged by the tolerance.
    Judged(f64),
    /// The value is shown but not judged. The string contains the reason.
    NotJudged(f64, String),
    /// There is no value.
    NotRun(NotRun),
}

/// Reason why a number was not measured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotRun {
    /// The trace is absent. The string explains how to fetch the trace.
    Absent(String),
    /// The trace on disk is not the paper's log. The string describes the difference.
    OtherLog(String),
    /// The run did not produce this number.
    NoValue,
}

impl fmt::Display for NotRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotRun::Absent(how) => write!(f, "trace absent ({how})"),
            NotRun::OtherLog(difference) => f.write_str(difference),
            NotRun::NoValue => f.write_str("no value"),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Same => f.write_str("same"),
            Verdict::Within => f.write_str("within"),
            Verdict::Undecided => f.write_str("undecided"),
            Verdict::Differs => f.write_str("differs"),
            Verdict::Contradicts => f.write_str("contradicts"),
            Verdict::NotJudged(why) => write!(f, "not judged: {why}"),
            Verdict::NotRun(why) => write!(f, "not run: {why}"),
        }
    }
}

/// Declaration that the measured value is known to be beyond the tolerance.
#[derive(Clone, PartialEq, Debug)]
pub struct Known {
    /// Measured value at the time of the declaration.
    pub ours: f64,
    /// Presumed reason.
    pub why: String,
}

impl Known {
    /// Accepted relative deviation from the declared value. If the half-width of the interval is larger, a deviation up
    /// to the half-width is accepted.
    const DRIFT: f64 = 0.05;

    /// Returns whether the value `ours`, with an interval of half-width `margin`, agrees with the declared value.
    fn is_near(&self, ours: f64, margin: f64) -> bool {
        (ours - self.ours).abs() <= margin.max(Self::DRIFT * self.ours.abs())
    }
}

/// Difference of a row from its declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UndeclaredChange {
    /// The value is beyond the tolerance without a declaration.
    New,
    /// The value is within the tolerance, but it is declared to be beyond the tolerance.
    Gone,
    /// The value is beyond the tolerance, but differs from the declared value.
    Moved,
}

/// Value of a row after its strategy has been replaced by another strategy, or after two strategies have been
/// exchanged.
#[derive(Clone, PartialEq, Debug)]
pub struct StrategySwap {
    /// Name of the strategy that replaces the row's strategy, or names of the two exchanged strategies.
    pub with: String,
    /// Value after the swap.
    pub ours: f64,
    /// Half-width of the value's 95 % interval.
    pub margin: f64,
}

texts! {
    /// The reason why a swap is unnoticed.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Cause {
        /// The numbers before and after the swap are treated as equal: their intervals overlap, or they differ by at
        /// most 1 %.
        Equal => "equal",
        /// The row has a bound, and both numbers are on the same side of the bound.
        Bound => "bound",
        /// The numbers differ, and the tolerance admits both numbers.
        Wide => "wide",
    }
}

impl Cause {
    /// Largest relative difference at which two numbers are treated as equal.
    const ALIKE: f64 = 0.01;
}

/// A published number and the measured value.
#[derive(Clone, PartialEq, Debug)]
pub struct Check {
    /// Name of the suite; empty until [`Suite::checks`](super::Suite::checks) sets it.
    pub suite: &'static str,
    /// Figure or table.
    pub figure: String,
    /// Trace or job stream of the paper.
    pub workload: String,
    /// Log or replications that were run; `None` if nothing was run.
    pub log: Option<String>,
    /// Description of the number.
    pub what: String,
    /// Number as printed.
    pub printed: String,
    /// Number to compare with. This is the printed number, except for known misprints.
    pub published: f64,
    /// Measured value.
    pub ours: Measured,
    /// Half-width of the measured value's 95 % interval; 0 if the value is exact.
    pub margin: f64,
    /// Accepted difference, or the direction of a bound.
    pub tolerance: Tolerance,
    /// Remarks.
    pub note: String,
    /// Whether the paper makes a claim in words. For a claim, `published` is a bound, and the verdict is never
    /// [`Verdict::Same`]. If `printed_bound` is not set, the bound was chosen for replay.
    pub is_claim: bool,
    /// Declaration that the value is beyond the tolerance; `None` if there is no declaration.
    pub known: Option<Known>,
    /// Values of the row in the swap test.
    pub swaps: Vec<StrategySwap>,
    /// The mean over packets, if the measured value is a mean over jobs.
    pub over_packets: Option<f64>,
    /// Whether rules and networks of replay were fitted to the printed number.
    pub sample: Sample,
    /// Whether the paper prints the bound of the claim.
    pub printed_bound: bool,
}

impl Check {
    /// Returns the measured value; `None` if the row has no measured value.
    pub fn value(&self) -> Option<f64> {
        match self.ours {
            Measured::Judged(value) | Measured::NotJudged(value, _) => Some(value),
            Measured::NotRun(_) => None,
        }
    }

    /// Returns whether the row is a printed number, and neither a claim in words nor a bound.
    pub fn is_number(&self) -> bool {
        !self.is_claim && self.tolerance.is_two_sided()
    }

    /// Returns the accepted distance from the published number, in the unit of this number; `None` if the row is not
    /// judged or has a one-sided bound.
    pub fn reach(&self) -> Option<f64> {
        self.is_judged().then(|| self.tolerance.reach(self.published)).flatten()
    }

    /// Marks a judged value as not judged, with the reason. If the row is already not judged, its reason is unchanged.
    pub fn not_judged(self, why: &str) -> Self {
        match self.ours {
            Measured::Judged(value) => {
                Self { ours: Measured::NotJudged(value, why.to_string()), ..self }
            }
            Measured::NotJudged(..) | Measured::NotRun(_) => self,
        }
    }

    /// Declares that the value is `ours`, which is beyond the tolerance, for the reason `why`.
    pub fn known(self, ours: f64, why: &str) -> Self {
        Self { known: Some(Known { ours, why: why.to_string() }), ..self }
    }

    /// Sets whether rules and networks of replay were fitted to the printed number.
    pub fn sample(self, sample: Sample) -> Self {
        Self { sample, ..self }
    }

    /// Marks the bound of a claim as printed.
    pub fn printed_bound(self) -> Self {
        Self { printed_bound: true, ..self }
    }

    /// Source of the bound.
    pub fn bound(&self) -> Bound {
        if self.is_claim && !self.printed_bound { Bound::Ours } else { Bound::Printed }
    }

    /// Class of the row.
    pub fn class(&self) -> Class {
        Class::new(self.bound(), self.sample)
    }

    /// Returns `yes` if no rule or network was fitted to the printed number, else `no`.
    pub fn out_of_sample(&self) -> &'static str {
        if self.sample == Sample::Outside { "yes" } else { "no" }
    }

    /// Returns whether the row is judged by its tolerance.
    pub fn is_judged(&self) -> bool {
        matches!(self.ours, Measured::Judged(_))
    }

    /// Returns how the row differs from its declaration; `None` if the row does not differ.
    pub fn undeclared_change(&self) -> Option<UndeclaredChange> {
        let Measured::Judged(ours) = self.ours else { return None };
        let verdict = self.verdict();
        match (&self.known, verdict) {
            (None, Verdict::Differs | Verdict::Contradicts) => Some(UndeclaredChange::New),
            (Some(_), Verdict::Same | Verdict::Within) => Some(UndeclaredChange::Gone),
            (Some(known), _) if !known.is_near(ours, self.margin) => Some(UndeclaredChange::Moved),
            _ => None,
        }
    }

    /// Returns a message if the row differs from its declaration.
    pub fn complaint(&self) -> Option<String> {
        let Self { figure, workload, what, .. } = self;
        let verdict = self.verdict();
        let known = self.known.as_ref().map_or(f64::NAN, |known| known.ours);
        let what_is_wrong = match self.undeclared_change()? {
            UndeclaredChange::New => format!("{verdict}, which is not declared"),
            UndeclaredChange::Gone => {
                format!("{verdict}, but declared to be beyond the tolerance, at {known}")
            }
            UndeclaredChange::Moved => format!("{verdict}, but not at the declared value {known}"),
        };
        let ours = self.value().map_or(String::new(), |ours| format!(", {}", fixed(ours, 4)));
        Some(format!("{figure}, {workload}, {what}{ours}: {what_is_wrong}"))
    }

    /// Iterates over the swaps after which the row still agrees with its declaration.
    pub fn unnoticed(&self) -> impl Iterator<Item = &StrategySwap> {
        self.swaps.iter().filter(|swap| {
            let ours = Measured::Judged(swap.ours);
            let swapped = Self { ours, margin: swap.margin, swaps: Vec::new(), ..self.clone() };
            swapped.undeclared_change().is_none()
        })
    }

    /// Returns the reason why the given swap is unnoticed.
    pub fn cause(&self, swap: &StrategySwap) -> Cause {
        let ours = self.value().unwrap_or(f64::NAN);
        let apart = (swap.ours - ours).abs();
        let alike = (self.margin + swap.margin).max(Cause::ALIKE * ours.abs().max(swap.ours.abs()));
        match self.tolerance {
            _ if apart <= alike => Cause::Equal,
            Tolerance::Below | Tolerance::Above | Tolerance::AtMost(_) => Cause::Bound,
            Tolerance::Absolute(_) | Tolerance::Relative(_) | Tolerance::OfShaken(_) => Cause::Wide,
        }
    }

    /// Returns the number of digits after the decimal point of the printed number.
    fn decimals(&self) -> usize {
        self.printed.split_once('.').map_or(0, |(_, fraction)| fraction.len())
    }

    /// Returns the number of digits after the decimal point of displayed values. For a bound, this number does not
    /// depend on the printed digits, because the printed digits of a bound do not imply a precision.
    fn decimals_shown(&self) -> usize {
        if self.is_number() { self.decimals() } else { 3 }
    }

    /// Computes the verdict.
    pub fn verdict(&self) -> Verdict {
        let ours = match &self.ours {
            Measured::NotRun(why) => return Verdict::NotRun(why.clone()),
            Measured::NotJudged(_, why) => return Verdict::NotJudged(why.clone()),
            Measured::Judged(value) => *value,
        };
        let printed = |value: f64| format!("{value:.*}", self.decimals());
        let Self { tolerance, published, margin, .. } = *self;
        let is_wide = tolerance.reach(published).is_some_and(|reach| margin > reach);
        let printed_value = self.is_number();
        // A tolerance that is taken from perturbed copies is also too wide if it exceeds the number itself.
        let is_wide =
            is_wide || matches!(tolerance, Tolerance::OfShaken(by) if by > published.abs());
        let is_within = tolerance.admits(published, ours, 0.0) && !is_wide;
        if printed_value && printed(ours) == printed(published) && !is_wide {
            Verdict::Same
        } else if is_within && tolerance.clears(published, ours, margin) {
            Verdict::Within
        } else if tolerance.admits(published, ours, margin) {
            Verdict::Undecided
        } else if self.is_claim {
            Verdict::Contradicts
        } else {
            Verdict::Differs
        }
    }

    /// Formats the published number for the printable table. Returns `-` for a claim.
    fn published_shown(&self) -> String {
        match self.is_claim {
            true => "-".to_string(),
            false => fixed(self.published, self.decimals()),
        }
    }

    /// Formats the tolerance, or the bound of a claim.
    fn tolerance_shown(&self) -> String {
        let (bound, tolerance) = (&self.printed, self.tolerance);
        match tolerance {
            _ if !self.is_claim => tolerance.to_string(),
            Tolerance::Absolute(_) | Tolerance::Relative(_) | Tolerance::OfShaken(_) => {
                format!("{tolerance} of {bound}")
            }
            Tolerance::Below => format!("less than {bound}"),
            Tolerance::Above => format!("more than {bound}"),
            Tolerance::AtMost(by) => {
                // All digits are shown, because a rounded bound could differ from the bound that is applied.
                format!("at most {}", (self.published * (1.0 + by) * 1e6).round() / 1e6)
            }
        }
    }

    /// Joins the reason of a declared difference and the note.
    fn note_shown(&self) -> String {
        let why = self.known.as_ref().map_or("", |known| known.why.as_str());
        let parts = [why, self.note.as_str()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
    }

    /// Formats the measured value minus the published value. If the tolerance is relative, the difference is in percent
    /// of the published value.
    fn difference(&self) -> Option<String> {
        let (ours, published) = (self.value().filter(|_| !self.is_claim)?, self.published);
        Some(match self.tolerance {
            // If the published value is 0, a percentage of the published value is undefined.
            Tolerance::Relative(_) if published == 0.0 => {
                format!("{:+.*}", self.decimals(), ours - published)
            }
            Tolerance::Relative(_) => format!("{:+.3} %", 100.0 * (ours - published) / published),
            Tolerance::Absolute(_) | Tolerance::OfShaken(_) => {
                format!("{:+.*}", self.decimals(), ours - published)
            }
            Tolerance::Below | Tolerance::Above | Tolerance::AtMost(_) => return None,
        })
    }

    /// Returns the checks as a printable table.
    pub fn sheet(checks: &[Check]) -> Sheet {
        let shown = |value: f64, check: &Self| fixed(value, check.decimals_shown());
        let shown = vec![
            Shown::column(Check::FIGURE, "figure", 0),
            Shown::column(Check::WORKLOAD, "workload", 0).rank(1),
            Shown::column(Check::WHAT, "what", 0).rank(1),
            Shown::text("published", |check: &Self| Some(check.published_shown())).right().rank(1),
            Shown::text("ours", move |check: &Self| Some(shown(check.value()?, check)))
                .right()
                .rank(1),
            Shown::text("+-", move |check: &Self| {
                (check.margin > 0.0).then(|| shown(check.margin, check))
            })
            .right()
            .rank(1),
            Shown::text("difference", Self::difference).right().rank(1),
            Shown::text("tolerance", |check: &Self| Some(check.tolerance_shown())).right(),
            Shown::column(Check::VERDICT, "verdict", 0).rank(1),
            Shown::column(Check::BOUND, "bound", 0),
            Shown::column(Check::OUT_OF_SAMPLE, "out of sample", 0),
            Shown::column(Check::LOG, "log that ran", 0),
            Shown::text("note", |check: &Self| Some(check.note_shown())),
        ];
        Sheet::of(checks, shown)
    }
}

impl Check {
    names! {
        BOUND = "bound",
        FIGURE = "figure",
        LOG = "log",
        OURS = "ours",
        OUT_OF_SAMPLE = "out_of_sample",
        PUBLISHED = "published",
        SUITE = "suite",
        VERDICT = "verdict",
        WHAT = "what",
        WORKLOAD = "workload",
    }
}

impl Table for Check {
    const NAME: &'static str = "verify";
    const ROW: &'static str = "one row per published number";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        vec![
            Column::text(Check::SUITE, "suite of published numbers", |check: &Self| Some(check.suite)),
            Column::text(Check::FIGURE, "figure, table or claim of the paper", |check: &Self| Some(&check.figure)),
            Column::text(Check::WORKLOAD, "trace or job stream of the paper", |check: &Self| Some(&check.workload)),
            Column::text(Check::LOG, "log or replications that were run; null if nothing was run", |check: &Self| check.log.as_deref()),
            Column::text(Check::WHAT, "description of the number", |check: &Self| Some(&check.what)),
            Column::text("printed", "number as printed, or bound of a claim", |check: &Self| Some(&check.printed)),
            Column::new(Check::PUBLISHED, "as printed", "number to compare with: as printed, except for known misprints", |check: &Self| check.published),
            Column::new(Check::OURS, "as printed", "replay's number; null if the row was not run", Self::value),
            Column::new("margin", "as printed", "half-width of the 95 % interval of `ours`; 0 if `ours` is exact", |check: &Self| check.margin),
            Column::new("over_packets", "as printed", "mean over packets if `ours` is a mean over jobs; null otherwise", |check: &Self| check.over_packets),
            Column::new("difference", "as printed", "`ours` minus `published`; null if the row was not run", |check: &Self| check.value().map(|ours| ours - check.published)),
            Column::new("tolerance", "", "accepted difference, or direction of a bound", |check: &Self| check.tolerance.to_string()),
            Column::new(Check::BOUND, "", "source of the bound: ours (chosen for a claim in words) or printed", |check: &Self| check.bound().to_string()),
            Column::text(Check::OUT_OF_SAMPLE, "yes if no rule, constant or network was fitted to the printed number or claim; otherwise no", |check: &Self| Some(check.out_of_sample())),
            Column::new(Check::VERDICT, "", "verdict: same, within, undecided, differs (a number), contradicts (a claim), or \"not judged\" or \"not run\" with the reason", |check: &Self| check.verdict().to_string()),
            Column::new("known", "as printed", "replay's number when it was declared to be beyond the tolerance; null if there is no declaration", |check: &Self| check.known.as_ref().map(|known| known.ours)),
            Column::text("known_why", "presumed reason of a declared difference; null if there is no declaration", |check: &Self| check.known.as_ref().map(|known| known.why.as_str())),
            Column::text("note", "remarks", |check: &Self| Some(&check.note)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::claim;

    fn check(printed: &str, ours: f64, tolerance: Tolerance) -> Verdict {
        of(printed, ours, tolerance).verdict()
    }

    fn of(printed: &str, ours: f64, tolerance: Tolerance) -> Check {
        let claim = claim("", "", "", printed, ours, tolerance).expect("a number");
        Check { is_claim: false, ..claim }
    }

    #[test]
    fn the_numbers_are_visible_at_80_columns() {
        let row = |what: &str, printed, ours| Check {
            figure: "Fig. 9".to_string(),
            workload: "KTH-SP2".to_string(),
            what: what.to_string(),
            margin: 0.5,
            ..of(printed, ours, Tolerance::Relative(0.01))
        };
        let checks = [
            row("mean pairwise L1 of MC1x1 without tie-breaking", "271.3", 271.33),
            Check {
                workload: "SDSC".to_string(),
                figure: "Fig. 11".to_string(),
                ..row("another", "280.0", 290.0)
            },
        ];
        let mut out = Vec::new();
        Check::sheet(&checks).fitted(80).sheet.write_plain(&mut out).expect("memory");
        let text = String::from_utf8(out).expect("text");
        for word in ["what", "published", "ours", "difference", "verdict", "SDSC", "tie-breaking"] {
            assert!(text.contains(word), "{word}\n{text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn unnoticed_swaps_have_a_cause() {
        let cause = |tolerance, margin, ours| {
            let check = of("100", 100.0, tolerance);
            check.cause(&StrategySwap { with: String::new(), ours, margin })
        };
        assert_eq!(cause(Tolerance::Relative(0.1), 0.0, 101.0), Cause::Equal);
        assert_eq!(cause(Tolerance::Relative(0.1), 0.0, 102.0), Cause::Wide);
        assert_eq!(cause(Tolerance::Relative(0.1), 2.0, 102.0), Cause::Equal);
        assert_eq!(cause(Tolerance::AtMost(0.0), 0.0, 90.0), Cause::Bound);
        assert_eq!(cause(Tolerance::Below, 0.0, 99.5), Cause::Equal);
    }

    #[test]
    fn a_wide_interval_leaves_a_number_undecided() {
        let ours = of("100", 109.0, Tolerance::Relative(0.08));
        assert_eq!(Check { margin: 0.5, ..ours.clone() }.verdict(), Verdict::Differs);
        assert_eq!(Check { margin: 5.0, ..ours }.verdict(), Verdict::Undecided);
        let inside = of("100", 107.0, Tolerance::Relative(0.08));
        assert_eq!(Check { margin: 5.0, ..inside.clone() }.verdict(), Verdict::Within);
        assert_eq!(Check { margin: 8.5, ..inside }.verdict(), Verdict::Undecided);
        let bound = of("3", 4.2, Tolerance::AtMost(0.0));
        assert_eq!(Check { margin: 10.5, ..bound }.verdict(), Verdict::Undecided);
    }

    #[test]
    fn a_bound_within_the_interval_is_undecided() {
        let verdict = |ours, margin, tolerance| {
            Check { margin, is_claim: true, ..of("1", ours, tolerance) }.verdict()
        };
        for (tolerance, side) in
            [(Tolerance::Below, -1.0), (Tolerance::Above, 1.0), (Tolerance::AtMost(0.0), -1.0)]
        {
            assert_eq!(verdict(1.0 + 0.2 * side, 0.1, tolerance), Verdict::Within);
            assert_eq!(verdict(1.0 + 0.05 * side, 0.1, tolerance), Verdict::Undecided);
            assert_eq!(verdict(1.0 - 0.05 * side, 0.1, tolerance), Verdict::Undecided);
            assert_eq!(verdict(1.0 - 0.2 * side, 0.1, tolerance), Verdict::Contradicts);
        }
        // The row is undecided because of its wide interval, although the value equals the printed number.
        let equal = Check { margin: 9.0, ..of("100", 100.0, Tolerance::Relative(0.08)) };
        assert_eq!(equal.verdict(), Verdict::Undecided);
    }

    #[test]
    fn a_declared_value_must_stay_near_its_declaration() {
        let of = |ours| Check { is_claim: true, ..of("1", ours, Tolerance::Below) };
        let known = |ours, margin| Check { margin, ..of(ours) }.known(1.3, "why");
        assert_eq!(of(0.9).undeclared_change(), None);
        assert_eq!(of(1.3).undeclared_change(), Some(UndeclaredChange::New));
        assert_eq!(known(1.3, 0.0).verdict(), Verdict::Contradicts);
        assert_eq!(known(1.25, 0.0).undeclared_change(), None);
        assert_eq!(known(1.2, 0.0).undeclared_change(), Some(UndeclaredChange::Moved));
        assert_eq!(known(1.2, 0.11).undeclared_change(), None);
        assert_eq!(known(0.9, 0.01).undeclared_change(), Some(UndeclaredChange::Gone));
        assert_eq!(known(f64::NAN, 0.0).undeclared_change(), Some(UndeclaredChange::Moved));
        assert!(known(0.9, 0.01).complaint().is_some_and(|text| text.contains("declared to be")));
        assert!(of(1.3).complaint().is_some_and(|text| text.contains("not declared")));
        assert_eq!(known(1.3, 0.0).not_judged("open").undeclared_change(), None);
    }

    #[test]
    fn a_row_not_judged_has_a_value_and_a_row_not_run_has_none() {
        let check = of("100", 500.0, Tolerance::Absolute(1.0));
        let shown = check.clone().not_judged("open question");
        assert_eq!(shown.verdict(), Verdict::NotJudged("open question".to_string()));
        assert_eq!((shown.value(), check.verdict()), (Some(500.0), Verdict::Differs));
        // The first reason is kept.
        assert_eq!(shown.clone().not_judged("another").verdict(), shown.verdict());
        let absent = NotRun::Absent("fetch it".to_string());
        let not_run = Check { ours: Measured::NotRun(absent.clone()), ..check };
        assert_eq!((not_run.value(), not_run.verdict()), (None, Verdict::NotRun(absent.clone())));
        assert_eq!(not_run.not_judged("open question").verdict(), Verdict::NotRun(absent));
    }

    #[test]
    fn a_claim_is_judged_by_its_bound_alone() {
        let claim =
            |ours, tolerance| Check { is_claim: true, ..of("1", ours, tolerance) }.verdict();
        assert_eq!(claim(1.4, Tolerance::Relative(0.05)), Verdict::Contradicts);
        assert_eq!(claim(1.04, Tolerance::Relative(0.05)), Verdict::Within);
        assert_eq!(claim(1.0, Tolerance::Relative(0.05)), Verdict::Within);
        let shown = Check { is_claim: true, ..of("5", 4.0, Tolerance::AtMost(0.0)) };
        assert_eq!(shown.tolerance_shown(), "at most 5");
        assert_eq!((shown.published_shown().as_str(), shown.difference()), ("-", None));
    }

    #[test]
    fn verdicts_follow_printed_digits_and_tolerance() {
        assert_eq!(check("575.399", 575.3994, Tolerance::Absolute(0.001)), Verdict::Same);
        assert_eq!(check("575.399", 575.3998, Tolerance::Absolute(0.001)), Verdict::Within);
        assert_eq!(check("575.399", 575.4011, Tolerance::Absolute(0.001)), Verdict::Differs);
        assert_eq!(check("17611", 17610.0, Tolerance::Absolute(1.0)), Verdict::Within);
        assert_eq!(check("17611", 17609.0, Tolerance::Absolute(1.0)), Verdict::Differs);
        assert_eq!(check("1000", 1008.0, Tolerance::Relative(0.008)), Verdict::Within);
        assert_eq!(check("1000", 1008.1, Tolerance::Relative(0.008)), Verdict::Differs);
        assert_eq!(check("1", 0.9, Tolerance::Below), Verdict::Within);
        assert_eq!(check("1", 1.0, Tolerance::Below), Verdict::Differs);
        assert_eq!(check("1", 1.0, Tolerance::Above), Verdict::Differs);
        assert_eq!(check("1", 1.01, Tolerance::Above), Verdict::Within);
        assert_eq!(check("37", 38.0, Tolerance::AtMost(0.03)), Verdict::Within);
        assert_eq!(check("37", 38.2, Tolerance::AtMost(0.03)), Verdict::Differs);
    }
}
