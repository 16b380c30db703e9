//! Which job has which colour, in columns of a fixed width: so the height is known before anything is drawn.

use plotters::prelude::DrawingBackend;

use super::number::grouped;
use super::style::{Colour, INK, MARGIN, TICK};
use super::{Canvas, PlotError, Text};

/// Width of an entry, and the most lines above a map.
pub const ENTRY: f64 = 175.0;
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
    /// Entries side by side.
    across: usize,
}

impl Legend {
    /// Those that have room on a page of a width, the largest first.
    pub fn of(mut entries: Vec<Entry>, width: f64) -> Self {
        let across = (((width - 2.0 * MARGIN) / ENTRY) as usize).max(1);
        Self::in_lines(&mut entries, across, LINES)
    }

    /// Those that have room in one column of a height, the largest first.
    pub fn column(mut entries: Vec<Entry>, height: f64) -> Self {
        Self::in_lines(&mut entries, 1, ((height / LINE) as usize).max(2))
    }

    fn in_lines(entries: &mut Vec<Entry>, across: usize, lines: usize) -> Self {
        entries.sort_by_key(|entry| (std::cmp::Reverse(entry.processors), entry.job));
        let all = entries.len();
        if all > across * lines {
            // The last place says how many more.
            entries.truncate(across * lines - 1);
        }
        let more = all - entries.len();
        Self { entries: std::mem::take(entries), more, across }
    }

    /// Its height in points; 0 if there is no entry.
    pub fn height(&self) -> f64 {
        let places = self.entries.len() + usize::from(self.more > 0);
        match places.div_ceil(self.across.max(1)) {
            0 => 0.0,
            lines => LINE * lines as f64 + 10.0,
        }
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Draws it from the middle of its first line at the left on.
    pub fn draw<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        (left, top): (f64, f64),
    ) -> Result<(), PlotError> {
        let look = Text::of_size(TICK).colour(INK);
        let across = self.across.max(1);
        let wide = (canvas.width() - MARGIN - left) / across as f64;
        let at = |place: usize| {
            (left + (place % across) as f64 * wide, top + (place / across) as f64 * LINE)
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
