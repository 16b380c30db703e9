//! The Python package `replay` with the strategy of `own_strategy.rs`.

use pyo3::prelude::*;

#[allow(dead_code)] // The function `main` is that of the program.
#[path = "../../own_strategy.rs"]
mod own_strategy;

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let registries = own_strategy::add_to(replay::strategies::standard().clone());
    replay_py::define(module, registries)
}
