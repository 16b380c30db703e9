//! Applies a cleaning policy: turns trace records into jobs and a report.

use super::error::{AnyField, CleaningError, Problem};
use super::extra_fields::Extra;
use super::job::Job;
use super::oversize;
use super::policy::{Policy, Repair, Rounding, SizeSource};
use super::report::{Change, CleaningReport, DropReason};
use crate::number::{counted, grouped};
use crate::swf::{Field, Record};

impl Policy {
    /// Cleans `records`. Each record comes with its line number (1-based; 0 if there is no file).
    ///
    /// Returns a report and the jobs, sorted by submit time. Jobs with equal submit times are in the order of their
    /// records. If `machine_procs` is given, the policy's rule for jobs larger than the machine is applied.
    ///
    /// # Errors
    /// [`CleaningError`] if the policy does not admit a record. The error does not name a file;
    /// [`CleaningError::in_file`] adds the name.
    ///
    /// ```
    /// use replay_workload::{swf::Record, workload::Policy};
    ///
    /// let record = Record { submit_time: 0.0, run_time: 60.0, allocated_processors: 4, ..Record::UNKNOWN };
    /// let (jobs, report) = Policy::JOHNSON.apply([(1, record), (2, Record::UNKNOWN)], Some(16))?;
    /// assert_eq!((jobs.len(), jobs[0].estimate, report.dropped()), (1, 60, 1));
    /// # Ok::<(), replay_workload::workload::CleaningError>(())
    /// ```
    pub fn apply(
        &self,
        records: impl IntoIterator<Item = (u64, Record)>,
        machine_procs: Option<u32>,
    ) -> Result<(Vec<Job>, CleaningReport), CleaningError> {
        let mut cleaner = Cleaner::new(self, machine_procs);
        for (line, record) in records {
            cleaner.push(line, &record)?;
        }
        Ok(cleaner.finish())
    }
}

/// Applies a policy record by record; [`Policy::apply`] cleans a whole trace.
pub struct Cleaner<'a> {
    policy: &'a Policy,
    machine_procs: Option<u32>,
    jobs: Vec<Job>,
    report: CleaningReport,
    /// The first dropped records and their fields after field 18, until a job is kept.
    dropped: Vec<(Record, Vec<u8>)>,
}

/// Maximum number of dropped records that are cleaned again by other policies, for the hint of [`Cleaner::advice`].
const MAX_DROPPED: usize = 1000;

/// Maximum length of the fields after field 18 of such a record, in bytes.
const MAX_EXTRA: usize = 1 << 16;

/// Maximum number of policies in a hint.
const MAX_ADVISED: usize = 3;

/// A record during cleaning, with the changes made so far.
struct Draft<'a> {
    policy: &'a Policy,
    line: u64,
    record: &'a Record,
    /// Fields after field 18.
    extra: Extra<'a>,
    /// Changes made so far, one bit per [`Change`].
    changes: u16,
}

/// The reason why the cleaning of a record ends without a job.
enum Stop {
    Drop(DropReason),
    Error(Box<CleaningError>),
}

