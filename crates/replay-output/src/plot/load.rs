use super::figure_style::Page;
use super::header::{Head, Mark};
use super::panel::{BOTTOM_ROOM, END_ROOM, Panel, left_room};
use super::scale::Scale;
use super::style::{BLUE, Colour, INK, VERMILION, WHITE};
use super::{Canvas, Figure, PlotError, Table};
use replay_engine::metrics::Series;

/// Utilization and queue length over the time of a trace, in two panels with a common time axis.
#[derive(Clone, PartialEq, Debug)]
pub struct Load {
    /// Clauses of the subtitle, which state the trace, machine and scheduler.
    pub subtitle: Vec<String>,
    /// Name of the strategy. The legend contains the name, so that pages without titles also show it.
    pub strategy: String,
    /// Quantity that the upper panel shows, in percent.
    pub share: LoadShare,
    /// Means over spans of equal length, in chronological order.
    pub spans: Vec<Span>,
    /// Length of a span in days.
    pub days: f64,
    /// Mean over the whole time in percent.
    pub utilization: f64,
}

/// Quantity that measures the load of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoadShare {
    /// Share of processors used by jobs.
    Processors,
    /// Share of slots held by jobs.
    Slots,
}

impl LoadShare {
    fn name(self) -> &'static str {
        match self {
            LoadShare::Processors => "utilization",
            LoadShare::Slots => "slots held",
        }
    }

    fn axis(self) -> &'static str {
        match self {
            LoadShare::Processors => "Utilization (%)",
            LoadShare::Slots => "Slots held (%)",
        }
    }

    fn column(self) -> &'static str {
        match self {
            LoadShare::Processors => "utilization_percent",
            LoadShare::Slots => "slots_held_percent",
        }
    }
}

/// Means over one span of time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Span {
    /// Start of the span in days since the first submission.
    pub day: f64,
    /// Mean utilization in percent.
    pub utilization: f64,
    /// Mean number of waiting jobs.
    pub waiting: f64,
}

const TITLE: &str = "Load over time";
const WAITING: &str = "Waiting jobs";
pub(super) const TIME: &str = "Time since the first submission (days)";
/// Seconds per day.
pub(super) const DAY: f64 = 86_400.0;
/// Gap between the panels.
const BETWEEN: f64 = 32.0;
/// Number of time spans of a figure.
const SPANS: usize = 400;

impl Load {
    /// Returns the load of a run on a machine with `processors` processors. `utilization` is the mean utilization, from
    /// 0 to 1.
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
            share: LoadShare::Processors,
            spans,
            days,
            utilization: 100.0 * utilization,
        }
    }

    /// Returns the load of a run on a cluster where jobs share processors. A job holds its slots during its whole run,
    /// but the time for which the job computes is unknown. `held` is the mean share of held slots among all `slots`,
    /// from 0 to 1.
    pub fn of_slots(
        subtitle: Vec<String>,
        strategy: String,
        series: &Series,
        slots: usize,
        held: f64,
    ) -> Self {
        Self { share: LoadShare::Slots, ..Self::new(subtitle, strategy, series, slots, held) }
    }

    /// Returns the scales of time, of the upper panel and of the lower panel.
    fn scales(&self) -> [Scale; 3] {
        let longest = self.spans.iter().map(|span| span.waiting).fold(0.0, f64::max);
        let end = self.spans.last().map_or(1.0, |span| span.day + self.days);
        [
            Scale::linear(0.0, end),
            Scale::round(0.0, 100.0, 4),
            Scale::round(0.0, longest.max(1.0), 4),
        ]
    }

    /// Returns the legend label of the upper panel.
    fn share_label(&self) -> String {
        match self.strategy.is_empty() {
            true => self.share.name().to_string(),
            false => format!("{} under {}", self.share.name(), self.strategy),
        }
    }

    fn full_subtitle(&self) -> Vec<String> {
        let mut subtitle = self.subtitle.clone();
        subtitle.push(format!("means over spans of {:.1} hours", 24.0 * self.days));
        subtitle
    }

    /// Draws a step line of one value over a lightly filled area.
    fn steps(
        &self,
        canvas: &Canvas<'_>,
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
        let mean = format!("mean {} {:.1} %", self.share.name(), self.utilization);
        let legend = [
            (Mark::Box(BLUE), self.share_label()),
            (Mark::Dashes(INK), mean),
            (Mark::Box(VERMILION), "waiting jobs".to_string()),
        ];
        Head::new(TITLE, &self.full_subtitle()).legend(legend)
    }

    fn least_body(&self, _: &Page) -> Result<f64, PlotError> {
        Ok(2.0 * 95.0 + BETWEEN + BOTTOM_ROOM)
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<(), PlotError> {
        let top = self.head().draw(canvas)?;
        let bottom = canvas.height() - BOTTOM_ROOM;
        let middle = (top + bottom) / 2.0;
        let [time, share, waiting] = self.scales();
        let bottom_of_upper = middle - BETWEEN / 2.0;
        let room = |title: &str, scale| left_room(title, &[scale], bottom_of_upper - top);
        let upper = Panel {
            left: room(self.share.axis(), share)?.max(room(WAITING, waiting)?),
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
        upper.axis_left(canvas, self.share.axis())?;
        upper.line_bottom(canvas)?;
        lower.axis_left(canvas, WAITING)?;
        lower.axis_bottom(canvas, TIME)
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&["day", self.share.column(), "waiting_jobs"]);
        for span in &self.spans {
            table.row(&[span.day, span.utilization, span.waiting]);
        }
        table
    }
}
