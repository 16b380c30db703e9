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

    /// Where a job stands: a lower rank comes first.
    pub fn rank(self, job: &QueuedJob) -> i128 {
        let (size, estimate) = (i128::from(job.size), i128::from(job.estimate));
        match self {
            QueueOrder::Fifo => 0,
            QueueOrder::Largest => -size,
            QueueOrder::Smallest => size,
            QueueOrder::Longest => -estimate,
            QueueOrder::Shortest => estimate,
            QueueOrder::LeastWork => size * estimate,
        }
    }

    /// Where a newly arrived job belongs in `queue`, which is in this order.
    pub fn position<T>(self, queue: &[T], of: impl Fn(&T) -> &QueuedJob, job: &QueuedJob) -> usize {
        let place = |job: &QueuedJob| (self.rank(job), job.turn);
        queue.partition_point(|other| place(of(other)) <= place(job))
    }
}
