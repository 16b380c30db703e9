//! The build that runs.

use replay_experiment::sweep::Build;

/// Version of the program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Its commit, with "-dirty" if the sources differ from it, or "unknown".
pub const COMMIT: &str = env!("REPLAY_COMMIT");
/// The compiler that built it.
pub const COMPILER: &str = env!("REPLAY_COMPILER");
/// What `--version` says; `-V` says the first line.
pub const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit ",
    env!("REPLAY_COMMIT"),
    "\nsources ",
    env!("REPLAY_SOURCES"),
    "\ncompiler ",
    env!("REPLAY_COMPILER"),
    "\nlicence MIT OR Apache-2.0"
);

/// This build, as plans and manifests have it.
pub fn this() -> Build {
    Build {
        version: VERSION.to_string(),
        commit: COMMIT.to_string(),
        sources: env!("REPLAY_SOURCES").to_string(),
    }
}
