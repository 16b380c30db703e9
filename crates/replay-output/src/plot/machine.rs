use super::edge::{Cells, Edge};
use super::figure_style::Page;
use super::header::Head;
use super::job_names::JobNames;
use super::jobs_legend::{ENTRY, Entry, Legend};
use super::style::{Colour, GRID, INK, MARGIN, MUTED, PAGE, TICK, WHITE};
use super::{Align, Canvas, Figure, PlotError, Table, Text};

/// Map of the jobs on the processors of a machine, with a square cell per processor and a colour per job.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MachineMap {
    /// Figure title.
    pub title: String,
    /// Subtitle clauses.
    pub subtitle: Vec<String>,
    /// Columns, rows and slices of the machine.
    pub sides: [usize; 3],
    /// Index of the job on each processor; `None` if the processor has no job. Processors are in page order: x varies
    /// fastest, then y, then z.
    pub holders: Vec<Option<usize>>,
    /// Numbers of the jobs.
    pub jobs: Vec<i64>,
    /// Names of the jobs.
    pub names: JobNames,
    /// Index of the highlighted job.
    pub highlighted: Option<usize>,
    /// One flag per processor, in the order of `holders`: true if the processor is out of service. The list is empty if
    /// all processors are in service.
    pub down: Vec<bool>,
    /// Boundaries at the ends of the rows and at the ends of the columns.
    pub edges: [Edge; 2],
    /// Name of each slice, and the number of the first column of the slice; if empty, slices are named `z = 0` and so
    /// on.
    pub slices: Vec<(String, usize)>,
    /// Name of each row, slice by slice, from the lowest; if empty, rows are numbered.
    pub rows: Vec<String>,
    /// One flag per cell, in the order of `holders`: true if the cell has no processor. The list is empty if all cells
    /// have a processor.
    pub absent: Vec<bool>,
}

/// Gap between slices.
const GAP: f64 = 30.0;
/// Room to the left of a slice for row numbers, and below a slice for column numbers.
const LABELS: f64 = 30.0;
/// Smallest and largest side of a cell in units of the layout.
const CELL: (f64, f64) = (2.0, 52.0);
/// Minimum side of a cell that contains the number of its job.
const NUMBERED: f64 = 26.0;
/// Approximate position of the first slice.
const TOP: f64 = 112.0;
/// Room below the last slice.
const LAST: f64 = 4.0;
/// Minimum width of a page. On narrower pages, lines of the head would be broken too often.
const NARROWEST: f64 = 580.0;
/// Minimum side of a cell. If cells would be smaller, the page is made higher.
const LEAST_CELL: f64 = 5.0;

/// Layout of a map.
struct MapLayout {
    /// Number of slices side by side.
    across: usize,
    /// Side of a cell.
    cell: f64,
    legend: Legend,
    /// Whether the legend is beside the slices instead of above them.
    beside: bool,
}

impl MachineMap {
    /// Returns the number of slices side by side and the side of a cell for the given width and height.
    fn layout(&self, width: f64, height: f64) -> (usize, f64) {
        let [columns, rows, slices] = self.sides.map(|side| side.max(1));
        let cell = |across: usize| {
            let down = slices.div_ceil(across) as f64;
            let wide = (width - 2.0 * MARGIN + GAP) / across as f64 - LABELS - GAP;
            let high = height / down - LABELS - GAP;
            (wide / columns as f64).min(high / rows as f64).clamp(CELL.0, CELL.1)
        };
        // Choose the largest cells.
        let across = (1..=slices).max_by(|&a, &b| cell(a).total_cmp(&cell(b)).then(b.cmp(&a)));
        let across = across.unwrap_or(1);
        (across, cell(across))
    }

    /// Returns the layout on a page of the usual height, which is approximately the width of the default page.
    fn usual_layout(&self, page: &Page) -> (usize, f64) {
        self.layout(page.width, PAGE.0 - TOP)
    }

    /// Returns the total height of the slices with their numbers and gaps.
    fn body(&self, across: usize, cell: f64) -> f64 {
        let [_, rows, slices] = self.sides.map(|side| side.max(1));
        slices.div_ceil(across) as f64 * (rows as f64 * cell + LABELS + GAP)
    }

