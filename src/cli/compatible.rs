//! Flags that some commands refuse.

use super::args::GridArgs;
use super::exit::Failure;

/// A usage failure for commands that know nothing of outages, nor of places of a log.
pub fn never_down(grid: &GridArgs) -> Result<(), Failure> {
    if grid.strict {
        return Err(Failure::usage_message("--strict: is for run, sweep, plan, show and explain"));
    }
    match (&grid.down, &grid.node_map) {
        (None, None) => Ok(()),
        (Some(_), _) => {
            Err(Failure::usage_message("--down: is for run, sweep, plan, show and explain"))
        }
        (None, Some(_)) => Err(Failure::usage_message("--node-map: is for run, sweep and plan")),
    }
}

/// The help of such commands: what they refuse it does not show.
pub fn hides_outages(command: clap::Command) -> clap::Command {
    let refused = ["down", "down_rule", "down_walls", "node_map", "strict"];
    refused.into_iter().fold(command, |command, id| command.mut_arg(id, |arg| arg.hide(true)))
}
