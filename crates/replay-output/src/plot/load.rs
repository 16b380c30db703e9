use plotters::prelude::DrawingBackend;

use super::header::{Head, Mark};
use super::look::Page;
use super::panel::{BOTTOM_ROOM, END_ROOM, Panel, left_room};
use super::scale::Scale;
use super::style::{BLUE, Colour, INK, VERMILION, WHITE};
use super::{Canvas, Figure, PlotError, Table};
use replay_core::metrics::Series;

/// Utilization and queue length over the time of a trace: two panels with one time axis.
#[derive(Clone, PartialEq, Debug)]
pub struct Load {
    /// Trace, machine, scheduler.
    pub subtitle: Vec<String>,
    /// The strategy, which is in the legend: pages without titles have it, too.
    pub strategy: String,
    /// What the upper panel shows, in percent.
    pub of: Of,
    /// Means over equal spans of time, in order.
    pub spans: Vec<Span>,
    /// Length of a span in days.
    pub days: f64,
    /// Mean utilization of the whole, in percent.
    pub utilization: f64,
}

/// Of what the machine's load is a share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Of {
    /// Its processors, which jobs use.
    Processors,
    /// Its slots, which jobs hold.
    Slots,
}

impl Of {
    fn words(self) -> &'static str {
        match self {
            Of::Processors => "utilization",
            Of::Slots => "slots held",
        }
    }

    fn axis(self) -> &'static str {
        match self {
            Of::Processors => "Utilization (%)",
            Of::Slots => "Slots held (%)",
        }
    }

    fn column(self) -> &'static str {
        match self {
            Of::Processors => "utilization_percent",
            Of::Slots => "slots_held_percent",
        }
    }
}

/// Means over one span of time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Span {
    /// Begin of the span in days since the first submission.
    pub day: f64,
    /// Mean utilization in percent.
    pub utilization: f64,
    /// Mean number of waiting jobs.
    pub waiting: f64,
}

const TITLE: &str = "Load over time";
const WAITING: &str = "Waiting jobs";
const TIME: &str = "Time since the first submission (days)";
/// Seconds of a day.
const DAY: f64 = 86_400.0;
/// Between the panels.
const BETWEEN: f64 = 32.0;
/// Spans to the page's width.
const SPANS: usize = 400;

impl Load {
    /// The load of a run on a machine of `processors`; its mean `utilization` is from 0
    /// to 1.
    pub fn new(
        subtitle: Vec<String>,
        strategy: String,
        series: &Series,
        processors: usize,
        utilization: f64,
    ) -> Self {
        let buckets = series.buckets(SPANS);
        let begin = buckets.first().map_or(0.0, |bucket| bucket.0);
        let days = buckets.get(1).map_or(0.0, |bucket| (bucket.0 - begin) / DAY);
        let span = |&(time, busy, waiting): &(f64, f64, f64)| Span {
            day: (time - begin) / DAY,
            utilization: 100.0 * busy / processors as f64,
            waiting,
        };
        let spans = buckets.iter().map(span).collect();
        Self {
            subtitle,
            strategy,
            of: Of::Processors,
            spans,
            days,
            utilization: 100.0 * utilization,
        }
    }

    /// The same where jobs share the processors of a cluster: a job holds its slots all the time, and
    /// computes in none that is known. `held` is the mean share of all `slots`.
    pub fn of_slots(
        subtitle: Vec<String>,
        strategy: String,
        series: &Series,
        slots: usize,
        held: f64,
    ) -> Self {
        Self { of: Of::Slots, ..Self::new(subtitle, strategy, series, slots, held) }
    }

    /// Axes of time, of the upper panel, of the lower one.
    fn scales(&self) -> [Scale; 3] {
        let longest = self.spans.iter().map(|span| span.waiting).fold(0.0, f64::max);
        let end = self.spans.last().map_or(1.0, |span| span.day + self.days);
        [
            Scale::linear(0.0, end),
            Scale::round(0.0, 100.0, 4),
            Scale::round(0.0, longest.max(1.0), 4),
        ]
    }

    /// What the upper panel shows, of which strategy.
    fn shown(&self) -> String {
        match self.strategy.is_empty() {
            true => self.of.words().to_string(),
            false => format!("{} under {}", self.of.words(), self.strategy),
        }
    }

    fn words(&self) -> Vec<String> {
        let mut words = self.subtitle.clone();
        words.push(format!("means over spans of {:.1} hours", 24.0 * self.days));
        words
    }

    /// A step line of one value over a lightly filled area.
    fn steps<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        panel: &Panel,
        value: impl Fn(&Span) -> f64,
        colour: Colour,
    ) -> Result<(), PlotError> {
        let mut steps = Vec::with_capacity(2 * self.spans.len());
        for span in &self.spans {
            let y = panel.at_y(value(span));
            steps.push((panel.at_x(span.day), y));
            steps.push((panel.at_x(span.day + self.days), y));
        }
        let (Some(first), Some(last)) = (steps.first(), steps.last()) else { return Ok(()) };
        let mut area = vec![(first.0, panel.bottom)];
        area.extend_from_slice(&steps);
        area.push((last.0, panel.bottom));
        canvas.polygon(&area, colour.towards(WHITE, 0.75))?;
        canvas.line(&steps, 1.25, colour)
    }
}

impl Figure for Load {
    fn head(&self) -> Head {
        let mean = format!("mean {} {:.1} %", self.of.words(), self.utilization);
        let legend = [
            (Mark::Box(BLUE), self.shown()),
            (Mark::Dashes(INK), mean),
            (Mark::Box(VERMILION), "waiting jobs".to_string()),
        ];
        Head::new(TITLE, &self.words()).legend(legend)
    }

    fn least_body(&self, _: &Page) -> Result<f64, PlotError> {
        Ok(2.0 * 95.0 + BETWEEN + BOTTOM_ROOM)
    }

    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), PlotError> {
        let top = self.head().draw(canvas)?;
        let bottom = canvas.height() - BOTTOM_ROOM;
        let middle = (top + bottom) / 2.0;
        let [time, share, waiting] = self.scales();
        let bottom_of_upper = middle - BETWEEN / 2.0;
        let room = |title: &str, scale| left_room(title, &[scale], bottom_of_upper - top);
        let upper = Panel {
            left: room(self.of.axis(), share)?.max(room(WAITING, waiting)?),
            top,
            right: canvas.width() - END_ROOM,
            bottom: bottom_of_upper,
            x: time,
            y: share,
        };
        let lower = Panel { top: middle + BETWEEN / 2.0, bottom, y: waiting, ..upper };
        for panel in [&upper, &lower] {
            panel.grid_x(canvas)?;
            panel.grid_y(canvas)?;
        }
        self.steps(canvas, &upper, |span| span.utilization, BLUE)?;
        self.steps(canvas, &lower, |span| span.waiting, VERMILION)?;
        let y = upper.at_y(self.utilization);
        canvas.dashes((upper.left, y), (upper.right, y), 1.25, INK)?;
        upper.axis_left(canvas, self.of.axis())?;
        upper.line_bottom(canvas)?;
        lower.axis_left(canvas, WAITING)?;
        lower.axis_bottom(canvas, TIME)
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&["day", self.of.column(), "waiting_jobs"]);
        for span in &self.spans {
            table.row(&[span.day, span.utilization, span.waiting]);
        }
        table
    }
}
