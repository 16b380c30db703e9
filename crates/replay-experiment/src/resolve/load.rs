//! Loads traces from files, from standard input, from workload models, and from the trace that is built into the
//! program.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use super::{InputError, Notices};
use replay_engine::swf::{self, ReadOptions};
use replay_engine::workload::synthetic::{self, SyntheticTrace};
use replay_engine::workload::{
    KnownTrace, LoadError, Manifest, Policy, SearchPath, Window, Workload,
};

/// The content of the trace that is built into the program.
const OWN_TRACE: &[u8] = include_bytes!("../../../../traces/lublin-10x10.swf");
const OWN_TRACE_NAME: &str = "lublin-10x10.swf";

/// Returns whether a name denotes the trace that comes with the program. Without parameters, the name `lublin`
/// therefore denotes this trace and not the workload model `lublin`, even if the file of the trace is absent.
fn is_own(name: &str, manifest: &Manifest) -> bool {
    let stem = OWN_TRACE_NAME.trim_end_matches(".swf");
    let own = |trace: &KnownTrace| trace.name == stem;
    name.eq_ignore_ascii_case(OWN_TRACE_NAME) || manifest.matching(name).next().is_some_and(own)
}

/// The argument that selects standard input as a trace.
const INPUT: &str = "-";
const INPUT_NAME: &str = "stdin";

/// The source of a trace.
enum Source {
    File(PathBuf),
    Input,
    Generated(SyntheticTrace),
    /// The trace that comes with the program.
    Own,
}

/// Loads traces by path or name, or generates them by a model (`stream[...]`, `lublin[...]`). The traces are loaded in
/// parallel, and a report on standard error describes how each trace was cleaned. Without names, loads the trace that
/// comes with the program.
///
/// # Errors
/// A usage error for an unknown name or a file that cannot be read; a data error for an invalid trace.
pub fn load_traces(
    names: &[String],
    policy: &Policy,
    window: &Window,
    max_errors: usize,
    notices: Notices<'_>,
) -> Result<Vec<Arc<Workload>>, InputError> {
    let manifest = Manifest::embedded().map_err(InputError::usage)?;
    let search = SearchPath::from_env();
    let resolve = |name: &String| {
        if name == INPUT {
            return Ok(Source::Input);
        }
        match search.resolve(name, &manifest) {
            Ok(path) => Ok(Source::File(path)),
            Err(_) if is_own(name, &manifest) => Ok(Source::Own),
            // If no trace has this name, the name may denote a workload model.
            Err(_) if synthetic::is_generator(name) => {
                let name = name.parse().map_err(InputError::usage)?;
                synthetic::generate(&name).map(Source::Generated).map_err(InputError::usage)
            }
            Err(unknown) => Err(InputError::usage(unknown)),
        }
    };
    let sources: Vec<Source> = names.iter().map(resolve).collect::<Result<_, _>>()?;
    let options = ReadOptions { max_errors };
    let load = |source: &Source| match source {
        Source::File(path) => Workload::load(path, policy, window, options),
        Source::Input => load_input(policy, window, options),
        Source::Generated(generated) => generated.load(policy, window, options),
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
            // The content could not be read.
            LoadError::Read(swf::Error::Io { .. }) | LoadError::Window { .. } => {
                InputError::usage(error)
            }
            _ => InputError::data(error),
        })?;
        notices.line(&workload.report);
        workloads.push(Arc::new(workload));
    }
    Ok(workloads)
}

/// The text of standard input. The text is kept, because every cleaning policy loads the trace again, but standard
/// input can be read only once. The variable is global because standard input is global.
static INPUT_TEXT: Mutex<Option<Vec<u8>>> = Mutex::new(None);

/// Loads the trace on standard input. Reading stops at the first error.
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

/// Applies `read` to the text of standard input; returns `None` if `source` is not standard input or if standard input
/// has not been read.
pub fn with_input<T>(source: &Path, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
    let known = INPUT_TEXT.lock().unwrap_or_else(PoisonError::into_inner);
    known.as_deref().filter(|_| source == Path::new(INPUT_NAME)).map(read)
}

/// A reader that copies every byte that it reads to `text`.
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