    /// Returns the legend entries of the jobs.
    fn entries(&self) -> Vec<Entry> {
        let mut held = vec![0; self.jobs.len()];
        for &place in self.holders.iter().flatten() {
            if let Some(count) = held.get_mut(place) {
                *count += 1;
            }
        }
        let entry = |(place, (&job, &processors)): (usize, (&i64, &u64))| Entry {
            job,
            processors,
            colour: self.colour(place),
        };
        self.jobs.iter().zip(&held).enumerate().map(entry).collect()
    }

    /// Returns the legend above the slices; empty if cells have room for job numbers.
    fn legend(&self, width: f64, cell: f64) -> Legend {
        if cell >= NUMBERED { Legend::default() } else { Legend::of(self.entries(), width) }
    }

    /// Returns the layout for the given width and height below the head. The legend is beside the slices if there is
    /// room, and above the slices otherwise.
    fn plan(&self, width: f64, height: f64) -> MapLayout {
        let height = height - self.above() - LAST;
        let (across, cell) = self.layout(width, height);
        let wide = self.wide(across, cell);
        if cell >= NUMBERED || self.jobs.is_empty() {
            return MapLayout { across, cell, legend: Legend::default(), beside: false };
        }
        if width - 2.0 * MARGIN - wide >= ENTRY + GAP {
            let legend = Legend::column(self.entries(), height - LABELS - GAP);
            return MapLayout { across, cell, legend, beside: true };
        }
        let legend = self.legend(width, cell);
        let (across, cell) = self.layout(width, height - legend.height());
        MapLayout { across, cell, legend, beside: false }
    }

    /// Returns the total width of the slices side by side, with their numbers and gaps.
    fn wide(&self, across: usize, cell: f64) -> f64 {
        across as f64 * (self.sides[0].max(1) as f64 * cell + LABELS + GAP) - GAP
    }

    /// Returns the height of the name above the first slice.
    fn above(&self) -> f64 {
        if self.sides[2] > 1 { 8.0 } else { 0.0 }
    }

    fn slice_name(&self, z: usize) -> String {
        self.slices.get(z).map_or(format!("z = {z}"), |slice| slice.0.clone())
    }

    /// Returns the colour of a job. The colour depends only on the job number, so a job has the same colour in every
    /// figure.
    fn colour(&self, place: usize) -> Colour {
        if self.highlighted == Some(place) {
            return INK;
        }
        colour_of(self.jobs.get(place).copied().unwrap_or(0))
    }
}

/// Number of colours for jobs.
pub(super) const COLOURS: usize = 48;

/// Returns the colour for a job number.
pub(super) fn colour_of(number: i64) -> Colour {
    // Jobs that run at the same time often have nearby numbers. The 48 colours repeat after 48 numbers. Among many
    // tested steps of hue, lightness and saturation, these steps give the largest distances between colours, especially
    // between the colours of consecutive numbers. Steps of the golden angle would give nearly the same hue again after
    // 21 numbers. The colours are light, so that dark text on them is readable.
    let place = number.rem_euclid(COLOURS as i64) as usize;
    let lightness = [0.80, 0.68, 0.58][place % 3];
    let saturation = [0.75, 0.40][place / 3 % 2];
    of_hue((37.5 * place as f64).rem_euclid(360.0), lightness, saturation)
}

/// Returns the colour with this hue in degrees, and lightness and saturation from 0 to 1.
fn of_hue(hue: f64, lightness: f64, saturation: f64) -> Colour {
    let chroma = (1.0 - (2.0 * lightness - 1.0_f64).abs()) * saturation;
    let part = |offset: f64| {
        let k = (offset + hue / 30.0).rem_euclid(12.0);
        let value = lightness - chroma / 2.0 * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0);
        (255.0 * value).round() as u8
    };
    Colour(part(0.0), part(8.0), part(4.0))
}

impl Figure for MachineMap {
    fn head(&self) -> Head {
        Head::new(&self.title, &self.subtitle)
    }

    /// Returns the width that the slices and their legend need, so that there is no empty space beside them.
    fn width(&self, page: &Page) -> f64 {
        if page.height.is_some() {
            return page.width;
        }
        let (across, cell) = self.usual_layout(page);
        let wide = 2.0 * MARGIN + self.wide(across, cell);
        wide.max(NARROWEST.min(page.width)).min(page.width)
    }

    fn usual_height(&self, _: &Page) -> f64 {
        // `least_body` sets the height.
        0.0
    }

