//! What the figures with one row per thing share: labels on the left, panels beside them.

use plotters::prelude::DrawingBackend;

use super::panel::{BOTTOM_ROOM, Panel};
use super::scale::Scale;
use super::style::{AXIS_LINE, Colour, INK, MARGIN, PAGE, TICK, WHITE};
use super::{Align, Canvas, PlotError, Text};

/// Room for the value printed at the end of a bar.
pub const VALUE_ROOM: f64 = 64.0;
/// The most of the page's width that labels may take.
const LABEL_SHARE: f64 = 0.42;
const GAP_OF_PANELS: f64 = 40.0;

/// Height of a page with this many rows.
pub fn height(rows: usize) -> f64 {
    let row = if rows <= 12 { 34.0 } else { 24.0 };
    (180.0 + BOTTOM_ROOM + row * rows as f64).clamp(300.0, 20_000.0)
}

/// Rows between `top` and `bottom`.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    top: f64,
    bottom: f64,
    count: usize,
    left: f64,
}

impl Rows {
    /// Places the labels in rows, and panels to the right of them.
    pub fn draw<DB: DrawingBackend>(
        canvas: &Canvas<DB>,
        top: f64,
        bottom: f64,
        labels: &[String],
    ) -> Result<Self, PlotError> {
        let look = Text::of_size(TICK).align(Align::Right);
        let most = PAGE.0 * LABEL_SHARE;
        let labels = labels
            .iter()
            .map(|label| shortened(label, look, most))
            .collect::<Result<Vec<_>, _>>()?;
        let mut widest: f64 = 0.0;
        for label in &labels {
            widest = widest.max(look.width(label)?);
        }
        let rows = Self { top, bottom, count: labels.len(), left: MARGIN + widest + 10.0 };
        for (row, label) in labels.iter().enumerate() {
            canvas.text(label, (rows.left - 10.0, rows.middle(row)), look)?;
        }
        Ok(rows)
    }

    /// The middle of a row.
    pub fn middle(&self, row: usize) -> f64 {
        self.top + (row as f64 + 0.5) * (self.bottom - self.top) / self.count.max(1) as f64
    }

    /// Half the thickness of a bar.
    pub fn half(&self) -> f64 {
        ((self.bottom - self.top) / self.count.max(1) as f64 * 0.34).min(13.0)
    }

    /// One of `panels` panels side by side.
    pub fn panel(&self, panel: usize, panels: usize, x: Scale) -> Panel {
        let all = PAGE.0 - MARGIN - self.left;
        let each = (all - GAP_OF_PANELS * (panels - 1) as f64) / panels as f64;
        let left = self.left + panel as f64 * (each + GAP_OF_PANELS);
        let right = left + each - VALUE_ROOM * 0.25;
        let y = Scale::linear(0.0, 1.0);
        Panel { left, top: self.top, right, bottom: self.bottom, x, y }
    }

    /// A bar from the panel's left edge to a value, with the value printed at its end.
    pub fn bar<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        panel: &Panel,
        row: usize,
        value: f64,
        text: &str,
        colour: Colour,
    ) -> Result<(), PlotError> {
        let (y, end) = (self.middle(row), panel.at_x(value));
        let half = self.half();
        canvas.rectangle((panel.left, y - half), (end, y + half), colour)?;
        self.value(canvas, end, row, text)
    }

    /// A bar from one value to another, whichever is larger.
    pub fn bar_between<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        panel: &Panel,
        row: usize,
        ends: [f64; 2],
        colour: Colour,
    ) -> Result<(), PlotError> {
        let (y, half) = (self.middle(row), self.half());
        let [one, other] = ends.map(|end| panel.at_x(end));
        canvas.rectangle((one.min(other), y - half), (one.max(other), y + half), colour)
    }

    /// A line from one value to another through the middle of a row, with ends.
    pub fn interval<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        panel: &Panel,
        row: usize,
        [low, high]: [f64; 2],
    ) -> Result<(), PlotError> {
        let y = self.middle(row);
        let cap = self.half() * 0.6;
        let ends = [low, high].map(|end| panel.at_x(end).clamp(panel.left, panel.right));
        canvas.line(&[(ends[0], y), (ends[1], y)], AXIS_LINE, INK)?;
        for x in ends {
            canvas.line(&[(x, y - cap), (x, y + cap)], AXIS_LINE, INK)?;
        }
        Ok(())
    }

    /// A value printed right of a point.
    pub fn value<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        x: f64,
        row: usize,
        text: &str,
    ) -> Result<(), PlotError> {
        let (x, y, look) = (x + 8.0, self.middle(row), Text::of_size(TICK));
        // No grid line through digits.
        let (half, width) = (TICK * 0.6, look.width(text)?);
        canvas.rectangle((x - 3.0, y - half), (x + width + 3.0, y + half), WHITE)?;
        canvas.text(text, (x, y), look)
    }

    /// Axes of a panel: the x axis below and a line where the bars begin.
    pub fn axes<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        panel: &Panel,
        title: &str,
    ) -> Result<(), PlotError> {
        canvas.line(&[(panel.left, panel.top), (panel.left, panel.bottom)], AXIS_LINE, INK)?;
        panel.axis_bottom(canvas, title)
    }
}

/// A scale from 0 that leaves room for the value printed at the longest bar.
pub fn with_room(most: f64) -> Scale {
    Scale::linear(0.0, if most > 0.0 { most * 1.25 } else { 1.0 })
}

/// The label cut in the middle to `most` points.
fn shortened(label: &str, look: Text, most: f64) -> Result<String, PlotError> {
    let chars: Vec<char> = label.chars().collect();
    let mut kept = chars.len();
    let mut text = label.to_string();
    while kept > 2 && look.width(&text)? > most {
        kept -= 1;
        let (head, tail) = (kept.div_ceil(2), kept / 2);
        text = chars[..head].iter().chain(&['…']).chain(&chars[chars.len() - tail..]).collect();
    }
    Ok(text)
}
