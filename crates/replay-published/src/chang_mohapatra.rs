//! C. Chang and P. Mohapatra: "An Adaptive Job Allocation Method for Multicomputer Systems", ICDCS
//! 1996.
//!
//! Refused jobs are folded (restricted size reduction, RSR-t). The paper's curves have no numbers; the claims of
//! its text are checked at the loads and between the schemes that it names. A few words, such as "close", need a
//! bound; a note marks each bound that was chosen for replay.
//!
//! # Runs
//!
//! The machines are a mesh of 32 x 32 with uniform, uncorrelated sides (squares for the 2D buddy system), and a
//! hypercube of eight dimensions with requests of 0 to 7 dimensions, uniform or nearly normal. Jobs are served FCFS;
//! service is exponential with mean 5; the first 500 completions are excluded. Under FCFS later jobs do not delay
//! earlier ones, so that streams with a given number of jobs are equivalent to the paper's runs until that number of
//! completions. The load that a strategy can carry is measured on streams whose jobs all arrive at the beginning: the
//! later such a stream ends, the less load the strategy carries.
//!
//! # Ambiguities of the text
//!
//! * The smallest size of a job is printed as MIN(k - t, 0), by which every job could be folded down to one
//!   processor and below; it is read as MAX.
//! * RSR-t is compared with the limit that has the same maximum number of folds: RSR-7 with limit-0, RSR-2 with
//!   limit-5, RSR-1 with limit-6. The paper makes no claim about other pairs: at a load of 0.7, limit-5 is better
//!   than RSR-7, which folds large jobs up to seven times where limit-5 folds them twice.
//! * Load is work over capacity. A fold keeps the work on a hypercube, and adds some on a mesh, where an odd side is
//!   rounded up when halved.

mod claims;
mod points;

use super::exchange::{pairs, with_swaps};
use super::{Check, Selection, Suite, VerifyError};
use claims::Claims;
use points::{Points, System};

/// Suite `chang-mohapatra`.
pub const SUITE: Suite = Suite {
    name: "chang-mohapatra",
    about: "Chang, Mohapatra: folding of refused jobs (restricted size reduction) against no folding and \
            fixed limits, on meshes and hypercubes (claims of the text)",
    full: Some("50,500 jobs per replication, as in the paper, instead of 2,500"),
    verify,
};

/// Jobs of a replication in the quick and in the full form; the full form equals the paper.
const JOBS: [u32; 2] = [2_500, 50_500];

fn verify(
    selection: &Selection,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Check>, VerifyError> {
    let jobs = JOBS[usize::from(selection.full)];
    let points = Points::new(jobs, selection.stop.clone());
    let (checks, mut points) = claims(points, selection, progress)?;
    // Judges the same points with two strategies exchanged.
    let strategies = points.strategies();
    with_swaps(checks, pairs(&strategies), |pair| {
        points.exchanged = Some(pair);
        let taken = std::mem::replace(&mut points, Points::new(jobs, selection.stop.clone()));
        let (checks, given_back) = claims(taken, selection, &mut |_| {})?;
        points = given_back;
        Ok(checks)
    })
}

/// Judges all claims and returns the extended points.
fn claims(
    points: Points,
    selection: &Selection,
    progress: &mut dyn FnMut(&str),
) -> Result<(Vec<Check>, Points), VerifyError> {
    let mut suite = Claims::new(points);
    if selection.includes(System::Mesh { square: false }.machine()) {
        suite.meshes()?;
        progress("32x32: First Fit, Frame Sliding, 2D buddy");
    }
    if selection.includes(System::Cube { normal: false }.machine()) {
        for normal in [false, true] {
            suite.cube(System::Cube { normal })?;
        }
        progress("hypercube:8: buddy against limits");
    }
    Ok(suite.into_parts())
}
