//! Candidates of a request, with the data for plotting them.

use crate::allocator::ties::TieVector;
use crate::topology::{Coord, NodeId};

/// Candidates of a request.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CandidateSet {
    /// Tie vector by which the candidates are compared, if the strategy has a tie vector.
    pub vector: Option<TieVector>,
    /// The first candidates; the winner comes first.
    pub first: Vec<ScoredCandidate>,
    /// Number of candidates that `first` omits.
    pub more: usize,
}

/// A candidate with its score and tie value: a set of processors around a centre, or a box from a menu.
#[derive(Clone, PartialEq, Debug)]
pub struct ScoredCandidate {
    /// Position in candidate order, from 1.
    pub number: usize,
    /// Coordinates of the centre, or of the first corner of a box.
    pub centre: Coord,
    /// Score, or cost of a box; lower is better.
    pub score: u64,
    /// Tie value, or weighted sum of a box; lower is better. `None` if there is no tie vector and no term has a
    /// weight.
    pub tie: Option<i64>,
    /// Number of the candidate's processor set. Distinct sets are numbered from 1 in candidate order.
    pub set: usize,
    /// Processors of the candidate, nearest first.
    pub nodes: Vec<NodeId>,
    /// For each processor, its distance from the centre (the shell number), indexed by processor number; empty for a
    /// box. Candidates after the first [`LISTED`](super::explain::LISTED) are not plotted; they have a single entry,
    /// the number of their last shell.
    pub shells: Vec<u32>,
    /// Weights in the tie value; empty without a tie vector. Candidates that are not plotted have one weight per term:
    /// the sum of the term's weights.
    pub weights: Vec<Weight>,
}

impl ScoredCandidate {
    /// Returns whether the candidate is a box from a menu, which has no shells.
    pub fn is_box(&self) -> bool {
        self.shells.is_empty()
    }

    /// Formats the value by which candidates are compared: score, cost or weighted sum.
    pub fn label(&self) -> String {
        match (self.is_box(), self.tie) {
            (false, _) => format!("score {}", self.score),
            (true, None) => format!("cost {}", self.score),
            (true, Some(sum)) => format!("sum {sum}"),
        }
    }

    /// Returns the shell of the outermost processor.
    pub fn last_shell(&self) -> u32 {
        if let [last] = self.shells[..] {
            return last;
        }
        let shells = self.nodes.iter().filter_map(|node| self.shells.get(node.index()));
        shells.copied().max().unwrap_or(0)
    }

    /// Returns the sum of the candidate's weights for `term`.
    pub fn sum(&self, term: Term) -> i64 {
        self.weights.iter().filter(|weight| weight.term == term).map(|weight| weight.weight).sum()
    }
}

/// Weight of a processor in a term of a tie value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Weight {
    /// The processor.
    pub node: NodeId,
    /// Term of the tie value to which the processor contributes.
    pub term: Term,
    /// Weight of the processor, before multiplication by the factor AF, WF or BF of the tie vector.
    pub weight: i64,
}

/// Terms of a tie value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Term {
    /// Sum of the weights of free processors outside the candidate.
    Free,
    /// Sum of the weights of the candidate's processors that touch a wall.
    Wall,
    /// Sum of the weights of busy processors that are adjacent to the candidate.
    Busy,
}
