//! Estimates of run times in place of the time limits of a log.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::str::FromStr;

use super::{JobId, Workload};
use crate::lines::LONGEST_TEXT;
use crate::number::{counted, digits, fixed};
use crate::sanitize::excerpt;

/// Source of the estimates that schedulers use.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Estimates {
    /// Field 9, as the cleaning policy changes it.
    #[default]
    Field9,
    /// The run time.
    Perfect,
    /// The run time times a factor, rounded up to seconds.
    Factor(f64),
    /// The mean run time of the last two jobs of the user that had ended in the log at the submission, at most field 9;
    /// with fewer ended jobs field 9 (Tsafrir, Etsion, Feitelson 2007).
    LastTwo,
    /// A CSV file with the columns `job,seconds`; field 9 for jobs without a row.
    File(String),
}

/// Error of estimates.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EstimatesError {
    /// The file cannot be read.
    #[error("--estimates: cannot read {0}")]
    Unreadable(String),
    /// A line of the file is not valid.
    #[error("{file}:{line}: {problem}")]
    Line {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
}

/// Numbers about the estimates of a trace.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EstimateReport {
    /// Jobs.
    pub jobs: usize,
    /// Jobs with the estimate of field 9.
    pub by_field9: usize,
    /// Mean of run time / estimate.
    pub mean: f64,
    /// Median of run time / estimate.
    pub median: f64,
    /// Jobs that run longer than their estimate.
    pub outrun: usize,
    /// Doublings of estimates, up to field 9, until all jobs have ended.
    pub corrections: u64,
}

impl FromStr for Estimates {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        match text.split_once('=') {
            None => match text {
                "field9" => Ok(Self::Field9),
                "perfect" => Ok(Self::Perfect),
                "last2" => Ok(Self::LastTwo),
                _ => Err(known(text)),
            },
            Some(("factor", factor)) => {
                let factor =
                    factor.parse().ok().filter(|factor: &f64| factor.is_finite() && *factor > 0.0);
                factor.map(Self::Factor).ok_or_else(|| known(text))
            }
            Some(("file", file)) if !file.is_empty() => Ok(Self::File(file.to_string())),
            Some(_) => Err(known(text)),
        }
    }
}

fn known(text: &str) -> String {
    format!(
        "\"{}\" is not a source of estimates; write field9, file=FILE, perfect, factor=F with F above 0, or last2",
        excerpt(text)
    )
}

impl fmt::Display for Estimates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field9 => f.write_str("field9"),
            Self::Perfect => f.write_str("perfect"),
            Self::Factor(factor) => write!(f, "factor={factor}"),
            Self::LastTwo => f.write_str("last2"),
            Self::File(file) => write!(f, "file={file}"),
        }
    }
}

/// Estimates of a CSV file by job number.
fn read(file: &str) -> Result<HashMap<i64, i64>, EstimatesError> {
    let unreadable = |e: std::io::Error| EstimatesError::Unreadable(format!("{file}: {e}"));
    let mut text = String::new();
    let input = File::open(file).map_err(unreadable)?;
    input.take(LONGEST_TEXT).read_to_string(&mut text).map_err(unreadable)?;
    let failed = |line: usize, problem: String| EstimatesError::Line {
        file: file.to_string(),
        line,
        problem,
    };
    let lines = text.trim_start_matches(crate::sanitize::BYTE_ORDER_MARK).lines();
    let mut lines = (1..).zip(lines).filter(|(_, text)| {
        let text = text.trim();
        !text.is_empty() && !text.starts_with('#')
    });
    let header = lines.next().map(|(line, text)| (line, text.replace(' ', "")));
    match header {
        Some((_, header)) if header.eq_ignore_ascii_case("job,seconds") => {}
        header => {
            let line = header.map_or(1, |(line, _)| line);
            return Err(failed(line, "the header is not job,seconds".to_string()));
        }
    }
    let mut all: HashMap<i64, (usize, i64)> = HashMap::new();
    for (line, text) in lines {
        let fields: Vec<&str> = text.split(',').map(str::trim).collect();
        let [job, seconds] = fields[..] else {
            return Err(failed(line, format!("{} fields, but the header has 2", fields.len())));
        };
        let job_number = job.parse::<i64>().map_err(|_| {
            failed(line, format!("job: \"{}\" is not a whole number", excerpt(job)))
        })?;
        let estimate = digits(seconds).filter(|seconds| (1..1 << 40).contains(seconds));
        let estimate = estimate.ok_or_else(|| {
            let problem =
                format!("seconds: \"{}\" is not a whole number above 0", excerpt(seconds));
            failed(line, problem)
        })?;
        if let Some((first, _)) = all.insert(job_number, (line, estimate)) {
            let problem =
                format!("job {job_number} is given twice; the first time on line {first}");
            return Err(failed(line, problem));
        }
    }
    Ok(all.into_iter().map(|(job, (_, seconds))| (job, seconds)).collect())
}

