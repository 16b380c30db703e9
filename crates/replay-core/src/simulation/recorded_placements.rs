//! What a log did, places and all.

use std::fmt;

use super::input::Input;
use super::{Event, Simulation, Timeline};
use crate::cancel::Cancelled;
use crate::number::{counted, grouped};
use crate::topology::NodeId;
use crate::workload::{Job, JobId};

/// Conflicts that are told one by one.
const TOLD: usize = 10;

/// Where a log gives processors that are not free, or tells nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conflicts {
    /// Jobs with a processor that another job held.
    pub jobs: u64,
    /// Such processors, over all jobs.
    pub processors: u64,
    /// Numbers of the first such jobs.
    pub first: Vec<i64>,
    /// Jobs of which the log does not tell where they ran.
    pub nowhere: u64,
    /// Jobs with another number of nodes than of processors.
    pub unlike: u64,
    /// Most processors that were in use on one point at once, and on how many points that was the most,
    /// in ascending order.
    pub peaks: Vec<(u32, u64)>,
}

impl fmt::Display for Conflicts {
    /// `0 jobs on processors that others held; at most 12 at once on 26 points, 80 on 18`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { jobs, processors, first, nowhere, unlike, peaks } = self;
        write!(f, "{} on processors that others held", counted(*jobs, "job"))?;
        if *jobs > 0 {
            let first: Vec<String> = first.iter().map(ToString::to_string).collect();
            let s = if first.len() == 1 { "" } else { "s" };
            let processors = counted(*processors, "processor");
            write!(f, " ({processors}; first job{s} {})", first.join(", "))?;
        }
        if *nowhere > 0 {
            let jobs = counted(*nowhere, "job");
            write!(f, "; {jobs} of which nothing tells where they ran, in no distance")?;
        }
        if *unlike > 0 {
            let jobs = counted(*unlike, "job");
            write!(f, "; {jobs} with another number of nodes than of processors")?;
        }
        let peaks: Vec<String> =
            peaks.iter().map(|(peak, points)| format!("{peak} on {}", grouped(*points))).collect();
        match peaks.is_empty() {
            true => Ok(()),
            false => write!(f, "; most at once on a point: {}", peaks.join(", ")),
        }
    }
}

impl Simulation<'_> {
    /// Replays the timeline of a log with the nodes that `places` returns for each job, one for each of its
    /// processors, in any order; `None` where they are unknown. `points` contains the point of each node. A point holds
    /// as many processors as the topology says; whatever is beyond is counted, and the replay goes on.
    /// `observe` sees each job with its points, each once, in scan order.
    ///
    /// # Errors
    /// [`Cancelled`].
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
                conflicts.nowhere += u64::from(matches!(event, Event::Start(_)));
                continue;
            };
            if matches!(event, Event::End(_)) {
                at(nodes).for_each(|point| used[point.index()] -= 1);
                continue;
            }
            conflicts.unlike += u64::from(nodes.len() != job.size as usize);
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
                if conflicts.first.len() < TOLD {
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
        Job { number, submit, run, estimate: run, size, line: 1, shape: None, limit: None }
    }

    /// Two processors at a point; job 3 gets one that job 1 has, job 4 is told of nowhere.
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
            nowhere: 1,
            unlike: 1,
            peaks: vec![(2, 2), (3, 1)],
        };
        let found = found.expect("it goes on");
        assert_eq!(found, expected);
        assert_eq!(seen, [(0, vec![0, 3]), (1, vec![0]), (2, vec![1, 3]), (4, vec![1, 3])]);
        let told = "1 job on processors that others held (1 processor; first job 3); 1 job of which nothing \
                    tells where they ran, in no distance; 1 job with another number of nodes than of processors; most at once \
                    on a point: 2 on 2, 3 on 1";
        assert_eq!(found.to_string(), told);
    }
}
