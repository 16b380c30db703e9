//! Figures as PDF, with the same lines, areas and texts as the SVG. The glyphs that a document uses are copied into the
//! document. The document therefore looks the same everywhere, and its text can be searched.

use std::convert::Infallible;
use std::io::Write;

use flate2::{Compression, write::ZlibEncoder};
use pdf_writer::types::{CidFontType, FontFlags, LineJoinStyle, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str};
use plotters::style::text_anchor::HPos;
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontStyle, FontTransform,
};
use subsetter::GlyphRemapper;
use ttf_parser::Face;

use super::PlotError;
use super::canvas::Ink;

/// Distance of the control points of a quarter circle from the ends of the arc, as a multiple of the radius.
const ARC: f32 = 0.552_284_8;
/// Names of the regular and the bold font. The tag before `+` marks a font as a subset.
const NAMES: [&[u8]; 2] = [b"REPLAY+DejaVuSans", b"REPLAY+DejaVuSans-Bold"];
const SYSTEM: SystemInfo =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// Drawing back end for a PDF page.
pub struct Page {
    /// Width and height in units of the back end.
    size: (u32, u32),
    content: Content,
    /// Regular and bold font.
    fonts: [Font; 2],
}

/// A font and its glyphs in use.
struct Font {
    bytes: &'static [u8],
    face: Face<'static>,
    /// Maps glyphs of the font to glyphs of the embedded subset. The glyphs of the subset are numbered from 1.
    glyphs: GlyphRemapper,
    /// Character and width, in thousandths of an em, of each glyph in the subset.
    used: Vec<(char, f32)>,
}

impl Font {
    fn new(bytes: &'static [u8]) -> Result<Self, PlotError> {
        let face = Face::parse(bytes, 0).map_err(PlotError::draw)?;
        Ok(Self { bytes, face, glyphs: GlyphRemapper::new(), used: Vec::new() })
    }

    fn thousandths(&self, units: impl Into<f32>) -> f32 {
        units.into() * 1000.0 / f32::from(self.face.units_per_em())
    }

    /// Returns the glyphs of a text as two bytes each, and the width of the text in ems.
    fn encode(&mut self, text: &str) -> (Vec<u8>, f32) {
        let (mut bytes, mut width) = (Vec::new(), 0.0);
        for character in text.chars() {
            // Characters that are missing from the font are drawn as the first glyph, which is a box.
            let glyph = self.face.glyph_index(character).unwrap_or_default();
            let advance = self.thousandths(self.face.glyph_hor_advance(glyph).unwrap_or(0));
            let number = self.glyphs.remap(glyph.0);
            if usize::from(number) > self.used.len() {
                self.used.push((character, advance));
            }
            bytes.extend(number.to_be_bytes());
            width += advance / 1000.0;
        }
        (bytes, width)
    }

