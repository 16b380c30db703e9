//! The thread pool of a command, and periodic calls.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rayon::ThreadPoolBuilder;

use super::exit::Failure;

/// Creates the global thread pool, by default with a thread for each processor.
///
/// # Errors
/// A usage error if the system refuses the threads (`ulimit -u`, `ulimit -v`).
pub fn set_threads(threads: Option<u64>) -> Result<(), Failure> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let wanted = threads.map_or(processors, |threads| threads as usize);
    ThreadPoolBuilder::new().num_threads(wanted).build_global().map_err(|error| {
        Failure::usage_message(format!(
            "cannot start {wanted} threads: {error} (use fewer with --threads; limits: ulimit -u, ulimit -v)"
        ))
    })
}

/// Calls a function four times a second until this value is dropped. If no thread can be started, the function is never
/// called.
pub struct Ticker {
    /// The thread ends when this sender is dropped.
    end: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    /// Starts a thread that calls `tick` periodically.
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
