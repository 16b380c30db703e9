use plotters::prelude::DrawingBackend;

use super::chart::Chart;
use super::style::PAGE;
use super::{Canvas, PlotError, Table};

/// Something that can be drawn, and the numbers it shows.
pub trait Figure {
    /// Height of the page in points; its width is 1000.
    fn height(&self) -> f64 {
        PAGE.1
    }

    /// Draws it on an empty white page.
    ///
    /// # Errors
    /// [`PlotError::Draw`] if the back end fails.
    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), PlotError>;

    /// The data shown.
    fn table(&self) -> Table;

    /// The columns of the table as marks on axes, with the scales that [`draw`](Self::draw) has; `None` for what is
    /// no chart of columns.
    fn chart(&self) -> Option<Chart>;
}
