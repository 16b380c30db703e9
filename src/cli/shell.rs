use std::io;

use clap::Args;
use clap_complete::Shell;

use super::exit::{Exit, Failure};

/// Arguments of `replay completions`.
#[derive(Clone, Debug, Args)]
pub struct CompletionArgs {
    /// The shell.
    shell: Shell,
}

/// Prints a completion script.
pub fn completions(args: &CompletionArgs, command: &mut clap::Command) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "replay", &mut script);
    write(&script)
}

/// Prints the manual page.
pub fn man(command: clap::Command) -> Result<Exit, Failure> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut page)
        .map_err(|e| Failure::output("the manual page", e))?;
    write(&page)
}

fn write(bytes: &[u8]) -> Result<Exit, Failure> {
    let stdout = io::Write::write_all(&mut io::stdout().lock(), bytes);
    stdout.map(|()| Exit::Done).map_err(|e| Failure::output("standard output", e))
}
