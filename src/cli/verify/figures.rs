//! Figures of `replay verify`: published numbers of a figure or table, and our numbers.

use std::path::PathBuf;

use replay_output::plot::{FileNames, Plots, PublishedComparison, PublishedRow, save};
use replay_published::Check;

/// Draws a figure for each published figure or table that has both published numbers and our numbers. Returns the paths
/// of the files.
///
/// # Errors
/// Errors of drawing and writing.
pub fn write(plots: &Plots, suites: &[(&str, &[Check])]) -> anyhow::Result<Vec<PathBuf>> {
    let mut stems = FileNames::default();
    let mut files = Vec::new();
    for (suite, checks) in suites {
        let mut figures: Vec<(&str, Vec<&Check>)> = Vec::new();
        for check in checks.iter().filter(|check| has_both(check)) {
            match figures.iter_mut().find(|(figure, _)| *figure == check.figure) {
                Some((_, of)) => of.push(check),
                None => figures.push((&check.figure, vec![check])),
            }
        }
        for (figure, checks) in figures {
            let drawn = beside(suite, figure, &checks);
            files.extend(save(plots, &stems.unique(&[suite, figure]), &drawn)?);
        }
    }
    Ok(files)
}

/// Returns whether our number is known and the published value is a number, not a claim or a bound.
fn has_both(check: &Check) -> bool {
    check.is_number() && check.published != 0.0 && check.value().is_some()
}

/// Maximum ratio of the largest to the smallest published value for which all values share an axis.
const SPAN: f64 = 20.0;

fn beside(suite: &str, figure: &str, checks: &[&Check]) -> PublishedComparison {
    let names = without_common(checks.iter().map(|check| check.what.as_str()));
    let groups = without_common(checks.iter().map(|check| check.workload.as_str()));
    let printed = || checks.iter().map(|check| check.published);
    let least = printed().fold(f64::INFINITY, f64::min);
    let most = printed().fold(f64::NEG_INFINITY, f64::max);
    // Rows that begin with the same words have the same measure.
    let values = !names.before.is_empty() && least > 0.0 && most <= SPAN * least;
    let row = |((check, label), group): ((&&Check, String), String)| {
        Some(PublishedRow {
            group,
            label,
            printed: check.published,
            ours: check.value()?,
            margin: check.margin,
            reach: check.reach(),
        })
    };
    let (common, of_all) = (names.common(), groups.common());
    let rows = checks.iter().zip(names.left).zip(groups.left).filter_map(row);
    PublishedComparison {
        title: format!("{suite}, {figure}: printed numbers and ours"),
        subtitle: [of_all, common.clone(), "on the right: ours / printed".to_string()]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect(),
        values,
        x_title: match values {
            true => common,
            false => "ours over printed".to_string(),
        },
        rows: rows.collect(),
    }
}

/// Texts from which the words common to their beginnings or ends have been removed.
struct Shortened {
    before: String,
    after: String,
    left: Vec<String>,
}

impl Shortened {
    fn common(&self) -> String {
        match (self.before.as_str(), self.after.as_str()) {
            (before, "") => closed(before),
            (before, after) if self.left.iter().all(String::is_empty) => {
                closed(&format!("{before} {after}"))
            }
            (before, after) => closed(&format!("{before} … {after}")),
        }
    }
}

/// Removes spaces around a text, and a comma or colon after which nothing follows.
fn closed(text: &str) -> String {
    text.trim().trim_end_matches([',', ':']).to_string()
}

fn without_common<'a>(texts: impl Iterator<Item = &'a str>) -> Shortened {
    let mut words: Vec<Vec<&str>> = texts.map(|text| text.split(' ').collect()).collect();
    let mut taken = |from: fn(&[&'a str]) -> Option<&'a str>, first: bool| {
        let mut common = Vec::new();
        while let Some(word) = words.first().and_then(|of| from(of))
            && words.iter().all(|of| from(of) == Some(word))
        {
            common.push(word);
            for of in &mut words {
                of.remove(if first { 0 } else { of.len() - 1 });
            }
        }
        common
    };
    let before = taken(|of| of.first().copied(), true).join(" ");
    let mut after = taken(|of| of.last().copied(), false);
    after.reverse();
    Shortened {
        before,
        after: after.join(" "),
        left: words.into_iter().map(|of| closed(&of.join(" "))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::without_common;

    #[test]
    fn common_words_are_removed() {
        let texts = ["finish time random load 10", "finish time mbs load 10"];
        let short = without_common(texts.into_iter());
        assert_eq!(short.left, ["random", "mbs"]);
        assert_eq!(short.common(), "finish time … load 10");
        let same = without_common(["a b", "a b"].into_iter());
        assert_eq!((same.common().as_str(), same.left), ("a b", vec![String::new(); 2]));
        let list = without_common(["mesh: held, FL", "mesh: held, AFL"].into_iter());
        assert_eq!(
            (list.common().as_str(), list.left),
            ("mesh: held", vec!["FL".into(), "AFL".into()])
        );
        let none = without_common(["a", "b"].into_iter());
        assert_eq!((none.common().as_str(), none.left.len()), ("", 2));
    }
}
