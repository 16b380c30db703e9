use super::edge::{Cells, Edge};
use super::figure_style::Page;
use super::header::{Head, Mark};
use super::style::{BLUE, Colour, GREEN, INK, MARGIN, MUTED, SKY, TICK, VERMILION, WHITE};
use super::{Align, Canvas, Figure, PlotError, Table, Text};

/// The candidates of one decision side by side. Each map shows the shells and the score of a candidate, and the
/// processors that contribute to its tie value, as in Figs. 5 to 7 of Johnson, Bunde and Leung.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Candidates {
    /// Figure title.
    pub title: String,
    /// Subtitle clauses.
    pub subtitle: Vec<String>,
    /// Columns, rows and slices of the machine.
    pub sides: [usize; 3],
    /// Boundaries at the ends of the rows and at the ends of the columns.
    pub edges: [Edge; 2],
    /// State of each processor before the decision, in page order, in which x varies fastest, then y, then z.
    pub states: Vec<ProcessorState>,
    /// Number of shells scanned beyond the last used shell; `None` without a tie vector.
    pub scan_radius: Option<u32>,
    /// Candidates, with the selected candidate first.
    pub candidates: Vec<CandidateMap>,
}

/// State of a processor before a decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProcessorState {
    /// Free and in service.
    Free,
    /// Allocated to a job.
    Busy,
    /// Out of service.
    Down,
}

/// Map of one candidate in [`Candidates`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CandidateMap {
    /// Position in candidate order, from 1.
    pub number: usize,
    /// Text lines above the map.
    pub lines: Vec<String>,
    /// Index of the centre in [`Candidates::states`].
    pub centre: usize,
    /// For each processor, by index in [`Candidates::states`]: the number of its shell around the centre.
    pub shells: Vec<u32>,
    /// One flag per processor, by index in [`Candidates::states`]: true if the candidate allocates the processor.
    pub chosen: Vec<bool>,
    /// Contribution of each processor to the tie value, by index in [`Candidates::states`]; `None` if the processor
    /// does not contribute. A contribution consists of the term and of the weight of the processor in this term before
    /// multiplication by the vector.
    pub weights: Vec<Option<(TieTerm, i64)>>,
}

/// Term of a tie value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TieTerm {
    /// Free processors near the candidate.
    Free,
    /// Processors of the candidate along walls.
    Wall,
    /// Busy processors just outside the candidate.
    Busy,
}

impl TieTerm {
    /// Name in the CSV.
    fn name(self) -> &'static str {
        match self {
            TieTerm::Free => "free",
            TieTerm::Wall => "wall",
            TieTerm::Busy => "busy",
        }
    }

    fn colour(self) -> Colour {
        match self {
            TieTerm::Free => BLUE,
            TieTerm::Wall => INK,
            TieTerm::Busy => VERMILION,
        }
    }
}

/// Gap between maps and below a map.
const GAP: f64 = 34.0;
/// Room to the left of a map for row numbers, and below a map for column numbers.
const LABELS: f64 = 22.0;
/// Room above a slice for the number of the slice.
const SLICE: f64 = 26.0;
/// Height of a text line above a map.
const LINE: f64 = 19.0;
// Smallest and largest side of a cell.
const CELL: (f64, f64) = (2.0, 34.0);
/// Colour of busy processors.
const BUSY: Colour = Colour(206, 206, 206);

impl CandidateMap {
    /// Returns the number of the outermost shell from which the candidate allocates processors.
    fn last_shell(&self) -> u32 {
        let chosen = self.shells.iter().zip(&self.chosen).filter(|(_, chosen)| **chosen);
        chosen.map(|(shell, _)| *shell).max().unwrap_or(0)
    }
}

/// Layout of the maps on the page.
#[derive(Clone, Copy)]
struct Layout {
    /// Number of maps per row.
    across: usize,
    /// Number of slices per row of one map, and number of rows of slices.
    slices: [usize; 2],
    cell: f64,
    /// Width and height of a map with its text and gaps.
    size: (f64, f64),
}

impl Candidates {
    /// Maximum number of candidates that are drawn.
    pub const MOST: usize = 12;

    fn drawn_candidates(&self) -> &[CandidateMap] {
        &self.candidates[..self.candidates.len().min(Self::MOST)]
    }

