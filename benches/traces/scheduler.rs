//! Measures, for every discipline, the time to schedule a trace as a function of the length of the queue.
//!
//! All jobs are submitted within the first minutes to a machine of 1024 processors, so that the queue is as long as the
//! trace, and then drains. The time per job is the time of the complete trace divided by its number of jobs; it should
//! hardly grow with the number of jobs.
//!
//! `cargo bench --bench traces -- scheduler results/benchmarks` writes `scheduler.csv` into that folder. Conservative
//! backfilling is measured with shorter queues unless the argument `full` is given. Any other argument selects the
//! schedulers whose names start with this argument.

use std::path::Path;

use super::common::{Failure, cpu_seconds, queue};
use replay::cancel::CancelToken;
use replay::scheduler::registry::SchedulerSpec;
use replay::simulation::Timeline;
use replay::workload::Job;

const PROCESSORS: u32 = 1024;
const LENGTHS: [u32; 4] = [10_000, 20_000, 40_000, 80_000];
const SHORT: [u32; 4] = [1_000, 2_000, 4_000, 8_000];

const SCHEDULERS: [&str; 10] = [
    "fcfs",
    "priority[order=largest]",
    "priority[order=shortest]",
    "easy",
    "easy[order=largest]",
    "easy[order=shortest]",
    "easy[order=least-work]",
    "out-of-order",
    "conservative",
    "conservative[order=shortest]",
];

/// Returns the CPU time for a complete trace in seconds. The result is the minimum of three runs; if a run takes more
/// than a second, no further run is made.
fn seconds(scheduler: &SchedulerSpec, jobs: &[Job]) -> Result<f64, Failure> {
    let mut least = f64::INFINITY;
    for _ in 0..3 {
        let begin = cpu_seconds();
        Timeline::compute(
            jobs,
            PROCESSORS,
            scheduler.build(PROCESSORS).as_mut(),
            &CancelToken::new(),
        )?;
        least = least.min(cpu_seconds() - begin);
        if least > 1.0 {
            break;
        }
    }
    Ok(least)
}

/// Measures the disciplines that `arguments` select.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let full = arguments.iter().any(|word| word == "full");
    let dir = arguments.iter().map(Path::new).find(|word| word.is_dir());
    let chosen: Vec<&str> = SCHEDULERS
        .into_iter()
        .filter(|name| arguments.iter().any(|word| name.starts_with(word.as_str())))
        .collect();
    let chosen = if chosen.is_empty() { SCHEDULERS.to_vec() } else { chosen };
    let mut table = String::from("scheduler,jobs,seconds,microseconds_per_job,exponent\n");
    for name in chosen {
        let scheduler = replay::strategies::scheduler(name)?;
        let short = name.starts_with("conservative") && !full;
        let mut before: Option<f64> = None;
        for count in if short { SHORT } else { LENGTHS } {
            let seconds = seconds(&scheduler, &queue(PROCESSORS, count))?;
            // Each queue length is twice the previous queue length.
            let exponent =
                before.map_or(String::new(), |before| format!("{:.2}", (seconds / before).log2()));
            let each = 1e6 * seconds / f64::from(count);
            let line = format!("{name},{count},{seconds:.3},{each:.2},{exponent}\n");
            print!("{line}");
            table += &line;
            before = Some(seconds);
        }
    }
    if let Some(dir) = dir {
        std::fs::write(dir.join("scheduler.csv"), table)?;
    }
    Ok(())
}
