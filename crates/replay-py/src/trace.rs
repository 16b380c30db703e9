//! Traces.

use std::ffi::OsString;
use std::sync::Arc;

use pyo3::prelude::*;
use replay::cli::embed::{self, TraceText};

use crate::error::{rejected, report};
use crate::table::Table;
use replay_core::table::{Column, Table as Rows, name};
use replay_core::workload::{Job, Workload as Jobs};

/// A loaded trace with its cleaned jobs.
#[pyclass(frozen, module = "replay")]
pub struct Workload {
    pub jobs: Arc<Jobs>,
    /// Contents of the trace in the Standard Workload Format; `None` if the trace is a file.
    text: Option<String>,
}

/// A row of the table of jobs.
struct Row<'a>(&'a Job);

impl Rows for Row<'_> {
    const NAME: &'static str = "trace";
    const ROW: &'static str = "one row per job, in order of submission";

    fn columns() -> Vec<Column<Self>> {
        vec![
            Column::new(name::job, "", "job number in the trace", |row: &Self| row.0.number),
            Column::new(name::submit, "s", "submission time", |row: &Self| row.0.submit),
            Column::new(name::run_time, "s", "run time", |row: &Self| row.0.run),
            Column::new(name::estimate, "s", "user's estimate of the run time", |row: &Self| {
                row.0.estimate
            }),
            Column::new(name::size, "processors", "number of processors", |row: &Self| row.0.size),
        ]
    }
}

#[pymethods]
impl Workload {
    /// Loads the trace that the options of the command line name.
    #[staticmethod]
    fn load(py: Python<'_>, options: Vec<OsString>) -> PyResult<Self> {
        Self::loaded(py, &options, None)
    }

    /// Converts an Arrow table to a trace of a machine with the given number of processors.
    #[staticmethod]
    fn from_arrow(
        py: Python<'_>,
        table: &Bound<'_, PyAny>,
        processors: u32,
        name: &str,
        options: Vec<OsString>,
    ) -> PyResult<Self> {
        let text = crate::arrow::records(table, processors)?;
        Self::loaded(py, &options, Some((name, text)))
    }

    /// Name of the trace.
    #[getter]
    fn name(&self) -> &str {
        &self.jobs.name
    }

    /// Number of processors of the machine according to the header; `None` if the header does not state it.
    #[getter]
    fn processors(&self) -> Option<i64> {
        self.jobs.header.max_procs().map(|processors| processors as i64)
    }

    /// Summary of the cleaning in one line.
    #[getter]
    fn cleaning(&self) -> String {
        self.jobs.report.to_string()
    }

    /// Contents of the trace in the Standard Workload Format; `None` if the trace is a file.
    #[getter]
    fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Table of the jobs.
    #[getter]
    fn table(&self) -> PyResult<Table> {
        Table::of(&self.jobs.jobs.iter().map(Row).collect::<Vec<_>>())
    }

    fn __len__(&self) -> usize {
        self.jobs.jobs.len()
    }
}

impl Workload {
    fn loaded(
        py: Python<'_>,
        options: &[OsString],
        text: Option<(&str, String)>,
    ) -> PyResult<Self> {
        let given = text.as_ref().map(|(name, text)| TraceText { name, text: text.as_bytes() });
        let load = || embed::with_messages(|| embed::load(options, given));
        let (loaded, messages) = py.detach(load);
        report(py, messages, false)?;
        let jobs = loaded.map_err(rejected)?;
        Ok(Self { jobs, text: text.map(|(_, text)| text) })
    }
}
