use plotters::prelude::DrawingBackend;

use super::edge::{Cells, Edge};
use super::header::{Head, Mark};
use super::look::Page;
use super::style::{BLUE, Colour, GREEN, INK, MARGIN, MUTED, SKY, TICK, VERMILION, WHITE};
use super::{Align, Canvas, Figure, PlotError, Table, Text};

/// The candidates of one decision side by side: the shells of each, its score, and who counts in its tie
/// value (as Johnson, Bunde, Leung draw them in Figs. 5 to 7).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Candidates {
    /// Title.
    pub title: String,
    /// What else a reader must know.
    pub subtitle: Vec<String>,
    /// Columns, rows, slices.
    pub sides: [usize; 3],
    /// The ends of rows and of columns.
    pub edges: [Edge; 2],
    /// As processors lie on the page, x fastest, then y, then z: what each is before the decision.
    pub ground: Vec<ProcessorState>,
    /// How far shells beyond the last one are looked at; `None` without a tie vector.
    pub scan_radius: Option<u32>,
    /// The candidates, the winner first.
    pub candidates: Vec<CandidateMap>,
}

/// What a processor is before a decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProcessorState {
    /// Free.
    Free,
    /// Of a job.
    Busy,
    /// Out of service.
    Down,
}

/// One of [`Candidates`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CandidateMap {
    /// Its place in candidate order, from 1.
    pub number: usize,
    /// What is written above it, line by line.
    pub lines: Vec<String>,
    /// Where its centre is on the page: a place as in [`Candidates::ground`].
    pub centre: usize,
    /// By place: the number of the shell around the centre.
    pub shells: Vec<u32>,
    /// By place: whether it is one of its processors.
    pub chosen: Vec<bool>,
    /// By place: what it counts in the tie value before the vector multiplies it, and in which sum.
    pub weights: Vec<Option<(Counted, i64)>>,
}

/// In which sum of a tie value a processor counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counted {
    /// Free processors nearby.
    Free,
    /// Its own along walls.
    Wall,
    /// Busy ones just outside.
    Busy,
}

impl Counted {
    /// In the data beside the figure.
    fn name(self) -> &'static str {
        match self {
            Counted::Free => "free",
            Counted::Wall => "wall",
            Counted::Busy => "busy",
        }
    }

    fn colour(self) -> Colour {
        match self {
            Counted::Free => BLUE,
            Counted::Wall => INK,
            Counted::Busy => VERMILION,
        }
    }
}

/// Between maps, and below one.
const GAP: f64 = 34.0;
/// Left of a map and below it, for numbers.
const LABELS: f64 = 22.0;
/// Above a slice, for its number.
const SLICE: f64 = 26.0;
/// A line of text above a map.
const LINE: f64 = 19.0;
const CELL: (f64, f64) = (2.0, 34.0);
/// What is busy.
const BUSY: Colour = Colour(206, 206, 206);

impl CandidateMap {
    /// The last shell that it takes from.
    fn last_shell(&self) -> u32 {
        let chosen = self.shells.iter().zip(&self.chosen).filter(|(_, chosen)| **chosen);
        chosen.map(|(shell, _)| *shell).max().unwrap_or(0)
    }
}

/// How maps are laid out.
#[derive(Clone, Copy)]
struct Layout {
    /// Maps in a row.
    across: usize,
    /// Slices of one in a row, and rows of slices.
    slices: [usize; 2],
    cell: f64,
    /// Width and height of one with all that belongs to it.
    size: (f64, f64),
}

impl Candidates {
    /// The most that are drawn.
    pub const MOST: usize = 12;

    fn shown(&self) -> &[CandidateMap] {
        &self.candidates[..self.candidates.len().min(Self::MOST)]
    }

    fn layout(&self, width: f64) -> Layout {
        let [columns, rows, depth] = self.sides.map(|side| side.max(1));
        let beside = (depth as f64).sqrt().ceil() as usize;
        let slices = [beside, depth.div_ceil(beside)];
        let width = width - 2.0 * MARGIN + GAP;
        // The lines above a map are as wide as it at most.
        let look = Text::of_size(TICK).bold();
        let lines = self.shown().iter().flat_map(|one| &one.lines);
        let widest = lines.filter_map(|line| look.width(line).ok()).fold(0.0, f64::max);
        let fits = |across: usize| widest + LABELS + GAP <= width / across as f64;
        let cells = (columns * beside + (beside - 1)) as f64;
        let cell = |across: usize| (width / across as f64 - GAP - LABELS) / cells;
        // As many in a row as leave cells in which a number is read.
        let most = [3, 2].into_iter().find(|&across| cell(across) >= 15.0 && fits(across));
        let across = most.unwrap_or(1);
        let across = across.min(self.shown().len().max(1));
        let cell = cell(across).clamp(CELL.0, CELL.1);
        let lines = self.shown().iter().map(|one| one.lines.len()).max().unwrap_or(0);
        let above = if depth > 1 { SLICE } else { 0.0 };
        let deep = (rows as f64 * cell + above) * slices[1] as f64;
        let high = LINE * lines as f64 + deep + LABELS + GAP;
        let wide = (cells * cell + LABELS + GAP).max(widest + LABELS + GAP).min(width);
        Layout { across, slices, cell, size: (wide, high) }
    }

