//! Partitions of a machine as a user names them: the field of a log that gives the partition of a job, the names in the
//! header, and definitions `NAME=NODES[,tier=N][,factor=N][,max-time=TIME][,max-nodes=N]`.

use std::collections::BTreeMap;
use std::str::FromStr;

use super::{JobLabels, Workload, nodes};
use crate::number::digits;
use crate::sanitize::excerpt;

/// The field of a trace that names the partition of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PartitionField {
    /// None: all jobs are in one partition.
    #[default]
    None,
    /// Field 15, the queue.
    Queue,
    /// Field 16, the partition.
    Partition,
}

impl PartitionField {
    /// All fields with their names.
    pub const ALL: [(&'static str, PartitionField); 3] = [
        ("none", PartitionField::None),
        ("queue", PartitionField::Queue),
        ("partition", PartitionField::Partition),
    ];

    /// Returns the name of the field.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, one)| *one == self).map_or("none", |(name, _)| name)
    }

    /// Returns the number of the partition of a job; `None` if it is unknown.
    pub fn number(self, labels: &JobLabels) -> Option<i64> {
        match self {
            PartitionField::None => None,
            PartitionField::Queue => labels.queue,
            PartitionField::Partition => labels.partition,
        }
    }

    /// Returns the names of the numbers in the header of a trace, such as `Queue: 1 batch`.
    pub fn header_names(self, workload: &Workload) -> BTreeMap<i64, String> {
        let key = match self {
            PartitionField::None => return BTreeMap::new(),
            PartitionField::Queue => "Queue",
            PartitionField::Partition => "Partition",
        };
        let entries =
            workload.header.entries().iter().filter(|entry| entry.key.eq_ignore_ascii_case(key));
        let name = |text: &str| {
            let (number, name) = text.trim().split_once(char::is_whitespace)?;
            let name = name.trim().trim_start_matches([':', '=']).trim();
            let word = name.split_whitespace().next()?;
            // A name that is a number would be taken for the number of another partition.
            let word = Some(word).filter(|word| word.parse::<i64>().is_err())?;
            Some((number.trim_end_matches(':').parse().ok()?, word.to_string()))
        };
        entries.filter_map(|entry| name(&entry.value)).collect()
    }
}

impl FromStr for PartitionField {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(name, _)| text.trim().eq_ignore_ascii_case(name));
        found
            .map(|(_, field)| *field)
            .ok_or_else(|| format!("\"{}\" is not one of none, queue, partition", excerpt(text)))
    }
}

/// Treatment of jobs in partitions that are not defined, and of jobs with a QOS that a site does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum UnknownPartition {
    /// The first such job is an error.
    #[default]
    Error,
    /// The jobs are left out and counted.
    Drop,
}

impl FromStr for UnknownPartition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "error" => Ok(Self::Error),
            "drop" => Ok(Self::Drop),
            _ => Err(format!("\"{}\" is not one of error, drop", excerpt(text))),
        }
    }
}

/// The definition of a partition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartitionDefinition {
    /// The name: a number of the field, or its name in the header of the trace.
    pub name: String,
    /// First and last node numbers; `None` if the partition has all nodes.
    ranges: Option<Vec<(u64, u64)>>,
    /// `tier`; `None` if it is not given.
    pub tier: Option<u32>,
    /// `factor`; `None` if it is not given.
    pub factor: Option<u32>,
    /// `max-time` in minutes; `None` if there is no limit.
    pub max_time: Option<u32>,
    /// `max-nodes`; `None` if there is no limit.
    pub max_nodes: Option<u32>,
}

impl PartitionDefinition {
    /// Returns whether each node of a machine with `count` nodes belongs to the partition.
    ///
    /// # Errors
    /// A message if the machine does not have a node.
    pub fn members(&self, count: usize) -> Result<Vec<bool>, String> {
        let Some(ranges) = &self.ranges else { return Ok(vec![true; count]) };
        let mut members = vec![false; count];
        for &(first, last) in ranges {
            if last >= count as u64 {
                let (name, most) = (excerpt(&self.name), count.saturating_sub(1));
                return Err(format!("partition {name}: {last} is not a node from 0 to {most}"));
            }
            members[first as usize..=last as usize].fill(true);
        }
        Ok(members)
    }
}

impl FromStr for PartitionDefinition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once('=').ok_or_else(|| {
            format!("\"{}\" is not NAME=NODES, such as short=0-15 or long=all", excerpt(text))
        })?;
        let name = name.trim();
        let failed = |problem: String| format!("partition {}: {problem}", excerpt(name));
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(format!("\"{}\" is not the name of a partition", excerpt(name)));
        }
        let (options, lists): (Vec<&str>, Vec<&str>) =
            rest.split(',').partition(|part| part.contains('='));
        let list = lists.join(",");
        let ranges = match list.trim() {
            "all" => None,
            list => Some(nodes::ranges(list).map_err(|e| failed(e.to_string()))?),
        };
        let (tier, factor, max_time, max_nodes) = (None, None, None, None);
        let mut made = Self { name: name.to_string(), ranges, tier, factor, max_time, max_nodes };
        for option in options {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            let bad = |problem: String| failed(format!("{}: {problem}", excerpt(key)));
            match key.trim() {
                "tier" => made.tier = Some(whole(value).map_err(bad)?),
                "factor" => made.factor = Some(whole(value).map_err(bad)?),
                "max-time" => made.max_time = minutes(value).map_err(bad)?,
                "max-nodes" => made.max_nodes = Some(whole(value).map_err(bad)?),
                _ => {
                    return Err(bad(
                        "unknown; known are tier, factor, max-time, max-nodes".to_string()
                    ));
                }
            }
        }
        Ok(made)
    }
}

