//! Who holds which processors over time, as one animated SVG.
//!
//! Plain SMIL: a job's processors are visible from its start to its end, a cursor runs along a line of time, and all
//! begins again. No script, no network; where animation is not supported the machine is empty.

use std::fmt::Write;

use super::machine::colour_of;
use super::style::{Colour, GRID, INK, MARGIN, MUTED, SUBTITLE, TITLE, WHITE};
use crate::number::grouped;

/// A film of a machine.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Film {
    /// Title.
    pub title: String,
    /// What else a reader must know.
    pub subtitle: String,
    /// First and last second of the trace.
    pub window: [i64; 2],
    /// How long the film takes, in seconds.
    pub duration: u32,
    /// Columns, rows, slices.
    pub sides: [usize; 3],
    /// What is seen, in order of starts.
    pub scenes: Vec<Scene>,
}

/// A job with its processors.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scene {
    /// Number of the job.
    pub job: i64,
    /// From this second.
    pub start: i64,
    /// To this one.
    pub end: i64,
    /// Its processors as they lie on the page: x fastest, then y, then z.
    pub places: Vec<usize>,
}

const GAP: f64 = 24.0;
const TOP: f64 = 92.0;
/// Cells smaller than this have no lines between them.
const SMALL: f64 = 6.0;
/// Instants that the clock shows.
const TICKS: i64 = 60;

