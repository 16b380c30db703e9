//! Traces.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use pyo3::prelude::*;
use replay::cli::embed::{self, TraceText};

use crate::error::{DataError, rejected, report};
use crate::pool::on_threads;
use crate::table::{frame, to_python};
use replay_engine::metrics::{JobMeasures, Submitted};
use replay_engine::swf::Decoder;
use replay_engine::table::{Column, Table as Rows};
use replay_engine::workload::stochastic::{ShapeFile, shapes_path};
use replay_engine::workload::{Job, Workload as Jobs};

/// A loaded trace with its cleaned jobs.
#[pyclass(frozen, module = "replay")]
pub struct Workload {
    pub jobs: Arc<Jobs>,
    /// Contents of the trace in the Standard Workload Format; `None` if the trace is a file.
    text: Option<Vec<u8>>,
    /// Contents of the file of shapes, for the state of a trace that was restored.
    shapes: Option<Vec<u8>>,
}

/// What identifies and restores a trace in another process: its path or name, its contents if the path is a file, the
/// contents of the file of shapes, and the digest of the trace.
type State = (String, Option<Vec<u8>>, Option<Vec<u8>>, String);

/// A row of the table of jobs.
struct Row<'a>(&'a Job);

impl Rows for Row<'_> {
    const NAME: &'static str = "trace";
    const ROW: &'static str = "one row per job, in order of submission";

    fn columns() -> Vec<Column<Self>> {
        vec![
            Column::new(Submitted::JOB, "", "job number in the trace", |row: &Self| row.0.number),
            Column::new(Submitted::SUBMIT, "s", "submission time", |row: &Self| row.0.submit),
            Column::new(JobMeasures::RUN_TIME, "s", "run time", |row: &Self| row.0.run),
            Column::new(
                Submitted::ESTIMATE,
                "s",
                "user's estimate of the run time",
                |row: &Self| row.0.estimate,
            ),
            Column::new(Submitted::SIZE, "processors", "number of processors", |row: &Self| {
                row.0.size
            }),
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
        let text = crate::arrow::records(table, processors)?.into_bytes();
        Self::loaded(py, &options, Some((name, text)))
    }

    /// State from which [`restored`](Self::restored) restores the trace in another process.
    fn state(&self) -> PyResult<State> {
        let Jobs { source, digest, .. } = &*self.jobs;
        let name = source.display().to_string();
        if self.text.is_some() {
            return Ok((name, self.text.clone(), self.shapes.clone(), digest.clone()));
        }
        let Some(text) = contents(source)? else { return Ok((name, None, None, digest.clone())) };
        if blake3::hash(&text).to_hex().as_str() != digest {
            return Err(DataError::new_err(format!(
                "{name}: the file changed after it was read; read it again"
            )));
        }
        Ok((name, Some(text), contents(&shapes_path(source))?, digest.clone()))
    }

    /// Restores a trace from its state and the options with which it was loaded.
    #[staticmethod]
    fn restored(py: Python<'_>, options: Vec<OsString>, state: State) -> PyResult<Self> {
        let (name, text, shapes, digest) = state;
        let given = text.as_deref().map(|text| TraceText { name: &name, text });
        let load = || {
            embed::with_messages(|| embed::load(&crate::program().registries, &options, given)).0
        };
        let mut jobs = on_threads(py, load)?.map_err(rejected)?;
        if jobs.digest != digest {
            return Err(DataError::new_err(format!(
                "{name}: the trace differs from the trace that was pickled"
            )));
        }
        if let Some(shapes) = &shapes {
            let file = shapes_path(Path::new(&name)).display().to_string();
            let shapes = ShapeFile::read(&shapes[..], &file);
            let taken = shapes.and_then(|shapes| Arc::make_mut(&mut jobs).take_shapes(&shapes));
            taken.map_err(|error| DataError::new_err(error.to_string()))?;
        }
        Ok(Self { jobs, text, shapes })
    }

    /// Whether the file of the trace exists and has the contents that were read.
    fn is_on_disk(&self) -> bool {
        let text = contents(&self.jobs.source).ok().flatten();
        text.is_some_and(|text| blake3::hash(&text).to_hex().as_str() == self.jobs.digest)
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
    fn text(&self) -> Option<&[u8]> {
        self.text.as_deref()
    }

    /// Table of the jobs.
    #[getter]
    fn table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, frame(&self.jobs.jobs.iter().map(Row).collect::<Vec<_>>())?)
    }

    fn __len__(&self) -> usize {
        self.jobs.jobs.len()
    }
}

impl Workload {
    fn loaded(
        py: Python<'_>,
        options: &[OsString],
        text: Option<(&str, Vec<u8>)>,
    ) -> PyResult<Self> {
        let given = text.as_ref().map(|(name, text)| TraceText { name, text });
        let load =
            || embed::with_messages(|| embed::load(&crate::program().registries, options, given));
        let (loaded, messages) = on_threads(py, load)?;
        report(py, messages, false)?;
        let jobs = loaded.map_err(rejected)?;
        Ok(Self { jobs, text: text.map(|(_, text)| text), shapes: None })
    }
}

/// Returns the uncompressed contents of a file; `None` if there is no regular file with this path.
fn contents(path: &Path) -> io::Result<Option<Vec<u8>>> {
    if !fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    Decoder::new(File::open(path)?)?.read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}
