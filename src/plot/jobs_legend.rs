//! Which job has which colour, in columns of a fixed width: so the height is known before anything is drawn.

use plotters::prelude::DrawingBackend;

use super::number::grouped;
use super::style::{Colour, INK, MARGIN, PAGE, TICK};
use super::{Canvas, PlotError, Text};

/// Entries side by side, and the most lines.
const ACROSS: usize = 5;
const LINES: usize = 4;
/// Between lines.
const LINE: f64 = 21.0;

/// A job with its processors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its number.
    pub job: i64,
    /// How many it holds.
    pub processors: u64,
    /// Its colour.
    pub colour: Colour,
}

/// The largest jobs, and how many more there are.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Legend {
    entries: Vec<Entry>,
    more: usize,
}

impl Legend {
    /// Those that have room, the largest first.
    pub fn of(mut entries: Vec<Entry>) -> Self {
        entries.sort_by_key(|entry| (std::cmp::Reverse(entry.processors), entry.job));
        let all = entries.len();
        if all > ACROSS * LINES {
            // The last place says how many more.
            entries.truncate(ACROSS * LINES - 1);
        }
        let more = all - entries.len();
        Self { entries, more }
    }

    /// Its height in points; 0 if there is no entry.
    pub fn height(&self) -> f64 {
        let places = self.entries.len() + usize::from(self.more > 0);
        match places.div_ceil(ACROSS) {
            0 => 0.0,
            lines => LINE * lines as f64 + 10.0,
        }
    }

    /// Draws it below a header that ends at `top`.
    pub fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>, top: f64) -> Result<(), PlotError> {
        let look = Text::of_size(TICK).colour(INK);
        let wide = (PAGE.0 - 2.0 * MARGIN) / ACROSS as f64;
        let at = |place: usize| {
            (MARGIN + (place % ACROSS) as f64 * wide, top + (place / ACROSS) as f64 * LINE)
        };
        for (place, entry) in self.entries.iter().enumerate() {
            let (x, y) = at(place);
            canvas.rectangle((x, y - 6.0), (x + 12.0, y + 6.0), entry.colour)?;
            let Entry { job, processors, .. } = entry;
            let plural = if *processors == 1 { "" } else { "s" };
            let processors = grouped(*processors as f64, 0);
            let words = format!("{job}: {processors} processor{plural}");
            canvas.text(&words, (x + 19.0, y), look)?;
        }
        if self.more > 0 {
            let more = format!("and {} more", grouped(self.more as f64, 0));
            canvas.text(&more, at(self.entries.len()), look)?;
        }
        Ok(())
    }
}
