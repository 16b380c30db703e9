//! Dependencies between jobs: jobs that are submitted after another job has ended (SWF fields 17 and 18).
//!
//! The dependencies of a trace are always [counted](DependencyCounts). A replay ignores the dependencies if
//! [`Dependencies`] selects no rule, because the submit times of a log already reflect its dependencies. Dependencies
//! matter only if jobs end at other times in the replay than in the log.
//!
//! Field 17 is the job number of the predecessor, or several job numbers (`1&2&3`); a job with several predecessors
//! arrives after all of them have ended. If several records have this number, the predecessor is the last of
//! these records before the dependent record. If all records with this number are after the dependent record, the
//! predecessor is the first of these records.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::job::{Job, JobId};
use crate::naming::nearest;
use crate::number::grouped;
use crate::sanitize::excerpt;
use crate::swf::Record;

/// The treatment of the dependencies of a trace in a replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Dependencies {
    /// Dependencies are ignored.
    #[default]
    Ignore,
    /// A job arrives at its submit time, or at its predecessor's end plus the think time (field 18), whichever is
    /// later.
    Honour,
    /// The time between the predecessor's end and a job's arrival is the same as in the log.
    Shift,
    /// The rule of [`Honour`](Dependencies::Honour) is applied even if field 17 is the same in all records.
    Force,
}

impl Dependencies {
    /// All rules, each with its name.
    pub const ALL: [(&'static str, Dependencies); 4] = [
        ("ignore", Dependencies::Ignore),
        ("honour", Dependencies::Honour),
        ("shift", Dependencies::Shift),
        ("force", Dependencies::Force),
    ];

    /// Returns the name of the rule on the command line.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, rule)| *rule == self).map_or("", |(name, _)| name)
    }
}

/// Error: the name of a dependency rule is unknown.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("\"{word}\" is not one of ignore, honour, shift, force{advice}")]
pub struct DependenciesError {
    word: String,
    advice: String,
}

impl FromStr for Dependencies {
    type Err = DependenciesError;

    fn from_str(word: &str) -> Result<Self, DependenciesError> {
        let named = |name: &str| Self::ALL.iter().find(|(known, _)| *known == name);
        let (american, word) = (word == "honor", word.trim());
        named(if american { "honour" } else { word }).map(|(_, rule)| *rule).ok_or_else(|| {
            let near = nearest(word, Self::ALL.iter().map(|(name, _)| *name));
            let advice = near.map_or(String::new(), |near| format!("; did you mean \"{near}\"?"));
            DependenciesError { word: excerpt(word), advice }
        })
    }
}

/// A predecessor of a job, with bounds on the arrival of the job. A job with several predecessors arrives at the latest
/// of their bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Follows {
    /// The job that must end first.
    pub job: JobId,
    /// Earliest arrival of the dependent job, in trace seconds.
    pub earliest: i64,
    /// Minimum time from the predecessor's end to the arrival, in seconds.
    pub lag: i64,
}

impl Follows {
    /// Returns the arrival time of the dependent job if its predecessor ends at `end`.
    pub fn arrival(&self, end: i64) -> i64 {
        end.saturating_add(self.lag).max(self.earliest)
    }
}

/// Statistics of records that repeat the job number of an earlier record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeated {
    /// Number of records that repeat a job number.
    pub count: u64,
    /// Line of the first record that repeats a job number, 1-based.
    pub first_line: u64,
    /// Job number of the record on line `first_line`.
    pub job: i64,
}

impl Repeated {
    /// Returns whether no job number is repeated.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// Statistics of the contents of fields 17 and 18.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DependencyCounts {
    /// Number of records with a value above 0 in field 17.
    pub named: u64,
    /// Number of records with several values above 0 in field 17.
    #[serde(skip_serializing_if = "is_zero")]
    pub several: u64,
    /// Number of predecessors that are earlier in the file than the dependent record.
    pub earlier: u64,
    /// Number of predecessors that are later in the file.
    pub later: u64,
    /// Number of values in field 17 that are not the job number of any record.
    pub absent: u64,
    /// Number of values in field 17 that are the job number of the record itself.
    pub itself: u64,
    /// Number of records with a value above 0 in field 18.
    pub think: u64,
    /// The value of field 17, if the trace has several records and the value is above 0 and the same in all records. A
    /// constant value of field 17 is not a dependency.
    pub constant: Option<i64>,
}

