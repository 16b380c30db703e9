use std::io::Write;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, Args, Command};
use clap_complete::Shell;

use super::exit::{Exit, Failure};
use super::list::{Listing, names};
use super::stdout::stdout;

/// Arguments of `replay completions`.
#[derive(Clone, Debug, Args)]
pub struct CompletionArgs {
    /// The shell.
    shell: Shell,
}

/// Prints a completion script.
pub fn completions(args: &CompletionArgs, command: Command) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut offering(command), "replay", &mut script);
    write(&script)
}

/// The command with the names that are listed as the values of its arguments. That is for
/// completion only: a name may have parameters, and most arguments take lists.
fn offering(command: Command) -> Command {
    command.mut_args(offered).mut_subcommands(offering)
}

fn offered(arg: Arg) -> Arg {
    let listing = match arg.get_id().as_str() {
        "alloc" => Listing::Allocators,
        "sched" => Listing::Schedulers,
        "policy" => Listing::Policies,
        "model" => Listing::Generators,
        "sides" => Listing::Sides,
        "service" => Listing::Services,
        "pattern" => Listing::Patterns,
        "network" => Listing::Networks,
        "suites" => Listing::Suites,
        _ => return arg,
    };
    // Clap wants texts that live as long as the program, and it ends after this.
    let value =
        |(name, about): (String, String)| PossibleValue::new(&*name.leak()).help(&*about.leak());
    let values: Vec<_> = names(listing).unwrap_or_default().into_iter().map(value).collect();
    arg.value_parser(PossibleValuesParser::new(values))
}

/// Prints the manual page.
pub fn man(command: Command) -> Result<Exit, Failure> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut page)
        .map_err(|e| Failure::output("the manual page", e))?;
    write(&page)
}

fn write(bytes: &[u8]) -> Result<Exit, Failure> {
    let mut out = stdout();
    let written = out.write_all(bytes).and_then(|()| out.flush());
    written.map(|()| Exit::Done).map_err(|e| Failure::output("standard output", e))
}
