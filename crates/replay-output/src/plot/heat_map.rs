use super::header::{Head, shorten};
use super::number::significant;
use super::panel::{LEFT_ROOM, Panel, bottom_room};
use super::scale::Scale;
use super::style::{AXIS_LINE, GRID, INK, LABEL, MUTED, TICK, WHITE, sequential};
use super::{Align, Canvas, Figure, PlotError, Table, Text};

/// A matrix of values as coloured cells with a colour bar.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct HeatMap {
    /// Figure title.
    pub title: String,
    /// Subtitle clauses.
    pub subtitle: Vec<String>,
    /// Title of the x axis with its unit.
    pub x_title: String,
    /// Title of the y axis with its unit.
    pub y_title: String,
    /// Title of the colour bar with its unit.
    pub value_title: String,
    /// Labels of the columns from left to right.
    pub columns: Vec<String>,
    /// Labels of the rows from the bottom up.
    pub rows: Vec<String>,
    /// Values by row, then by column; a missing value or `None` is drawn as a grey cell.
    pub values: Vec<Vec<Option<f64>>>,
}

impl HeatMap {
    fn value(&self, row: usize, column: usize) -> Option<f64> {
        self.values.get(row)?.get(column).copied().flatten().filter(|value| value.is_finite())
    }

    /// Returns the range of the colours, which equals the range of the values.
    fn colours(&self) -> Scale {
        let values = || self.cells().filter_map(|(row, column)| self.value(row, column));
        let low = values().fold(f64::INFINITY, f64::min);
        let high = values().fold(f64::NEG_INFINITY, f64::max);
        if low <= high { Scale::linear(low, high) } else { Scale::linear(0.0, 1.0) }
    }

    fn cells(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let columns = self.columns.len();
        (0..self.rows.len()).flat_map(move |row| (0..columns).map(move |column| (row, column)))
    }
}

/// Room for the colour bar and its labels.
pub(super) const BAR_ROOM: f64 = 150.0;
const BAR_WIDTH: f64 = 22.0;
/// Overlap of neighbouring cells.
const SEAM: f64 = 0.5;

impl Figure for HeatMap {
    fn head(&self) -> Head {
        Head::new(&self.title, &self.subtitle)
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<(), PlotError> {
        let top = self.head().draw(canvas)?;
        let colours = self.colours();
        let look = Text::of_size(TICK).align(Align::Right);
        let mut widest: f64 = 0.0;
        for label in &self.rows {
            widest = widest.max(look.width(label)?);
        }
        let panel = Panel {
            left: (widest + 56.0).clamp(LEFT_ROOM, canvas.width() / 3.0),
            top,
            right: canvas.width() - BAR_ROOM,
            bottom: canvas.height() - bottom_room(&self.x_title, canvas.width())?,
            x: Scale::linear(0.0, self.columns.len().max(1) as f64),
            y: Scale::linear(0.0, self.rows.len().max(1) as f64),
        };
        self.draw_cells(canvas, &panel, colours)?;
        self.draw_labels(canvas, &panel)?;
        draw_bar(canvas, &panel, colours, &self.value_title)
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&[&self.x_title, &self.y_title, &self.value_title]);
        for (row, column) in self.cells() {
            let value = self.value(row, column).map(|v| v.to_string()).unwrap_or_default();
            table.row(&[self.columns[column].clone(), self.rows[row].clone(), value]);
        }
        table
    }
}

impl HeatMap {
    fn draw_cells(
        &self,
        canvas: &Canvas<'_>,
        panel: &Panel,
        colours: Scale,
    ) -> Result<(), PlotError> {
        let look = Text::of_size(TICK - 0.5).align(Align::Centre);
        let (width, height) =
            (panel.at_x(1.0) - panel.at_x(0.0), panel.at_y(0.0) - panel.at_y(1.0));
        let mut widest: f64 = 0.0;
        for (row, column) in self.cells() {
            if let Some(value) = self.value(row, column) {
                widest = widest.max(look.width(&significant(value))?);
            }
        }
        let printed = width > widest + 8.0 && height > 18.0;
        for (row, column) in self.cells() {
            let value = self.value(row, column);
            let colour = value.map_or(GRID, |value| sequential(colours.share(value)));
            let (x, y) = (column as f64, row as f64);
            // Cells overlap their neighbours; without this overlap, viewers would show seams
            // between the cells.
            let (right, top) = panel.at(x + 1.0, y + 1.0);
            let corner = ((right + SEAM).min(panel.right), (top - SEAM).max(panel.top));
            canvas.rectangle(panel.at(x, y), corner, colour)?;
            if let (Some(value), true) = (value, printed) {
                let look = look.colour(if colour.is_dark() { WHITE } else { INK });
                canvas.text(&significant(value), panel.at(x + 0.5, y + 0.5), look)?;
            }
        }
        Ok(())
    }

