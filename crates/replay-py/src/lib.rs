//! The Python module `replay._engine`, on which the package `replay` is built.
//!
//! Functions take options of the command line as text and pass them to the command line ([`replay::cli::embed`]).
//! Names, defaults and messages are therefore the same as on the command line. The interpreter lock is released while
//! the engine runs ([`interrupt`]).

use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::OnceLock;

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use replay::cli::Program;
use replay::cli::embed;
use replay::registries::Registries;

mod allocator;
mod arrow;
mod error;
mod interrupt;
mod pool;
mod run;
mod simulation;
mod table;
mod trace;

static PROGRAM: OnceLock<Program> = OnceLock::new();

/// Returns the program of this module, which is set before the module has any function.
fn program() -> &'static Program {
    PROGRAM.get().expect("the module is defined")
}

/// Runs the command-line program with the given arguments and returns its exit code. The first argument is the program
/// name.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> i32 {
    py.detach(|| embed::run(program(), &arguments))
}

/// An option of a command.
#[pyclass(frozen, get_all, module = "replay._engine")]
struct CommandOption {
    /// Name without dashes, such as `shake-seed`.
    name: String,
    /// Placeholder of the value; empty for a flag.
    value: String,
    /// Help text with defaults and possible values.
    help: String,
    /// Type of the value: `flag`, `integer`, `integers`, `number`, `numbers`, `duration`, `path` or `text`.
    kind: &'static str,
    /// Whether the option may be repeated, once for each member of a list.
    is_list: bool,
    /// The possible values; empty if the option does not enumerate its values.
    choices: Vec<String>,
}

/// Returns the options of each command. The options that need no subcommand are listed under `run`.
#[pyfunction]
fn options() -> HashMap<String, Vec<CommandOption>> {
    let option = |it: embed::CommandOption| {
        let embed::CommandOption { name, value, help, kind, is_list, choices } = it;
        CommandOption { name, value, help, kind: kind.name(), is_list, choices }
    };
    let of_command =
        |(command, options): (String, Vec<_>)| (command, options.into_iter().map(option).collect());
    embed::options().into_iter().map(of_command).collect()
}

#[cfg(feature = "module")]
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let [commit, sources, compiler] = replay_build::build!().map(str::to_string);
    let version = env!("CARGO_PKG_VERSION").to_string();
    let build = replay::experiment::sweep::Build { version, commit, sources, compiler };
    fill(module, Program::new(build, replay_strategies::standard().clone()))
}

/// Defines the contents of `replay._engine`, with these strategies, in a `#[pymodule]` of this name. A process can load
/// one such module.
pub fn define(module: &Bound<'_, PyModule>, registries: Registries) -> PyResult<()> {
    let file = module.filename().map(|name| name.to_string().into());
    fill(module, Program::of_file(file.map_err(std::io::Error::from), registries))
}

fn fill(module: &Bound<'_, PyModule>, program: Program) -> PyResult<()> {
    PROGRAM.set(program).map_err(|_| PyImportError::new_err("replay._engine is loaded already"))?;
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("ReplayError", py.get_type::<error::ReplayError>())?;
    module.add("CellError", py.get_type::<error::CellError>())?;
    module.add("UsageError", py.get_type::<error::UsageError>())?;
    module.add("DataError", py.get_type::<error::DataError>())?;
    module.add("AllocatorError", py.get_type::<error::AllocatorError>())?;
    module.add_class::<trace::Workload>()?;
    module.add_class::<run::Runs>()?;
    module.add_class::<allocator::Machine>()?;
    module.add_class::<allocator::Request>()?;
    module.add_class::<allocator::SharedArray>()?;
    module.add_class::<CommandOption>()?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<simulation::WaitingJob>()?;
    module.add_class::<simulation::RunningJob>()?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(options, module)?)?;
    module.add_function(wrap_pyfunction!(error::error_of, module)?)?;
    module.add_function(wrap_pyfunction!(table::summary_columns, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    Ok(())
}
