//! The threads of a command.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rayon::ThreadPoolBuilder;

use super::exit::Failure;

/// Makes the pool that everything runs on: of so many threads, or as many as there are processors.
///
/// # Errors
/// [`Failure`] if the system refuses them (`ulimit -u`, `ulimit -v`).
pub fn set_threads(threads: Option<u64>) -> Result<(), Failure> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let wanted = threads.map_or(processors, |threads| threads as usize);
    ThreadPoolBuilder::new().num_threads(wanted).build_global().map_err(|error| {
        Failure::usage_message(format!(
            "cannot start {wanted} threads: {error} (--threads takes fewer; ulimit -u, ulimit -v)"
        ))
    })
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
