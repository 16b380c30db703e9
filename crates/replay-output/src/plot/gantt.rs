use super::figure_style::Page;
use super::header::Head;
use super::job_names::JobNames;
use super::machine::colour_of;
use super::panel::Panel;
use super::scale::{Scale, Tick};
use super::style::{AXIS_LINE, GRID, INK, TICK, WHITE};
use super::{Align, Canvas, Figure, PlotError, Table, Text};
use replay_import::civil;

/// Gantt chart of the job on each processor over time. Time increases to the right, and processor numbers increase
/// upwards. A job has one bar for each sequence of consecutive processors, in the same colour as in a
/// [`MachineMap`](super::MachineMap).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Gantt {
    /// Figure title.
    pub title: String,
    /// Subtitle clauses.
    pub subtitle: Vec<String>,
    /// First and last second of the shown window, in seconds of the trace.
    pub window: [i64; 2],
    /// Local time of the log at second 0 of the trace, in seconds since the start of 1970 in local time; `None` if the
    /// time is unknown. If the time is unknown, the axis has no dates.
    pub epoch: Option<i64>,
    /// Number of processors.
    pub processors: usize,
    /// Name of the order of the processors along the axis.
    pub order: String,
    /// For each leaf of a tree or of blocks, the position of its first processor and its name; empty on other machines.
    pub leaves: Vec<(usize, String)>,
    /// Names of jobs.
    pub names: JobNames,
    /// The bars.
    pub bars: Vec<Bar>,
}

/// A job on a sequence of consecutive processors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bar {
    /// Job number.
    pub job: i64,
    /// Start in seconds of the trace.
    pub start: i64,
    /// End in seconds of the trace.
    pub end: i64,
    /// First processor in the order of the figure.
    pub first: usize,
    /// Number of processors.
    pub count: usize,
}

/// Returns the unit for a time axis of the given length, and the length of this unit in seconds.
fn unit(seconds: i64) -> (&'static str, f64) {
    match seconds {
        ..601 => ("s", 1.0),
        601..10_801 => ("min", 60.0),
        10_801..345_601 => ("h", 3600.0),
        _ => ("days", 86_400.0),
    }
}

impl Gantt {
    /// Returns the scales and titles of the time axis and the processor axis.
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

/// Possible distances between dates on an axis, in seconds.
const STEPS: [i64; 16] = [
    60, 300, 600, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800, 1_209_600,
    2_419_200, 9_676_800, 31_449_600,
];
const DAY: i64 = 86_400;
/// Maximum number of dates on an axis.
const DATES: i64 = 12;

/// Formats seconds since the start of 1970 as the day `1996-09-23` and the time `12:00`.
fn clock(local: i64) -> (String, String) {
    let (year, month, day) = civil(local.div_euclid(DAY));
    let minute = local.rem_euclid(DAY) / 60;
    (format!("{year}-{month:02}-{day:02}"), format!("{:02}:{:02}", minute / 60, minute % 60))
}

impl Gantt {
    /// Returns the dates on the axis and the title of the axis. The number of dates is limited by the room on the axis.
    /// `seconds` is the length of the unit of the axis, in seconds. Returns `None` if the dates are unknown.
    fn dates(&self, panel: &Panel, seconds: f64) -> Result<Option<(Vec<Tick>, String)>, PlotError> {
        let Some(epoch) = self.epoch else { return Ok(None) };
        let [from, until] = self.window.map(|at| at.saturating_add(epoch));
        for step in STEPS {
            let is_last = step == STEPS[STEPS.len() - 1];
            if (until - from) / step > DATES && !is_last {
                continue;
            }
            let tick = |local: i64| {
                let (day, time) = clock(local);
                let label = if step >= DAY { day } else { format!("{} {time}", &day[5..]) };
                Tick { value: (local - epoch) as f64 / seconds, label }
            };
            let first = from.div_euclid(step) + i64::from(from.rem_euclid(step) > 0);
            let ticks: Vec<Tick> =
                (first..=until.div_euclid(step)).map(|at| tick(at * step)).collect();
            if panel.crowded(&ticks)? && !is_last {
                continue;
            }
            let title = match step >= DAY {
                true => "Date, in the local time of the log".to_string(),
                false => format!("Date and local time of the log, from {}", clock(from).0),
            };
            return Ok(Some((panel.thinned(&ticks)?, title)));
        }
        Ok(None)
    }
}

impl Gantt {
    /// Returns ticks with the names of the leaves, each at the middle of its leaf. If there is too little room, only
    /// every n-th leaf has a name.
    fn leaf_ticks(&self, panel: &Panel) -> Vec<Tick> {
        let firsts = self.leaves.iter().map(|leaf| leaf.0);
        let ends = firsts.skip(1).chain([self.processors]);
        let middle = |((first, name), end): (&(usize, String), usize)| Tick {
            value: (first + end) as f64 / 2.0,
            label: name.clone(),
        };
        let ticks: Vec<Tick> = self.leaves.iter().zip(ends).map(middle).collect();
        let room = (panel.bottom - panel.top) / ticks.len().max(1) as f64;
        ticks.into_iter().step_by(((TICK + 2.0) / room).ceil().max(1.0) as usize).collect()
    }
}

impl Figure for Gantt {
    fn head(&self) -> Head {
        Head::new(&self.title, &self.subtitle)
    }

