use std::path::PathBuf;
use std::sync::Arc;

use rayon::prelude::*;

use super::exit::{Failure, tell};
use crate::swf::{self, ReadOptions};
use crate::workload::generated::{self, Generated};
use crate::workload::{LoadError, Manifest, Policy, SearchPath, Window, Workload};

/// The trace that comes with the project; it is part of the program, so that the main job
/// needs nothing else.
const OWN_TRACE: &[u8] = include_bytes!("../../traces/lublin-10x10.swf");
const OWN_TRACE_NAME: &str = "lublin-10x10.swf";

/// Whether this is what the project's own trace is called, wherever the program stands.
fn is_own(name: &str) -> bool {
    let stem = OWN_TRACE_NAME.trim_end_matches(".swf");
    name.eq_ignore_ascii_case(stem) || name.eq_ignore_ascii_case(OWN_TRACE_NAME)
}

/// Where a trace comes from.
enum Source {
    File(PathBuf),
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
    let manifest = Manifest::embedded().map_err(Failure::usage)?;
    let search = SearchPath::from_env();
    let resolve = |name: &String| {
        match search.resolve(name, &manifest) {
            Ok(path) => Ok(Source::File(path)),
            Err(_) if is_own(name) => Ok(Source::Own),
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
