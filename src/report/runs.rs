use super::format::{Align, Sheet, Value};
use crate::experiment::RunResult;
use crate::number::{fixed, grouped};

/// Everything known of a run, as named values in a fixed order; the first sixteen keys
/// are a promise to scripts.
pub fn full_row(result: &RunResult) -> Vec<(&'static str, Value)> {
    let (key, m) = (&result.key, &result.metrics);
    vec![
        ("trace", Value::from(key.trace.as_str())),
        ("jobs", Value::Unsigned(m.jobs)),
        ("topology", Value::from(key.topology.as_str())),
        ("scheduler", Value::from(key.scheduler.as_str())),
        ("allocator", Value::from(key.allocator.as_str())),
        ("tie", key.tie.as_deref().map_or(Value::Missing, Value::from)),
        ("mean_pairwise_l1", Value::Real(m.mean_pairwise_l1)),
        ("tied_decisions", Value::from(m.tied_decisions)),
        ("tied_percent", Value::from(m.tied_percent)),
        ("mean_tied", Value::from(m.mean_tied)),
        ("utilization", Value::Real(m.utilization)),
        ("makespan", Value::Integer(m.makespan)),
        ("mean_wait", Value::Real(m.mean_wait)),
        ("mean_turnaround", Value::Real(m.mean_turnaround)),
        ("mean_bounded_slowdown", Value::Real(m.mean_bounded_slowdown)),
        ("seconds", Value::Real(result.seconds)),
        ("processors", Value::Unsigned(result.processors as u64)),
        ("policy", Value::from(key.policy.as_str())),
        ("seed", Value::Unsigned(key.seed)),
        ("mean_diameter", Value::from(m.mean_diameter)),
        ("mean_dispersal", Value::from(m.mean_dispersal)),
        ("mean_weighted_dispersal", Value::from(m.mean_weighted_dispersal)),
        ("mean_components", Value::from(m.mean_components)),
        ("contiguous_percent", Value::from(m.contiguous_percent)),
        ("median_wait", Value::Real(m.median_wait)),
        ("p90_wait", Value::Real(m.p90_wait)),
        ("p99_wait", Value::Real(m.p99_wait)),
        ("max_wait", Value::Integer(m.max_wait)),
        ("median_turnaround", Value::Real(m.median_turnaround)),
        ("p90_turnaround", Value::Real(m.p90_turnaround)),
        ("p99_turnaround", Value::Real(m.p99_turnaround)),
        ("allocator_seconds", Value::from(result.allocator_seconds)),
        ("allocated_utilization", Value::from(m.system.map(|s| s.allocated_utilization))),
        (
            "internal_fragmentation_percent",
            Value::from(m.system.map(|s| s.internal_fragmentation_percent)),
        ),
        ("refusals", Value::from(m.system.map(|s| s.refusals))),
        ("fragmented_refusals", Value::from(m.system.map(|s| s.fragmented_refusals))),
        ("fragmented_time_percent", Value::from(m.system.map(|s| s.fragmented_time_percent))),
        ("mean_blocks", Value::from(m.system.and_then(|s| s.mean_blocks))),
        ("one_block_percent", Value::from(m.system.and_then(|s| s.one_block_percent))),
        ("mean_busy_list", Value::from(m.system.and_then(|s| s.mean_busy_list))),
        ("mean_searches", Value::from(m.system.and_then(|s| s.mean_searches))),
        ("attempts_per_job", Value::from(m.system.map(|s| s.attempts_per_job))),
        ("operations_per_job", Value::from(m.system.map(|s| s.operations_per_job))),
    ]
}

/// The table for people. Columns that no run fills are left out.
pub fn summary(results: &[RunResult]) -> Sheet {
    let ties = results.iter().any(|r| r.metrics.tied_decisions.is_some());
    let system = results.iter().any(|r| r.metrics.system.is_some());
    let mut header = vec![
        ("trace", Align::Left),
        ("jobs", Align::Right),
        ("machine", Align::Left),
        ("scheduler", Align::Left),
        ("allocator", Align::Left),
        ("tie", Align::Left),
        ("pairwise L1", Align::Right),
    ];
    if ties {
        header.extend([("tied %", Align::Right), ("mean tied", Align::Right)]);
    }
    header.extend([
        ("util %", Align::Right),
        ("wait s", Align::Right),
        ("turnaround s", Align::Right),
        ("slowdown", Align::Right),
    ]);
    if system {
        header.extend([
            ("refused", Align::Right),
            ("lost %", Align::Right),
            ("blocks", Align::Right),
        ]);
    }
    header.push(("seconds", Align::Right));
    let mut sheet = Sheet::new(&header);
    for RunResult { key, metrics: m, seconds, .. } in results {
        let dash = || "-".to_string();
        let mut row = vec![
            key.trace.clone(),
            grouped(m.jobs),
            key.topology.clone(),
            key.scheduler.clone(),
            key.allocator.clone(),
            key.tie.clone().unwrap_or_else(dash),
            fixed(m.mean_pairwise_l1, 3),
        ];
        if ties {
            row.push(m.tied_percent.map_or_else(dash, |v| fixed(v, 1)));
            row.push(m.mean_tied.map_or_else(dash, |v| fixed(v, 1)));
        }
        row.extend([
            fixed(100.0 * m.utilization, 2),
            fixed(m.mean_wait, 0),
            fixed(m.mean_turnaround, 0),
            fixed(m.mean_bounded_slowdown, 2),
        ]);
        if system {
            row.extend([
                m.system.map_or_else(dash, |s| grouped(s.refusals)),
                m.system.map_or_else(dash, |s| fixed(s.internal_fragmentation_percent, 2)),
                m.system.and_then(|s| s.mean_blocks).map_or_else(dash, |v| fixed(v, 2)),
            ]);
        }
        row.push(fixed(*seconds, 3));
        sheet.push(row);
    }
    sheet
}
