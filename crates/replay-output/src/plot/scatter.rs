use super::figure_style::Page;
use super::header::{Head, Mark, shorten, triangle};
use super::panel::{BOTTOM_ROOM, Panel, left_room};
use super::scale::Scale;
use super::style::{BLUE, Colour, INK, PALETTE, TICK, WHITE};
use super::{Canvas, Figure, PlotError, Table, Text};
use replay_engine::metrics::schedule::percentile_of;

/// Scatter plots with one panel per pair of measures. The plots show the data from which correlations are computed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Scatter {
    /// Figure title.
    pub title: String,
    /// Subtitle clauses.
    pub subtitle: Vec<String>,
    /// Names of the points in their order; if present, each point has its own colour.
    pub names: Vec<String>,
    /// Panels in reading order.
    pub panels: Vec<ScatterPanel>,
}

/// A panel of a [`Scatter`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ScatterPanel {
    /// Title above the panel, such as the correlation.
    pub name: String,
    /// Title of the x axis.
    pub x_title: String,
    /// Title of the y axis.
    pub y_title: String,
    /// Points as pairs of x and y.
    pub points: Vec<(f64, f64)>,
}

/// Usual height of a panel.
const HEIGHT: f64 = 190.0;
/// Room for the title above a panel.
const NAME: f64 = 26.0;
const RIGHT: f64 = 24.0;
const ACROSS: usize = 2;
/// Minimum page width for two panels side by side. On narrower pages, panels are in one column.
const TWO_ACROSS: f64 = 640.0;
/// Minimum height of a panel.
const LEAST: f64 = 110.0;
/// Minimum number of points at which outliers may be outside the range of the axes.
const ROBUST: usize = 20;
/// Maximum number of points that are drawn at full size; if there are more points, all points are smaller.
const MANY: usize = 60;

impl ScatterPanel {
    /// Returns the name of the panel in the CSV, which consists of the titles of both axes.
    fn measures(&self) -> String {
        format!("{} ~ {}", self.x_title, self.y_title)
    }

    fn scales(&self) -> [Scale; 2] {
        let points = || self.finite();
        [covering(points().map(|point| point.0)), covering(points().map(|point| point.1))]
    }

    fn finite(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite())
    }

    /// Returns the title of the panel with the number of points outside the range of the axes.
    fn title(&self) -> String {
        let [x, y] = self.scales();
        match self.finite().filter(|&(at, up)| is_outside(x, at) || is_outside(y, up)).count() {
            0 => self.name.clone(),
            outside => format!("{}, {outside} outside the axes", self.name),
        }
    }
}

impl Scatter {
    fn across(width: f64) -> usize {
        if width < TWO_ACROSS { 1 } else { ACROSS }
    }

    fn down(&self, width: f64) -> usize {
        self.panels.len().div_ceil(Self::across(width)).max(1)
    }

    /// Returns the colour of a point, and whether the point is drawn as a ring because its colour is repeated.
    fn look(&self, point: usize) -> (Colour, bool) {
        match self.names.is_empty() {
            true => (BLUE, false),
            false => (PALETTE[point % PALETTE.len()], point / PALETTE.len() % 2 == 1),
        }
    }
}

/// Returns a scale that covers the values. If there are many values, the scale covers the range of the middle 90 % of
/// the values. Beyond each end of this range, the scale extends by at most half the length of the range. A few outliers
/// therefore do not compress the other points.
fn covering(values: impl Iterator<Item = f64>) -> Scale {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let (Some(&low), Some(&high)) = (values.first(), values.last()) else {
        return Scale::linear(0.0, 1.0);
    };
    let at = |percent| percentile_of(values.len(), percent, |rank| values[rank]);
    let (lower, upper) = (at(5.0), at(95.0));
    let room = 0.5 * (upper - lower);
    match values.len() >= ROBUST && room > 0.0 {
        true => Scale::round(low.max(lower - room), high.min(upper + room), 5),
        false => Scale::round(low, high, 5),
    }
}

fn is_outside(scale: Scale, value: f64) -> bool {
    let (low, high) = scale.range();
    value < low || value > high
}

impl Figure for Scatter {
    fn usual_height(&self, page: &Page) -> f64 {
        150.0 + (NAME + HEIGHT + BOTTOM_ROOM) * self.down(page.width) as f64
    }

    fn least_body(&self, page: &Page) -> Result<f64, PlotError> {
        Ok((NAME + LEAST + BOTTOM_ROOM) * self.down(page.width) as f64)
    }