    /// Writes the font. `refs` are the references of the font and its parts.
    fn write(&self, pdf: &mut Pdf, refs: [Ref; 5], name: &[u8]) -> Result<(), PlotError> {
        let [font, descendant, descriptor, file, characters] = refs;
        let part = subsetter::subset(self.bytes, 0, &self.glyphs).map_err(PlotError::draw)?;
        pdf.stream(file, &compress(&part)?).filter(Filter::FlateDecode);
        pdf.type0_font(font)
            .base_font(Name(name))
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(descendant)
            .to_unicode(characters);
        let mut cid = pdf.cid_font(descendant);
        cid.subtype(CidFontType::Type2)
            .base_font(Name(name))
            .system_info(SYSTEM)
            .font_descriptor(descriptor)
            .cid_to_gid_map_predefined(Name(b"Identity"));
        cid.widths().consecutive(1, self.used.iter().map(|&(_, width)| width));
        cid.finish();
        let face = &self.face;
        let bounds = face.global_bounding_box();
        let [x_min, y_min, x_max, y_max] =
            [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(|at| self.thousandths(at));
        pdf.font_descriptor(descriptor)
            .name(Name(name))
            .flags(FontFlags::SYMBOLIC)
            .bbox(Rect::new(x_min, y_min, x_max, y_max))
            .italic_angle(0.0)
            .ascent(self.thousandths(face.ascender()))
            .descent(self.thousandths(face.descender()))
            .cap_height(self.thousandths(face.capital_height().unwrap_or(face.ascender())))
            .stem_v(if face.is_bold() { 140.0 } else { 80.0 })
            .font_file2(file);
        let mut map = UnicodeCmap::new(Name(b"Characters"), SYSTEM);
        (1u16..).zip(&self.used).for_each(|(glyph, &(character, _))| map.pair(glyph, character));
        pdf.cmap(characters, &compress(&map.finish())?).filter(Filter::FlateDecode);
        Ok(())
    }
}

impl Page {
    /// Returns an empty page; `size` is in units of the back end.
    pub fn new(size: (u32, u32)) -> Result<Self, PlotError> {
        let mut content = Content::new();
        content.set_line_join(LineJoinStyle::RoundJoin);
        let fonts = [dejavu::sans::regular(), dejavu::sans::bold()].map(Font::new);
        let [regular, bold] = fonts;
        Ok(Self { size, content, fonts: [regular?, bold?] })
    }

    /// Returns the document. The page size is in points, and a point has `scale` units.
    pub fn document(self, (width, height): (f32, f32), scale: f64) -> Result<Vec<u8>, PlotError> {
        let Self { content, fonts, .. } = self;
        let scale = scale as f32;
        let mut next = Ref::new(1);
        let [catalog, pages, page, stream] = std::array::from_fn(|_| next.bump());
        let mut pdf = Pdf::new();
        pdf.catalog(catalog).pages(pages);
        pdf.pages(pages).kids([page]).count(1);
        let used: Vec<_> = fonts
            .iter()
            .zip(NAMES)
            .enumerate()
            .filter(|(_, (font, _))| !font.used.is_empty())
            .map(|(number, (font, name))| {
                (key(number), font, name, std::array::from_fn(|_| next.bump()))
            })
            .collect();
        let mut written = pdf.page(page);
        written.parent(pages).contents(stream).media_box(Rect::new(0.0, 0.0, width, height));
        let mut resources = written.resources();
        let mut named = resources.fonts();
        for (key, .., refs) in &used {
            named.pair(Name(key), refs[0]);
        }
        named.finish();
        resources.finish();
        written.finish();
        // Convert coordinates in units, which grow downwards, to coordinates in points, which grow upwards.
        let mut turned = Content::new();
        turned.transform([1.0 / scale, 0.0, 0.0, -1.0 / scale, 0.0, height]);
        let content =
            [turned.finish().to_vec(), b"\n".to_vec(), content.finish().to_vec()].concat();
        pdf.stream(stream, &compress(&content)?).filter(Filter::FlateDecode);
        for (_, font, name, refs) in used {
            font.write(&mut pdf, refs, name)?;
        }
        Ok(pdf.finish())
    }

    fn draw_stroke(&mut self, points: &[BackendCoord], colour: BackendColor, width: u32) {
        let [r, g, b] = rgb(colour);
        self.content.set_stroke_rgb(r, g, b).set_line_width(width as f32);
        self.path(points);
        self.content.stroke();
    }

    fn path(&mut self, points: &[BackendCoord]) {
        for (place, &(x, y)) in points.iter().enumerate() {
            match place {
                0 => self.content.move_to(x as f32, y as f32),
                _ => self.content.line_to(x as f32, y as f32),
            };
        }
    }

    fn set_fill(&mut self, colour: BackendColor) {
        let [r, g, b] = rgb(colour);
        self.content.set_fill_rgb(r, g, b);
    }
}

/// Returns the name of a font in the resources of the page.
fn key(number: usize) -> [u8; 2] {
    if number == 0 { *b"F0" } else { *b"F1" }
}

fn rgb(colour: BackendColor) -> [f32; 3] {
    let (r, g, b) = colour.rgb;
    // Three digits are enough to distinguish all 256 values.
    [r, g, b].map(|channel| (f32::from(channel) / 255.0 * 1000.0).round() / 1000.0)
}

fn compress(bytes: &[u8]) -> Result<Vec<u8>, PlotError> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).map_err(PlotError::draw)
}

