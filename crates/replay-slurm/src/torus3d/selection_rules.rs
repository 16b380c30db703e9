//! Rules that select among free boxes. The self-tuning strategy and searches compare these rules.

use std::fmt;

use crate::placement::ties::{CandidateFilter, TermWeights};

/// A rule that selects among the free boxes of a size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SelectionRule {
    /// Slurm's rule.
    Slurm,
    /// The free box with the smallest weighted sum of terms is selected.
    Terms(TermWeights, CandidateFilter),
}

impl SelectionRule {
    /// Returns the weights and the filter. For Slurm's rule, which has no weights and no filter, returns neutral
    /// values.
    pub fn terms(self) -> (TermWeights, CandidateFilter) {
        match self {
            Self::Terms(weights, filter) => (weights, filter),
            Self::Slurm => (TermWeights::default(), CandidateFilter::First),
        }
    }
}

/// Writes the rule as parameters of `placements`.
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

/// A selection rule and its position in the space of rules.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// The selection rule.
    pub rule: SelectionRule,
    at: [f64; 7],
}

/// Weights of the terms LF and DL. The weight of DL is 0 in the last entries and 1 in all other entries. The weights of
/// LF cover a wide range, because the terms have different units: LF counts boxes and DL counts time.
const LARGER: [[i64; 2]; 6] = [[0, 1], [100, 1], [10_000, 1], [1_000_000, 1], [1, 0], [0, 0]];

/// Weights of the terms NF and EF: 0, a weight that only breaks ties of the other terms, and a weight that outweighs a
/// lost box.
const CONTACT: [i64; 3] = [0, 1, 10_000];

/// Slacks. A negative value means that boxes of all shapes are compared.
const SLACKS: [f64; 4] = [-1.0, 1.0, 0.25, 0.05];

/// Distance of Slurm's rule from all other rules, along a separate axis.
const SLURM_DISTANCE: f64 = 2.0;

/// Returns all rules: Slurm's rule, and all combinations of weights and slacks. If the machine `has_walls`, the weight
/// of walls is also varied. If `filter` is given, all rules use this filter. Without a filter, the rules use all
/// shapes, and each of the slacks.
pub fn points(has_walls: bool, filter: Option<CandidateFilter>) -> Vec<Point> {
    let slack = |slack: f64| {
        if slack < 0.0 { CandidateFilter::All } else { CandidateFilter::Compact(slack) }
    };
    let filter: Vec<(f64, CandidateFilter)> = match filter {
        Some(filter) => vec![(0.0, filter)],
        None => (0..).map(f64::from).zip(SLACKS.map(slack)).collect(),
    };
    let mut points = vec![Point {
        rule: SelectionRule::Slurm,
        at: [3.0, 0.0, 0.0, 0.0, 0.0, 0.0, SLURM_DISTANCE],
    }];
    let walls = if has_walls { &[0, 1][..] } else { &[0] };
    for &(step, filter) in &filter {
        for (level, [larger, delay]) in (0..).map(f64::from).zip(LARGER) {
            let equals = if larger == 0 { &[0][..] } else { &[0, 1] };
            for &equal in equals {
                for (touch, contact) in (0..).map(f64::from).zip(CONTACT) {
                    for (near, ends) in (0..).map(f64::from).zip(CONTACT) {
                        for &wall in walls {
                            // If only one term has a weight, all weights are equivalent.
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
                            points.push(Point { rule: SelectionRule::Terms(weights, filter), at });
                        }
                    }
                }
            }
        }
    }
    points
}

impl Point {
    /// Returns the squared distance between two points, in steps.
    pub fn distance(&self, other: &Point) -> f64 {
        self.at.iter().zip(other.at).map(|(one, other)| (one - other).powi(2)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_distinct_and_parse() {
        for (walls, filter) in [(false, None), (true, None), (true, Some(CandidateFilter::All))] {
            let rules = points(walls, filter);
            let names: std::collections::HashSet<String> =
                rules.iter().map(|point| point.rule.to_string()).collect();
            assert_eq!(names.len(), rules.len());
            for name in names {
                let spec = format!("placements[{name}]");
                let spec = crate::allocator(&spec);
                assert_eq!(spec.expect(&name).to_string(), format!("placements[{name}]"));
            }
            for (i, one) in rules.iter().enumerate() {
                assert_eq!(one.distance(one), 0.0);
                assert!(rules[..i].iter().all(|other| one.distance(other) > 0.0), "{}", one.rule);
            }
        }
    }
}
