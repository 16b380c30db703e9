//! Reasons for which jobs wait, by the names that Slurm prints.

/// The reason of a waiting job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub enum Reason {
    /// No test has refused the job.
    #[default]
    None,
    /// No placement was found.
    Resources,
    /// A job before it in its partition has no place.
    Priority,
    /// The job has fewer or more nodes than its partition allows.
    PartitionNodeLimit,
    /// The job has a longer limit than its partition allows.
    PartitionTimeLimit,
    /// The job has more nodes than its partition.
    PartitionConfig,
    /// The partition is not up.
    PartitionDown,
    /// The job waits for the end of another job.
    Dependency,
    /// The job is not eligible yet.
    BeginTime,
    /// The job has priority 0.
    JobHeldAdmin,
    /// No placement exists on the idle machine.
    BadConstraints,
    /// A limit of a QOS or an association.
    Limit(LimitReason),
}

/// A limit that refuses a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs, reason = "the names are those of Slurm's limits")]
pub enum LimitReason {
    QosGrpJobs,
    MaxJobsPerAccount,
    QosMaxJobsPerUser,
    QosMaxWall,
    AssocGrpJobs,
    AssocMaxJobs,
    AssocMaxWall,
    MaxNodePerAccount,
    QosMaxNodePerJob,
    QosMaxNodePerUser,
    QosGrpNode,
    QosMinNode,
    AssocGrpNode,
    AssocMaxNodePerJob,
    MaxCpuPerAccount,
    QosMaxCpuPerJob,
    QosMaxCpuPerUser,
    QosGrpCpu,
    QosMinCpu,
    AssocGrpCpu,
    AssocMaxCpuPerJob,
    QosMaxSubmitPerUser,
    MaxSubmitPerAccount,
    QosGrpSubmit,
    AssocGrpSubmit,
    AssocMaxSubmit,
}

/// Class of a reason, for sums of waiting time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ReasonClass {
    /// `Resources`.
    Resources,
    /// `Priority`.
    Priority,
    /// Limits of QOS and associations.
    Limit,
    /// All other reasons.
    Other,
}

impl ReasonClass {
    /// All classes.
    pub const ALL: [ReasonClass; 4] =
        [ReasonClass::Resources, ReasonClass::Priority, ReasonClass::Limit, ReasonClass::Other];
}

impl Reason {
    /// Returns the name that Slurm prints.
    pub fn name(self) -> &'static str {
        match self {
            Reason::None => "None",
            Reason::Resources => "Resources",
            Reason::Priority => "Priority",
            Reason::PartitionNodeLimit => "PartitionNodeLimit",
            Reason::PartitionTimeLimit => "PartitionTimeLimit",
            Reason::PartitionConfig => "PartitionConfig",
            Reason::PartitionDown => "PartitionDown",
            Reason::Dependency => "Dependency",
            Reason::BeginTime => "BeginTime",
            Reason::JobHeldAdmin => "JobHeldAdmin",
            Reason::BadConstraints => "BadConstraints",
            Reason::Limit(limit) => limit.name(),
        }
    }

    /// Returns the reason of a name that Slurm prints; `None` if no rule of this crate gives this reason.
    pub fn of_name(name: &str) -> Option<Self> {
        let plain = [
            Reason::None,
            Reason::Resources,
            Reason::Priority,
            Reason::PartitionNodeLimit,
            Reason::PartitionTimeLimit,
            Reason::PartitionConfig,
            Reason::PartitionDown,
            Reason::Dependency,
            Reason::BeginTime,
            Reason::JobHeldAdmin,
            Reason::BadConstraints,
        ];
        let limits = LimitReason::ALL.into_iter().map(Reason::Limit);
        plain.into_iter().chain(limits).find(|reason| reason.name() == name)
    }

    /// Returns the class of the reason.
    pub fn class(self) -> ReasonClass {
        match self {
            Reason::Resources => ReasonClass::Resources,
            Reason::Priority => ReasonClass::Priority,
            Reason::Limit(_) => ReasonClass::Limit,
            _ => ReasonClass::Other,
        }
    }

    /// Returns whether the reason is a limit of a QOS or an association.
    pub fn is_limit(self) -> bool {
        matches!(self, Reason::Limit(_))
    }
}

