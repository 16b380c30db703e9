//! The report of cleaning a trace: counts of drops and changes for each reason.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::dependencies::{DependencyCounts, Repeated, is_zero};
use super::extra_fields::ExtraFields;
use super::job::Job;
use crate::naming::texts;
use crate::number::{counted, grouped};
use crate::swf::Field;

texts! {
    /// The reason why cleaning dropped a record.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum DropReason {
        /// The record has no positive number of processors.
        SizeUnknown => "size not positive",
        /// The job was cancelled before it ran.
        Cancelled => "cancelled before it ran",
        /// The run time is below 0.
        RunNegative => "negative run time",
        /// The run time is 0.
        RunZero => "zero run time",
        /// The submit time is below 0.
        SubmitNegative => "negative submit time",
        /// The job needs more processors than the machine has.
        LargerThanMachine => "larger than the machine",
    }
}

texts! {
    /// A change that cleaning made to a record.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Change {
        /// The size was taken from the alternative field of the policy.
        SizeFallback => "size from the other field",
        /// The size was below the requested number of processors per node and was raised to this number.
        SizeRaised => "size raised to ppn",
        /// A negative run time was set to 0.
        RunToZero => "negative run time zeroed",
        /// The run time was rounded up to a multiple of the policy's grain.
        RunLengthened => "run time lengthened",
        /// The estimate was unknown or not used, and was computed from the run time.
        EstimateFromRun => "estimate set from run time",
        /// The estimate was below the run time and was raised to the run time.
        EstimateRaised => "estimate raised to run time",
        /// The estimate was below the policy's multiple of the run time and was raised to this multiple.
        EstimateMultiplied => "estimate raised to a multiple of run time",
        /// A negative submit time was set to 0.
        SubmitToZero => "negative submit time zeroed",
        /// A time with a fraction was rounded to the nearest second.
        TimeRounded => "time rounded to a second",
        /// The size was reduced to the size of the machine.
        SizeClamped => "size reduced to the machine's size",
        /// The job was renumbered.
        Renumbered => "job renumbered",
        /// The fraction of a time was cut off.
        TimeTruncated => "fraction of a second cut off",
    }
}

impl DropReason {
    /// Returns the name of the rule in [`Policy::describe`](super::Policy::describe) that drops records for this reason.
    pub(super) fn rule(self) -> &'static str {
        match self {
            DropReason::SizeUnknown => "size",
            DropReason::Cancelled => "cancelled before it ran",
            DropReason::RunNegative => "negative run time",
            DropReason::RunZero => "run time 0",
            DropReason::SubmitNegative => "negative submit time",
            DropReason::LargerThanMachine => "larger than the machine",
        }
    }
}

impl Change {
    /// Returns the changes in a set of bits.
    pub(super) fn of(bits: u16) -> impl Iterator<Item = Change> {
        Self::ALL.into_iter().filter(move |change| bits & change.bit() != 0)
    }

    /// Returns the bit of this change in a set of changes.
    pub(super) const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// Statistics of the records that cleaning dropped or changed. Counts are numbers of jobs (records).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CleaningReport {
    /// Name of the workload.
    pub name: String,
    /// Name of the policy.
    pub policy: String,
    /// Number of lines of the file: records, comments, blank lines and malformed lines.
    pub lines: u64,
    /// Number of comment lines, including the header.
    pub comments: u64,
    /// Blank lines.
    pub blank: u64,
    /// Number of records read.
    pub read: u64,
    /// Number of jobs kept by cleaning, before a window is applied.
    pub kept: u64,
    /// Number of kept jobs with at least one change.
    pub changed: u64,
    /// Number of dropped records for each reason.
    pub drops: BTreeMap<DropReason, u64>,
    /// Number of changed jobs for each change. A job with several changes is counted several times.
    pub changes: BTreeMap<Change, u64>,
    /// Number of skipped malformed lines for each reason (collecting mode).
    pub malformed: BTreeMap<String, u64>,
    /// For each reason, the line number of the first malformed line, 1-based.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub first_malformed: BTreeMap<String, u64>,
    /// Changes made to each kept job.
    #[serde(skip)]
    pub(super) changed_jobs: ChangedJobs,
    /// Statistics of records that repeat the job number of an earlier record.
    #[serde(skip_serializing_if = "Repeated::is_empty")]
    pub repeated: Repeated,
    /// Number of records for each number of fields below 18.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub short: BTreeMap<usize, u64>,
    /// Statistics of the fields after field 18.
    #[serde(skip_serializing_if = "ExtraFields::is_empty")]
    pub extra: ExtraFields,
    /// Statistics of dependencies between records.
    #[serde(skip_serializing_if = "DependencyCounts::is_empty")]
    pub dependencies: DependencyCounts,
    /// Number of jobs without a shape in the shapes file beside the trace.
    #[serde(skip_serializing_if = "is_zero")]
    pub without_shape: u64,
    /// Number of jobs kept by cleaning that were submitted before the window.
    pub before_window: u64,
    /// Number of jobs kept by cleaning that are after the window: jobs submitted after its end, and jobs beyond its
    /// maximum number of jobs.
    pub after_window: u64,
}

/// Changes made to the kept jobs, run-length encoded. Each entry contains a line and the set of changes of the job on
/// this line. The set also applies to the following jobs, up to the next entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ChangedJobs {
    begins: Arc<Vec<(u32, u16)>>,
}

