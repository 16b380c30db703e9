//! Default style of figures: sizes in points, colours, and the font.

use plotters::style::{FontStyle, RGBColor, register_font};

use super::PlotError;

/// Width and usual height of a figure in points.
pub const PAGE: (f64, f64) = (1000.0, 620.0);
/// Minimum distance between the content and the edge of the page.
pub const MARGIN: f64 = 24.0;
/// Font sizes in points.
pub const TITLE: f64 = 21.0;
pub const SUBTITLE: f64 = 14.5;
pub const LABEL: f64 = 14.5;
pub const TICK: f64 = 13.5;
/// Line widths in points.
pub const DATA_LINE: f64 = 2.0;
pub const AXIS_LINE: f64 = 1.0;
pub const GRID_LINE: f64 = 0.75;

/// An opaque RGB colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Colour(pub u8, pub u8, pub u8);

impl Colour {
    /// Interpolates between this colour (share 0) and another colour (share 1).
    pub fn towards(self, other: Colour, share: f64) -> Colour {
        let mix =
            |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * share).round() as u8;
        Colour(mix(self.0, other.0), mix(self.1, other.1), mix(self.2, other.2))
    }

    /// Returns the name of a colour of [`PALETTE`] or of the ink; `None` for other colours.
    pub fn name(self) -> Option<&'static str> {
        const NAMES: [&str; 7] =
            ["blue", "vermilion", "green", "purple", "orange", "light blue", "black"];
        let place = PALETTE.iter().position(|&colour| colour == self);
        place.map(|place| NAMES[place]).or((self == INK).then_some("black"))
    }

    /// Returns whether white text on this colour is easier to read than black text.
    pub fn is_dark(self) -> bool {
        0.299 * f64::from(self.0) + 0.587 * f64::from(self.1) + 0.114 * f64::from(self.2) < 128.0
    }
}

impl From<Colour> for RGBColor {
    fn from(Colour(r, g, b): Colour) -> Self {
        RGBColor(r, g, b)
    }
}

pub const WHITE: Colour = Colour(255, 255, 255);
pub const INK: Colour = Colour(34, 34, 34);
pub const MUTED: Colour = Colour(96, 96, 96);
pub const GRID: Colour = Colour(225, 225, 225);

pub const BLUE: Colour = Colour(0x00, 0x72, 0xB2);
pub const VERMILION: Colour = Colour(0xD5, 0x5E, 0x00);
pub const GREEN: Colour = Colour(0x00, 0x9E, 0x73);
pub const PURPLE: Colour = Colour(0xCC, 0x79, 0xA7);
pub const ORANGE: Colour = Colour(0xE6, 0x9F, 0x00);
pub const SKY: Colour = Colour(0x56, 0xB4, 0xE9);

/// Colours of categories in order of use. The colours are those of Okabe and Ito, which can be distinguished with any
/// type of colour vision. The yellow is omitted because it is too light on white.
pub const PALETTE: [Colour; 7] = [BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, Colour(0, 0, 0)];

/// Sequential colour map from low to high values (viridis). The lightness of the colours increases steadily, so that
/// the colour map is readable in greyscale.
const SEQUENTIAL: [Colour; 9] = [
    Colour(68, 1, 84),
    Colour(72, 40, 120),
    Colour(62, 74, 137),
    Colour(49, 104, 142),
    Colour(38, 130, 142),
    Colour(31, 158, 137),
    Colour(53, 183, 121),
    Colour(110, 206, 88),
    Colour(253, 231, 37),
];

/// Returns the colour of a value; `share` is the position of the value in its range, from 0 to 1.
pub fn sequential(share: f64) -> Colour {
    let at = share.clamp(0.0, 1.0) * (SEQUENTIAL.len() - 1) as f64;
    let below = (at as usize).min(SEQUENTIAL.len() - 2);
    SEQUENTIAL[below].towards(SEQUENTIAL[below + 1], at - below as f64)
}

/// Name of the font. An SVG contains only the name of the font, and fallbacks for viewers that do not have the font.
pub const FONT: &str = "DejaVu Sans, Verdana, sans-serif";
/// Height of a line of DejaVu Sans (ascent and descent) in ems.
pub const LINE_HEIGHT: f64 = 1.1641;
/// Height of the capitals and digits of DejaVu Sans in ems.
pub const CAP_HEIGHT: f64 = 0.729;

/// Registers the embedded font with the plotting library; repeated calls are harmless.
pub fn register() -> Result<(), PlotError> {
    let faces =
        [(FontStyle::Normal, dejavu::sans::regular()), (FontStyle::Bold, dejavu::sans::bold())];
    for (style, bytes) in faces {
        register_font(FONT, style, bytes)
            .map_err(|_| PlotError::draw("cannot read the embedded font"))?;
    }
    Ok(())
}
