//! The accounting file of Grid Engine: SGE, its successors, and Univa Grid Engine (UGE).
//!
//! ```text
//! qname:hostname:group:owner:job_name:job_number:account:priority:submission_time:start_time:end_time:failed:..
//! ```
//!
//! A line is a job, a task of an array, or a task of a parallel job. Fields are separated by colons. Times are seconds
//! since 1970; UGE writes milliseconds from version 8.2 on. The category of the job may contain colons.

use super::entry::{Entry, Line, UNKNOWN, dropped, noted, status};
use super::value::{digits, happened, number, pbs_duration};
use super::{Fault, Log, ReadStop, Reason, Sink};

/// Positions of fields.
mod field {
    pub const QUEUE: usize = 0;
    pub const GROUP: usize = 2;
    pub const OWNER: usize = 3;
    pub const JOB: usize = 5;
    pub const SUBMIT: usize = 8;
    pub const START: usize = 9;
    pub const END: usize = 10;
    pub const FAILED: usize = 11;
    pub const EXIT: usize = 12;
    pub const SLOTS: usize = 34;
    pub const TASK: usize = 35;
    pub const CATEGORY: usize = 39;
}

/// Times from this one on are in milliseconds: 1973 in milliseconds, and the year 5138 in seconds.
const MILLISECONDS: i64 = 100_000_000_000;

/// Values of `failed`: the job was rescheduled while it ran.
const RESCHEDULED: [i64; 2] = [24, 25];

/// Value of `failed`: a signal ended the job.
const SIGNAL: i64 = 100;

/// A reader of Grid Engine's accounting file.
#[derive(Default)]
pub(super) struct Sge {
    id: String,
}

/// The fields of a line, and the position of each in the line.
struct Fields<'a> {
    line: Line<'a>,
    parts: Vec<&'a str>,
}

impl<'a> Fields<'a> {
    fn text(&self, at: usize) -> &'a str {
        self.parts.get(at).copied().unwrap_or_default()
    }

    #[cold]
    fn fault(&self, at: usize, name: &str, reason: Reason) -> Fault {
        let text = self.text(at);
        let at = text.as_ptr() as usize - self.line.text.as_ptr() as usize;
        Fault { reason, field: name.to_string(), at, text: text.to_string() }
    }

    fn number(&self, at: usize, name: &str) -> Result<i64, Fault> {
        digits(self.text(at)).ok_or_else(|| self.fault(at, name, Reason::NotANumber))
    }

    /// Reads a time and returns it in seconds, and whether it is in milliseconds.
    fn time(&self, at: usize, name: &str) -> Result<(i64, bool), Fault> {
        let time = digits(self.text(at)).ok_or_else(|| self.fault(at, name, Reason::NotATime))?;
        let (time, is_fine) =
            if time < MILLISECONDS { (time, false) } else { ((time + 500) / 1000, true) };
        Ok((happened(time), is_fine))
    }

    /// Returns the position of the waiting time for input and output, which follows the category. The category may contain
    /// colons; the waiting time is the first number with a decimal point after it.
    fn wait(&self) -> Option<usize> {
        let is_wait = |at: &usize| self.text(*at).contains('.') && number(self.text(*at)).is_some();
        (field::CATEGORY + 1..self.parts.len()).find(is_wait)
    }

    /// Returns the task of a parallel job that the line belongs to; `None` if the line is the job itself.
    fn parallel_task(&self) -> Option<&'a str> {
        Some(self.text(self.wait()? + 1)).filter(|task| !matches!(*task, "" | "NONE"))
    }

    /// Returns the value of a resource in the category, such as `h_rt` in `-l arch=x86_64,h_rt=3600`.
    fn resource(&self, key: &str) -> Option<&'a str> {
        let offset = |at: usize| self.text(at).as_ptr() as usize - self.line.text.as_ptr() as usize;
        self.parts.get(field::CATEGORY)?;
        let start = offset(field::CATEGORY);
        let end = self.wait().map_or(self.line.text.len(), |wait| offset(wait) - 1);
        let category = self.line.text.get(start..end)?;
        let mut values = category.split([' ', ',', '\t']).filter_map(|part| part.split_once('='));
        values.find(|(own, _)| *own == key).map(|(_, value)| value)
    }
}