    fn least_body(&self, page: &Page) -> Result<f64, PlotError> {
        let (across, cell) = match page.height {
            Some(height) => {
                let MapLayout { across, cell, .. } =
                    self.plan(page.width, height - self.head().height(page)?);
                // Smaller cells could not be distinguished.
                let least = LEAST_CELL.min(self.layout(page.width, f64::MAX).1);
                if cell >= least {
                    return Ok(0.0);
                }
                (across, least)
            }
            None => self.usual_layout(page),
        };
        let legend = self.legend(page.width, cell).height();
        Ok(legend + self.above() + self.body(across, cell) + LAST)
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<(), PlotError> {
        let top = self.head().draw(canvas)?;
        let MapLayout { across, cell, legend, beside } =
            self.plan(canvas.width(), canvas.height() - top);
        let [columns, rows, slices] = self.sides.map(|side| side.max(1));
        let slice = columns as f64 * cell + LABELS + GAP;
        let wide = self.wide(across, cell);
        let (first, above) = match beside {
            true => (MARGIN, 0.0),
            // Centre the slices if the page has another aspect ratio.
            false => (((canvas.width() - wide) / 2.0).max(MARGIN), legend.height()),
        };
        let left = if beside { MARGIN + wide + GAP } else { MARGIN };
        if !legend.is_empty() {
            let top = top + if beside { self.above() + 8.0 } else { 0.0 };
            legend.draw(canvas, (left, top), &self.names)?;
        }
        let top = top + above + self.above();
        for z in 0..slices {
            let (column, line) = ((z % across) as f64, (z / across) as f64);
            let left = first + LABELS + column * slice;
            let bottom = top + line * (rows as f64 * cell + LABELS + GAP) + rows as f64 * cell;
            self.draw_slice(canvas, z, (left, bottom), cell)?;
        }
        Ok(())
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&["x", "y", "z", "job"]);
        let [columns, rows, _] = self.sides;
        for (node, holder) in self.holders.iter().enumerate() {
            if self.absent.get(node) == Some(&true) {
                continue;
            }
            let place = [node % columns, node / columns % rows, node / columns / rows];
            let job = holder.and_then(|place| self.jobs.get(place));
            let mut row = place.map(|side| side.to_string()).to_vec();
            let down = self.down.get(node) == Some(&true);
            let vacant = if down { OUT } else { "" };
            row.push(job.map_or(vacant.to_string(), i64::to_string));
            table.row(&row);
        }
        table
    }
}

/// Value of the column `job` for a processor out of service.
const OUT: &str = "out of service";

