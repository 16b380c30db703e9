//! Allocators that are written in Python.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PySlice, PyTuple, PyType};

use crate::error::{AllocatorError, UsageError};
use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::allocator::{
    self, Allocator, AllocatorOptions, Bounds, Capabilities, Refusal, RunSetup,
};
use replay_engine::cancel::Cancelled;
use replay_engine::machine;
use replay_engine::naming::{Entry, Table};
use replay_engine::topology::{NodeId, Topology};

/// Number of decisions between two checks of signals.
const POLL: u32 = 1 << 10;

/// An array of integers that numpy reads without a copy, through its array interface.
#[pyclass(frozen, module = "replay._engine")]
pub struct SharedArray {
    values: Arc<[AtomicI64]>,
}

#[pymethods]
impl SharedArray {
    /// Address, type and shape of the read-only array of 64-bit integers.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("shape", (self.values.len(),))?;
        interface
            .set_item("typestr", if cfg!(target_endian = "little") { "<i8" } else { ">i8" })?;
        interface.set_item("data", (self.values.as_ptr() as usize, true))?;
        interface.set_item("version", 3)?;
        Ok(interface)
    }
}

/// Writes the numbers of the free processors in ascending order and returns their number.
fn write_free(machine: &machine::Machine, into: &[AtomicI64]) -> usize {
    let mut count = 0;
    for (node, &free) in machine.free_map().iter().enumerate() {
        // Write the number of a busy processor too, because a branch on free processors would often be mispredicted.
        into[count].store(node as i64, Ordering::Relaxed);
        count += usize::from(free);
    }
    count
}

/// The machine in its state during a call of `allocate`.
#[pyclass(frozen, module = "replay")]
pub struct Machine {
    name: String,
    shape: Vec<usize>,
    processors: usize,
    free: Arc<[AtomicI64]>,
    free_count: AtomicUsize,
    /// A numpy array that covers all of `free`; only the first `free_count` values are valid.
    array: Py<PyAny>,
}

impl Machine {
    /// Creates a machine of the given topology; at first, no processor is listed as free.
    pub fn new(py: Python<'_>, topology: &Topology) -> PyResult<Self> {
        let processors = topology.slots();
        let free: Arc<[AtomicI64]> = (0..processors).map(|_| AtomicI64::new(0)).collect();
        let shared = Py::new(py, SharedArray { values: free.clone() })?;
        let array = py.import("numpy")?.call_method1("asarray", (shared,))?.unbind();
        let shape = match topology.grid() {
            Some(grid) => (0..grid.dimensions()).map(|axis| grid.extent(axis)).collect(),
            None => vec![processors],
        };
        let (name, free_count) = (topology.to_string(), AtomicUsize::new(0));
        Ok(Self { name, shape, processors, free, free_count, array })
    }

    /// Copies the free processors of `machine`.
    pub fn update(&self, machine: &machine::Machine) {
        self.free_count.store(write_free(machine, &self.free), Ordering::Relaxed);
    }
}

#[pymethods]
impl Machine {
    /// Name of the machine, such as `10x10`.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Extents of a mesh or torus, such that `numpy.unravel_index(processors, machine.shape)` returns coordinates. On
    /// other machines, the shape is a tuple that contains only the number of processors.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.shape)
    }

    /// Number of processors, free and busy.
    #[getter]
    fn processors(&self) -> usize {
        self.processors
    }

    /// Number of free processors.
    #[getter]
    fn free_count(&self) -> usize {
        self.free_count.load(Ordering::Relaxed)
    }

    /// Numbers of the free processors in ascending order, as a read-only numpy array of 64-bit integers. The array is valid
    /// until `allocate` returns; copy the array to keep it.
    #[getter]
    fn free<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let count = self.free_count() as isize;
        self.array.bind(py).get_item(PySlice::new(py, 0, count, 1))
    }

    fn __repr__(&self) -> String {
        format!(
            "<replay.Machine {}: {} of {} processors free>",
            self.name,
            self.free_count(),
            self.processors
        )
    }
}

/// The request of a job for processors.
#[pyclass(frozen, module = "replay", get_all)]
pub struct Request {
    /// Number of processors.
    size: u32,
    /// Side lengths along x, y, z; `None` if the job has no shape.
    shape: Option<[u16; 3]>,
    /// Time of the request, in seconds of the trace.
    now: i64,
    /// User's estimate of the run time, in seconds; `None` if unknown.
    limit: Option<u32>,
    /// Number of the job in the trace; `None` if unknown.
    job: Option<i64>,
}

#[pymethods]
impl Request {
    fn __repr__(&self) -> String {
        let job = self.job.map_or("None".to_string(), |job| job.to_string());
        format!("<replay.Request job={job} size={} now={}>", self.size, self.now)
    }
}

impl Request {
    /// Converts a request of the engine to a request for Python.
    pub fn new(request: allocator::Request) -> Self {
        let allocator::Request { size, shape, times, .. } = request;
        Self { size, shape, now: times.now, limit: times.limit, job: times.job }
    }
}

