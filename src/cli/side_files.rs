//! Files beside a trace, which `import` and `synth` write together with the trace.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::exit::{Failure, eprint_line};
use super::write::{NamedOutput, OutputFile, finish_all};
use replay_engine::workload::sidecar::{digest_of, is_beside};
use replay_engine::workload::stochastic::{ids_path, nodes_path, shapes_path};

/// Returns the paths of the files beside a trace that commands write: nodes, shapes and ids of jobs.
pub fn written_beside(trace: &Path) -> [PathBuf; 3] {
    [nodes_path(trace), shapes_path(trace), ids_path(trace)]
}

/// Returns the paths of all files that commands read together with a trace.
pub fn read_beside(trace: &Path) -> impl Iterator<Item = PathBuf> {
    written_beside(trace).into_iter().chain([compressed_nodes(trace)])
}

fn compressed_nodes(trace: &Path) -> PathBuf {
    let mut path = nodes_path(trace).into_os_string();
    path.push(".gz");
    path.into()
}

/// Files beside a trace that is to be written, checked before the work.
pub struct SideFiles {
    trace: PathBuf,
    /// BLAKE3 digest of the trace that is to be replaced; `None` if there is no such trace.
    replaced: Option<String>,
}

impl SideFiles {
    /// Checks that the files beside `trace` are regular files or do not exist.
    ///
    /// # Errors
    /// A usage error that names the file.
    pub fn new(trace: &Path) -> Result<Self, Failure> {
        for path in read_beside(trace) {
            is_beside(&path).map_err(|e| {
                Failure::usage(anyhow::Error::new(e).context(path.display().to_string()))
            })?;
        }
        let digest = || {
            let mut digest = blake3::Hasher::new();
            digest.update_reader(File::open(trace)?)?;
            Ok::<_, io::Error>(digest.finalize().to_hex().to_string())
        };
        Ok(Self { trace: trace.to_path_buf(), replaced: digest().ok() })
    }

    /// Returns the outputs for [`check_apart`](super::write::check_apart).
    pub fn outputs(&self) -> Vec<NamedOutput> {
        let trace = NamedOutput::of("--write", &self.trace);
        let beside = written_beside(&self.trace);
        let beside: Vec<_> = beside.iter().map(|path| NamedOutput::beside(&trace, path)).collect();
        [trace].into_iter().chain(beside).collect()
    }

    /// Gives the trace with the digest `digest` and the files beside it their final names, after all of them are
    /// complete. The trace is renamed last: until then, readers reject the new side files, which name the new trace.
    /// Then removes the side files of the replaced trace that are not in `beside`. Beside a synthetic trace, such files
    /// are kept if they name the new trace or no trace.
    ///
    /// # Errors
    /// A usage error if a file cannot be written, if replay did not write a file that would be replaced, or if a file
    /// that is not in `beside` belongs to another trace. No file is then changed.
    pub fn finish(
        &self,
        trace: OutputFile,
        digest: &str,
        beside: Vec<OutputFile>,
        is_synthetic: bool,
        quiet: bool,
    ) -> Result<(), Failure> {
        for file in &beside {
            let path = file.path();
            if self.replaced.is_none() && exists(path) && named_trace(path)?.is_none() {
                return Err(Failure::usage_message(format!(
                    "{}: was not written by replay and would be replaced; move it away, or choose another name for \
                     --write",
                    path.display()
                )));
            }
        }
        let others = read_beside(&self.trace)
            .filter(|path| beside.iter().all(|file| file.path() != path.as_path()) && exists(path));
        let mut outdated = Vec::new();
        for path in others {
            match named_trace(&path)? {
                Some(named) if named == digest && is_synthetic => {}
                // Compressed files were not written by replay.
                Some(named)
                    if self.replaced.as_ref() == Some(&named)
                        && path != compressed_nodes(&self.trace) =>
                {
                    outdated.push(path);
                }
                None if is_synthetic => {}
                _ => return Err(self.unsuitable(&path, is_synthetic)),
            }
        }
        finish_all(beside.into_iter().chain([trace]))?;
        for path in &outdated {
            fs::remove_file(path).map_err(|e| Failure::output(path.display(), e))?;
            if !quiet {
                eprint_line(format_args!(
                    "removed {}, which belonged to the replaced trace",
                    path.display()
                ));
            }
        }
        Ok(())
    }
}

impl SideFiles {
    /// Returns the failure for a file beside the trace that would be read with the new trace. `is_synthetic` is false
    /// for a trace that was imported from a log.
    fn unsuitable(&self, path: &Path, is_synthetic: bool) -> Failure {
        let (file, trace) = (path.display(), self.trace.display());
        Failure::usage_message(match is_synthetic {
            true => {
                format!("{file}: belongs to a trace other than --write {trace}; move the file away")
            }
            false if *path == compressed_nodes(&self.trace) => format!(
                "{file} exists: replay would read this file as the nodes of the trace; move the file away"
            ),
            false => format!(
                "{file} exists, but this log has no such data; replay would read the file with the trace: move the \
                 file away"
            ),
        })
    }
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Returns the digest of the trace that the last line of a side file names.
fn named_trace(path: &Path) -> Result<Option<String>, Failure> {
    digest_of(path).map_err(|e| {
        Failure::usage(anyhow::Error::new(e).context(format!("cannot read {}", path.display())))
    })
}
