//! The treatment of jobs larger than the machine. This treatment is a separate pass, because the machine may be chosen
//! after loading.

use super::error::{CleaningError, Problem};
use super::job::Job;
use super::policy::Oversize;
use super::report::{CleaningReport, DropReason};
use crate::swf::Field;

/// Returns the new size of a job that is too large. `None` means an error, and 0 means that the job is dropped.
pub(super) fn verdict(rule: Oversize, procs: u32) -> Option<u32> {
    match rule {
        Oversize::Error => None,
        // A machine without processors cannot run a job of any size.
        Oversize::Drop => Some(0),
        Oversize::Clamp => Some(procs),
    }
}

/// Applies `rule` to the jobs that need more than `procs` processors, and counts the affected jobs in the report.
///
/// # Errors
/// [`CleaningError`] for the first oversized job under [`Oversize::Error`]; jobs and report are then unchanged.
pub fn fit_to_machine(
    jobs: &mut Vec<Job>,
    procs: u32,
    rule: Oversize,
    report: &mut CleaningReport,
) -> Result<(), CleaningError> {
    let Some(first) = jobs.iter().find(|job| job.size > procs) else { return Ok(()) };
    let Some(size) = verdict(rule, procs) else {
        return Err(CleaningError {
            file: (!report.name.is_empty()).then(|| report.name.clone()),
            line: u64::from(first.line),
            job: first.number,
            field: Field::AllocatedProcessors.into(),
            policy: report.policy.clone(),
            problem: Problem::LargerThanMachine { size: first.size, procs },
        });
    };
    jobs.retain_mut(|job| {
        if job.size > procs {
            match size {
                0 => report.drop_kept(job, DropReason::LargerThanMachine),
                _ => report.clamp_kept(job),
            }
            // A clamped job no longer has the requested shape.
            (job.size, job.shape) = (size, None);
        }
        job.size > 0
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::report::Change;

    fn jobs() -> (Vec<Job>, CleaningReport) {
        let job = |number, size| Job {
            number,
            submit: 0,
            run: 1,
            estimate: 1,
            size,
            line: number as u32 + 10,
            shape: None,
            limit: None,
        };
        let report =
            CleaningReport { name: "t.swf".into(), read: 3, kept: 3, ..Default::default() };
        (vec![job(1, 4), job(2, 9), job(3, 16)], report)
    }

    #[test]
    fn applies_each_rule() {
        let (mut kept, mut report) = jobs();
        let error = fit_to_machine(&mut kept, 8, Oversize::Error, &mut report).unwrap_err();
        assert!(error.to_string().starts_with("t.swf:12: job 2 needs 9 processors"), "{error}");
        assert_eq!(kept.len(), 3);

        fit_to_machine(&mut kept, 10, Oversize::Drop, &mut report).unwrap();
        assert_eq!(kept.iter().map(|job| job.number).collect::<Vec<_>>(), [1, 2]);
        assert_eq!((report.kept, report.dropped()), (2, 1));

        fit_to_machine(&mut kept, 8, Oversize::Clamp, &mut report).unwrap();
        assert_eq!(kept.iter().map(|job| job.size).collect::<Vec<_>>(), [4, 8]);
        assert_eq!((report.changed, report.changes[&Change::SizeClamped]), (1, 1));
    }

    #[test]
    fn a_machine_without_processors_drops_all_jobs() {
        let (mut kept, mut report) = jobs();
        fit_to_machine(&mut kept, 0, Oversize::Clamp, &mut report).unwrap();
        assert!(kept.is_empty() && report.dropped() == 3);
    }
}