/// Returns the mean run time, rounded up, of the last two jobs of each job's user that had ended at its submission;
/// `None` for fewer.
fn last_two(workload: &Workload) -> Vec<Option<i64>> {
    let jobs = &workload.jobs;
    let mut by_user: HashMap<i64, Vec<usize>> = HashMap::new();
    for (at, job) in jobs.iter().enumerate() {
        if let Some(user) = workload.labels.of(job).user {
            by_user.entry(user).or_default().push(at);
        }
    }
    let mut means = vec![None; jobs.len()];
    for mut own in by_user.into_values() {
        let end = |at: usize| workload.waits.start(&jobs[at]).map(|start| start + jobs[at].run);
        let ends: BTreeSet<(i64, usize)> =
            own.iter().filter_map(|&at| Some((end(at)?, at))).collect();
        own.sort_by_key(|&at| jobs[at].submit);
        let mut ends = ends.into_iter().peekable();
        let mut last: [Option<i64>; 2] = [None; 2];
        for at in own {
            while let Some((_, ended)) = ends.next_if(|(end, _)| *end <= jobs[at].submit) {
                last = [last[1], Some(jobs[ended].run)];
            }
            if let [Some(one), Some(other)] = last {
                means[at] = Some((one + other + 1) / 2);
            }
        }
    }
    means
}

impl Estimates {
    /// Replaces the estimates of all jobs, and returns numbers about them.
    ///
    /// # Errors
    /// [`EstimatesError`] if a file of estimates cannot be read or is not valid.
    pub fn apply(&self, workload: &mut Workload) -> Result<EstimateReport, EstimatesError> {
        let given: Vec<Option<i64>> = match self {
            Self::Field9 => vec![None; workload.jobs.len()],
            Self::Perfect => workload.jobs.iter().map(|job| Some(job.run)).collect(),
            Self::Factor(factor) => {
                let longer = |run: i64| (run as f64 * factor).ceil() as i64;
                workload.jobs.iter().map(|job| Some(longer(job.run))).collect()
            }
            Self::LastTwo => {
                let bounded =
                    |(at, mean): (usize, Option<i64>)| Some(mean?.min(workload.jobs[at].estimate));
                last_two(workload).into_iter().enumerate().map(bounded).collect()
            }
            Self::File(file) => {
                let all = read(file)?;
                workload.jobs.iter().map(|job| all.get(&job.number).copied()).collect()
            }
        };
        let corrects = matches!(self, Self::LastTwo | Self::File(_) | Self::Factor(_));
        let mut report = EstimateReport { jobs: workload.jobs.len(), ..EstimateReport::default() };
        let mut shares = Vec::with_capacity(workload.jobs.len());
        for (at, given) in (0..).zip(given) {
            let job = &mut workload.jobs[JobId(at).index()];
            report.by_field9 += usize::from(given.is_none());
            let most = job.estimate;
            job.estimate = given.unwrap_or(most);
            shares.push(job.run as f64 / job.estimate.max(1) as f64);
            report.outrun += usize::from(job.run > job.estimate);
            let mut end = job.estimate.max(1);
            while corrects && end < job.run && end < most {
                end = (2 * end).min(most);
                report.corrections += 1;
            }
        }
        if !shares.is_empty() {
            report.mean = shares.iter().sum::<f64>() / shares.len() as f64;
            shares.sort_by(f64::total_cmp);
            let middle = [shares[(shares.len() - 1) / 2], shares[shares.len() / 2]];
            report.median = (middle[0] + middle[1]) / 2.0;
        }
        Ok(report)
    }
}

impl fmt::Display for EstimateReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = 100.0 * self.outrun as f64 / self.jobs.max(1) as f64;
        write!(
            f,
            "run time / estimate: mean {}, median {}; {} ({} %) outrun the estimate, {}",
            fixed(self.mean, 3),
            fixed(self.median, 3),
            counted(self.outrun as u64, "job"),
            fixed(share, 1),
            counted(self.corrections, "correction"),
        )?;
        match self.by_field9 {
            0 => Ok(()),
            jobs => write!(f, "; {} with the estimate of field 9", counted(jobs as u64, "job")),
        }
    }
}
