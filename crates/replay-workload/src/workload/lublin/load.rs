//! The offered load of generated jobs, and scaling of jobs to a target load.

use super::{LublinError, SyntheticJob};

/// Returns the offered load: the processor-seconds that the jobs use, divided by the processor-seconds that the machine
/// provides between the first and the last submission. `None` if the machine provides no processor-seconds, because it
/// has no processors or all jobs are submitted in one second.
///
/// The program `lublin99.c` divides by the processor-seconds from time 0 to the last submission instead. The divisor of
/// the program therefore includes the time from midnight to the first job.
#[must_use]
pub fn offered_load(jobs: &[SyntheticJob], processors: u32) -> Option<f64> {
    let (first, last) = span(jobs)?;
    let work: i128 = jobs.iter().map(|job| i128::from(job.run) * i128::from(job.size)).sum();
    let capacity = i128::from(processors) * (i128::from(last) - i128::from(first));
    (capacity > 0).then(|| work as f64 / capacity as f64)
}

/// Scales all gaps between submissions by the same factor, such that the offered load of the jobs becomes `target`.
/// Returns the factor. The first submit time and the order of jobs do not change. Times are rounded to whole seconds.
///
/// The daily cycle is scaled with the gaps, so a day of the scaled jobs does not have 24 hours. The change of the day's
/// length is a usual side effect of scaling the load without changing the jobs.
///
/// # Errors
/// [`LublinError::TargetLoad`] if the target is not a positive number or leaves less than a second between
/// the first and the last job; [`LublinError::NoSpan`] if there is no gap to scale;
/// [`LublinError::NoProcessors`] if `processors` is 0.
pub fn scale_to_load(
    jobs: &mut [SyntheticJob],
    processors: u32,
    target: f64,
) -> Result<f64, LublinError> {
    if processors == 0 {
        return Err(LublinError::NoProcessors);
    }
    if !(target.is_finite() && target > 0.0) {
        return Err(LublinError::TargetLoad { target });
    }
    let load = offered_load(jobs, processors).ok_or(LublinError::NoSpan)?;
    let (first, last) = span(jobs).ok_or(LublinError::NoSpan)?;
    let factor = load / target;
    let scale = |submit: i64| {
        let gap = submit.saturating_sub(first) as f64 * factor;
        first.saturating_add(gap.round() as i64)
    };
    if scale(last) == first || scale(last) == i64::MAX {
        return Err(LublinError::TargetLoad { target });
    }
    for job in jobs {
        job.submit = scale(job.submit);
    }
    Ok(factor)
}

/// Returns the first and the last submit time.
fn span(jobs: &[SyntheticJob]) -> Option<(i64, i64)> {
    let first = jobs.iter().map(|job| job.submit).min()?;
    let last = jobs.iter().map(|job| job.submit).max()?;
    Some((first, last))
}

#[cfg(test)]
mod tests {
    use super::super::JobKind;
    use super::*;
    use proptest::prelude::*;

    fn job(submit: i64, run: i64, size: u32) -> SyntheticJob {
        SyntheticJob { submit, run, estimate: run, size, kind: JobKind::Batch }
    }

    #[test]
    fn load_is_work_over_capacity() {
        let jobs = [job(50, 100, 4), job(100, 10, 2), job(150, 30, 6)];
        assert_eq!(offered_load(&jobs, 10), Some(0.6));
        assert_eq!(offered_load(&jobs, 0), None);
        assert_eq!(offered_load(&jobs[..1], 10), None);
        assert_eq!(offered_load(&[], 10), None);
    }

    #[test]
    fn scales_gaps_and_keeps_jobs() {
        let mut jobs = [job(50, 100, 4), job(100, 10, 2), job(150, 30, 6)];
        let factor = scale_to_load(&mut jobs, 10, 0.3).expect("in reach");
        assert_eq!(factor, 2.0);
        assert_eq!(jobs, [job(50, 100, 4), job(150, 10, 2), job(250, 30, 6)]);
    }

    #[test]
    fn unreachable_loads_leave_the_jobs_unchanged() {
        let jobs = [job(0, 10, 1), job(100, 10, 1)];
        for target in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9, 1e-300] {
            let mut scaled = jobs;
            let error = scale_to_load(&mut scaled, 1, target).unwrap_err();
            assert!(matches!(error, LublinError::TargetLoad { .. }), "{target}");
            assert_eq!(scaled, jobs);
        }
        let mut one = [jobs[0]];
        assert_eq!(scale_to_load(&mut one, 1, 0.5), Err(LublinError::NoSpan));
        assert_eq!(scale_to_load(&mut one, 0, 0.5), Err(LublinError::NoProcessors));
    }

    proptest! {
        #[test]
        fn reaches_the_target_and_keeps_the_order(
            mut jobs in prop::collection::vec((0..1_000_000_i64, 1..10_000_i64, 1..64_u32), 2..50)
                .prop_map(|jobs| jobs.into_iter().map(|(s, r, p)| job(s, r, p)).collect::<Vec<_>>()),
            target in 0.05..2.0_f64,
        ) {
            jobs.sort_by_key(|job| job.submit);
            prop_assume!(jobs[0].submit < jobs[jobs.len() - 1].submit);
            let mut scaled = jobs.clone();
            if scale_to_load(&mut scaled, 64, target).is_ok() {
                prop_assert!(scaled.is_sorted_by_key(|job| job.submit));
                let span = (scaled[scaled.len() - 1].submit - scaled[0].submit) as f64;
                let load = offered_load(&scaled, 64).expect("a span");
                // The tolerance is half a second of rounding, relative to the new span.
                prop_assert!((load / target - 1.0).abs() <= 0.5 / span + 1e-9);
            }
        }
    }
}
