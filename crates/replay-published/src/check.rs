use std::fmt;

use super::basis::{Bound, Class, Sample};
use super::tolerance::Tolerance;
use replay_core::number::fixed;
use replay_core::table::{Column, Table, name};
use replay_core::table::{Sheet, Shown};

/// What a check comes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// To the last printed digit.
    Same,
    /// Within the tolerance.
    Within,
    /// Part of the 95 % interval is within the tolerance and part is not; of a number that is compared
    /// itself, only if ours is beyond the tolerance or its interval reaches farther than that. More
    /// replications would say which.
    Undecided,
    /// A printed number, and ours is beyond the tolerance.
    Differs,
    /// A claim of the text, and ours is beyond its bound.
    Contradicts,
    /// Ours is known but not judged, and why.
    NotJudged(String),
    /// Not run, and why.
    NotRun(NotRun),
}

/// Our number, and whether it is judged.
#[derive(Clone, PartialEq, Debug)]
pub enum Measured {
    /// Judged by the tolerance.
    Judged(f64),
    /// Shown but not judged, and why.
    NotJudged(f64, String),
    /// Not known, and why.
    NotRun(NotRun),
}

/// Why a number was not run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotRun {
    /// The trace is not here; how it can be had.
    Absent(String),
    /// Another log than the paper's is here; how they differ.
    OtherLog(String),
    /// The run has no such number.
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

/// That ours is known to be beyond the tolerance: declared where the row is.
#[derive(Clone, PartialEq, Debug)]
pub struct Known {
    /// Our number when this was declared.
    pub ours: f64,
    /// What is thought of the reason.
    pub why: String,
}

impl Known {
    /// How far from the declared number ours may come to, as a share of it, if its interval is narrower.
    const DRIFT: f64 = 0.05;

    /// Whether a value within `margin` of `ours` is the one declared.
    fn is_near(&self, ours: f64, margin: f64) -> bool {
        (ours - self.ours).abs() <= margin.max(Self::DRIFT * self.ours.abs())
    }
}

/// Why a row does not come out as declared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UndeclaredChange {
    /// Beyond the tolerance, and not declared.
    New,
    /// Declared to be beyond the tolerance, and within it.
    Gone,
    /// Declared to be beyond the tolerance, at another value.
    Moved,
}

/// What another strategy's number would come to in the place of a row's own.
#[derive(Clone, PartialEq, Debug)]
pub struct StrategySwap {
    /// The strategies exchanged.
    pub with: String,
    /// The number then.
    pub ours: f64,
    /// Half-width of its 95 % interval.
    pub margin: f64,
}

/// Why a swap goes unnoticed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// The two strategies are equal by nature: the intervals of their numbers have a value in common, or the
    /// numbers differ by at most 1 %.
    Equal,
    /// The row is a bound, and both numbers are on the same side of it.
    Bound,
    /// The numbers differ, and the tolerance admits both.
    Wide,
}

impl Cause {
    /// Every cause, in the order of the columns of the audit.
    pub const ALL: [Self; 3] = [Self::Equal, Self::Bound, Self::Wide];

    /// Largest relative difference of numbers that are equal by nature.
    const ALIKE: f64 = 0.01;
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::Equal => "equal",
            Cause::Bound => "bound",
            Cause::Wide => "wide",
        })
    }
}

/// A published number beside ours.
#[derive(Clone, PartialEq, Debug)]
pub struct Check {
    /// Name of the suite; empty until [`Suite::checks`](super::Suite::checks) sets it.
    pub suite: &'static str,
    /// Figure or table.
    pub figure: String,
    /// The trace, or what streams, in the paper.
    pub workload: String,
    /// Log or replications that ran, if any did.
    pub log: Option<String>,
    /// What the number is.
    pub what: String,
    /// The number as printed.
    pub printed: String,
    /// The number compared with: as printed, unless it is a known misprint.
    pub published: f64,
    /// Our number.
    pub ours: Measured,
    /// Half-width of its 95 % interval; 0 if it is exact.
    pub margin: f64,
    /// How far they may be apart.
    pub tolerance: Tolerance,
    /// Anything else to know.
    pub note: String,
    /// Whether the paper says it in words: `published` is then our bound for them, and
    /// nothing was printed that ours could be the same as.
    pub is_claim: bool,
    /// Whether, and why, ours is known to be beyond the tolerance.
    pub known: Option<Known>,
    /// What it would come to with the numbers of two strategies exchanged.
    pub swaps: Vec<StrategySwap>,
    /// Of a mean over jobs the same as a mean over packets.
    pub over_packets: Option<f64>,
    /// Whether rules or networks were chosen on the printed number.
    pub sample: Sample,
    /// Whether the bound of a claim is printed.
    pub printed_bound: bool,
}

