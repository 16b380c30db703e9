//! MC (Mache, Lo, Windisch 1997): MC1x1 for jobs with a shape.
//!
//! Shell 0 is the requested box itself, and shell i + 1 is the ring around shell i. Every free
//! processor is a candidate: it is the lowest corner of a box. A box that would extend past the end
//! of the mesh is shifted back onto the mesh. The score is the sum of shell numbers. If scores are
//! equal, the first candidate in scan order wins. If only some processors of the last shell are
//! needed, they are selected in carried order (see `ShellCut`). A job without shape gets a shape by
//! a [`ShapeRule`]. Cost per decision: one box count per free processor and shell.

use crate::ShellCut;
use replay_engine::allocator::explain::{self, ExplanationLog, Listing};
use replay_engine::allocator::submesh::ShapeRule;
use replay_engine::allocator::{
    Allocator, AllocatorOptions, Capabilities, Refusal, Request, RunSetup, grid_of,
    settled_by_count,
};
use replay_engine::machine::{BoxCounts, Machine};
use replay_engine::naming::{Entry, Table, kind};
use replay_engine::number::counted;
use replay_engine::topology::{Axis, Coord, Grid, NodeId, Topology};

/// The MC allocator.
#[derive(Debug)]
pub struct Mc {
    grid: Grid,
    coords: Vec<Coord>,
    rule: ShapeRule,
    counts: BoxCounts<u32>,
    cut: ShellCut,
    shell: Vec<NodeId>,
    explanation: ExplanationLog,
}

/// A box, given by its first position and its length along each dimension. On a wrapped dimension,
/// the box may extend past the end.
type Extent = [(i32, u32); 3];

impl Mc {
    /// Creates an allocator for `grid`.
    pub fn new(grid: &Grid, rule: ShapeRule) -> Self {
        Self {
            coords: grid.coords(),
            counts: BoxCounts::new(grid),
            grid: grid.clone(),
            rule,
            cut: ShellCut::default(),
            shell: Vec::new(),
            explanation: ExplanationLog::default(),
        }
    }

    /// Returns the sum of the shell numbers of the `size` free processors nearest to the box;
    /// `None` if the sum is at least `limit`.
    fn score(&self, laid: Extent, size: u32, limit: u64) -> Option<u64> {
        let mut score = 0;
        for radius in 0.. {
            let grown = [0, 1, 2].map(|i| grow(&self.grid.axes()[i], laid[i], radius));
            let count = self.counts.count_box(grown);
            if count >= size {
                break;
            }
            score += u64::from(size - count);
            if score >= limit {
                return None;
            }
        }
        (score < limit).then_some(score)
    }
}

impl Allocator for Mc {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.explanation = setup.explanation.clone();
        self.counts.reset();
        Ok(())
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let size = request.size;
        if settled_by_count(machine, size as usize, chosen)? {
            self.explanation.sentence(|| "the job takes all free processors".to_string());
            return Ok(());
        }
        let shape = request.shape.or_else(|| self.rule.shape(size, &self.grid));
        let shape = shape.ok_or(Refusal::Fragmented)?;
        self.counts.update(machine);
        let mut best: Option<(u64, NodeId)> = None;
        for base in machine.free_nodes() {
            let limit = best.map_or(u64::MAX, |(score, _)| score);
            if let Some(score) =
                self.score(laid(&self.grid, self.coords[base.index()], shape), size, limit)
            {
                best = Some((score, base));
            }
        }
        let (score, base) = best.ok_or(Refusal::Fragmented)?;
        self.explanation.sentence(|| {
            format!(
                "the box is {}; its corner is placed at each of {}, and rings are added around the box until box and rings contain enough free processors ({size})",
                explain::sides(&self.grid, shape),
                counted(machine.free_count() as u64, "free processor")
            )
        });
        self.explanation.list(|| {
            let of = |base: NodeId| {
                let laid = laid(&self.grid, self.coords[base.index()], shape);
                (self.score(laid, size, u64::MAX).unwrap_or(u64::MAX), base, laid)
            };
            let mut scored: Vec<_> = machine.free_nodes().map(of).collect();
            scored.sort_by_key(|&(score, base, _)| (score, base));
            let row = |(score, base, laid): (u64, NodeId, Extent)| {
                let corner = laid.map(|(first, _)| first as u16);
                let at = explain::point(&self.grid, self.coords[base.index()]);
                vec![at, explain::point(&self.grid, corner), score.to_string()]
            };
            let rows = scored.into_iter().map(row);
            let about = format!("places of the box, the best first; a score of {score} wins");
            Listing::of(about, &["free processor", "box at", "score"], rows)
        });
        let winner = laid(&self.grid, self.coords[base.index()], shape);
        let distance = |laid: &Extent, p: NodeId| {
            let coord = self.coords[p.index()];
            let along = |i: usize| gap(&self.grid.axes()[i], laid[i], coord[i]);
            along(0).max(along(1)).max(along(2))
        };
        let last = (0..).find(|&radius| {
            let grown = [0, 1, 2].map(|i| grow(&self.grid.axes()[i], winner[i], radius));
            self.counts.count_box(grown) >= size
        });
        let last = last.unwrap_or(0);
        self.shell.clear();
        for node in machine.free_nodes() {
            match distance(&winner, node) {
                d if d < last => chosen.push(node),
                d if d == last => self.shell.push(node),
                _ => {}
            }
        }
        let earlier = machine.free_nodes().rev().filter(|n| *n < base);
        let earlier = earlier.map(|n| laid(&self.grid, self.coords[n.index()], shape));
        let need = size as usize - chosen.len();
        self.cut.take_by(earlier, distance, &self.shell, need, chosen);
        Ok(())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { supports_outages: true, ..Capabilities::default() }
    }
}

