//! Measures the effect of replaying tie vectors together. For each of several numbers of vectors, the benchmark reports
//! the number of machine states in which a decision is made, and the seconds per vector.
//!
//! The tie vectors are neighbours in the middle of the grid of the paper (scan radius SR from 1 to 9, factors from 0 to
//! 10). Each complete log is replayed under FCFS on one thread, and only distances are measured. Vectors whose machines
//! have the same free processors share one machine state; without sharing, the number of states would be the number of
//! vectors times the number of jobs. Absent logs are reported and skipped.
//!
//! `cargo bench --bench traces -- lockstep`

use std::path::Path;
use std::sync::Arc;

use super::common::{Failure, trace};
use replay::allocator::ties::{TieConfig, TieVector};
use replay::cancel::CancelToken;
use replay::centre::{BatchReplay, CentreOptions};
use replay::experiment::search::Space;
use replay::experiment::{Cell, Measure, RunContext, Trace, run_cell, run_together};
use replay::machine::Machine;
use replay::scheduler::registry::SchedulerSpec;
use replay::simulation::Simulation;
use replay::workload::{Policy, Window, Workload};

/// For each log, its machine and the numbers of vectors that are replayed together. On LANL-CM5, a search replays 142
/// vectors together.
const LOGS: [(&str, &str, &[usize]); 3] = [
    ("NASA-iPSC-1993-3.1-cln", "16x8", &[1, 256, 1024, 4650]),
    ("KTH-SP2-1996-2", "10x10", &[1, 256, 1024, 4650]),
    ("LANL-CM5-1994-4.1-cln", "32x32", &[1, 64, 142]),
];

/// Measures all logs that are present.
pub fn run(_: &[String]) -> Result<(), Failure> {
    println!("trace                    machine   vectors    states %  seconds per vector");
    for (log, machine, counts) in LOGS {
        if let Some(path) = trace(log)? {
            measure(&path, log, machine, counts)?;
        }
    }
    Ok(())
}

fn measure(path: &Path, log: &str, machine: &str, counts: &[usize]) -> Result<(), Failure> {
    let jobs = Workload::load(path, &Policy::JOHNSON, &Window::ALL, Default::default())?;
    let topology = machine.parse()?;
    let trace = Arc::new(Trace::new(Arc::new(jobs), topology, "johnson", &[]));
    let vectors: Vec<_> = Space::johnson().grid().iter().map(|one| one.vector).collect();
    for &count in counts {
        let first = (vectors.len() - count) / 2;
        let some = &vectors[first..][..count];
        let seconds = seconds(&trace, some)?;
        let states = states(&trace, some)?;
        println!("{log:<24} {machine:<8} {count:>8} {states:>11.1} {seconds:>19.4}");
    }
    Ok(())
}

/// Returns the time of the replay per vector in seconds. The time excludes the schedule, which all vectors share.
fn seconds(trace: &Arc<Trace>, vectors: &[TieVector]) -> Result<f64, Failure> {
    let stop = CancelToken::new();
    let cell = |vector: &TieVector| -> Result<(u32, Cell), Failure> {
        let allocator = replay::strategies::allocator(&format!("mc1x1[tie={vector}]"))?;
        let (trace, scheduler) = (trace.clone(), SchedulerSpec::fcfs());
        Ok((0, Cell { trace, scheduler, allocator, seed: 0 }))
    };
    let cells = vectors.iter().map(cell).collect::<Result<Vec<_>, _>>()?;
    let (measure, watch) = (Measure::default(), RunContext::new(&stop));
    let Some(results) = run_together(&cells, measure, watch) else {
        return Ok(run_cell(0, &cells[0].1, measure, watch)?.seconds);
    };
    results.into_iter().try_fold(0.0, |sum, one| Ok(sum + one?.seconds / vectors.len() as f64))
}

/// Returns the number of machine states in which a decision is made, in percent of the number of vectors times the
/// number of jobs.
fn states(trace: &Trace, vectors: &[TieVector]) -> Result<f64, Failure> {
    let (jobs, stop) = (&trace.workload.jobs, CancelToken::new());
    let processors = trace.topology.processors() as u32;
    let mut fcfs = SchedulerSpec::fcfs().build(processors);
    let simulation = Simulation::new(jobs, &trace.topology, &stop);
    let timeline = simulation.schedule(fcfs.as_mut())?;
    let grid = trace.topology.grid().ok_or("a machine without a grid")?;
    let config = |&vector: &TieVector| TieConfig::new(Some(vector), Default::default());
    let configs = vectors.iter().map(config).collect();
    let machine = Machine::new(trace.topology.clone());
    let mut batch = BatchReplay::new(&machine, grid, CentreOptions::default(), configs);
    let decided = simulation.lockstep(&timeline, &mut batch, &mut |_, _| {})?;
    Ok(100.0 * decided as f64 / (vectors.len() * jobs.len()) as f64)
}