    fn layout(&self, width: f64) -> Layout {
        let [columns, rows, depth] = self.sides.map(|side| side.max(1));
        let beside = (depth as f64).sqrt().ceil() as usize;
        let slices = [beside, depth.div_ceil(beside)];
        let width = width - 2.0 * MARGIN + GAP;
        // The lines above a map are at most as wide as the map.
        let look = Text::of_size(TICK).bold();
        let lines = self.drawn_candidates().iter().flat_map(|candidate| &candidate.lines);
        let widest = lines.filter_map(|line| look.width(line).ok()).fold(0.0, f64::max);
        let fits = |across: usize| widest + LABELS + GAP <= width / across as f64;
        let cells = (columns * beside + (beside - 1)) as f64;
        let cell = |across: usize| (width / across as f64 - GAP - LABELS) / cells;
        // Use the largest number of maps per row for which numbers fit into the cells and the text lines fit above the
        // maps.
        let most = [3, 2].into_iter().find(|&across| cell(across) >= 15.0 && fits(across));
        let across = most.unwrap_or(1);
        let across = across.min(self.drawn_candidates().len().max(1));
        let cell = cell(across).clamp(CELL.0, CELL.1);
        let lines = self
            .drawn_candidates()
            .iter()
            .map(|candidate| candidate.lines.len())
            .max()
            .unwrap_or(0);
        let above = if depth > 1 { SLICE } else { 0.0 };
        let deep = (rows as f64 * cell + above) * slices[1] as f64;
        let high = LINE * lines as f64 + deep + LABELS + GAP;
        let wide = (cells * cell + LABELS + GAP).max(widest + LABELS + GAP).min(width);
        Layout { across, slices, cell, size: (wide, high) }
    }

    fn legend(&self) -> Vec<(Mark, String)> {
        let mark = |mark, label: &str| (mark, label.to_string());
        let mut legend = vec![
            mark(Mark::Box(shade(true, 0, 2)), "winner"),
            mark(Mark::Box(shade(false, 0, 2)), "other candidate (darker: closer to the centre)"),
            mark(Mark::Box(BUSY), "busy"),
        ];
        if self.states.contains(&ProcessorState::Down) {
            legend.push(mark(Mark::Box(MUTED), "out of service"));
        }
        if self.scan_radius.is_some() {
            legend.push(mark(Mark::Dashes(BLUE), "limit of the scan for free processors"));
            legend.push(mark(Mark::Number(BLUE), "weight of a free processor nearby"));
            legend.push(mark(Mark::Number(INK), "weight of a candidate's processor at a wall"));
            legend.push(mark(
                Mark::Number(VERMILION),
                "weight of a busy processor just outside the candidate",
            ));
        }
        if self.edges.contains(&Edge::Wall) {
            legend.push(mark(Mark::Thick(INK), "wall"));
        }
        legend
    }
}

/// Returns the colour of an allocated processor. Processors nearer to the centre are darker.
fn shade(wins: bool, shell: u32, last: u32) -> Colour {
    let colour = if wins { GREEN } else { SKY };
    let share = 0.25 + 0.5 * f64::from(shell) / f64::from(last.max(1));
    colour.towards(WHITE, share)
}

impl Figure for Candidates {
    fn head(&self) -> Head {
        Head::new(&self.title, &self.subtitle).legend(self.legend())
    }

    fn usual_height(&self, _: &Page) -> f64 {
        // `least_body` sets the height.
        0.0
    }

    fn least_body(&self, page: &Page) -> Result<f64, PlotError> {
        let layout = self.layout(page.width);
        Ok(self.drawn_candidates().len().div_ceil(layout.across) as f64 * layout.size.1 + 8.0)
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<(), PlotError> {
        let top = self.head().draw(canvas)?;
        let layout = self.layout(canvas.width());
        for (place, candidate) in self.drawn_candidates().iter().enumerate() {
            let (column, row) = ((place % layout.across) as f64, (place / layout.across) as f64);
            let corner = (MARGIN + column * layout.size.0, top + row * layout.size.1);
            self.draw_one(canvas, candidate, place == 0, corner, layout)?;
        }
        Ok(())
    }

    fn table(&self) -> Table {
        let header = ["candidate", "x", "y", "z", "before", "shell", "chosen", "term", "weight"];
        let mut table = Table::new(&header);
        let [columns, rows, _] = self.sides;
        for candidate in &self.candidates {
            for (at, state) in self.states.iter().enumerate() {
                let before = match state {
                    ProcessorState::Free => "free",
                    ProcessorState::Busy => "busy",
                    ProcessorState::Down => "out of service",
                };
                let (term, weight) = match candidate.weights[at] {
                    Some((term, weight)) => (term.name(), weight.to_string()),
                    None => ("", String::new()),
                };
                table.row(&[
                    candidate.number.to_string(),
                    (at % columns).to_string(),
                    (at / columns % rows).to_string(),
                    (at / columns / rows).to_string(),
                    before.to_string(),
                    candidate.shells[at].to_string(),
                    u8::from(candidate.chosen[at]).to_string(),
                    term.to_string(),
                    weight,
                ]);
            }
        }
        table
    }
}

impl Candidates {
    /// Draws one candidate with its upper left corner at `(left, top)`.
    fn draw_one(
        &self,
        canvas: &Canvas<'_>,
        candidate: &CandidateMap,
        wins: bool,
        (left, top): (f64, f64),
        layout: Layout,
    ) -> Result<(), PlotError> {
        let mut y = top;
        for (i, line) in candidate.lines.iter().enumerate() {
            let look = Text::of_size(if i == 0 { TICK + 0.5 } else { TICK - 1.0 });
            let look = if i == 0 { look.bold() } else { look };
            let look = if wins && i == 0 { look.colour(GREEN.towards(INK, 0.35)) } else { look };
            canvas.text(line, (left + LABELS, y), look)?;
            y += LINE;
        }
        let [columns, rows, depth] = self.sides.map(|side| side.max(1));
        let [beside, _] = layout.slices;
        for z in 0..depth {
            let (across, down) = ((z % beside) as f64, (z / beside) as f64);
            let cell = layout.cell;
            let left = left + LABELS + across * (columns + 1) as f64 * cell;
            let above = if depth > 1 { SLICE } else { 0.0 };
            let first = y - LINE / 2.0 + 6.0;
            let bottom = first + (down + 1.0) * (rows as f64 * cell + above);
            let cells = Cells { left, bottom, sides: [columns, rows], cell };
            self.draw_slice(canvas, candidate, wins, z, cells)?;
        }
        Ok(())
    }

