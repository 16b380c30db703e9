//! D. Tsafrir, Y. Etsion, D. G. Feitelson: "Backfilling using system-generated predictions rather than user runtime
//! estimates", IEEE TPDS 18(6), 2007. This suite contains the results of EASY with user estimates on three logs. EASY
//! with user estimates is the baseline of the paper.
//!
//! # Nothing is judged
//!
//! The printed numbers were quoted from memory and have not been compared with the paper. The numbers are shown
//! without a verdict.
//!
//! # Runs
//!
//! EASY runs under the cleaning policy `johnson`; estimates below the run time are raised to the run time. CTC-SP2 runs
//! on all 512 nodes of the machine. The header of the archive's log counts only the batch partition of 338 nodes; on
//! these nodes, the mean wait under EASY would be 250 minutes. Mean wait is in minutes. Slowdowns are bounded at 10 s.
//!
//! The paper used the versions of the logs that the archive had at the time. Only KTH-SP2 is available in two versions;
//! the mean waits of the two versions differ by 0.05 minutes. The results for SDSC-SP2 are 3 % and 6 % lower than the
//! quoted numbers. In the log SDSC-SP2, 5,669 jobs were cancelled before processors were allocated to them, and the
//! policy drops these jobs. The dropped jobs are not the cause of the difference: if they are included with a run time
//! of zero, both results are far above the quoted numbers.

use crate::defect;
use std::path::{Path, PathBuf};

use super::claim::claim;
use super::{Check, Measured, NotRun, Selection, Suite, Tolerance, VerifyError};
use replay_engine::metrics::ScheduleMetrics;
use replay_engine::scheduler::registry::SchedulerSpec;
use replay_engine::simulation::Timeline;
use replay_engine::workload::{Manifest, Policy, SizeSource, Window, Workload};

/// Suite `tsafrir`.
pub const SUITE: Suite = Suite {
    name: "tsafrir",
    about: "Tsafrir, Etsion, Feitelson: mean wait and bounded slowdown of EASY on CTC-SP2, KTH-SP2 and \
            SDSC-SP2 (printed numbers quoted from memory: not judged)",
    full: None,
    verify,
};

/// For each log: the number of processors, the paper's mean wait in minutes, and the paper's mean bounded slowdown. The
/// mean wait and the mean bounded slowdown were quoted from memory.
const LOGS: [(&str, u32, [&str; 2]); 4] = [
    ("CTC-SP2-1996-3.1-cln", 512, ["21", "4.6"]),
    ("KTH-SP2-1996-2", 100, ["114", "90"]),
    ("KTH-SP2-1996-2.1-cln", 100, ["114", "90"]),
    ("SDSC-SP2-1998-4.2-cln", 128, ["363", "99"]),
];

/// Label of a row, and the function that computes its value in the units of the paper.
type Quantity = (&'static str, fn(&ScheduleMetrics) -> f64);

const QUANTITIES: [Quantity; 2] = [
    ("mean wait under EASY, minutes", |metrics| metrics.mean_wait / 60.0),
    ("mean bounded slowdown under EASY", |metrics| metrics.mean_bounded_slowdown),
];

/// Returns the policies of a log, each with a note.
fn policies(log: &str) -> Vec<(Policy, &'static str)> {
    let mut policies = vec![(Policy::JOHNSON, "")];
    if log.starts_with("SDSC-SP2") {
        let size = SizeSource::AllocatedElseRequested;
        let cancelled = "jobs cancelled while waiting are kept, with zero run time";
        policies.push((Policy { size, ..Policy::JOHNSON }, cancelled));
    }
    policies
}

fn verify(
    selection: &Selection,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Check>, VerifyError> {
    let mut checks = Vec::new();
    for (log, processors, printed) in LOGS.into_iter().filter(|(log, ..)| selection.includes(log)) {
        let path = path(log, selection)?;
        for (policy, note) in policies(log) {
            let run = path.as_ref().map(|path| easy(path, &policy, processors, selection));
            let run = run.map_err(Clone::clone);
            let metrics = match run {
                Ok(metrics) => Ok(metrics?),
                Err(why) => Err(why),
            };
            for ((what, value), printed) in QUANTITIES.into_iter().zip(printed) {
                let check =
                    claim("TPDS 2007", log, what, printed, f64::NAN, Tolerance::Relative(0.0))?;
                let check = Check { is_claim: false, note: note.to_string(), ..check };
                checks.push(match &metrics {
                    Ok((name, metrics)) => Check {
                        log: Some(format!(
                            "{name}, {} jobs, {processors} processors",
                            metrics.jobs
                        )),
                        ours: Measured::Judged(value(metrics)),
                        ..check
                    }
                    .not_judged("the printed number was quoted from memory"),
                    Err(why) => Check { ours: Measured::NotRun(why.clone()), ..check },
                });
            }
        }
        progress(log);
    }
    Ok(checks)
}

/// Returns the path of a log. If the log is missing in exactly the named version, returns the reason.
fn path(log: &str, selection: &Selection) -> Result<Result<PathBuf, NotRun>, VerifyError> {
    let manifest = Manifest::embedded().map_err(defect)?;
    let found = selection.traces.resolve(log, &manifest);
    let fetch = || NotRun::Absent(format!("replay fetch {log}"));
    Ok(found.map_err(|_| fetch()))
}

/// Runs a log under EASY on `processors` processors and returns its name and its metrics.
fn easy(
    path: &Path,
    policy: &Policy,
    processors: u32,
    selection: &Selection,
) -> Result<(String, ScheduleMetrics), VerifyError> {
    let workload = Workload::load(path, policy, &Window::ALL, Default::default())?;
    let mut scheduler = SchedulerSpec::easy().build(processors);
    let timeline =
        Timeline::compute(&workload.jobs, processors, scheduler.as_mut(), &selection.stop);
    let timeline = timeline.map_err(defect)?;
    let metrics = ScheduleMetrics::new(&workload.jobs, timeline.starts(), processors as usize);
    Ok((workload.name, metrics))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;
    use crate::tests::select;

    #[test]
    fn without_logs_every_row_names_the_command_that_fetches_them() {
        let checks = verify(&select(&["SDSC-SP2"]), &mut |_| {}).expect("runs without logs");
        assert_eq!(checks.len(), 4);
        for check in checks {
            let Verdict::NotRun(why) = check.verdict() else { panic!("{check:?}") };
            assert!(why.to_string().contains("replay fetch SDSC-SP2-1998-4.2-cln"), "{why}");
        }
    }

    #[test]
    fn every_log_is_in_the_manifest() {
        let manifest = Manifest::embedded().expect("a readable manifest");
        for (log, processors, printed) in LOGS {
            let known = manifest.traces.iter().find(|known| known.name == log);
            assert!(known.is_some_and(|known| known.procs <= processors), "{log}");
            assert!(printed.iter().all(|number| number.parse::<f64>().is_ok()));
        }
    }
}
