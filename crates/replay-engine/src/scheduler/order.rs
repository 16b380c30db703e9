use super::QueuedJob;
use crate::naming::{Kind, kind};

/// Order of a queue. Jobs of equal rank are in arrival order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum QueueOrder {
    /// Arrival order.
    #[default]
    Fifo,
    /// Jobs with more processors come first.
    Largest,
    /// Jobs with fewer processors come first.
    Smallest,
    /// Jobs with longer estimates come first.
    Longest,
    /// Jobs with shorter estimates come first. Bani-Mohammad 2008 calls this order Shortest Service
    /// Demand (SSD).
    Shortest,
    /// Jobs with a smaller product of processors and estimate come first.
    LeastWork,
}

impl QueueOrder {
    /// All orders with their names.
    pub const ALL: [(&'static str, QueueOrder); 6] = [
        ("fifo", QueueOrder::Fifo),
        ("largest", QueueOrder::Largest),
        ("smallest", QueueOrder::Smallest),
        ("longest", QueueOrder::Longest),
        ("shortest", QueueOrder::Shortest),
        ("least-work", QueueOrder::LeastWork),
    ];

    /// Returns the values of the parameter `order` of disciplines with a queue.
    pub(super) fn kind() -> Kind<Self> {
        kind::one_of(&Self::ALL)
    }

    /// Returns whether the order depends on estimates.
    pub fn uses_estimates(self) -> bool {
        matches!(self, QueueOrder::Longest | QueueOrder::Shortest | QueueOrder::LeastWork)
    }

    /// Returns the rank of a job; lower ranks come first.
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

    /// Returns the position of a newly arrived job in `queue`, which must be sorted by this order.
    pub fn position<T>(self, queue: &[T], of: impl Fn(&T) -> &QueuedJob, job: &QueuedJob) -> usize {
        let place = |job: &QueuedJob| (self.rank(job), job.turn);
        queue.partition_point(|other| place(of(other)) <= place(job))
    }
}
