use std::sync::Arc;

use super::SearchError;
use crate::Trace;
use replay_engine::scheduler::registry::SchedulerSpec;
use replay_engine::workload::Workload;

/// Splits a trace into two parts. The time from the first to the last submission is divided, and `share` is the share
/// of this time that belongs to the first part. Each part is scheduled separately and begins on an empty machine. The
/// names of the parts end in `[before SHARE]` and `[after SHARE]`.
///
/// # Errors
/// [`SearchError::Split`] if one of the parts has no jobs.
pub fn split(
    trace: &Trace,
    scheduler: &SchedulerSpec,
    share: f64,
) -> Result<[Arc<Trace>; 2], SearchError> {
    let workload = &trace.workload;
    let first = workload.jobs.first().map_or(0, |job| job.submit);
    let last = workload.jobs.last().map_or(0, |job| job.submit);
    let cut = first as f64 + (last - first) as f64 * share;
    let before = workload.jobs.partition_point(|job| (job.submit as f64) < cut);
    let after = workload.jobs.len() - before;
    if before == 0 || after == 0 {
        let part = workload.name.clone();
        return Err(SearchError::Split { part, share, before, after });
    }
    let side = |word: &str, range: std::ops::Range<usize>| {
        let side = Workload {
            name: format!("{}[{word} {share}]", workload.name),
            jobs: workload.jobs[range].to_vec(),
            ..Workload::clone(workload)
        };
        let only = std::slice::from_ref(scheduler);
        let (machine, policy) = (trace.topology.clone(), trace.policy.clone());
        let side = Trace::new(Arc::new(side), machine, policy, only);
        Arc::new(side.with_dependencies(trace.dependencies()))
    };
    Ok([side("before", 0..before), side("after", before..workload.jobs.len())])
}
