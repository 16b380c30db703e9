//! Processors and their jobs over time as one animated SVG.
//!
//! The animation uses only SMIL, so it needs no script and no network. The processors of a job are visible from the
//! start to the end of the job, and a cursor moves along a time line. The last frame is held for two seconds, then the
//! animation repeats. Viewers that do not support animation show an empty machine.

use std::collections::HashMap;
use std::fmt::Write;

use super::PlotError;
use super::Text;
use super::figure_style::FigureStyle;
use super::header::break_lines;
use super::job_names::JobNames;
use super::machine::{COLOURS, colour_of};
use super::save::is_invalid_in_xml;
use super::style::{Colour, GRID, INK, MARGIN, MUTED, SUBTITLE, TITLE, WHITE, register};
use replay_engine::number::grouped;

/// Animation of the jobs on a machine.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Film {
    /// Figure title.
    pub title: String,
    /// Subtitle.
    pub subtitle: String,
    /// First and last second of the shown window, in seconds of the trace.
    pub window: [i64; 2],
    /// Length of the animation in seconds.
    pub duration: u32,
    /// Numbers of columns, rows and slices.
    pub sides: [usize; 3],
    /// Names of the rows, slice by slice, from the lowest row; empty for rows without names.
    pub rows: Vec<String>,
    /// One flag per cell, in page order: true if the cell has no processor. The list is empty if all cells have
    /// processors.
    pub absent: Vec<bool>,
    /// Names of the slices; empty for slices that are named by z.
    pub slices: Vec<String>,
    /// Names of jobs.
    pub names: JobNames,
    /// Jobs in order of their start times.
    pub jobs: Vec<FilmJob>,
}

/// A job and the processors that it holds during one interval.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FilmJob {
    /// Job number.
    pub job: i64,
    /// Start of the interval in seconds of the trace.
    pub start: i64,
    /// End of the interval in seconds of the trace.
    pub end: i64,
    /// Indices of the processors in page order, in which x varies fastest, then y, then z.
    pub places: Vec<usize>,
}

const GAP: f64 = 24.0;
/// Font size of the names of rows.
const ROW_NAME: f64 = 11.0;
/// Room above the machine, without the room for titles.
const TOP: f64 = 34.0;
/// Smallest and largest default width.
const WIDTH: (f64, f64) = (560.0, 720.0);
/// Number of seconds for which the last frame is held.
const PAUSE: u32 = 2;
/// Minimum side of cells that are separated by lines.
const SMALL: f64 = 6.0;
/// Number of different times that the clock shows.
const TICKS: i64 = 60;

