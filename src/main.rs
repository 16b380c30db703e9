//! The `replay` program. The implementation is in the library; see [`replay::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    replay::cli::main(std::env::args_os())
}
