use std::cell::RefCell;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use super::exit::{Failure, tell};
use replay_core::swf::{self, ReadOptions};
use replay_core::workload::generated::{self, Generated};
use replay_core::workload::{
    KnownTrace, LoadError, Manifest, Policy, SearchPath, Window, Workload,
};

/// The trace that comes with the project; it is part of the program, so that the main job
/// needs nothing else.
const OWN_TRACE: &[u8] = include_bytes!("../../traces/lublin-10x10.swf");
const OWN_TRACE_NAME: &str = "lublin-10x10.swf";

/// Whether this is what the project's own trace is called, by any of its names, wherever the program
/// stands: where its file is not at hand, `lublin` is no other trace.
fn is_own(name: &str, manifest: &Manifest) -> bool {
    let stem = OWN_TRACE_NAME.trim_end_matches(".swf");
    let own = |trace: &KnownTrace| trace.name == stem;
    name.eq_ignore_ascii_case(OWN_TRACE_NAME) || manifest.matching(name).next().is_some_and(own)
}

/// What standard input is called as a trace.
const INPUT: &str = "-";
const INPUT_NAME: &str = "stdin";

/// Where a trace comes from.
enum Source {
    File(PathBuf),
    Input,
    Made(Generated),
    /// The trace that comes with the project.
    Own,
}

/// Loads traces by path or name, or makes them (`stream[...]`, `lublin[...]`), in parallel, and says on standard error what cleaning
/// did to each. Without names, the trace that comes with the project.
pub fn load_traces(
    names: &[String],
    policy: &Policy,
    window: &Window,
    max_errors: usize,
    quiet: bool,
) -> Result<Vec<Arc<Workload>>, Failure> {
    if let Some(workloads) = PRELOADED.with_borrow(Clone::clone) {
        return Ok(workloads);
    }
    let manifest = Manifest::embedded().map_err(Failure::usage)?;
    let search = SearchPath::from_env();
    let resolve = |name: &String| {
        if name == INPUT {
            return Ok(Source::Input);
        }
        match search.resolve(name, &manifest) {
            Ok(path) => Ok(Source::File(path)),
            Err(_) if is_own(name, &manifest) => Ok(Source::Own),
            // What is no trace may be the name of a model.
            Err(_) if generated::is_generator(name) => {
                let name = name.parse().map_err(Failure::usage)?;
                generated::generate(&name).map(Source::Made).map_err(Failure::usage)
            }
            Err(unknown) => Err(Failure::usage(unknown)),
        }
    };
    let sources: Vec<Source> = names.iter().map(resolve).collect::<Result<_, _>>()?;
    let options = ReadOptions { max_errors };
    let load = |source: &Source| match source {
        Source::File(path) => Workload::load(path, policy, window, options),
        Source::Input => load_input(policy, window, options),
        Source::Made(generated) => generated.load(policy, window, options),
        Source::Own => Workload::from_reader(OWN_TRACE, OWN_TRACE_NAME, policy, window, options),
    };
    let loaded: Vec<_> = if names.is_empty() {
        vec![load(&Source::Own)]
    } else {
        sources.par_iter().map(load).collect()
    };
    let mut workloads = Vec::new();
    for outcome in loaded {
        let workload = outcome.map_err(|error| match error {
            // The file is there, but not for us.
            LoadError::Read(swf::Error::Io { .. }) | LoadError::Window { .. } => {
                Failure::usage(error)
            }
            _ => Failure::data(error),
        })?;
        if !quiet {
            tell(&workload.report);
        }
        workloads.push(Arc::new(workload));
    }
    Ok(workloads)
}

thread_local! {
    /// Workloads that this thread takes instead of those that arguments name.
    static PRELOADED: RefCell<Option<Vec<Arc<Workload>>>> = const { RefCell::new(None) };
}

/// Does work in which these workloads stand for all traces that arguments name.
pub fn preloaded<T>(workloads: Vec<Arc<Workload>>, work: impl FnOnce() -> T) -> T {
    let outer = PRELOADED.replace(Some(workloads));
    let result = work();
    PRELOADED.replace(outer);
    result
}

/// What came on standard input, which comes only once: kept for the next policy. As global as
/// standard input is.
static INPUT_TEXT: Mutex<Option<Vec<u8>>> = Mutex::new(None);

/// Loads the trace on standard input. What is no trace is not read to its end.
fn load_input(
    policy: &Policy,
    window: &Window,
    options: ReadOptions,
) -> Result<Workload, LoadError> {
    let mut known = INPUT_TEXT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(text) = known.as_deref() {
        return Workload::from_reader(text, INPUT_NAME, policy, window, options);
    }
    let mut input = TeeReader { inner: io::stdin().lock(), text: Vec::new() };
    let loaded = Workload::from_reader(&mut input, INPUT_NAME, policy, window, options);
    *known = Some(input.text);
    loaded
}

/// What `read` makes of the trace on standard input, if that is what `source` names.
pub fn with_input<T>(source: &Path, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
    let known = INPUT_TEXT.lock().unwrap_or_else(PoisonError::into_inner);
    known.as_deref().filter(|_| source == Path::new(INPUT_NAME)).map(read)
}

/// Keeps what passes through.
struct TeeReader<R> {
    inner: R,
    text: Vec<u8>,
}

impl<R: Read> Read for TeeReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.text.extend_from_slice(&buffer[..count]);
        Ok(count)
    }
}