impl Film {
    /// Renders the SVG document.
    ///
    /// # Errors
    /// [`PlotError::Draw`] if the font is missing.
    pub fn svg(&self, style: &FigureStyle) -> Result<String, PlotError> {
        register()?;
        let fixed_width = style.size.map(|_| style.page().width);
        let [columns, rows, slices] = self.sides.map(|side| side.max(1));
        // Choose the number of slices side by side so that the page is approximately square.
        let across = (1..=slices)
            .find(|across| across * columns >= slices.div_ceil(*across) * rows)
            .unwrap_or(slices);
        let down = slices.div_ceil(across);
        let wide = (across * columns) as f64;
        let room = fixed_width.map_or(WIDTH.1, |width| width - 2.0 * MARGIN + GAP);
        let look = Text::of_size(ROW_NAME);
        let names = self.rows.iter().map(|name| look.width(name));
        let names = names.collect::<Result<Vec<f64>, _>>()?.into_iter().fold(0.0, f64::max);
        // Room for the names to the left of each slice.
        let names = if names > 0.0 { names + 6.0 } else { 0.0 };
        let cell = ((room - (GAP + names) * across as f64) / wide).clamp(2.0, 48.0);
        let width = wide * cell + (GAP + names) * across as f64 - GAP + 2.0 * MARGIN;
        let width = fixed_width.unwrap_or(width.max(WIDTH.0));
        let (mut lines, mut y) = (Vec::new(), 8.0);
        if style.titles {
            let parts = [(&self.title, TITLE - 4.0, INK), (&self.subtitle, SUBTITLE - 2.0, MUTED)];
            for (text, size, colour) in parts {
                for line in break_lines(text, Text::of_size(size), width - 2.0 * MARGIN)? {
                    y += size + 7.0;
                    lines.push((y, size, colour, line));
                }
            }
        }
        let head = y + TOP - 8.0;
        let bottom = head + down as f64 * (rows as f64 * cell + GAP);
        let height = bottom + 44.0;
        let mut svg = String::new();
        let unit = style.unit();
        let sides = [width, height].map(|length| match fixed_width {
            Some(_) => format!("{:.2}mm", length * unit / 72.0 * 25.4),
            None => format!("{:.0}", length * unit),
        });
        let _ = write!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"DejaVu Sans, Verdana, sans-serif\">\n<title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
            sides[0],
            sides[1],
            escaped(&self.title)
        );
        for (y, size, colour, line) in lines {
            self.text(&mut svg, (MARGIN, y), size, colour, &line);
        }
        let corner = |slice: usize| {
            let (column, line) = ((slice % across) as f64, (slice / across) as f64);
            let left = MARGIN + names + column * (columns as f64 * cell + names + GAP);
            (left, head + line * (rows as f64 * cell + GAP))
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
                let name = self.slices.get(slice).cloned().unwrap_or(format!("z = {slice}"));
                self.text(&mut svg, at, 12.0, MUTED, &name);
            }
            for row in 0..rows {
                let y = top + (rows - 1 - row) as f64 * cell;
                let name = self.rows.get(slice * rows + row).filter(|_| cell >= ROW_NAME);
                if let Some(name) = name {
                    let x = left - 6.0 - look.width(name)?;
                    let at = (x, y + cell / 2.0 + 0.36 * ROW_NAME);
                    self.text(&mut svg, at, ROW_NAME, MUTED, name);
                }
                let cells = (0..columns)
                    .filter(|x| self.absent.get((slice * rows + row) * columns + x) == Some(&true));
                for x in cells {
                    let x = left + x as f64 * cell;
                    let colour = hex(GRID);
                    let _ = writeln!(
                        svg,
                        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{cell:.1}\" height=\"{cell:.1}\" fill=\"{colour}\"/>"
                    );
                }
            }
        }
        let colours = self.colours();
        for scene in &self.jobs {
            self.draw_job(&mut svg, scene, colours[&scene.job], cell, corner);
        }
        self.clock(&mut svg, width, bottom);
        svg += "</svg>\n";
        Ok(svg)
    }

    /// Assigns each job a colour for the whole animation. Jobs that are visible at the same time have different colours
    /// if there are enough colours. Each job is assigned the colour that has been unused for the longest time.
    fn colours(&self) -> HashMap<i64, Colour> {
        let mut spans: HashMap<i64, [i64; 2]> = HashMap::new();
        for scene in &self.jobs {
            let span = spans.entry(scene.job).or_insert([scene.start, scene.end]);
            *span = [span[0].min(scene.start), span[1].max(scene.end)];
        }
        let mut spans: Vec<(i64, [i64; 2])> = spans.into_iter().collect();
        spans.sort_unstable_by_key(|&(job, [start, _])| (start, job));
        let mut until = [i64::MIN; COLOURS];
        let colour = |(job, [_, end]): (i64, [i64; 2])| {
            // Use the colour whose last job ends first; if several colours qualify, use the first of these colours.
            let place = (0..COLOURS).min_by_key(|&place| until[place]).unwrap_or(0);
            until[place] = end;
            (job, colour_of(place as i64))
        };
        spans.into_iter().map(colour).collect()
    }

    fn text(&self, svg: &mut String, (x, y): (f64, f64), size: f64, colour: Colour, text: &str) {
        let (fill, text) = (hex(colour), escaped(text));
        let _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" fill=\"{fill}\">{text}</text>"
        );
    }

    /// Converts a second of the trace to a second of the animation.
    fn at(&self, time: i64) -> f64 {
        let [from, until] = self.window;
        let share = (time.clamp(from, until) - from) as f64 / (until - from).max(1) as f64;
        share * f64::from(self.duration)
    }

    /// Returns a SMIL element that makes its parent visible between two seconds of the trace.
    fn visible_during(&self, start: i64, end: i64) -> String {
        let begin = self.at(start);
        // The last frame of the window is held during the pause.
        let pause = if end >= self.window[1] { f64::from(PAUSE) } else { 0.0 };
        let end = self.at(end) + pause;
        // An interval that is too short to see is shown for one frame.
        let seconds = (end - begin).max(0.02);
        format!(
            "<set attributeName=\"visibility\" to=\"visible\" begin=\"film.begin+{begin:.3}s\" dur=\"{seconds:.3}s\"/>"
        )
    }

    fn draw_job(
        &self,
        svg: &mut String,
        scene: &FilmJob,
        colour: Colour,
        cell: f64,
        corner: impl Fn(usize) -> (f64, f64),
    ) {
        let [columns, rows, _] = self.sides.map(|side| side.max(1));
        let mut places = scene.places.clone();
        places.sort_unstable();
        let (mut path, mut at) = (String::new(), (0.0, 0.0));
        // Cells that are too small for a gap between them are drawn as one shape.
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
        // Print the job number in the last cell if there is room.
        let number = self.names.of(scene.job);
        let size = (1.5 * cell / number.chars().count().max(3) as f64).min(13.0);
        let number = escaped(&number);
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
            number,
            hex(colour),
            self.visible_during(scene.start, scene.end)
        );
    }

    /// Draws the time line, its cursor, and the time in digits.
    fn clock(&self, svg: &mut String, width: f64, bottom: f64) {
        let (left, right) = (MARGIN, width - MARGIN);
        let y = bottom + 12.0;
        let line = hex(GRID);
        let _ = writeln!(
            svg,
            "<rect x=\"{left:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"3\" fill=\"{line}\"/>\n<rect x=\"{left:.1}\" y=\"{:.1}\" width=\"3\" height=\"11\" fill=\"{}\"><animate id=\"film\" attributeName=\"x\" values=\"{left:.1};{:.1};{:.1}\" keyTimes=\"0;{:.4};1\" begin=\"0s;film.end\" dur=\"{}s\"/></rect>",
            right - left,
            y - 4.0,
            hex(INK),
            right - 3.0,
            right - 3.0,
            f64::from(self.duration) / f64::from(self.duration + PAUSE),
            self.duration + PAUSE
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
                self.visible_during(at(tick), at(tick + 1))
            );
        }
    }
}

