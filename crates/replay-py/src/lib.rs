//! The Python module `replay._engine`: the library behind the package `replay`, which documents the names.
//!
//! Options are those of the command line, as text, and resolved by it ([`replay::cli::embed`]): names, defaults and
//! messages are one. The interpreter lock is released while the engine runs ([`interrupt`]).

use std::ffi::OsString;

use pyo3::prelude::*;

mod allocator;
mod arrow;
mod error;
mod interrupt;
mod run;
mod simulation;
mod table;
mod trace;

/// Runs the command-line program with these arguments, of which the first is its name, and returns its exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> i32 {
    py.detach(|| replay::cli::embed::run(&arguments))
}

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("ReplayError", py.get_type::<error::ReplayError>())?;
    module.add("CellError", py.get_type::<error::CellError>())?;
    module.add("UsageError", py.get_type::<error::UsageError>())?;
    module.add("DataError", py.get_type::<error::DataError>())?;
    module.add("AllocatorError", py.get_type::<error::AllocatorError>())?;
    module.add_class::<table::Table>()?;
    module.add_class::<trace::Workload>()?;
    module.add_class::<run::Runs>()?;
    module.add_class::<allocator::Machine>()?;
    module.add_class::<allocator::Request>()?;
    module.add_class::<allocator::SharedArray>()?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<simulation::WaitingJob>()?;
    module.add_class::<simulation::RunningJob>()?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(error::error_of, module)?)?;
    module.add_function(wrap_pyfunction!(table::read_parquet, module)?)?;
    module.add_function(wrap_pyfunction!(table::read_csv, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    Ok(())
}
