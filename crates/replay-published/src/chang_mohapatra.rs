//! C. Chang and P. Mohapatra: "An Adaptive Job Allocation Method for Multicomputer Systems", ICDCS
//! 1996.
//!
//! Refused jobs are folded (restricted size reduction, RSR-t). The curves of the paper have no numbers. The claims of
//! its text are checked for the loads and the schemes that the text names. A few words, such as "close", need a bound.
//! A note marks each bound that was chosen for replay.
//!
//! # Runs
//!
//! The first machine is a mesh of 32 x 32. The requests on the mesh have uniform, uncorrelated sides (squares for the
//! 2D buddy system). The second machine is a hypercube of eight dimensions. The requests on the hypercube have 0 to 7
//! dimensions, with a uniform or a nearly normal distribution. Jobs are scheduled FCFS, service times are exponential
//! with mean 5, and the first 500 completions are excluded. The paper's runs end after a given number of completions.
//! replay uses streams with this number of jobs. Runs with a given number of completions and streams with this number
//! of jobs are equivalent, because under FCFS later jobs do not delay earlier jobs. The load that a strategy can carry
//! is measured on streams in which all jobs arrive at the beginning. The later the stream ends, the smaller the load
//! that the strategy can carry.
//!
//! # Ambiguities of the text
//!
//! * The smallest size of a job is printed as MIN(k - t, 0). With this rule, every job could be folded to one processor
//!   or less. The rule is read as MAX(k - t, 0).
//! * RSR-t is compared with the limit that has the same maximum number of folds: RSR-7 with limit-0, RSR-2 with
//!   limit-5, RSR-1 with limit-6. The paper makes no claim about other pairs. For example, at a load of 0.7, limit-5 is
//!   better than RSR-7, because RSR-7 folds large jobs up to seven times and limit-5 folds them at most twice.
//! * Load is the ratio of work to capacity. On a hypercube, a fold does not change the work. On a mesh, a fold can
//!   increase the work, because half of an odd side is rounded up.

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

/// Number of jobs of a replication in the quick form and in the full form. The full form has the number of the paper.
const JOBS: [u32; 2] = [2_500, 50_500];

fn verify(
    selection: &Selection,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Check>, VerifyError> {
    let jobs = JOBS[usize::from(selection.full)];
    let points = Points::new(jobs, selection.stop.clone());
    let (checks, mut points) = claims(points, selection, progress)?;
    // Judge the claims again on the same points, with two strategies exchanged.
    let strategies = points.strategies();
    with_swaps(checks, pairs(&strategies), |pair| {
        points.exchanged = Some(pair);
        let taken = std::mem::replace(&mut points, Points::new(jobs, selection.stop.clone()));
        let (checks, given_back) = claims(taken, selection, &mut |_| {})?;
        points = given_back;
        Ok(checks)
    })
}

/// Judges all claims. Returns the checks and all points, including the points that the claims added.
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