fn hex(Colour(r, g, b): Colour) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace(is_invalid_in_xml, "\u{FFFD}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn film(jobs: Vec<FilmJob>) -> Film {
        Film { window: [0, 100], duration: 20, sides: [4, 4, 1], jobs, ..Film::default() }
    }

    fn scene(job: i64, start: i64, end: i64) -> FilmJob {
        FilmJob { job, start, end, places: vec![0] }
    }

    #[test]
    fn jobs_visible_at_the_same_time_have_different_colours() {
        // Some job numbers differ by a multiple of the number of colours, and one job ran twice.
        let apart = COLOURS as i64;
        let film_of_three_jobs = film(vec![
            scene(7, 0, 50),
            scene(7 + apart, 10, 60),
            scene(7 + 2 * apart, 20, 30),
            scene(7, 70, 90),
        ]);
        let colours = film_of_three_jobs.colours();
        assert_eq!(colours.len(), 3);
        let mut distinct: Vec<String> = colours.values().map(|colour| hex(*colour)).collect();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), 3);
    }

    #[test]
    fn the_last_frame_is_held() {
        let drawn = film(vec![scene(1, 0, 100), scene(2, 0, 50)]).svg(&FigureStyle::default());
        let drawn = drawn.expect("the font");
        // The animation lasts twenty seconds plus the pause. During the pause, only jobs that run at the end are
        // visible.
        assert!(drawn.contains("dur=\"22s\"") && drawn.contains("keyTimes=\"0;0.9091;1\""));
        assert!(drawn.contains("begin=\"film.begin+0.000s\" dur=\"22.000s\""));
        assert!(drawn.contains("begin=\"film.begin+0.000s\" dur=\"10.000s\""));
    }

    #[test]
    fn rows_have_names_and_cells_without_processors_are_grey() {
        let rows = ["b1", "b0", "", "b2"].map(str::to_string).to_vec();
        let mut absent = vec![false; 16];
        absent[3] = true;
        let slices = vec!["b0 to b1".to_string(), "b2 to b2".to_string()];
        let film = Film { rows, absent, slices, sides: [4, 2, 2], ..film(Vec::new()) };
        let drawn = film.svg(&FigureStyle::default()).expect("the font");
        for name in [">b0<", ">b1<", ">b2<", ">b0 to b1<", ">b2 to b2<"] {
            assert_eq!(drawn.matches(name).count(), 1, "{name}");
        }
        assert!(drawn.find(">b1<") < drawn.find(">b0<") && !drawn.contains("z = "));
        assert_eq!(drawn.matches(&format!("height=\"48.0\" fill=\"{}\"", hex(GRID))).count(), 1);
    }

    #[test]
    fn escapes_markup_in_names() {
        let title = "<script>alert(1)</script> & \"q\" \u{1}".to_string();
        let film = Film { title: title.clone(), subtitle: title, ..film(Vec::new()) };
        let drawn = film.svg(&FigureStyle::default()).expect("the font");
        assert!(!drawn.contains("<script") && drawn.contains("&lt;script&gt;"));
        assert!(drawn.contains("&amp;") && !drawn.contains('\u{1}'));
    }

    #[test]
    fn a_film_has_the_requested_size() {
        let style =
            FigureStyle { size: "85x60mm".parse().ok(), titles: false, ..FigureStyle::default() };
        let film = Film { title: "a title".to_string(), ..film(Vec::new()) };
        let drawn = film.svg(&style).expect("the font");
        assert!(drawn.contains("width=\"85.00mm\""), "{drawn}");
        assert_eq!(
            drawn.matches("a title").count(),
            1,
            "the title occurs only as the document title"
        );
    }
}
