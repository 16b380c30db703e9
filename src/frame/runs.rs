use super::column::{Column, Get::*};
use crate::experiment::RunResult;
use crate::metrics::SystemMetrics;

type C = Column<()>;

/// One row per run: what ran, and everything in `RunMetrics`.
#[rustfmt::skip]
pub(super) static COLUMNS: &[C] = &[
    C::new("run", "", "number of the run in its grid, from 0; joins the tables", U64(|r, ()| Some(r.run.into()))),
    C::new("trace", "", "trace: its file name without .swf and .gz", Text(|r, ()| Some(&r.key.trace))),
    C::new("jobs", "jobs", "jobs replayed, after cleaning", U64(|r, ()| Some(r.metrics.jobs))),
    C::new("topology", "", "machine, such as 10x10", Text(|r, ()| Some(&r.key.topology))),
    C::new("processors", "processors", "processors of the machine", U64(|r, ()| Some(r.processors as u64))),
    C::new("scheduler", "", "scheduler", Text(|r, ()| Some(&r.key.scheduler))),
    C::new("allocator", "", "allocator without its tie vector", Text(|r, ()| Some(&r.key.allocator))),
    C::new("tie", "", "tie vector SR,AF,WF,BF or auto; null without tie-breaking", Text(|r, ()| r.key.tie.as_deref())),
    C::new("policy", "", "cleaning policy of the trace", Text(|r, ()| Some(&r.key.policy))),
    C::new("seed", "", "seed of strategies that draw random numbers", U64(|r, ()| Some(r.key.seed))),
    C::new("mean_pairwise_l1", "hops", "mean over jobs of the sum of hop distances over all pairs of the processors asked for, not of those lost to internal fragmentation; one-processor jobs count as 0", F64(|r, ()| Some(r.metrics.mean_pairwise_l1))),
    C::new("total_pairwise_l1", "hops", "the same sums of all jobs, added up", U64(|r, ()| Some(r.metrics.total_pairwise_l1))),
    C::new("tied_decisions", "decisions", "decisions with at least two distinct best processor sets; null if not counted", U64(|r, ()| r.metrics.tied_decisions)),
    C::new("tied_percent", "%", "tied decisions in percent of all; null if not counted", F64(|r, ()| r.metrics.tied_percent)),
    C::new("mean_tied", "sets", "mean number of distinct best sets over tied decisions; null if not counted", F64(|r, ()| r.metrics.mean_tied)),
    C::new("mean_diameter", "hops", "mean largest L-infinity distance of two processors of a job, those lost to internal fragmentation included; null if placements were not measured", F64(|r, ()| r.metrics.mean_diameter)),
    C::new("mean_dispersal", "", "mean share of the smallest enclosing box that is not the job's, where processors lost to internal fragmentation are the job's; null if not measured", F64(|r, ()| r.metrics.mean_dispersal)),
    C::new("mean_weighted_dispersal", "processors", "mean of dispersal times the job's processors, those lost to internal fragmentation included; null if not measured", F64(|r, ()| r.metrics.mean_weighted_dispersal)),
    C::new("mean_components", "components", "mean number of connected components of a job's processors, those lost to internal fragmentation included; null if not measured", F64(|r, ()| r.metrics.mean_components)),
    C::new("contiguous_percent", "%", "jobs in one connected component; null if not measured", F64(|r, ()| r.metrics.contiguous_percent)),
    C::new("utilization", "", "processor-seconds used over processors times makespan, from 0 to 1", F64(|r, ()| Some(r.metrics.utilization))),
    C::new("makespan", "s", "last completion less first submission", I64(|r, ()| Some(r.metrics.makespan))),
    C::new("mean_wait", "s", "mean of start less submission", F64(|r, ()| Some(r.metrics.mean_wait))),
    C::new("median_wait", "s", "median wait", F64(|r, ()| Some(r.metrics.median_wait))),
    C::new("p90_wait", "s", "90th percentile of the wait", F64(|r, ()| Some(r.metrics.p90_wait))),
    C::new("p99_wait", "s", "99th percentile of the wait", F64(|r, ()| Some(r.metrics.p99_wait))),
    C::new("max_wait", "s", "largest wait", I64(|r, ()| Some(r.metrics.max_wait))),
    C::new("mean_turnaround", "s", "mean of completion less submission", F64(|r, ()| Some(r.metrics.mean_turnaround))),
    C::new("median_turnaround", "s", "median turnaround", F64(|r, ()| Some(r.metrics.median_turnaround))),
    C::new("p90_turnaround", "s", "90th percentile of the turnaround", F64(|r, ()| Some(r.metrics.p90_turnaround))),
    C::new("p99_turnaround", "s", "99th percentile of the turnaround", F64(|r, ()| Some(r.metrics.p99_turnaround))),
    C::new("mean_bounded_slowdown", "", "mean of turnaround over run time, run times below 10 s counted as 10 s, at least 1", F64(|r, ()| Some(r.metrics.mean_bounded_slowdown))),
    C::new("allocated_utilization", "", "as utilization, with the processors lost to internal fragmentation; null, as all that follow, for strategies that neither refuse nor hand out units", F64(|r, ()| system(r).map(|s| s.allocated_utilization))),
    C::new("internal_fragmentation_percent", "%", "processor-time given to jobs beyond their request, of all that was given", F64(|r, ()| system(r).map(|s| s.internal_fragmentation_percent))),
    C::new("refusals", "refusals", "attempts refused although the job's processors were free", U64(|r, ()| system(r).map(|s| s.refusals))),
    C::new("fragmented_refusals", "refusals", "those of them refused for want of a place (external fragmentation)", U64(|r, ()| system(r).map(|s| s.fragmented_refusals))),
    C::new("fragmented_time_percent", "%", "share of the time in which a job waited that had been refused for want of a place", F64(|r, ()| system(r).map(|s| s.fragmented_time_percent))),
    C::new("mean_blocks", "units", "mean sub-meshes, blocks or pages of a job", F64(|r, ()| system(r)?.mean_blocks)),
    C::new("one_block_percent", "%", "jobs in one unit", F64(|r, ()| system(r)?.one_block_percent)),
    C::new("mean_busy_list", "units", "time-average of the units handed out (m)", F64(|r, ()| system(r)?.mean_busy_list)),
    C::new("mean_searches", "searches", "mean searches of a job beyond the first (b)", F64(|r, ()| system(r)?.mean_searches)),
    C::new("attempts_per_job", "attempts", "calls of the allocator for a job", F64(|r, ()| system(r).map(|s| s.attempts_per_job))),
    C::new("operations_per_job", "operations", "elementary operations of the allocator for a job; 0 if it counts none", F64(|r, ()| system(r).map(|s| s.operations_per_job))),
];

fn system(result: &RunResult) -> Option<&SystemMetrics> {
    result.metrics.system.as_ref()
}
