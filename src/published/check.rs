use std::fmt;

use crate::number::fixed;
use crate::report::{Sheet, Shown};
use crate::table::{Column, Table};

/// How far ours may be from the published value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Tolerance {
    /// By no more than this.
    Absolute(f64),
    /// By no more than this fraction of the published value.
    Relative(f64),
    /// Ours must be below the published value.
    Below,
    /// Ours must be above the published value.
    Above,
    /// Ours must not exceed the published value by more than this fraction of it.
    AtMost(f64),
    /// By no more than this, within which 95 % of shaken copies of the log come out.
    OfShaken(f64),
}

impl Tolerance {
    /// Whether a value within `margin` of `ours` is near enough. The bounds allow for the
    /// rounding of binary fractions, nothing more.
    pub fn admits(self, published: f64, ours: f64, margin: f64) -> bool {
        let slop = margin + 1e-9 * published.abs().max(1.0);
        match self {
            Tolerance::Absolute(by) | Tolerance::OfShaken(by) => {
                (ours - published).abs() <= by + slop
            }
            Tolerance::Relative(by) => (ours - published).abs() <= by * published.abs() + slop,
            Tolerance::Below => ours - margin < published,
            Tolerance::Above => ours + margin > published,
            Tolerance::AtMost(by) => ours <= published + by * published.abs() + slop,
        }
    }

    /// How far ours may be from the published value either way, if it compares the value itself.
    fn reach(self, published: f64) -> Option<f64> {
        match self {
            Tolerance::Absolute(by) | Tolerance::OfShaken(by) => Some(by),
            Tolerance::Relative(by) => Some(by * published.abs()),
            Tolerance::Below | Tolerance::Above | Tolerance::AtMost(_) => None,
        }
    }

    /// Whether it compares the value itself, not with a bound.
    fn is_two_sided(self) -> bool {
        matches!(self, Tolerance::Absolute(_) | Tolerance::Relative(_))
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tolerance::Absolute(by) => write!(f, "{by}"),
            Tolerance::Relative(by) => write!(f, "{} %", (by * 1e6).round() / 1e4),
            Tolerance::Below => f.write_str("less"),
            Tolerance::Above => f.write_str("more"),
            Tolerance::AtMost(by) => write!(f, "at most +{} %", (by * 1e6).round() / 1e4),
            Tolerance::OfShaken(by) => write!(f, "{} (95 % of shaken logs)", fixed(*by, 2)),
        }
    }
}

/// What a check comes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// To the last printed digit.
    Same,
    /// Within the tolerance.
    Within,
    /// Beyond the tolerance, but part of the 95 % interval is within it; or the interval reaches
    /// farther than the tolerance. More replications would say which.
    Undecided,
    /// Beyond the tolerance.
    Differs,
    /// Ours is known but not judged, and why.
    NotJudged(String),
    /// Not run, and why.
    NotRun(NotRun),
}

/// Our number, and whether it is judged.
#[derive(Clone, PartialEq, Debug)]
pub enum Ours {
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
    /// It takes long.
    OnlyInFull(String),
    /// The run has no such number.
    NoValue,
}

impl fmt::Display for NotRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotRun::Absent(how) => write!(f, "trace absent ({how})"),
            NotRun::OtherLog(difference) => f.write_str(difference),
            NotRun::OnlyInFull(what) => write!(f, "{what}, only with --full"),
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
            Verdict::NotJudged(why) => write!(f, "not judged: {why}"),
            Verdict::NotRun(why) => write!(f, "not run: {why}"),
        }
    }
}

/// A published number beside ours.
#[derive(Clone, PartialEq, Debug)]
pub struct Check {
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
    pub ours: Ours,
    /// Half-width of its 95 % interval; 0 if it is exact.
    pub margin: f64,
    /// How far they may be apart.
    pub tolerance: Tolerance,
    /// Anything else to know.
    pub note: String,
    /// Whether the paper says it in words: `published` is then our bound for them, and
    /// nothing was printed that ours could be the same as.
    pub is_claim: bool,
}

impl Check {
    /// Our number, if it is known.
    pub fn value(&self) -> Option<f64> {
        match self.ours {
            Ours::Judged(value) | Ours::NotJudged(value, _) => Some(value),
            Ours::NotRun(_) => None,
        }
    }

    /// The same, shown but not judged.
    pub fn not_judged(self, why: &str) -> Self {
        match self.ours {
            Ours::Judged(value) => Self { ours: Ours::NotJudged(value, why.to_string()), ..self },
            Ours::NotJudged(..) | Ours::NotRun(_) => self,
        }
    }