impl Film {
    /// The document.
    pub fn svg(&self) -> String {
        let [columns, rows, slices] = self.sides.map(|side| side.max(1));
        // As many slices side by side as make the page about square.
        let across = (1..=slices)
            .find(|across| across * columns >= slices.div_ceil(*across) * rows)
            .unwrap_or(slices);
        let down = slices.div_ceil(across);
        let wide = (across * columns) as f64;
        let cell = ((720.0 - GAP * across as f64) / wide).clamp(2.0, 48.0);
        let width = (wide * cell + GAP * (across - 1) as f64 + 2.0 * MARGIN).max(560.0);
        let bottom = TOP + down as f64 * (rows as f64 * cell + GAP);
        let height = bottom + 44.0;
        let mut svg = String::new();
        let _ = write!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"DejaVu Sans, Verdana, sans-serif\">\n<title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
            escaped(&self.title)
        );
        self.text(&mut svg, (MARGIN, 34.0), TITLE - 4.0, INK, &self.title);
        self.text(&mut svg, (MARGIN, 58.0), SUBTITLE - 2.0, MUTED, &self.subtitle);
        let corner = |slice: usize| {
            let (column, line) = ((slice % across) as f64, (slice / across) as f64);
            let left = MARGIN + column * (columns as f64 * cell + GAP);
            (left, TOP + line * (rows as f64 * cell + GAP))
        };
        for slice in 0..slices {
            let (left, top) = corner(slice);
            let _ = writeln!(
                svg,
                "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"#ffffff\" stroke=\"{}\"/>",
                columns as f64 * cell,
                rows as f64 * cell,
                hex(MUTED)
            );
            if cell >= SMALL {
                let (right, bottom) = (left + columns as f64 * cell, top + rows as f64 * cell);
                let mut lines = String::new();
                for x in (1..columns).map(|x| left + x as f64 * cell) {
                    let _ = write!(lines, "M{x:.1} {top:.1}V{bottom:.1}");
                }
                for y in (1..rows).map(|y| top + y as f64 * cell) {
                    let _ = write!(lines, "M{left:.1} {y:.1}H{right:.1}");
                }
                let colour = hex(GRID);
                let _ = writeln!(svg, "<path fill=\"none\" stroke=\"{colour}\" d=\"{lines}\"/>");
            }
            if slices > 1 {
                let at = (left, top - 5.0);
                self.text(&mut svg, at, 12.0, MUTED, &format!("z = {slice}"));
            }
        }
        for scene in &self.scenes {
            self.scene(&mut svg, scene, cell, corner);
        }
        self.clock(&mut svg, width, bottom);
        svg += "</svg>\n";
        svg
    }

    fn text(&self, svg: &mut String, (x, y): (f64, f64), size: f64, colour: Colour, text: &str) {
        let (fill, text) = (hex(colour), escaped(text));
        let _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" fill=\"{fill}\">{text}</text>"
        );
    }

    /// Second of the film of a second of the trace.
    fn at(&self, time: i64) -> f64 {
        let [from, until] = self.window;
        let share = (time.clamp(from, until) - from) as f64 / (until - from).max(1) as f64;
        share * f64::from(self.duration)
    }

    /// Visible from one second of the trace to another.
    fn shown(&self, start: i64, end: i64) -> String {
        let (begin, end) = (self.at(start), self.at(end));
        // What is too short to be seen is seen for a frame.
        let seconds = (end - begin).max(0.02);
        format!(
            "<set attributeName=\"visibility\" to=\"visible\" begin=\"film.begin+{begin:.3}s\" dur=\"{seconds:.3}s\"/>"
        )
    }

    fn scene(
        &self,
        svg: &mut String,
        scene: &Scene,
        cell: f64,
        corner: impl Fn(usize) -> (f64, f64),
    ) {
        let [columns, rows, _] = self.sides.map(|side| side.max(1));
        let mut places = scene.places.clone();
        places.sort_unstable();
        let (mut path, mut at) = (String::new(), (0.0, 0.0));
        // Cells that are too small for a hair between them are drawn together.
        let hair = if cell >= SMALL { 1.0 } else { 0.0 };
        let follows =
            |a: &usize, b: &usize| hair == 0.0 && a + 1 == *b && !b.is_multiple_of(columns);
        for run in places.chunk_by(follows) {
            let (x, y, z) = (run[0] % columns, run[0] / columns % rows, run[0] / columns / rows);
            let (left, top) = corner(z);
            let (left, top) = (left + x as f64 * cell, top + (rows - 1 - y) as f64 * cell);
            let (wide, high) = (run.len() as f64 * cell - hair, cell - hair);
            at = (left + cell / 2.0, top + cell / 2.0);
            let _ = write!(
                path,
                "M{:.1} {:.1}h{wide:.1}v{high:.1}h-{wide:.1}z",
                left + hair / 2.0,
                top + hair / 2.0
            );
        }
        let colour = colour_of(scene.job);
        // The number of the job in the last of its cells, where there is room for it.
        let number = scene.job.to_string();
        let size = (1.5 * cell / number.len().max(3) as f64).min(13.0);
        let label = match size >= 7.0 {
            true => format!(
                "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{size:.1}\" text-anchor=\"middle\" fill=\"{}\">{number}</text>",
                at.0,
                at.1 + 0.36 * size,
                hex(if colour.is_dark() { WHITE } else { INK })
            ),
            false => String::new(),
        };

        let _ = writeln!(
            svg,
            "<g visibility=\"hidden\"><title>job {}</title><path fill=\"{}\" d=\"{path}\"/>{label}{}</g>",
            scene.job,
            hex(colour),
            self.shown(scene.start, scene.end)
        );
    }

    /// The line of time, its cursor, and the time in figures.
    fn clock(&self, svg: &mut String, width: f64, bottom: f64) {
        let (left, right) = (MARGIN, width - MARGIN);
        let y = bottom + 12.0;
        let line = hex(GRID);
        let _ = writeln!(
            svg,
            "<rect x=\"{left:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"3\" fill=\"{line}\"/>\n<rect x=\"{left:.1}\" y=\"{:.1}\" width=\"3\" height=\"11\" fill=\"{}\"><animate id=\"film\" attributeName=\"x\" from=\"{left:.1}\" to=\"{:.1}\" begin=\"0s;film.end\" dur=\"{}s\"/></rect>",
            right - left,
            y - 4.0,
            hex(INK),
            right - 3.0,
            self.duration
        );
        let [from, until] = self.window;
        for tick in 0..TICKS {
            let at = |tick: i64| from + (until - from) * tick / TICKS;
            let _ = writeln!(
                svg,
                "<text x=\"{left:.1}\" y=\"{:.1}\" font-size=\"12.5\" fill=\"{}\" visibility=\"hidden\">{} s{}</text>",
                y + 24.0,
                hex(INK),
                grouped(at(tick)),
                self.shown(at(tick), at(tick + 1))
            );
        }
    }
}

fn hex(Colour(r, g, b): Colour) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
