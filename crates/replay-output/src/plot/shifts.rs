use super::header::{Head, Mark};
use super::number::grouped;
use super::panel::Panel;
use super::scale::Scale;
use super::style::{AXIS_LINE, BLUE, INK, VERMILION};
use super::{Canvas, Figure, PlotError, Table};

/// Differences of start times between two schedules. Each job has a vertical line at its submission time. The line
/// extends downwards if the job starts earlier in the second schedule, and upwards if it starts later.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Shifts {
    /// Figure title.
    pub title: String,
    /// Subtitle clauses.
    pub subtitle: Vec<String>,
    /// One entry per job.
    pub shifts: Vec<Shift>,
}

/// Difference of the start times of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shift {
    /// Job number.
    pub job: i64,
    /// Submission time in seconds of the trace.
    pub submit: i64,
    /// Seconds by which the job starts later in the second schedule; negative if earlier.
    pub later: i64,
}

const HOUR: f64 = 3600.0;
const DAY: f64 = 86_400.0;

const X_TITLE: &str = "Submission (days of the trace)";
const Y_TITLE: &str = "Starts later by (hours)";

impl Shifts {
    fn scales(&self) -> [Scale; 2] {
        let days = || self.shifts.iter().map(|shift| shift.submit as f64 / DAY);
        let hours = || self.shifts.iter().map(|shift| shift.later as f64 / HOUR);
        let (first, last) = (days().fold(f64::INFINITY, f64::min), days().fold(0.0, f64::max));
        let (least, most) = (hours().fold(0.0, f64::min), hours().fold(0.0, f64::max));
        let first = if first.is_finite() { first } else { 0.0 };
        [
            Scale::linear(first, last.max(first + 1.0 / 24.0)),
            Scale::round(least, most.max(least + 1.0 / 60.0), 7),
        ]
    }
}

impl Figure for Shifts {
    fn head(&self) -> Head {
        let count = |of: fn(i64) -> bool| {
            grouped(self.shifts.iter().filter(|shift| of(shift.later)).count() as f64, 0)
        };
        let legend = [
            (Mark::Thick(BLUE), format!("{} jobs start earlier", count(|by| by < 0))),
            (Mark::Thick(VERMILION), format!("{} start later", count(|by| by > 0))),
        ];
        Head::new(&self.title, &self.subtitle).legend(legend)
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<(), PlotError> {
        let top = self.head().draw(canvas)?;
        let panel = Panel::of_page(canvas, top, self.scales(), [X_TITLE, Y_TITLE])?;
        panel.grid_x(canvas)?;
        panel.grid_y(canvas)?;
        // Draw the largest differences first, so that smaller differences are visible in front of them.
        let mut drawn: Vec<&Shift> = self.shifts.iter().filter(|shift| shift.later != 0).collect();
        drawn.sort_by_key(|shift| (-shift.later.abs(), shift.submit, shift.job));
        for shift in drawn {
            let x = shift.submit as f64 / DAY;
            let colour = if shift.later < 0 { BLUE } else { VERMILION };
            let ends = [panel.at(x, 0.0), panel.at(x, shift.later as f64 / HOUR)];
            canvas.line(&ends, 0.5, colour)?;
        }
        let none = panel.at_y(0.0);
        canvas.line(&[(panel.left, none), (panel.right, none)], AXIS_LINE, INK)?;
        panel.axis_bottom(canvas, X_TITLE)?;
        panel.axis_left(canvas, Y_TITLE)
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&["job", "submit", "later"]);
        for shift in &self.shifts {
            table.row(&[shift.job, shift.submit, shift.later]);
        }
        table
    }
}
