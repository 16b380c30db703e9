//! S. W. Turner: "Processor Scheduling in a Distributed-Memory Computing Environment", PhD thesis,
//! Michigan State University, 1995.
//!
//! The curves of chapter 4 are lost: the copies that are left have their axes and legends. What
//! the text says of them is checked.
//!
//! # Claims
//!
//! Rows of the suite name the claim that they check; the numbers are ours, for reference.
//!
//! | claim | what the text says |
//! |---|---|
//! | Q1 | 4 x 6 and 4 x 2 in turn: AFL carries twice what FL does (Fig. 4.1) |
//! | Q2 | sides up to 16: turnaround and utilization of both are about equal (Figs 4.2, 4.3) |
//! | Q3 | sides up to 32: AFL is slightly better (Figs 4.4, 4.5) |
//! | Q4 | small and large jobs mixed: AFL is better with every mixture (Figs 4.6 to 4.27), and decreases turnaround (sections 1.2.2, 7.1) |
//! | Q5 | with a larger share of small jobs turnaround at a fixed load and utilization at saturation fall (sections 4.2, 4.3) |
//! | Q6 | a higher lower limit of the large jobs raises utilization |
//! | Q7 | the same "improves" turnaround |
//! | Q8 | small jobs up to 16 instead of 8: turnaround and utilization rise, the more so the more there are |
//! | Q9 | messages of jobs never meet under AFL (theorem 1) |
//! | Q10 | sharing hosts costs the high job on a kernel without preemption, and nothing on one with (E1 to E5) |
//! | Q11 | the low job gains beside EP and where the high job's barrier process has its host to itself (E1, E4, E5), not beside a Barrier job on the barrier host (E2, E3) |
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
//! * Run to the end of the phase (Setia et al.) has one sentence and no rule;
//!   [`scheduler`](replay_core::scheduler) says why it is none here.

mod constant;
mod meeting;
mod pair;
mod sharing;
mod structure;
mod workloads;

use super::claim::claim;
use super::{Check, Selection, Suite, Tolerance, VerifyError};

/// The suite.
pub const SUITE: Suite = Suite {
    name: "turner",
    about: "Turner: the free list and the auxiliary free list on hypercubes, jobs that share workstations by \
            priority (chapters 3 to 6: the numbers and directions of the text, claims Q1 to Q11)",
    full: Some("20,000 jobs a replication on the hypercube instead of 4,000"),
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
