//! The table of the candidates of a decision.

use crate::allocator::candidate_set::{ScoredCandidate, Term};
use crate::metrics::Allocation;
use crate::metrics::allocations::{NODES, numbers};
use crate::table::{Column, Table, names};

impl ScoredCandidate {
    names! {
        BUSY_WEIGHT = "busy_weight",
        CANDIDATE_NUMBER = "candidate_number",
        FREE_WEIGHT = "free_weight",
        LAST_SHELL = "last_shell",
        SCORE = "score",
        SET = "set",
        TIE_VALUE = "tie_value",
        WALL_WEIGHT = "wall_weight",
    }
}

impl Table for ScoredCandidate {
    const NAME: &'static str = "candidates";
    const ROW: &'static str = "one row per candidate that is compared by score and tie value for one request, the winner first; at most 20 boxes";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        type C = Column<ScoredCandidate>;
        let sum = |term: Term| move |it: &ScoredCandidate| it.tie.map(|_| it.sum(term));
        vec![
            C::new(ScoredCandidate::CANDIDATE_NUMBER, "", "position among all candidates in the order of evaluation, from 1", |it| it.number),
            C::new("centre_x", "", "x of the centre of the shells, or of the first corner of a box", |it| i64::from(it.centre[0])),
            C::new("centre_y", "", "y of the centre or corner", |it| i64::from(it.centre[1])),
            C::new("centre_z", "", "z of the centre or corner; 0 in two dimensions", |it| i64::from(it.centre[2])),
            C::new(ScoredCandidate::LAST_SHELL, "", "number of the shell of the outermost processor; the centre is shell 0; 0 \
                for boxes", |it: &ScoredCandidate| it.last_shell()),
            C::new(ScoredCandidate::SCORE, "", "score of the candidate by the strategy's rule (replay list allocators), for a \
                box the number of places of larger boxes that the box blocks; lower is better", |it| it.score),
            C::new(ScoredCandidate::SET, "", "number of the candidate's processor set among the distinct sets, from 1", |it| it.set),
            C::new(ScoredCandidate::FREE_WEIGHT, "", "sum of the weights of nearby free processors; AF multiplies this sum; null \
                without a tie vector", sum(Term::Free)),
            C::new(ScoredCandidate::WALL_WEIGHT, "", "sum of the weights of the candidate's processors along walls; WF \
                multiplies this sum", sum(Term::Wall)),
            C::new(ScoredCandidate::BUSY_WEIGHT, "", "sum of the weights of busy processors just outside the candidate; BF \
                multiplies this sum", sum(Term::Busy)),
            C::new(ScoredCandidate::TIE_VALUE, "", "AF x free_weight - WF x wall_weight - BF x busy_weight; for a box, the weighted sum of its terms; lower is better; null without a tie vector or terms", |it| it.tie),
            C::new(Allocation::NODES, "", NODES, |it: &ScoredCandidate| numbers(&it.nodes)),
        ]
    }
}
