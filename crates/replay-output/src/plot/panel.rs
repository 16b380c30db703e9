use super::header::break_lines;
use super::scale::{Scale, Tick};
use super::style::{AXIS_LINE, GRID, GRID_LINE, INK, LABEL, MUTED, TICK};
use super::{Align, Canvas, PlotError, Text};

/// A rectangle of the page with a scale in each direction. The axes of the panel are drawn separately.
#[derive(Clone, Copy, Debug)]
pub struct Panel {
    /// Left edge in units of the layout.
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

/// Distance of tick labels from their axis.
const GAP: f64 = 8.0;
/// Length of the ticks.
const TICK_LENGTH: f64 = 4.0;
/// Minimum number of ticks of an axis, if there is room for their labels.
const FEWEST_TICKS: usize = 3;
/// Maximum number of steps into which an axis may be divided in order to reach [`FEWEST_TICKS`].
const DENSEST: usize = 16;
/// Minimum gap between labels side by side.
const LABEL_GAP: f64 = 12.0;
/// Distance between the lines of an axis title.
const TITLE_LINE: f64 = 17.0;
/// Maximum length by which an axis title extends beyond each end of its axis.
const BEYOND: f64 = 16.0;
/// Minimum distance between tick labels of a y axis.
const Y_STEP: f64 = 17.0;
/// Room for the left axis, from the edge of the page to the panel, with a title of one line.
pub const LEFT_ROOM: f64 = 92.0;
/// Room for the bottom axis, with a title of one line.
pub const BOTTOM_ROOM: f64 = 66.0;
/// Room to the right of a panel that has no axis on the right; half of the last tick label fits into this room.
pub const END_ROOM: f64 = 40.0;

impl Panel {
    /// Returns a panel that fills the page below `top`, without the room on the left and at the bottom that is needed
    /// for axes with these titles.
    pub fn of_page(
        canvas: &Canvas<'_>,
        top: f64,
        [x, y]: [Scale; 2],
        [x_title, y_title]: [&str; 2],
    ) -> Result<Self, PlotError> {
        let bottom = canvas.height() - bottom_room(x_title, canvas.width())?;
        let left = left_room(y_title, &[y], bottom - top)?;
        Ok(Self { left, top, right: canvas.width() - END_ROOM, bottom, x, y })
    }

    /// Returns the x coordinate of a value on the x axis.
    pub fn at_x(&self, value: f64) -> f64 {
        self.left + self.x.share(value) * (self.right - self.left)
    }

    /// Returns the y coordinate of a value on the y axis.
    pub fn at_y(&self, value: f64) -> f64 {
        self.y_on(self.y, value)
    }

    /// Returns the y coordinate of a value on another y scale.
    pub fn y_on(&self, scale: Scale, value: f64) -> f64 {
        self.bottom - scale.share(value) * (self.bottom - self.top)
    }

