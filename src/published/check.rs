use std::fmt;

use crate::number::fixed;
use crate::report::{Align, Sheet, Value};

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
}

impl Tolerance {
    /// Whether a value within `margin` of `ours` is near enough. The bounds allow for the
    /// rounding of binary fractions, nothing more.
    pub fn admits(self, published: f64, ours: f64, margin: f64) -> bool {
        let slop = margin + 1e-9 * published.abs().max(1.0);
        match self {
            Tolerance::Absolute(by) => (ours - published).abs() <= by + slop,
            Tolerance::Relative(by) => (ours - published).abs() <= by * published.abs() + slop,
            Tolerance::Below => ours - margin < published,
            Tolerance::Above => ours + margin > published,
            Tolerance::AtMost(by) => ours <= published + by * published.abs() + slop,
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
    /// Beyond the tolerance, but part of the 95 % interval is within it: more replications
    /// would say which.
    Undecided,
    /// Beyond the tolerance.
    Differs,
    /// Ours is known but not judged, and why.
    NotJudged(String),
    /// Not run, and why.
    NotRun(String),
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
    /// Trace of the paper.
    pub trace: String,
    /// Log that ran, if one did.
    pub log: Option<String>,
    /// What the number is.
    pub what: String,
    /// The number as printed.
    pub printed: String,
    /// The number compared with: as printed, unless it is a known misprint.
    pub published: f64,
    /// Our number.
    pub ours: Option<f64>,
    /// Half-width of its 95 % interval; 0 if it is exact.
    pub margin: f64,
    /// How far they may be apart.
    pub tolerance: Tolerance,
    /// Why it was not run, or not judged, if that is so.
    pub not_run: Option<String>,
    /// Anything else to know.
    pub note: String,
    /// Whether the paper says it in words: `published` is then our bound for them, and
    /// nothing was printed that ours could be the same as.
    pub is_claim: bool,
}

impl Check {
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
        if let Some(why) = &self.not_run {
            return match self.ours {
                Some(_) => Verdict::NotJudged(why.clone()),
                None => Verdict::NotRun(why.clone()),
            };
        }
        match self.ours {
            None => Verdict::NotRun("no value".to_string()),
            Some(ours) => {
                let printed = |value: f64| format!("{value:.*}", self.decimals());
                let printed_value = self.tolerance.is_two_sided() && !self.is_claim;
                if printed_value && printed(ours) == printed(self.published) {
                    Verdict::Same
                } else if self.tolerance.admits(self.published, ours, 0.0) {
                    Verdict::Within
                } else if self.tolerance.admits(self.published, ours, self.margin) {
                    Verdict::Undecided
                } else {
                    Verdict::Differs
                }
            }
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
            Tolerance::Absolute(_) | Tolerance::Relative(_) => format!("{tolerance} of {bound}"),
            Tolerance::Below => format!("less than {bound}"),
            Tolerance::Above => format!("more than {bound}"),
            Tolerance::AtMost(by) => {
                format!("at most {}", fixed(self.published * (1.0 + by), self.decimals()))
            }
        }
    }

    /// Ours less published, in percent of published where the tolerance is relative.
    fn difference(&self) -> Option<String> {
        let (ours, published) = (self.ours.filter(|_| !self.is_claim)?, self.published);
        Some(match self.tolerance {
            // Nothing is a percentage of zero.
            Tolerance::Relative(_) if published == 0.0 => {
                format!("{:+.*}", self.decimals(), ours - published)
            }
            Tolerance::Relative(_) => format!("{:+.3} %", 100.0 * (ours - published) / published),
            Tolerance::Absolute(_) => format!("{:+.*}", self.decimals(), ours - published),
            Tolerance::Below | Tolerance::Above | Tolerance::AtMost(_) => return None,
        })
    }

    /// The check as named values at full precision.
    pub fn full_row(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("figure", Value::from(self.figure.as_str())),
            ("trace", Value::from(self.trace.as_str())),
            ("log", self.log.as_deref().map_or(Value::Missing, Value::from)),
            ("what", Value::from(self.what.as_str())),
            ("printed", Value::from(self.printed.as_str())),
            ("published", Value::Real(self.published)),
            ("ours", Value::from(self.ours)),
            ("margin", Value::Real(self.margin)),
            ("difference", Value::from(self.ours.map(|ours| ours - self.published))),
            ("tolerance", Value::Text(self.tolerance.to_string())),
            ("verdict", Value::Text(self.verdict().to_string())),
            ("note", Value::from(self.note.as_str())),
        ]
    }

    /// The checks as a table for people.
    pub fn sheet(checks: &[Check]) -> Sheet {
        let mut sheet = Sheet::new(&[
            ("figure", Align::Left),
            ("trace", Align::Left),
            ("what", Align::Left),
            ("published", Align::Right),
            ("ours", Align::Right),
            ("+-", Align::Right),
            ("difference", Align::Right),
            ("tolerance", Align::Right),
            ("verdict", Align::Left),
            ("log that ran", Align::Left),
            ("note", Align::Left),
        ]);
        for check in checks {
            let dash = || "-".to_string();
            sheet.push(vec![
                check.figure.clone(),
                check.trace.clone(),
                check.what.clone(),
                check.published_shown(),
                check.ours.map_or_else(dash, |ours| fixed(ours, check.decimals_shown())),
                if check.margin > 0.0 {
                    fixed(check.margin, check.decimals_shown())
                } else {
                    dash()
                },
                check.difference().unwrap_or_else(dash),
                check.tolerance_shown(),
                check.verdict().to_string(),
                check.log.clone().unwrap_or_else(dash),
                check.note.clone(),
            ]);
        }
        sheet
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
            trace: String::new(),
            log: None,
            what: String::new(),
            printed: printed.to_string(),
            published: printed.parse().expect("a number"),
            ours: Some(ours),
            margin: 0.0,
            tolerance,
            not_run: None,
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
        assert_eq!(Check { margin: 5.0, ..inside }.verdict(), Verdict::Within);
        let bound = of("3", 4.2, Tolerance::AtMost(0.0));
        assert_eq!(Check { margin: 10.5, ..bound }.verdict(), Verdict::Undecided);
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
