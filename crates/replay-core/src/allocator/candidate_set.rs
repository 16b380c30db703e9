//! Candidates that compete for a request, as a picture needs them.

use super::centre::tie::TieVector;
use crate::topology::{Coord, NodeId};

/// Who competes for a request.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CandidateSet {
    /// By which tie values, if by any.
    pub vector: Option<TieVector>,
    /// They, the winner before all; of boxes the first.
    pub first: Vec<ScoredCandidate>,
    /// How many more there are, of which nothing is told.
    pub more: usize,
}

/// A candidate that competes by its score and tie value.
#[derive(Clone, PartialEq, Debug)]
pub struct ScoredCandidate {
    /// Its place in candidate order, from 1.
    pub number: usize,
    /// Where its centre is; of a box the first of its corners.
    pub centre: Coord,
    /// Its score, of a box what it costs; the lower the better.
    pub score: u64,
    /// Its tie value, of a box its weighted sum; `None` if there is no tie vector and no term has a weight. The lower the
    /// better.
    pub tie: Option<i64>,
    /// Which of the distinct sets it is, numbered from 1 in candidate order.
    pub set: usize,
    /// Its processors, nearest first.
    pub nodes: Vec<NodeId>,
    /// By processor number: how far it is from the centre, which is the number of its shell; empty for a box. Of a
    /// candidate behind the first [`LISTED`](super::explain::LISTED), which is not drawn, one number: the last shell.
    pub shells: Vec<u32>,
    /// Who counts in its tie value; nobody without a vector. Of a candidate that is not drawn the sums.
    pub weights: Vec<Weight>,
}

impl ScoredCandidate {
    /// Whether it is a box of a menu, which has no shells.
    pub fn is_box(&self) -> bool {
        self.shells.is_empty()
    }

    /// In a few words what it comes to.
    pub fn worth(&self) -> String {
        match (self.is_box(), self.tie) {
            (false, _) => format!("score {}", self.score),
            (true, None) => format!("cost {}", self.score),
            (true, Some(sum)) => format!("sum {sum}"),
        }
    }

    /// The shell of its outermost processor.
    pub fn last_shell(&self) -> u32 {
        if let [last] = self.shells[..] {
            return last;
        }
        let shells = self.nodes.iter().filter_map(|node| self.shells.get(node.index()));
        shells.copied().max().unwrap_or(0)
    }

    /// The sum of its weights of a kind.
    pub fn sum(&self, term: Term) -> i64 {
        self.weights.iter().filter(|weight| weight.term == term).map(|weight| weight.weight).sum()
    }
}

/// What a processor counts in a tie value, before the entry of the vector multiplies it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Weight {
    /// The processor.
    pub node: NodeId,
    /// In which sum.
    pub term: Term,
    /// How much.
    pub weight: i64,
}

/// The sums of which a tie value is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Term {
    /// Over free processors outside the candidate.
    Free,
    /// Over the candidate's own processors along walls.
    Wall,
    /// Over busy processors just outside.
    Busy,
}
