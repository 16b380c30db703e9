//! The job in each slot of a cluster: Elmer's cluster data structure (Turner 1995, Fig. 6.7).

use crate::topology::{Cluster, NodeId};

/// Number of a running job. The owner of [`Slots`] assigns the numbers.
pub type Resident = u32;

const FREE: Resident = Resident::MAX;

/// The job in each slot.
#[derive(Clone, Debug)]
pub struct Slots {
    cluster: Cluster,
    holders: Vec<Resident>,
}

impl Slots {
    /// Creates a cluster with all slots free.
    pub fn new(cluster: Cluster) -> Self {
        Self { cluster, holders: vec![FREE; cluster.slots()] }
    }

    /// Returns the cluster.
    pub fn cluster(&self) -> Cluster {
        self.cluster
    }

    /// Returns the job in a slot; `None` if the slot is free.
    #[inline]
    pub fn holder(&self, host: u32, level: u32) -> Option<Resident> {
        let holder = self.holders[self.cluster.slot(host, level).index()];
        (holder != FREE).then_some(holder)
    }

    /// Assigns free slots to a job.
    #[inline]
    pub fn take(&mut self, slots: &[NodeId], job: Resident) {
        for slot in slots {
            debug_assert_eq!(self.holders[slot.index()], FREE, "slot {} is taken", slot.0);
            self.holders[slot.index()] = job;
        }
    }

    /// Removes a job from a host; every job below it moves up by one level. Returns the job's
    /// former level, or `None` if the job was not on the host.
    pub fn leave(&mut self, host: u32, job: Resident) -> Option<u32> {
        let levels = self.cluster.levels();
        let own = (0..levels).find(|&level| self.holder(host, level) == Some(job))?;
        for level in own..levels {
            let below = (level + 1 < levels).then(|| self.holder(host, level + 1)).flatten();
            self.holders[self.cluster.slot(host, level).index()] = below.unwrap_or(FREE);
        }
        Some(own)
    }

    /// Renumbers the jobs.
    pub fn renumber(&mut self, number: impl Fn(Resident) -> Resident) {
        for holder in self.holders.iter_mut().filter(|holder| **holder != FREE) {
            *holder = number(*holder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_below_move_up_by_one_level_and_jobs_above_stay() {
        let cluster = Cluster::new(2, 4).expect("small");
        let mut slots = Slots::new(cluster);
        for (job, level) in [(7, 0), (8, 1), (9, 3)] {
            slots.take(&[cluster.slot(1, level)], job);
        }
        let column = |slots: &Slots| [0, 1, 2, 3].map(|level| slots.holder(1, level));
        assert_eq!(slots.leave(1, 8), Some(1));
        assert_eq!(column(&slots), [Some(7), None, Some(9), None]);
        assert_eq!(slots.leave(1, 7), Some(0));
        assert_eq!(column(&slots), [None, Some(9), None, None]);
        assert_eq!(slots.leave(0, 9), None);
        assert_eq!(slots.leave(1, 7), None);
    }
}
