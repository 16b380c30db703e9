use super::figure_style::Page;
use super::header::{Head, Mark};
use super::number::significant;
use super::rows::{self, Rows};
use super::scale::Scale;
use super::style::{AXIS_LINE, BLUE, Colour, GRID, INK, TICK, VERMILION};
use super::{Canvas, Figure, PlotError, Table, Text};

/// Published numbers compared with our numbers, with one row per number.
#[derive(Clone, PartialEq, Debug)]
pub struct PublishedComparison {
    /// Figure title: paper and figure.
    pub title: String,
    /// Subtitle clauses.
    pub subtitle: Vec<String>,
    /// Whether the numbers themselves are plotted; all rows must then have the same unit. If the numbers themselves are
    /// not plotted, the ratio of our number to the published number is plotted.
    pub values: bool,
    /// Title of the x axis with its unit.
    pub x_title: String,
    /// Rows from top to bottom; rows of one group are consecutive.
    pub rows: Vec<PublishedRow>,
}

/// A published number and our number.
#[derive(Clone, PartialEq, Debug)]
pub struct PublishedRow {
    /// Heading above the rows of this group; empty if there is no heading.
    pub group: String,
    /// Label of the row within its group.
    pub label: String,
    /// Published number.
    pub printed: f64,
    /// Our number.
    pub ours: f64,
    /// Half the width of the 95 % interval of our number; 0 if our number is exact.
    pub margin: f64,
    /// Largest accepted difference in the unit of the number; `None` if the row has no tolerance.
    pub reach: Option<f64>,
}

impl PublishedRow {
    fn is_beyond(&self) -> bool {
        self.reach.is_some_and(|reach| (self.ours - self.printed).abs() - self.margin > reach)
    }
}

/// A line of the figure: the heading of a group, or a row.
enum Line<'a> {
    Heading(&'a str),
    Row(&'a PublishedRow),
}

/// Colour of the published numbers.
const GREY: Colour = Colour(190, 190, 190);

impl PublishedComparison {
    fn layout(&self, width: f64) -> Result<Rows, PlotError> {
        let label = |line: &Line<'_>| match line {
            Line::Heading(group) => group.to_string(),
            Line::Row(row) => row.label.clone(),
        };
        Rows::new(&self.lines().iter().map(label).collect::<Vec<_>>(), 1, width)
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

    /// Returns the value to plot for a number in a row: either this number or its ratio to the published number.
    fn drawn(&self, row: &PublishedRow, value: f64) -> f64 {
        if self.values { value } else { value / row.printed }
    }

    fn scale(&self) -> Scale {
        let of_row = |row: &PublishedRow| {
            let ends = [row.printed, row.ours - row.margin, row.ours + row.margin];
            ends.map(|end| self.drawn(row, end))
        };
        let all = || self.rows.iter().flat_map(of_row);
        let most = all().fold(f64::NEG_INFINITY, f64::max);
        let least = all().fold(f64::INFINITY, f64::min);
        match self.values {
            true if least >= 0.0 => rows::bar_scale([least, most].into_iter(), &self.x_title),
            _ => {
                let room = 0.25 * (most - least).max(0.1);
                Scale::linear(least - 0.2 * room, most + room)
            }
        }
    }
}

impl Figure for PublishedComparison {
    fn head(&self) -> Head {
        let label = if self.values { "published" } else { "tolerance" };
        let mut legend = vec![(Mark::Box(GREY), label.to_string())];
        legend.push((Mark::Line(BLUE), "ours, 95 % interval".to_string()));
        if self.rows.iter().any(PublishedRow::is_beyond) {
            legend.push((Mark::Line(VERMILION), "ours, outside the tolerance".to_string()));
        }
        Head::new(&self.title, &self.subtitle).legend(legend)
    }

    fn usual_height(&self, page: &Page) -> f64 {
        self.layout(page.width).map_or(page.width, |rows| rows.usual_height() + 30.0)
    }

    fn least_body(&self, page: &Page) -> Result<f64, PlotError> {
        Ok(self.layout(page.width)?.least_height())
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<(), PlotError> {
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
            // The text contains two numbers and may be wider than the room for a value; if necessary, move it to the
            // left.
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
