//! S. W. Turner: "Processor Scheduling in a Distributed-Memory Computing Environment", PhD thesis,
//! Michigan State University, 1995.
//!
//! The curves of chapter 4 are lost: the surviving copies show only axes and legends. Instead of the curves, the
//! statements that the text makes about the curves are checked.
//!
//! # Claims
//!
//! Each row of the suite names the claim that it checks. The numbers Q1 to Q11 are defined in this table; the thesis
//! does not number its claims.
//!
//! | claim | statement of the text |
//! |---|---|
//! | Q1 | 4 x 6 and 4 x 2 alternating: AFL carries twice the load of FL (Fig. 4.1) |
//! | Q2 | sides up to 16: turnaround and utilization of both lists are about equal (Figs 4.2, 4.3) |
//! | Q3 | sides up to 32: AFL is slightly better (Figs 4.4, 4.5) |
//! | Q4 | small and large jobs mixed: AFL is better with every mixture (Figs 4.6 to 4.27), and decreases turnaround (sections 1.2.2, 7.1) |
//! | Q5 | with a larger share of small jobs, turnaround at a fixed load and utilization at saturation decrease (sections 4.2, 4.3) |
//! | Q6 | a higher lower limit of the large jobs raises utilization |
//! | Q7 | a higher lower limit of the large jobs also "improves" turnaround |
//! | Q8 | with small jobs up to 16 instead of 8, turnaround and utilization are higher; the difference grows with the share of small jobs |
//! | Q9 | messages of different jobs never share a channel under AFL (theorem 1) |
//! | Q10 | sharing hosts delays the high job on a non-preemptive kernel, but not on a preemptive kernel (E1 to E5) |
//! | Q11 | the low job gains if it is EP, or if the high job's barrier process has its own host (E1, E4, E5); it does not gain if it is a Barrier job and shares the barrier host (E2, E3) |
//!
//! # Ambiguities of the text
//!
//! * For Figure 4.1, the text names a hypercube of ten dimensions. The numbers of the figure are impossible on this
//!   machine. A hypercube of six dimensions with constant times gives exactly these numbers.
//! * Utilization counts the processors of the requested meshes. With any other definition, the free list cannot have a
//!   final utilization of 50 %.
//! * A job is small or large as a whole (`choice=job`). If each side were small or large independently, the saturation
//!   loads would be far beyond the printed axes.
//! * The thesis does not describe how the free list merges released cubes. The thesis states that the free list
//!   recognizes every free subcube; replay implements this.
//! * According to the figure about releases, a subcube that a job did not use can merge with other subcubes while the
//!   job is still running. After such a merge, messages of different jobs share channels, which contradicts the
//!   conclusion of the text. `afl[release=heir]` prevents such merges.
//! * The thesis describes "run to the end of the phase" (Setia et al.) in one sentence and gives no rule.
//!   [`scheduler`](replay_engine::scheduler) explains why "run to the end of the phase" is not implemented.

mod constant;
mod pair;
mod shared_channels;
mod sharing;
mod structure;
mod workloads;

use super::claim::claim;
use super::{Check, Selection, Suite, Tolerance, VerifyError};

/// Suite `turner`.
pub const SUITE: Suite = Suite {
    name: "turner",
    about: "Turner: the free list and the auxiliary free list on hypercubes, jobs that share workstations by \
            priority (chapters 3 to 6: the numbers and directions of the text, claims Q1 to Q11)",
    full: Some("20,000 jobs per replication on the hypercube instead of 4,000"),
    verify,
};

/// Free list of the thesis (FL).
const FL: &str = "cube-free-list";
/// Auxiliary free list of the thesis (AFL).
const AFL: &str = "afl";

fn verify(
    selection: &Selection,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Check>, VerifyError> {
    let mut checks = Vec::new();
    if selection.includes(structure::MACHINE) {
        checks.extend(structure::checks()?);
        checks.extend(shared_channels::checks()?);
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

/// Creates the check of a printed number.
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