impl Check {
    /// Our number, if it is known.
    pub fn value(&self) -> Option<f64> {
        match self.ours {
            Measured::Judged(value) | Measured::NotJudged(value, _) => Some(value),
            Measured::NotRun(_) => None,
        }
    }

    /// Whether a number was printed that ours could be the same as: no claim in words, no bound.
    pub fn is_number(&self) -> bool {
        !self.is_claim && self.tolerance.is_two_sided()
    }

    /// How far ours may be from the published number, in its unit; `None` if it is not judged, or by a
    /// bound on one side.
    pub fn reach(&self) -> Option<f64> {
        self.is_judged().then(|| self.tolerance.reach(self.published)).flatten()
    }

    /// The same, shown but not judged.
    pub fn not_judged(self, why: &str) -> Self {
        match self.ours {
            Measured::Judged(value) => {
                Self { ours: Measured::NotJudged(value, why.to_string()), ..self }
            }
            Measured::NotJudged(..) | Measured::NotRun(_) => self,
        }
    }

    /// The same, declared to be beyond the tolerance: at `ours`, and why.
    pub fn known(self, ours: f64, why: &str) -> Self {
        Self { known: Some(Known { ours, why: why.to_string() }), ..self }
    }

    /// The check with its relation to what rules and networks were chosen on.
    pub fn sample(self, sample: Sample) -> Self {
        Self { sample, ..self }
    }

    /// The claim, with a bound that the paper prints.
    pub fn printed_bound(self) -> Self {
        Self { printed_bound: true, ..self }
    }

    /// Who states the bound.
    pub fn bound(&self) -> Bound {
        if self.is_claim && !self.printed_bound { Bound::Ours } else { Bound::Printed }
    }

    /// The class of the row.
    pub fn class(&self) -> Class {
        Class::new(self.bound(), self.sample)
    }

