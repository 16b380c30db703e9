//! C. Chang and P. Mohapatra: "An Adaptive Job Allocation Method for Multicomputer Systems", ICDCS
//! 1996.
//!
//! Jobs that are refused are folded (restricted size reduction, RSR-t). The paper's curves have no
//! numbers; what its text says of them is checked, at the loads and between the schemes it names. A
//! few words, such as "close", need a bound; a note says where it is ours.
//!
//! # What is run
//!
//! A mesh of 32 x 32 with uniform, uncorrelated sides (squares for the 2D buddy system), and a
//! hypercube of eight dimensions with requests of 0 to 7 dimensions, uniform or nearly normal; FCFS,
//! exponential service of mean 5, 500 completions left out. Jobs that come later delay no earlier one
//! under FCFS, so that streams of so many jobs stand for the paper's runs up to so many completions.
//! The load that a strategy can carry is measured on streams whose jobs are all there at the
//! beginning: the later such a stream ends, the less it carries.
//!
//! # What the text leaves open
//!
//! * The smallest size of a job is printed as MIN(k - t, 0), which allows every job to be folded down to
//!   one processor and below; it is taken for MAX.
//! * RSR-t is compared with the limit that folds as often at most: RSR-7 with limit-0, RSR-2 with
//!   limit-5, RSR-1 with limit-6. Between others it claims nothing: at a load of 0.7 limit-5 is better than
//!   RSR-7, which folds large jobs up to seven times where limit-5 folds them twice.
//! * Load is work over capacity: a fold keeps the work on a hypercube, and adds some on a mesh, where
//!   an odd side is halved upwards.

mod claims;
mod points;

use super::exchange::{pairs, with_swaps};
use super::{Check, Selection, Suite, VerifyError};
use claims::Claims;
use points::{Points, System};

/// The suite.
pub const SUITE: Suite = Suite {
    name: "chang-mohapatra",
    about: "Chang, Mohapatra: jobs folded when they are refused (restricted size reduction) against none and \
            against fixed limits, on meshes and hypercubes (claims of the text)",
    full: Some("50,500 jobs a replication, as in the paper, instead of 2,500"),
    verify,
};

/// Jobs of a replication in the quick form, and in full, as in the paper.
const JOBS: [u32; 2] = [2_500, 50_500];

fn verify(
    selection: &Selection,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Check>, VerifyError> {
    let jobs = JOBS[usize::from(selection.full)];
    let points = Points::new(jobs, selection.stop.clone());
    let (checks, mut points) = claims(points, selection, progress)?;
    // What is said with two of the strategies exchanged, from the same points.
    let strategies = points.strategies();
    with_swaps(checks, pairs(&strategies), |pair| {
        points.exchanged = Some(pair);
        let taken = std::mem::replace(&mut points, Points::new(jobs, selection.stop.clone()));
        let (checks, given_back) = claims(taken, selection, &mut |_| {})?;
        points = given_back;
        Ok(checks)
    })
}

/// All claims, from these points.
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
