use plotters::coord::Shift;
use plotters::element::{Circle, PathElement, Polygon, Rectangle};
use plotters::prelude::{DrawingArea, DrawingBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{
    FontDesc, FontFamily, FontStyle, FontTransform, RGBColor, ShapeStyle, TextStyle,
};

use super::style::{CAP_HEIGHT, Colour, FONT, INK, LINE_HEIGHT};
use super::{PlotError, raster};

/// A page to draw on. Lengths are in units of the layout, in which tick labels have size 13.5. The y coordinate grows
/// downwards from the top edge.
pub struct Canvas<'a> {
    area: &'a dyn Area,
    scale: f64,
    ink: Ink,
    size: (f64, f64),
    titles: bool,
}

/// Drawing operations of a back end, in its units.
pub(super) trait Area {
    fn rectangle(&self, corners: [(i32, i32); 2], style: ShapeStyle) -> Result<(), PlotError>;
    fn path(&self, points: Vec<(i32, i32)>, style: ShapeStyle) -> Result<(), PlotError>;
    fn polygon(&self, points: Vec<(i32, i32)>, style: ShapeStyle) -> Result<(), PlotError>;
    fn circle(&self, centre: (i32, i32), radius: i32, style: ShapeStyle) -> Result<(), PlotError>;
    fn text(&self, text: &str, style: &TextStyle<'_>, at: (i32, i32)) -> Result<(), PlotError>;
}

impl<DB: DrawingBackend> Area for DrawingArea<DB, Shift> {
    fn rectangle(&self, corners: [(i32, i32); 2], style: ShapeStyle) -> Result<(), PlotError> {
        self.draw(&Rectangle::new(corners, style)).map_err(PlotError::draw)
    }

    fn path(&self, points: Vec<(i32, i32)>, style: ShapeStyle) -> Result<(), PlotError> {
        self.draw(&PathElement::new(points, style)).map_err(PlotError::draw)
    }

    fn polygon(&self, points: Vec<(i32, i32)>, style: ShapeStyle) -> Result<(), PlotError> {
        self.draw(&Polygon::new(points, style)).map_err(PlotError::draw)
    }

    fn circle(&self, centre: (i32, i32), radius: i32, style: ShapeStyle) -> Result<(), PlotError> {
        self.draw(&Circle::new(centre, radius, style)).map_err(PlotError::draw)
    }

    fn text(&self, text: &str, style: &TextStyle<'_>, at: (i32, i32)) -> Result<(), PlotError> {
        self.draw_text(text, style, at).map_err(PlotError::draw)
    }
}

/// Kind of back end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    Vector,
    Pixels,
}

impl Ink {
    /// Returns the font size per em that is passed to the plotting library.
    pub(super) fn size(self) -> f64 {
        match self {
            Ink::Vector => 1.24,
            Ink::Pixels => LINE_HEIGHT,
        }
    }

    /// Returns the distance, in ems, from the top of a text, as defined by the plotting library, down to the baseline.
    pub(super) fn baseline(self) -> f64 {
        match self {
            Ink::Vector => 0.76,
            Ink::Pixels => LINE_HEIGHT / 2.0,
        }
    }
}

/// Alignment: the part of a text that is at the x coordinate of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Align {
    /// The start of the text is at the x coordinate.
    Left,
    /// The middle of the text is at the x coordinate.
    Centre,
    /// The end of the text is at the x coordinate.
    Right,
}

/// Text style.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// Size of an em in units of the layout.
    pub size: f64,
    /// Bold instead of regular.
    pub bold: bool,
    /// Colour.
    pub colour: Colour,
    /// Part of the text that is at its x coordinate.
    pub align: Align,
    /// Whether the text reads upwards.
    pub upwards: bool,
}

impl Text {
    /// Returns the style of regular, left-aligned text of this size in the default colour.
    pub fn of_size(size: f64) -> Self {
        Self { size, bold: false, colour: INK, align: Align::Left, upwards: false }
    }

    /// Sets the alignment.
    pub fn align(self, align: Align) -> Self {
        Self { align, ..self }
    }

    /// Sets the colour.
    pub fn colour(self, colour: Colour) -> Self {
        Self { colour, ..self }
    }

    /// Makes the text bold.
    pub fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// Makes the text read upwards.
    pub fn upwards(self) -> Self {
        Self { upwards: true, ..self }
    }

    fn style(self) -> FontStyle {
        if self.bold { FontStyle::Bold } else { FontStyle::Normal }
    }

    /// Returns the width of a text in units of the layout.
    ///
    /// # Errors
    /// [`PlotError::Draw`] if the font is missing.
    pub fn width(self, text: &str) -> Result<f64, PlotError> {
        // Measure the text at a large size, because the library rounds to whole pixels.
        const MEASURE: f64 = 1000.0;
        let font = FontDesc::new(FontFamily::Name(FONT), MEASURE * LINE_HEIGHT, self.style());
        let (width, _) = font.box_size(text).map_err(PlotError::draw)?;
        Ok(f64::from(width) / MEASURE * self.size)
    }
}

impl<'a> Canvas<'a> {
    /// Creates a page of this size in units of the layout, on a back end with `scale` pixels per unit.
    pub(super) fn new(
        area: &'a dyn Area,
        scale: f64,
        ink: Ink,
        size: (f64, f64),
        titles: bool,
    ) -> Self {
        Self { area, scale, ink, size, titles }
    }

    /// Returns the width of the page in units of the layout.
    pub fn width(&self) -> f64 {
        self.size.0
    }

