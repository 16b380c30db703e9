//! A job of a site's queue.

use crate::conf::EnforcePartLimits;
use crate::priority::Resources;
use crate::reason::Reason;
use crate::site::{Partition, Site};

/// Time limit in minutes of a job without a limit in a partition without one: 365 days.
pub const LONGEST_LIMIT: u32 = 365 * 24 * 60;

/// A job with its values in the site.
#[derive(Clone, PartialEq, Debug)]
pub struct SiteJob {
    /// Job number.
    pub number: i64,
    /// Submission, in seconds.
    pub submit: i64,
    /// Instant from which the job may start and its age counts, in seconds; at least `submit`.
    pub eligible: i64,
    /// Run time in seconds.
    pub run: i64,
    /// Number of nodes, at least 1.
    pub nodes: u32,
    /// Number of CPUs; `None` for all CPUs of the nodes.
    pub cpus: Option<u64>,
    /// Time limit in minutes, which ends the job and which limits of partitions, QOS and associations see; `None` for
    /// none.
    pub limit: Option<u32>,
    /// Time limit in minutes that plans use in place of `limit`; `None` for `limit`.
    pub estimate: Option<u32>,
    /// Index of the association.
    pub association: usize,
    /// Index of the QOS.
    pub qos: usize,
    /// Indexes of the partitions, at least one, in the order asked.
    pub partitions: Vec<usize>,
    /// Nice value.
    pub nice: i64,
    /// Priority that an administrator set, in all partitions; `None` for the calculated priority.
    pub priority: Option<u32>,
}

impl SiteJob {
    /// Returns nodes and CPUs of the job in a partition.
    pub fn resources(&self, partition: &Partition) -> Resources {
        let cpus = self.cpus.unwrap_or_else(|| partition.cpus_of(self.nodes));
        Resources { nodes: self.nodes.into(), cpus }
    }

    /// Returns the time limit of the job in a partition, in minutes; `None` if neither has one.
    pub fn limit_in(&self, partition: &Partition) -> Option<u32> {
        self.limit.or(partition.default_time).or(partition.max_time)
    }

    /// Returns the minutes for which the job is planned in a partition.
    pub fn planned_minutes(&self, partition: &Partition) -> u32 {
        let minutes = self.estimate.or(self.limit_in(partition)).unwrap_or(LONGEST_LIMIT);
        minutes.min(partition.max_time.unwrap_or(u32::MAX))
    }

    /// Checks the limits of a partition (L1); `None` if the job passes.
    pub fn partition_reason(&self, site: &Site, partition: usize) -> Option<Reason> {
        let (partition, qos) = (&site.partitions[partition], &site.qos[self.qos]);
        let nodes = self.nodes;
        if u64::from(nodes) > partition.size.nodes {
            return Some(Reason::PartitionConfig);
        }
        let is_few = nodes < partition.min_nodes && !qos.lifts_min_nodes;
        let is_many = partition.max_nodes.is_some_and(|most| nodes > most) && !qos.lifts_max_nodes;
        if is_few || is_many {
            return Some(Reason::PartitionNodeLimit);
        }
        let limit = self.limit.or(partition.default_time);
        if let [Some(limit), Some(most)] = [limit, partition.max_time]
            && limit > most
            && !qos.lifts_time
        {
            return Some(Reason::PartitionTimeLimit);
        }
        (!partition.is_up).then_some(Reason::PartitionDown)
    }

    /// Returns the reason for which a job is rejected at submission because of the limits of its partitions.
    pub fn rejected_by_partitions(&self, site: &Site) -> Option<Reason> {
        let mut reasons = self.partitions.iter().map(|&at| self.partition_reason(site, at));
        match site.enforce_part_limits {
            EnforcePartLimits::No => None,
            EnforcePartLimits::All => reasons.find(Option::is_some).flatten(),
            EnforcePartLimits::Any => {
                let first = reasons.next().flatten();
                first.filter(|_| reasons.all(|reason| reason.is_some()))
            }
        }
    }
}
