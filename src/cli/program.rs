//! The program that runs: its build and its arguments.

use std::ffi::OsString;

use replay_experiment::sweep::Build;

/// What a program decides before it runs the command line.
#[derive(Clone, Debug)]
pub struct Program {
    /// Build that plans and manifests record.
    pub build: Build,
    /// Text of `--version`; `-V` prints its first line.
    pub(super) long_version: &'static str,
}

impl Program {
    /// Creates the program of a build. A process needs one, which it keeps until it ends.
    pub fn new(build: Build) -> Self {
        let Build { version, commit, sources, compiler } = &build;
        let text = format!(
            "{version}\ncommit {commit}\nsources {sources}\ncompiler {compiler}\nlicence MIT OR Apache-2.0"
        );
        // The parser keeps texts for the whole process.
        Self { long_version: text.leak(), build }
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