impl LimitReason {
    /// All limits.
    pub const ALL: [LimitReason; 26] = [
        LimitReason::QosGrpJobs,
        LimitReason::MaxJobsPerAccount,
        LimitReason::QosMaxJobsPerUser,
        LimitReason::QosMaxWall,
        LimitReason::AssocGrpJobs,
        LimitReason::AssocMaxJobs,
        LimitReason::AssocMaxWall,
        LimitReason::MaxNodePerAccount,
        LimitReason::QosMaxNodePerJob,
        LimitReason::QosMaxNodePerUser,
        LimitReason::QosGrpNode,
        LimitReason::QosMinNode,
        LimitReason::AssocGrpNode,
        LimitReason::AssocMaxNodePerJob,
        LimitReason::MaxCpuPerAccount,
        LimitReason::QosMaxCpuPerJob,
        LimitReason::QosMaxCpuPerUser,
        LimitReason::QosGrpCpu,
        LimitReason::QosMinCpu,
        LimitReason::AssocGrpCpu,
        LimitReason::AssocMaxCpuPerJob,
        LimitReason::QosMaxSubmitPerUser,
        LimitReason::MaxSubmitPerAccount,
        LimitReason::QosGrpSubmit,
        LimitReason::AssocGrpSubmit,
        LimitReason::AssocMaxSubmit,
    ];

    /// Returns the name that Slurm prints.
    pub fn name(self) -> &'static str {
        match self {
            LimitReason::QosGrpJobs => "QOSGrpJobsLimit",
            LimitReason::MaxJobsPerAccount => "MaxJobsPerAccount",
            LimitReason::QosMaxJobsPerUser => "QOSMaxJobsPerUserLimit",
            LimitReason::QosMaxWall => "QOSMaxWallDurationPerJobLimit",
            LimitReason::AssocGrpJobs => "AssocGrpJobsLimit",
            LimitReason::AssocMaxJobs => "AssocMaxJobsLimit",
            LimitReason::AssocMaxWall => "AssocMaxWallDurationPerJobLimit",
            LimitReason::MaxNodePerAccount => "MaxNodePerAccount",
            LimitReason::QosMaxNodePerJob => "QOSMaxNodePerJobLimit",
            LimitReason::QosMaxNodePerUser => "QOSMaxNodePerUserLimit",
            LimitReason::QosGrpNode => "QOSGrpNodeLimit",
            LimitReason::QosMinNode => "QOSMinNode",
            LimitReason::AssocGrpNode => "AssocGrpNodeLimit",
            LimitReason::AssocMaxNodePerJob => "AssocMaxNodePerJobLimit",
            LimitReason::MaxCpuPerAccount => "MaxCpuPerAccount",
            LimitReason::QosMaxCpuPerJob => "QOSMaxCpuPerJobLimit",
            LimitReason::QosMaxCpuPerUser => "QOSMaxCpuPerUserLimit",
            LimitReason::QosGrpCpu => "QOSGrpCpuLimit",
            LimitReason::QosMinCpu => "QOSMinCpu",
            LimitReason::AssocGrpCpu => "AssocGrpCpuLimit",
            LimitReason::AssocMaxCpuPerJob => "AssocMaxCpuPerJobLimit",
            LimitReason::QosMaxSubmitPerUser => "QOSMaxSubmitJobPerUserLimit",
            LimitReason::MaxSubmitPerAccount => "MaxSubmitJobsPerAccount",
            LimitReason::QosGrpSubmit => "QOSGrpSubmitJobsLimit",
            LimitReason::AssocGrpSubmit => "AssocGrpSubmitJobsLimit",
            LimitReason::AssocMaxSubmit => "AssocMaxSubmitJobLimit",
        }
    }
}
