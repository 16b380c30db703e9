use std::fs;
use std::path::{Path, PathBuf};

use plotters::prelude::{BitMapBackend, DrawingBackend, IntoDrawingArea, SVGBackend};

use super::canvas::Ink;
use super::pdf::Page;
use super::style::{PAGE, WHITE, register};
use super::{Canvas, Figure, PlotError};
use crate::files;

/// Pixels of the PNG to the point, and units of the SVG: coordinates are whole numbers.
const SCALE: u32 = 2;
/// The PNG is drawn this much larger and averaged down, which smooths every edge.
const OVERSAMPLING: u32 = 2;

/// Draws a figure as `STEM.svg`, `STEM.png` and `STEM.pdf` in the folder `dir`, which is made if it
/// is not there, and writes its data as `STEM.csv` and, if it is a chart of them, a Vega-Lite 5
/// specification `STEM.vl.json` that draws them. Returns the paths, in this order. A file has its name
/// only once it is whole.
///
/// # Errors
/// [`PlotError`] if drawing fails or a file cannot be written.
pub fn save(dir: &Path, stem: &str, figure: &impl Figure) -> Result<Vec<PathBuf>, PlotError> {
    register()?;
    fs::create_dir_all(dir).map_err(PlotError::io(dir))?;
    let write = |extension: &str, bytes: &[u8]| {
        let path = dir.join(format!("{stem}.{extension}"));
        files::write(&path, bytes).map_err(PlotError::io(&path)).map(|()| path)
    };
    let mut paths = vec![
        write("svg", svg(figure)?.as_bytes())?,
        write("png", &png(figure)?)?,
        write("pdf", &pdf(figure)?)?,
        write("csv", figure.table().csv().as_bytes())?,
    ];
    if let Some(chart) = figure.chart() {
        let specification = chart.specification(&format!("{stem}.csv"));
        paths.push(write("vl.json", specification.as_bytes())?);
    }
    Ok(paths)
}

fn pixels(figure: &impl Figure, scale: u32) -> (u32, u32) {
    (PAGE.0 as u32 * scale, figure.height().ceil() as u32 * scale)
}

/// The figure as an SVG document.
pub(super) fn svg(figure: &impl Figure) -> Result<String, PlotError> {
    let (width, height) = pixels(figure, SCALE);
    let mut text = String::new();
    {
        let backend = SVGBackend::with_string(&mut text, (width, height));
        page(backend, figure, SCALE, Ink::Vector)?;
    }
    // The library can only make documents as large as their units.
    let large = format!("width=\"{width}\" height=\"{height}\"");
    let (width, height) = pixels(figure, 1);
    let natural = format!("width=\"{width}\" height=\"{height}\" stroke-linejoin=\"round\"");
    Ok(text.replacen(&large, &natural, 1))
}

/// The figure as the bytes of a PDF.
pub(super) fn pdf(figure: &impl Figure) -> Result<Vec<u8>, PlotError> {
    let mut drawn = Page::new(pixels(figure, SCALE))?;
    page(&mut drawn, figure, SCALE, Ink::Vector)?;
    drawn.document(SCALE as f32)
}

/// The figure as the bytes of a PNG: in memory nothing can fail to be written.
fn png(figure: &impl Figure) -> Result<Vec<u8>, PlotError> {
    let (width, height) = pixels(figure, SCALE * OVERSAMPLING);
    let mut large = vec![0u8; 3 * width as usize * height as usize];
    {
        let backend = BitMapBackend::with_buffer(&mut large, (width, height));
        page(backend, figure, SCALE * OVERSAMPLING, Ink::Pixels)?;
    }
    let mut bytes = Vec::new();
    let (columns, rows) = pixels(figure, SCALE);
    let mut encoder = png::Encoder::new(&mut bytes, columns, rows);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    encoder.set_adaptive_filter(png::AdaptiveFilterType::Adaptive);
    let mut encoder = encoder.write_header().map_err(PlotError::draw)?;
    encoder.write_image_data(&averaged(&large, width as usize)).map_err(PlotError::draw)?;
    encoder.finish().map_err(PlotError::draw)?;
    Ok(bytes)
}

fn page<DB: DrawingBackend>(
    backend: DB,
    figure: &impl Figure,
    scale: u32,
    ink: Ink,
) -> Result<(), PlotError> {
    let canvas = Canvas::new(backend.into_drawing_area(), f64::from(scale), ink);
    canvas.rectangle((0.0, 0.0), (PAGE.0, figure.height().ceil()), WHITE)?;
    figure.draw(&canvas)?;
    canvas.present()
}

/// RGB rows of `width` pixels with each square of two by two pixels made one.
fn averaged(large: &[u8], width: usize) -> Vec<u8> {
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
