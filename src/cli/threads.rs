//! The threads of a command, where the system may grant fewer than are wanted.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rayon::{ThreadBuilder, ThreadPoolBuilder};

use super::exit::{Failure, tell};

/// Threads beside those that compute: one that listens for signals, one that draws progress.
const HELPERS: usize = 2;

/// Makes the pool that everything runs on: of so many threads, or as many as there are
/// processors. Where the system refuses some (`ulimit -u`, `ulimit -v`), there are fewer, down
/// to the one that asks, which is told unless the user wants quiet; results do not depend on
/// it. `tables` are written by a library with a pool of its own, which has no such way out.
///
/// # Errors
/// [`Failure`] if tables are to be written and the threads for them are refused.
pub fn set_threads(threads: Option<u64>, quiet: bool, tables: bool) -> Result<(), Failure> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let wanted = threads.map_or(processors, |threads| threads as usize);
    let writers = if tables { table_threads(processors) } else { 0 };
    let mut seats = seats(wanted + writers + HELPERS);
    if seats.len() < writers {
        return Err(Failure::usage_message(format!(
            "--out: writing tables takes {writers} threads, and the system grants {} (ulimit -u; the \
             variable POLARS_MAX_THREADS sets how many it takes)",
            seats.len()
        )));
    }
    let granted = seats.len().saturating_sub(writers + HELPERS);
    // Threads that are not needed now end here, and leave room for the others.
    let spare = seats.split_off(granted);
    for Seat { work, thread } in spare {
        drop(work);
        let _ = thread.join();
    }
    if granted < wanted && !quiet {
        let granted = granted.max(1);
        tell(format_args!("replay: the system grants {granted} threads, not {wanted} (ulimit -u)"));
    }
    let pool = ThreadPoolBuilder::new();
    let built = if seats.is_empty() {
        pool.num_threads(1).use_current_thread().build_global()
    } else {
        let count = seats.len();
        let mut seats = seats.into_iter();
        let seat = move |worker: ThreadBuilder| {
            let taken = seats.next().and_then(|seat| seat.work.send(worker).ok());
            taken.ok_or_else(|| std::io::ErrorKind::WouldBlock.into())
        };
        pool.num_threads(count).spawn_handler(seat).build_global()
    };
    built.map_err(Failure::usage)
}

/// How many threads the library that writes tables starts.
fn table_threads(processors: usize) -> usize {
    let chosen = std::env::var("POLARS_MAX_THREADS").ok().and_then(|text| text.parse().ok());
    chosen.filter(|&threads| threads > 0).unwrap_or(processors)
}

/// A thread that waits for its work.
struct Seat {
    work: SyncSender<ThreadBuilder>,
    thread: JoinHandle<()>,
}

/// As many threads as the system grants, up to `most`: a pool of threads that are there
/// already cannot fail.
fn seats(most: usize) -> Vec<Seat> {
    let seat = |number: usize| {
        let (work, worker): (_, Receiver<ThreadBuilder>) = sync_channel(1);
        let sit = move || worker.recv().map_or((), ThreadBuilder::run);
        let thread = thread::Builder::new().name(format!("worker-{number}")).spawn(sit).ok()?;
        Some(Seat { work, thread })
    };
    (0..most).map_while(seat).collect()
}

/// Calls something four times a second until it is dropped; never, if there is no thread for
/// it.
pub struct Ticker {
    /// Closed by dropping it.
    end: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    /// Begins.
    pub fn new(tick: impl Fn() + Send + 'static) -> Self {
        let (end, ends): (_, Receiver<()>) = sync_channel(0);
        let run = move || {
            while ends.recv_timeout(Duration::from_millis(250)) == Err(RecvTimeoutError::Timeout) {
                tick();
            }
        };
        let thread = thread::Builder::new().name("progress".to_string()).spawn(run).ok();
        Self { end: Some(end), thread }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
