//! Shared layout of figures with one row per item: labels on the left, panels beside them.

use super::header::break_lines;
use super::panel::{BOTTOM_ROOM, Panel};
use super::scale::Scale;
use super::style::{AXIS_LINE, Colour, INK, MARGIN, TICK, WHITE};
use super::{Align, Canvas, PlotError, Text};

/// Room for the value that is printed at the end of a bar, to the right of the panel.
pub const VALUE_ROOM: f64 = 62.0;
/// Maximum share of the page's width for labels.
const LABEL_SHARE: f64 = 0.42;
/// Gap between panels side by side, to the right of the values.
const GAP_OF_PANELS: f64 = 14.0;
/// Gap between rows of panels.
const GAP_OF_BANDS: f64 = 14.0;
/// Minimum width of a panel with its values.
const LEAST_PANEL: f64 = 140.0;
/// Minimum height of a row.
const LEAST_ROW: f64 = 17.5;
/// Height of a line of a row label.
const LABEL_LINE: f64 = 15.5;

/// Panels with one row per item. Panels are placed side by side as far as the page width permits.
#[derive(Clone, Debug)]
pub struct Rows {
    /// Lines of the label of each row.
    labels: Vec<Vec<String>>,
    left: f64,
    across: usize,
    panels: usize,
    /// Room above each panel.
    above: f64,
}

impl Rows {
    /// Lays out `panels` panels on a page of this width.
    pub fn new(labels: &[String], panels: usize, width: f64) -> Result<Self, PlotError> {
        let (look, most) = (Text::of_size(TICK), width * LABEL_SHARE);
        let labels: Vec<Vec<String>> =
            labels.iter().map(|label| break_lines(label, look, most)).collect::<Result<_, _>>()?;
        let mut widest: f64 = 0.0;
        for line in labels.iter().flatten() {
            widest = widest.max(look.width(line)?);
        }
        let left = MARGIN + widest + 10.0;
        let room = width - MARGIN / 2.0 - left + GAP_OF_PANELS;
        let across = ((room / (LEAST_PANEL + GAP_OF_PANELS)) as usize).clamp(1, panels.max(1));
        Ok(Self { labels, left, across, panels: panels.max(1), above: 0.0 })
    }

    /// Sets the room above each panel.
    pub fn above(self, above: f64) -> Self {
        Self { above, ..self }
    }

    fn least_row(&self) -> f64 {
        let lines = self.labels.iter().map(Vec::len).max().unwrap_or(1);
        LEAST_ROW.max(LABEL_LINE * lines as f64 + 4.0)
    }

    fn bands(&self) -> usize {
        self.panels.div_ceil(self.across)
    }

    /// Returns the minimum height of all panels.
    pub fn least_height(&self) -> f64 {
        self.height(self.least_row())
    }

    /// Returns the height of a page with rows of the usual height.
    pub fn usual_height(&self) -> f64 {
        let row: f64 = if self.labels.len() <= 12 { 34.0 } else { 24.0 };
        (180.0 + self.height(row.max(self.least_row()))).clamp(300.0, 20_000.0)
    }

    fn height(&self, row: f64) -> f64 {
        let band = self.above + row * self.labels.len() as f64 + BOTTOM_ROOM;
        let bands = self.bands() as f64;
        bands * band + (bands - 1.0) * GAP_OF_BANDS
    }

    /// Draws the row labels of the panel with index `panel`, and returns the panel and the position of its rows. `top`
    /// is the upper end of the area for all panels.
    pub fn draw(
        &self,
        canvas: &Canvas<'_>,
        top: f64,
        panel: usize,
        x: Scale,
    ) -> Result<(Band, Panel), PlotError> {
        let bands = self.bands() as f64;
        let each = (canvas.height() - top + GAP_OF_BANDS) / bands;
        let (column, row) = (panel % self.across, panel / self.across);
        let begin = top + row as f64 * each;
        let (top, bottom) = (begin + self.above, begin + each - GAP_OF_BANDS - BOTTOM_ROOM);
        let band = Band { top, bottom, count: self.labels.len() };
        if column == 0 {
            let look = Text::of_size(TICK).align(Align::Right);
            for (row, lines) in self.labels.iter().enumerate() {
                let first =
                    band.middle(row) - LABEL_LINE * lines.len().saturating_sub(1) as f64 / 2.0;
                for (line, text) in lines.iter().enumerate() {
                    let y = first + LABEL_LINE * line as f64;
                    canvas.text(text, (self.left - 10.0, y), look)?;
                }
            }
        }
        let gaps = GAP_OF_PANELS * (self.across - 1) as f64;
        let all = canvas.width() - MARGIN / 2.0 - self.left - gaps;
        let wide = all / self.across as f64;
        let left = self.left + column as f64 * (wide + GAP_OF_PANELS);
        let right = left + wide - VALUE_ROOM;
        Ok((band, Panel { left, top, right, bottom, x, y: Scale::linear(0.0, 1.0) }))
    }
}

/// Rows of equal height between `top` and `bottom`.
#[derive(Clone, Copy, Debug)]
pub struct Band {
    top: f64,
    bottom: f64,
    count: usize,
}

