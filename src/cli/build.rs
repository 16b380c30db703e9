//! Version, commit and compiler of this build.

use replay_experiment::sweep::Build;

/// Version of the program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Commit of the sources, with "-dirty" if the sources differ from the commit, or "unknown".
pub const COMMIT: &str = env!("REPLAY_COMMIT");
/// Compiler of the build.
pub const COMPILER: &str = env!("REPLAY_COMPILER");
/// Text of `--version`; `-V` prints its first line.
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

/// Returns this build in the form that plans and manifests record.
pub fn this() -> Build {
    Build {
        version: VERSION.to_string(),
        commit: COMMIT.to_string(),
        sources: env!("REPLAY_SOURCES").to_string(),
    }
}
