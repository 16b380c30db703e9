//! Scaling the arrivals of jobs to another offered load.

use super::job::Job;

/// The result of scaling.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scaled {
    /// Offered load before scaling.
    pub before: f64,
    /// Factor by which the times between arrivals were multiplied.
    pub factor: f64,
    /// Offered load after scaling and rounding.
    pub after: f64,
}

/// Returns the offered load: the processor-seconds that the jobs use, divided by the processor-seconds that the machine
/// provides between the first and the last submission. The jobs must be in order of submission. The load is not finite
/// if all jobs are submitted at once.
pub fn offered_load(jobs: &[Job], processors: usize) -> f64 {
    let work: f64 = jobs.iter().map(|job| f64::from(job.size) * job.run as f64).sum();
    let (first, last) = (jobs.first(), jobs.last());
    let span = first.zip(last).map_or(0, |(first, last)| last.submit - first.submit);
    work / (processors as f64 * span as f64)
}

/// Scales the times between submissions such that the offered load becomes `load`. A job submitted t seconds after the
/// first job is moved to t x (old load / `load`) seconds after the first job, rounded to the nearest second. Run times,
/// sizes and the order do not change. Returns `None` and changes nothing if there are no jobs, or if their load is zero
/// or infinite.
pub fn scale_load(jobs: &mut [Job], processors: usize, load: f64) -> Option<Scaled> {
    let before = offered_load(jobs, processors);
    let factor = before / load;
    if !(factor > 0.0 && factor.is_finite()) {
        return None;
    }
    let first = jobs.first()?.submit;
    for job in jobs.iter_mut() {
        job.submit = first.saturating_add(((job.submit - first) as f64 * factor).round() as i64);
    }
    Some(Scaled { before, factor, after: offered_load(jobs, processors) })
}

/// Returns the name of a trace at a load: `KTH-SP2[load=0.7]`.
pub fn scaled_name(name: &str, load: f64) -> String {
    format!("{name}{MARK}{load}]")
}

/// Splits a name that [`scaled_name`] returned into the name of the unscaled trace and the load.
pub fn unscaled_name(name: &str) -> Option<(&str, f64)> {
    let (name, load) = name.strip_suffix(']')?.rsplit_once(MARK)?;
    Some((name, load.parse().ok()?))
}

const MARK: &str = "[load=";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaled_names_can_be_split() {
        for load in [0.7, 1.0, 0.30000000000000004] {
            let name = scaled_name("a[b]", load);
            assert_eq!(unscaled_name(&name), Some(("a[b]", load)));
        }
        assert_eq!(scaled_name("KTH", 0.7), "KTH[load=0.7]");
        assert_eq!(unscaled_name("KTH"), None);
        assert_eq!(unscaled_name("KTH[load=much]"), None);
    }

    fn job(submit: i64, run: i64, size: u32) -> Job {
        Job { number: 0, submit, run, estimate: run, size, line: 0, shape: None, limit: None }
    }

    #[test]
    fn changes_arrivals_only() {
        let jobs = [job(100, 50, 4), job(101, 20, 10), job(103, 10, 8), job(200, 30, 1)];
        let mut scaled = jobs;
        // The jobs use 510 processor-seconds; 10 processors provide 1,000 processor-seconds in 100 s.
        let result = scale_load(&mut scaled, 10, 0.85).expect("a load");
        assert!((result.before - 0.51).abs() < 1e-12 && (result.factor - 0.6).abs() < 1e-12);
        assert_eq!(scaled.map(|job| job.submit), [100, 101, 102, 160]);
        assert_eq!(result.after, 0.85);
        for (job, old) in scaled.iter().zip(&jobs) {
            assert_eq!(Job { submit: old.submit, ..*job }, *old);
        }
    }

    #[test]
    fn leaves_jobs_without_load_unchanged() {
        let mut at_once = [job(5, 10, 1), job(5, 10, 1)];
        assert_eq!(scale_load(&mut at_once, 4, 0.5), None);
        let mut idle = [job(5, 0, 1), job(9, 0, 1)];
        assert_eq!(scale_load(&mut idle, 4, 0.5), None);
        assert_eq!(scale_load(&mut [], 4, 0.5), None);
    }
}
