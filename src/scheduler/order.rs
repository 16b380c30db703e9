use std::cmp::Reverse;

use super::QueuedJob;

/// The order of a queue. Ties keep arrival order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum QueueOrder {
    /// Arrival order.
    #[default]
    Fifo,
    /// Most processors first.
    Largest,
    /// Fewest processors first.
    Smallest,
    /// Longest estimate first.
    Longest,
    /// Shortest estimate first (SSD, Shortest Service Demand, of Bani-Mohammad 2008).
    Shortest,
    /// Least processors times estimate first.
    LeastWork,
}

impl QueueOrder {
    /// Every order with its name.
    pub const ALL: [(&'static str, QueueOrder); 6] = [
        ("fifo", QueueOrder::Fifo),
        ("largest", QueueOrder::Largest),
        ("smallest", QueueOrder::Smallest),
        ("longest", QueueOrder::Longest),
        ("shortest", QueueOrder::Shortest),
        ("least-work", QueueOrder::LeastWork),
    ];

    /// Whether it looks at estimates.
    pub fn uses_estimates(self) -> bool {
        matches!(self, QueueOrder::Longest | QueueOrder::Shortest | QueueOrder::LeastWork)
    }

    /// Where a newly arrived job belongs in `queue`, which is in this order.
    pub fn position(self, queue: impl QueueView, job: &QueuedJob) -> usize {
        match self {
            QueueOrder::Fifo => queue.length(),
            QueueOrder::Largest => queue.after(|other| Reverse(other.size) <= Reverse(job.size)),
            QueueOrder::Smallest => queue.after(|other| other.size <= job.size),
            QueueOrder::Longest => {
                queue.after(|other| Reverse(other.estimate) <= Reverse(job.estimate))
            }
            QueueOrder::Shortest => queue.after(|other| other.estimate <= job.estimate),
            QueueOrder::LeastWork => queue.after(|other| work(other) <= work(job)),
        }
    }
}

/// Processor-seconds asked for.
fn work(job: &QueuedJob) -> i128 {
    i128::from(job.size) * i128::from(job.estimate)
}

/// What [`QueueOrder::position`] needs of a queue.
pub trait QueueView {
    /// Number of jobs.
    fn length(&self) -> usize;
    /// Number of leading jobs for which `before` holds; it holds for no later one.
    fn after(&self, before: impl Fn(&QueuedJob) -> bool) -> usize;
}

impl QueueView for &Vec<QueuedJob> {
    fn length(&self) -> usize {
        self.len()
    }

    fn after(&self, before: impl Fn(&QueuedJob) -> bool) -> usize {
        self.partition_point(before)
    }
}

impl QueueView for &std::collections::VecDeque<QueuedJob> {
    fn length(&self) -> usize {
        self.len()
    }

    fn after(&self, before: impl Fn(&QueuedJob) -> bool) -> usize {
        self.partition_point(before)
    }
}