    /// Returns the height of the page in units of the layout.
    pub fn height(&self) -> f64 {
        self.size.1
    }

    /// Returns whether the page includes titles and subtitles.
    pub fn has_titles(&self) -> bool {
        self.titles
    }

    fn at(&self, (x, y): (f64, f64)) -> (i32, i32) {
        ((x * self.scale).round() as i32, (y * self.scale).round() as i32)
    }

    fn stroke(&self, width: f64, colour: Colour) -> ShapeStyle {
        let stroke_width = (width * self.scale).round().max(1.0) as u32;
        ShapeStyle { stroke_width, ..ShapeStyle::from(RGBColor::from(colour)) }
    }

    fn fill(colour: Colour) -> ShapeStyle {
        ShapeStyle::from(RGBColor::from(colour)).filled()
    }

    /// Draws a filled rectangle between two opposite corners. The rectangle is at least one pixel wide and one pixel
    /// high.
    ///
    /// # Errors
    /// [`PlotError::Draw`] if the back end fails.
    pub fn rectangle(&self, a: (f64, f64), b: (f64, f64), colour: Colour) -> Result<(), PlotError> {
        let (a, b) = (self.at(a), self.at(b));
        let upper_left = (a.0.min(b.0), a.1.min(b.1));
        let lower_right = (a.0.max(b.0).max(upper_left.0 + 1), a.1.max(b.1).max(upper_left.1 + 1));
        self.area.rectangle([upper_left, lower_right], Self::fill(colour))
    }

    /// Draws a line through points.
    ///
    /// # Errors
    /// [`PlotError::Draw`] if the back end fails.
    pub fn line(&self, points: &[(f64, f64)], width: f64, colour: Colour) -> Result<(), PlotError> {
        let mut pixels: Vec<_> = points.iter().map(|&point| self.at(point)).collect();
        pixels.dedup();
        let style = self.stroke(width, colour);
        if self.ink == Ink::Vector {
            return self.area.path(pixels, style);
        }
        // The library draws wide paths with spikes at sharp corners and makes some slopes too thin. Each segment is
        // therefore filled row by row, and the joints are round, as in the SVG.
        for pair in pixels.windows(2) {
            for (upper_left, lower_right) in raster::segment(pair[0], pair[1], style.stroke_width) {
                self.area.rectangle([upper_left, lower_right], Self::fill(colour))?;
            }
        }
        for &joint in pixels.iter().skip(1).rev().skip(1) {
            self.area.circle(joint, (style.stroke_width / 2) as i32, Self::fill(colour))?;
        }
        Ok(())
    }

    /// Draws a dashed straight line.
    ///
    /// # Errors
    /// [`PlotError::Draw`] if the back end fails.
    pub fn dashes(
        &self,
        from: (f64, f64),
        to: (f64, f64),
        width: f64,
        colour: Colour,
    ) -> Result<(), PlotError> {
        const DASH: f64 = 5.0;
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let along = |distance: f64| {
            let share = (distance / length).min(1.0);
            (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share)
        };
        for dash in 0..(length / (2.0 * DASH)).ceil() as usize {
            let begin = 2.0 * DASH * dash as f64;
            self.line(&[along(begin), along(begin + DASH)], width, colour)?;
        }
        Ok(())
    }

    /// Draws a filled polygon.
    ///
    /// # Errors
    /// [`PlotError::Draw`] if the back end fails.
    pub fn polygon(&self, points: &[(f64, f64)], colour: Colour) -> Result<(), PlotError> {
        let pixels: Vec<_> = points.iter().map(|&point| self.at(point)).collect();
        self.area.polygon(pixels, Self::fill(colour))
    }

    /// Draws a filled disc.
    ///
    /// # Errors
    /// [`PlotError::Draw`] if the back end fails.
    pub fn disc(&self, centre: (f64, f64), radius: f64, colour: Colour) -> Result<(), PlotError> {
        let radius = (radius * self.scale).round() as i32;
        self.area.circle(self.at(centre), radius, Self::fill(colour))
    }

    /// Draws an upright cross. `arm` is the length of an arm, and `half` is half of the thickness of an arm.
    ///
    /// # Errors
    /// [`PlotError::Draw`] if the back end fails.
    pub fn cross(
        &self,
        (x, y): (f64, f64),
        arm: f64,
        half: f64,
        colour: Colour,
    ) -> Result<(), PlotError> {
        self.rectangle((x - arm, y - half), (x + arm, y + half), colour)?;
        self.rectangle((x - half, y - arm), (x + half, y + arm), colour)
    }

    /// Draws a text at x, with its digits and capitals vertically centred on y. For text that reads upwards, the roles
    /// of x and y are exchanged.
    ///
    /// # Errors
    /// [`PlotError::Draw`] if the back end fails.
    pub fn text(&self, text: &str, (x, y): (f64, f64), look: Text) -> Result<(), PlotError> {
        let up = (self.ink.baseline() - CAP_HEIGHT / 2.0) * look.size;
        let at = if look.upwards { (x - up, y) } else { (x, y - up) };
        let horizontal = match look.align {
            Align::Left => HPos::Left,
            Align::Centre => HPos::Center,
            Align::Right => HPos::Right,
        };
        let turn = if look.upwards { FontTransform::Rotate270 } else { FontTransform::None };
        let size = look.size * self.scale * self.ink.size();
        let font = FontDesc::new(FontFamily::Name(FONT), size, look.style()).transform(turn);
        let colour = RGBColor::from(look.colour);
        let style = font.color(&colour).pos(Pos::new(horizontal, VPos::Top));
        self.area.text(text, &style, self.at(at))
    }
}