/// Parses definitions of partitions with different names.
///
/// # Errors
/// A message with the name of the partition and the invalid part.
pub fn partition_definitions(texts: &[String]) -> Result<Vec<PartitionDefinition>, String> {
    let mut all: Vec<PartitionDefinition> = Vec::new();
    for text in texts {
        let one: PartitionDefinition = text.parse()?;
        if all.iter().any(|other| other.name == one.name) {
            return Err(format!("partition {} is given twice", excerpt(&one.name)));
        }
        all.push(one);
    }
    Ok(all)
}

/// Parses a whole number from 0 to 2^32 - 1.
///
/// # Errors
/// A message if the text is not such a number.
pub fn whole(value: &str) -> Result<u32, String> {
    let number = digits(value.trim()).and_then(|number| u32::try_from(number).ok());
    number
        .ok_or_else(|| format!("\"{}\" is not a whole number from 0 to 4294967295", excerpt(value)))
}

/// Longest time that is accepted, in minutes: 1,000 years.
const LONGEST: i64 = 366 * 1000 * 24 * 60;

/// Parses a time and returns minutes, rounded up; `None` for a time without limit.
///
/// # Errors
/// A message if the text is not a time.
///
/// ```
/// use replay_workload::workload::minutes;
///
/// assert_eq!(minutes("90"), Ok(Some(90)));
/// assert_eq!(minutes("1:30"), Ok(Some(2)));
/// assert_eq!(minutes("02:00:00"), Ok(Some(120)));
/// assert_eq!(minutes("7-0"), Ok(Some(7 * 24 * 60)));
/// assert_eq!(minutes("1-02:30"), Ok(Some(26 * 60 + 30)));
/// assert_eq!(minutes("UNLIMITED"), Ok(None));
/// assert!(minutes("1-").is_err() && minutes("2h").is_err());
/// ```
pub fn minutes(text: &str) -> Result<Option<u32>, String> {
    let text = text.trim();
    if ["INFINITE", "UNLIMITED"].iter().any(|name| text.eq_ignore_ascii_case(name)) || text == "-1"
    {
        return Ok(None);
    }
    let bad = || {
        format!(
            "\"{}\" is not a time; write minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS or UNLIMITED",
            excerpt(text)
        )
    };
    let (days, clock) = match text.split_once('-') {
        Some((days, clock)) => (Some(digits(days).ok_or_else(bad)?), clock),
        None => (None, text),
    };
    let parts: Option<Vec<i64>> = clock.split(':').map(digits).collect();
    let parts = parts.ok_or_else(bad)?;
    let [hours, minutes, seconds] = match (days, &parts[..]) {
        (None, &[minutes]) => [0, minutes, 0],
        (None, &[minutes, seconds]) => [0, minutes, seconds],
        (_, &[hours, minutes, seconds]) => [hours, minutes, seconds],
        (Some(_), &[hours]) => [hours, 0, 0],
        (Some(_), &[hours, minutes]) => [hours, minutes, 0],
        _ => return Err(bad()),
    };
    let parts = [days.unwrap_or(0), hours, minutes, seconds];
    if parts.iter().any(|&part| part > LONGEST) {
        return Err(bad());
    }
    let total = (days.unwrap_or(0) * 24 + hours) * 60 + minutes + (seconds + 59) / 60;
    u32::try_from(total).ok().filter(|&total| i64::from(total) <= LONGEST).map(Some).ok_or_else(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_and_anything_else_is_an_error() {
        for (text, expected) in [
            ("0", Some(0)),
            ("600", Some(600)),
            ("0:01", Some(1)),
            ("10:00:00", Some(600)),
            ("10:00:01", Some(601)),
            ("1-0", Some(1440)),
            ("2-03:04:05", Some(2 * 1440 + 185)),
            ("infinite", None),
            ("-1", None),
        ] {
            assert_eq!(minutes(text), Ok(expected), "{text}");
        }
        for text in [
            "",
            "x",
            "1:2:3:4",
            "-2",
            "1-2:3:4:5",
            "1.5",
            "1 2",
            "99999999999",
            "9999999999999999999-0",
        ] {
            assert!(minutes(text).is_err(), "{text}");
        }
        assert_eq!(
            minutes("4h").expect_err("no unit"),
            "\"4h\" is not a time; write minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS or UNLIMITED"
        );
    }

    #[test]
    fn invalid_definitions_have_messages() {
        for (text, problem) in [
            ("a", "\"a\" is not NAME=NODES, such as short=0-15 or long=all"),
            ("=all", "\"\" is not the name of a partition"),
            ("a=", "partition a: \"\": an empty name"),
            ("a=4-2", "partition a: \"4-2\": a range that runs backwards"),
            ("a=0-1,tier=x", "partition a: tier: \"x\" is not a whole number from 0 to 4294967295"),
            (
                "a=all,qos=x",
                "partition a: qos: unknown; known are tier, factor, max-time, max-nodes",
            ),
            (
                "a=all,max-time=x",
                "partition a: max-time: \"x\" is not a time; write minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS \
                 or UNLIMITED",
            ),
        ] {
            assert_eq!(text.parse::<PartitionDefinition>().expect_err(text), problem);
        }
        let twice = ["a=all".to_string(), "a=0".to_string()];
        let error = partition_definitions(&twice).expect_err("twice");
        assert_eq!(error, "partition a is given twice");
        let outside: PartitionDefinition = "a=0-4".parse().expect("a definition");
        let error = outside.members(4).expect_err("outside");
        assert_eq!(error, "partition a: 4 is not a node from 0 to 3");
        assert!("a".parse::<PartitionField>().is_err() && "b".parse::<UnknownPartition>().is_err());
    }
}
