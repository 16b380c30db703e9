//! Legend of job colours in columns of a fixed width, so that the height is known before drawing.

use super::job_names::JobNames;
use super::number::grouped;
use super::style::{Colour, INK, MARGIN, TICK};
use super::{Canvas, PlotError, Text};

/// Width of an entry.
pub const ENTRY: f64 = 175.0;
/// Maximum number of legend lines above a map.
const LINES: usize = 4;
/// Distance between lines.
const LINE: f64 = 21.0;

/// Legend entry of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Job number.
    pub job: i64,
    /// Number of processors of the job.
    pub processors: u64,
    /// Colour of the job.
    pub colour: Colour,
}

/// Entries of the largest jobs, and the number of jobs without an entry.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Legend {
    entries: Vec<Entry>,
    more: usize,
    /// Number of entries side by side.
    across: usize,
}

impl Legend {
    /// Returns a legend of the largest jobs that fit above a map on a page of this width, in descending order of size.
    pub fn of(mut entries: Vec<Entry>, width: f64) -> Self {
        let across = (((width - 2.0 * MARGIN) / ENTRY) as usize).max(1);
        Self::in_lines(&mut entries, across, LINES)
    }

    /// Returns a legend of the largest jobs that fit in one column of this height, in descending order of size.
    pub fn column(mut entries: Vec<Entry>, height: f64) -> Self {
        Self::in_lines(&mut entries, 1, ((height / LINE) as usize).max(2))
    }

    fn in_lines(entries: &mut Vec<Entry>, across: usize, lines: usize) -> Self {
        entries.sort_by_key(|entry| (std::cmp::Reverse(entry.processors), entry.job));
        let all = entries.len();
        if all > across * lines {
            // The last entry contains the number of jobs without an entry of their own.
            entries.truncate(across * lines - 1);
        }
        let more = all - entries.len();
        Self { entries: std::mem::take(entries), more, across }
    }

    /// Returns the height in units of the layout; 0 if there is no entry.
    pub fn height(&self) -> f64 {
        let places = self.entries.len() + usize::from(self.more > 0);
        match places.div_ceil(self.across.max(1)) {
            0 => 0.0,
            lines => LINE * lines as f64 + 10.0,
        }
    }

    /// Returns whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Draws the legend. `left` is the x coordinate of the left end, and `top` is the y coordinate of the middle of the
    /// first line.
    pub fn draw(
        &self,
        canvas: &Canvas<'_>,
        (left, top): (f64, f64),
        names: &JobNames,
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
            let label = format!("{}: {processors} processor{plural}", names.of(*job));
            canvas.text(&label, (x + 19.0, y), look)?;
        }
        if self.more > 0 {
            let more = format!("and {} more", grouped(self.more as f64, 0));
            canvas.text(&more, at(self.entries.len()), look)?;
        }
        Ok(())
    }
}
