//! Results as data frames of the Python package polars.

use polars::prelude::{CompatLevel, DataFrame};
use polars_arrow::array::StructArray;
use polars_arrow::datatypes::{ArrowDataType, Field};
use polars_arrow::ffi::export_iterator;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use replay_engine::table::{Name, Table as Rows};
use replay_output::report::summary_order;

/// A data frame on its way to Python.
#[pyclass(frozen, module = "replay._engine")]
pub struct Frame(DataFrame);

/// Converts an error of polars to an exception.
fn failed(error: impl ToString) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// Returns a data frame of the given rows.
pub fn frame<Row: Rows>(rows: &[Row]) -> PyResult<DataFrame> {
    replay_results::frame(rows).map_err(failed)
}

/// Returns a `polars.DataFrame` that shares its columns with this data frame.
pub fn to_python(py: Python<'_>, frame: DataFrame) -> PyResult<Bound<'_, PyAny>> {
    let frame = Bound::new(py, Frame(frame))?;
    py.import("polars")?.getattr("DataFrame")?.call1((frame,))
}

#[pymethods]
impl Frame {
    /// Arrow stream of the frame as a PyCapsule. The columns are shared without a copy.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows an exporter to ignore the requested schema; the consumer then converts the data.
        drop(requested_schema);
        let level = CompatLevel::newest();
        let fields: Vec<Field> =
            self.0.columns().iter().map(|column| column.field().to_arrow(level)).collect();
        let dtype = ArrowDataType::Struct(fields);
        let of = dtype.clone();
        // An iterator must own the frame; a clone shares the columns.
        let frame = self.0.clone();
        let batches: Vec<_> = frame.iter_chunks(level, false).collect();
        let batches = batches.into_iter().map(move |batch| {
            let array = StructArray::try_new(of.clone(), batch.height(), batch.into_arrays(), None);
            array.map(StructArray::boxed)
        });
        let stream = export_iterator(Box::new(batches), Field::new("".into(), dtype, false));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

/// Returns the columns of runs that the command line prints, in this order.
#[pyfunction]
pub fn summary_columns() -> Vec<&'static str> {
    summary_order().into_iter().map(Name::text).collect()
}