    fn usual_height(&self, _: &Page) -> f64 {
        720.0
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<(), PlotError> {
        let top = self.head().draw(canvas)? + 4.0;
        let [from, until] = self.window;
        let (_, seconds) = unit(until - from);
        let [(x, x_title), (y, y_title)] = self.axes();
        let time = |at: i64| at.clamp(from, until) as f64 / seconds;
        let mut panel = Panel::of_page(canvas, top, [x, y], [&x_title, &y_title])?;
        let leaves = self.leaf_ticks(&panel);
        if !leaves.is_empty() {
            panel.fit_left(&leaves)?;
        }
        let panel = panel;
        let dates = self.dates(&panel, seconds)?;
        match &dates {
            None => panel.grid_x(canvas)?,
            Some((ticks, _)) => ticks.iter().try_for_each(|tick| {
                let x = panel.at_x(tick.value);
                canvas.line(&[(x, panel.top), (x, panel.bottom)], AXIS_LINE, GRID)
            })?,
        }
        for (first, _) in self.leaves.iter().skip(1) {
            let y = panel.at_y(*first as f64);
            canvas.line(&[(panel.left, y), (panel.right, y)], AXIS_LINE, GRID)?;
        }
        // Leave a thin gap between bars that are large enough.
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
            let number = self.names.of(bar.job);
            if look.size >= 8.0 && look.width(&number)? < x1 - x0 - 6.0 {
                let look = look.colour(if colour.is_dark() { WHITE } else { INK });
                canvas.text(&number, ((x0 + x1) / 2.0, (y0 + y1) / 2.0), look)?;
            }
        }
        match &leaves[..] {
            [] => panel.axis_left(canvas, &y_title)?,
            leaves => panel.axis_left_with(canvas, leaves, &y_title)?,
        }
        match dates {
            None => panel.axis_bottom(canvas, &x_title),
            Some((ticks, title)) => panel.axis_bottom_with(canvas, &ticks, &title),
        }
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&["job", "start", "end", "first", "count"]);
        for &Bar { job, start, end, first, count } in &self.bars {
            table.row(&[job, start, end, first as i64, count as i64]);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::save::svg;
    use crate::plot::style::register;

    #[test]
    fn the_axis_has_the_names_of_leaves() {
        register().expect("the font");
        let leaf = |number: usize| (4 * number, format!("leaf{number}"));
        let gantt = |count: usize| Gantt {
            window: [0, 100],
            processors: 4 * count,
            leaves: (0..count).map(leaf).collect(),
            order: "leaf by leaf".to_string(),
            ..Gantt::default()
        };
        let few = svg(&gantt(3)).expect("drawn");
        assert!((0..3).all(|number| few.contains(&format!("\nleaf{number}\n"))));
        let many = svg(&gantt(512)).expect("drawn");
        let names = many.matches("\nleaf").count();
        assert!((20..60).contains(&names), "{names}");
    }

    #[test]
    fn the_axis_has_dates_if_the_start_of_the_log_is_known() {
        register().expect("the font");
        // Midnight at the beginning of 1996-09-23.
        let epoch = Some(843_436_800);
        let gantt = Gantt { window: [3600, 90_000], processors: 4, epoch, ..Gantt::default() };
        let drawn = svg(&gantt).expect("drawn");
        for words in
            ["09-23 06:00", "09-24 00:00", "Date and local time of the log, from 1996-09-23"]
        {
            assert!(drawn.contains(words), "{words}");
        }
        let weeks = Gantt { window: [0, 20 * DAY], ..gantt.clone() };
        assert!(svg(&weeks).expect("drawn").contains("1996-09-2"));
        let years = Gantt { window: [0, 20 * 365 * DAY], ..gantt.clone() };
        assert!(svg(&years).expect("drawn").contains("Date, in the local time of the log"));
        let without = svg(&Gantt { epoch: None, ..gantt }).expect("drawn");
        assert!(without.contains("Time of the trace (h)") && !without.contains("1996"));
    }
}