impl<'a> Cleaner<'a> {
    /// Creates a cleaner without jobs.
    pub fn new(policy: &'a Policy, machine_procs: Option<u32>) -> Cleaner<'a> {
        let mut report =
            CleaningReport { policy: policy.name.to_owned(), ..CleaningReport::default() };
        report.extra.used = policy.size.is_extra();
        Cleaner { policy, machine_procs, jobs: Vec::new(), report, dropped: Vec::new() }
    }

    /// Cleans the next record, which is on line `line` (1-based; 0 if there is no file).
    ///
    /// # Errors
    /// [`CleaningError`] if the policy does not admit the record; the cleaner must not be used afterwards.
    pub fn push(&mut self, line: u64, record: &Record) -> Result<(), CleaningError> {
        self.push_wide(line, record, b"")
    }

    /// Cleans the next record like [`Cleaner::push`]; `extra` is the text after field 18.
    ///
    /// # Errors
    /// [`CleaningError`], as for [`Cleaner::push`].
    pub fn push_wide(
        &mut self,
        line: u64,
        record: &Record,
        extra: &[u8],
    ) -> Result<(), CleaningError> {
        self.report.read += 1;
        let extra_fields = !extra.is_empty();
        let text = extra;
        let extra = Extra::new(extra);
        let mut draft = Draft { policy: self.policy, line, record, extra, changes: 0 };
        if extra_fields {
            if self.policy.strict {
                return Err(draft.cleaning_error(AnyField::Extra(19), Problem::TooManyFields));
            }
            self.report.extra.count(extra);
            self.report.extra.sizes += u64::from(self.policy.size.is_found_in(extra));
        }
        match draft.job(self.jobs.len(), self.machine_procs) {
            Ok(job) => {
                self.report.kept += 1;
                self.report.changed += u64::from(draft.changes != 0);
                self.report.changed_jobs.push(job.line, draft.changes);
                for change in Change::of(draft.changes) {
                    *self.report.changes.entry(change).or_default() += 1;
                }
                self.jobs.push(job);
                self.dropped.clear();
                Ok(())
            }
            Err(Stop::Drop(reason)) => {
                *self.report.drops.entry(reason).or_default() += 1;
                let is_room = self.dropped.len() < MAX_DROPPED && text.len() <= MAX_EXTRA;
                if self.jobs.is_empty() && is_room {
                    self.dropped.push((*record, text.to_vec()));
                }
                Ok(())
            }
            Err(Stop::Error(error)) => Err(*error),
        }
    }

    /// Returns a hint for a policy that has kept no job: policies that keep most of the records, with their different
    /// rules. The hint is based on the first 1,000 records. Empty if a job was kept.
    pub(super) fn advice(&self) -> String {
        if !self.jobs.is_empty() || self.dropped.is_empty() {
            return String::new();
        }
        let tried = self.dropped.len() as u64;
        let rules = |policy: &Policy| -> Vec<String> {
            let settings = policy.describe().into_iter().zip(self.policy.describe());
            let differs = settings.filter(|(row, own)| {
                row.setting != own.setting
                    && self.report.drops.keys().any(|reason| reason.rule() == row.rule)
            });
            differs.map(|(row, _)| format!("{}: {}", row.rule, row.setting)).collect()
        };
        let kept = |policy: &&'static Policy| {
            let mut cleaner = Cleaner::new(policy, self.machine_procs);
            for (record, extra) in &self.dropped {
                cleaner.push_wide(0, record, extra).ok()?;
            }
            let (kept, rules) = (cleaner.report.kept, rules(policy));
            (kept > 0 && !rules.is_empty()).then_some((policy.name, kept, rules))
        };
        let mut advised: Vec<_> =
            Policy::ALL.iter().filter(|policy| !policy.strict).filter_map(kept).collect();
        advised.sort_by_key(|advised| std::cmp::Reverse(advised.1));
        let text = advised.iter().take(MAX_ADVISED).map(|(name, kept, rules)| {
            let (kept, rules) = (grouped(*kept), rules.join(", "));
            format!("--policy {name} keeps {kept} of {} ({rules})", counted(tried, "record"))
        });
        let text: Vec<String> = text.collect();
        let has_no_size = self.report.drops.keys().eq([&DropReason::SizeUnknown]);
        match text.is_empty() {
            false => text.join("; "),
            true if has_no_size => "no policy finds a size: fields 5 and 8 have none".to_owned(),
            true => "no policy keeps these records".to_owned(),
        }
    }

    /// Returns the jobs, stably sorted by submit time, and the report.
    pub fn finish(mut self) -> (Vec<Job>, CleaningReport) {
        self.jobs.sort_by_key(|job| job.submit);
        (self.jobs, self.report)
    }
}

