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
    columns: Option<Columns>,
    /// Positions of [`COLUMNS`].
    places: [usize; 6],
    cells: Vec<Cell>,
    now: i64,
}

const COLUMNS: [&str; 6] = ["user", "node_num", "interval", "run_time", "wall_time", "new_status"];

impl Dirlab {
    pub fn new(source: Source) -> Dirlab {
        Dirlab { source, columns: None, places: [0; 6], cells: Vec::new(), now: 0 }
    }
}

impl Log for Dirlab {
    fn line(&mut self, line: Line<'_>, sink: &mut Sink<'_>) -> Result<(), ReadStop> {
        let Some(columns) = &self.columns else {
            let (columns, places) = Columns::with(line, b',', COLUMNS)?;
            (self.columns, self.places) = (Some(columns), places);
            return Ok(());
        };
        let [user, nodes, interval, run, limit, state] = self.places;
        let row = match columns.row(line, b',', &mut self.cells) {
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
        let Ok(size) = size.map_err(|why| sink.dropped(line.number, why)) else {
            return Ok(());
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

    fn columns(&mut self) -> Option<&mut Option<Columns>> {
        Some(&mut self.columns)
    }
}