impl ChangedJobs {
    /// Adds the changes of the job on line `line`.
    pub fn push(&mut self, line: u32, bits: u16) {
        let before = self.begins.last().map_or(0, |begin| begin.1);
        if bits != before {
            Arc::make_mut(&mut self.begins).push((line, bits));
        }
    }

    fn of(&self, job: &Job) -> u16 {
        let after = self.begins.partition_point(|begin| begin.0 <= job.line);
        after.checked_sub(1).map_or(0, |at| self.begins[at].1)
    }
}

impl CleaningReport {
    /// Returns the number of dropped records.
    pub fn dropped(&self) -> u64 {
        self.drops.values().sum()
    }

    /// Counts a job as dropped after it was counted as kept.
    pub(super) fn drop_kept(&mut self, job: &Job, reason: DropReason) {
        *self.drops.entry(reason).or_default() += 1;
        self.kept = self.kept.saturating_sub(1);
        let bits = self.changed_jobs.of(job);
        self.changed = self.changed.saturating_sub(u64::from(bits != 0));
        for change in Change::of(bits) {
            if let Some(count) = self.changes.get_mut(&change) {
                *count -= 1;
            }
        }
        self.changes.retain(|_, count| *count > 0);
    }

    /// Counts a kept job as clamped to the machine.
    pub(super) fn clamp_kept(&mut self, job: &Job) {
        *self.changes.entry(Change::SizeClamped).or_default() += 1;
        let is_new = u64::from(self.changed_jobs.of(job) == 0);
        self.changed = (self.changed + is_new).min(self.kept);
    }

    /// Returns the number of records for each number of fields.
    pub fn by_fields(&self) -> BTreeMap<usize, u64> {
        let mut all = self.short.clone();
        all.extend(&self.extra.records);
        let others = all.values().sum();
        if let whole @ 1.. = self.read.saturating_sub(others) {
            all.insert(Field::COUNT, whole);
        }
        all
    }

    /// Returns the number of jobs outside the window.
    pub fn outside_window(&self) -> u64 {
        self.before_window + self.after_window
    }
}

impl fmt::Display for CleaningReport {
    /// Formats the report as a single line, for example `KTH-SP2-1996-2: 28,489 records, 28,489 jobs kept; 0 dropped;
    /// 475 changed (estimate raised to run time 475)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (read, kept) = (counted(self.read, "record"), counted(self.kept, "job"));
        write!(f, "{}: {read}, {kept} kept; ", self.name)?;
        write!(f, "{} dropped{}; ", grouped(self.dropped()), by_reason(&self.drops))?;
        write!(f, "{} changed{}", grouped(self.changed), by_reason(&self.changes))?;
        if !self.malformed.is_empty() {
            let lines: u64 = self.malformed.values().sum();
            let reason = |(reason, &count): (&String, &u64)| {
                let first = self.first_malformed.get(reason).copied().unwrap_or_default();
                format!("{reason} {}, first in line {first}", grouped(count))
            };
            let reasons: Vec<String> = self.malformed.iter().map(reason).collect();
            write!(f, "; {} skipped ({})", counted(lines, "bad line"), reasons.join("; "))?;
        }
        if let Repeated { count: 1.., first_line, job } = self.repeated {
            let records = counted(self.repeated.count, "record");
            write!(
                f,
                "; {records} with the number of an earlier record, first in line {first_line}: job {job}"
            )?;
        }
        if !self.short.is_empty() && self.by_fields().len() > 1 {
            let of = |(fields, records): (&usize, &u64)| {
                format!("{fields} in {}", counted(*records, "record"))
            };
            let counts: Vec<String> = self.by_fields().iter().map(of).collect();
            write!(f, "; fields: {}; missing fields are unknown", counts.join(", "))?;
        }
        if !self.extra.is_empty() {
            write!(f, "; {}", self.extra)?;
        }
        if !self.dependencies.is_empty() {
            write!(f, "; {}", self.dependencies)?;
        }
        if self.without_shape > 0 {
            let jobs = counted(self.without_shape, "job");
            write!(f, "; {jobs} without a shape in the shapes file")?;
        }
        if self.outside_window() > 0 {
            let (before, after) = (grouped(self.before_window), grouped(self.after_window));
            write!(
                f,
                "; {} outside the window ({before} before, {after} after)",
                grouped(self.outside_window())
            )?;
        }
        Ok(())
    }
}

/// Formats counts as ` (reason 2, reason 1)`; empty if there are no counts.
fn by_reason<R: fmt::Display>(counts: &BTreeMap<R, u64>) -> String {
    let parts: Vec<String> =
        counts.iter().map(|(reason, &count)| format!("{reason} {}", grouped(count))).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_one_line() {
        let mut report = CleaningReport {
            name: "T".into(),
            read: 1_234_567,
            kept: 1_234_564,
            changed: 4,
            ..Default::default()
        };
        report.drops.insert(DropReason::SizeUnknown, 3);
        report.changes.insert(Change::EstimateRaised, 4);
        report.changes.insert(Change::RunToZero, 1);
        let expected = "T: 1,234,567 records, 1,234,564 jobs kept; 3 dropped (size not positive 3); \
                        4 changed (negative run time zeroed 1, estimate raised to run time 4)";
        assert_eq!(report.to_string(), expected);
        report.after_window = 1000;
        assert!(report.to_string().ends_with("; 1,000 outside the window (0 before, 1,000 after)"));
    }
}
