//! The `replay` program. The implementation is in the library; see [`replay::cli`].

use std::process::ExitCode;

use replay::cli::Program;
use replay::experiment::sweep::Build;

/// Runs before the Rust runtime, which would hide a closed standard output.
// SAFETY: the section has function pointers of C, which the loader calls before `main`. The function only makes a system
// call and stores to an atomic variable, neither of which needs the runtime.
#[allow(unsafe_code)]
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
static RECORD_CLOSED_STDOUT: extern "C" fn() = replay::cli::record_closed_stdout;

fn main() -> ExitCode {
    let [commit, sources, compiler] = replay_build::build!().map(str::to_string);
    let version = env!("CARGO_PKG_VERSION").to_string();
    let program = Program::new(
        Build { version, commit, sources, compiler },
        replay::strategies::standard().clone(),
    );
    replay::cli::main(&program, std::env::args_os())
}