    /// Digits after the decimal point in print.
    fn decimals(&self) -> usize {
        self.printed.split_once('.').map_or(0, |(_, fraction)| fraction.len())
    }

    /// Digits after the decimal point to show of ours: a bound says nothing of its digits.
    fn decimals_shown(&self) -> usize {
        if self.tolerance.is_two_sided() && !self.is_claim { self.decimals() } else { 3 }
    }

    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        let ours = match &self.ours {
            Ours::NotRun(why) => return Verdict::NotRun(why.clone()),
            Ours::NotJudged(_, why) => return Verdict::NotJudged(why.clone()),
            Ours::Judged(value) => *value,
        };
        let printed = |value: f64| format!("{value:.*}", self.decimals());
        let is_wide = self.tolerance.reach(self.published).is_some_and(|reach| self.margin > reach);
        let printed_value = self.tolerance.is_two_sided() && !self.is_claim;
        if printed_value && printed(ours) == printed(self.published) {
            Verdict::Same
        } else if self.tolerance.admits(self.published, ours, 0.0) && !is_wide {
            Verdict::Within
        } else if self.tolerance.admits(self.published, ours, self.margin) {
            Verdict::Undecided
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
            Shown::column("figure", "figure", 0),
            Shown::column("workload", "workload", 0),
            Shown::column("what", "what", 0),
            Shown::text("published", |check: &Self| Some(check.published_shown())).right(),
            Shown::text("ours", move |check: &Self| Some(shown(check.value()?, check))).right(),
            Shown::text("+-", move |check: &Self| {
                (check.margin > 0.0).then(|| shown(check.margin, check))
            })
            .right(),
            Shown::text("difference", Self::difference).right(),
            Shown::text("tolerance", |check: &Self| Some(check.tolerance_shown())).right(),
            Shown::column("verdict", "verdict", 0),
            Shown::column("log", "log that ran", 0),
            Shown::column("note", "note", 0),
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
            Column::text("figure", "figure, table or claim of the paper", |check: &Self| Some(&check.figure)),
            Column::text("workload", "trace, or what streams, in the paper", |check: &Self| Some(&check.workload)),
            Column::text("log", "log or replications that ran; null if none did", |check: &Self| check.log.as_deref()),
            Column::text("what", "what the number is", |check: &Self| Some(&check.what)),
            Column::text("printed", "the number as printed; of a claim, its bound", |check: &Self| Some(&check.printed)),
            Column::new("published", "as printed", "the number compared with: as printed, unless it is a known misprint", |check: &Self| check.published),
            Column::new("ours", "as printed", "our number; null if not run", Self::value),
            Column::new("margin", "as printed", "half the width of its 95 % interval; 0 if it is exact", |check: &Self| check.margin),
            Column::new("difference", "as printed", "ours less published; null if not run", |check: &Self| check.value().map(|ours| ours - check.published)),
            Column::new("tolerance", "", "how far they may be apart", |check: &Self| check.tolerance.to_string()),
            Column::new("verdict", "", "same, within, undecided, differs, or not judged or not run and why", |check: &Self| check.verdict().to_string()),
            Column::text("note", "anything else to know", |check: &Self| Some(&check.note)),
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
            figure: String::new(),
            workload: String::new(),
            log: None,
            what: String::new(),
            printed: printed.to_string(),
            published: printed.parse().expect("a number"),
            ours: Ours::Judged(ours),
            margin: 0.0,
            tolerance,
            note: String::new(),
            is_claim: false,
        }
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
    fn what_is_not_judged_is_known_and_what_is_not_run_is_not() {
        let check = of("100", 500.0, Tolerance::Absolute(1.0));
        let shown = check.clone().not_judged("it is open");
        assert_eq!(shown.verdict(), Verdict::NotJudged("it is open".to_string()));
        assert_eq!((shown.value(), check.verdict()), (Some(500.0), Verdict::Differs));
        // The first reason stays.
        assert_eq!(shown.clone().not_judged("another").verdict(), shown.verdict());
        let absent = NotRun::Absent("fetch it".to_string());
        let not_run = Check { ours: Ours::NotRun(absent.clone()), ..check };
        assert_eq!((not_run.value(), not_run.verdict()), (None, Verdict::NotRun(absent.clone())));
        assert_eq!(not_run.not_judged("it is open").verdict(), Verdict::NotRun(absent));
    }

    #[test]
    fn a_claim_is_judged_by_its_bound_alone() {
        let claim =
            |ours, tolerance| Check { is_claim: true, ..of("1", ours, tolerance) }.verdict();
        assert_eq!(claim(1.4, Tolerance::Relative(0.05)), Verdict::Differs);
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
