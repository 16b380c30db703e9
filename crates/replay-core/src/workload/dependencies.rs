//! Jobs that are submitted when another one has ended (SWF fields 17 and 18).
//!
//! What a trace says of them is always [counted](DependencyCounts). A replay passes over it unless it is
//! told otherwise ([`Dependencies`]): a log that was recorded has the submissions themselves, and only
//! in a replay, where jobs end at other times, do they depend on anything.
//!
//! A predecessor is meant by its number. Where several records have it, it is the last of them before
//! the record, else the first after it.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::job::{Job, JobId};
use crate::naming::nearest;
use crate::number::grouped;
use crate::sanitize::excerpt;
use crate::swf::Record;

/// What is done with the dependencies of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Dependencies {
    /// Nothing.
    #[default]
    Ignore,
    /// A job arrives when it was submitted, but not before its predecessor's end and the think time.
    Honour,
    /// A job arrives as long after its predecessor's end as it did in the log.
    Shift,
    /// As [`Honour`](Dependencies::Honour), even where field 17 is the same in all records.
    Force,
}

impl Dependencies {
    /// Every rule with its name.
    pub const ALL: [(&'static str, Dependencies); 4] = [
        ("ignore", Dependencies::Ignore),
        ("honour", Dependencies::Honour),
        ("shift", Dependencies::Shift),
        ("force", Dependencies::Force),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, rule)| *rule == self).map_or("", |(name, _)| name)
    }
}

/// A word that is no rule for dependencies.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("\"{word}\" is none of ignore, honour, shift, force{advice}")]
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

/// What a job follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Follows {
    /// The job that must end before.
    pub job: JobId,
    /// The job does not arrive before this, in trace seconds.
    pub earliest: i64,
    /// Nor sooner than so many seconds after that end.
    pub lag: i64,
}

impl Follows {
    /// When the job arrives whose predecessor ends at `end`.
    pub fn arrival(&self, end: i64) -> i64 {
        end.saturating_add(self.lag).max(self.earliest)
    }
}

/// Records whose number an earlier record has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Repeated {
    /// How many.
    pub count: u64,
    /// Line of the first, from 1.
    pub first_line: u64,
    /// The number that it has.
    pub job: i64,
}

impl Repeated {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// What fields 17 and 18 of a trace hold. Counts are records.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DependencyCounts {
    /// Field 17 is above 0.
    pub named: u64,
    /// The predecessor stands before the record.
    pub earlier: u64,
    /// The predecessor stands after the record.
    pub later: u64,
    /// No record has that number.
    pub absent: u64,
    /// It is the record's own number.
    pub itself: u64,
    /// Field 18 is above 0.
    pub think: u64,
    /// The value of field 17, if it is above 0 and the same in all of several records: no meaning.
    pub constant: Option<i64>,
}

impl DependencyCounts {
    /// Whether neither field says anything.
    pub fn is_empty(&self) -> bool {
        self.named == 0 && self.think == 0
    }
}

impl fmt::Display for DependencyCounts {
    /// `7 records with a preceding job: 5 usable (4 earlier in the file, 1 later), 1 absent, 1 itself; 2 with
    /// a think time`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { named, earlier, later, absent, itself, think, constant } = *self;
        let plural = if named == 1 { "" } else { "s" };
        write!(f, "{} record{plural} with a preceding job", grouped(named))?;
        match constant {
            Some(value) => write!(f, ", {value} in all of them: no meaning")?,
            None if named > 0 => write!(
                f,
                ": {} usable ({} earlier in the file, {} later), {} absent, {} itself",
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

/// The dependencies of a trace, by line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// By line of the record; records that can follow another only.
    links: Vec<Link>,
    constant: bool,
    /// Numbers that several records have, ascending, with the lines of the first two.
    twice: Vec<(i64, [u32; 2])>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Link {
    line: u32,
    /// Line of the predecessor.
    after: u32,
    /// Seconds; 0 if not known.
    think: i64,
    /// Submission less the predecessor's recorded end, in seconds, where both are known.
    gap: Option<i64>,
}

/// Dependencies that cannot be kept, by kind. Counts are jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ignored {
    /// The predecessor is no job of the replay: dropped by cleaning, or outside the window.
    pub dropped: u64,
    /// They closed a cycle.
    pub cycles: u64,
    /// With [`Dependencies::Shift`]: when the predecessor ended is not known.
    pub no_end: u64,
    /// Field 17 is the same in all records.
    pub constant: u64,
}

/// The dependencies of jobs, by [`JobId`], and those that were not kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chains {
    /// What each job follows; no job follows itself, however indirectly.
    pub follows: Vec<Option<Follows>>,
    /// What could not be kept.
    pub ignored: Ignored,
}

impl Chains {
    /// Jobs that follow another.
    pub fn kept(&self) -> u64 {
        self.follows.iter().flatten().count() as u64
    }
}

impl fmt::Display for Chains {
    /// `5 jobs follow others; ignored: 1 whose predecessor is not replayed, ..`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.kept();
        let (jobs, follow) = if kept == 1 { ("job", "follows") } else { ("jobs", "follow") };
        write!(f, "{} {jobs} {follow} others", grouped(kept))?;
        let Ignored { dropped, cycles, no_end, constant } = self.ignored;
        let kinds = [
            (dropped, "whose predecessor is not replayed"),
            (cycles, "that would close a cycle"),
            (no_end, "whose predecessor's end the log does not tell"),
            (constant, "of a field 17 that is the same everywhere (--deps force)"),
        ];
        let told: Vec<_> = kinds.iter().filter(|(count, _)| *count > 0).collect();
        for (i, (count, what)) in told.iter().enumerate() {
            let before = if i == 0 { "; ignored: " } else { ", " };
            write!(f, "{before}{} {what}", grouped(*count))?;
        }
        Ok(())
    }
}

