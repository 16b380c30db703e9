//! The common disciplines on a machine with partitions, which may overlap.
//!
//! There is one queue. Jobs of partitions with a higher tier come first, then the order of the discipline decides. Free
//! processors are counted for each partition. A waiting job concerns a later job only if their partitions share a node:
//! on disjoint partitions, the schedules are those of separate machines, and with one partition, the schedule is that
//! of a machine without partitions.

mod conservative;
mod walk;

pub use conservative::PartitionedConservative;
pub use walk::{Discipline, Walk};

use super::{QueueOrder, QueuedJob};
use crate::partitions::JobPartitions;
use crate::workload::JobId;

/// The position of a job in the queue: tier, rank in the order of the discipline, and turn.
type Rank = (i64, i128, u64);

fn rank(partitions: &JobPartitions, order: QueueOrder, job: &QueuedJob) -> Rank {
    let tier = partitions.set.all()[partitions.of(job.id)].tier();
    (-i64::from(tier), order.rank(job), job.turn)
}

/// A running job and the processors that it holds in each partition.
#[derive(Clone, Debug)]
struct Holder {
    estimated_end: i64,
    job: JobId,
    counts: Box<[u32]>,
}
