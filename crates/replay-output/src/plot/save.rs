use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use plotters::prelude::{BitMapBackend, DrawingBackend, IntoDrawingArea, SVGBackend};

use super::canvas::Ink;
use super::figure_style::Page;
use super::style::{WHITE, register};
use super::{Canvas, Figure, FigureStyle, PlotError, Plots, pdf};
use replay_experiment::files::AtomicFile;

/// Number of SVG units, and minimum number of PNG pixels, per unit of the layout. A value above 1 reduces rounding
/// errors, because SVG coordinates are whole numbers.
const SCALE: u32 = 2;
/// Factor by which the PNG is enlarged for drawing. Pixels are then averaged, which smooths all edges.
const OVERSAMPLING: u32 = 2;

/// Minimum width of a PNG in pixels; a PNG is narrower if its height would otherwise exceed `HIGHEST`.
const PIXELS: f64 = 2000.0;
/// Maximum height in pixels of a PNG that is enlarged to reach the minimum width.
const HIGHEST: f64 = 8000.0;

/// Saves a figure as `STEM.svg`, `STEM.png` and `STEM.pdf`, its data as `STEM.csv`, and its title, subtitle and legend
/// as `STEM.caption.txt`, in the directory of `plots`. The directory is created if it is missing. Returns the paths of
/// the files in this order. The files get their names after all of them are complete. They replace an existing figure of
/// the same name, but no other files.
///
/// # Errors
/// [`PlotError`] if drawing fails, a file cannot be written, or a file with one of the names is not part of a figure.
pub fn save(plots: &Plots, stem: &str, figure: &impl Figure) -> Result<Vec<PathBuf>, PlotError> {
    register()?;
    let (dir, style) = (plots.dir(), plots.style());
    fs::create_dir_all(dir).map_err(PlotError::io(dir))?;
    let sheet = Sheet::of(figure, &style)?;
    let files = [
        ("svg", sheet.svg(figure)?.into_bytes()),
        ("png", sheet.png(figure)?),
        ("pdf", sheet.pdf(figure)?),
        ("csv", figure.table().csv().as_bytes().to_vec()),
        ("caption.txt", figure.head().caption().into_bytes()),
    ]
    .map(|(extension, bytes)| (dir.join(format!("{stem}.{extension}")), bytes));
    replaces_only_a_figure(&files)?;
    let mut written = Vec::new();
    for (path, bytes) in &files {
        let write = || {
            let mut file = AtomicFile::create(path)?;
            file.write_all(bytes)?;
            file.complete().map(|()| file)
        };
        written.push((path, write().map_err(PlotError::io(path))?));
    }
    for (path, file) in written {
        file.finish().map_err(PlotError::io(path))?;
    }
    Ok(files.map(|(path, _)| path).into())
}

/// Returns an error if a file with one of these names exists, unless the files are a figure of this program: they begin
/// in the same way as the new files, and the data has the same columns. The last file, the caption, may be absent.
fn replaces_only_a_figure(files: &[(PathBuf, Vec<u8>); 5]) -> Result<(), PlotError> {
    let beginning = |bytes: &[u8], path: &Path| -> usize {
        let line = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| end + 1);
        if path.extension().is_some_and(|extension| extension == "csv") { line } else { 5 }
    };
    let is_same = |(path, bytes): &(PathBuf, Vec<u8>)| {
        let new = &bytes[..beginning(bytes, path).min(bytes.len())];
        let mut old = Vec::new();
        let is_file = fs::metadata(path).is_ok_and(|meta| meta.is_file());
        let mut read = || File::open(path)?.take(new.len() as u64).read_to_end(&mut old);
        is_file && read().is_ok() && old == new
    };
    let caption = files.last().filter(|(path, _)| fs::symlink_metadata(path).is_ok());
    let is_figure = files[..4].iter().chain(caption).all(is_same);
    let existing = files.iter().find(|(path, _)| fs::symlink_metadata(path).is_ok());
    match existing {
        Some((path, _)) if !is_figure => Err(PlotError::Foreign(path.clone())),
        _ => Ok(()),
    }
}

/// Page of a figure with a style.
#[derive(Clone, Copy)]
pub(super) struct Sheet {
    /// Width and height in units of the layout.
    size: (f64, f64),
    /// Points per unit of the layout.
    unit: f64,
    /// Whether the style sets the size, so that lengths are in millimetres.
    is_sized: bool,
    titles: bool,
}

impl Sheet {
    /// Returns a page with the width that the style or the figure sets. The page is at least as high as the text of the
    /// figure needs.
    pub fn of(figure: &impl Figure, style: &FigureStyle) -> Result<Self, PlotError> {
        let page = style.page();
        let width = figure.width(&page);
        let page = Page { width, ..page };
        let needed = figure.head().height(&page)? + figure.least_body(&page)?;
        let height = match page.height {
            Some(height) => height.max(needed),
            None => figure.usual_height(&page).max(needed).ceil(),
        };
        Ok(Self {
            size: (width, height),
            unit: style.unit(),
            is_sized: page.height.is_some(),
            titles: style.titles,
        })
    }

