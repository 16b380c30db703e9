//! Figure 4.1: requests for meshes of 4 x 6 and 4 x 2, which alternate.

use super::{AFL, FL, printed};
use crate::claim::claim;
use crate::exchange::with_swaps;
use crate::{Check, Tolerance, VerifyError, defect};
use replay_engine::cancel::CancelToken;
use replay_engine::metrics::SystemRecorder;
use replay_engine::scheduler::registry::SchedulerSpec;
use replay_engine::simulation::{Simulation, Starts};
use replay_engine::topology::Topology;
use replay_engine::workload::Job;

const FIGURE: &str = "Fig. 4.1, Q1";
const MACHINE: &str = "hypercube:6";
/// Ticks per second.
const SECOND: f64 = 1e6;
/// Service time in seconds.
const SERVICE: f64 = 4.0;

/// Results of a stream.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    /// Mean turnaround in seconds.
    turnaround: f64,
    /// Requested processors that are in use, in percent of all processors, averaged over the time until the last
    /// completion.
    utilization: f64,
    /// Mean number of running jobs, which is the load that the strategy carries.
    load: f64,
}

/// Runs `jobs` jobs. One job arrives every `SERVICE / load` seconds; if the load is infinite, all jobs arrive at once.
fn run(allocator: &str, load: f64, jobs: u32) -> Result<Outcome, VerifyError> {
    let gap = if load.is_finite() { SERVICE / load } else { 0.0 };
    let run = (SERVICE * SECOND) as i64;
    let jobs: Vec<Job> = (0..jobs)
        .zip([[4, 6, 1], [4, 2, 1]].into_iter().cycle())
        .map(|(i, shape)| {
            let size = shape.iter().map(|&side| u32::from(side)).product();
            let submit = (f64::from(i) * gap * SECOND).round() as i64;
            let (number, shape) = (i64::from(i) + 1, Some(shape));
            Job { number, submit, run, estimate: run, size, line: 0, shape, limit: None }
        })
        .collect();
    let topology: Topology = MACHINE.parse().map_err(defect)?;
    let spec = replay_strategies::allocator(allocator).map_err(defect)?;
    let mut allocator = spec.build(&topology, 0).map_err(defect)?;
    let processors = topology.processors();
    let mut scheduler = SchedulerSpec::fcfs().build(processors as u32);
    let mut recorder = SystemRecorder::new(jobs.len());
    let (stop, starts) = (CancelToken::new(), Starts::Scheduler(scheduler.as_mut()));
    let simulation = Simulation::new(&jobs, &topology, &stop).with_every_event();
    let overhead = simulation.run(starts, allocator.as_mut(), &mut recorder).map_err(defect)?;
    let system = recorder.metrics(0, processors, &overhead);
    let turnaround: i64 = jobs.iter().zip(recorder.ends()).map(|(job, end)| end - job.submit).sum();
    let work: i64 = jobs.iter().map(|job| job.run).sum();
    Ok(Outcome {
        turnaround: turnaround as f64 / jobs.len() as f64 / SECOND,
        utilization: 100.0 * system.fragmentation.utilization,
        load: work as f64 / system.fragmentation.finish_time as f64,
    })
}

const JOBS: u32 = 2000;

/// Checks the figure.
pub fn checks() -> Result<Vec<Check>, VerifyError> {
    with_swaps(of([FL, AFL])?, [[FL, AFL]], |_| of([AFL, FL]))
}

/// Checks the figure with the given strategies in the roles of FL and AFL.
fn of([fl, afl]: [&str; 2]) -> Result<Vec<Check>, VerifyError> {
    let mut checks = Vec::new();
    let note =
        "the thesis names 10 dimensions; its numbers require 6 dimensions and constant times";
    for (name, allocator, utilization, knee) in
        [("FL", fl, "50", "2.0"), ("AFL", afl, "100", "4.0")]
    {
        let saturated = run(allocator, f64::INFINITY, JOBS)?;
        for (what, text, ours) in [
            ("utilization at saturation, %", utilization, saturated.utilization),
            ("load at saturation", knee, saturated.load),
        ] {
            let what = format!("{name}: {what}");
            let exact = Tolerance::Absolute(1e-9);
            let check = printed(FIGURE, MACHINE, &what, text, ours, exact)?;
            checks.push(Check { note: note.to_string(), ..check });
        }
        let load: f64 = knee.parse().map_err(defect)?;
        let at = run(allocator, load, JOBS)?.turnaround;
        let what = format!("{name}: turnaround at load {knee}, s");
        checks.push(claim(FIGURE, MACHINE, &what, "5", at, Tolerance::Below)?);
        // If the queue grows without limit, the wait is proportional to the number of jobs: with four times the number
        // of jobs, the wait is four times longer.
        let beyond = load + 0.1;
        let growth = |load| {
            let (some, more) = (run(allocator, load, JOBS)?, run(allocator, load, 4 * JOBS)?);
            Ok::<f64, VerifyError>(more.turnaround / some.turnaround)
        };
        let what = format!(
            "{name}: turnaround with {} jobs over that with {JOBS} jobs at load {beyond:.1}",
            4 * JOBS
        );
        checks.push(claim(FIGURE, MACHINE, &what, "3", growth(beyond)?, Tolerance::Above)?);
        let what = format!(
            "{name}: turnaround with four times as many jobs over that with the usual number, at load {knee}"
        );
        checks.push(claim(FIGURE, MACHINE, &what, "1.01", growth(load)?, Tolerance::Below)?);
    }
    Ok(checks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn the_free_list_ends_at_half_and_the_auxiliary_list_at_all() {
        let checks = checks().expect("runs without error");
        assert_eq!(checks.len(), 10);
        for (i, check) in checks.iter().enumerate() {
            let expected = if i % 5 < 2 { Verdict::Same } else { Verdict::Within };
            assert_eq!(check.verdict(), expected, "{}: {:?}", check.what, check.ours);
        }
    }

    /// Below saturation, the utilization under both lists is load x 16 / 64.
    #[test]
    fn below_saturation_jobs_hardly_wait() {
        let shown = |seconds: f64| (100.0 * seconds).round() / 100.0;
        for (allocator, load, turnaround) in [
            (FL, 1.0, 4.00),
            (FL, 2.0, 4.00),
            (AFL, 1.0, 4.00),
            (AFL, 2.1, 4.00),
            (AFL, 3.0, 4.00),
            (AFL, 3.5, 4.29),
            (AFL, 4.0, 4.50),
        ] {
            let outcome = run(allocator, load, JOBS).expect("runs without error");
            assert_eq!(shown(outcome.turnaround), turnaround, "{allocator} {load}");
            // Utilization is averaged over the whole run, including the time at the end when few jobs are running.
            let expected = 25.0 * load;
            assert!((outcome.utilization - expected).abs() < 0.3, "{allocator} {load} {outcome:?}");
        }
    }
}
