use plotters::prelude::DrawingBackend;

use super::scale::{Scale, Tick};
use super::style::{AXIS_LINE, GRID, GRID_LINE, INK, LABEL, MUTED, PAGE, TICK};
use super::{Align, Canvas, PlotError, Text};

/// A rectangle of the page with two scales. The axes are drawn one by one.
#[derive(Clone, Copy, Debug)]
pub struct Panel {
    /// Left edge in points.
    pub left: f64,
    /// Upper edge.
    pub top: f64,
    /// Right edge.
    pub right: f64,
    /// Lower edge.
    pub bottom: f64,
    /// Scale from left to right.
    pub x: Scale,
    /// Scale from bottom to top.
    pub y: Scale,
}

/// Distance of tick labels from their axis, and length of the ticks.
const GAP: f64 = 8.0;
const TICK_LENGTH: f64 = 4.0;
/// Least room between labels side by side.
const LABEL_GAP: f64 = 12.0;
/// Room for an axis: from the panel's edge to the page's, title included.
pub const LEFT_ROOM: f64 = 92.0;
pub const RIGHT_ROOM: f64 = 92.0;
pub const BOTTOM_ROOM: f64 = 66.0;

impl Panel {
    /// All of a page below its header, with the usual room for axes on the left and at the bottom.
    pub fn of_page(top: f64, height: f64, [x, y]: [Scale; 2]) -> Self {
        let (right, bottom) = (PAGE.0 - 40.0, height - BOTTOM_ROOM);
        Self { left: LEFT_ROOM, top, right, bottom, x, y }
    }

    /// Where a value of the x axis is.
    pub fn at_x(&self, value: f64) -> f64 {
        self.left + self.x.share(value) * (self.right - self.left)
    }

    /// Where a value of the y axis is.
    pub fn at_y(&self, value: f64) -> f64 {
        self.y_on(self.y, value)
    }

    /// Where a value of another y scale is.
    pub fn y_on(&self, scale: Scale, value: f64) -> f64 {
        self.bottom - scale.share(value) * (self.bottom - self.top)
    }

    /// The point of two values.
    pub fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.at_x(x), self.at_y(y))
    }

    /// Ticks of the x axis: as many as have room for their labels.
    fn x_ticks(&self) -> Result<Vec<Tick>, PlotError> {
        let look = Text::of_size(TICK);
        let crowded = |ticks: &[Tick]| {
            for pair in ticks.windows(2) {
                let widths = look.width(&pair[0].label)? + look.width(&pair[1].label)?;
                let apart = self.at_x(pair[1].value) - self.at_x(pair[0].value);
                if apart < widths / 2.0 + LABEL_GAP {
                    return Ok(true);
                }
            }
            Ok::<_, PlotError>(false)
        };
        let most = ((self.right - self.left) / 70.0).max(2.0) as usize;
        for steps in (2..=most).rev() {
            let ticks = self.x.ticks(steps);
            if !crowded(&ticks)? {
                return Ok(ticks);
            }
        }
        // A scale with steps of its own, or labels that are too long for two: every second one, every third, ...
        let all = self.x.ticks(2);
        let mut every = 2;
        loop {
            let ticks: Vec<Tick> = all.iter().step_by(every).cloned().collect();
            if ticks.len() < 2 || !crowded(&ticks)? {
                return Ok(ticks);
            }
            every += 1;
        }
    }

    fn y_steps(&self) -> usize {
        ((self.bottom - self.top) / 52.0).max(2.0) as usize
    }

    /// Vertical grid lines.
    pub fn grid_x<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), PlotError> {
        for tick in self.x_ticks()? {
            let x = self.at_x(tick.value);
            canvas.line(&[(x, self.top), (x, self.bottom)], GRID_LINE, GRID)?;
        }
        Ok(())
    }

    /// Horizontal grid lines.
    pub fn grid_y<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), PlotError> {
        for tick in self.y.ticks(self.y_steps()) {
            let y = self.at_y(tick.value);
            canvas.line(&[(self.left, y), (self.right, y)], GRID_LINE, GRID)?;
        }
        Ok(())
    }

    /// The line of the x axis alone.
    pub fn line_bottom<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), PlotError> {
        canvas.line(&[(self.left, self.bottom), (self.right, self.bottom)], AXIS_LINE, INK)
    }

    /// The x axis below, with its title.
    pub fn axis_bottom<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        title: &str,
    ) -> Result<(), PlotError> {
        self.line_bottom(canvas)?;
        let look = Text::of_size(TICK).align(Align::Centre);
        for tick in self.x_ticks()? {
            let x = self.at_x(tick.value);
            canvas.line(&[(x, self.bottom), (x, self.bottom + TICK_LENGTH)], AXIS_LINE, INK)?;
            canvas.text(&tick.label, (x, self.bottom + GAP + 7.0), look)?;
        }
        self.title_bottom(canvas, title)
    }

    /// The title below.
    pub fn title_bottom<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        title: &str,
    ) -> Result<(), PlotError> {
        let middle = (self.left + self.right) / 2.0;
        let look = Text::of_size(LABEL).align(Align::Centre);
        canvas.text(title, (middle, self.bottom + GAP + 33.0), look)
    }

    /// The y axis on the left.
    pub fn axis_left<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        title: &str,
    ) -> Result<(), PlotError> {
        canvas.line(&[(self.left, self.top), (self.left, self.bottom)], AXIS_LINE, INK)?;
        let look = Text::of_size(TICK).align(Align::Right);
        for tick in self.y.ticks(self.y_steps()) {
            let y = self.at_y(tick.value);
            canvas.line(&[(self.left - TICK_LENGTH, y), (self.left, y)], AXIS_LINE, INK)?;
            canvas.text(&tick.label, (self.left - GAP, y), look)?;
        }
        self.title_left(canvas, title)
    }

    /// The title on the left.
    pub fn title_left<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        title: &str,
    ) -> Result<(), PlotError> {
        let look = Text::of_size(LABEL).align(Align::Centre).upwards();
        canvas.text(title, (self.left - LEFT_ROOM + 26.0, (self.top + self.bottom) / 2.0), look)
    }

    /// A second y axis on the right.
    pub fn axis_right<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        scale: Scale,
        title: &str,
    ) -> Result<(), PlotError> {
        canvas.line(&[(self.right, self.top), (self.right, self.bottom)], AXIS_LINE, MUTED)?;
        let look = Text::of_size(TICK).colour(MUTED);
        for tick in scale.ticks(self.y_steps()) {
            let y = self.y_on(scale, tick.value);
            canvas.line(&[(self.right, y), (self.right + TICK_LENGTH, y)], AXIS_LINE, MUTED)?;
            canvas.text(&tick.label, (self.right + GAP, y), look)?;
        }
        let look = Text::of_size(LABEL).align(Align::Centre).colour(MUTED).upwards();
        canvas.text(title, (self.right + RIGHT_ROOM - 22.0, (self.top + self.bottom) / 2.0), look)
    }
}
