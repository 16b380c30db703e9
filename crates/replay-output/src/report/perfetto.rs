//! A run as a trace of events for Perfetto and other viewers of Chrome's trace event format.
//!
//! One second of the job trace is one second of the event trace. Jobs are slices. The slices of a lane do not overlap,
//! because the format requires that overlapping slices are nested. Busy processors and waiting jobs are counters. If
//! the number of slices is small enough, each processor also has a lane.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};

use serde_json::{Value, json};

use crate::plot::JobNames;
use replay_experiment::RunResult;

/// Maximum number of slices on lanes of processors. If there are more slices, only lanes of jobs are written.
pub const MOST_SLICES: usize = 400_000;

/// Writes the events of a run from its jobs and allocations. Returns the number of slices.
///
/// # Errors
/// Returns the errors of `out`.
pub fn write(run: &RunResult, names: &JobNames, mut out: impl Write) -> io::Result<usize> {
    let mut events = Events { out: &mut out, names, slices: 0, first: true };
    writeln!(events.out, "{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
    let title = format!(
        "{} on {}, {}, {}",
        run.key.trace,
        run.key.topology,
        run.key.scheduler,
        run.key.strategy()
    );
    for (pid, name) in [(1, format!("jobs: {title}")), (2, "load".to_string())] {
        events
            .put(&json!({"ph": "M", "pid": pid, "name": "process_name", "args": {"name": name}}))?;
    }
    let arrivals: std::collections::HashMap<(i64, i64), &replay_engine::metrics::JobMeasures> =
        run.jobs.iter().map(|job| ((job.number, job.start), job)).collect();
    for (allocation, lane) in run.allocations.iter().zip(lanes(run)) {
        let mut args = json!({"processors": allocation.nodes.len()});
        if let Some(job) = arrivals.get(&(allocation.job, allocation.start)) {
            args["wait_s"] = job.wait().into();
            args["pairwise_l1"] = job.placement.map(|place| place.pairwise_l1).into();
        }
        events.slice(1, lane, allocation.job, [allocation.start, allocation.end], args)?;
    }
    let series = &run.series;
    for ((at, busy), waiting) in series.times.iter().zip(&series.busy).zip(&series.waiting) {
        let counter = |name: &str, value: u32| json!({"ph": "C", "pid": 2, "tid": 0, "ts": micros(*at), "name": name, "args": {"value": value}});
        events.put(&counter("busy processors", *busy))?;
        events.put(&counter("waiting jobs", *waiting))?;
    }
    let on_processors: usize = run.allocations.iter().map(|one| one.nodes.len()).sum();
    if on_processors <= MOST_SLICES {
        events.put(
            &json!({"ph": "M", "pid": 3, "name": "process_name", "args": {"name": "processors"}}),
        )?;
        for allocation in &run.allocations {
            for node in &allocation.nodes {
                let times = [allocation.start, allocation.end];
                events.slice(3, u64::from(node.0) + 1, allocation.job, times, Value::Null)?;
            }
        }
    }
    let slices = events.slices;
    writeln!(out, "\n]}}")?;
    Ok(slices)
}

/// Converts seconds to microseconds.
fn micros(second: i64) -> i64 {
    second.saturating_mul(1_000_000)
}

struct Events<'a, W> {
    out: &'a mut W,
    names: &'a JobNames,
    slices: usize,
    first: bool,
}

impl<W: Write> Events<'_, W> {
    fn put(&mut self, event: &Value) -> io::Result<()> {
        if !std::mem::take(&mut self.first) {
            writeln!(self.out, ",")?;
        }
        serde_json::to_writer(&mut *self.out, event).map_err(io::Error::from)
    }

    fn slice(
        &mut self,
        pid: u32,
        lane: u64,
        job: i64,
        [start, end]: [i64; 2],
        args: Value,
    ) -> io::Result<()> {
        self.slices += 1;
        let mut event = json!({
            "ph": "X", "pid": pid, "tid": lane, "ts": micros(start), "dur": micros(end - start),
            "name": format!("job {}", self.names.of(job)),
        });
        if !args.is_null() {
            event["args"] = args;
        }
        self.put(&event)
    }
}

/// Returns the lane of each allocation, numbered from 1: the lowest lane that is free during the allocation.
fn lanes(run: &RunResult) -> impl Iterator<Item = u64> + '_ {
    let mut free: BinaryHeap<Reverse<u64>> = BinaryHeap::new();
    let mut taken: BinaryHeap<Reverse<(i64, u64)>> = BinaryHeap::new();
    let mut made = 0;
    // Allocations are ordered by start.
    run.allocations.iter().map(move |allocation| {
        while let Some(&Reverse((end, lane))) = taken.peek()
            && end <= allocation.start
        {
            taken.pop();
            free.push(Reverse(lane));
        }
        let lane = free.pop().map_or_else(
            || {
                made += 1;
                made
            },
            |Reverse(lane)| lane,
        );
        taken.push(Reverse((allocation.end, lane)));
        lane
    })
}