    fn draw_labels(&self, canvas: &Canvas<'_>, panel: &Panel) -> Result<(), PlotError> {
        let look = Text::of_size(TICK).align(Align::Centre);
        let mut widest: f64 = 0.0;
        for label in &self.columns {
            widest = widest.max(look.width(label)?);
        }
        // Choose a step between labels that is large enough to avoid overlapping labels.
        let every = |room: f64, all: f64, count: usize| {
            (room * count as f64 / all).ceil().max(1.0) as usize
        };
        let wide = panel.right - panel.left;
        let step = every(widest + 10.0, wide, self.columns.len());
        for (column, label) in self.columns.iter().enumerate().step_by(step) {
            let label = shorten(label, look, wide)?;
            canvas.text(&label, (panel.at_x(column as f64 + 0.5), panel.bottom + 15.0), look)?;
        }
        let look = look.align(Align::Right);
        let step = every(TICK + 4.0, panel.bottom - panel.top, self.rows.len());
        for (row, label) in self.rows.iter().enumerate().step_by(step) {
            let label = shorten(label, look, panel.left - 8.0 - 32.0)?;
            canvas.text(&label, (panel.left - 8.0, panel.at_y(row as f64 + 0.5)), look)?;
        }
        panel.title_bottom(canvas, &self.x_title)?;
        // Place the title to the left of the longest label.
        let mut widest: f64 = 0.0;
        for label in &self.rows {
            widest = widest.max(look.width(label)?);
        }
        let left = (panel.left - 8.0 - widest - 18.0).max(14.0);
        let look = Text::of_size(LABEL).align(Align::Centre).upwards();
        let title = shorten(&self.y_title, look, panel.bottom - panel.top + 40.0)?;
        canvas.text(&title, (left, (panel.top + panel.bottom) / 2.0), look)
    }
}

/// Fills a colour bar with all colours; the lowest value is at the bottom.
pub(super) fn draw_shades(canvas: &Canvas<'_>, bar: &Panel) -> Result<(), PlotError> {
    const SHADES: usize = 128;
    let (low, high) = bar.y.range();
    let edge = |shade: usize| bar.at_y(low + (high - low) * shade as f64 / SHADES as f64);
    // Each shade extends to the top and is covered by the next shade, which avoids seams.
    for shade in 0..SHADES {
        let colour = sequential((shade as f64 + 0.5) / SHADES as f64);
        canvas.rectangle((bar.left, edge(shade)), (bar.right, bar.top), colour)?;
    }
    Ok(())
}

/// Draws the colour bar to the right of a panel.
pub(super) fn draw_bar(
    canvas: &Canvas<'_>,
    panel: &Panel,
    colours: Scale,
    title: &str,
) -> Result<(), PlotError> {
    let left = panel.right + 28.0;
    let bar = Panel { left, right: left + BAR_WIDTH, y: colours, ..*panel };
    draw_shades(canvas, &bar)?;
    for tick in colours.ticks(6) {
        let y = bar.at_y(tick.value);
        canvas.line(&[(bar.right, y), (bar.right + 4.0, y)], AXIS_LINE, MUTED)?;
        canvas.text(&tick.label, (bar.right + 8.0, y), Text::of_size(TICK))?;
    }
    let look = Text::of_size(TICK).align(Align::Centre).upwards();
    let title = &shorten(title, look, bar.bottom - bar.top + 40.0)?;
    canvas.text(title, (canvas.width() - 24.0, (bar.top + bar.bottom) / 2.0), look)
}
