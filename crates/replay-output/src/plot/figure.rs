use super::figure_style::Page;
use super::header::Head;
use super::style::PAGE;
use super::{Canvas, PlotError, Table};

/// A figure and the numbers that it shows.
///
/// Lengths are in units of the layout, in which tick labels have size 13.5. A page is 1000 units
/// wide if [`FigureStyle`](super::FigureStyle) does not set another size.
pub trait Figure {
    /// Returns the title, subtitle and legend, which are drawn above the figure.
    fn head(&self) -> Head;

    /// Returns the width of the page. A figure may be narrower than the default page.
    fn width(&self, page: &Page) -> f64 {
        page.width
    }

    /// Returns the height of the page if the style does not set a height.
    fn usual_height(&self, _page: &Page) -> f64 {
        PAGE.1
    }

    /// Returns the minimum height of the area below the head; at this height, no texts overlap.
    ///
    /// # Errors
    /// [`PlotError::Draw`] if the font is missing.
    fn least_body(&self, _page: &Page) -> Result<f64, PlotError> {
        Ok(176.0)
    }

    /// Draws the figure on an empty white page.
    ///
    /// # Errors
    /// [`PlotError::Draw`] if the back end fails.
    fn draw(&self, canvas: &Canvas<'_>) -> Result<(), PlotError>;

    /// Returns the numbers that the figure shows.
    fn table(&self) -> Table;
}