/// The exception that an allocator raised, stored until the engine has returned.
pub type Raised = Arc<Mutex<Option<PyErr>>>;

/// Takes the stored exception.
pub fn raised(slot: &Raised) -> Option<PyErr> {
    slot.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Options of a strategy that is implemented by a Python object.
#[derive(Clone)]
struct Options {
    object: Arc<Py<PyAny>>,
    name: String,
    keeps_schedule: bool,
    raised: Raised,
}

impl PartialEq for Options {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.object, &other.object)
    }
}

/// Returns the name of the type of a value.
fn kind_of(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map(|name| name.to_string()).unwrap_or_default()
}

/// Creates a strategy from a Python object that has a method `allocate`. Exceptions of the object are stored in
/// `raised`.
pub fn strategy(object: &Bound<'_, PyAny>, raised: &Raised) -> PyResult<AllocatorSpec> {
    if let Ok(class) = object.cast::<PyType>() {
        let name = class.name()?;
        return Err(PyTypeError::new_err(format!(
            "alloc: {name} is a class; pass an instance, such as {name}()"
        )));
    }
    if !object.hasattr("allocate")? {
        let name = object.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "alloc: {name} is neither the name of an allocator nor a replay.Allocator"
        )));
    }
    if object.py().import("numpy").is_err() {
        return Err(UsageError::new_err(
            "alloc: allocators that are written in Python require numpy: pip install numpy",
        ));
    }
    let class = object.get_type().name()?.to_string();
    let wrong = |attribute: &str, value: &Bound<'_, PyAny>, kind: &str| {
        let given = kind_of(value);
        PyTypeError::new_err(format!(
            "alloc: the attribute {attribute} of {class} is {given}, not {kind}"
        ))
    };
    let name = match object.getattr_opt("name")? {
        Some(name) if !name.is_none() => name.extract().map_err(|_| wrong("name", &name, "str"))?,
        _ => class.clone(),
    };
    let keeps_schedule = match object.getattr_opt("keeps_schedule")? {
        Some(keeps) => keeps.extract().map_err(|_| wrong("keeps_schedule", &keeps, "bool"))?,
        None => true,
    };
    let object = Arc::new(object.clone().unbind());
    let options = Options { object, name, keeps_schedule, raised: raised.clone() };
    let entry = Entry::new(options.name.clone(), options.clone())
        .about("An allocator that is written in Python.");
    Ok(AllocatorSpec::new(&Arc::new(Table::new("allocator", [entry])), options))
}

impl AllocatorOptions for Options {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        if topology.slots() > topology.processors() {
            return Err(
                "allocators that are written in Python do not support clusters of shared hosts"
                    .to_string(),
            );
        }
        let machine = Python::attach(|py| Py::new(py, Machine::new(py, topology)?));
        let machine = machine.map_err(|error| error.to_string())?;
        let seen = vec![0; topology.processors()];
        Ok(Box::new(PythonAllocator { options: self.clone(), machine, seen, decision: 0 }))
    }
}

struct PythonAllocator {
    options: Options,
    machine: Py<Machine>,
    /// Number of the last decision that chose each processor.
    seen: Vec<u32>,
    decision: u32,
}

impl Allocator for PythonAllocator {
    fn begin(&mut self, _: &RunSetup<'_>) -> Result<(), String> {
        Python::attach(|py| {
            let object = self.options.object.bind(py);
            match object.getattr_opt("begin")? {
                Some(begin) => begin.call1((&self.machine,)).map(drop),
                None => Ok(()),
            }
        })
        .map_err(|error: PyErr| {
            let name = &self.options.name;
            let error = Python::attach(|py| wrapped(py, &format!("{name}: begin"), error));
            let message = error.to_string();
            self.keep(error);
            message
        })
    }

    fn allocate(
        &mut self,
        machine: &machine::Machine,
        request: allocator::Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        if request.size as usize > machine.free_count() {
            return Err(Refusal::TooFewFree);
        }
        let decided = Python::attach(|py| self.decide(py, machine, request, chosen));
        decided.unwrap_or_else(|error| {
            chosen.clear();
            self.keep(error);
            Err(Refusal::Cancelled(Cancelled))
        })
    }

    fn capabilities(&self) -> Capabilities {
        let capabilities = match self.options.keeps_schedule {
            true => Capabilities::default(),
            false => Capabilities::coupled(),
        };
        Capabilities { supports_outages: true, ..capabilities }
    }

    fn bounds(&mut self, request: allocator::Request) -> Bounds {
        let servable = request.size as usize <= self.seen.len();
        Bounds { servable, ..Bounds::exact(request) }
    }
}

impl PythonAllocator {
    /// Stores an exception, unless an earlier exception is stored.
    fn keep(&self, error: PyErr) {
        let mut raised = self.options.raised.lock().unwrap_or_else(PoisonError::into_inner);
        raised.get_or_insert(error);
    }

