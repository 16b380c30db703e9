//! The one pool of workers that cells, of whatever kind, run on.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use rayon::{Scope, ThreadPool};

/// When an outcome is handed over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// When those of all items before it have been: what is written then does not depend on the
    /// number of threads.
    InOrder,
    /// At once: nothing waits in memory.
    AsDone,
}

thread_local! {
    /// The pool that items of this thread run on; `None` for the global one.
    static POOL: RefCell<Option<Arc<ThreadPool>>> = const { RefCell::new(None) };
}

/// Does work whose items run on this pool instead of the global one, for a process that lives longer than one
/// command.
pub fn on_pool<T>(pool: ThreadPool, work: impl FnOnce() -> T) -> T {
    let outer = POOL.replace(Some(Arc::new(pool)));
    let result = work();
    POOL.replace(outer);
    result
}

/// Returns the number of threads that items run on.
pub(crate) fn threads() -> usize {
    let own = POOL.with_borrow(|pool| pool.as_ref().map(|pool| pool.current_num_threads()));
    own.unwrap_or_else(rayon::current_num_threads)
}

/// Does `work` on items on the current rayon pool and calls `take` on this thread with the place
/// and outcome of each. Items are begun in order, so that few outcomes wait for their turn.
/// `None` is an item that was ended before its own end; its worker begins no other, and `take` does
/// not hear of it. When `take` returns `false`, none is begun any more; those that run come to their
/// end, and `take` hears of them as well.
pub fn run<T: Sync, O: Send>(
    items: &[T],
    turn: Turn,
    work: impl Fn(usize, &T) -> Option<O> + Sync,
    mut take: impl FnMut(usize, O) -> bool,
) {
    if rayon::current_thread_index().is_some() {
        // On a worker of the pool itself, waiting for the others could wait for ever.
        for (place, item) in items.iter().enumerate() {
            let Some(outcome) = work(place, item) else { return };
            if !take(place, outcome) {
                return;
            }
        }
        return;
    }
    let threads = threads().min(items.len()).max(1);
    // At most two outcomes for each thread wait to be taken.
    let (sender, outcomes) = mpsc::sync_channel(threads);
    let (next_item, work) = (AtomicUsize::new(0), &work);
    in_place_scope(|scope| {
        // Moved in, so that it is dropped on return and no worker waits to be heard.
        let outcomes = outcomes;
        for _ in 0..threads {
            let (sender, next_item) = (sender.clone(), &next_item);
            scope.spawn(move |_| {
                loop {
                    let place = next_item.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(place) else { break };
                    let Some(outcome) = work(place, item) else { break };
                    if sender.send((place, outcome)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut take = |place, outcome| {
            if !take(place, outcome) {
                next_item.store(items.len(), Ordering::Relaxed);
            }
        };
        let mut early = BTreeMap::new();
        let mut next = 0;
        for (place, outcome) in outcomes.iter() {
            if turn == Turn::AsDone {
                take(place, outcome);
                continue;
            }
            early.insert(place, outcome);
            while let Some(outcome) = early.remove(&next) {
                take(next, outcome);
                next += 1;
            }
        }
        // Behind an item that was ended there may be some that were faster.
        early.into_iter().for_each(|(place, outcome)| take(place, outcome));
    });
}

/// A scope on the pool of this thread.
fn in_place_scope<'scope, R>(body: impl FnOnce(&Scope<'scope>) -> R) -> R {
    match POOL.with_borrow(Clone::clone) {
        Some(pool) => pool.in_place_scope(body),
        None => rayon::in_place_scope(body),
    }
}

/// [`run`], with a `take` that can fail: then none is begun any more, and it is not called again.
///
/// # Errors
/// That of `take`.
pub fn try_run<T: Sync, O: Send, E>(
    items: &[T],
    turn: Turn,
    work: impl Fn(usize, &T) -> Option<O> + Sync,
    mut take: impl FnMut(usize, O) -> Result<bool, E>,
) -> Result<(), E> {
    let mut failed = None;
    run(items, turn, work, |place, outcome| {
        if failed.is_some() {
            return false;
        }
        take(place, outcome).unwrap_or_else(|error| {
            failed = Some(error);
            false
        })
    });
    failed.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool")
    }

    /// Squares of 0 to 99, but for those that are ended.
    fn squares(turn: Turn, ended: usize) -> Vec<(usize, usize)> {
        let items: Vec<usize> = (0..100).collect();
        let mut taken = Vec::new();
        let work = |_: usize, &item: &usize| (item < ended).then_some(item * item);
        run(&items, turn, work, |place, outcome| {
            taken.push((place, outcome));
            true
        });
        taken
    }

    #[test]
    fn every_item_is_taken_once_and_in_its_turn() {
        let all: Vec<_> = (0..100).map(|i| (i, i * i)).collect();
        assert_eq!(squares(Turn::InOrder, 100), all);
        assert_eq!(pool(3).install(|| squares(Turn::InOrder, 100)), all);
        assert_eq!(on_pool(pool(3), || (threads(), squares(Turn::InOrder, 100))), (3, all.clone()));
        let mut taken = squares(Turn::AsDone, 100);
        taken.sort_unstable();
        assert_eq!(taken, all);
        run(&[], Turn::InOrder, |_, _: &u8| Some(()), |_, ()| panic!("there is none"));
    }

    #[test]
    fn nothing_is_begun_behind_an_item_that_was_ended_by_the_same_worker() {
        for turn in [Turn::InOrder, Turn::AsDone] {
            let mut taken = squares(turn, 7);
            taken.sort_unstable();
            assert_eq!(taken, (0..7).map(|i| (i, i * i)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn nobody_begins_another_when_enough_was_taken() {
        let items = [(); 10_000];
        let mut taken = 0;
        run(
            &items,
            Turn::InOrder,
            |_, ()| Some(()),
            |_, ()| {
                taken += 1;
                taken < 3
            },
        );
        assert!((3..10_000).contains(&taken), "{taken}");
    }

    #[test]
    fn the_first_failure_is_returned() {
        let items: Vec<usize> = (0..10_000).collect();
        let mut taken = 0;
        let outcome = try_run(
            &items,
            Turn::InOrder,
            |_, &item| Some(item),
            |place, _| {
                taken += 1;
                if place < 5 { Ok(true) } else { Err(place) }
            },
        );
        assert_eq!((outcome, taken), (Err(5), 6));
        assert_eq!(
            try_run(&items, Turn::AsDone, |_, _| Some(()), |_, ()| Ok::<_, ()>(true)),
            Ok(())
        );
    }
}