impl Draft<'_> {
    /// Applies all rules in order. `index` is the number of jobs that were kept before this record.
    fn job(&mut self, index: usize, machine_procs: Option<u32>) -> Result<Job, Stop> {
        let policy = self.policy;
        let (size, size_field) = self.size()?;
        let run = self.run()?;
        let estimate = self.estimate(run)?;
        if policy.drop_tight_estimate && estimate <= run {
            return Err(self.drop(DropReason::EstimateTight, Field::RequestedTime));
        }
        let run = self.lengthen(run)?;
        let submit = self.submit()?;
        let size = self.fit(size, size_field, machine_procs)?;
        let number = match index as i64 {
            index if policy.renumber && index != self.record.job_number => {
                self.change(Change::Renumbered, Field::JobNumber)?;
                index
            }
            _ => self.record.job_number,
        };
        let line = u32::try_from(self.line).unwrap_or(u32::MAX);
        let limit = self.limit();
        Ok(Job { number, submit, run, estimate, size, line, shape: None, limit })
    }

    /// Returns the requested time as recorded in the log, in seconds. No policy changes this value, and its conversion
    /// to an integer is not counted as a change.
    fn limit(&self) -> Option<u32> {
        let requested = self.record.requested_time;
        // The cast truncates fractions and saturates at 32 bits.
        (requested > 0.0).then_some((requested as u32).max(1))
    }

    fn size(&mut self) -> Result<(u32, AnyField), Stop> {
        let allocated = (self.record.allocated_processors, Field::AllocatedProcessors.into());
        let requested = (self.record.requested_processors, Field::RequestedProcessors.into());
        let (first, second) = match self.policy.size {
            SizeSource::FrontierNodes => {
                let nodes = self.extra.descriptor().map_or(-1, |found| found.nodes);
                ((nodes, AnyField::Extra(21)), Some(allocated))
            }
            SizeSource::CeritProcessors => {
                let least = self.extra.processors_per_node().unwrap_or(0);
                if (1..least).contains(&allocated.0) {
                    self.change(Change::SizeRaised, allocated.1)?;
                    ((least, AnyField::Extra(21)), None)
                } else {
                    (allocated, None)
                }
            }
            SizeSource::CeritNodes => {
                let each = self.extra.processors_per_node().unwrap_or(1).max(1);
                let nodes = self.extra.distinct_nodes().unwrap_or(-1);
                let processors = allocated.0.max(0);
                let spread = processors / each + i64::from(processors % each > 0);
                ((nodes, AnyField::Extra(19)), Some((spread, allocated.1)))
            }
            SizeSource::Allocated => (allocated, None),
            SizeSource::AllocatedElseRequested => (allocated, Some(requested)),
            SizeSource::RequestedElseAllocated => (requested, Some(allocated)),
        };
        let (size, field) = match (first, second) {
            ((size, _), Some(second)) if size <= 0 && second.0 > 0 => {
                self.change(Change::SizeFallback, first.1)?;
                second
            }
            _ => first,
        };
        if size <= 0 {
            return Err(self.drop(DropReason::SizeUnknown, field));
        }
        match u32::try_from(size) {
            Ok(size) => Ok((size, field)),
            Err(_) => Err(self.error(field, Problem::SizeOutOfRange { size })),
        }
    }

    fn run(&mut self) -> Result<i64, Stop> {
        // Records built in code may contain NaN, which means unknown, like -1.
        let run = if self.record.run_time.is_nan() { -1.0 } else { self.record.run_time };
        if self.policy.drop_cancelled && self.record.status == 5 && run <= 0.0 {
            return Err(self.drop(DropReason::Cancelled, Field::Status));
        }
        if run < 0.0 {
            return match self.policy.negative_run {
                Repair::Drop => Err(self.drop(DropReason::RunNegative, Field::RunTime)),
                Repair::Zero => self.change(Change::RunToZero, Field::RunTime).map(|()| 0),
            };
        }
        let run = self.seconds(run, Field::RunTime)?;
        if self.policy.drop_zero_run && run == 0 {
            return Err(self.drop(DropReason::RunZero, Field::RunTime));
        }
        Ok(run)
    }

    fn estimate(&mut self, run: i64) -> Result<i64, Stop> {
        let rule = self.policy.estimate;
        let requested = self.record.requested_time;
        let known =
            rule.requested && if rule.zero_is_unknown { requested > 0.0 } else { requested >= 0.0 };
        if !known {
            self.change(Change::EstimateFromRun, Field::RequestedTime)?;
            return Ok(run.saturating_mul(i64::from(rule.missing.max(rule.floor))));
        }
        let estimate = self.seconds(requested, Field::RequestedTime)?;
        let floor = run.saturating_mul(i64::from(rule.floor));
        if estimate >= floor {
            return Ok(estimate);
        }
        let change =
            if rule.floor == 1 { Change::EstimateRaised } else { Change::EstimateMultiplied };
        self.change(change, Field::RequestedTime)?;
        Ok(floor)
    }

    fn lengthen(&mut self, run: i64) -> Result<i64, Stop> {
        let grain = i64::from(self.policy.run_grain);
        if grain == 0 {
            return Ok(run);
        }
        self.change(Change::RunLengthened, Field::RunTime)?;
        Ok((run / grain).saturating_add(1).saturating_mul(grain))
    }

    fn submit(&mut self) -> Result<i64, Stop> {
        let submit = self.record.submit_time;
        if submit >= 0.0 {
            return self.seconds(submit, Field::SubmitTime);
        }
        match self.policy.negative_submit {
            Repair::Drop => Err(self.drop(DropReason::SubmitNegative, Field::SubmitTime)),
            Repair::Zero => self.change(Change::SubmitToZero, Field::SubmitTime).map(|()| 0),
        }
    }

    fn fit(&mut self, size: u32, field: AnyField, machine_procs: Option<u32>) -> Result<u32, Stop> {
        let Some(procs) = machine_procs.filter(|&procs| size > procs) else { return Ok(size) };
        match oversize::verdict(self.policy.oversize, procs) {
            None => Err(self.error(field, Problem::LargerThanMachine { size, procs })),
            Some(0) => Err(self.drop(DropReason::LargerThanMachine, field)),
            Some(procs) => self.change(Change::SizeClamped, field).map(|()| procs),
        }
    }

    /// Converts a non-negative time to whole seconds.
    fn seconds(&mut self, time: f64, field: Field) -> Result<i64, Stop> {
        let (whole, change) = match self.policy.rounding {
            Rounding::Truncate => (time.trunc(), Change::TimeTruncated),
            Rounding::Nearest => (time.round(), Change::TimeRounded),
        };
        if whole != time {
            self.change(change, field)?;
        }
        Ok(whole as i64)
    }

    #[inline]
    fn change(&mut self, change: Change, field: impl Into<AnyField>) -> Result<(), Stop> {
        if self.policy.strict {
            return Err(self.error(field.into(), Problem::Change(change)));
        }
        self.changes |= change.bit();
        Ok(())
    }

    fn drop(&self, reason: DropReason, field: impl Into<AnyField>) -> Stop {
        if self.policy.strict {
            self.error(field.into(), Problem::Drop(reason))
        } else {
            Stop::Drop(reason)
        }
    }

    #[cold]
    fn error(&self, field: AnyField, problem: Problem) -> Stop {
        Stop::Error(Box::new(self.cleaning_error(field, problem)))
    }

    #[cold]
    fn cleaning_error(&self, field: AnyField, problem: Problem) -> CleaningError {
        let (policy, job) = (self.policy.name.to_owned(), self.record.job_number);
        CleaningError { file: None, line: self.line, job, field, policy, problem }
    }
}
