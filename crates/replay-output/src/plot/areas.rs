use super::header::{Head, Mark};
use super::lines::colour;
use super::panel::Panel;
use super::scale::Scale;
use super::style::{Colour, WHITE};
use super::{Canvas, Figure, Lines, PlotError, Table};

/// Filled areas of nested quantities, such as all processors, the free processors, and the largest free box. No line
/// may be above the previous line at any point. Later areas are drawn over earlier areas, so that all areas are
/// visible.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Areas(pub Lines);

/// Width of the line along the top of an area.
const EDGE: f64 = 1.0;

fn fill(i: usize) -> Colour {
    colour(i).towards(WHITE, 0.45)
}

impl Areas {
    /// Scales of both axes. The x axis extends from the first to the last point.
    fn scales(&self) -> [Scale; 2] {
        let [x, y] = self.0.scales();
        let xs = self.0.lines.iter().flat_map(|line| self.0.points(line)).map(|point| point.x);
        let ends =
            xs.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        [if ends.0 < ends.1 { Scale::linear(ends.0, ends.1) } else { x }, y]
    }
}

impl Figure for Areas {
    fn head(&self) -> Head {
        let entry = |(i, line): (usize, &super::Line)| (Mark::Box(fill(i)), line.name.clone());
        let Lines { title, subtitle, lines, .. } = &self.0;
        Head::new(title, subtitle).legend(lines.iter().enumerate().map(entry))
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<(), PlotError> {
        let top = self.head().draw(canvas)?;
        let Lines { x_title, y_title, lines, .. } = &self.0;
        let panel = Panel::of_page(canvas, top, self.scales(), [x_title, y_title])?;
        panel.grid_x(canvas)?;
        panel.grid_y(canvas)?;
        for (i, line) in lines.iter().enumerate() {
            let at: Vec<_> = self.0.points(line).map(|point| panel.at(point.x, point.y)).collect();
            let (Some(first), Some(last)) = (at.first(), at.last()) else { continue };
            let mut area = vec![(first.0, panel.bottom)];
            area.extend_from_slice(&at);
            area.push((last.0, panel.bottom));
            canvas.polygon(&area, fill(i))?;
            canvas.line(&at, EDGE, colour(i))?;
        }
        panel.axis_left(canvas, y_title)?;
        panel.axis_bottom(canvas, x_title)
    }

    fn table(&self) -> Table {
        self.0.table()
    }
}
