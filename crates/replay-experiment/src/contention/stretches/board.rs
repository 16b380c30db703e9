//! Who runs which part, and which parts hold.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The parts of a run in order, and how far it is certain. Part `i` begins with an empty machine at the cut
/// `i`; it ends at the first cut behind it at which nothing is in the system, mostly the next. The run is
/// the parts that so follow one another from the first: the *head* is the last of them that has begun.
/// All others are run ahead, on the guess that they will belong to it.
pub struct Board<R, E> {
    /// Work of the jobs from each cut to the next.
    work: Vec<u64>,
    /// When so much was done in vain, nothing more is run ahead.
    bound: u64,
    state: Mutex<State<R, E>>,
}

struct State<R, E> {
    parts: Vec<Part<R, E>>,
    head: usize,
    /// The cut that the head has come to.
    reached: usize,
    /// Outcomes of the parts up to the head.
    certain: Vec<R>,
    failed: Option<E>,
    wasted: u64,
}

enum Part<R, E> {
    /// Nobody has begun it.
    Open,
    Running,
    /// It was given up, or another part that is run ahead went over its beginning: to be run only if the head
    /// comes to it.
    Left,
    /// It ended at a cut.
    Ended(usize, R),
    Failed(E),
    /// The head went over its beginning: it does not belong to the run.
    Void,
}

/// How a part ended.
pub enum Outcome<R, E> {
    /// With nothing in the system, at a cut or, behind the last one, with the last job.
    Ended(usize, R),
    /// It was given up.
    Left,
    /// It cannot go on.
    Failed(E),
    /// All is to end.
    Stopped(E),
}

/// A run by parts.
#[derive(Debug)]
pub struct Whole<R> {
    /// Outcomes in order.
    pub parts: Vec<R>,
    /// Work that was done in vain.
    #[cfg(test)]
    pub wasted: u64,
}

