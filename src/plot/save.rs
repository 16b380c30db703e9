use std::fs;
use std::path::{Path, PathBuf};

use plotters::prelude::{BitMapBackend, DrawingBackend, IntoDrawingArea, SVGBackend};

use super::canvas::Ink;
use super::style::{PAGE, WHITE, register};
use super::{Canvas, Figure, PlotError};

/// Pixels of the PNG to the point, and units of the SVG: coordinates are whole numbers.
const SCALE: u32 = 2;
/// The PNG is drawn this much larger and averaged down, which smooths every edge.
const OVERSAMPLING: u32 = 2;

/// Draws a figure as `STEM.svg` and `STEM.png` in the folder `dir`, which is made if it
/// is not there, and its data as `STEM.csv`. Returns the three paths. A file has its name
/// only once it is whole.
///
/// # Errors
/// [`PlotError`] if drawing fails or a file cannot be written.
pub fn save(dir: &Path, stem: &str, figure: &impl Figure) -> Result<[PathBuf; 3], PlotError> {
    register()?;
    fs::create_dir_all(dir).map_err(PlotError::io(dir))?;
    let path = |extension: &str| dir.join(format!("{stem}.{extension}"));

    let part = path("svg.part");
    fs::write(&part, svg(figure)?).map_err(PlotError::io(&part))?;
    let named = [path("svg"), path("png"), path("csv")];
    fs::rename(&part, &named[0]).map_err(PlotError::io(&named[0]))?;

    // The encoder takes the format from the last extension.
    let part = path("part.png");
    png(figure, &part)?;
    fs::rename(&part, &named[1]).map_err(PlotError::io(&named[1]))?;

    let part = path("csv.part");
    fs::write(&part, figure.table().csv()).map_err(PlotError::io(&part))?;
    fs::rename(&part, &named[2]).map_err(PlotError::io(&named[2]))?;
    Ok(named)
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

fn png(figure: &impl Figure, path: &Path) -> Result<(), PlotError> {
    let (width, height) = pixels(figure, SCALE * OVERSAMPLING);
    let mut large = vec![0u8; 3 * width as usize * height as usize];
    {
        let backend = BitMapBackend::with_buffer(&mut large, (width, height));
        page(backend, figure, SCALE * OVERSAMPLING, Ink::Pixels)?;
    }
    let size = pixels(figure, SCALE);
    let averaged = averaged(&large, width as usize);
    let mut file = BitMapBackend::new(path, size);
    file.blit_bitmap((0, 0), size, &averaged).map_err(PlotError::draw)?;
    file.present().map_err(PlotError::draw)
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