type DrawResult = Result<(), DrawingErrorKind<Infallible>>;

impl DrawingBackend for &mut Page {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> DrawResult {
        Ok(())
    }

    fn present(&mut self) -> DrawResult {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, colour: BackendColor) -> DrawResult {
        self.set_fill(colour);
        self.content.rect(x as f32, y as f32, 1.0, 1.0).fill_nonzero();
        Ok(())
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> DrawResult {
        self.draw_stroke(&[from, to], style.color(), style.stroke_width());
        Ok(())
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        upper_left: BackendCoord,
        bottom_right: BackendCoord,
        style: &S,
        fill: bool,
    ) -> DrawResult {
        let [left, top] = [upper_left.0, upper_left.1].map(|at| at as f32);
        let [right, bottom] = [bottom_right.0, bottom_right.1].map(|at| at as f32);
        if fill {
            self.set_fill(style.color());
            self.content.rect(left, top, right - left, bottom - top).fill_nonzero();
        } else {
            let [r, g, b] = rgb(style.color());
            self.content.set_stroke_rgb(r, g, b).set_line_width(style.stroke_width() as f32);
            self.content.rect(left, top, right - left, bottom - top).stroke();
        }
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> DrawResult {
        let points: Vec<_> = path.into_iter().collect();
        if points.len() > 1 {
            self.draw_stroke(&points, style.color(), style.stroke_width());
        }
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> DrawResult {
        let points: Vec<_> = corners.into_iter().collect();
        self.set_fill(style.color());
        self.path(&points);
        if !points.is_empty() {
            self.content.close_path().fill_nonzero();
        }
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        (x, y): BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> DrawResult {
        let (x, y, r) = (x as f32, y as f32, radius as f32);
        let arm = ARC * r;
        let [red, green, blue] = rgb(style.color());
        self.content
            .set_fill_rgb(red, green, blue)
            .set_stroke_rgb(red, green, blue)
            .set_line_width(style.stroke_width() as f32)
            .move_to(x + r, y)
            .cubic_to(x + r, y + arm, x + arm, y + r, x, y + r)
            .cubic_to(x - arm, y + r, x - r, y + arm, x - r, y)
            .cubic_to(x - r, y - arm, x - arm, y - r, x, y - r)
            .cubic_to(x + arm, y - r, x + r, y - arm, x + r, y)
            .close_path();
        match fill {
            true => self.content.fill_nonzero(),
            false => self.content.stroke(),
        };
        Ok(())
    }

    fn draw_text<TStyle: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &TStyle,
        (x, y): BackendCoord,
    ) -> DrawResult {
        if text.is_empty() {
            return Ok(());
        }
        let number = usize::from(matches!(style.style(), FontStyle::Bold));
        let (glyphs, width) = self.fonts[number].encode(text);
        let size = (style.size() / Ink::Vector.size()) as f32;
        let before = match style.anchor().h_pos {
            HPos::Left => 0.0,
            HPos::Center => -size * width / 2.0,
            HPos::Right => -size * width,
        };
        // Text is anchored at its top. `down` is the distance from the top to the baseline.
        let down = size * Ink::Vector.baseline() as f32;
        let (x, y) = (x as f32, y as f32);
        let matrix = match style.transform() {
            FontTransform::Rotate270 => [0.0, -1.0, -1.0, 0.0, x + down, y - before],
            _ => [1.0, 0.0, 0.0, -1.0, x + before, y + down],
        };
        self.set_fill(style.color());
        self.content
            .begin_text()
            .set_font(Name(&key(number)), size)
            .set_text_matrix(matrix)
            .show(Str(&glyphs))
            .end_text();
        Ok(())
    }
}
