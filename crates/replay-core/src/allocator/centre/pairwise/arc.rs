use super::window::Window;
use crate::topology::Coord;

/// Takes part of a last shell on a 2D mesh, in the carried order.
///
/// The same narrowing as [`Cut::take_by`](crate::allocator::centre::Cut::take_by), with
/// one more shortcut: an earlier centre beyond the window around the shell tells the
/// processors apart exactly as the nearest position of the window does, since all are
/// farther from it by the same number of steps. Along a row of centres most say thus
/// what the one before has said, and are passed over.
#[derive(Debug, Default)]
pub struct Arc {
    undecided: Vec<[u16; 2]>,
    distances: Vec<u16>,
    histogram: Vec<u16>,
    /// The positions in the window that earlier centres stood for.
    heard: Vec<[u16; 2]>,
    decided: bool,
}

impl Arc {
    /// Replaces `part` by the `need` processors of `shell`, which stand in scan order.
    /// `earlier` are the centres before this one in candidate order, the latest first;
    /// the shell lies in `window`.
    pub fn take(
        &mut self,
        earlier: impl Iterator<Item = Coord>,
        window: Window,
        shell: &[[u16; 2]],
        mut need: usize,
        part: &mut Vec<[u16; 2]>,
    ) {
        part.clear();
        self.heard.clear();
        self.decided = true;
        if need == shell.len() {
            part.extend_from_slice(shell);
            return;
        }
        self.undecided.clear();
        self.undecided.extend_from_slice(shell);
        self.decided = false;
        for [x, y, _] in earlier {
            let centre = window.clamp([x, y]);
            if self.heard.last() == Some(&centre) {
                continue;
            }
            self.heard.push(centre);
            if !self.measure(centre) {
                continue;
            }
            let cut = self.distance_at_cut(need);
            let mut kept = 0;
            for i in 0..self.undecided.len() {
                let processor = self.undecided[i];
                if self.distances[i] < cut {
                    part.push(processor);
                    need -= 1;
                } else if self.distances[i] == cut {
                    self.undecided[kept] = processor;
                    kept += 1;
                }
            }
            self.undecided.truncate(kept);
            if need == self.undecided.len() || need == 0 {
                self.decided = true;
                break;
            }
        }
        part.extend_from_slice(&self.undecided[..need]);
    }

    /// The positions in the window that decided the part taken last, each different from
    /// the one before; `None` if the scan order had to decide.
    pub fn heard(&self) -> Option<&[[u16; 2]]> {
        self.decided.then_some(&self.heard)
    }

    /// Notes the distances of the undecided, less the least of them; whether they differ.
    fn measure(&mut self, centre: [u16; 2]) -> bool {
        let distance = |p: &[u16; 2]| centre[0].abs_diff(p[0]) + centre[1].abs_diff(p[1]);
        self.distances.clear();
        self.distances.extend(self.undecided.iter().map(distance));
        let (least, most) = self
            .distances
            .iter()
            .fold((u16::MAX, 0), |(least, most), &d| (least.min(d), most.max(d)));
        if least == most {
            return false;
        }
        self.distances.iter_mut().for_each(|distance| *distance -= least);
        self.histogram.clear();
        self.histogram.resize(usize::from(most - least) + 1, 0);
        true
    }

    /// The distance of the `need`-th nearest.
    fn distance_at_cut(&mut self, need: usize) -> u16 {
        for &distance in &self.distances {
            self.histogram[usize::from(distance)] += 1;
        }
        let mut below = 0;
        let reaches = |&count: &u16| {
            below += usize::from(count);
            below >= need
        };
        self.histogram.iter().position(reaches).unwrap_or(0) as u16
    }
}
