//! U. Lublin and D. G. Feitelson: "The workload on parallel supercomputers: modeling the characteristics
//! of rigid jobs", JPDC 63(11), 2003: moments of the model.
//!
//! `lublin.csv` contains the constants of the authors' program (`m_lublin99.c`, for 128 processors). The constants
//! determine the moments of sizes, run times and arrivals. Each moment has a closed form or is a single integral
//! (`closed`). The moments that follow from the constants are compared with the moments of jobs from [the
//! generator](replay_engine::workload::lublin). The generator and this computation share no code. The comparison would
//! therefore detect a mistyped constant, random numbers in a wrong order, or a shifted daily cycle. The swap test uses
//! the jobs of another class.
//!
//! # Tolerances
//!
//! Sizes and logarithms of run times must agree within 1 %. Arrivals are bursty; mean gaps must agree within 5 %, and
//! the share of arrivals in the working day within 3 %. Each measured value has a 95 % interval over replications. The
//! interval must be narrower than the tolerance.

mod closed;

use crate::defect;
use std::collections::BTreeMap;

use super::claim::claim;
use super::{Check, Sample, Selection, StrategySwap, Suite, Tolerance, VerifyError};
use closed::Constants;
use replay_engine::metrics::estimate::Accumulator;
use replay_engine::workload::lublin::{
    HALF_HOURS_PER_DAY, LublinFeitelson, SECONDS_PER_HALF_HOUR, SyntheticJob,
};
use replay_experiment::shaken::CONFIDENCE;

/// Suite `lublin`.
pub const SUITE: Suite = Suite {
    name: "lublin",
    about: "Lublin, Feitelson: moments of sizes, run times and arrivals that follow from the model's printed \
            constants, against generated jobs",
    full: None,
    verify,
};

const TABLE: &str = include_str!("lublin.csv");

/// Number of processors of the machine for which the constants are printed.
const PROCESSORS: u32 = 128;
const JOBS: usize = 20_000;
const REPLICATIONS: u64 = 20;

/// Smallest number of processors of a large job.
const LARGE: u32 = 16;
/// The working day, 9:00 to 18:00, in half hours since midnight.
const WORKING_DAY: std::ops::Range<usize> = 18..36;

/// The quantity of a row: description, relative tolerance, value that follows from the constants, and value of
/// generated jobs.
struct Quantity {
    what: &'static str,
    tolerance: f64,
    implied: fn(&Constants) -> f64,
    drawn: fn(&[SyntheticJob]) -> f64,
}

const QUANTITIES: [Quantity; 7] = [
    Quantity {
        what: "share of jobs of one processor",
        tolerance: 0.01,
        implied: |constants| constants.probability(1, PROCESSORS),
        drawn: |jobs| share(jobs, |job| job.size == 1),
    },
    Quantity {
        what: "share of jobs whose size is a power of two",
        tolerance: 0.01,
        implied: |constants| {
            let sizes = (1..=PROCESSORS).filter(|size| size.is_power_of_two());
            sizes.map(|size| constants.probability(size, PROCESSORS)).sum()
        },
        drawn: |jobs| share(jobs, |job| job.size.is_power_of_two()),
    },
    Quantity {
        what: "mean size, processors",
        tolerance: 0.01,
        implied: |constants| {
            let part = |size| f64::from(size) * constants.probability(size, PROCESSORS);
            (1..=PROCESSORS).map(part).sum()
        },
        drawn: |jobs| mean(jobs.iter().map(|job| f64::from(job.size))),
    },
    Quantity {
        what: "mean of ln(run time in s)",
        tolerance: 0.01,
        implied: |constants| constants.mean_log_run(1..=PROCESSORS, PROCESSORS),
        drawn: |jobs| mean(jobs.iter().map(|job| (job.run as f64).ln())),
    },
    Quantity {
        what: "mean of ln(run time in s), jobs of 16 processors or more",
        tolerance: 0.01,
        implied: |constants| constants.mean_log_run(LARGE..=PROCESSORS, PROCESSORS),
        drawn: |jobs| {
            let large = jobs.iter().filter(|job| job.size >= LARGE);
            mean(large.map(|job| (job.run as f64).ln()))
        },
    },
    Quantity {
        what: "mean time between arrivals, s",
        tolerance: 0.05,
        implied: Constants::mean_gap,
        drawn: |jobs| {
            let last = jobs.last().map_or(f64::NAN, |job| job.submit as f64);
            last / jobs.len() as f64
        },
    },
    Quantity {
        what: "share of arrivals from 9:00 to 18:00",
        tolerance: 0.03,
        implied: |constants| constants.daily_shares()[WORKING_DAY].iter().sum(),
        drawn: |jobs| {
            share(jobs, |job| {
                let half_hour = (job.submit / SECONDS_PER_HALF_HOUR) as usize;
                WORKING_DAY.contains(&(half_hour % HALF_HOURS_PER_DAY))
            })
        },
    },
];

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0u32, 0.0), |(count, sum), value| (count + 1, sum + value));
    sum / f64::from(count)
}