    fn pixels(&self, scale: u32) -> (u32, u32) {
        let of = |length: f64| (length * f64::from(scale)).round() as u32;
        (of(self.size.0), of(self.size.1))
    }

    /// Formats a length as an attribute of an SVG: points, or millimetres if the style sets the size.
    fn attribute(&self, length: f64) -> String {
        let points = length * self.unit;
        let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
        match self.is_sized {
            true => format!("{}mm", rounded(points / 72.0 * 25.4)),
            false => rounded(points).to_string(),
        }
    }

    /// Renders the figure as an SVG document.
    pub fn svg(&self, figure: &impl Figure) -> Result<String, PlotError> {
        let (width, height) = self.pixels(SCALE);
        let mut text = String::new();
        {
            let backend = SVGBackend::with_string(&mut text, (width, height));
            self.page(backend, figure, SCALE, Ink::Vector)?;
        }
        // The library writes the size of the document in SVG units and keeps characters that are invalid in XML. Both
        // are corrected here.
        let large = format!("width=\"{width}\" height=\"{height}\"");
        let [width, height] = [self.size.0, self.size.1].map(|length| self.attribute(length));
        let natural = format!("width=\"{width}\" height=\"{height}\" stroke-linejoin=\"round\"");
        Ok(text.replacen(&large, &natural, 1).replace(is_invalid_in_xml, "\u{FFFD}"))
    }

    /// Renders the figure as the bytes of a PDF.
    pub fn pdf(&self, figure: &impl Figure) -> Result<Vec<u8>, PlotError> {
        let mut drawn = pdf::Page::new(self.pixels(SCALE))?;
        self.page(&mut drawn, figure, SCALE, Ink::Vector)?;
        let [width, height] = [self.size.0, self.size.1].map(|length| (length * self.unit) as f32);
        drawn.document((width, height), f64::from(SCALE) / self.unit)
    }

    /// Renders the figure as the bytes of a PNG.
    fn png(&self, figure: &impl Figure) -> Result<Vec<u8>, PlotError> {
        let wide = (PIXELS / self.size.0).ceil().min((HIGHEST / self.size.1).floor());
        let scale = SCALE.max(wide as u32);
        let (columns, rows) = self.pixels(scale);
        let (width, height) = (columns * OVERSAMPLING, rows * OVERSAMPLING);
        let mut large = vec![255u8; 3 * width as usize * height as usize];
        {
            let backend = BitMapBackend::with_buffer(&mut large, (width, height));
            self.page(backend, figure, scale * OVERSAMPLING, Ink::Pixels)?;
        }
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, columns, rows);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        encoder.set_adaptive_filter(png::AdaptiveFilterType::Adaptive);
        if self.is_sized {
            let metre = f64::from(scale) / self.unit * 72.0 / 0.0254;
            let [xppu, yppu] = [metre.round() as u32; 2];
            encoder.set_pixel_dims(Some(png::PixelDimensions {
                xppu,
                yppu,
                unit: png::Unit::Meter,
            }));
        }
        let mut encoder = encoder.write_header().map_err(PlotError::draw)?;
        encoder.write_image_data(&downsample(&large, width as usize)).map_err(PlotError::draw)?;
        encoder.finish().map_err(PlotError::draw)?;
        Ok(bytes)
    }

    fn page<DB: DrawingBackend>(
        &self,
        backend: DB,
        figure: &impl Figure,
        scale: u32,
        ink: Ink,
    ) -> Result<(), PlotError> {
        let area = backend.into_drawing_area();
        let canvas = Canvas::new(&area, f64::from(scale), ink, self.size, self.titles);
        canvas.rectangle((0.0, 0.0), self.size, WHITE)?;
        figure.draw(&canvas)?;
        area.present().map_err(PlotError::draw)
    }
}

/// Renders the figure as an SVG document in the default style.
#[cfg(test)]
pub(super) fn svg(figure: &impl Figure) -> Result<String, PlotError> {
    Sheet::of(figure, &FigureStyle::default())?.svg(figure)
}

/// Renders the figure as the bytes of a PDF in the default style.
#[cfg(test)]
pub(super) fn pdf_of(figure: &impl Figure) -> Result<Vec<u8>, PlotError> {
    Sheet::of(figure, &FigureStyle::default())?.pdf(figure)
}

/// Returns whether a character is not allowed in a document of XML 1.0 (section 2.2).
pub(super) fn is_invalid_in_xml(c: char) -> bool {
    matches!(c, '\u{0}'..='\u{8}' | '\u{B}' | '\u{C}' | '\u{E}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}')
}

/// Averages squares of 2 x 2 pixels of an RGB image that is `width` pixels wide.
fn downsample(large: &[u8], width: usize) -> Vec<u8> {
    let row = 3 * width;
    let mut small = Vec::with_capacity(large.len() / 4);
    for rows in large.chunks_exact(2 * row) {
        let (upper, lower) = rows.split_at(row);
        for (a, b) in upper.chunks_exact(6).zip(lower.chunks_exact(6)) {
            for channel in 0..3 {
                let sum: u16 = [a[channel], a[channel + 3], b[channel], b[channel + 3]]
                    .map(u16::from)
                    .iter()
                    .sum();
                small.push(((sum + 2) / 4) as u8);
            }
        }
    }
    small
}
