use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::exit::Failure;
use crate::report::manifest::{Host, begin_and_elapsed, peak_memory_bytes};

/// Where results came from: written beside them when they are complete. Wall-clock figures
/// are nowhere else.
#[derive(Clone, Debug)]
pub struct Record {
    command: Vec<String>,
    started: SystemTime,
}

impl Record {
    /// Begins now, with the command line as typed.
    pub fn begin(command: &[OsString]) -> Self {
        let command = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        Self { command, started: SystemTime::now() }
    }

    /// Writes `manifest.json` into `dir`: what ran (`configuration`), and the files it made.
    pub fn write(
        &self,
        dir: &Path,
        configuration: &serde_json::Value,
        files: &[PathBuf],
    ) -> Result<(), Failure> {
        let (started_unix, elapsed_seconds) = begin_and_elapsed(self.started);
        let relative =
            |path: &PathBuf| path.strip_prefix(dir).unwrap_or(path).display().to_string();
        let manifest = serde_json::json!({
            "program": "replay",
            "version": env!("CARGO_PKG_VERSION"),
            "commit": env!("REPLAY_COMMIT"),
            "command": self.command,
            "configuration": configuration,
            "threads": rayon::current_num_threads(),
            "host": Host::this(),
            "started_unix": started_unix,
            "elapsed_seconds": elapsed_seconds,
            "peak_memory_bytes": peak_memory_bytes(),
            "files": files.iter().map(relative).collect::<Vec<_>>(),
        });
        let (path, part) = (dir.join("manifest.json"), dir.join("manifest.json.part"));
        let text = format!("{manifest:#}\n");
        std::fs::write(&part, text)
            .and_then(|()| std::fs::rename(&part, &path))
            .map_err(|e| Failure::output(path.display(), e))
    }
}
