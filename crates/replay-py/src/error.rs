//! Exceptions.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use replay::cli::embed::EmbedError;

create_exception!(replay, ReplayError, PyException, "What the program refuses, with its message.");
create_exception!(replay, CellError, ReplayError, "Some runs failed (exit code 1 of the program).");
create_exception!(
    replay,
    UsageError,
    ReplayError,
    "Wrong usage or configuration (exit code 2 of the program)."
);
create_exception!(replay, DataError, ReplayError, "Bad input data (exit code 3 of the program).");
create_exception!(
    replay,
    AllocatorError,
    ReplayError,
    "An allocator written in Python raised an exception or returned processors that the job cannot have."
);

/// Returns the exception for an exit code of the program.
#[pyfunction]
pub fn error_of(code: i32, message: String) -> PyErr {
    match code {
        1 => CellError::new_err(message),
        2 => UsageError::new_err(message),
        3 => DataError::new_err(message),
        _ => ReplayError::new_err(message),
    }
}

/// Returns the exception for what the command line refuses.
pub fn refused(error: EmbedError) -> PyErr {
    error_of(error.code, error.message)
}

/// Passes lines that the program would write to standard error to the package: warnings, and log records.
pub fn report(py: Python<'_>, lines: Vec<String>, all_warn: bool) -> PyResult<()> {
    if lines.is_empty() {
        return Ok(());
    }
    py.import("replay._messages")?.call_method1("report", (lines, all_warn)).map(drop)
}