    fn head(&self) -> Head {
        let mark = |point: usize| match self.look(point) {
            (colour, true) => Mark::Ring(colour),
            (colour, false) => Mark::Line(colour),
        };
        let names = self.names.iter().enumerate().map(|(i, name)| (mark(i), name.clone()));
        let outside = self.panels.iter().any(|panel| panel.title() != panel.name);
        let outside = outside.then(|| (Mark::Triangle(INK), "outside the axes".to_string()));
        Head::new(&self.title, &self.subtitle).legend(names.chain(outside))
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<(), PlotError> {
        let top = self.head().draw(canvas)?;
        let across = Self::across(canvas.width());
        let width = canvas.width() / across as f64;
        let step = (canvas.height() - top) / self.down(canvas.width()) as f64;
        for (i, panel) in self.panels.iter().enumerate() {
            let (column, row) = ((i % across) as f64, (i / across) as f64);
            let (left, top) = (column * width, top + row * step);
            let [x, y] = panel.scales();
            let area = Panel {
                left: left + left_room(&panel.y_title, &[y], step - NAME - BOTTOM_ROOM)?,
                top: top + NAME,
                right: left + width - RIGHT,
                bottom: top + step - BOTTOM_ROOM,
                x,
                y,
            };
            area.grid_x(canvas)?;
            area.grid_y(canvas)?;
            area.axis_bottom(canvas, &panel.x_title)?;
            area.axis_left(canvas, &panel.y_title)?;
            let look = Text::of_size(TICK).bold();
            let title = shorten(&panel.title(), look, left + width - area.left)?;
            canvas.text(&title, (area.left, top + 10.0), look)?;
            let radius = if panel.points.len() > MANY { 2.0 } else { 5.0 };
            for (place, &(x, y)) in panel.points.iter().enumerate() {
                if !(x.is_finite() && y.is_finite()) {
                    continue;
                }
                let (colour, ringed) = self.look(place);
                if is_outside(area.x, x) || is_outside(area.y, y) {
                    let ((x0, x1), (y0, y1)) = (area.x.range(), area.y.range());
                    let at = area.at(x.clamp(x0, x1), y.clamp(y0, y1));
                    let side = |value: f64, low: f64, high: f64| match value {
                        _ if value < low => -1.0,
                        _ if value > high => 1.0,
                        _ => 0.0,
                    };
                    let (dx, dy) = (side(x, x0, x1), -side(y, y0, y1));
                    let length = f64::hypot(dx, dy);
                    let corners = triangle(at, radius + 2.0, (dx / length, dy / length));
                    canvas.polygon(&corners, colour)?;
                    continue;
                }
                canvas.disc(area.at(x, y), radius, colour)?;
                if ringed {
                    canvas.disc(area.at(x, y), radius - 2.0, WHITE)?;
                }
            }
        }
        Ok(())
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&["panel", "point", "x", "y"]);
        for panel in &self.panels {
            let name = panel.measures();
            for (place, (x, y)) in panel.points.iter().enumerate() {
                let point = self.names.get(place).cloned().unwrap_or_else(|| place.to_string());
                table.row(&[name.clone(), point, x.to_string(), y.to_string()]);
            }
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outliers_do_not_compress_the_axes() {
        let near = (0..60).map(|i| (f64::from(i % 10), f64::from(i % 7)));
        let points: Vec<(f64, f64)> = near.chain([(11_000.0, 3.0), (5.0, 900.0)]).collect();
        let panel = ScatterPanel { name: "n 62".to_string(), points, ..ScatterPanel::default() };
        let [x, y] = panel.scales();
        assert!(x.range().1 <= 20.0 && y.range().1 <= 10.0, "{x:?} {y:?}");
        assert_eq!(panel.title(), "n 62, 2 outside the axes");
        // If there are few points, all points are inside the range.
        let few = vec![(1.0, 1.0), (2.0, 2.0), (11_000.0, 3.0)];
        let panel = ScatterPanel { points: few, ..panel };
        assert!(panel.scales()[0].range().1 >= 11_000.0);
        assert_eq!(panel.title(), "n 62");
        // All points are also inside the range if most values are equal.
        let equal = (0..60).map(|_| (1.0, 1.0)).chain([(9.0, 9.0)]).collect();
        let panel = ScatterPanel { points: equal, ..panel };
        assert_eq!(panel.title(), "n 62");
    }
}
