use plotters::prelude::DrawingBackend;

use super::chart::{Chart, Encoding, Holds, Layer, Mark as Shown, View};
use super::header::{Mark, header};
use super::panel::{BOTTOM_ROOM, LEFT_ROOM, Panel};
use super::scale::Scale;
use super::style::{BLUE, Colour, PAGE, PALETTE, TICK, WHITE};
use super::{Canvas, Figure, PlotError, Table, Text};

/// Points of two measures each, in a panel for each pair of measures: what stands behind correlations.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Scatter {
    /// Title.
    pub title: String,
    /// What else a reader must know.
    pub subtitle: Vec<String>,
    /// Names of the points, in their order, if they have any: then each has a colour.
    pub names: Vec<String>,
    /// The panels.
    pub panels: Vec<ScatterPanel>,
}

/// One panel of a [`Scatter`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ScatterPanel {
    /// What the points come to, such as their correlation.
    pub name: String,
    /// Title of the x axis.
    pub x_title: String,
    /// Title of the y axis.
    pub y_title: String,
    /// The points.
    pub points: Vec<(f64, f64)>,
}

const HEIGHT: f64 = 190.0;
/// Room for the name above a panel.
const NAME: f64 = 26.0;
const RIGHT: f64 = 24.0;
const ACROSS: usize = 2;
/// More points than this are small.
const MANY: usize = 60;

impl ScatterPanel {
    /// What tells its rows in the table.
    fn measures(&self) -> String {
        format!("{} ~ {}", self.x_title, self.y_title)
    }

    fn scales(&self) -> [Scale; 2] {
        let points = || self.points.iter();
        [covering(points().map(|point| point.0)), covering(points().map(|point| point.1))]
    }
}

impl Scatter {
    fn down(&self) -> usize {
        self.panels.len().div_ceil(ACROSS).max(1)
    }

    /// When the colours begin again, rings instead of discs.
    fn look(&self, point: usize) -> (Colour, bool) {
        match self.names.is_empty() {
            true => (BLUE, false),
            false => (PALETTE[point % PALETTE.len()], point / PALETTE.len() % 2 == 1),
        }
    }
}

/// A scale that covers the finite values.
fn covering(values: impl Iterator<Item = f64>) -> Scale {
    let ends = values.filter(|value| value.is_finite());
    let (low, high) =
        ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if low > high { Scale::linear(0.0, 1.0) } else { Scale::round(low, high, 5) }
}

impl Figure for Scatter {
    fn height(&self) -> f64 {
        150.0 + (NAME + HEIGHT + BOTTOM_ROOM) * self.down() as f64
    }

    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), PlotError> {
        let mark = |point: usize| match self.look(point) {
            (colour, true) => Mark::Ring(colour),
            (colour, false) => Mark::Line(colour),
        };
        let legend: Vec<_> =
            self.names.iter().enumerate().map(|(i, name)| (mark(i), name.clone())).collect();
        let top = header(canvas, &self.title, &self.subtitle, &legend)?;
        let width = PAGE.0 / ACROSS as f64;
        let step = (self.height() - top) / self.down() as f64;
        for (i, panel) in self.panels.iter().enumerate() {
            let (column, row) = ((i % ACROSS) as f64, (i / ACROSS) as f64);
            let (left, top) = (column * width, top + row * step);
            let [x, y] = panel.scales();
            let area = Panel {
                left: left + LEFT_ROOM,
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
            canvas.text(&panel.name, (area.left, top + 10.0), Text::of_size(TICK).bold())?;
            let radius = if panel.points.len() > MANY { 2.0 } else { 5.0 };
            for (place, &(x, y)) in panel.points.iter().enumerate() {
                if !(x.is_finite() && y.is_finite()) {
                    continue;
                }
                let (colour, ringed) = self.look(place);
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

    fn chart(&self) -> Option<Chart> {
        let colour = |(i, name): (usize, &String)| (name.clone(), self.look(i).0);
        let series = Holds::Series(self.names.iter().enumerate().map(colour).collect());
        let view = |panel: &ScatterPanel| {
            let [x, y] = panel.scales().map(Holds::Numbers);
            let mut encodings = vec![
                Encoding::new("x", "x", x, &panel.x_title),
                Encoding::new("y", "y", y, &panel.y_title),
            ];
            if !self.names.is_empty() {
                encodings.push(Encoding::new("color", "point", series.clone(), ""));
            }
            View {
                title: panel.name.clone(),
                only: Some(("panel", panel.measures())),
                layers: vec![Layer::new(Shown::Disc, Some(BLUE), encodings)],
                right: None,
            }
        };
        Some(Chart {
            title: self.title.clone(),
            subtitle: self.subtitle.clone(),
            views: self.panels.iter().map(view).collect(),
            across: ACROSS,
            ..Chart::default()
        })
    }
}