impl<R, E> Board<R, E> {
    /// Parts of so much work.
    pub fn new(work: Vec<u64>) -> Self {
        let state = State {
            parts: work.iter().map(|_| Part::Open).collect(),
            head: 0,
            reached: 0,
            certain: Vec::new(),
            failed: None,
            wasted: 0,
        };
        let bound = work.iter().sum::<u64>() / 4;
        Self { work, bound, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State<R, E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The part to run next; `None` if others run all that is left. Whoever runs alone runs the head, always.
    pub fn take(&self) -> Option<usize> {
        let mut state = self.state();
        if state.failed.is_some() {
            return None;
        }
        let head = state.head;
        let at = match state.parts.get(head)? {
            Part::Open | Part::Left => head,
            _ if state.wasted > self.bound => return None,
            _ => {
                let from = state.reached + 1;
                let mut ahead = state.parts.iter().skip(from);
                from + ahead.position(|part| matches!(part, Part::Open))?
            }
        };
        state.parts[at] = Part::Running;
        Some(at)
    }

    /// A part comes to a cut, and something is in the system. Whether it is to go on to the next cut: the head
    /// is, others if nobody has begun there.
    pub fn goes_on(&self, part: usize, cut: usize) -> bool {
        let mut state = self.state();
        if part == state.head {
            state.reached = cut;
            let before = std::mem::replace(&mut state.parts[cut], Part::Void);
            state.wasted += match before {
                Part::Running => self.between(cut, cut + 1),
                Part::Ended(end, _) => self.between(cut, end),
                Part::Failed(_) => self.work[cut],
                Part::Open | Part::Left | Part::Void => 0,
            };
            return true;
        }
        if !matches!(state.parts[part], Part::Running) {
            return false;
        }
        let free = matches!(state.parts[cut], Part::Open) && state.wasted <= self.bound;
        let left = if free { cut } else { part };
        state.parts[left] = Part::Left;
        state.wasted += if free { 0 } else { self.between(part, cut) };
        free
    }

    /// The work between two cuts.
    fn between(&self, from: usize, to: usize) -> u64 {
        self.work.get(from..to).unwrap_or_default().iter().sum()
    }

    /// A part is over.
    pub fn over(&self, part: usize, outcome: Outcome<R, E>) {
        let mut state = self.state();
        let held = match outcome {
            Outcome::Stopped(error) => {
                state.failed.get_or_insert(error);
                return;
            }
            Outcome::Left => return,
            Outcome::Ended(cut, ran) => Part::Ended(cut, ran),
            Outcome::Failed(error) => Part::Failed(error),
        };
        if matches!(state.parts[part], Part::Void) {
            return;
        }
        state.parts[part] = held;
        state.advance();
    }

    /// All parts of the run in order.
    ///
    /// # Errors
    /// That of the first part that has one.
    pub fn whole(self) -> Result<Whole<R>, E> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let whole = Whole {
            parts: state.certain,
            #[cfg(test)]
            wasted: state.wasted,
        };
        state.failed.map_or(Ok(whole), Err)
    }
}

impl<R, E> State<R, E> {
    /// Goes from part to part as far as they have ended.
    fn advance(&mut self) {
        while let Some(part) = self.parts.get_mut(self.head) {
            match std::mem::replace(part, Part::Void) {
                Part::Ended(cut, ran) => {
                    self.certain.push(ran);
                    (self.head, self.reached) = (cut, cut);
                }
                Part::Failed(error) => {
                    self.failed.get_or_insert(error);
                    return;
                }
                other => {
                    *part = other;
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Parts = Board<&'static str, &'static str>;

    fn board(parts: usize) -> Parts {
        Board::new(vec![10; parts])
    }

    /// Whoever is alone runs the head only, and nothing is in vain.
    #[test]
    fn one_after_the_other() {
        let board = board(4);
        assert_eq!(board.take(), Some(0));
        board.over(0, Outcome::Ended(1, "a"));
        assert_eq!(board.take(), Some(1));
        assert!(board.goes_on(1, 2));
        board.over(1, Outcome::Ended(3, "b"));
        assert_eq!(board.take(), Some(3));
        board.over(3, Outcome::Ended(4, "c"));
        assert_eq!(board.take(), None);
        let whole = board.whole().expect("no error");
        assert_eq!((whole.parts, whole.wasted), (vec!["a", "b", "c"], 0));
    }

    #[test]
    fn what_was_run_ahead_holds_if_the_head_comes_to_it() {
        let board = board(4);
        assert_eq!([board.take(), board.take(), board.take()], [Some(0), Some(1), Some(2)]);
        board.over(2, Outcome::Ended(3, "c"));
        // Somebody has begun there: it could not be known to be right, and is.
        assert!(!board.goes_on(1, 2));
        board.over(1, Outcome::Left);
        board.over(0, Outcome::Ended(1, "a"));
        assert_eq!(board.take(), Some(1));
        // The other runs what is left ahead.
        assert_eq!([board.take(), board.take()], [Some(3), None]);
        // Now it is the head, and goes on over the guess that was wrong.
        assert!(board.goes_on(1, 2));
        board.over(1, Outcome::Ended(3, "b"));
        // Who runs the last part has become the head.
        assert_eq!(board.take(), None);
        board.over(3, Outcome::Ended(4, "d"));
        let whole = board.whole().expect("no error");
        assert_eq!((whole.parts, whole.wasted), (vec!["a", "b", "d"], 20));
    }

    #[test]
    fn an_error_counts_if_the_head_comes_to_it() {
        let board = board(3);
        assert_eq!([board.take(), board.take(), board.take()], [Some(0), Some(1), Some(2)]);
        board.over(1, Outcome::Failed("in vain"));
        board.over(2, Outcome::Failed("the first"));
        assert!(board.goes_on(0, 1));
        board.over(0, Outcome::Ended(2, "a"));
        assert_eq!((board.take(), board.whole().err()), (None, Some("the first")));
    }

    #[test]
    fn all_end_when_one_is_stopped() {
        let board = board(3);
        assert_eq!([board.take(), board.take()], [Some(0), Some(1)]);
        board.over(1, Outcome::Stopped("stopped"));
        assert_eq!((board.take(), board.whole().err()), (None, Some("stopped")));
    }

    /// Of eight parts none holds. When more than a quarter was in vain nobody runs ahead.
    #[test]
    fn little_is_done_in_vain() {
        let board = board(8);
        assert_eq!([board.take(), board.take(), board.take()], [Some(0), Some(1), Some(2)]);
        assert!(!board.goes_on(1, 2));
        board.over(1, Outcome::Left);
        // Nobody had begun the next part, and nobody does now; at the end of it somebody has.
        assert!(board.goes_on(2, 3));
        assert_eq!(board.take(), Some(4));
        assert!(!board.goes_on(2, 4));
        board.over(2, Outcome::Left);
        assert_eq!(board.take(), None);
        // What was given up is not counted again; what is still run is.
        (1..8).for_each(|cut| assert!(board.goes_on(0, cut)));
        assert!(!board.goes_on(4, 5));
        board.over(4, Outcome::Left);
        board.over(0, Outcome::Ended(8, "all"));
        assert_eq!(board.whole().expect("no error").wasted, 10 + 20 + 10);
    }

    /// What a part that is run ahead has gone over is part of it if it holds.
    #[test]
    fn a_part_that_is_run_ahead_goes_on_where_nobody_is() {
        let board = board(4);
        assert_eq!([board.take(), board.take()], [Some(0), Some(1)]);
        assert!(board.goes_on(1, 2));
        board.over(1, Outcome::Ended(3, "b"));
        board.over(0, Outcome::Ended(1, "a"));
        assert_eq!(board.take(), Some(3));
        board.over(3, Outcome::Ended(4, "c"));
        let whole = board.whole().expect("no error");
        assert_eq!((whole.parts, whole.wasted), (vec!["a", "b", "c"], 0));
    }
}