impl Band {
    /// Returns the y coordinate of the middle of a row.
    pub fn middle(&self, row: usize) -> f64 {
        self.top + (row as f64 + 0.5) * (self.bottom - self.top) / self.count.max(1) as f64
    }

    /// Returns half the thickness of a bar.
    pub fn half(&self) -> f64 {
        ((self.bottom - self.top) / self.count.max(1) as f64 * 0.34).min(13.0)
    }

    /// Draws a bar from the panel's left edge to a value, and prints the value at the end of the bar.
    pub fn bar(
        &self,
        canvas: &Canvas<'_>,
        panel: &Panel,
        row: usize,
        value: f64,
        text: &str,
        colour: Colour,
    ) -> Result<(), PlotError> {
        let (y, end) = (self.middle(row), panel.at_x(value).clamp(panel.left, panel.right));
        let half = self.half();
        canvas.rectangle((panel.left, y - half), (end, y + half), colour)?;
        self.value(canvas, end, row, text)
    }

    /// Draws a bar between two x coordinates, which may be in any order.
    pub fn bar_between(
        &self,
        canvas: &Canvas<'_>,
        row: usize,
        [one, other]: [f64; 2],
        colour: Colour,
    ) -> Result<(), PlotError> {
        let (y, half) = (self.middle(row), self.half());
        canvas.rectangle((one.min(other), y - half), (one.max(other), y + half), colour)
    }

    /// Draws an interval as a horizontal line with end caps through the middle of a row.
    pub fn interval(
        &self,
        canvas: &Canvas<'_>,
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

    /// Draws a value as text to the right of a point.
    pub fn value(
        &self,
        canvas: &Canvas<'_>,
        x: f64,
        row: usize,
        text: &str,
    ) -> Result<(), PlotError> {
        let (x, y, look) = (x + 8.0, self.middle(row), Text::of_size(TICK));
        // Clear the background, so that no grid line crosses the digits.
        let (half, width) = (TICK * 0.6, look.width(text)?);
        canvas.rectangle((x - 3.0, y - half), (x + width + 3.0, y + half), WHITE)?;
        canvas.text(text, (x, y), look)
    }

    /// Draws the x axis below a panel and a line at its left edge.
    pub fn axes(&self, canvas: &Canvas<'_>, panel: &Panel, title: &str) -> Result<(), PlotError> {
        canvas.line(&[(panel.left, panel.top), (panel.left, panel.bottom)], AXIS_LINE, INK)?;
        let title = &axis_title(title, panel.x);
        panel.axis_bottom_within(canvas, title, panel.right - panel.left + VALUE_ROOM + 8.0)
    }
}

/// Returns the title of an axis. The title of a logarithmic axis ends with `log scale`, because panels side by side may
/// have different kinds of axes.
pub fn axis_title(title: &str, scale: Scale) -> String {
    if scale.is_log() { format!("{title}, log scale") } else { title.to_string() }
}

/// Minimum ratio of the largest value to the smallest value for a logarithmic axis.
const WIDE: f64 = 100.0;

/// Returns the scale of bars. The scale begins at 0. If the values span more than two decades, the scale is
/// logarithmic. If no value is larger than 100, a scale of percentages does not extend beyond 100.
pub fn bar_scale(values: impl Iterator<Item = f64> + Clone, title: &str) -> Scale {
    let values = values.filter(|value| value.is_finite());
    let most = values.clone().fold(0.0, f64::max);
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let positive = values.clone().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
    // A bar of 0 has no length on a logarithmic axis; its value is printed at the start of the axis.
    if least >= 0.0 && most > WIDE * positive {
        return Scale::log_round(positive * 0.8, most);
    }
    let (_, end) = Scale::round(0.0, if most > 0.0 { most } else { 1.0 }, 4).range();
    let is_share = title.ends_with("(%)") && most <= 100.0;
    Scale::linear(0.0, if is_share { end.min(100.0) } else { end })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bar_scales_fit_their_values() {
        let of = |values: &[f64], title: &str| bar_scale(values.iter().copied(), title);
        // A scale of percentages ends at 100, or at a lower number if all values are lower.
        assert_eq!(of(&[61.0, 69.0, 94.0], "Dispersal (%)").range(), (0.0, 100.0));
        assert_eq!(of(&[8.0, 0.0, 17.0], "Dispersal (%)").range(), (0.0, 20.0));
        assert!(!of(&[42.0, 418.0], "Pairwise L₁ (hops)").is_log());
        // These values span more than two decades.
        let wide = of(&[3.0, 418.0], "Pairwise L₁ (hops)");
        assert!(wide.is_log() && wide.range().0 <= 3.0 && wide.range().1 >= 418.0);
        // A value of 0 does not make the axis logarithmic.
        assert!(!of(&[0.0, 418.0], "Pairwise L₁ (hops)").is_log());
        assert!(of(&[0.0, 3.0, 418.0], "Pairwise L₁ (hops)").is_log());
        assert_eq!(of(&[], "Turnaround (s)").range(), (0.0, 1.0));
    }
}
