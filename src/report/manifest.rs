//! Where results come from.

use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::Serialize;

use crate::experiment::RunKey;
use crate::workload::{CleaningReport, PolicyRow};

/// The record beside every set of result files: enough to make them again, and the only
/// place for wall-clock figures.
#[derive(Clone, Debug, Serialize)]
pub struct Manifest {
    /// Name of the program.
    pub program: &'static str,
    /// Its version.
    pub version: &'static str,
    /// Its commit, or "unknown".
    pub commit: &'static str,
    /// The command line as typed.
    pub command: Vec<String>,
    /// What it resolved to.
    pub configuration: Configuration,
    /// The cells in grid order.
    pub runs: Vec<RunRecord>,
    /// Cells that failed, and why.
    pub failed: Vec<String>,
    /// Threads used.
    pub threads: usize,
    /// The machine this ran on.
    pub host: Host,
    /// Begin, in seconds since 1970-01-01 UTC.
    pub started_unix: u64,
    /// Wall-clock seconds from begin to end.
    pub elapsed_seconds: f64,
    /// Most memory held, in bytes, where the system tells.
    pub peak_memory_bytes: Option<u64>,
    /// Result files.
    pub files: Vec<String>,
}

/// What decides the numbers: equal configurations give equal result files. It is also in
/// the metadata of the Parquet files.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Configuration {
    /// Traces on machines.
    pub traces: Vec<TraceRecord>,
    /// Scheduling disciplines.
    pub schedulers: Vec<String>,
    /// Allocation strategies.
    pub allocators: Vec<String>,
    /// Seeds.
    pub seeds: Vec<u64>,
    /// Part of the traces that was replayed.
    pub window: WindowRecord,
    /// Cleaning policy.
    pub policy: String,
    /// Its rules.
    pub policy_rules: Vec<PolicyRow>,
    /// Whether ties were counted.
    pub ties: bool,
}

/// A window of a trace as it was asked for; all `None` for the whole.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct WindowRecord {
    /// Begin: seconds of the trace, or a date.
    pub from: Option<String>,
    /// Most jobs.
    pub jobs: Option<usize>,
    /// Most days.
    pub days: Option<f64>,
}

/// A trace on a machine.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TraceRecord {
    /// Name.
    pub name: String,
    /// File as the user named it.
    pub source: String,
    /// BLAKE3 digest of its uncompressed text.
    pub digest: String,
    /// Machine.
    pub topology: String,
    /// Jobs replayed.
    pub jobs: usize,
    /// What cleaning and window did.
    pub cleaning: CleaningReport,
}

/// A finished cell.
#[derive(Clone, Debug, Serialize)]
pub struct RunRecord {
    /// Number in the grid.
    pub run: u32,
    /// What ran.
    #[serde(flatten)]
    pub key: RunKey,
    /// Wall-clock seconds of the replay.
    pub seconds: f64,
}

/// The machine a program runs on.
#[derive(Clone, Debug, Serialize)]
pub struct Host {
    /// Name.
    pub name: String,
    /// Operating system and architecture.
    pub system: String,
    /// Processor model.
    pub processor: String,
    /// Logical processors.
    pub processors: usize,
}

impl Host {
    /// This machine. What the system does not tell is "unknown".
    pub fn this() -> Self {
        let read = |path: &str| std::fs::read_to_string(path).ok();
        let unknown = || "unknown".to_string();
        let model = read("/proc/cpuinfo").and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            line.split_once(':').map(|(_, model)| model.trim().to_string())
        });
        Self {
            name: read("/proc/sys/kernel/hostname").map_or_else(unknown, |s| s.trim().to_string()),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            processor: model.unwrap_or_else(unknown),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Most memory this process has held, in bytes.
pub fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(1024 * kib)
}

/// Seconds since 1970 of an instant, and the time passed since.
pub fn begin_and_elapsed(started: SystemTime) -> (u64, f64) {
    let since = |t: SystemTime, from| t.duration_since(from).unwrap_or(Duration::ZERO);
    let begin = since(started, SystemTime::UNIX_EPOCH).as_secs();
    (begin, since(SystemTime::now(), started).as_secs_f64())
}

impl Manifest {
    /// Writes `manifest.json` into a folder.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&self, dir: &Path) -> std::io::Result<()> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        std::fs::write(dir.join("manifest.json"), text)
    }
}