impl Log for Sge {
    fn line(&mut self, line: Line<'_>, sink: &mut Sink<'_>) -> Result<(), ReadStop> {
        // qacct(1) ignores lines of a single character.
        if line.text.starts_with('#') || line.text.trim().len() < 2 {
            sink.passed(line.number, "comment", 1);
            return Ok(());
        }
        let fields = Fields { line, parts: line.text.split(':').collect() };
        if fields.parts.len() <= field::TASK {
            let at = line.text.len();
            let (reason, field) = (Reason::TooFewFields, "record".to_string());
            return Err(Fault { reason, field, at, text: String::new() }.into());
        }
        let job = fields.text(field::JOB);
        if digits(job).is_none() {
            return Err(fields.fault(field::JOB, "job_number", Reason::NotAJob).into());
        }
        let (submit, _) = fields.time(field::SUBMIT, "submission_time")?;
        // Tasks of tightly integrated parallel jobs have no submission in some versions.
        if submit == 0 || fields.parallel_task().is_some() {
            sink.passed(line.number, "task of a parallel job", 1);
            return Ok(());
        }
        let (start, is_fine) = fields.time(field::START, "start_time")?;
        let (end, _) = fields.time(field::END, "end_time")?;
        let failed = fields.number(field::FAILED, "failed")?;
        let slots = fields.number(field::SLOTS, "slots")?;
        let task = fields.number(field::TASK, "task_number")?;
        let is_idle = start == 0;
        let (wait, run) = if is_idle { (UNKNOWN, 0) } else { (start - submit, end - start) };
        if !is_idle && (wait < 0 || run < 0) {
            let why = match (wait < 0, end == 0) {
                (true, _) => dropped::WAIT,
                (false, true) => dropped::NO_END,
                (false, false) => dropped::RUN,
            };
            sink.dropped(line.number, why);
            return Ok(());
        }
        // The hard limit, else the soft limit, at which the job receives a signal.
        let (hard, soft) = (fields.resource("h_rt"), fields.resource("s_rt"));
        let limit = hard.or(soft);
        let estimate = limit.and_then(pbs_duration);
        // INFINITY stands for no limit.
        if estimate.is_none() && limit.is_some_and(|limit| !limit.eq_ignore_ascii_case("infinity"))
        {
            sink.about("unreadable time limit, treated as unknown");
        }
        if is_idle {
            sink.about(noted::NEVER_STARTED);
        }
        if is_fine {
            sink.about("times in milliseconds, rounded to seconds");
        }
        let was_at_limit = [hard, soft].into_iter().flatten().filter_map(pbs_duration);
        let was_at_limit = was_at_limit.min().is_some_and(|limit| run >= limit);
        let status = match failed {
            _ if is_idle => status::CANCELLED,
            0 if fields.text(field::EXIT) == "0" => status::COMPLETED,
            0 => status::FAILED,
            SIGNAL if !was_at_limit => status::CANCELLED,
            _ if RESCHEDULED.contains(&failed) => status::PARTIAL,
            _ => status::FAILED,
        };
        self.id.clear();
        self.id.push_str(job);
        if task > 0 {
            self.id.push_str(&format!(".{task}"));
        }
        let entry = Entry {
            id: &self.id,
            submit,
            wait,
            run,
            size: slots,
            estimate,
            status,
            user: fields.text(field::OWNER),
            group: fields.text(field::GROUP),
            queue: fields.text(field::QUEUE),
            ..Entry::NONE
        };
        sink.job(line.number, &entry)?;
        Ok(())
    }
}
