//! Waits and shares of groups of jobs: partitions, users and accounts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::schedule::{bounded_slowdown, percentile_of};
use crate::table::{Column, Name, names};

/// The jobs of a group in a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct GroupRow {
    /// Kind of the group: `partition`, `user` or `account`.
    pub kind: String,
    /// Name of the group.
    pub name: String,
    /// Number of jobs.
    pub jobs: u64,
    /// Processors multiplied by hours of run time, summed over the jobs.
    pub processor_hours: f64,
    /// Share of the processor hours of the run.
    pub share: f64,
    /// Mean wait in seconds.
    pub mean_wait: f64,
    /// 90th percentile of the wait in seconds, interpolated between the two nearest ranks.
    pub p90_wait: f64,
    /// Mean bounded slowdown.
    pub mean_bounded_slowdown: f64,
}

/// A job of a run, for [`groups`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupedJob {
    /// Seconds between arrival and start.
    pub wait: i64,
    /// Seconds between start and end.
    pub run: i64,
    /// Run time in seconds on the requested processors without sharing.
    pub own_run: i64,
    /// Processors that the job holds.
    pub size: u32,
}

impl GroupRow {
    names! {
        KIND = "kind",
        NAME = "name",
    }

    /// Returns the columns.
    #[rustfmt::skip]
    pub fn columns() -> Vec<Column<Self>> {
        type C = Column<GroupRow>;
        let name = Name::new;
        vec![
            C::text(Self::KIND, "kind of the group: partition, user (field 12 of the trace) or account (field 13)", |row| Some(&row.kind)),
            C::text(Self::NAME, "name or number of the group; unknown if the trace does not give it", |row| Some(&row.name)),
            C::new(name("jobs"), "jobs", "number of jobs of the run, size, group or replication", |row| row.jobs),
            C::new(name("processor_hours"), "processor-hours", "processors times run time, summed over the jobs", |row| row.processor_hours),
            C::new(name("share"), "share", "share of the processor hours of the run", |row| row.share),
            C::new(name("mean_wait"), "s", "mean over jobs of start minus arrival", |row| row.mean_wait),
            C::new(name("p90_wait"), "s", "90th percentile of the wait", |row| row.p90_wait),
            C::new(name("mean_bounded_slowdown"), "", "mean over jobs of turnaround divided by the run time on the requested processors, with run times below 10 s replaced by 10 s; at least 1", |row| row.mean_bounded_slowdown),
        ]
    }
}

/// Returns a row for each group of jobs, in the order of the keys. `jobs` contains the key and the name of the group of
/// each job.
pub fn groups<K: Ord>(
    kind: &str,
    jobs: impl IntoIterator<Item = (K, String, GroupedJob)>,
) -> Vec<GroupRow> {
    let mut all: BTreeMap<K, (String, Vec<GroupedJob>)> = BTreeMap::new();
    for (key, name, job) in jobs {
        all.entry(key).or_insert_with(|| (name, Vec::new())).1.push(job);
    }
    let work = |job: &GroupedJob| i128::from(job.size) * i128::from(job.run);
    let total: i128 = all.values().flat_map(|(_, jobs)| jobs).map(work).sum();
    let row = |(name, jobs): (String, Vec<GroupedJob>)| {
        let own: i128 = jobs.iter().map(work).sum();
        let mut waits: Vec<i64> = jobs.iter().map(|job| job.wait).collect();
        waits.sort_unstable();
        let sum: i128 = waits.iter().map(|&wait| i128::from(wait)).sum();
        let slowdowns = jobs.iter().map(|job| bounded_slowdown(job.wait + job.run, job.own_run));
        let count = jobs.len() as f64;
        GroupRow {
            kind: kind.to_string(),
            name,
            jobs: jobs.len() as u64,
            processor_hours: own as f64 / 3600.0,
            share: if total > 0 { own as f64 / total as f64 } else { 0.0 },
            mean_wait: sum as f64 / count,
            p90_wait: percentile_of(waits.len(), 90.0, |rank| waits[rank] as f64),
            mean_bounded_slowdown: slowdowns.sum::<f64>() / count,
        }
    };
    all.into_values().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_waits_and_shares() {
        let job = |wait, run, size| GroupedJob { wait, run, own_run: run, size };
        let jobs = [(2, job(10, 3600, 1)), (1, job(0, 20, 180)), (2, job(30, 3600, 2))];
        let jobs = jobs.map(|(key, job)| (key, format!("g{key}"), job));
        let rows = groups("user", jobs);
        let names: Vec<_> = rows.iter().map(|row| (row.name.as_str(), row.jobs)).collect();
        assert_eq!(names, [("g1", 1), ("g2", 2)]);
        assert_eq!((rows[0].processor_hours, rows[0].share), (1.0, 0.25));
        assert_eq!(
            (rows[1].processor_hours, rows[1].mean_wait, rows[1].p90_wait),
            (3.0, 20.0, 28.0)
        );
        assert_eq!(rows[0].mean_bounded_slowdown, 1.0);
    }
}
