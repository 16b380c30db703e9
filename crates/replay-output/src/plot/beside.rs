use plotters::prelude::DrawingBackend;

use super::header::{Head, Mark};
use super::look::Page;
use super::number::significant;
use super::rows::{self, Rows};
use super::scale::Scale;
use super::style::{AXIS_LINE, BLUE, Colour, GRID, INK, TICK, VERMILION};
use super::{Canvas, Figure, PlotError, Table, Text};

/// Printed numbers with ours beside them: a row each.
#[derive(Clone, PartialEq, Debug)]
pub struct Beside {
    /// Of which paper and figure.
    pub title: String,
    /// What all rows have in common.
    pub subtitle: Vec<String>,
    /// Whether values are drawn, which then have one unit; else ours as a share of the printed ones.
    pub values: bool,
    /// What the values are.
    pub x_title: String,
    /// From top to bottom; rows of one group follow each other.
    pub rows: Vec<BesideRow>,
}

/// A printed number and ours.
#[derive(Clone, PartialEq, Debug)]
pub struct BesideRow {
    /// The heading over it and its neighbours; empty for none.
    pub group: String,
    /// What tells it from them.
    pub label: String,
    /// As in print.
    pub printed: f64,
    /// Ours.
    pub ours: f64,
    /// Half the width of its 95 % interval; 0 if it is exact.
    pub margin: f64,
    /// How far they may be apart, in the unit of the number, if it is judged by that.
    pub reach: Option<f64>,
}

impl BesideRow {
    fn is_beyond(&self) -> bool {
        self.reach.is_some_and(|reach| (self.ours - self.printed).abs() - self.margin > reach)
    }
}

/// What a line of the figure holds.
enum Line<'a> {
    Heading(&'a str),
    Row(&'a BesideRow),
}

/// What is printed.
const GREY: Colour = Colour(190, 190, 190);

impl Beside {
    fn layout(&self, width: f64) -> Result<Rows, PlotError> {
        let label = |line: &Line<'_>| match line {
            Line::Heading(group) => group.to_string(),
            Line::Row(row) => row.label.clone(),
        };
        Rows::of(&self.lines().iter().map(label).collect::<Vec<_>>(), 1, width)
    }

    fn lines(&self) -> Vec<Line<'_>> {
        let mut lines = Vec::new();
        let mut group = "";
        for row in &self.rows {
            if row.group != group {
                group = &row.group;
                lines.push(Line::Heading(group));
            }
            lines.push(Line::Row(row));
        }
        lines
    }

    /// A number of a row as it is drawn.
    fn drawn(&self, row: &BesideRow, value: f64) -> f64 {
        if self.values { value } else { value / row.printed }
    }

    fn scale(&self) -> Scale {
        let of_row = |row: &BesideRow| {
            let ends = [row.printed, row.ours - row.margin, row.ours + row.margin];
            ends.map(|end| self.drawn(row, end))
        };
        let all = || self.rows.iter().flat_map(of_row);
        let most = all().fold(f64::NEG_INFINITY, f64::max);
        let least = all().fold(f64::INFINITY, f64::min);
        match self.values {
            true if least >= 0.0 => rows::of_bars([least, most].into_iter(), &self.x_title),
            _ => {
                let room = 0.25 * (most - least).max(0.1);
                Scale::linear(least - 0.2 * room, most + room)
            }
        }
    }
}

impl Figure for Beside {
    fn head(&self) -> Head {
        let print = if self.values { "printed" } else { "how far ours may be off" };
        let mut legend = vec![(Mark::Box(GREY), print.to_string())];
        legend.push((Mark::Line(BLUE), "ours, 95 % interval".to_string()));
        if self.rows.iter().any(BesideRow::is_beyond) {
            legend.push((Mark::Line(VERMILION), "ours, beyond the tolerance".to_string()));
        }
        Head::new(&self.title, &self.subtitle).legend(legend)
    }

    fn usual_height(&self, page: &Page) -> f64 {
        self.layout(page.width).map_or(page.width, |rows| rows.usual_height() + 30.0)
    }

    fn least_body(&self, page: &Page) -> Result<f64, PlotError> {
        Ok(self.layout(page.width)?.least_height())
    }

    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), PlotError> {
        let top = self.head().draw(canvas)?;
        let lines = self.lines();
        let (rows, panel) = self.layout(canvas.width())?.draw(canvas, top, 0, self.scale())?;
        panel.grid_x(canvas)?;
        let (low, high) = panel.x.range();
        for (at, line) in lines.iter().enumerate() {
            let Line::Row(row) = line else {
                let y = rows.middle(at);
                canvas.line(&[(panel.left, y), (panel.right, y)], AXIS_LINE, GRID)?;
                continue;
            };
            let y = rows.middle(at);
            let half = 8.0;
            let drawn = |value: f64| panel.at_x(self.drawn(row, value).clamp(low, high));
            let (from, to) = match (self.values, row.reach) {
                (true, _) => (panel.at_x(low.max(0.0).min(high)), drawn(row.printed)),
                (false, Some(reach)) => (drawn(row.printed - reach), drawn(row.printed + reach)),
                (false, None) => (drawn(row.printed), drawn(row.printed)),
            };
            canvas.rectangle((from.min(to), y - half), (from.max(to), y + half), GREY)?;
            if !self.values {
                let x = drawn(row.printed);
                canvas.line(&[(x, y - half), (x, y + half)], AXIS_LINE, INK)?;
            }
            if row.margin > 0.0 {
                let ends = [row.ours - row.margin, row.ours + row.margin];
                rows.interval(canvas, &panel, at, ends.map(|end| self.drawn(row, end)))?;
            }
            let colour = if row.is_beyond() { VERMILION } else { BLUE };
            canvas.disc((drawn(row.ours), y), 4.5, colour)?;
            let most = [row.printed, row.ours + row.margin, row.printed + row.reach.unwrap_or(0.0)];
            let end = match self.values {
                true => most[..2].iter().map(|&value| drawn(value)).fold(f64::MIN, f64::max),
                false => most.iter().map(|&value| drawn(value)).fold(f64::MIN, f64::max),
            };
            let text = format!("{} / {}", significant(row.ours), significant(row.printed));
            // Two numbers are wider than the room for one.
            let widest = canvas.width() - 16.0 - Text::of_size(TICK).width(&text)?;
            rows.value(canvas, end.min(widest), at, &text)?;
        }
        rows.axes(canvas, &panel, &self.x_title)
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&["group", "row", "printed", "ours", "half width", "tolerance"]);
        for row in &self.rows {
            let reach = row.reach.map_or(String::new(), |reach| reach.to_string());
            let numbers = [row.printed, row.ours, row.margin].map(|value| value.to_string());
            let mut cells = vec![row.group.clone(), row.label.clone()];
            cells.extend(numbers);
            cells.push(reach);
            table.row(&cells);
        }
        table
    }
}
