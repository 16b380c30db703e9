//! Runs long work without the interpreter lock; Ctrl-C cancels the work.

use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use replay_engine::cancel::CancelToken;

/// Time between two checks of signals.
const POLL: Duration = Duration::from_millis(50);

/// Stack size of a thread in bytes; the usual size of a main thread.
pub const STACK: usize = 8 << 20;

/// Runs `work` on a new thread, with the interpreter lock released. While the work runs, the calling thread handles
/// signals and calls `tick`. If a signal handler or `tick` raises an exception, `work` is cancelled through `cancel`,
/// and the exception is returned after `work` has ended.
///
/// # Errors
/// Returns the exception of a signal handler (`KeyboardInterrupt`) or of `tick`.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    cancel: &CancelToken,
    mut tick: impl FnMut(Python<'_>) -> PyResult<()>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let (sender, done) = sync_channel::<()>(1);
    let done = Mutex::new(done);
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("replay".to_string()).stack_size(STACK);
        let worker = builder.spawn_scoped(scope, move || {
            // The sender is dropped when the work ends, even by a panic; this ends the loop below.
            let _sender = sender;
            work()
        });
        let worker = worker
            .map_err(|error| PyRuntimeError::new_err(format!("cannot start a thread: {error}")))?;
        let mut raised = None;
        let wait = || {
            done.lock().map_or(Err(RecvTimeoutError::Disconnected), |done| done.recv_timeout(POLL))
        };
        while py.detach(wait) == Err(RecvTimeoutError::Timeout) {
            if raised.is_none()
                && let Err(error) = py.check_signals().and_then(|()| tick(py))
            {
                cancel.raise();
                raised = Some(error);
            }
        }
        let result = py.detach(|| worker.join());
        match (raised, result) {
            (Some(error), _) => Err(error),
            (None, Ok(result)) => Ok(result),
            (None, Err(panic)) => std::panic::resume_unwind(panic),
        }
    })
}
