//! S. W. Turner: "Processor Scheduling in a Distributed-Memory Computing Environment", PhD thesis,
//! Michigan State University, 1995.
//!
//! The curves of chapter 4 are lost: the copies that are left have their axes and legends. What
//! the text says of them is checked, and the saturation load of the free list has a closed form.
//!
//! # What the text leaves open
//!
//! * Figure 4.1 is said to be of a hypercube of ten dimensions, where its numbers are impossible.
//!   Six dimensions with constant times give them exactly.
//! * Utilization counts the processors of the meshes asked for: only so can the free list end at
//!   50 %.
//! * A job is small or large as a whole (`choice=job`): with an interval for each side the
//!   saturation loads would lie far beyond the printed axes.
//! * How the free list takes cubes back is not described; it is said to recognise every free
//!   subcube, and does here.
//! * By its figure of the release a subcube can merge with others while the job that left it runs, and
//!   then messages meet, against what the text concludes; `afl[release=heir]` rules it out.
//! * Run to the end of the phase (Setia et al.) has one sentence and no rule, so that it is no scheduler
//!   here: which of two jobs goes on, and when, would be ours.

mod constant;
mod meeting;
mod sharing;
mod structure;
mod workloads;

use super::streams::claim;
use super::{Check, Selection, Suite, Tolerance, VerifyError};

/// The suite.
pub const SUITE: Suite = Suite {
    name: "turner",
    about: "Turner: the free list and the auxiliary free list on hypercubes, jobs that share workstations by \
            priority (chapters 3 to 6: the numbers and directions of the text, a closed form)",
    verify,
};

/// The thesis's free list (FL).
const FL: &str = "cube-free-list";
/// The thesis's auxiliary free list.
const AFL: &str = "afl";

fn verify(
    selection: &Selection,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Check>, VerifyError> {
    let mut checks = Vec::new();
    if selection.includes(structure::MACHINE) {
        checks.extend(structure::checks()?);
        checks.extend(meeting::checks()?);
        checks.extend(constant::checks()?);
        progress("structure of subcubes, constant workload");
        checks.extend(workloads::checks(selection, progress)?);
    }
    if selection.includes(sharing::MACHINE) {
        checks.extend(sharing::checks()?);
        progress("two jobs on six workstations: E1 to E5");
    }
    Ok(checks)
}

/// A number as printed, beside ours.
fn printed(
    figure: &str,
    machine: &str,
    what: &str,
    printed: &str,
    ours: f64,
    tolerance: Tolerance,
) -> Result<Check, VerifyError> {
    let check = claim(figure, machine, what, printed, ours, tolerance)?;
    Ok(Check { is_claim: false, ..check })
}

/// A failure of a run whose input is ours: a defect of the program.
fn defect(error: impl std::fmt::Display) -> VerifyError {
    VerifyError::Table(error.to_string())
}