/// Returns the box of the candidate at `base`.
fn laid(grid: &Grid, base: Coord, shape: [u16; 3]) -> Extent {
    [0, 1, 2].map(|i| {
        let axis = &grid.axes()[i];
        let last = i32::from(axis.extent) - i32::from(shape[i]);
        let low = i32::from(base[i]);
        (if axis.wrapped { low } else { low.min(last) }, u32::from(shape[i]))
    })
}

/// Returns the interval extended by `radius` positions on both sides and cut to the dimension.
fn grow(axis: &Axis, (low, length): (i32, u32), radius: u32) -> (i32, u32) {
    let (extent, r) = (i32::from(axis.extent), radius as i32);
    let high = low + length as i32;
    if !axis.wrapped {
        let (low, high) = ((low - r).max(0), (high + r).min(extent));
        return (low, (high - low) as u32);
    }
    let length = length as i32 + 2 * r;
    if length >= extent {
        return (0, extent as u32);
    }
    // The tables of box counts extend a wrapped dimension down to position -(extent - 1) / 2.
    let low = (low - r).rem_euclid(extent);
    let end = 2 * extent - 1 - (extent - 1) / 2;
    (if low + length > end { low - extent } else { low }, length as u32)
}

/// Returns the distance of a position from an interval of one dimension; 0 inside the interval.
fn gap(axis: &Axis, (low, length): (i32, u32), p: u16) -> u32 {
    let (p, length, extent) = (i32::from(p), length as i32, i32::from(axis.extent));
    if axis.wrapped {
        let beyond = (p - low).rem_euclid(extent) - (length - 1);
        beyond.min(extent - length + 1 - beyond).max(0) as u32
    } else {
        (low - p).max(p - (low + length - 1)).max(0) as u32
    }
}

/// Options of `mc`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct McOptions {
    /// Rule for the side lengths of a job without shape.
    pub shape: ShapeRule,
}

impl AllocatorOptions for McOptions {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        Ok(Box::new(Mc::new(grid_of(topology)?, self.shape)))
    }
}

/// Returns the table of `mc`.
pub fn table() -> Table<McOptions> {
    let mc = Entry::new("mc", McOptions::default())
        .about("Shells around the requested box, which is placed at every free processor; the least sum of shell numbers wins.")
        .source("Mache, Lo, Windisch 1997")
        .param(
            "shape",
            kind::one_of(&ShapeRule::ALL),
            "side lengths of a job without shape: least total side length, or exact factors",
            |o| &mut o.shape,
        );
    Table::new("allocator", [mc])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Computes the definition directly: a stable sort of the free list gives the set of every
    /// candidate.
    fn literal(mc: &Mc, machine: &Machine, size: usize, shape: [u16; 3]) -> Vec<NodeId> {
        let mut list: Vec<_> = machine.free_nodes().collect();
        let mut best: Option<(u32, Vec<NodeId>)> = None;
        for base in machine.free_nodes() {
            let laid = laid(&mc.grid, mc.coords[base.index()], shape);
            let inside: Vec<Coord> = mc
                .coords
                .iter()
                .copied()
                .filter(|c| {
                    (0..3).all(|i| {
                        let (low, length) = laid[i];
                        let extent = i32::from(mc.grid.axes()[i].extent);
                        (i32::from(c[i]) - low).rem_euclid(extent) < length as i32
                    })
                })
                .collect();
            let distance = |n: &NodeId| {
                inside.iter().map(|&c| mc.grid.linf(c, mc.coords[n.index()])).min().unwrap_or(0)
            };
            list.sort_by_key(distance);
            let score = list[..size].iter().map(distance).sum();
            if best.as_ref().is_none_or(|(least, _)| score < *least) {
                best = Some((score, list[..size].to_vec()));
            }
        }
        best.map(|(_, set)| set).unwrap_or_default()
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(
            machine in proptest::sample::select(vec!["6x7", "torus:6x7", "torus[y]:5x8", "3x4x4", "torus:4x3x5"]),
            occupied in proptest::collection::vec(any::<bool>(), 64),
            share in 0.0..1.0f64,
            side in 1u16..5,
        ) {
            let topology: Topology = machine.parse().expect("a machine");
            let mut mc = Mc::new(topology.grid().expect("a grid"), ShapeRule::NearSquare);
            let mut machine = Machine::new(topology);
            let taken: Vec<_> = machine.topology().nodes().filter(|n| occupied[n.index()]).collect();
            machine.occupy(&taken);
            prop_assume!(machine.free_count() > 1);
            let size = 1 + ((machine.free_count() - 2) as f64 * share) as u32;
            let shape = if side < 4 { [side.min(3), side.min(3), 1] } else {
                ShapeRule::NearSquare.shape(size, &mc.grid).expect("it fits")
            };
            let mut chosen = Vec::new();
            mc.allocate(&machine, Request::shaped(size, Some(shape)), &mut chosen).expect("enough are free");
            let mut expected = literal(&mc, &machine, size as usize, shape);
            chosen.sort();
            expected.sort();
            prop_assert_eq!(chosen, expected);
        }
    }
}