    fn legend(&self) -> Vec<(Mark, String)> {
        let mark = |mark, words: &str| (mark, words.to_string());
        let mut legend = vec![
            mark(Mark::Box(shade(true, 0, 2)), "winner"),
            mark(Mark::Box(shade(false, 0, 2)), "other candidate, darker towards its centre"),
            mark(Mark::Box(BUSY), "busy"),
        ];
        if self.ground.contains(&ProcessorState::Down) {
            legend.push(mark(Mark::Box(MUTED), "out of service"));
        }
        if self.scan_radius.is_some() {
            legend.push(mark(Mark::Dashes(BLUE), "as far as free processors count"));
            legend.push(mark(Mark::Number(BLUE), "weight of one free nearby"));
            legend.push(mark(Mark::Number(INK), "of its own along walls"));
            legend.push(mark(Mark::Number(VERMILION), "of one busy just outside"));
        }
        if self.edges.contains(&Edge::Wall) {
            legend.push(mark(Mark::Thick(INK), "wall"));
        }
        legend
    }
}

/// The colour of a chosen processor: the nearer to the centre the darker.
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
        // Its parts decide.
        0.0
    }

    fn least_body(&self, page: &Page) -> Result<f64, PlotError> {
        let layout = self.layout(page.width);
        Ok(self.shown().len().div_ceil(layout.across) as f64 * layout.size.1 + 8.0)
    }

    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), PlotError> {
        let top = self.head().draw(canvas)?;
        let layout = self.layout(canvas.width());
        for (place, one) in self.shown().iter().enumerate() {
            let (column, row) = ((place % layout.across) as f64, (place / layout.across) as f64);
            let corner = (MARGIN + column * layout.size.0, top + row * layout.size.1);
            self.draw_one(canvas, one, place == 0, corner, layout)?;
        }
        Ok(())
    }

    fn table(&self) -> Table {
        let header = ["candidate", "x", "y", "z", "before", "shell", "chosen", "term", "weight"];
        let mut table = Table::new(&header);
        let [columns, rows, _] = self.sides;
        for one in &self.candidates {
            for (at, ground) in self.ground.iter().enumerate() {
                let before = match ground {
                    ProcessorState::Free => "free",
                    ProcessorState::Busy => "busy",
                    ProcessorState::Down => "out of service",
                };
                let (term, weight) = match one.weights[at] {
                    Some((counted, weight)) => (counted.name(), weight.to_string()),
                    None => ("", String::new()),
                };
                table.row(&[
                    one.number.to_string(),
                    (at % columns).to_string(),
                    (at / columns % rows).to_string(),
                    (at / columns / rows).to_string(),
                    before.to_string(),
                    one.shells[at].to_string(),
                    u8::from(one.chosen[at]).to_string(),
                    term.to_string(),
                    weight,
                ]);
            }
        }
        table
    }
}

impl Candidates {
    /// One candidate, its corner at the left and the top.
    fn draw_one<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        one: &CandidateMap,
        wins: bool,
        (left, top): (f64, f64),
        layout: Layout,
    ) -> Result<(), PlotError> {
        let mut y = top;
        for (i, line) in one.lines.iter().enumerate() {
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
            self.draw_slice(canvas, one, wins, z, cells)?;
        }
        Ok(())
    }

    fn draw_slice<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        one: &CandidateMap,
        wins: bool,
        z: usize,
        cells: Cells,
    ) -> Result<(), PlotError> {
        let [columns, rows] = cells.sides;
        let cell = cells.cell;
        let at = |x: usize, y: usize| (z * rows + y) * columns + x;
        let last = one.last_shell();
        let hair = if cell >= 6.0 { 0.5 } else { 0.0 };
        let (right, top) = cells.corner(columns, rows);
        canvas.rectangle((cells.left, cells.bottom), (right, top), BUSY.towards(WHITE, 0.4))?;
        for y in 0..rows {
            for x in 0..columns {
                let place = at(x, y);
                let colour = match self.ground[place] {
                    _ if one.chosen[place] => shade(wins, one.shells[place], last),
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
            for [from, to] in cells.outline(|x, y| one.shells[at(x, y)] <= reach) {
                canvas.dashes(from, to, 1.25, BLUE)?;
            }
        }
        // Around its own processors, and the centre.
        for line in cells.outline(|x, y| one.chosen[at(x, y)]) {
            canvas.line(&line, 1.5, INK)?;
        }
        let look = Text::of_size((cell * 0.5).min(TICK)).align(Align::Centre);
        for y in 0..rows {
            for x in 0..columns {
                let (place, middle) = (at(x, y), cells.middle(x, y));
                if place == one.centre {
                    let radius = cell * 0.42;
                    let (colour, wide) = (GREEN.towards(INK, 0.5), (cell / 14.0).clamp(1.0, 2.0));
                    ring(canvas, middle, radius, wide, if wins { colour } else { BLUE })?;
                }
                let Some((counted, weight)) = one.weights[place].filter(|_| look.size >= 6.5)
                else {
                    continue;
                };
                let text = weight.to_string();
                let look = if look.width(&text)? > cell - 3.0 {
                    Text { size: look.size * (cell - 3.0) / look.width(&text)?, ..look }
                } else {
                    look
                };
                canvas.text(&text, middle, look.colour(counted.colour()).bold())?;
            }
        }
        cells.frame(canvas, self.edges)?;
        self.labels(canvas, z, cells)
    }

    /// Numbers of columns and rows, and of the slice.
    fn labels<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        z: usize,
        cells: Cells,
    ) -> Result<(), PlotError> {
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

/// A circle.
fn ring<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
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