    /// Whether nothing was chosen on what the paper states: yes or no.
    pub fn out_of_sample(&self) -> &'static str {
        if self.sample == Sample::Outside { "yes" } else { "no" }
    }

    /// Whether it is judged at all.
    pub fn is_judged(&self) -> bool {
        matches!(self.ours, Measured::Judged(_))
    }

    /// Why it does not come out as declared, if it does not.
    pub fn surprise(&self) -> Option<UndeclaredChange> {
        let Measured::Judged(ours) = self.ours else { return None };
        let verdict = self.verdict();
        match (&self.known, verdict) {
            (None, Verdict::Differs | Verdict::Contradicts) => Some(UndeclaredChange::New),
            (Some(_), Verdict::Same | Verdict::Within) => Some(UndeclaredChange::Gone),
            (Some(known), _) if !known.is_near(ours, self.margin) => Some(UndeclaredChange::Moved),
            _ => None,
        }
    }

    /// What is to be said of a row that does not come out as declared.
    pub fn complaint(&self) -> Option<String> {
        let Self { figure, workload, what, .. } = self;
        let verdict = self.verdict();
        let known = self.known.as_ref().map_or(f64::NAN, |known| known.ours);
        let what_is_wrong = match self.surprise()? {
            UndeclaredChange::New => format!("{verdict}, which is not declared"),
            UndeclaredChange::Gone => format!("{verdict}, but declared not to be ({known})"),
            UndeclaredChange::Moved => format!("{verdict}, but not at the declared value, {known}"),
        };
        let ours = self.value().map_or(String::new(), |ours| format!(", {}", fixed(ours, 4)));
        Some(format!("{figure}, {workload}, {what}{ours}: {what_is_wrong}"))
    }

    /// The swaps after which the row would come out as declared all the same.
    pub fn unnoticed(&self) -> impl Iterator<Item = &StrategySwap> {
        self.swaps.iter().filter(|swap| {
            let ours = Measured::Judged(swap.ours);
            let swapped = Self { ours, margin: swap.margin, swaps: Vec::new(), ..self.clone() };
            swapped.surprise().is_none()
        })
    }

    /// Why a swap that goes unnoticed does so.
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

    /// Digits after the decimal point in print.
    fn decimals(&self) -> usize {
        self.printed.split_once('.').map_or(0, |(_, fraction)| fraction.len())
    }

    /// Digits after the decimal point to show of ours: a bound says nothing of its digits.
    fn decimals_shown(&self) -> usize {
        if self.is_number() { self.decimals() } else { 3 }
    }

    /// The verdict.
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
        // Single logs differ by more than the number itself.
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

    /// The published column of the table for people: nothing was printed of a claim.
    fn published_shown(&self) -> String {
        match self.is_claim {
            true => "-".to_string(),
            false => fixed(self.published, self.decimals()),
        }
    }

    /// The tolerance column: of a claim, its bound.
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
                // Every digit of it: a rounded bound would hide what it lets pass.
                format!("at most {}", (self.published * (1.0 + by) * 1e6).round() / 1e6)
            }
        }
    }

    /// The note, after the reason for what is known.
    fn note_shown(&self) -> String {
        let why = self.known.as_ref().map_or("", |known| known.why.as_str());
        let parts = [why, self.note.as_str()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
    }

    /// Ours less published, in percent of published where the tolerance is relative.
    fn difference(&self) -> Option<String> {
        let (ours, published) = (self.value().filter(|_| !self.is_claim)?, self.published);
        Some(match self.tolerance {
            // Nothing is a percentage of zero.
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

    /// The checks as a table for people.
    pub fn sheet(checks: &[Check]) -> Sheet {
        let shown = |value: f64, check: &Self| fixed(value, check.decimals_shown());
        let shown = vec![
            Shown::column(name::figure, "figure", 0),
            Shown::column(name::workload, "workload", 0).rank(1),
            Shown::column(name::what, "what", 0).rank(1),
            Shown::text("published", |check: &Self| Some(check.published_shown())).right().rank(1),
            Shown::text("ours", move |check: &Self| Some(shown(check.value()?, check)))
                .right()
                .rank(1),
            Shown::text("+-", move |check: &Self| {
                (check.margin > 0.0).then(|| shown(check.margin, check))
            })
            .right(),
            Shown::text("difference", Self::difference).right().rank(1),
            Shown::text("tolerance", |check: &Self| Some(check.tolerance_shown())).right(),
            Shown::column(name::verdict, "verdict", 0).rank(1),
            Shown::column(name::bound, "bound", 0),
            Shown::column(name::out_of_sample, "out of sample", 0),
            Shown::column(name::log, "log that ran", 0),
            Shown::text("note", |check: &Self| Some(check.note_shown())),
        ];
        Sheet::of(checks, shown)
    }
}

impl Table for Check {
    const NAME: &'static str = "verify";
    const ROW: &'static str = "one row per published number";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        vec![
            Column::text(name::suite, "suite of published numbers", |check: &Self| Some(check.suite)),
            Column::text(name::figure, "figure, table or claim of the paper", |check: &Self| Some(&check.figure)),
            Column::text(name::workload, "trace, or what streams, in the paper", |check: &Self| Some(&check.workload)),
            Column::text(name::log, "log or replications that ran; null if none did", |check: &Self| check.log.as_deref()),
            Column::text(name::what, "what the number is", |check: &Self| Some(&check.what)),
            Column::text(name::printed, "the number as printed; of a claim, its bound", |check: &Self| Some(&check.printed)),
            Column::new(name::published, "as printed", "the number compared with: as printed, unless it is a known misprint", |check: &Self| check.published),
            Column::new(name::ours, "as printed", "our number; null if not run", Self::value),
            Column::new(name::margin, "as printed", "half the width of its 95 % interval; 0 if it is exact", |check: &Self| check.margin),
            Column::new(name::over_packets, "as printed", "where ours is a mean over jobs, the same as a mean over packets; null elsewhere", |check: &Self| check.over_packets),
            Column::new(name::difference, "as printed", "ours less published; null if not run", |check: &Self| check.value().map(|ours| ours - check.published)),
            Column::new(name::tolerance, "", "how far they may be apart", |check: &Self| check.tolerance.to_string()),
            Column::new(name::bound, "", "ours (the paper says it in words) or printed", |check: &Self| check.bound().to_string()),
            Column::text(name::out_of_sample, "yes or no: whether no rule, constant or network was chosen on what the paper states", |check: &Self| Some(check.out_of_sample())),
            Column::new(name::verdict, "", "same, within, undecided, differs (a number), contradicts (a claim), or not judged or not run and why", |check: &Self| check.verdict().to_string()),
            Column::new(name::known, "as printed", "our number when it was declared that it is beyond the tolerance; null if it is not", |check: &Self| check.known.as_ref().map(|known| known.ours)),
            Column::text(name::known_why, "what is thought of the reason; null if there is none", |check: &Self| check.known.as_ref().map(|known| known.why.as_str())),
            Column::text(name::note, "anything else to know", |check: &Self| Some(&check.note)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(printed: &str, ours: f64, tolerance: Tolerance) -> Verdict {
        of(printed, ours, tolerance).verdict()
    }

    fn of(printed: &str, ours: f64, tolerance: Tolerance) -> Check {
        Check {
            suite: "",
            figure: String::new(),
            workload: String::new(),
            log: None,
            what: String::new(),
            printed: printed.to_string(),
            published: printed.parse().expect("a number"),
            ours: Measured::Judged(ours),
            margin: 0.0,
            tolerance,
            note: String::new(),
            is_claim: false,
            known: None,
            swaps: Vec::new(),
            over_packets: None,
            sample: Sample::Outside,
            printed_bound: false,
        }
    }

    #[test]
    fn the_numbers_are_seen_at_80_columns() {
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
    fn an_interval_decides_nothing_by_being_wide() {
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
    fn a_bound_within_the_interval_decides_nothing() {
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
        // A number that happens to be the printed one.
        let lucky = Check { margin: 9.0, ..of("100", 100.0, Tolerance::Relative(0.08)) };
        assert_eq!(lucky.verdict(), Verdict::Undecided);
    }

    #[test]
    fn what_is_known_must_stay_as_it_was_declared() {
        let of = |ours| Check { is_claim: true, ..of("1", ours, Tolerance::Below) };
        let known = |ours, margin| Check { margin, ..of(ours) }.known(1.3, "why");
        assert_eq!(of(0.9).surprise(), None);
        assert_eq!(of(1.3).surprise(), Some(UndeclaredChange::New));
        assert_eq!(known(1.3, 0.0).verdict(), Verdict::Contradicts);
        assert_eq!(known(1.25, 0.0).surprise(), None);
        assert_eq!(known(1.2, 0.0).surprise(), Some(UndeclaredChange::Moved));
        assert_eq!(known(1.2, 0.11).surprise(), None);
        assert_eq!(known(0.9, 0.01).surprise(), Some(UndeclaredChange::Gone));
        assert_eq!(known(f64::NAN, 0.0).surprise(), Some(UndeclaredChange::Moved));
        assert!(
            known(0.9, 0.01).complaint().is_some_and(|text| text.contains("declared not to be"))
        );
        assert!(of(1.3).complaint().is_some_and(|text| text.contains("not declared")));
        assert_eq!(known(1.3, 0.0).not_judged("open").surprise(), None);
    }

    #[test]
    fn what_is_not_judged_is_known_and_what_is_not_run_is_not() {
        let check = of("100", 500.0, Tolerance::Absolute(1.0));
        let shown = check.clone().not_judged("it is open");
        assert_eq!(shown.verdict(), Verdict::NotJudged("it is open".to_string()));
        assert_eq!((shown.value(), check.verdict()), (Some(500.0), Verdict::Differs));
        // The first reason stays.
        assert_eq!(shown.clone().not_judged("another").verdict(), shown.verdict());
        let absent = NotRun::Absent("fetch it".to_string());
        let not_run = Check { ours: Measured::NotRun(absent.clone()), ..check };
        assert_eq!((not_run.value(), not_run.verdict()), (None, Verdict::NotRun(absent.clone())));
        assert_eq!(not_run.not_judged("it is open").verdict(), Verdict::NotRun(absent));
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
    fn verdicts_follow_print_and_tolerance() {
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
