use super::tie::Sums;
use crate::topology::NodeId;

/// A candidate of a decision, for one scan radius.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    pub score: u64,
    pub centre: NodeId,
    pub sums: Sums,
    /// Its number among the candidates.
    pub place: u32,
}
