//! The `replay` program. The implementation is in the library; see [`replay::cli`].

use std::process::ExitCode;

/// Runs before the Rust runtime, which would hide a closed standard output.
// SAFETY: the section has function pointers of C, which the loader calls before `main`. The function only makes a system
// call and stores to an atomic variable, neither of which needs the runtime.
#[allow(unsafe_code)]
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
static RECORD_CLOSED_STDOUT: extern "C" fn() = replay::cli::record_closed_stdout;

fn main() -> ExitCode {
    replay::cli::main_with(replay::strategies::standard(), std::env::args_os())
}
