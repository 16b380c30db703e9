use super::slack::Slack;
use super::tie::{TieVector, WallRule};
use crate::topology::{Coord, Grid};

/// The distance that defines shells.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Metric {
    /// L-infinity: square shells.
    Linf,
    /// L1: diamond shells.
    L1,
}

impl Metric {
    /// Shell number of `p` around `centre`.
    #[inline]
    pub fn distance(self, grid: &Grid, centre: Coord, p: Coord) -> u32 {
        match self {
            Metric::Linf => grid.linf(centre, p),
            Metric::L1 => grid.l1(centre, p),
        }
    }
}

/// Who is taken from a last shell that is needed only in part.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ShellOrder {
    /// The free list is stably re-sorted by distance to each candidate centre in turn: at
    /// the i-th centre, processors of equal distance stand in order of their distance to
    /// centre i - 1, ties of that by distance to centre i - 2, and so on, at last in scan
    /// order. The order that reproduces the paper.
    #[default]
    Carried,
    /// Scan order.
    Scan,
    /// One by one the processor of least total L1 distance to those already chosen, ties
    /// by L1 distance to the centre, then scan order; any free processor outside the
    /// complete shells may be chosen.
    Greedy,
}

impl ShellOrder {
    /// Every order with its name.
    pub const ALL: [(&'static str, ShellOrder); 3] = [
        ("carried", ShellOrder::Carried),
        ("scan", ShellOrder::Scan),
        ("greedy", ShellOrder::Greedy),
    ];
}

/// Tie-breaking and the choices the papers leave open, common to the family.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CentreOptions {
    /// The tie-breaking vector; `None`: the first candidate wins.
    pub tie: Option<TieVector>,
    /// How walls count in the tie value.
    pub wall: WallRule,
    /// Who is taken from the last shell.
    pub order: ShellOrder,
    /// How much worse than the best a candidate may be that competes by tie value.
    pub slack: Slack,
}
