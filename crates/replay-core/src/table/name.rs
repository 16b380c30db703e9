//! The names of the columns of all tables. Names are constants, so code with a wrong name does not
//! compile.

// The constants have the same names as the columns, which are in lower case.
#![allow(non_upper_case_globals)]

use std::fmt;

/// The name of a column.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize)]
#[serde(transparent)]
pub struct Name(&'static str);

impl Name {
    /// Creates a column name that is not declared in this module, for a table outside the project
    /// or for a name that is composed of other names.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// Returns the text.
    pub const fn text(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

macro_rules! names {
    ($($name:ident)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`.")]
            pub const $name: Name = Name(stringify!($name));
        )*

        /// All names.
        pub const ALL: &[Name] = &[$($name),*];
    };
}

// In alphabetical order. A test of the column listing checks that each name belongs to a column of
// a table.
names! {
    about absent af allocated_utilization allocated_utilization_percent allocator
    allocator_seconds alone_cycles arrival arrivals asked_per_job at attempts_per_job base
    base_mean base_median base_start base_trimmed_mean base_x base_y base_z baseline
    behind_half_width behind_percent bf block_days block_fragmentation
    block_fragmentation_percent blocked blocked_menu_percent blocking border_share bound
    bounded_slowdown box_x box_y box_z busy_cycles busy_weight candidate candidate_number
    carried_flits centre_x centre_y centre_z change_high_percent change_low_percent
    change_p change_percent change_verdict channel check class col compared_jobs compared_mean
    compared_measure compared_median compared_run compared_start compared_trimmed_mean
    compared_with comparisons components contention_factor contiguous_percent copies copy
    count cut_off_percent decisions declared delivered deviation diameter difference
    dispersal distance distinct distinct_from_best down_percent end estimate estimates
    evaluation evaluations excess_percent extent feasible figure finding finish_time
    first_half_gain_on_slurm first_half_utilization flits folded_percent found found_on
    fragmented_refusals fragmented_time_percent free free_regions free_weight gain_on_slurm
    gain_on_slurm_half_width group half_width head_at_destination held_size held_utilization
    higher_percent hops id improvement_half_width improvement_percent inject
    internal_fragmentation_percent isolated_cycles job jobs judged killed_jobs known
    known_why largest_free_box largest_free_region largest_size last_shell late_heads
    latency later latest_head leaves left_out_full left_out_no_wait left_out_nowhere level
    log log_run log_value lost_efficiency_percent lower_percent makespan makespan_cycles
    margin max_wait mean mean_blocking mean_blocks mean_bounded_slowdown
    mean_bounded_slowdown_change_percent mean_busy_list mean_components
    mean_contention_factor mean_diameter mean_dispersal mean_distance mean_fold_stretch
    mean_hops mean_latency mean_leaf_ratio mean_leaves mean_level mean_pair_distance
    mean_pair_hops mean_pairwise_l1 mean_pairwise_l1_change_percent mean_placement_factor
    mean_searches mean_sending_dispersal mean_sending_pairwise_l1 mean_stretch mean_tied
    mean_turnaround mean_turnaround_change_percent mean_turnaround_cycles mean_upper_blocks
    mean_wait mean_wait_change_percent mean_wait_cycles mean_weighted_dispersal
    median_contention_factor median_contention_factor_high median_contention_factor_low
    median_placement_factor median_placement_factor_high median_placement_factor_low
    median_stretch median_stretch_high median_stretch_low median_turnaround median_wait
    metric mix no_such_size_jobs nodes not_judged not_run note of_size off_target_jobs
    offered_load one_block_percent one_leaf_fitting_percent one_leaf_percent
    operations_per_job origin ours out_of_sample outside_box over over_packets
    p90_turnaround p90_wait p95_contention_factor p95_placement_factor p95_stretch
    p99_turnaround p99_wait packets packets_per_job paired_difference paired_half_width
    pairs pairwise_l1 partition pattern placement_factor points policy printed processors
    projected_mean projected_measure projected_runs promised_heads published queue rank reason
    reasons refusals refused_sizes replications requeued_jobs row rows rows_calibrated
    rows_claims rows_fitted rows_implied rows_out_of_sample rule run run_time run_value
    saturated_utilization saturated_utilization_half_width scheduler score searched
    second_half_gain_on_dl second_half_gain_on_dl_half_width second_half_gain_on_slurm
    second_half_gain_on_slurm_half_width second_half_utilization seconds seed sending_jobs
    served_size service service_cycles service_time set side_x side_y side_z sides size
    size_rank slack slots_held_percent smallest_size spared_decisions sr start step
    stream_jobs streams stretch subject submit suite swaps switches_refusals target_cycles
    test_half_width test_improvement_percent text tie tie_value tied tied_decisions
    tied_percent time_blocks to_log_percent tolerance too_few_free_refusals topic topology
    total_pairwise_l1 trace trimmed_mean_contention_factor trimmed_mean_placement_factor
    trimmed_mean_stretch turnaround turnaround_time undecided unit unnoticed
    unnoticed_bound unnoticed_equal unnoticed_wide unshaken unswapped up_utilization
    upper_blocks user utilization utilization_percent value verdict wait wait_cycles
    wait_time wall_share wall_weight warm_up way ways_tried weighted_dispersal wf what
    window workload worst_jobs worst_percent worst_size worst_trace
}
