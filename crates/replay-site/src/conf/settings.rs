//! Settings of the priority plugin and of the scheduler, with Slurm's defaults.

/// Weights of the factors of the priority.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Weights {
    /// `PriorityWeightAge`.
    pub age: u32,
    /// `PriorityWeightAssoc`.
    pub assoc: u32,
    /// `PriorityWeightFairshare`.
    pub fairshare: u32,
    /// `PriorityWeightJobSize`.
    pub size: u32,
    /// `PriorityWeightPartition`.
    pub partition: u32,
    /// `PriorityWeightQOS`.
    pub qos: u32,
    /// `cpu` of `PriorityWeightTRES`.
    pub tres_cpu: u32,
    /// `node` of `PriorityWeightTRES`.
    pub tres_node: u32,
}

/// Settings of `priority/multifactor`.
#[derive(Clone, PartialEq, Debug)]
pub struct PrioritySettings {
    /// Weights of the factors.
    pub weights: Weights,
    /// Waiting time, in minutes, at which the age factor is 1.
    pub max_age: u32,
    /// Whether small jobs have a larger size factor.
    pub favor_small: bool,
    /// Half-life of the usage in minutes; 0 for usage that does not decay.
    pub half_life: u32,
    /// Minutes between two calculations of the priorities.
    pub calc_period: u32,
    /// `FairShareDampeningFactor` of the classic rule.
    pub dampening: f64,
    /// Whether the fair tree is used; otherwise the classic rule.
    pub fair_tree: bool,
    /// `SMALL_RELATIVE_TO_TIME`.
    pub small_relative_to_time: bool,
    /// `ACCRUE_ALWAYS`: the age counts from submission.
    pub accrue_always: bool,
    /// `NO_NORMAL_ASSOC`.
    pub raw_assoc: bool,
    /// `NO_NORMAL_PART`.
    pub raw_partition: bool,
    /// `NO_NORMAL_QOS`.
    pub raw_qos: bool,
    /// `NO_NORMAL_TRES`.
    pub raw_tres: bool,
    /// `PriorityType=priority/basic`: first come first served.
    pub is_basic: bool,
}

impl Default for PrioritySettings {
    fn default() -> Self {
        Self {
            weights: Weights::default(),
            max_age: 7 * 24 * 60,
            favor_small: false,
            half_life: 7 * 24 * 60,
            calc_period: 5,
            dampening: 1.0,
            fair_tree: true,
            small_relative_to_time: false,
            accrue_always: false,
            raw_assoc: false,
            raw_partition: false,
            raw_qos: false,
            raw_tres: false,
            is_basic: false,
        }
    }
}

/// Settings of the two loops of the scheduler. A number of 0 is Slurm's value for "no limit" in the fields that are documented so.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SchedulerSettings {
    /// Whether the backfill runs (`sched/backfill`); otherwise the main loop alone (`sched/builtin`).
    pub backfill: bool,
    /// `bf_interval`: seconds between two passes of the backfill, at least 1.
    pub interval: i64,
    /// `bf_resolution`: seconds, at least 1.
    pub resolution: i64,
    /// `bf_window`: minutes that a plan covers, at least 1.
    pub window: u32,
    /// `bf_max_job_test`: records that a pass of the backfill tests, at least 1.
    pub test: u32,
    /// `bf_max_job_user`; 0 for no limit.
    pub per_user: u32,
    /// `bf_max_job_part`; 0 for no limit.
    pub per_partition: u32,
    /// `bf_max_job_user_part`; 0 for no limit.
    pub per_user_and_partition: u32,
    /// `bf_min_prio_reserve`.
    pub min_priority: u32,
    /// `bf_min_age_reserve`, in seconds.
    pub min_age: i64,
    /// `bf_one_resv_per_job`.
    pub one_reservation: bool,
    /// `bf_node_space_size`; `None` for the value of `bf_max_job_test`.
    pub slots: Option<u32>,
    /// `default_queue_depth`: records of a pass of the main loop that is not full.
    pub depth: u32,
    /// `partition_job_depth`: records of a partition in a pass of the main loop; 0 for no limit.
    pub partition_depth: u32,
    /// `sched_interval`: seconds between two full passes of the main loop, at least 1.
    pub full_interval: i64,
}

impl SchedulerSettings {
    /// Returns the number of slots that a plan may have.
    pub fn max_slots(&self) -> usize {
        self.slots.unwrap_or(self.test) as usize
    }
}

impl Default for SchedulerSettings {
    fn default() -> Self {
        Self {
            backfill: true,
            interval: 30,
            resolution: 60,
            window: 1440,
            test: 500,
            per_user: 0,
            per_partition: 0,
            per_user_and_partition: 0,
            min_priority: 0,
            min_age: 0,
            one_reservation: false,
            slots: None,
            depth: 100,
            partition_depth: 0,
            full_interval: 60,
        }
    }
}
