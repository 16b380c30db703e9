//! The thread pool of the module.

use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::interrupt::STACK;

/// The pool, and the number of the process that started its threads.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Runs `work` on a thread of the pool of this process, with the interpreter lock released. Parallel parts of `work` use
/// the other threads of the pool. The global pool of rayon is not used, because a process that `fork` creates has a copy
/// of the global pool but none of its threads, and would wait for them without end.
///
/// # Errors
/// `RuntimeError` if the threads cannot be started.
pub fn on_threads<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = of_process(py)?;
    Ok(py.detach(|| pool.install(work)))
}

/// Returns the pool of this process. The mutex is locked only while the interpreter lock is held. Python forks while it
/// holds the interpreter lock, so the mutex is free in every new process.
fn of_process(_: Python<'_>) -> PyResult<Arc<ThreadPool>> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = process::id();
    if let Some((owner, pool)) = &*pool
        && *owner == process
    {
        return Ok(Arc::clone(pool));
    }
    let new = ThreadPoolBuilder::new().stack_size(STACK).build();
    let new = new.map_err(|e| PyRuntimeError::new_err(format!("cannot start the threads: {e}")))?;
    let new = Arc::new(new);
    // The pool of the parent is not dropped: dropping it would wait for threads that this process does not have.
    std::mem::forget(pool.replace((process, Arc::clone(&new))));
    Ok(new)
}