/// Reads the dependencies of a trace, record by record.
#[derive(Debug, Default)]
pub(super) struct Linker {
    /// Number, line, and recorded end of every record.
    seen: Vec<(i64, u32, Option<i64>)>,
    /// Line, own number, predecessor, think time, submission.
    named: Vec<(u32, i64, i64, i64, Option<i64>)>,
    think: u64,
    /// Some number is not above that of the record before; else none is in two records.
    unordered: bool,
    /// See [`Links::twice`].
    twice: Vec<(i64, [u32; 2])>,
}

impl Linker {
    /// Takes the record in the next line; one without a number of a line cannot be told from others.
    pub fn push(&mut self, line: u64, record: &Record) {
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        let known = |time: f64| (time >= 0.0).then_some(time as i64);
        let submit = known(record.submit_time);
        let end = || Some(submit? + known(record.wait_time)? + known(record.run_time)?);
        self.unordered |= self.seen.last().is_some_and(|last| last.0 >= record.job_number);
        self.seen.push((record.job_number, line, end()));
        self.think += u64::from(record.think_time > 0.0);
        if record.preceding_job > 0 {
            let think = record.think_time.max(0.0) as i64;
            self.named.push((line, record.job_number, record.preceding_job, think, submit));
        }
    }

    /// Records with the number of an earlier one. Below 0 a number is not known.
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

    /// What all records say.
    pub fn finish(mut self) -> (Links, DependencyCounts) {
        let named = self.named.len() as u64;
        let mut counts = DependencyCounts { named, think: self.think, ..Default::default() };
        let first = self.named.first().map(|link| link.2);
        if self.seen.len() > 1 && self.named.len() == self.seen.len() {
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
    /// If several records have this number: the lines of the first two. What is told of it by number, nobody knows
    /// of which.
    pub fn twice(&self, number: i64) -> Option<[u32; 2]> {
        let at = self.twice.binary_search_by_key(&number, |&(number, _)| number).ok()?;
        Some(self.twice[at].1)
    }

    /// What each of `jobs` follows by a rule.
    ///
    /// Of the dependencies that form a cycle, that of the job which stands last in the file is ignored.
    pub fn chains(&self, jobs: &[Job], rule: Dependencies) -> Chains {
        let mut chains = Chains::default();
        if rule == Dependencies::Ignore || self.links.is_empty() {
            return chains;
        }
        let ids: HashMap<u32, JobId> =
            jobs.iter().zip((0..).map(JobId)).map(|(job, id)| (job.line, id)).collect();
        let ignored = &mut chains.ignored;
        let follow = |job: &Job| {
            let at = self.links.binary_search_by_key(&job.line, |link| link.line).ok()?;
            let Link { after, think, gap, .. } = self.links[at];
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
        chains.follows = jobs.iter().map(follow).collect();
        chains.ignored.cycles = break_cycles(&mut chains.follows, jobs);
        chains
    }
}

/// Walks each chain once and takes out an edge of each cycle; how many that were.
fn break_cycles(follows: &mut [Option<Follows>], jobs: &[Job]) -> u64 {
    let mut broken = 0;
    // The walk in which a job was met; 0 if in none.
    let mut met = vec![0u32; follows.len()];
    for (start, walk) in (0..follows.len()).zip(1..) {
        let mut at = start;
        while met[at] == 0 {
            met[at] = walk;
            let Some(next) = follows[at] else { break };
            at = next.job.index();
        }
        if met[at] != walk || follows[at].is_none() {
            continue;
        }
        // Around it once more, for the job that stands last.
        let (mut last, mut here) = (at, at);
        while let Some(next) = follows[here] {
            here = next.job.index();
            if jobs[here].line > jobs[last].line {
                last = here;
            }
            if here == at {
                break;
            }
        }
        if here == at {
            follows[last] = None;
            broken += 1;
        }
    }
    broken
}

#[cfg(test)]
mod tests;
