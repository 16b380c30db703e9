use plotters::prelude::DrawingBackend;

use super::chart::{Chart, Derived, Encoding, Formula, Holds, Layer, Mark as Shown, View};
use super::header::header;
use super::machine::colour_of;
use super::panel::{BOTTOM_ROOM, LEFT_ROOM, Panel};
use super::scale::Scale;
use super::style::{BLUE, INK, MARGIN, PAGE, TICK, WHITE};
use super::{Align, Canvas, Figure, PlotError, Table, Text};

/// Who held which processors when: processors from below upwards, time to the right, a bar for each
/// job and run of processors. A job has the colour that it has in a [`MachineMap`](super::MachineMap).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Gantt {
    /// Title.
    pub title: String,
    /// What else a reader must know.
    pub subtitle: Vec<String>,
    /// First and last second.
    pub window: [i64; 2],
    /// Processors.
    pub processors: usize,
    /// In what order they lie.
    pub order: String,
    /// The bars.
    pub bars: Vec<Bar>,
}

/// A job on some processors that follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bar {
    /// Number of the job.
    pub job: i64,
    /// From this second.
    pub start: i64,
    /// To this one.
    pub end: i64,
    /// The first processor, in the figure's order.
    pub first: usize,
    /// How many.
    pub count: usize,
}

/// The unit of an axis of so many seconds, and how many it has.
fn unit(seconds: i64) -> (&'static str, f64) {
    match seconds {
        ..601 => ("s", 1.0),
        601..10_801 => ("min", 60.0),
        10_801..345_601 => ("h", 3600.0),
        _ => ("days", 86_400.0),
    }
}

impl Gantt {
    /// The axes, with their titles: time in its unit, and processors.
    fn axes(&self) -> [(Scale, String); 2] {
        let [from, until] = self.window;
        let (name, seconds) = unit(until - from);
        [
            (
                Scale::linear(from as f64 / seconds, until as f64 / seconds),
                format!("Time of the trace ({name})"),
            ),
            (Scale::linear(0.0, self.processors as f64), format!("Processors, {}", self.order)),
        ]
    }
}

impl Figure for Gantt {
    fn height(&self) -> f64 {
        720.0
    }

    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), PlotError> {
        let top = header(canvas, &self.title, &self.subtitle, &[])? + 4.0;
        let [from, until] = self.window;
        let (_, seconds) = unit(until - from);
        let [(x, x_title), (y, y_title)] = self.axes();
        let time = |at: i64| at.clamp(from, until) as f64 / seconds;
        let panel = Panel {
            left: LEFT_ROOM,
            top,
            right: PAGE.0 - MARGIN,
            bottom: self.height() - BOTTOM_ROOM,
            x,
            y,
        };
        panel.grid_x(canvas)?;
        // Between bars a hair of the page, where they are large enough for it.
        let row = (panel.bottom - panel.top) / self.processors.max(1) as f64;
        let hair = if row >= 3.0 { 0.5 } else { 0.0 };
        for bar in self.bars.iter().filter(|bar| bar.start < until && bar.end > from) {
            let colour = colour_of(bar.job);
            let (x0, x1) = (panel.at_x(time(bar.start)), panel.at_x(time(bar.end)));
            let y0 = panel.at_y(bar.first as f64);
            let y1 = panel.at_y((bar.first + bar.count) as f64);
            let inset = if x1 - x0 > 3.0 { hair } else { 0.0 };
            canvas.rectangle((x0 + inset, y0 - hair), (x1 - inset, y1 + hair), colour)?;
            let look = Text::of_size(TICK.min(y0 - y1)).align(Align::Centre);
            let number = bar.job.to_string();
            if look.size >= 8.0 && look.width(&number)? < x1 - x0 - 6.0 {
                let look = look.colour(if colour.is_dark() { WHITE } else { INK });
                canvas.text(&number, ((x0 + x1) / 2.0, (y0 + y1) / 2.0), look)?;
            }
        }
        panel.axis_left(canvas, &y_title)?;
        panel.axis_bottom(canvas, &x_title)
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&["job", "start", "end", "first", "count"]);
        for &Bar { job, start, end, first, count } in &self.bars {
            table.row(&[job, start, end, first as i64, count as i64]);
        }
        table
    }

    fn chart(&self) -> Option<Chart> {
        let [(x, x_title), (y, y_title)] = self.axes();
        let [from, until] = self.window;
        let (_, seconds) = unit(until - from);
        // As many colours as jobs would be as many lines of a legend: each job has its colour in the SVG.
        let encodings = vec![
            Encoding::new("x", "start_time", Holds::Numbers(x), &x_title),
            Encoding::end("x2", "end_time"),
            Encoding::new("y", "first", Holds::Numbers(y), &y_title),
            Encoding::end("y2", "last"),
            Encoding::end("detail", "job"),
        ];
        Some(Chart {
            title: self.title.clone(),
            subtitle: self.subtitle.clone(),
            derived: vec![
                Derived { name: "start_time", of: Formula::Over("start", seconds) },
                Derived { name: "end_time", of: Formula::Over("end", seconds) },
                Derived { name: "last", of: Formula::Sum("first", "count") },
            ],
            views: vec![View {
                layers: vec![Layer::new(Shown::Cell, Some(BLUE), encodings)],
                ..View::default()
            }],
            ..Chart::default()
        })
    }
}
