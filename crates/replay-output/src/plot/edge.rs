use super::style::{AXIS_LINE, INK, MUTED};
use super::{Canvas, PlotError};

/// Boundary at the end of a machine's rows or columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Edge {
    /// No boundary is drawn, as for hypercubes.
    #[default]
    Plain,
    /// The machine ends at a wall.
    Wall,
    /// The row or column wraps around to the other end.
    Wrapped,
}

/// Width of a wall line.
const WALL: f64 = 3.5;

/// Grid of square cells on a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cells {
    pub left: f64,
    pub bottom: f64,
    /// Number of columns and rows.
    pub sides: [usize; 2],
    /// Side of a cell.
    pub cell: f64,
}

impl Cells {
    /// Returns the lower left corner of a cell.
    pub fn corner(&self, x: usize, y: usize) -> (f64, f64) {
        (self.left + x as f64 * self.cell, self.bottom - y as f64 * self.cell)
    }

    /// Middle of a cell.
    pub fn middle(&self, x: usize, y: usize) -> (f64, f64) {
        let (left, bottom) = self.corner(x, y);
        (left + self.cell / 2.0, bottom - self.cell / 2.0)
    }

    /// Draws the frame with the boundaries at the ends of rows and of columns.
    pub fn frame(
        &self,
        canvas: &Canvas<'_>,
        [of_rows, of_columns]: [Edge; 2],
    ) -> Result<(), PlotError> {
        let [columns, rows] = self.sides;
        let (right, top) = self.corner(columns, rows);
        let (left, bottom) = (self.left, self.bottom);
        let lines = [
            (of_rows, [(left, bottom), (left, top)]),
            (of_rows, [(right, bottom), (right, top)]),
            (of_columns, [(left, bottom), (right, bottom)]),
            (of_columns, [(left, top), (right, top)]),
        ];
        // Draw walls last, over the thinner lines.
        for wall in [false, true] {
            for (edge, [from, to]) in lines.iter().filter(|line| (line.0 == Edge::Wall) == wall) {
                match edge {
                    Edge::Plain => canvas.line(&[*from, *to], AXIS_LINE, MUTED)?,
                    Edge::Wall => {
                        // Extend the ends of the lines, so that corners are square.
                        let long = WALL / 2.0;
                        let (a, b) = (from.0.min(to.0), from.0.max(to.0));
                        let (c, d) = (from.1.min(to.1), from.1.max(to.1));
                        canvas.rectangle((a - long, c - long), (b + long, d + long), INK)?;
                    }
                    Edge::Wrapped => canvas.dashes(*from, *to, AXIS_LINE, MUTED)?,
                }
            }
        }
        Ok(())
    }

    /// Returns the lines between neighbouring cells of which exactly one is `inside`. There are no lines along the
    /// frame.
    pub fn outline(&self, inside: impl Fn(usize, usize) -> bool) -> Vec<[(f64, f64); 2]> {
        let [columns, rows] = self.sides;
        let mut lines = Vec::new();
        // Merge the line segments along each grid line, so that dashes continue across cells.
        for x in 1..columns {
            let differs = |y: usize| inside(x - 1, y) != inside(x, y);
            runs(rows, differs, |from, to| lines.push([self.corner(x, from), self.corner(x, to)]));
        }
        for y in 1..rows {
            let differs = |x: usize| inside(x, y - 1) != inside(x, y);
            runs(columns, differs, |a, b| lines.push([self.corner(a, y), self.corner(b, y)]));
        }
        lines
    }
}

/// Calls `take` with the start and the end (exclusive) of each sequence of consecutive indices for which `is` returns
/// true.
fn runs(places: usize, is: impl Fn(usize) -> bool, mut take: impl FnMut(usize, usize)) {
    let mut begin = None;
    for place in 0..=places {
        match (begin, place < places && is(place)) {
            (None, true) => begin = Some(place),
            (Some(from), false) => {
                take(from, place);
                begin = None;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outline_surrounds_the_inside_cells() {
        let cells = Cells { left: 0.0, bottom: 4.0, sides: [4, 4], cell: 1.0 };
        let mut lines = cells.outline(|x, y| x < 2 && y < 3);
        lines.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
        assert_eq!(lines, [[(0.0, 1.0), (2.0, 1.0)], [(2.0, 4.0), (2.0, 1.0)]]);
        assert!(cells.outline(|_, _| true).is_empty());
    }
}
