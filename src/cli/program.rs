//! The program that runs: its build and its arguments.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::PathBuf;

use replay_engine::registries::Registries;
use replay_experiment::sweep::Build;

/// What a program decides before it runs the command line.
#[derive(Clone, Debug)]
pub struct Program {
    /// Build that plans and manifests record.
    pub build: Build,
    /// Strategies that commands know by name.
    pub registries: Registries,
    /// Text of `--version`; `-V` prints its first line.
    pub(super) long_version: &'static str,
}

impl Program {
    /// Creates the program of a build with these strategies. A process needs one, which it keeps until it ends.
    pub fn new(build: Build, registries: Registries) -> Self {
        let Build { version, commit, sources, compiler } = &build;
        let text = format!(
            "{version}\ncommit {commit}\nsources {sources}\ncompiler {compiler}\nlicence MIT OR Apache-2.0"
        );
        // The parser keeps texts for the whole process.
        Self { long_version: text.leak(), build, registries }
    }

    /// Creates the program with these strategies whose code is in this file. The digest of the file identifies its
    /// sources; the commit and the compiler are unknown.
    pub fn of_file(path: io::Result<PathBuf>, registries: Registries) -> Self {
        let mut digest = blake3::Hasher::new();
        let read = path.and_then(File::open).and_then(|file| digest.update_reader(file).map(drop));
        let unknown = || "unknown".to_string();
        let build = Build {
            version: env!("CARGO_PKG_VERSION").to_string(),
            commit: unknown(),
            sources: read
                .map_or_else(|_| unknown(), |()| digest.finalize().to_hex()[..16].to_string()),
            compiler: unknown(),
        };
        Self::new(build, registries)
    }
}

/// A command of the program.
#[derive(Clone, Copy, Debug)]
pub struct Invocation<'a> {
    /// The program.
    pub program: &'a Program,
    /// Arguments as typed; the first argument is the name of the program.
    pub arguments: &'a [OsString],
}
