//! CSV of RFold: `#job id,arrival time (sec),topology,shape,size,duration (sec)`. Each job requests a
//! box, `4x4x8`. The shape is written to the shapes file if it matches the size. A size below 1 is a share of a
//! node.

use super::entry::{Entry, Line, dropped, noted};
use super::mapped::size;
use super::row::{Cell, Columns};
use super::source::Source;
use super::value::{bare, seconds};
use super::{Log, ReadStop, Reason, Sink};

/// A reader of RFold's tables.
pub(super) struct Rfold {
    source: Source,
    columns: Option<Columns>,
    /// Positions of [`COLUMNS`].
    places: [usize; 5],
    id: Option<usize>,
    cells: Vec<Cell>,
}

const COLUMNS: [&str; 5] = ["arrival time (sec)", "topology", "shape", "size", "duration (sec)"];

impl Rfold {
    pub fn new(source: Source) -> Rfold {
        Rfold { source, columns: None, places: [0; 5], id: None, cells: Vec::new() }
    }
}

/// Parses two or three side lengths.
fn sides(text: &str) -> Option<[u16; 3]> {
    let sides: Option<Vec<u16>> = text.split('x').map(|side| side.parse().ok()).collect();
    match sides?[..] {
        [w, h] if w > 0 && h > 0 => Some([w, h, 1]),
        [w, h, d] if w > 0 && h > 0 && d > 0 => Some([w, h, d]),
        _ => None,
    }
}

/// Removes the `#` of a header.
fn without_hash(line: Line<'_>) -> Line<'_> {
    Line { text: line.text.trim_start().trim_start_matches('#'), ..line }
}

impl Log for Rfold {
    fn line(&mut self, line: Line<'_>, sink: &mut Sink<'_>) -> Result<(), ReadStop> {
        let Some(columns) = &self.columns else {
            let (columns, places) = Columns::with(without_hash(line), b',', COLUMNS)?;
            self.id = columns.find("job id")?;
            (self.columns, self.places) = (Some(columns), places);
            return Ok(());
        };
        let [arrival, topology, shape, asked, duration] = self.places;
        let row = columns.row(line, b',', &mut self.cells)?;
        let submit = row.read(arrival, Reason::NotANumber, seconds)?;
        let run = row.read(duration, Reason::NotANumber, seconds)?;
        let size = size(row, asked, self.source.round_up)?;
        let in_boxes = row.text(topology).starts_with('T');
        let shape = match in_boxes {
            true => Some(row.read(shape, Reason::NotAShape, sides)?),
            false => None,
        };
        let Ok(size) = size.map_err(|why| sink.dropped(line.number, why)) else {
            return Ok(());
        };
        if run < 0 {
            sink.dropped(line.number, dropped::RUN);
            return Ok(());
        }
        let volume = |shape: [u16; 3]| shape.iter().map(|&side| i64::from(side)).product::<i64>();
        let fits = shape.filter(|&shape| volume(shape) == size);
        let id = bare(row.perhaps(self.id));
        let entry = Entry { id, submit, run, size, shape: fits, ..Entry::NONE };
        let kept = sink.job(line.number, &entry)?;
        if kept && fits != shape {
            sink.noted(line.number, "shape does not match the size, omitted");
        } else if kept && shape.is_none() {
            sink.noted(line.number, noted::NO_SHAPE);
        }
        Ok(())
    }

    fn separator(&self) -> Option<u8> {
        Some(b',')
    }

    fn columns(&mut self) -> Option<&mut Option<Columns>> {
        Some(&mut self.columns)
    }

    fn names(&self, line: Line<'_>) -> Option<Columns> {
        Columns::read(without_hash(line), b',').ok()
    }
}