impl MachineMap {
    /// Draws one slice with its lower left corner at `(left, bottom)`.
    fn draw_slice(
        &self,
        canvas: &Canvas<'_>,
        z: usize,
        (left, bottom): (f64, f64),
        cell: f64,
    ) -> Result<(), PlotError> {
        let [columns, rows, slices] = self.sides.map(|side| side.max(1));
        let (width, height) = (columns as f64 * cell, rows as f64 * cell);
        // Gap between cells; 0 if cells are too small for it.
        let hair = if cell >= 6.0 { 0.75 } else { 0.0 };
        canvas.rectangle((left, bottom), (left + width, bottom - height), GRID)?;
        for y in 0..rows {
            for x in 0..columns {
                let at = (z * rows + y) * columns + x;
                let holder = self.holders.get(at).copied().flatten();
                // A processor out of service has the colour `MUTED`; a free processor is white.
                let free = if self.down.get(at) == Some(&true) { MUTED } else { WHITE };
                let colour = holder.map_or(free, |place| self.colour(place));
                let (x, y) = (left + x as f64 * cell, bottom - y as f64 * cell);
                if self.absent.get(at) == Some(&true) {
                    canvas.rectangle((x, y), (x + cell, y - cell), WHITE)?;
                    continue;
                }
                let corner = (x + cell - hair, y - cell + hair);
                canvas.rectangle((x + hair, y - hair), corner, colour)?;
                let number = holder.and_then(|place| self.jobs.get(place));
                let number = number.map(|&job| self.names.of(job));
                if let Some(number) = number {
                    let look = Text::of_size((cell / 4.0).min(TICK)).align(Align::Centre);
                    if cell >= NUMBERED && look.width(&number)? < cell - 4.0 {
                        let look = look.colour(if colour.is_dark() { WHITE } else { INK });
                        canvas.text(&number, (x + cell / 2.0, y - cell / 2.0), look)?;
                    }
                }
            }
        }
        let cells = Cells { left, bottom, sides: [columns, rows], cell };
        cells.frame(canvas, self.edges)?;
        let look = Text::of_size((TICK - 2.0).min(cell.max(9.0))).colour(MUTED);
        // Column numbers are side by side, and row numbers are above each other, so columns and rows need different
        // steps.
        let step = |side: usize, room: f64| {
            let steps = [1, 2, 5, 10, 20, 50, 100, 200, 500];
            steps.into_iter().find(|&step| cell * step as f64 >= room).unwrap_or(side.max(1))
        };
        let last = self.slices.get(z).map_or(0, |slice| slice.1) + columns;
        let wide = look.width(&last.to_string())? + 6.0;
        for x in (0..columns).step_by(step(columns, wide)) {
            let at = (left + (x as f64 + 0.5) * cell, bottom + 13.0);
            let first = self.slices.get(z).map_or(0, |slice| slice.1);
            canvas.text(&(first + x).to_string(), at, look.align(Align::Centre))?;
        }
        let every = step(rows, TICK);
        let mut drawn: Option<usize> = None;
        for y in 0..rows {
            if drawn.is_some_and(|drawn| y < drawn + every) {
                continue;
            }
            let at = (left - 6.0, bottom - (y as f64 + 0.5) * cell);
            let number = || y.to_string();
            let name = self.rows.get(z * rows + y).cloned().unwrap_or_else(number);
            let look = look.align(Align::Right);
            // A name that does not fit beside the row is omitted.
            if look.width(&name)? <= MARGIN + LABELS - 6.0 {
                canvas.text(&name, at, look)?;
                drawn = Some(y);
            }
        }
        if slices > 1 {
            let at = (left, bottom - height - 12.0);
            canvas.text(&self.slice_name(z), at, Text::of_size(TICK))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Converts a colour to lightness and two opponent colours. Distances in this space approximate perceived
    /// differences (Ottosson, Oklab, 2020).
    fn oklab(Colour(r, g, b): Colour) -> [f64; 3] {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        let [r, g, b] = [r, g, b].map(linear);
        let l = (0.412_221_470_8 * r + 0.536_332_536_3 * g + 0.051_445_992_9 * b).cbrt();
        let m = (0.211_903_498_2 * r + 0.680_699_545_1 * g + 0.107_396_956_6 * b).cbrt();
        let s = (0.088_302_461_9 * r + 0.281_718_837_6 * g + 0.629_978_700_5 * b).cbrt();
        [
            0.210_454_255_3 * l + 0.793_617_785_0 * m - 0.004_072_046_8 * s,
            1.977_998_495_1 * l - 2.428_592_205_0 * m + 0.450_593_709_9 * s,
            0.025_904_037_1 * l + 0.782_771_766_2 * m - 0.808_675_766_0 * s,
        ]
    }

    #[test]
    fn jobs_with_nearby_numbers_have_different_colours() {
        // A distance of about 0.02 is just noticeable.
        let apart = |a: i64, b: i64| {
            let (a, b) = (oklab(colour_of(a)), oklab(colour_of(b)));
            a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
        };
        for job in -3..100 {
            for step in 1..48 {
                let least = if step <= 5 { 0.06 } else { 0.03 };
                assert!(apart(job, job + step) > least, "{job} {step} {}", apart(job, job + step));
            }
        }
    }

    #[test]
    fn maps_with_small_cells_have_a_legend() {
        let map = |sides: [usize; 3], jobs: usize| MachineMap {
            sides,
            // The first job holds the most processors.
            holders: (0..sides.iter().product())
                .map(|cell: usize| Some(if cell < 2 * jobs { cell / 2 } else { 0 }))
                .collect(),
            jobs: (0..jobs as i64).map(|job| 100 + job).collect(),
            ..MachineMap::default()
        };
        crate::plot::style::register().expect("the font");
        let drawn = |figure: &MachineMap| crate::plot::save::svg(figure).expect("drawn");
        let large = drawn(&map([4, 4, 1], 2));
        assert!(!large.contains("2 processors"));
        let slices = drawn(&map([8, 8, 16], 3));
        for label in ["100: 1,020 processors", "101: 2 processors", "102: 2 processors"] {
            assert!(slices.contains(label), "{label}");
        }
        assert!(!slices.contains("more"));
        let many = drawn(&map([8, 8, 16], 300));
        assert!((280..290).any(|more| many.contains(&format!("and {more} more"))));
    }
}
