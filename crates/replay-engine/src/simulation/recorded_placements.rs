//! Replay of a log with its recorded placements.

use std::fmt;

use super::input::Input;
use super::{Event, Simulation, Timeline};
use crate::cancel::Cancelled;
use crate::number::counted;
use crate::topology::NodeId;
use crate::workload::{Job, JobId};

/// Maximum number of jobs listed individually.
const MAX_LISTED: usize = 10;

/// Statistics of recorded placements that are missing or conflict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conflicts {
    /// Number of jobs that started on a processor that another job held.
    pub jobs: u64,
    /// Number of processors that another job held, summed over the jobs that `jobs` counts.
    pub processors: u64,
    /// Job numbers of the first jobs that `jobs` counts.
    pub first: Vec<i64>,
    /// Number of jobs without a recorded placement.
    pub without_placement: u64,
    /// Number of jobs for which the number of recorded nodes differs from the number of processors.
    pub size_mismatches: u64,
    /// Each entry contains a peak and the number of points with this peak. The peak of a point is the largest number of
    /// processors in use on the point at one time. Peaks are in ascending order.
    pub peaks: Vec<(u32, u64)>,
}

impl fmt::Display for Conflicts {
    /// Formats `0 jobs on processors held by other jobs; peak processors in use: 12 on 26 points, 80 on 18 points`. If no
    /// peak exceeds one processor, the last part is `no node was held by two jobs at a time`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { jobs, processors, first, without_placement, size_mismatches, peaks } = self;
        write!(f, "{} on processors held by other jobs", counted(*jobs, "job"))?;
        if *jobs > 0 {
            let first: Vec<String> = first.iter().map(ToString::to_string).collect();
            let s = if first.len() == 1 { "" } else { "s" };
            let processors = counted(*processors, "processor");
            write!(f, " ({processors}; first job{s} {})", first.join(", "))?;
        }
        if *without_placement > 0 {
            let jobs = counted(*without_placement, "job");
            write!(f, "; {jobs} without a recorded placement, excluded from distance metrics")?;
        }
        if *size_mismatches > 0 {
            let jobs = counted(*size_mismatches, "job");
            write!(
                f,
                "; {jobs} whose number of recorded nodes differs from the number of processors"
            )?;
        }
        if peaks.iter().all(|&(peak, _)| peak == 1) && !peaks.is_empty() {
            return f.write_str("; no node was held by two jobs at a time");
        }
        let peaks: Vec<String> = peaks
            .iter()
            .map(|(peak, points)| format!("{peak} on {}", counted(*points, "point")))
            .collect();
        match peaks.is_empty() {
            true => Ok(()),
            false => write!(f, "; peak processors in use: {}", peaks.join(", ")),
        }
    }
}

impl Simulation<'_> {
    /// Replays the timeline of a log with the recorded nodes of each job. `places` returns one node per processor of
    /// the job, in any order, or `None` if the nodes are unknown. `points` contains the point of each node. The
    /// topology defines the number of processors per point. If more processors of a point are in use than the topology
    /// defines, the excess is counted, and the replay continues. `observe` is called for each job that starts with
    /// known nodes, with the job's points in scan order, without duplicates.
    ///
    /// # Errors
    /// [`Cancelled`] on cancellation.
    pub fn replay_recorded<'p>(
        &self,
        timeline: &Timeline,
        places: impl Fn(&Job) -> Option<&'p [u32]>,
        points: &[NodeId],
        mut observe: impl FnMut(JobId, &[NodeId]),
    ) -> Result<Conflicts, Cancelled> {
        let Input { jobs, topology, stop, .. } = self.input;
        let mut conflicts = Conflicts::default();
        let at = |nodes: &'p [u32]| nodes.iter().map(|&node| points[node as usize]);
        let capacity = topology.per_point();
        let mut used = vec![0u32; topology.processors()];
        let mut most = used.clone();
        let mut held = Vec::new();
        for event in timeline.events() {
            stop.check()?;
            let (Event::Start(id) | Event::End(id)) = *event;
            let job = &jobs[id.index()];
            let Some(nodes) = places(job) else {
                conflicts.without_placement += u64::from(matches!(event, Event::Start(_)));
                continue;
            };
            if matches!(event, Event::End(_)) {
                at(nodes).for_each(|point| used[point.index()] -= 1);
                continue;
            }
            conflicts.size_mismatches += u64::from(nodes.len() != job.size as usize);
            let mut beyond = 0;
            for point in at(nodes) {
                let used = &mut used[point.index()];
                *used += 1;
                beyond += u64::from(*used > capacity);
                most[point.index()] = most[point.index()].max(*used);
            }
            if beyond > 0 {
                conflicts.jobs += 1;
                conflicts.processors += beyond;
                if conflicts.first.len() < MAX_LISTED {
                    conflicts.first.push(job.number);
                }
            }
            held.clear();
            held.extend(at(nodes));
            held.sort_unstable();
            held.dedup();
            observe(id, &held);
        }
        most.retain(|&peak| peak > 0);
        most.sort_unstable();
        for peaks in most.chunk_by(|a, b| a == b) {
            conflicts.peaks.push((peaks[0], peaks.len() as u64));
        }
        Ok(conflicts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cancel::CancelToken;

    fn job(number: i64, submit: i64, run: i64, size: u32) -> Job {
        Job { number, line: 1, ..Job::exact(submit, run, size) }
    }

    /// Points have two processors. Job 3 gets a processor that job 1 holds, and job 4 has no placement.
    #[test]
    fn conflicts_are_counted() {
        let jobs =
            [job(1, 0, 10, 3), job(2, 0, 5, 1), job(3, 5, 5, 2), job(4, 6, 1, 1), job(5, 10, 5, 4)];
        let nodes: [Option<&[u32]>; 5] =
            [Some(&[0, 0, 1]), Some(&[1]), Some(&[0, 2]), None, Some(&[2, 0, 2])];
        let topology = "2x2*2".parse().expect("a machine");
        let (timeline, _) =
            Timeline::recorded(&jobs, 8, |job| Some(job.submit), &CancelToken::new())
                .expect("a schedule");
        let stop = CancelToken::new();
        let points = [NodeId(3), NodeId(0), NodeId(1)];
        let mut seen = Vec::new();
        let of = |job: &Job| nodes[job.number as usize - 1];
        let simulation = Simulation::new(&jobs, &topology, &stop);
        let found = simulation.replay_recorded(&timeline, of, &points, |id, nodes| {
            seen.push((id.0, nodes.iter().map(|node| node.0).collect::<Vec<_>>()));
        });
        let expected = Conflicts {
            jobs: 1,
            processors: 1,
            first: vec![3],
            without_placement: 1,
            size_mismatches: 1,
            peaks: vec![(2, 2), (3, 1)],
        };
        let found = found.expect("a result");
        assert_eq!(found, expected);
        assert_eq!(seen, [(0, vec![0, 3]), (1, vec![0]), (2, vec![1, 3]), (4, vec![1, 3])]);
        let text = "1 job on processors held by other jobs (1 processor; first job 3); 1 job without a recorded \
                    placement, excluded from distance metrics; 1 job whose number of recorded nodes differs from the number of processors; \
                    peak processors in use: 2 on 2 points, 3 on 1 point";
        assert_eq!(found.to_string(), text);
        let alone = Conflicts { peaks: vec![(1, 600)], ..Conflicts::default() };
        let text =
            "0 jobs on processors held by other jobs; no node was held by two jobs at a time";
        assert_eq!(alone.to_string(), text);
    }
}
