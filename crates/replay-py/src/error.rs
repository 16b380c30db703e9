//! Exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyInt;
use replay::cli::embed::EmbedError;

create_exception!(
    replay,
    ReplayError,
    PyException,
    "The program rejects its input; the text is the message of the program."
);
create_exception!(
    replay,
    CellError,
    ReplayError,
    "Some runs failed (exit code 1 of the program). The attribute `results` contains the other runs."
);
create_exception!(
    replay,
    UsageError,
    ReplayError,
    "An invalid option or configuration (exit code 2 of the program)."
);
create_exception!(
    replay,
    DataError,
    ReplayError,
    "Invalid input data (exit code 3 of the program)."
);
create_exception!(
    replay,
    AllocatorError,
    ReplayError,
    "An allocator that is written in Python raised an exception or returned invalid processors."
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

/// Returns the exception for options that the command line rejects.
pub fn rejected(error: EmbedError) -> PyErr {
    error_of(error.code, error.message)
}

/// Reads an argument that is an integer of at least 0.
///
/// # Errors
/// Returns `UsageError` if the integer is negative or too large, and `TypeError` if the value is not an integer.
pub fn natural(name: &str, value: &Bound<'_, PyAny>) -> PyResult<usize> {
    value.extract::<usize>().map_err(|_| match value.is_instance_of::<PyInt>() {
        true => UsageError::new_err(format!("{name}: {value} is not an integer of at least 0")),
        false => PyTypeError::new_err(format!("{name}: {value} is not an integer")),
    })
}

/// Issues lines as Python warnings or log records; the program would write these lines to standard error. If `all_warn`
/// is true, every line is a warning.
pub fn report(py: Python<'_>, lines: Vec<String>, all_warn: bool) -> PyResult<()> {
    if lines.is_empty() {
        return Ok(());
    }
    py.import("replay._messages")?.call_method1("report", (lines, all_warn)).map(drop)
}