    fn draw_slice(
        &self,
        canvas: &Canvas<'_>,
        candidate: &CandidateMap,
        wins: bool,
        z: usize,
        cells: Cells,
    ) -> Result<(), PlotError> {
        let [columns, rows] = cells.sides;
        let cell = cells.cell;
        let at = |x: usize, y: usize| (z * rows + y) * columns + x;
        let last = candidate.last_shell();
        let hair = if cell >= 6.0 { 0.5 } else { 0.0 };
        let (right, top) = cells.corner(columns, rows);
        canvas.rectangle((cells.left, cells.bottom), (right, top), BUSY.towards(WHITE, 0.4))?;
        for y in 0..rows {
            for x in 0..columns {
                let place = at(x, y);
                let colour = match self.states[place] {
                    _ if candidate.chosen[place] => shade(wins, candidate.shells[place], last),
                    ProcessorState::Free => WHITE,
                    ProcessorState::Busy => BUSY,
                    ProcessorState::Down => MUTED,
                };
                let (left, bottom) = cells.corner(x, y);
                let upper = (left + cell - hair, bottom - cell + hair);
                canvas.rectangle((left + hair, bottom - hair), upper, colour)?;
            }
        }
        if let Some(scan) = self.scan_radius {
            let reach = last + scan;
            for [from, to] in cells.outline(|x, y| candidate.shells[at(x, y)] <= reach) {
                canvas.dashes(from, to, 1.25, BLUE)?;
            }
        }
        // Draw the outline of the candidate's processors, and mark its centre.
        for line in cells.outline(|x, y| candidate.chosen[at(x, y)]) {
            canvas.line(&line, 1.5, INK)?;
        }
        let look = Text::of_size((cell * 0.5).min(TICK)).align(Align::Centre);
        for y in 0..rows {
            for x in 0..columns {
                let (place, middle) = (at(x, y), cells.middle(x, y));
                if place == candidate.centre {
                    let radius = cell * 0.42;
                    let (colour, wide) = (GREEN.towards(INK, 0.5), (cell / 14.0).clamp(1.0, 2.0));
                    ring(canvas, middle, radius, wide, if wins { colour } else { BLUE })?;
                }
                let Some((term, weight)) = candidate.weights[place].filter(|_| look.size >= 6.5)
                else {
                    continue;
                };
                let text = weight.to_string();
                let look = if look.width(&text)? > cell - 3.0 {
                    Text { size: look.size * (cell - 3.0) / look.width(&text)?, ..look }
                } else {
                    look
                };
                canvas.text(&text, middle, look.colour(term.colour()).bold())?;
            }
        }
        cells.frame(canvas, self.edges)?;
        self.labels(canvas, z, cells)
    }

    /// Labels columns and rows, or the slice of a three-dimensional machine.
    fn labels(&self, canvas: &Canvas<'_>, z: usize, cells: Cells) -> Result<(), PlotError> {
        let [columns, rows] = cells.sides;
        let depth = self.sides[2].max(1);
        let look = Text::of_size(10.5).colour(MUTED);
        if depth > 1 {
            let (_, top) = cells.corner(0, rows);
            let at = (cells.left, top - 9.0);
            return canvas.text(&format!("z = {z}"), at, look);
        }
        let step = |side: usize| {
            [1, 2, 5, 10, 20, 50]
                .into_iter()
                .find(|&step| cells.cell * step as f64 >= 17.0)
                .unwrap_or(side)
        };
        for x in (0..columns).step_by(step(columns)) {
            let at = (cells.middle(x, 0).0, cells.bottom + 11.0);
            canvas.text(&x.to_string(), at, look.align(Align::Centre))?;
        }
        for y in (0..rows).step_by(step(rows)) {
            let at = (cells.left - 6.0, cells.middle(0, y).1);
            canvas.text(&y.to_string(), at, look.align(Align::Right))?;
        }
        Ok(())
    }
}

fn ring(
    canvas: &Canvas<'_>,
    (x, y): (f64, f64),
    radius: f64,
    width: f64,
    colour: Colour,
) -> Result<(), PlotError> {
    const CORNERS: usize = 32;
    let corner = |i: usize| {
        let (sin, cos) = (i as f64 / CORNERS as f64 * std::f64::consts::TAU).sin_cos();
        (x + radius * cos, y + radius * sin)
    };
    canvas.line(&(0..=CORNERS).map(corner).collect::<Vec<_>>(), width, colour)
}
