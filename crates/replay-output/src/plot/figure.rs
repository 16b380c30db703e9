use plotters::prelude::DrawingBackend;

use super::header::Head;
use super::look::Page;
use super::style::PAGE;
use super::{Canvas, PlotError, Table};

/// Something that can be drawn, and the numbers it shows.
///
/// Lengths are units of the layout: ticks are 13.5 high, and a page is 1000 wide unless another size is asked for.
pub trait Figure {
    /// What stands above it.
    fn head(&self) -> Head;

    /// Width of the page, which may be less than that of the default.
    fn width(&self, page: &Page) -> f64 {
        page.width
    }

    /// Height of the page if none is asked for.
    fn usual_height(&self, _page: &Page) -> f64 {
        PAGE.1
    }

    /// The least height of what is below the head, so that no text lies over another.
    ///
    /// # Errors
    /// [`PlotError::Draw`] if the font is missing.
    fn least_body(&self, _page: &Page) -> Result<f64, PlotError> {
        Ok(176.0)
    }

    /// Draws it on an empty white page.
    ///
    /// # Errors
    /// [`PlotError::Draw`] if the back end fails.
    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), PlotError>;

    /// The data shown.
    fn table(&self) -> Table;
}
