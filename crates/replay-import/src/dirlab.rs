//! CSV of DIR-LAB's Gen-Parallel-Workloads: `u_id,user,gpu_num,cpu_num,node_num,interval,run_time,
//! wall_time,new_status`. A job is submitted `interval` seconds after the job on the previous line;
//! start times are not recorded.

use super::entry::{Entry, Line, dropped, status};
use super::mapped::size;
use super::row::{Cell, Columns};
use super::source::Source;
use super::value::seconds;
use super::{Log, ReadStop, Reason, Sink};

/// A reader of DIR-LAB's tables.
pub(super) struct Dirlab {
    source: Source,
    columns: Columns,
    /// Positions of [`COLUMNS`].
    places: Option<[usize; 6]>,
    cells: Vec<Cell>,
    now: i64,
}

const COLUMNS: [&str; 6] = ["user", "node_num", "interval", "run_time", "wall_time", "new_status"];

impl Dirlab {
    pub fn new(source: Source) -> Dirlab {
        Dirlab { source, columns: Columns::default(), places: None, cells: Vec::new(), now: 0 }
    }
}

impl Log for Dirlab {
    fn line(&mut self, line: Line<'_>, sink: &mut Sink<'_>) -> Result<(), ReadStop> {
        let Some([user, nodes, interval, run, limit, state]) = self.places else {
            let (columns, places) = Columns::with(line, b',', COLUMNS)?;
            (self.columns, self.places) = (columns, Some(places));
            return Ok(());
        };
        let row = match self.columns.row(line, b',', &mut self.cells) {
            Ok(row) => row,
            Err(fault) => {
                // If a malformed record has several lines, its first line is read again as a separate record.
                let is_one_line = !line.text.contains('\n');
                let cell = self.cells.get(interval).filter(|_| is_one_line);
                let later = cell.and_then(|cell| seconds(line.text[cell.start..cell.end].trim()));
                self.now = self.now.saturating_add(later.unwrap_or(0));
                return Err(fault.into());
            }
        };
        let number = |at| row.read(at, Reason::NotANumber, seconds);
        // The next job is submitted relative to this job, even if this job is dropped.
        let later = number(interval)?;
        self.now = self.now.saturating_add(later);
        if later < 0 {
            sink.noted(line.number, "submitted before the previous job");
        }
        let (run, limit) = (number(run)?, number(limit)?);
        let size = size(row, nodes, self.source.round_up)?;
        let status = match row.text(state) {
            "Pass" => status::COMPLETED,
            "Killed" => status::CANCELLED,
            "Failed" => status::FAILED,
            _ => {
                sink.about("unknown state, treated as failed");
                status::FAILED
            }
        };
        let size = match size {
            Ok(size) => size,
            Err(why) => {
                sink.dropped(line.number, why);
                return Ok(());
            }
        };
        if run < 0 {
            sink.dropped(line.number, dropped::RUN);
            return Ok(());
        }
        let user = row.text(user);
        let entry = Entry {
            submit: self.now,
            run,
            size,
            estimate: Some(limit),
            status,
            user,
            ..Entry::NONE
        };
        sink.job(line.number, &entry)?;
        Ok(())
    }

    fn separator(&self) -> Option<u8> {
        Some(b',')
    }

    fn begin(&mut self) {
        self.places = None;
    }

    fn columns(&self) -> Option<&Columns> {
        self.places.is_some().then_some(&self.columns)
    }

    fn is_begun(&self) -> bool {
        self.places.is_some()
    }
}