    fn decide(
        &mut self,
        py: Python<'_>,
        machine: &machine::Machine,
        request: allocator::Request,
        chosen: &mut Vec<NodeId>,
    ) -> PyResult<Result<(), Refusal>> {
        self.decision += 1;
        if self.decision.is_multiple_of(POLL) {
            py.check_signals()?;
        }
        self.machine.get().update(machine);
        let asked = Py::new(py, Request::new(request))?;
        let object = self.options.object.bind(py);
        let answer = object.call_method1(intern!(py, "allocate"), (&self.machine, asked));
        let answer = answer.map_err(|error| self.failed(py, request, error))?;
        if answer.is_none() {
            return match self.options.keeps_schedule {
                false => Ok(Err(Refusal::Fragmented)),
                true => Err(self.wrong(
                    request,
                    "returned None; an allocator that can refuse jobs must set keeps_schedule = False",
                )),
            };
        }
        self.read(&answer, request, chosen)?;
        match self.problem(machine, request.size as usize, chosen) {
            None => Ok(Ok(())),
            Some(problem) => Err(self.wrong(request, &problem)),
        }
    }

    /// Reads processor numbers from an array or an iterable.
    fn read(
        &self,
        answer: &Bound<'_, PyAny>,
        request: allocator::Request,
        chosen: &mut Vec<NodeId>,
    ) -> PyResult<()> {
        let py = answer.py();
        let list = match answer.getattr_opt(intern!(py, "tolist"))? {
            Some(tolist) => tolist.call0()?,
            None => answer.clone(),
        };
        let Ok(items) = list.try_iter() else {
            let kind = kind_of(answer);
            return Err(self.wrong(request, &format!("returned {kind}, which is not iterable")));
        };
        for item in items {
            let item = item.map_err(|error| self.failed(py, request, error))?;
            if item.is_instance_of::<PyBool>() {
                return Err(self.wrong(
                    request,
                    "returned booleans; return processor numbers, such as numpy.flatnonzero(mask)",
                ));
            }
            let number = match item.extract::<i64>() {
                Ok(number) => number,
                Err(_) if item.is_instance_of::<PyInt>() => i64::MAX,
                Err(_) => {
                    let kind = kind_of(&item);
                    return Err(
                        self.wrong(request, &format!("returned a processor number of type {kind}"))
                    );
                }
            };
            // A number that is out of range is replaced by the largest number, which is not a processor of any machine.
            chosen.push(NodeId(u32::try_from(number).unwrap_or(u32::MAX)));
            if chosen.len() > self.seen.len() {
                break;
            }
        }
        Ok(())
    }

    /// Returns the reason why the chosen processors are invalid; `None` if they are valid.
    fn problem(
        &mut self,
        machine: &machine::Machine,
        size: usize,
        chosen: &[NodeId],
    ) -> Option<String> {
        if chosen.len() != size {
            return Some(format!("returned {} processors for a job of size {size}", chosen.len()));
        }
        for &node in chosen {
            let Some(seen) = self.seen.get_mut(node.index()) else {
                return Some(format!(
                    "returned a processor number that is not from 0 to {}",
                    self.seen.len() - 1
                ));
            };
            if std::mem::replace(seen, self.decision) == self.decision {
                return Some(format!("returned processor {} twice", node.0));
            }
            if !machine.is_free(node) {
                return Some(format!("returned processor {}, which is not free", node.0));
            }
        }
        None
    }

    /// Describes the decision: allocator, job and time.
    fn describe(&self, request: allocator::Request) -> String {
        let job = request.times.job.map_or("a job".to_string(), |job| format!("job {job}"));
        format!("{}, {job}, time {} s", self.options.name, request.times.now)
    }

    /// Returns an error that names allocator, job and time.
    fn wrong(&self, request: allocator::Request, problem: &str) -> PyErr {
        AllocatorError::new_err(format!("{}: {problem}", self.describe(request)))
    }

    /// Wraps an exception of the allocator in an `AllocatorError` with job and time.
    fn failed(&self, py: Python<'_>, request: allocator::Request, error: PyErr) -> PyErr {
        wrapped(py, &format!("{}:", self.describe(request)), error)
    }
}

/// Maximum length, in characters, of the message of an exception that an allocator raised.
const MAX_MESSAGE: usize = 300;

/// Wraps an exception in an `AllocatorError` that names `place`. `KeyboardInterrupt` and other exceptions that are not
/// subclasses of `Exception` are returned unchanged.
fn wrapped(py: Python<'_>, place: &str, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyException>(py) {
        return error;
    }
    let mut message = error.to_string();
    if let Some((end, _)) = message.char_indices().nth(MAX_MESSAGE) {
        message.truncate(end);
        message += "...";
    }
    let named = AllocatorError::new_err(format!("{place} raised {message}"));
    named.set_cause(py, Some(error));
    named
}
