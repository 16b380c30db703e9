use super::options::{Metric, ShellOrder};
use crate::topology::{Coord, Grid, NodeId};

/// Takes part of a last shell, with buffers for the work.
///
/// The carried order sorts by the distances to all earlier centres, the latest first.
/// Only the processors on both sides of the cut matter, so instead of sorting the shell
/// is narrowed, one earlier centre at a time, to those that still compare equal at the
/// cut; this ends after a few centres.
#[derive(Clone, Debug, Default)]
pub struct Cut {
    undecided: Vec<NodeId>,
    distances: Vec<u32>,
    histogram: Vec<u32>,
}

impl Cut {
    /// Moves `need` of the processors of `shell`, which stand in scan order, to `chosen`
    /// (in no particular order). `earlier` are the centres before this one in candidate
    /// order, the latest first. `coords` are all coordinates by processor number.
    ///
    /// [`ShellOrder::Greedy`] is not a question of the last shell alone: the literal
    /// engine decides it; here it is taken for scan order.
    #[allow(clippy::too_many_arguments)]
    pub fn take(
        &mut self,
        order: ShellOrder,
        metric: Metric,
        grid: &Grid,
        coords: &[Coord],
        earlier: impl Iterator<Item = Coord>,
        shell: &[NodeId],
        need: usize,
        chosen: &mut Vec<NodeId>,
    ) {
        if order != ShellOrder::Carried {
            chosen.extend_from_slice(&shell[..need]);
            return;
        }
        let apart = |c: &Coord, p: NodeId| {
            let p = &coords[p.index()];
            [0, 1, 2].map(|axis| u32::from(c[axis].abs_diff(p[axis])))
        };
        // Where nothing goes around, a distance need not ask each axis whether it does.
        match metric {
            _ if grid.is_wrapped() => {
                let distance = |&c: &Coord, p: NodeId| metric.distance(grid, c, coords[p.index()]);
                self.take_by(earlier, distance, shell, need, chosen);
            }
            Metric::Linf => {
                let distance = |c: &Coord, p: NodeId| {
                    let [x, y, z] = apart(c, p);
                    x.max(y).max(z)
                };
                self.take_by(earlier, distance, shell, need, chosen);
            }
            Metric::L1 => {
                let distance = |c: &Coord, p: NodeId| apart(c, p).iter().sum();
                self.take_by(earlier, distance, shell, need, chosen);
            }
        }
    }

    /// [`Cut::take`] in carried order for any centres and distances from them.
    pub fn take_by<C>(
        &mut self,
        earlier: impl Iterator<Item = C>,
        distance: impl Fn(&C, NodeId) -> u32,
        shell: &[NodeId],
        mut need: usize,
        chosen: &mut Vec<NodeId>,
    ) {
        self.undecided.clear();
        self.undecided.extend_from_slice(shell);
        for centre in earlier {
            if need == self.undecided.len() || need == 0 {
                break;
            }
            self.distances.clear();
            self.distances.extend(self.undecided.iter().map(|&p| distance(&centre, p)));
            let (mut least, mut most) = (u32::MAX, 0);
            for &distance in &self.distances {
                (least, most) = (least.min(distance), most.max(distance));
            }
            if least == most {
                continue;
            }
            let cut = self.distance_at_cut(need, least, most);
            let mut kept = 0;
            for i in 0..self.undecided.len() {
                let processor = self.undecided[i];
                if self.distances[i] < cut {
                    chosen.push(processor);
                    need -= 1;
                } else if self.distances[i] == cut {
                    self.undecided[kept] = processor;
                    kept += 1;
                }
            }
            self.undecided.truncate(kept);
        }
        chosen.extend_from_slice(&self.undecided[..need]);
    }

    /// The distance of the `need`-th nearest; all are between these.
    fn distance_at_cut(&mut self, need: usize, least: u32, most: u32) -> u32 {
        self.histogram.clear();
        self.histogram.resize((most - least) as usize + 1, 0);
        for &distance in &self.distances {
            self.histogram[(distance - least) as usize] += 1;
        }
        let mut below = 0;
        let reaches = |&count: &u32| {
            below += count as usize;
            below >= need
        };
        self.histogram.iter().position(reaches).map_or(u32::MAX, |place| least + place as u32)
    }
}