    /// Returns the coordinates of the point with these two values.
    pub fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.at_x(x), self.at_y(y))
    }

    /// Returns the ticks of the x axis. The number of ticks is limited by the room for their labels.
    fn x_ticks(&self) -> Result<Vec<Tick>, PlotError> {
        let most = ((self.right - self.left) / 70.0).max(2.0) as usize;
        let mut fitting = None;
        for steps in (2..=most).rev() {
            let ticks = self.x.ticks(steps);
            if !self.crowded(&ticks)? {
                fitting = Some(ticks);
                break;
            }
        }
        let ticks = match fitting {
            Some(ticks) => ticks,
            // The scale has fixed steps, or there is no room for two labels.
            None => self.thinned(&self.x.ticks(2))?,
        };
        for steps in most + 1..=DENSEST {
            if ticks.len() >= FEWEST_TICKS {
                break;
            }
            let denser = self.x.ticks(steps);
            if denser.len() >= FEWEST_TICKS && !self.crowded(&denser)? {
                return Ok(denser);
            }
        }
        if ticks.len() < FEWEST_TICKS && self.x.is_log_from_zero() {
            let decades = self.thinned(&self.x.ticks(DENSEST / 2))?;
            return Ok(if decades.len() > ticks.len() { decades } else { ticks });
        }
        if ticks.len() < FEWEST_TICKS && self.x.is_log() {
            // Ticks of a logarithmic axis have unequal distances, so use all ticks with enough room.
            let mut some: Vec<Tick> = Vec::new();
            for tick in self.x.ticks(DENSEST) {
                some.push(tick);
                if self.crowded(&some)? {
                    some.pop();
                }
            }
            if some.len() > ticks.len() {
                return Ok(some);
            }
        }
        Ok(ticks)
    }

    /// Returns whether labels of ticks on the x axis overlap.
    pub fn crowded(&self, ticks: &[Tick]) -> Result<bool, PlotError> {
        let look = Text::of_size(TICK);
        for pair in ticks.windows(2) {
            let widths = look.width(&pair[0].label)? + look.width(&pair[1].label)?;
            let apart = self.at_x(pair[1].value) - self.at_x(pair[0].value);
            if apart < widths / 2.0 + LABEL_GAP {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the ticks of a y axis. The number of ticks is limited by the room for their labels.
    fn y_ticks(&self, scale: Scale) -> Vec<Tick> {
        y_ticks(scale, self.bottom - self.top)
    }

    /// Draws vertical grid lines.
    pub fn grid_x(&self, canvas: &Canvas<'_>) -> Result<(), PlotError> {
        for tick in self.x_ticks()? {
            let x = self.at_x(tick.value);
            canvas.line(&[(x, self.top), (x, self.bottom)], GRID_LINE, GRID)?;
        }
        Ok(())
    }

    /// Draws horizontal grid lines.
    pub fn grid_y(&self, canvas: &Canvas<'_>) -> Result<(), PlotError> {
        for tick in self.y_ticks(self.y) {
            let y = self.at_y(tick.value);
            canvas.line(&[(self.left, y), (self.right, y)], GRID_LINE, GRID)?;
        }
        Ok(())
    }

    /// Draws the x axis as a line without ticks.
    pub fn line_bottom(&self, canvas: &Canvas<'_>) -> Result<(), PlotError> {
        canvas.line(&[(self.left, self.bottom), (self.right, self.bottom)], AXIS_LINE, INK)
    }

    /// Draws the x axis below the panel, with its title.
    pub fn axis_bottom(&self, canvas: &Canvas<'_>, title: &str) -> Result<(), PlotError> {
        self.axis_bottom_with(canvas, &self.x_ticks()?, title)
    }

    /// Draws the x axis below the panel, with its title broken into lines of at most the width `room`.
    pub fn axis_bottom_within(
        &self,
        canvas: &Canvas<'_>,
        title: &str,
        room: f64,
    ) -> Result<(), PlotError> {
        self.axis_bottom_with(canvas, &self.x_ticks()?, "")?;
        self.title_within(canvas, title, room)
    }

    /// Draws the x axis below the panel with the given ticks.
    pub fn axis_bottom_with(
        &self,
        canvas: &Canvas<'_>,
        ticks: &[Tick],
        title: &str,
    ) -> Result<(), PlotError> {
        self.line_bottom(canvas)?;
        let look = Text::of_size(TICK).align(Align::Centre);
        for tick in ticks {
            let x = self.at_x(tick.value);
            canvas.line(&[(x, self.bottom), (x, self.bottom + TICK_LENGTH)], AXIS_LINE, INK)?;
            // The last label may be wider than the room to the right of the panel.
            let most = canvas.width() - look.width(&tick.label)? / 2.0 - 4.0;
            canvas.text(&tick.label, (x.min(most), self.bottom + GAP + 7.0), look)?;
        }
        self.title_bottom(canvas, title)
    }

    /// Returns every n-th tick of the x axis. The number n is the smallest number for which the labels do not overlap.
    pub fn thinned(&self, ticks: &[Tick]) -> Result<Vec<Tick>, PlotError> {
        let mut every = 1;
        loop {
            let some: Vec<Tick> = ticks.iter().step_by(every).cloned().collect();
            if some.len() < 2 || !self.crowded(&some)? {
                return Ok(some);
            }
            every += 1;
        }
    }

    /// Draws the title of the x axis.
    pub fn title_bottom(&self, canvas: &Canvas<'_>, title: &str) -> Result<(), PlotError> {
        let middle = (self.left + self.right) / 2.0;
        let room = 2.0 * (middle.min(canvas.width() - middle) - EDGE);
        self.title_within(canvas, title, room)
    }

    /// Draws the title of the x axis, broken into lines of at most the width `room`. The width is limited because
    /// panels beside this panel also have titles.
    pub fn title_within(
        &self,
        canvas: &Canvas<'_>,
        title: &str,
        room: f64,
    ) -> Result<(), PlotError> {
        let middle = (self.left + self.right) / 2.0;
        let look = Text::of_size(LABEL).align(Align::Centre);
        for (line, text) in break_lines(title, look, room)?.iter().enumerate() {
            let y = self.bottom + GAP + 33.0 + line as f64 * TITLE_LINE;
            canvas.text(text, (middle, y), look)?;
        }
        Ok(())
    }

    /// Draws the y axis on the left.
    pub fn axis_left(&self, canvas: &Canvas<'_>, title: &str) -> Result<(), PlotError> {
        self.axis_left_with(canvas, &self.y_ticks(self.y), title)
    }

    /// Draws the y axis on the left with the given ticks.
    pub fn axis_left_with(
        &self,
        canvas: &Canvas<'_>,
        ticks: &[Tick],
        title: &str,
    ) -> Result<(), PlotError> {
        canvas.line(&[(self.left, self.top), (self.left, self.bottom)], AXIS_LINE, INK)?;
        let look = Text::of_size(TICK).align(Align::Right);
        for tick in ticks {
            let y = self.at_y(tick.value);
            canvas.line(&[(self.left - TICK_LENGTH, y), (self.left, y)], AXIS_LINE, INK)?;
            canvas.text(&tick.label, (self.left - GAP, y), look)?;
        }
        self.title_beside(canvas, widest(ticks)?, title)
    }

    /// Moves the left side of the panel to make room beside the panel for these ticks instead of the ticks of the
    /// scale.
    pub fn fit_left(&mut self, ticks: &[Tick]) -> Result<(), PlotError> {
        self.left += widest(ticks)? - widest(&self.y_ticks(self.y))?;
        Ok(())
    }

    /// Draws the title of the left y axis.
    pub fn title_left(&self, canvas: &Canvas<'_>, title: &str) -> Result<(), PlotError> {
        self.title_beside(canvas, widest(&self.y_ticks(self.y))?, title)
    }

    /// Draws the title of the left y axis beside labels of the width `ticks`.
    fn title_beside(&self, canvas: &Canvas<'_>, ticks: f64, title: &str) -> Result<(), PlotError> {
        let look = Text::of_size(LABEL).align(Align::Centre).upwards();
        let lines = break_lines(title, look, self.bottom - self.top + 2.0 * BEYOND)?;
        for (line, text) in lines.iter().rev().enumerate() {
            let x = self.left - GAP - ticks - 16.0 - line as f64 * TITLE_LINE;
            canvas.text(text, (x.max(EDGE), (self.top + self.bottom) / 2.0), look)?;
        }
        Ok(())
    }

    /// Draws a second y axis on the right.
    pub fn axis_right(
        &self,
        canvas: &Canvas<'_>,
        scale: Scale,
        title: &str,
    ) -> Result<(), PlotError> {
        canvas.line(&[(self.right, self.top), (self.right, self.bottom)], AXIS_LINE, MUTED)?;
        let look = Text::of_size(TICK).colour(MUTED);
        for tick in self.y_ticks(scale) {
            let y = self.y_on(scale, tick.value);
            canvas.line(&[(self.right, y), (self.right + TICK_LENGTH, y)], AXIS_LINE, MUTED)?;
            canvas.text(&tick.label, (self.right + GAP, y), look)?;
        }
        let look = Text::of_size(LABEL).align(Align::Centre).colour(MUTED).upwards();
        let ticks = widest(&self.y_ticks(scale))?;
        let lines = break_lines(title, look, self.bottom - self.top + 2.0 * BEYOND)?;
        for (line, text) in lines.iter().enumerate() {
            let x = self.right + GAP + ticks + 16.0 + line as f64 * TITLE_LINE;
            canvas.text(text, (x, (self.top + self.bottom) / 2.0), look)?;
        }
        Ok(())
    }
}

/// Half the height of a title at the edge of the page, plus a gap.
const EDGE: f64 = 16.0;

fn y_ticks(scale: Scale, height: f64) -> Vec<Tick> {
    let about = (height / 52.0).max(2.0) as usize;
    let mut ticks = scale.ticks(about);
    // On a low panel, the labels of a scale with fixed steps may be too close to each other.
    let near = |ticks: &[Tick]| {
        let apart = |pair: &[Tick]| scale.share(pair[1].value) - scale.share(pair[0].value);
        ticks.windows(2).any(|pair| apart(pair) * height < Y_STEP)
    };
    if ticks.len() < FEWEST_TICKS {
        let denser = (about + 1..=DENSEST).map(|steps| scale.ticks(steps));
        let mut enough = denser.filter(|some| some.len() >= FEWEST_TICKS && !near(some));
        ticks = enough.next().unwrap_or(ticks);
    }
    let every = |every: usize| ticks.iter().step_by(every).cloned().collect::<Vec<_>>();
    (1..ticks.len().max(2)).map(every).find(|some| !near(some)).unwrap_or_default()
}

fn widest(ticks: &[Tick]) -> Result<f64, PlotError> {
    let look = Text::of_size(TICK);
    ticks.iter().try_fold(0.0_f64, |widest, tick| Ok(widest.max(look.width(&tick.label)?)))
}

/// Returns the room that is needed to the right of a panel for a second y axis with this scale and title.
pub fn right_room(title: &str, scale: Scale, height: f64) -> Result<f64, PlotError> {
    left_room(title, &[scale], height)
}

/// Returns the room that is needed to the left of panels for y axes with these scales and this title.
pub fn left_room(title: &str, scales: &[Scale], height: f64) -> Result<f64, PlotError> {
    let look = Text::of_size(LABEL);
    let lines = break_lines(title, look, height + 2.0 * BEYOND)?.len();
    let mut ticks = 0.0_f64;
    for scale in scales {
        ticks = ticks.max(widest(&y_ticks(*scale, height))?);
    }
    Ok(EDGE + lines.saturating_sub(1) as f64 * TITLE_LINE + 16.0 + ticks + GAP)
}

/// Returns the room that is needed below a panel for tick labels and title, if the panel is as wide as the page.
pub fn bottom_room(title: &str, width: f64) -> Result<f64, PlotError> {
    let (left, right) = (LEFT_ROOM + TITLE_LINE, width - END_ROOM);
    let middle = (left + right) / 2.0;
    let room = 2.0 * (middle.min(width - middle) - EDGE);
    let lines = break_lines(title, Text::of_size(LABEL), room)?.len();
    Ok(BOTTOM_ROOM + lines.saturating_sub(1) as f64 * TITLE_LINE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Axes on narrow pages have three labels if there is room.
    #[test]
    fn short_axes_have_three_ticks() {
        crate::plot::style::register().expect("the font");
        let of = |x: Scale, width: f64| {
            let y = Scale::linear(0.0, 1.0);
            let panel = Panel { left: 0.0, top: 0.0, right: width, bottom: 50.0, x, y };
            let ticks = panel.x_ticks().expect("the font");
            assert!(!panel.crowded(&ticks).expect("the font"));
            ticks.len()
        };
        for (scale, width) in [
            (Scale::log(0.97, 4.6), 100.0),
            (Scale::log(0.97, 2.1), 110.0),
            (Scale::linear(0.0, 80.0), 130.0),
            (Scale::linear(0.0, 8.0), 90.0),
            (Scale::log_from_zero(60_000.0), 230.0),
        ] {
            assert!(of(scale, width) >= FEWEST_TICKS, "{scale:?} on {width}");
        }
        assert!(y_ticks(Scale::linear(0.0, 12.0), 60.0).len() >= FEWEST_TICKS);
    }
}