impl DependencyCounts {
    /// Returns whether no record has a predecessor or a think time.
    pub fn is_empty(&self) -> bool {
        self.named == 0 && self.think == 0
    }
}

impl fmt::Display for DependencyCounts {
    /// Formats the counts: `7 records with a preceding job: 5 usable (4 earlier in the file, 1 later), 1 absent,
    /// 1 referring to itself; 2 with a think time`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { named, several, earlier, later, absent, itself, think, constant } = *self;
        let plural = if named == 1 { "" } else { "s" };
        write!(f, "{} record{plural} with a preceding job", grouped(named))?;
        if several > 0 {
            let all = grouped(earlier + later + absent + itself);
            write!(
                f,
                ", {} of these with several, in total {all} preceding jobs",
                grouped(several)
            )?;
        }
        match constant {
            Some(value) => {
                write!(f, ", but the preceding job is {value} in all records (not meaningful)")?
            }
            None if named > 0 => write!(
                f,
                ": {} usable ({} earlier in the file, {} later), {} absent, {} referring to itself",
                grouped(earlier + later),
                grouped(earlier),
                grouped(later),
                grouped(absent),
                grouped(itself)
            )?,
            None => {}
        }
        match think {
            0 => Ok(()),
            think => write!(f, "; {} with a think time", grouped(think)),
        }
    }
}

/// The dependencies of a trace, sorted by line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// Predecessors in the file, sorted by the line of the dependent record.
    links: Vec<Link>,
    constant: bool,
    /// Repeated job numbers in ascending order, each with the lines of the first two records that have this number.
    twice: Vec<(i64, [u32; 2])>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Link {
    line: u32,
    /// Line of the predecessor.
    after: u32,
    /// Think time in seconds; 0 if unknown.
    think: i64,
    /// Submit time minus the predecessor's recorded end, in seconds, if both are known.
    gap: Option<i64>,
}

/// Number of ignored dependencies, for each reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ignored {
    /// The predecessor is not replayed: cleaning dropped it, or it is outside the window.
    pub dropped: u64,
    /// The dependency would close a cycle.
    pub cycles: u64,
    /// The rule is [`Dependencies::Shift`], and the predecessor's recorded end is unknown.
    pub no_end: u64,
    /// Field 17 is the same in all records.
    pub constant: u64,
}

/// The dependencies of the jobs of a replay, by [`JobId`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chains {
    /// The dependencies of each job. Dependencies form no cycle.
    pub follows: Vec<Vec<Follows>>,
    /// Counts of ignored dependencies.
    pub ignored: Ignored,
}

impl Chains {
    /// Returns the number of jobs with a dependency.
    pub fn kept(&self) -> u64 {
        self.follows.iter().filter(|all| !all.is_empty()).count() as u64
    }
}

impl fmt::Display for Chains {
    /// Formats the counts: `5 jobs follow others; ignored: 1 whose predecessor is not replayed, ..`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.kept();
        let (jobs, follow) = if kept == 1 { ("job", "follows") } else { ("jobs", "follow") };
        write!(f, "{} {jobs} {follow} others", grouped(kept))?;
        let Ignored { dropped, cycles, no_end, constant } = self.ignored;
        let kinds = [
            (dropped, "whose predecessor is not replayed"),
            (cycles, "that would close a cycle"),
            (no_end, "whose predecessor has no recorded end"),
            (constant, "whose field 17 is the same in all records (see --deps force)"),
        ];
        let nonzero: Vec<_> = kinds.iter().filter(|(count, _)| *count > 0).collect();
        for (i, (count, what)) in nonzero.iter().enumerate() {
            let before = if i == 0 { "; ignored: " } else { ", " };
            write!(f, "{before}{} {what}", grouped(*count))?;
        }
        Ok(())
    }
}