fn share(jobs: &[SyntheticJob], which: impl Fn(&SyntheticJob) -> bool) -> f64 {
    mean(jobs.iter().map(|job| f64::from(u8::from(which(job)))))
}

/// Returns the printed constants by class.
fn classes() -> Result<BTreeMap<String, Constants>, VerifyError> {
    let rows = csv::Reader::from_reader(TABLE.as_bytes()).into_deserialize();
    let named = |row: Result<Constants, csv::Error>| row.map(|row| (row.class.clone(), row));
    rows.map(named).collect::<Result<_, _>>().map_err(defect)
}

/// Returns the generator of a single class.
fn generator(class: &str) -> Result<LublinFeitelson, VerifyError> {
    Ok(match class {
        "batch" => LublinFeitelson::batch(PROCESSORS),
        "interactive" => {
            LublinFeitelson { batch: None, ..LublinFeitelson::batch_and_interactive(PROCESSORS) }
        }
        "untyped" => LublinFeitelson::untyped(PROCESSORS),
        _ => return Err(defect(format!("unknown class \"{class}\""))),
    })
}

/// Measures all quantities on generated jobs of a class.
fn drawn(class: &str, selection: &Selection) -> Result<Vec<Accumulator>, VerifyError> {
    let model = generator(class)?;
    let mut found = vec![Accumulator::default(); QUANTITIES.len()];
    for seed in 1..=REPLICATIONS {
        selection.stop.check()?;
        let jobs = model.generate(JOBS, seed).map_err(defect)?;
        for (accumulator, quantity) in found.iter_mut().zip(&QUANTITIES) {
            accumulator.push((quantity.drawn)(&jobs));
        }
    }
    Ok(found)
}

fn verify(
    selection: &Selection,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Check>, VerifyError> {
    let classes = classes()?;
    let workload = |class: &str| format!("lublin-{class}");
    if !classes.keys().any(|class| selection.includes(&workload(class))) {
        return Ok(Vec::new());
    }
    let of = |class: &String| Ok((class.clone(), drawn(class, selection)?));
    let all = classes.keys().map(of).collect::<Result<BTreeMap<_, _>, VerifyError>>()?;
    let mut checks = Vec::new();
    for (class, constants) in &classes {
        if !selection.includes(&workload(class)) {
            continue;
        }
        for (at, quantity) in QUANTITIES.iter().enumerate() {
            let of = |class: &str| all[class][at].estimate(CONFIDENCE);
            let implied = (quantity.implied)(constants);
            let printed = format!("{implied:.4}");
            let tolerance = Tolerance::Relative(quantity.tolerance);
            let ours = of(class);
            let check =
                claim("model", &workload(class), quantity.what, &printed, ours.mean, tolerance)?;
            let swap = |other: &String| StrategySwap {
                with: format!("{other} instead of {class}"),
                ours: of(other).mean,
                margin: of(other).half_width,
            };
            checks.push(Check {
                log: Some(format!("{REPLICATIONS} x {JOBS} jobs on {PROCESSORS} processors")),
                published: implied,
                margin: ours.half_width,
                note: "the published number follows from the printed constants".to_string(),
                is_claim: false,
                sample: Sample::Implied,
                swaps: classes.keys().filter(|other| *other != class).map(swap).collect(),
                ..check
            });
        }
    }
    progress(&format!("{} moments", checks.len()));
    Ok(checks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_of_the_table_has_a_generator() {
        let classes = classes().expect("a readable table");
        assert_eq!(classes.len(), 3);
        for class in classes.keys() {
            let jobs = generator(class).expect("a known class").generate(200, 1).expect("jobs");
            let kinds = jobs.iter().map(|job| format!("{:?}", job.kind).to_lowercase());
            assert!(kinds.into_iter().all(|kind| kind == *class), "{class}");
        }
    }
}
