//! The shared worker pool for cells of every kind.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use rayon::{Scope, ThreadPool};

/// The order in which outcomes are delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// In the order of the items, so that written output does not depend on the number of threads.
    InOrder,
    /// In the order of completion, so that finished outcomes need not be stored.
    AsDone,
}

thread_local! {
    /// The pool that runs the items of this thread; `None` for the global pool.
    static POOL: RefCell<Option<Arc<ThreadPool>>> = const { RefCell::new(None) };
}

/// Runs `work`; while it runs, [`run`] uses `pool` instead of the global pool on this thread. A process that runs
/// several grids can use a different number of threads for each grid.
pub fn on_pool<T>(pool: ThreadPool, work: impl FnOnce() -> T) -> T {
    let outer = POOL.replace(Some(Arc::new(pool)));
    let result = work();
    POOL.replace(outer);
    result
}

/// Returns the number of threads of the current pool.
pub(crate) fn threads() -> usize {
    let own = POOL.with_borrow(|pool| pool.as_ref().map(|pool| pool.current_num_threads()));
    own.unwrap_or_else(rayon::current_num_threads)
}

/// Applies `work` to all items on the current rayon pool, and calls `take` on this thread with the index and the
/// outcome of each item. Items are started in order, so that few outcomes wait for delivery. If `work` returns `None`,
/// the item was cancelled: `take` is not called for it, and the worker that ran it starts no further item. After `take`
/// has returned `false`, no further item is started; items that are already running finish and are delivered.
pub fn run<T: Sync, O: Send>(
    items: &[T],
    turn: Turn,
    work: impl Fn(usize, &T) -> Option<O> + Sync,
    mut take: impl FnMut(usize, O) -> bool,
) {
    if rayon::current_thread_index().is_some() {
        // This thread is a worker of the pool; if a worker waits for other workers, a deadlock is possible.
        for (place, item) in items.iter().enumerate() {
            let Some(outcome) = work(place, item) else { return };
            if !take(place, outcome) {
                return;
            }
        }
        return;
    }
    let threads = threads().min(items.len()).max(1);
    // At most two outcomes per thread wait for delivery.
    let (sender, outcomes) = mpsc::sync_channel(threads);
    let (next_item, work) = (AtomicUsize::new(0), &work);
    in_place_scope(|scope| {
        // The receiver is moved into the scope, so that it is dropped on return; otherwise a worker could block on
        // sending.
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
        // Deliver items that finished although an earlier item was cancelled.
        early.into_iter().for_each(|(place, outcome)| take(place, outcome));
    });
}

/// Runs `body` in a scope of the current pool.
fn in_place_scope<'scope, R>(body: impl FnOnce(&Scope<'scope>) -> R) -> R {
    match POOL.with_borrow(Clone::clone) {
        Some(pool) => pool.in_place_scope(body),
        None => rayon::in_place_scope(body),
    }
}

/// Applies `work` to all items as [`run`] does, with a `take` that can fail. After a failure, no further item is
/// started and `take` is not called again.
///
/// # Errors
/// The first error of `take`.
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

    /// Computes the squares of 0 to 99. All items from index `cancelled_from` on are cancelled.
    fn squares(turn: Turn, cancelled_from: usize) -> Vec<(usize, usize)> {
        let items: Vec<usize> = (0..100).collect();
        let mut taken = Vec::new();
        let work = |_: usize, &item: &usize| (item < cancelled_from).then_some(item * item);
        run(&items, turn, work, |place, outcome| {
            taken.push((place, outcome));
            true
        });
        taken
    }

    #[test]
    fn takes_every_item_once_and_in_order() {
        let all: Vec<_> = (0..100).map(|i| (i, i * i)).collect();
        assert_eq!(squares(Turn::InOrder, 100), all);
        assert_eq!(pool(3).install(|| squares(Turn::InOrder, 100)), all);
        assert_eq!(on_pool(pool(3), || (threads(), squares(Turn::InOrder, 100))), (3, all.clone()));
        let mut taken = squares(Turn::AsDone, 100);
        taken.sort_unstable();
        assert_eq!(taken, all);
        run(&[], Turn::InOrder, |_, _: &u8| Some(()), |_, ()| panic!("no item exists"));
    }

    #[test]
    fn starts_no_item_after_one_cancelled_by_the_same_worker() {
        for turn in [Turn::InOrder, Turn::AsDone] {
            let mut taken = squares(turn, 7);
            taken.sort_unstable();
            assert_eq!(taken, (0..7).map(|i| (i, i * i)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn starts_no_item_after_take_returns_false() {
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
    fn returns_the_first_failure() {
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