/// Collects the dependencies of a trace, record by record.
#[derive(Debug, Default)]
pub(super) struct Linker {
    /// Job number, line and recorded end of each record.
    seen: Vec<(i64, u32, Option<i64>)>,
    /// Line, job number, predecessor's job number, think time and submit time for each predecessor in field 17.
    named: Vec<(u32, i64, i64, i64, Option<i64>)>,
    /// Number of records with a predecessor in field 17.
    dependent: u64,
    /// Number of records with several predecessors in field 17.
    several: u64,
    think: u64,
    /// Whether some job number is not larger than the previous job number. In strictly ascending order, no number is
    /// repeated.
    unordered: bool,
    /// See [`Links::repeated_lines`].
    twice: Vec<(i64, [u32; 2])>,
}

impl Linker {
    /// Adds the record on line `line`; all lines above `u32::MAX` are recorded as line `u32::MAX`. `others` contains the
    /// preceding jobs after the first.
    pub fn push(&mut self, line: u64, record: &Record, others: &[i64]) {
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        let known = |time: f64| (time >= 0.0).then_some(time as i64);
        let submit = known(record.submit_time);
        let end = || Some(submit? + known(record.wait_time)? + known(record.run_time)?);
        self.unordered |= self.seen.last().is_some_and(|last| last.0 >= record.job_number);
        self.seen.push((record.job_number, line, end()));
        self.think += u64::from(record.think_time > 0.0);
        let (first, think) = (self.named.len(), record.think_time.max(0.0) as i64);
        for &before in [record.preceding_job].iter().chain(others) {
            if before > 0 && self.named[first..].iter().all(|link| link.2 != before) {
                self.named.push((line, record.job_number, before, think, submit));
            }
        }
        self.dependent += u64::from(self.named.len() > first);
        self.several += u64::from(self.named.len() > first + 1);
    }

    /// Returns the statistics of records that repeat the job number of an earlier record. Negative numbers mean unknown
    /// and are not compared.
    pub fn repeated(&mut self) -> Repeated {
        let mut repeated = Repeated::default();
        if !self.unordered {
            return repeated;
        }
        self.seen.sort_unstable();
        for pair in self.seen.windows(2) {
            let [(before, first, _), (job, line, _)] = [pair[0], pair[1]];
            if before != job || job < 0 {
                continue;
            }
            if self.twice.last().is_none_or(|last| last.0 != job) {
                self.twice.push((job, [first, line]));
            }
            if repeated.count == 0 || u64::from(line) < repeated.first_line {
                (repeated.first_line, repeated.job) = (line.into(), job);
            }
            repeated.count += 1;
        }
        repeated
    }

    /// Returns the dependencies of the trace and their counts.
    pub fn finish(mut self) -> (Links, DependencyCounts) {
        let (named, several) = (self.dependent, self.several);
        let mut counts =
            DependencyCounts { named, several, think: self.think, ..Default::default() };
        let first = self.named.first().map(|link| link.2);
        if self.seen.len() > 1 && several == 0 && self.named.len() == self.seen.len() {
            counts.constant = first.filter(|value| self.named.iter().all(|link| link.2 == *value));
        }
        let (constant, twice) = (counts.constant.is_some(), std::mem::take(&mut self.twice));
        let mut links = Links { links: Vec::new(), constant, twice };
        if self.named.is_empty() {
            return (links, counts);
        }
        self.seen.sort_unstable();
        for &(line, number, before, think, submit) in &self.named {
            if number == before {
                counts.itself += 1;
                continue;
            }
            let first = self.seen.partition_point(|seen| seen.0 < before);
            let all = &self.seen[first..];
            let all = &all[..all.partition_point(|seen| seen.0 == before)];
            let earlier = all.partition_point(|seen| seen.1 < line);
            let Some(&(_, after, end)) =
                earlier.checked_sub(1).map_or(all.first(), |last| all.get(last))
            else {
                counts.absent += 1;
                continue;
            };
            *(if after < line { &mut counts.earlier } else { &mut counts.later }) += 1;
            let gap = submit.zip(end).map(|(submit, end)| submit - end);
            links.links.push(Link { line, after, think, gap });
        }
        (links, counts)
    }
}

