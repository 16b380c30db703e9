//! Style of figures: page size, text size, titles, and the number of strategies per figure.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::style::{PAGE, TICK};

/// Points per inch and millimetres per inch.
const INCH: (f64, f64) = (72.0, 25.4);
/// Smallest and largest side of a page in millimetres.
const SIDES: (f64, f64) = (10.0, 600.0);
/// Smallest and largest font size in points.
const FONTS: (f64, f64) = (4.0, 36.0);
/// Minimum width of a page in units of the layout. Labels, an axis and a panel fit side by side on a page of this
/// width.
const LEAST_WIDTH: f64 = 300.0;

/// Style of figures.
///
/// The unit of lengths in a layout is chosen so that tick labels have size 13.5. Gaps and lines therefore scale with
/// the text. By default a page is 1000 units wide, a unit is a point, and the height depends on the kind of figure.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FigureStyle {
    /// Size of the page; `None` for a width of 1000 pt and a height that depends on the kind of figure.
    pub size: Option<FigureSize>,
    /// Size of tick labels and legends in points. Titles are scaled in proportion. `None` means 13.5, or 8 if `size` is
    /// set.
    pub font_size: Option<FontSize>,
    /// Whether titles and subtitles are drawn.
    pub titles: bool,
    /// Maximum number of strategies in a figure.
    pub strategies: usize,
}

impl Default for FigureStyle {
    fn default() -> Self {
        Self { size: None, font_size: None, titles: true, strategies: Self::STRATEGIES }
    }
}

impl FigureStyle {
    /// Default of [`strategies`](Self::strategies).
    pub const STRATEGIES: usize = 12;
    /// Default font size in points if the size of the page is set.
    pub const FONT_OF_SIZE: f64 = 8.0;

    fn font(&self) -> f64 {
        let usual = if self.size.is_some() { Self::FONT_OF_SIZE } else { TICK };
        self.font_size.map_or(usual, |font| font.0)
    }

    /// Returns the number of points per unit of the layout.
    pub(super) fn unit(&self) -> f64 {
        self.font() / TICK
    }

    /// Returns the page size in units of the layout.
    pub(super) fn page(&self) -> Page {
        let points = |millimetres: f64| millimetres / INCH.1 * INCH.0;
        Page {
            width: self.size.map_or(PAGE.0, |size| points(size.width)) / self.unit(),
            height: self.size.map(|size| points(size.height) / self.unit()),
            titles: self.titles,
        }
    }

    /// Checks that text of this font size fits on a page of this size.
    ///
    /// # Errors
    /// Returns a message that gives the minimum width and the options to change.
    pub fn check(&self) -> Result<(), String> {
        if self.page().width >= LEAST_WIDTH {
            return Ok(());
        }
        let least = (LEAST_WIDTH * self.unit() / INCH.0 * INCH.1).ceil();
        let font = self.font();
        Err(match self.size {
            Some(size) => format!(
                "--figure-size {size} is too narrow for text of {font} pt, which needs {least} mm: choose a wider \
                 figure or a smaller --font-size"
            ),
            None => format!(
                "--font-size {font} is too large for a page of {} pt: choose a smaller font, or a --figure-size of \
                 at least {least} mm",
                PAGE.0
            ),
        })
    }
}

/// Width and height of a page.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct FigureSize {
    /// Width in millimetres.
    pub width: f64,
    /// Height in millimetres. A figure exceeds this height if its text needs more room.
    pub height: f64,
}

impl std::fmt::Display for FigureSize {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}mm", self.width, self.height)
    }
}

impl FromStr for FigureSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form =
            || "write WIDTHxHEIGHT and a unit, such as 85x60mm, 8.5x6cm or 3.35x2.4in".to_string();
        let units = [("mm", 1.0), ("cm", 10.0), ("in", INCH.1)];
        let of = |(unit, by): (&str, f64)| Some((text.trim().strip_suffix(unit)?, by));
        let (sides, by) = units.into_iter().find_map(of).ok_or_else(form)?;
        let (width, height) = sides.split_once('x').ok_or_else(form)?;
        let side = |text: &str| {
            let side = text.trim().parse::<f64>().map_err(|_| form())? * by;
            // Remove the digits that result from the conversion of inches.
            let side = (side * 1000.0).round() / 1000.0;
            match (SIDES.0..=SIDES.1).contains(&side) {
                true => Ok(side),
                false => {
                    Err(format!("a side must be from {} to {} mm, not {side} mm", SIDES.0, SIDES.1))
                }
            }
        };
        Ok(Self { width: side(width)?, height: side(height)? })
    }
}

/// Font size in points.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct FontSize(pub f64);

impl FromStr for FontSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || format!("write points from {} to {}, such as 8", FONTS.0, FONTS.1);
        let number = text.trim().trim_end_matches("pt").trim_end();
        let size = number.parse::<f64>().map_err(|_| form())?;
        (FONTS.0..=FONTS.1).contains(&size).then_some(Self(size)).ok_or_else(form)
    }
}

/// Size of a page in units of the layout, before the height of the figure is known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Page {
    /// Width in units of the layout.
    pub width: f64,
    /// Height set by the style; `None` if the height depends on the figure.
    pub height: Option<f64>,
    /// Whether titles and subtitles are drawn.
    pub titles: bool,
}

impl Default for Page {
    fn default() -> Self {
        FigureStyle::default().page()
    }
}

/// A directory of figures, and their style.
#[derive(Clone, PartialEq, Debug)]
pub struct Plots {
    dir: PathBuf,
    style: FigureStyle,
}

impl Plots {
    /// Combines a directory for figures with their style.
    pub fn new(dir: &Path, style: FigureStyle) -> Self {
        Self { dir: dir.to_path_buf(), style }
    }

    /// Returns the directory in which figures are saved.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Style of the figures.
    pub fn style(&self) -> FigureStyle {
        self.style
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_sizes_with_a_unit() {
        let size = |text: &str| text.parse::<FigureSize>();
        assert_eq!(size("85x60mm"), Ok(FigureSize { width: 85.0, height: 60.0 }));
        assert_eq!(size("8.5x6cm"), size("85x60mm"));
        assert_eq!(size("3.5x2in"), Ok(FigureSize { width: 88.9, height: 50.8 }));
        for wrong in ["85x60", "85mm", "x60mm", "85*60mm", "nanx60mm", "infx60mm", "-85x60mm", ""] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        assert!(size("1x60mm").expect_err("too narrow").contains("10 to 600 mm"));
        assert_eq!("8".parse(), Ok(FontSize(8.0)));
        assert_eq!("8.5pt".parse(), Ok(FontSize(8.5)));
        for wrong in ["", "0", "-8", "100", "nan", "eight"] {
            assert!(wrong.parse::<FontSize>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn text_keeps_its_size_on_a_page_of_any_size() {
        let size = Some(FigureSize { width: 85.0, height: 60.0 });
        let column = FigureStyle { size, ..FigureStyle::default() };
        // 8 pt correspond to 13.5 units, so a page of 240.9 pt is 406.6 units wide.
        assert!((column.page().width - 406.6).abs() < 0.1, "{:?}", column.page());
        assert!(column.check().is_ok());
        let large = FigureStyle { font_size: Some(FontSize(14.0)), ..column };
        let message = large.check().expect_err("too large");
        assert!(message.contains("85x60mm") && message.contains("110 mm"), "{message}");
        assert!(FigureStyle::default().check().is_ok());
        let font = FigureStyle { font_size: Some(FontSize(27.0)), ..FigureStyle::default() };
        assert_eq!(font.page().width, 500.0);
    }
}
