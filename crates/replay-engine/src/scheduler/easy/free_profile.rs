//! The future number of free processors on a machine with outages.

use std::collections::BTreeMap;

use crate::scheduler::{Outage, QueuedJob, System};
use crate::workload::JobId;

/// The number of processors that are held neither by running jobs nor by outages, as a step function of time that
/// begins now. Running jobs hold their processors until their estimated ends.
#[derive(Debug)]
pub struct FreeProfile {
    /// Start and height of each step. The first step starts now.
    steps: Vec<(i64, i64)>,
}

impl FreeProfile {
    /// Creates the profile at the time of `system`, on a machine with `processors` processors. `held` contains the
    /// future outages of processors that running jobs hold; these processors are counted once.
    pub fn new(
        system: &System<'_>,
        processors: u32,
        outages: &[Outage],
        held: &BTreeMap<JobId, Vec<Outage>>,
    ) -> Self {
        let now = system.now;
        let mut left = i64::from(processors);
        let mut changes: Vec<(i64, i64)> = Vec::new();
        for job in system.running.iter().filter(|job| job.estimated_end > now) {
            left -= i64::from(job.size);
            changes.push((job.estimated_end, job.size.into()));
            for &Outage { from, until, processors } in held.get(&job.id).into_iter().flatten() {
                let (from, until) = (from.max(now), until.min(job.estimated_end));
                if from < until {
                    changes.push((from, processors.into()));
                    changes.push((until, -i64::from(processors)));
                }
            }
        }
        for &Outage { from, until, processors } in outages.iter().filter(|one| one.until > now) {
            match from <= now {
                true => left -= i64::from(processors),
                false => changes.push((from, -i64::from(processors))),
            }
            changes.push((until, processors.into()));
        }
        changes.sort_unstable();
        left +=
            changes.extract_if(.., |change| change.0 <= now).map(|change| change.1).sum::<i64>();
        let mut steps = vec![(now, left)];
        for (at, by) in changes {
            left += by;
            match steps.last_mut() {
                Some(last) if last.0 == at => last.1 = left,
                _ => steps.push((at, left)),
            }
        }
        Self { steps }
    }

    /// Returns the minimum height between two times.
    fn least(&self, from: i64, until: i64) -> i64 {
        let first = self.steps.partition_point(|step| step.0 <= from).saturating_sub(1);
        let during = self.steps[first..].iter().take_while(|step| step.0 < until.max(from + 1));
        during.map(|step| step.1).min().unwrap_or(i64::MAX)
    }

    /// Returns whether a job that starts at `at` has enough processors for its whole estimate.
    pub fn fits(&self, job: &QueuedJob, at: i64) -> bool {
        self.least(at, at.saturating_add(job.estimate)) >= job.takes.into()
    }

    /// Returns whether a job that starts now, when `free` processors are free, keeps its processors for its whole
    /// estimate. Whether the allocator can place the job on the free processors is not considered.
    pub fn fits_now(&self, job: &QueuedJob, free: u32) -> bool {
        let Some(&(now, _)) = self.steps.first() else { return false };
        self.least(now, now.saturating_add(job.estimate)) >= job.takes.min(free).into()
    }

    /// Returns the first time, `from` or later, at which a job fits; `None` if the job never fits. `from` must not be
    /// before the first step.
    pub fn earliest(&self, job: &QueuedJob, from: i64) -> Option<i64> {
        let later = self.steps.iter().map(|step| step.0).filter(|&at| at > from);
        std::iter::once(from).chain(later).find(|&at| self.fits(job, at))
    }

    /// Returns whether `head`, which fits at `shadow`, also fits alongside a job that starts now.
    pub fn fits_beside(&self, head: &QueuedJob, shadow: i64, job: &QueuedJob, now: i64) -> bool {
        let both =
            shadow.saturating_add(head.estimate.max(1)).min(now.saturating_add(job.estimate));
        both <= shadow || self.least(shadow, both) >= i64::from(head.takes) + i64::from(job.takes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::{FOREVER, Running, RunningJobs};

    #[test]
    fn outages_hold_processors_like_jobs() {
        let mut running = RunningJobs::default();
        running.insert(Running { estimated_end: 100, id: JobId(0), size: 4 });
        let outage = |from, until, processors| Outage { from, until, processors };
        let outages = [outage(0, 20, 2), outage(50, 60, 16), outage(200, FOREVER, 8)];
        let system = System { now: 10, free: 10, round: 0, running: &running };
        let profile = FreeProfile::new(&system, 16, &outages, &BTreeMap::new());
        let expected = [(10, 10), (20, 12), (50, -4), (60, 12), (100, 16), (200, 8), (FOREVER, 16)];
        assert_eq!(profile.steps, expected);
        let job =
            |takes, estimate| QueuedJob { id: JobId(1), size: takes, takes, estimate, turn: 0 };
        for (job, earliest) in [
            (job(10, 40), Some(10)),
            (job(10, 41), Some(60)),
            (job(12, 30), Some(20)),
            (job(16, 100), Some(100)),
            (job(16, 101), Some(FOREVER)),
            (job(17, 1), None),
        ] {
            assert_eq!(profile.earliest(&job, 10), earliest, "{job:?}");
        }
        // The head waits until 60. A long job of two processors fits alongside the head; a long job of three does not.
        assert!(profile.fits_beside(&job(10, 41), 60, &job(2, 100), 10));
        assert!(!profile.fits_beside(&job(10, 41), 60, &job(3, 100), 10));
        assert!(profile.fits_beside(&job(10, 41), 60, &job(3, 50), 10));
    }

    /// A job holds four processors until 100. Two of the four processors are out of service from 0 to 20, and three of
    /// the four from 50 to 120.
    #[test]
    fn outages_of_held_processors_are_counted_once() {
        let mut running = RunningJobs::default();
        running.insert(Running { estimated_end: 100, id: JobId(0), size: 4 });
        let outage = |from, until, processors| Outage { from, until, processors };
        let outages = [outage(0, 20, 2), outage(50, 120, 5)];
        let held = BTreeMap::from([(JobId(0), vec![outage(0, 20, 2), outage(50, 120, 3)])]);
        let system = System { now: 10, free: 12, round: 0, running: &running };
        let profile = FreeProfile::new(&system, 16, &outages, &held);
        assert_eq!(profile.steps, [(10, 12), (20, 12), (50, 10), (100, 11), (120, 16)]);
    }
}
