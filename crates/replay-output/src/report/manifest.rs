//! Where results come from.

use std::time::{Duration, SystemTime};

use serde::Serialize;

use replay_core::workload::{CleaningReport, PolicyRow, Shake};
use replay_experiment::RunKey;
use replay_experiment::files::{FORMAT, FileRecord, InputRecord, PROGRAM};
use replay_experiment::grid::{DownFile, WindowFile};
use replay_experiment::sweep::Build;

/// A process that makes results, as it is told in their manifest.
#[derive(Clone, Debug)]
pub struct Origin {
    /// What they are results of, such as "run" or "search".
    pub kind: &'static str,
    build: Build,
    compiler: &'static str,
    command: Vec<String>,
    started: SystemTime,
}

/// The record beside every set of result files: enough to make them again, and the only
/// place for wall-clock figures.
#[derive(Clone, Debug, Serialize)]
pub struct Manifest<'a, C, D> {
    /// Name of the program.
    program: &'static str,
    /// The form of the manifest.
    format: u32,
    /// What the files are results of.
    kind: &'static str,
    /// Version of the program.
    version: &'a str,
    /// Its commit, or "unknown".
    commit: &'a str,
    /// Digest of its sources.
    sources: &'a str,
    /// The compiler that built it.
    compiler: &'static str,
    /// The command line as typed.
    command: &'a [String],
    /// What it resolved to: what decides the numbers.
    configuration: &'a C,
    /// Digest of what decides the numbers and which tables there are: results are replaced without
    /// --force only by those of the same digest.
    configuration_digest: Option<&'a str>,
    /// What else there is to say of these results.
    #[serde(flatten)]
    details: &'a D,
    /// What failed, and why.
    failed: &'a [String],
    /// Threads used.
    threads: usize,
    /// The machine this ran on.
    host: Host,
    /// Begin, in seconds since 1970-01-01 UTC.
    started_unix: u64,
    /// Wall-clock seconds from begin to end.
    elapsed_seconds: f64,
    /// Most memory held, in bytes, where the system tells.
    peak_memory_bytes: Option<u64>,
    /// Files that were read.
    inputs: &'a [InputRecord],
    /// Result files.
    files: &'a [FileRecord],
}

impl Origin {
    /// This process, which begins now, of a build by a compiler, with its command line as typed.
    pub fn begin(
        kind: &'static str,
        build: Build,
        compiler: &'static str,
        command: &[std::ffi::OsString],
    ) -> Self {
        let command = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        Self { kind, build, compiler, command, started: SystemTime::now() }
    }

    /// The text of the manifest of its results.
    ///
    /// # Errors
    /// If `configuration` or `details` have no JSON form.
    pub fn manifest(
        &self,
        configuration: &impl Serialize,
        configuration_digest: Option<&str>,
        details: &impl Serialize,
        failed: &[String],
        inputs: &[InputRecord],
        files: &[FileRecord],
    ) -> serde_json::Result<String> {
        let since = |t: SystemTime, from| t.duration_since(from).unwrap_or(Duration::ZERO);
        let text = serde_json::to_string_pretty(&Manifest {
            program: PROGRAM,
            format: FORMAT,
            kind: self.kind,
            version: &self.build.version,
            commit: &self.build.commit,
            sources: &self.build.sources,
            compiler: self.compiler,
            command: &self.command,
            configuration,
            configuration_digest,
            details,
            failed,
            threads: rayon::current_num_threads(),
            host: Host::this(),
            started_unix: since(self.started, SystemTime::UNIX_EPOCH).as_secs(),
            elapsed_seconds: since(SystemTime::now(), self.started).as_secs_f64(),
            peak_memory_bytes: peak_memory_bytes(),
            inputs,
            files,
        })?;
        Ok(text + "\n")
    }
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
    /// When processors were out of service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down: Option<DownFile>,
    /// Part of the traces that was replayed.
    pub window: WindowRecord,
    /// Shaken copies that were run as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shake: Option<Shake>,
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

impl WindowRecord {
    /// The window of a grid.
    pub fn of(window: &WindowFile) -> Self {
        let from = window.from.texts().unwrap_or_default().into_iter().next();
        Self { from, jobs: window.jobs, days: window.days }
    }
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
    /// Time 0 of the trace, in seconds since 1970-01-01 UTC, if its header has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unix_start_time: Option<i64>,
    /// Machine.
    pub topology: String,
    /// Jobs replayed.
    pub jobs: usize,
    /// What cleaning and window did.
    pub cleaning: CleaningReport,
    /// Digest of when processors of the machine were out of service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outages: Option<String>,
}

/// What the manifest of the main job says beside that of other commands.
#[derive(Clone, Debug, Serialize)]
pub struct RunDetails {
    /// The cells that are done, in grid order.
    pub runs: Vec<RunRecord>,
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
