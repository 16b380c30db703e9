//! The ways to choose among boxes that a self-tuned strategy and a search look at.

use std::fmt;

use crate::placement::ties::{CandidateFilter, TermWeights};

/// A way to choose among the free boxes of a size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SelectionRule {
    /// Slurm's rule.
    Slurm,
    /// The least weighted sum of terms.
    Terms(TermWeights, CandidateFilter),
}

impl SelectionRule {
    /// Terms and rivals; of Slurm's rule, which has none, those that say nothing.
    pub fn terms(self) -> (TermWeights, CandidateFilter) {
        match self {
            Self::Terms(weights, filter) => (weights, filter),
            Self::Slurm => (TermWeights::default(), CandidateFilter::First),
        }
    }
}

/// As parameters of `placements`.
impl fmt::Display for SelectionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Slurm => f.write_str("tie=slurm"),
            Self::Terms(weights, CandidateFilter::All) => write!(f, "tie={weights}"),
            Self::Terms(weights, CandidateFilter::First) => write!(f, "tie={weights},shapes=first"),
            Self::Terms(weights, CandidateFilter::Compact(slack)) => {
                write!(f, "tie={weights},slack={slack}")
            }
        }
    }
}

/// A way and where it stands among the others.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// The way.
    pub way: SelectionRule,
    at: [f64; 7],
}

/// Weights of LF where DL has 1, and at last where it has 0: a free larger box may be worth nothing to the delay of one,
/// up to much more, for delays are counted in units of time.
const LARGER: [[i64; 2]; 6] = [[0, 1], [100, 1], [10_000, 1], [1_000_000, 1], [1, 0], [0, 0]];

/// Weights of NF and of EF: none, to break ties of the others, and against a lost box.
const CONTACT: [i64; 3] = [0, 1, 10_000];

/// Slacks; those below 0 stand for all shapes.
const SLACKS: [f64; 4] = [-1.0, 1.0, 0.25, 0.05];

/// How far Slurm's rule is from all others, along an axis of its own.
const APART: f64 = 2.0;

/// All ways that are looked at: Slurm's rule, and what weights and slacks make. Walls have a weight
/// where the machine `has_walls`. Of all shapes or those of a fixed slack, if `rivals` says which.
pub fn points(has_walls: bool, filter: Option<CandidateFilter>) -> Vec<Point> {
    let slack = |slack: f64| {
        if slack < 0.0 { CandidateFilter::All } else { CandidateFilter::Compact(slack) }
    };
    let filter: Vec<(f64, CandidateFilter)> = match filter {
        Some(filter) => vec![(0.0, filter)],
        None => (0..).map(f64::from).zip(SLACKS.map(slack)).collect(),
    };
    let mut points =
        vec![Point { way: SelectionRule::Slurm, at: [3.0, 0.0, 0.0, 0.0, 0.0, 0.0, APART] }];
    let walls = if has_walls { &[0, 1][..] } else { &[0] };
    for &(step, filter) in &filter {
        for (level, [larger, delay]) in (0..).map(f64::from).zip(LARGER) {
            let equals = if larger == 0 { &[0][..] } else { &[0, 1] };
            for &equal in equals {
                for (touch, contact) in (0..).map(f64::from).zip(CONTACT) {
                    for (near, ends) in (0..).map(f64::from).zip(CONTACT) {
                        for &wall in walls {
                            // Of one term alone the weight says nothing.
                            let alone = (larger, delay) == (0, 0);
                            let heavy = CONTACT[2];
                            if alone && (contact == heavy || ends == heavy) {
                                continue;
                            }
                            let weights = TermWeights {
                                larger,
                                equal: equal * larger,
                                contact,
                                wall,
                                ends,
                                delay,
                            };
                            let at = [level, equal as f64, touch, near, step, wall as f64, 0.0];
                            points.push(Point { way: SelectionRule::Terms(weights, filter), at });
                        }
                    }
                }
            }
        }
    }
    points
}

impl Point {
    /// Squared, in steps.
    pub fn distance(&self, other: &Point) -> f64 {
        self.at.iter().zip(other.at).map(|(one, other)| (one - other).powi(2)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_are_all_different_and_read_back() {
        for (walls, filter) in [(false, None), (true, None), (true, Some(CandidateFilter::All))] {
            let ways = points(walls, filter);
            let names: std::collections::HashSet<String> =
                ways.iter().map(|point| point.way.to_string()).collect();
            assert_eq!(names.len(), ways.len());
            for name in names {
                let spec = format!("placements[{name}]");
                let spec = spec.parse::<crate::allocator::registry::AllocatorSpec>();
                assert_eq!(spec.expect(&name).to_string(), format!("placements[{name}]"));
            }
            for (i, one) in ways.iter().enumerate() {
                assert_eq!(one.distance(one), 0.0);
                assert!(ways[..i].iter().all(|other| one.distance(other) > 0.0), "{}", one.way);
            }
        }
    }
}