impl Links {
    /// If several records have job number `number`, returns the lines of the first two of these records.
    ///
    /// Data that refer to a job by a repeated number are ambiguous.
    pub fn repeated_lines(&self, number: i64) -> Option<[u32; 2]> {
        let at = self.twice.binary_search_by_key(&number, |&(number, _)| number).ok()?;
        Some(self.twice[at].1)
    }

    /// Computes the dependencies of `jobs` under a rule.
    ///
    /// In each cycle of dependencies, the dependencies of the job that is last in the file are ignored if they close the
    /// cycle.
    pub fn chains(&self, jobs: &[Job], rule: Dependencies) -> Chains {
        let mut chains = Chains::default();
        if rule == Dependencies::Ignore || self.links.is_empty() {
            return chains;
        }
        let ids: HashMap<u32, JobId> =
            jobs.iter().zip((0..).map(JobId)).map(|(job, id)| (job.line, id)).collect();
        let ignored = &mut chains.ignored;
        let mut follow = |job: &Job, link: &Link| {
            let Link { after, think, gap, .. } = *link;
            if self.constant && rule != Dependencies::Force {
                ignored.constant += 1;
                return None;
            }
            let Some(&before) = ids.get(&after) else {
                ignored.dropped += 1;
                return None;
            };
            match (rule, gap) {
                (Dependencies::Shift, Some(gap)) => {
                    Some(Follows { job: before, earliest: i64::MIN, lag: gap.max(0) })
                }
                (Dependencies::Shift, None) => {
                    ignored.no_end += 1;
                    None
                }
                _ => Some(Follows { job: before, earliest: job.submit, lag: think }),
            }
        };
        let all = jobs.iter().map(|job| {
            let first = self.links.partition_point(|link| link.line < job.line);
            let links = self.links[first..].iter().take_while(|link| link.line == job.line);
            links.filter_map(|link| follow(job, link)).collect()
        });
        chains.follows = all.collect();
        chains.ignored.cycles = break_cycles(&mut chains.follows, jobs);
        chains
    }
}

/// Removes, in the order of the file, each dependency that closes a cycle with dependencies of jobs earlier in the file.
/// Returns the number of removed dependencies.
fn break_cycles(follows: &mut [Vec<Follows>], jobs: &[Job]) -> u64 {
    let edges = follows.iter().enumerate().flat_map(|(dependent, all)| {
        all.iter().map(move |follows| (follows.job.index(), dependent))
    });
    // The last job of a cycle has a dependent that is earlier in the file.
    let is_earlier =
        |&(before, dependent): &(usize, usize)| jobs[dependent].line < jobs[before].line;
    let mut last_jobs: Vec<usize> = edges.clone().filter(is_earlier).map(|edge| edge.0).collect();
    if last_jobs.is_empty() {
        return 0;
    }
    last_jobs.sort_unstable_by_key(|&job| jobs[job].line);
    last_jobs.dedup();
    let mut all_dependents: HashMap<usize, Vec<usize>> = HashMap::new();
    for (before, dependent) in edges {
        all_dependents.entry(before).or_default().push(dependent);
    }
    let mut broken = 0;
    for last in last_jobs {
        let is_after = |follows: &Follows| jobs[follows.job.index()].line < jobs[last].line;
        if !follows[last].iter().any(is_after) {
            continue;
        }
        // Find the jobs that depend on `last`, directly or not, and are earlier in the file.
        let mut dependents = HashSet::from([last]);
        let mut open = vec![last];
        while let Some(job) = open.pop() {
            for &dependent in all_dependents.get(&job).into_iter().flatten() {
                let depends = follows[dependent].iter().any(|follows| follows.job.index() == job);
                if jobs[dependent].line < jobs[last].line && depends && dependents.insert(dependent)
                {
                    open.push(dependent);
                }
            }
        }
        let count = follows[last].len();
        follows[last].retain(|follows| !dependents.contains(&follows.job.index()));
        broken += (count - follows[last].len()) as u64;
    }
    broken
}

pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests;
