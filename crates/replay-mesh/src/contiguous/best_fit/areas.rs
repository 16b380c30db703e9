//! Connected areas of bases, which consist of runs of bases along the rows.

use crate::contiguous::frames::Frames;
use replay_engine::topology::Coord;

/// Connected areas of bases, and the number of bases in each area. Touching runs of bases in
/// adjacent rows are merged. The cost is a few steps per run, independent of the length of the run.
#[derive(Clone, Debug, Default)]
pub struct Areas {
    runs: Vec<Run>,
    /// Index of the first run of each row; the last entry is the number of runs.
    rows: Vec<usize>,
}

/// A run of bases: the positions `first..end` of a row.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: usize,
    end: usize,
    /// Index of a run of the same area that is nearer to the root. The parent of a root is the root
    /// itself.
    parent: usize,
    /// Number of bases of the area; valid only for a root.
    bases: usize,
}

impl Areas {
    /// Computes the areas of the bases that `frames` found last.
    pub fn read(&mut self, frames: &Frames) {
        let grid = frames.grid();
        let [outer, middle, lane] = frames.order().map(|axis| grid.axes()[axis]);
        let (middles, lanes) = (usize::from(middle.extent), usize::from(lane.extent));
        self.runs.clear();
        self.rows.clear();
        for row in 0..usize::from(outer.extent) * middles {
            let begin = self.runs.len();
            self.rows.push(begin);
            for (first, length) in frames.base_runs(row) {
                let parent = self.runs.len();
                self.runs.push(Run { first, end: first + length, parent, bases: length });
            }
            if lane.wrapped && self.runs.len() > begin + 1 {
                let last = self.runs.len() - 1;
                if self.runs[begin].first == 0 && self.runs[last].end == lanes {
                    self.join(begin, last);
                }
            }
        }
        self.rows.push(self.runs.len());
        for row in 0..usize::from(outer.extent) * middles {
            let (x, z) = (row / middles, row % middles);
            if z > 0 {
                self.join_rows(row - 1, row);
            } else if middle.wrapped {
                self.join_rows(row + middles - 1, row);
            }
            if x > 0 {
                self.join_rows(row - middles, row);
            } else if outer.wrapped {
                self.join_rows(row + (usize::from(outer.extent) - 1) * middles, row);
            }
        }
    }

    /// Returns the number of bases in the area of a base.
    pub fn bases(&mut self, frames: &Frames, base: Coord) -> usize {
        let (row, lane) = frames.row_of(base);
        let runs = &self.runs[self.rows[row]..self.rows[row + 1]];
        let run = self.rows[row] + runs.partition_point(|run| run.end <= lane);
        let root = self.root(run);
        self.runs[root].bases
    }

    /// Merges the touching runs of two adjacent rows.
    fn join_rows(&mut self, a: usize, b: usize) {
        let (mut i, mut j) = (self.rows[a], self.rows[b]);
        while i < self.rows[a + 1] && j < self.rows[b + 1] {
            let (one, other) = (self.runs[i], self.runs[j]);
            if one.first < other.end && other.first < one.end {
                self.join(i, j);
            }
            if one.end <= other.end {
                i += 1;
            } else {
                j += 1;
            }
        }
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            self.runs[a].bases += self.runs[b].bases;
            self.runs[b].parent = a;
        }
    }

    fn root(&mut self, mut run: usize) -> usize {
        while self.runs[run].parent != run {
            let parent = self.runs[run].parent;
            self.runs[run].parent = self.runs[parent].parent;
            run = parent;
        }
        run
    }
}
